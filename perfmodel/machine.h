// Machines as data: capacities, rates and latencies of one device, a source beside every number.
//
// A machine is a TOML file, `perfmodel/machines/*.toml` (built into the binary) or the user's own,
// in which `base = "H200"` takes what the file does not say from another machine. A *figure* is
// named by table and key, `block.capacity`, and has a dimension; the catalogue of figures is
// `all_figures`. Rates may be given a clock and processor (`128 B/clk`).
//
// What the bandwidths mean: `device` and `cache` deliver that many bytes a second to all processors
// together; `block` is shared memory, all processors together; `cluster` is between the shared
// memories of a cluster.
#pragma once

#include <array>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diagrams/relabelling.h"
#include "perfmodel/quantity.h"

namespace napkin {

enum class Dimension { Memory, Count, Bandwidth, Rate, Frequency, Time, Power, Energy, Share };
/// Who says so: somebody measured it, a maker or a paper published it, or it is taken for granted.
enum class Origin { Measured, Published, Assumed };
[[nodiscard]] const char* name_of(Origin origin);

/// One number of a machine file.
struct Figure {
    double value =
        0;  ///< in bytes, seconds, hertz, watts, joules, so many a second, or a part of 1
    bool per_clock = false;  ///< so many a clock and processor instead
    std::string text;        ///< as written: `227 KiB`
    Origin origin = Origin::Assumed;
    std::string source;  ///< where the number comes from
    bool operator==(const Figure&) const = default;
};

/// Types whose products tensor cores may have a rate for.
inline constexpr std::array kTensorTypes = {ElementType::BF16, ElementType::F16,  ElementType::TF32,
                                            ElementType::F32,  ElementType::E4M3, ElementType::E5M2,
                                            ElementType::I8,   ElementType::I4,   ElementType::F64};

/// A figure that machine files may give.
struct FigureKind {
    std::string_view key;  ///< `block.capacity`
    Dimension dimension = Dimension::Count;
    std::string_view meaning;
    double most = std::numeric_limits<double>::infinity();  ///< of a share of a whole
};
[[nodiscard]] std::span<const FigureKind> all_figures();

struct Machine {
    std::string name;
    std::string title;
    std::string target;  ///< `sm_90a`; empty for an abstract machine
    std::map<std::string, Figure> figures;
    std::map<Level, std::string> level_titles;  ///< of the levels it has: `Thread block`
    std::map<Level, std::string> memories;      ///< `SMEM`
    bool operator==(const Machine&) const = default;

    [[nodiscard]] bool has(Level level) const { return level_titles.contains(level); }
    /// Levels from far to near.
    [[nodiscard]] std::vector<Level> levels() const;
    /// What one processor of a level holds: for `block` the shared memory of one block.
    [[nodiscard]] std::optional<Bytes> capacity(Level level) const;
    /// `capacity(Level::Block)` in whole bytes.
    [[nodiscard]] std::optional<std::int64_t> shared_memory() const;
    [[nodiscard]] std::optional<BytesPerSecond> bandwidth(Level level) const;
    /// Dense rate of the tensor cores for operands of a type (a multiply-add counts as two, and of
    /// operands in parts as it would of whole ones).
    [[nodiscard]] std::optional<OperationsPerSecond> tensor_core(ElementType type) const;
    /// Exponentials a second of the whole device.
    [[nodiscard]] std::optional<OperationsPerSecond> exponentials() const;
    /// fp32 operations a second outside the tensor cores (a multiply-add counts as two).
    [[nodiscard]] std::optional<OperationsPerSecond> arithmetic() const;
    [[nodiscard]] Seconds launch_latency() const;
    /// Streaming multiprocessors; 1 where the machine does not say.
    [[nodiscard]] std::int64_t processors() const;
    [[nodiscard]] std::optional<double> figure(std::string_view key) const;
    /// A rate in units a second of the whole device, clocks resolved.
    [[nodiscard]] std::optional<double> rate(std::string_view key) const;
};

/// The figure without which there are no times on a machine; nothing where it has it.
[[nodiscard]] std::optional<std::string> figure_lacking(const Machine& machine);

/// Names of the machines in the binary.
[[nodiscard]] std::vector<std::string> machine_names();
/// Reads `NAME|FILE[,key=value...]`: a built-in machine or a file, with figures overridden. Every
/// mistake is reported with its place in the file or in the text itself.
[[nodiscard]] Result<Machine> load_machine(SourceMap& sources, const std::string& text,
                                           const std::string& given_as = "--machine");
/// Likewise, and the diagnostic where there are no times on it.
[[nodiscard]] Result<Machine> load_timed_machine(SourceMap& sources, const std::string& text,
                                                 const std::string& given_as = "--machine");
/// Reads the text of a machine file.
[[nodiscard]] Result<Machine> parse_machine(SourceMap& sources, const std::string& name,
                                            const std::string& text);
/// Every figure with its meaning and source, for `napkin machines NAME`.
[[nodiscard]] std::string print(const Machine& machine);

/// The same machine as the text of a file that reads back as it.
[[nodiscard]] std::string machine_file_text(const Machine& machine);

/// A number with its unit, or what is wrong with it.
[[nodiscard]] std::variant<Figure, std::string> parse_figure(std::string_view text,
                                                             Dimension dimension);

}  // namespace napkin
