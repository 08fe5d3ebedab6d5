// Rungs 2 and 3t of one tile program, and its provenance: does it compute what the plain diagram
// says?
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "derive/proof/field_domain.h"
#include "derive/proof/provenance.h"
#include "derive/region_program.h"

namespace napkin::proof {

struct ProofOptions {
    int trials = 3;  ///< at least
    std::uint64_t seed = 1;
};

/// One random point: where it came from, and what the plain diagram's outputs are there.
struct Trial {
    std::uint64_t seed = 0;
    std::uint64_t digest = 0;
    bool operator==(const Trial&) const = default;
};

/// Rung 2 of one output.
struct Identity {
    std::string output;
    bool proved = false;
    FieldSettings settings;  ///< under which it came out
    bool compared = false;   ///< data were, which decided something
    std::vector<Trial> trials;
    std::int64_t elements = 0;
    /// Elements of which nothing is claimed: nothing is visible there, or they are undefined.
    std::int64_t unclaimed = 0;
    /// A trial accepts a wrong program with probability at most this over q; no bound is known
    /// where it is absent.
    std::optional<double> degree;
    std::string counterexample;  ///< `O[3, 1]`, or why nothing could be compared
};

/// Rung 3t at inputs of one size.
struct Execution {
    double scale = 1;
    std::int64_t compared = 0;
    std::int64_t failed = 0;
    /// Elements that the diagram's own form does not reach in double: it overflows or underflows
    /// there, or hangs on a comparison that rounding decides.
    std::int64_t unreached = 0;
    std::int64_t written_twice = 0;
    std::int64_t never_written = 0;
    std::string first;  ///< the first element that is wrong, or what went wrong
    [[nodiscard]] bool ok() const {
        return failed == 0 && written_twice == 0 && never_written == 0 && first.empty();
    }
};

/// What a proof says.
enum class Verdict {
    Proved,
    Refuted,    // values, inputs or writes that were tried out are not the diagram's
    Undecided,  // neither: the identity was not shown
};

struct ProgramProof {
    std::vector<Identity> identities;  ///< one an output
    Provenance provenance;
    std::vector<Execution> executions;
    std::string broken_law;  ///< of a monoid of the user's; empty where none was found
    [[nodiscard]] bool identity() const;
    [[nodiscard]] bool executes() const;
    [[nodiscard]] Verdict verdict() const;
    [[nodiscard]] bool ok() const { return verdict() == Verdict::Proved; }
};

/// A program, and the diagram whose program it is.
struct DerivedProgram {
    const Diagram& diagram;
    const TileProgram& program;
};

/// `plain` is the diagram as written, which is executed once for all programs.
[[nodiscard]] std::vector<ProgramProof> prove_programs(const Diagram& plain,
                                                       std::span<const DerivedProgram> programs,
                                                       const ProofOptions& options);
[[nodiscard]] ProgramProof prove_program(const Diagram& plain, const Diagram& derived,
                                         const TileProgram& program, const ProofOptions& options);

/// The parts of it.
[[nodiscard]] std::vector<Identity> prove_identity(const Diagram& plain, const Diagram& derived,
                                                   const TileProgram& program,
                                                   const ProofOptions& options);
[[nodiscard]] std::vector<Execution> execute(const Diagram& plain,
                                             std::span<const DerivedProgram> programs,
                                             std::uint64_t seed, double scale);

/// `gauges, atoms`: the settings in two words.
[[nodiscard]] std::string print(const FieldSettings& settings);

}  // namespace napkin::proof
