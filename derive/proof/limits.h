// What a proof may take. Most is counted from shapes before anything is allocated, so that sizes
// from a command line or a certificate of another's making can take neither memory nor time; the
// few things that only show in the doing stop at limits of their own.
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>

#include "derive/work.h"
#include "diagrams/diagnostic.h"

namespace napkin::proof {

// A value is some hundred bytes, and held in up to four copies.
inline constexpr double kMostValues = 1e6;
// A run of so many takes a second or two, and a proof makes several.
inline constexpr double kMostSteps = 1e7;
/// Of a certificate's text.
inline constexpr std::size_t kMostBytes = std::size_t{1} << 24;
/// Nodes of the trees of InputSets.
inline constexpr std::size_t kMostSets = std::size_t{1} << 23;
/// Terms of exponents, spelled out.
inline constexpr std::size_t kMostTermsSpelled = std::size_t{1} << 26;
/// Steps of runs that ask whether an output changes with an input.
inline constexpr double kMostTried = 2e8;

/// A limit was reached in the doing: more than `most` of what `what` says.
class TooMuchWork : public std::runtime_error {
public:
    TooMuchWork(const std::string& what, double most);
};

/// The diagnostic of work above a limit, if it is.
[[nodiscard]] std::optional<Diagnostic> excess_of(const Work& work);

}  // namespace napkin::proof
