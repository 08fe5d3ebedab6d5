// Hypotheses as they are written: a claim, what follows if it is true and if it is false, and the
// workloads that decide between the two (docs/hypothesis.md).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "diagrams/result.h"
#include "diagrams/source.h"

namespace napkin::cli {

/// How one side comes to its numbers.
struct HypothesisSide {
    enum class How { Model, Added, Longest };
    std::string says;
    How how = How::Model;
    std::vector<std::string> pipelines;  ///< whose times are added, or of which the longest counts
    std::string figures;                 ///< of the machine, overridden: `cache.bandwidth=4.8TB/s`
    Span place;
};

/// A kernel: everything that an intervention may change. Paths are as the process sees them.
struct HypothesisKernel {
    std::string diagram;
    std::string derivation;          ///< empty for none
    std::vector<std::string> steps;  ///< after the derivation's own
    std::string schedule;
    std::string target;
    std::string row;  ///< the workload's name in recorded rows; the diagram's where empty
    std::map<std::string, double> sizes;
    Span place;
    std::map<std::string, Span> places;  ///< of the keys that name files and steps
    [[nodiscard]] Span place_of(const std::string& key) const {
        const auto found = places.find(key);
        return found == places.end() ? place : found->second;
    }
};

struct HypothesisWorkload {
    std::string name;
    HypothesisKernel kernel;
    /// The same after an intervention; what is looked at is then its time over the kernel's.
    std::optional<HypothesisKernel> changed;
};

struct Hypothesis {
    /// Time is in seconds; utilisation the tensor core's time at its rate over the time.
    enum class Quantity { Time, Utilisation };
    std::string claim;
    std::string machine;
    Span machine_place;
    double threshold = 0;  ///< what is nearer than this part is not told apart
    Quantity quantity = Quantity::Time;
    HypothesisSide if_true;
    HypothesisSide if_false;
    std::vector<std::string> recorded;  ///< files of measurements
    Span recorded_place;
    std::vector<HypothesisWorkload> workloads;
};
/// Reads a text of the source map, every mistake with its place; relative paths are from the
/// text's own folder.
[[nodiscard]] Result<Hypothesis> read_hypothesis(const SourceMap& sources, std::uint32_t file);

}  // namespace napkin::cli
