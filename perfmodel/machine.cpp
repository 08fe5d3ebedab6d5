#include "perfmodel/machine.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace napkin {

namespace {

// clang-format off
constexpr std::array kFigures = {
    FigureKind{"device.capacity", Dimension::Memory, "device memory"},
    FigureKind{"device.bandwidth", Dimension::Bandwidth, "device memory, reads and writes together"},
    FigureKind{"device.reached", Dimension::Share, "of that bandwidth, by kernels that copy", 1},
    FigureKind{"cache.capacity", Dimension::Memory, "the cache between device memory and the blocks"},
    FigureKind{"cache.bandwidth", Dimension::Bandwidth, "cache to all processors together"},
    FigureKind{"cache.port", Dimension::Bandwidth, "cache to one processor"},
    FigureKind{"cache.exposed", Dimension::Share, "of loads, what work that is as long does not hide", 1},
    FigureKind{"cluster.bandwidth", Dimension::Bandwidth, "between the shared memories of clusters, of two blocks"},
    FigureKind{"cluster.of_four", Dimension::Bandwidth, "likewise, of clusters of four blocks"},
    FigureKind{"cluster.blocks", Dimension::Count, "most blocks in a cluster"},
    FigureKind{"block.capacity", Dimension::Memory, "shared memory that one block may use"},
    FigureKind{"block.per_processor", Dimension::Memory, "shared memory of one processor"},
    FigureKind{"block.reserved", Dimension::Memory, "shared memory that the system takes for a block"},
    FigureKind{"block.bandwidth", Dimension::Bandwidth, "shared memory to its processor"},
    FigureKind{"block.fetched", Dimension::Share, "of that bandwidth, by operands as they are counted: some stay in registers"},
    FigureKind{"block.processors", Dimension::Count, "streaming multiprocessors"},
    FigureKind{"warps.capacity", Dimension::Memory, "registers of one warp (warp group on Hopper)"},
    FigureKind{"block.exposed", Dimension::Share, "of a block's own waits, what blocks that share its processor do not hide", 1},
    FigureKind{"thread.capacity", Dimension::Memory, "registers of one thread"},
    FigureKind{"processor.clock", Dimension::Frequency, "clock of the processors, at which rates a second are given"},
    FigureKind{"processor.sustained", Dimension::Frequency, "clock that long kernels keep"},
    FigureKind{"processor.registers", Dimension::Memory, "registers of one processor"},
    FigureKind{"processor.threads", Dimension::Count, "most resident threads of one processor"},
    FigureKind{"processor.blocks", Dimension::Count, "most resident blocks of one processor"},
    FigureKind{"processor.exponential", Dimension::Rate, "exponentials"},
    FigureKind{"processor.arithmetic", Dimension::Rate, "fp32 multiply-adds outside the tensor cores"},
    FigureKind{"processor.issued", Dimension::Share, "of that rate, by instructions as they are counted"},
    FigureKind{"processor.exposed", Dimension::Share, "of a pipeline's time, what another that is as long does not hide", 1},
    FigureKind{"tensor_core.reached", Dimension::Share, "of these rates, by instructions of one warp"},
    FigureKind{"warp_group.reached", Dimension::Share, "of these rates, by instructions of a warp group"},
    FigureKind{"warp_group.fetched", Dimension::Share, "as block.fetched, of their operands"},
    FigureKind{"warp_group.issued", Dimension::Share, "as processor.issued, in kernels of warp groups"},
    FigureKind{"warp_group.exposed", Dimension::Share, "as processor.exposed, in kernels of warp groups", 1},
    FigureKind{"warp_group.overlapped", Dimension::Share, "of a tile's begin and end, by the tile before it in its block", 1},
    FigureKind{"tensor_core.bf16", Dimension::Rate, "dense products of bf16"},
    FigureKind{"tensor_core.f16", Dimension::Rate, "dense products of f16"},
    FigureKind{"tensor_core.tf32", Dimension::Rate, "dense products of tf32"},
    FigureKind{"tensor_core.e4m3", Dimension::Rate, "dense products of e4m3"},
    FigureKind{"tensor_core.e5m2", Dimension::Rate, "dense products of e5m2"},
    FigureKind{"tensor_core.i8", Dimension::Rate, "dense products of i8"},
    FigureKind{"tensor_core.i4", Dimension::Rate, "dense products of i4"},
    FigureKind{"tensor_core.f64", Dimension::Rate, "dense products of f64"},
    FigureKind{"latency.launch", Dimension::Time, "from one kernel to the next in a stream"},
    FigureKind{"latency.start", Dimension::Time, "until a kernel is under way, its caches cold"},
    FigureKind{"latency.device", Dimension::Time, "until device memory delivers at its rate, and after its last byte"},
    FigureKind{"latency.load", Dimension::Time, "of a load from device memory, until it is there"},
    FigureKind{"latency.copy", Dimension::Time, "of a copy that an agent asks for, until its place is full, and said to be"},
    FigureKind{"latency.instruction", Dimension::Time, "of an instruction that waits for the one before"},
    FigureKind{"latency.product", Dimension::Time, "of a warp's product, until the next can add to it"},
    FigureKind{"latency.group_product", Dimension::Time, "of a warp group's product, beside its own time"},
    FigureKind{"latency.barrier", Dimension::Time, "a barrier of one block"},
    FigureKind{"power.limit", Dimension::Power, "board power"},
    FigureKind{"power.reached", Dimension::Share, "of the limit, by kernels that others draw less beside"},
    FigureKind{"power.idle", Dimension::Power, "what the board draws with nothing to do"},
    FigureKind{"energy.device", Dimension::Energy, "of a byte from or to device memory"},
    FigureKind{"energy.cache", Dimension::Energy, "of a byte from or to the cache"},
    FigureKind{"energy.block", Dimension::Energy, "of a byte from shared memory"},
    FigureKind{"energy.tensor_core", Dimension::Energy, "of an operation of a bf16 product; of others as their rates are"},
    FigureKind{"energy.arithmetic", Dimension::Energy, "of an fp32 multiply-add"},
    FigureKind{"energy.exponential", Dimension::Energy, "of an exponential"},
    FigureKind{"model.spread", Dimension::Share, "by how much a time may differ from what the model says", 0.9},
};
// clang-format on

std::string key_of(Level level, std::string_view what) {
    return std::string(name_of(level)) + "." + std::string(what);
}

template <class Amount>
std::optional<Amount> as(std::optional<double> value) {
    if (!value) return std::nullopt;
    return Amount{*value};
}

}  // namespace

const char* name_of(Origin origin) {
    switch (origin) {
    case Origin::Measured: return "measured";
    case Origin::Published: return "published";
    case Origin::Assumed: return "assumed";
    }
    return "";
}

std::span<const FigureKind> all_figures() {
    return kFigures;
}

std::vector<Level> Machine::levels() const {
    std::vector<Level> result;
    for (const auto& [level, title_text] : level_titles) result.push_back(level);
    return result;
}

std::optional<double> Machine::figure(std::string_view key) const {
    const auto found = figures.find(std::string(key));
    return found == figures.end() ? std::nullopt : std::optional(found->second.value);
}

std::int64_t Machine::processors() const {
    return std::max<std::int64_t>(
        1, static_cast<std::int64_t>(figure("block.processors").value_or(1)));
}

std::optional<double> Machine::rate(std::string_view key) const {
    const auto found = figures.find(std::string(key));
    if (found == figures.end()) return std::nullopt;
    if (!found->second.per_clock) return found->second.value;
    const std::optional<double> clock = figure("processor.clock");
    if (!clock) return std::nullopt;
    return found->second.value * *clock * static_cast<double>(processors());
}

std::optional<std::string> figure_lacking(const Machine& machine) {
    if (machine.bandwidth(Level::Device)) return std::nullopt;
    return machine.figure("device.bandwidth") ? "processor.clock" : "device.bandwidth";
}

std::optional<std::int64_t> Machine::shared_memory() const {
    constexpr double kMost = 0x1p62;
    const std::optional<Bytes> bytes = capacity(Level::Block);
    if (!bytes) return std::nullopt;
    return static_cast<std::int64_t>(std::min(bytes->value, kMost));
}

std::optional<Bytes> Machine::capacity(Level level) const {
    return as<Bytes>(figure(key_of(level, "capacity")));
}
std::optional<BytesPerSecond> Machine::bandwidth(Level level) const {
    return as<BytesPerSecond>(rate(key_of(level, "bandwidth")));
}
std::optional<OperationsPerSecond> Machine::tensor_core(ElementType type) const {
    if (is_in_parts(type)) {
        const std::optional<double> of_parts = rate("tensor_core.tf32");
        return of_parts ? std::optional(OperationsPerSecond{*of_parts / kProductsOfParts})
                        : std::nullopt;
    }
    return as<OperationsPerSecond>(rate("tensor_core." + std::string(name_of(type))));
}
std::optional<OperationsPerSecond> Machine::exponentials() const {
    return as<OperationsPerSecond>(rate("processor.exponential"));
}
std::optional<OperationsPerSecond> Machine::arithmetic() const {
    const std::optional<double> fused = rate("processor.arithmetic");
    return fused ? std::optional(OperationsPerSecond{2 * *fused}) : std::nullopt;
}
Seconds Machine::launch_latency() const {
    return {figure("latency.launch").value_or(0)};
}

std::string print(const Machine& machine) {
    std::string text = machine.name + ": " + machine.title +
                       (machine.target.empty() ? "" : ", target " + machine.target) + "\n";
    std::size_t width = 0;
    for (const auto& [key, figure] : machine.figures) width = std::max(width, key.size());
    for (const FigureKind& kind : kFigures) {
        const auto found = machine.figures.find(std::string(kind.key));
        if (found == machine.figures.end()) continue;
        std::string line = "  " + found->first;
        line.resize(width + 4, ' ');
        line += found->second.text;
        line.resize(std::max(line.size() + 2, width + 22), ' ');
        text += line + std::string(kind.meaning) + " [" + name_of(found->second.origin) + ": " +
                found->second.source + "]\n";
    }
    return text;
}

}  // namespace napkin
