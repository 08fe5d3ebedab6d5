// What random derivations reached: a property over them that never meets something shows nothing
// about it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "derive/proof/proof.h"

namespace napkin::test {

struct Coverage {
    std::map<std::string, int> applied;    ///< by rule
    std::map<std::string, int> refused;    ///< by rule
    std::map<std::string, int> folded;     ///< by monoid: derived diagrams that fold by it
    std::map<std::string, int> streamed;   ///< of these, those that fold by it chunk by chunk
    std::map<std::string, int> cut;        ///< streams and groups of an axis, by how what is
                                           ///< computed along it is read elsewhere in the region
    std::map<std::string, int> not_cut;    ///< such that were refused
    std::map<std::string, int> features;   ///< trials whose diagram has it
    std::map<std::string, int> readings;   ///< outputs proved, by how
    std::map<std::string, int> undecided;  ///< outputs that rung 2 says nothing of, by why
    int proved = 0;                        ///< trials, whole
    int verified = 0;                      ///< certificates
    int executed = 0;                      ///< tile programs

    void note(const Diagram& plain);
    void note(const State& derived);
    void note(const State& before, const Command& command, bool applies);
    void note(const proof::Proof& proof);
    void operator+=(const Coverage& other);

    /// Rules, monoids, reads elsewhere and chains of gathers that were never met.
    [[nodiscard]] std::vector<std::string> missing() const;
    /// One line each: `split-stream  412 applied, 1033 refused`.
    [[nodiscard]] std::string text() const;
};

}  // namespace napkin::test
