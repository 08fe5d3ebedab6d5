#include "perfmodel/block_time.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <limits>
#include <vector>

#include "perfmodel/pipelines.h"

namespace napkin {
namespace {

constexpr double kOthers = 64;      ///< bytes of a thread for addresses and counters
constexpr double kUnit = 32;        ///< registers are given out so many bytes at a time
constexpr std::int64_t kParts = 4;  ///< of a processor, of which each has warps of its own
constexpr double kMostHeld = 32;    ///< of a processor that is not said to hold fewer
constexpr double kOfProcessor =
    262144;  ///< bytes of registers, of every processor with warp groups
constexpr double kMostOfThread = 1024;
constexpr double kHidden = 0.75;  ///< power of warp groups' number by which they hide more

/// How long work takes that shares a loop: the root of the sum of powers, of which two that are as
/// long take longer than one by the exposed share.
double together(std::initializer_list<double> seconds, double exposed) {
    const double longest = std::max(seconds);
    if (exposed <= 0 || longest <= 0) return longest;
    const double power = 1 / std::log2(1 + exposed);
    double sum = 0;
    for (const double each : seconds)
        if (each > 0) sum += each == longest ? 1 : std::pow(each / longest, power);
    return sum == 1 ? longest : longest * std::pow(sum, 1 / power);
}

double asked_blocks(const KernelWork& work) {
    return static_cast<double>(work.choices.resident.value_or(1));
}

}  // namespace

double Busy::sum() const {
    return tensor + shared() + exponentials + arithmetic;
}

BlockClock::BlockClock(const Machine& machine)
    : has_times_(!figure_lacking(machine)), processors_(machine.processors()), energies_(machine) {
    const auto figure = [&](const char* key, double otherwise) {
        return machine.figure(key).value_or(otherwise);
    };
    const double boost = figure("processor.clock", 0);
    const double slower = boost > 0 ? figure("processor.sustained", boost) / boost : 1;
    const auto of_one = [&](std::optional<double> rate) {
        return rate ? static_cast<double>(processors_) / (*rate * slower) : 0;
    };
    for (const ElementType type : kTensorTypes)
        if (const auto rate = machine.tensor_core(type)) tensor_[type] = of_one(rate->value);
    fused_ = of_one(machine.rate("processor.arithmetic"));
    shared_ = of_one(machine.rate("block.bandwidth"));
    port_ = of_one(machine.rate("cache.port"));
    exponential_ = of_one(machine.rate("processor.exponential"));
    const auto per_byte = [](const std::optional<BytesPerSecond>& rate, double reached) {
        return rate ? 1 / (rate->value * reached) : 0;
    };
    device_ = per_byte(machine.bandwidth(Level::Device), figure("device.reached", 1));
    cache_ = per_byte(machine.bandwidth(Level::Cache), 1);
    warps_ = {figure("tensor_core.reached", 1), figure("block.fetched", 1),
              figure("processor.issued", 1), figure("processor.exposed", 0),
              figure("latency.product", 0)};
    groups_ = {figure("warp_group.reached", 1), figure("warp_group.fetched", 1),
               figure("warp_group.issued", 1), figure("warp_group.exposed", 0),
               figure("latency.group_product", 0)};
    plain_ = warps_;
    plain_.fetched = 1;
    plain_.issued = 1;
    plain_.exposed = 1;  // phases of all threads, with barriers between them
    plain_.step = figure("latency.instruction", 0);
    exposed_ = figure("block.exposed", 0);
    overlapped_ = figure("warp_group.overlapped", 0);
    copied_ = figure("cache.exposed", 0);
    barrier_ = figure("latency.barrier", 0);
    fill_ = figure("latency.device", 0);
    load_ = figure("latency.load", 0);
    copy_ = figure("latency.copy", 0);
    start_ = machine.launch_latency().value + figure("latency.start", 0);
    if (machine.has(Level::Cache))
        if (const auto capacity = machine.capacity(Level::Cache)) cached_ = capacity->value;
    thread_bytes_ = figure("thread.capacity", 0);
    register_bytes_ = figure("processor.registers", 0);
    threads_ = figure("processor.threads", 0);
    most_blocks_ = machine.figure("processor.blocks");
    shared_bytes_ = figure("block.per_processor", 0);
    block_bytes_ = figure("block.capacity", 0);
    reserved_ = figure("block.reserved", 0);
    spread_ = figure("model.spread", 0);
    allowed_ = figure("power.limit", 0) * figure("power.reached", 1) - figure("power.idle", 0);
}

const BlockClock::Kind& BlockClock::kind_of(const KernelWork& kernel) const {
    return kernel.groups > 0 ? groups_ : kernel.tensor_core ? warps_ : plain_;
}

double BlockClock::exposed(const KernelWork& kernel) const {
    const std::int64_t groups = kernel.groups > 0 ? kernel.groups * resident_blocks(kernel) : 1;
    return kind_of(kernel).exposed / std::pow(static_cast<double>(groups), kHidden);
}

Busy BlockClock::busy(const UnitWork& work, const KernelWork& kernel) const {
    const Kind& kind = kind_of(kernel);
    Busy busy;
    double fused = 0;
    for (const auto& [type, count] : work.products)
        if (const auto rate = tensor_.find(type); rate != tensor_.end())
            busy.tensor += count * rate->second / kind.reached;
        else
            fused += count / 2;
    busy.operands = work.shared * shared_ / kind.fetched;
    busy.elements = work.turns * kTurn * shared_;
    busy.exponentials = work.exponentials * exponential_;
    busy.arithmetic = (work.instructions / kind.issued + fused) * fused_;
    return busy;
}

double BlockClock::computed(const UnitWork& work, const KernelWork& kernel) const {
    const Busy each = busy(work, kernel);
    if (kernel.groups == 0)
        return together({each.tensor, each.shared(), each.exponentials, each.arithmetic},
                        exposed(kernel));
    // The tensor core takes a warp group's operands from shared memory while it multiplies.
    const double multiplied = together({each.tensor, each.operands}, copied_);
    return together({multiplied, each.elements, each.exponentials, each.arithmetic},
                    exposed(kernel));
}

/// Seconds for a byte that a processor moves: those of its port, or its part of the cache's.
double BlockClock::moved_byte(const KernelWork& kernel) const {
    return std::max(port_, cache_ * static_cast<double>(std::min(kernel.blocks, processors_)));
}

/// Of a block's work where it has the processor to itself: of the pipelines and of its loads.
double BlockClock::alone(const UnitWork& work, const KernelWork& kernel) const {
    return together({computed(work, kernel), work.loaded * moved_byte(kernel)}, copied_);
}

/// What threads take that copy themselves, of which each goes on when its own are there.
double BlockClock::copied(const UnitWork& work) const {
    return work.own_instructions * plain_.step + work.own_trips * load_;
}

/// Whether warps that multiply are too few for every part of a processor.
bool BlockClock::leaves_idle(const KernelWork& kernel) const {
    return kernel.tensor_core && kernel.groups == 0 &&
           kernel.warps * resident_blocks(kernel) < kParts;
}

/// Where they are, pipelines are so much slower, and a warp issues one instruction after the other.
double BlockClock::lone(const UnitWork& work, const KernelWork& kernel) const {
    constexpr double kLanesOfWarp = 32;
    const double whole = computed(work, kernel);
    if (!leaves_idle(kernel)) return whole;
    const auto warps = static_cast<double>(kernel.warps);
    const double held = warps * static_cast<double>(resident_blocks(kernel));
    return std::max(static_cast<double>(kParts) / held * whole,
                    work.instructions / (kLanesOfWarp * warps) * plain_.step);
}

double BlockClock::waits(const UnitWork& work, const KernelWork& kernel) const {
    return work.steps * kind_of(kernel).step + work.barriers * barrier_;
}

/// What a warp waits for whatever else runs. A warp group goes on when its products are there.
double BlockClock::chain(const UnitWork& work, const KernelWork& kernel) const {
    const double own = waits(work, kernel);
    if (kernel.groups == 0)
        return work.own_trips > 0 ? alone(work, kernel) + own + copied(work) : own;
    UnitWork beside = work;
    UnitWork awaited;
    for (const auto& [type, count] : work.awaited) {
        beside.products[type] -= count;
        awaited.products[type] = count;
    }
    return alone(beside, kernel) +
           busy(awaited, kernel).tensor / static_cast<double>(kernel.groups) + own;
}

/// Of a chunk: it is there no sooner than what it works on, of which several are on their way, or,
/// where there is place for one, none before it is done. What an agent copies itself comes one
/// instruction of a lone warp after the other.
double BlockClock::chain(const LoopWork& loop, const KernelWork& kernel) const {
    const double arrives = loop.loads ? load_ / static_cast<double>(loop.stages) : 0;
    if (loop.waits)
        return arrives + loop.chunk.loaded * moved_byte(kernel) + lone(loop.chunk, kernel) +
               waits(loop.chunk, kernel) + copied(loop.chunk);
    if (kernel.groups == 0)
        return std::max({chain(loop.chunk, kernel), arrives,
                         leaves_idle(kernel) ? lone(loop.chunk, kernel) : 0});
    if (loop.late)
        return load_ + loop.chunk.loaded * moved_byte(kernel) + chain(loop.chunk, kernel);
    double longest = std::max({chain(loop.chunk, kernel), arrives, copied(loop.chunk)});
    for (const UnitWork& copy : loop.alone)
        longest = std::max(longest, load_ + copy.loaded * moved_byte(kernel) + copied(copy) +
                                        busy(copy, kernel).tensor);
    return longest;
}

/// Until the next chunk of a ring is there: a place is asked for again when its turn and those that
/// hold it are over, whatever other blocks do meanwhile.
double BlockClock::arrives(const LoopWork& loop, const KernelWork& kernel) const {
    double longest = 0;
    for (const RingWork& ring : loop.rings)
        longest = std::max(longest, (copy_ + ring.loaded * moved_byte(kernel)) /
                                        static_cast<double>(ring.stages - ring.held));
    return longest;
}

/// The tests of a chunk that a mask cuts.
double BlockClock::tested(const LoopWork& loop, const KernelWork& kernel) const {
    UnitWork tests;
    tests.instructions = loop.mask;
    const double all = busy(tests, kernel).sum();
    return kernel.groups == 0 ? exposed(kernel) * all : all;
}

/// What the pipelines of warp groups hide of each other, and do not at the ends of what a block
/// visits, which a mask cuts.
double BlockClock::apart(const LoopWork& loop, const KernelWork& kernel) const {
    if (kernel.groups == 0) return 0;
    const Busy each = busy(loop.chunk, kernel);
    const double all = each.sum() - std::min(each.operands, each.tensor);
    return std::max(0.0, all - computed(loop.chunk, kernel));
}

/// How long a block is there beside its chunks: until its first operands have come and its results
/// are gone, while the first and the last chunk of warp groups hide behind nothing. Where blocks
/// have no loop, all of them load at a time, from device memory.
double BlockClock::ramp(const KernelWork& work) const {
    double byte = moved_byte(work);
    if (work.loops.empty() && work.loaded + work.saved > 0)
        byte = std::max(byte, from_device(work) * slowed(work) /
                                  (work.loaded + work.saved + work.sectors) * device_ *
                                  static_cast<double>(std::min(work.blocks, processors_)));
    double all = computed(work.edges, work) + (work.edges.loaded + work.edges.saved) * byte;
    if (work.groups > 0) all += copied(work.edges);
    if (work.groups > 0 && !work.loops.empty()) {
        const LoopWork& loop = work.loops.front();
        const Busy chunk = busy(loop.chunk, work);
        const Busy copied = busy(loop.copied, work);
        all += 2 * (chunk.sum() - copied.sum() -
                    std::min(chunk.operands - copied.operands, chunk.tensor));
    }
    if (work.groups > 0) return all;
    return all + chain(work.edges, work) + (work.loaded > 0 ? load_ : 0);
}

std::int64_t BlockClock::resident_blocks(const KernelWork& work) const {
    double fits = most_blocks_.value_or(work.groups > 0 ? kMostHeld : 1);
    if (work.groups > 0) fits = std::min(fits, asked_blocks(work));
    for (const Taken& taken : taken_by_block(work))
        if (taken.there > 0 && taken.amount > 0)
            fits = std::min(fits, std::floor(taken.there / taken.amount));
    return static_cast<std::int64_t>(std::max(fits, 1.0));
}

std::array<BlockClock::Taken, 3> BlockClock::taken_by_block(const KernelWork& work) const {
    const double threads = 32 * static_cast<double>(work.warps);
    const double needed = work.register_bytes + kOthers;
    const double held = thread_bytes_ > 0 ? std::min(needed, thread_bytes_) : needed;
    Taken registers{"of registers", std::ceil(held / kUnit) * kUnit * threads, kOthers * threads,
                    register_bytes_};
    // Warp groups share among them all that a processor has.
    if (work.groups > 0) {
        const double blocks = asked_blocks(work);
        const double of_thread = std::min(kOfProcessor / (blocks * threads), kMostOfThread);
        registers.amount = std::floor(of_thread / kUnit) * kUnit * threads;
        registers.least = registers.amount;
    }
    const double shared = work.shared_bytes + reserved_;
    // What no block may have is told of the block, and timed as if there were a machine for it.
    const bool is_allowed = block_bytes_ <= 0 || work.shared_bytes <= block_bytes_;
    return {registers, Taken{"threads", threads, threads, threads_},
            Taken{"of shared memory", shared, is_allowed ? shared : 0, shared_bytes_}};
}

double BlockClock::from_device(const KernelWork& work) const {
    if (cached_ <= 0) return work.loaded + work.saved;
    const double moved = work.loaded + work.saved + work.sectors;
    const double once = std::min(work.compulsory, moved);
    double held = work.edges.loaded;
    for (const LoopWork& loop : work.loops)
        held += loop.chunk.loaded * static_cast<double>(loop.stages);
    if (work.loops.empty() && work.shared_bytes > 0) held = std::min(held, work.shared_bytes);
    held *= static_cast<double>(std::min(work.blocks, processors_ * resident_blocks(work)));
    const double lost = held > cached_ ? 1 - cached_ / held : 0;
    return once + lost * (moved - once);
}

double BlockClock::slowed(const KernelWork& work) const {
    const double moved = work.loaded + work.saved + work.sectors;
    const double all = from_device(work);
    if (moved <= 0 || all <= 0) return 1;
    return 1 + work.apart / moved * std::min(work.compulsory, moved) / all;
}

/// How long tiles take of which each has a processor to itself, by the share of chunks it visits.
struct BlockClock::Tiles {
    double edges = 0;
    double chunk = 0;    ///< of the masked loop
    double tested = 0;   ///< more, where a mask cuts a chunk
    double apart = 0;    ///< and where that is one of the first or the last
    double chain = 0;    ///< of a chunk, at least
    double chained = 0;  ///< of the other loops, at least
    double arrives = 0;  ///< until a chunk's copies are there
    double arrived = 0;  ///< of the other loops
    double chunks = 0;
    double hidden = 0;    ///< of `chained`, where a tile follows another of its block
    double deferred = 0;  ///< after a block's last tile
    double exposed = 0;   ///< of these or of the pipelines, where blocks share a processor
    std::int64_t resident = 1;

    [[nodiscard]] double of(const Visits& visits, double sharing, bool follows = false) const {
        constexpr double kEnds = 2;
        const double cut = visits.cut * tested + std::min(visits.cut, kEnds) * apart;
        const double busy = sharing * (edges + visits.chunks * chunk + cut);
        const double own = chained - (follows ? hidden : -deferred) + visits.chunks * chain + cut;
        const double copied = arrived + visits.chunks * arrives;
        return std::max(copied, sharing > 1 ? together({busy, own}, exposed) : std::max(busy, own));
    }
};

BlockClock::Tiles BlockClock::tiles_of(const KernelWork& work) const {
    Tiles tiles;
    tiles.resident = resident_blocks(work);
    tiles.exposed = exposed_;
    tiles.edges = alone(work.edges, work);
    tiles.chained = ramp(work);
    if (work.choices.persistent.value_or(false)) tiles.hidden = overlapped_ * tiles.chained;
    tiles.deferred = computed(work.deferred, work) + work.deferred.saved * moved_byte(work);
    for (const LoopWork& loop : work.loops) {
        const double of_chunk = alone(loop.chunk, work);
        const double of_chain = chain(loop, work);
        if (loop.is_masked && tiles.chunks == 0) {
            tiles.chunk = of_chunk;
            tiles.chain = of_chain;
            tiles.arrives = arrives(loop, work);
            tiles.chunks = loop.chunks;
            tiles.tested = tested(loop, work);
            tiles.apart = apart(loop, work);
        } else {
            tiles.edges += of_chunk * loop.chunks;
            tiles.chained += of_chain * loop.chunks;
            tiles.arrived += arrives(loop, work) * loop.chunks;
        }
    }
    return tiles;
}

namespace {

/// Rounds of as many tiles as there are slots, the last one with what is left.
template <class Round>
double even_end(std::int64_t tiles, std::int64_t processors, std::int64_t resident,
                const Round& round) {
    const std::int64_t rest = tiles % (processors * resident);
    const std::int64_t full = tiles / (processors * resident);
    double end = full > 0 ? round(resident, false) : 0;
    if (full > 1) end += static_cast<double>(full - 1) * round(resident, true);
    if (rest > 0) end += round((rest + processors - 1) / processors, full > 0);
    return end;
}

/// How long each tile of a pattern takes.
struct TileTimes {
    double first;  ///< of its block
    double next;   ///< where it follows another
};

/// The longest first, there and back, so many of all planes at a time.
double graded_end(const KernelWork& work, std::int64_t slots, const std::vector<TileTimes>& tiles) {
    const auto grades = static_cast<std::int64_t>(work.pattern.size());
    const std::int64_t planes = (work.blocks + grades - 1) / grades;
    slots = std::min(slots, std::max<std::int64_t>(planes * grades, 1));
    const std::int64_t together = std::max<std::int64_t>(work.together, 1);
    std::vector<double> ends(static_cast<std::size_t>(slots), 0.0);
    std::int64_t turn = 0;
    std::int64_t at = 0;
    for (std::int64_t plane = 0; plane < planes; plane += together)
        for (const TileTimes& tile : tiles)
            for (std::int64_t i = plane; i < std::min(planes, plane + together); ++i) {
                const std::int64_t slot = turn % 2 == 0 ? at : slots - 1 - at;
                ends[static_cast<std::size_t>(slot)] += turn == 0 ? tile.first : tile.next;
                if (++at < slots) continue;
                at = 0;
                ++turn;
            }
    return *std::max_element(ends.begin(), ends.end());
}

/// Each starts where one ends first.
double last_of_queue(const KernelWork& work, std::int64_t slots,
                     const std::vector<TileTimes>& tiles) {
    slots = std::min(slots, std::max<std::int64_t>(work.blocks, 1));
    std::vector<double> ends(static_cast<std::size_t>(slots), 0.0);
    for (std::int64_t block = 0; block < work.blocks; ++block) {
        const TileTimes& tile = tiles[static_cast<std::size_t>(block) % tiles.size()];
        std::pop_heap(ends.begin(), ends.end(), std::greater<>());
        ends.back() += ends.back() > 0 ? tile.next : tile.first;
        std::push_heap(ends.begin(), ends.end(), std::greater<>());
    }
    return *std::max_element(ends.begin(), ends.end());
}

}  // namespace

double BlockClock::last_end(const KernelWork& work, const Tiles& tiles) const {
    if (work.pattern.empty())
        return even_end(
            work.blocks, processors_, tiles.resident, [&](std::int64_t sharing, bool follows) {
                return tiles.of({tiles.chunks, 0}, static_cast<double>(sharing), follows);
            });
    const std::int64_t held =
        std::min(tiles.resident, (work.blocks + processors_ - 1) / processors_);
    const auto sharing = static_cast<double>(held);
    std::vector<TileTimes> times;
    for (const Visits& visits : work.pattern)
        times.push_back({tiles.of(visits, sharing, false), tiles.of(visits, sharing, true)});
    return work.together > 0 ? graded_end(work, processors_ * held, times)
                             : last_of_queue(work, processors_ * held, times);
}

/// How many times as long processors take whose clock falls until the board draws no more than it
/// may: what they draw goes with the clock and with the square of its voltage, which goes with it.
double BlockClock::throttled(const KernelWork& work, double seconds) const {
    if (allowed_ <= 0) return 1;
    const EnergyFigures::Drawn drawn = energies_.drawn(work, all_of(work), from_device(work));
    if (!drawn.unknown.empty()) return 1;
    return std::max(1.0, std::cbrt(drawn.joules / seconds / allowed_));
}

namespace {

/// The least that data may leave of a kernel's work: a chunk for each block, of those that indices
/// leave.
KernelWork with_fewest_chunks(const KernelWork& work) {
    KernelWork fewest = work;
    for (Visits& visits : fewest.pattern) {
        visits.chunks = std::min(visits.chunks, 1.0);
        visits.cut = std::min(visits.cut, visits.chunks);
    }
    for (LoopWork& loop : fewest.loops)
        if (loop.is_masked) loop.chunks = std::min(loop.chunks, 1.0);
    const double left_out = all_of(work).loaded - all_of(fewest).loaded;
    fewest.loaded = std::max(0.0, work.loaded - left_out);
    if (work.loaded > 0) fewest.sectors *= fewest.loaded / work.loaded;
    return fewest;
}

}  // namespace

double BlockClock::time_of(const KernelWork& work) const {
    const double memory = fill_ + from_device(work) * slowed(work) * device_;
    const double cache = cached_ > 0 ? (work.loaded + work.saved + work.sectors) * cache_ : 0;
    const auto ending = [&](double end) {
        return start_ + std::max(cache, together({memory, end}, copied_));
    };
    const double end = last_end(work, tiles_of(work));
    return ending(end * throttled(work, ending(end)));
}

BlockClock::Times BlockClock::times_of(const KernelWork& work) const {
    const double most = time_of(work);
    return {work.data_decides ? time_of(with_fewest_chunks(work)) : most, most};
}

BlockClock::Times BlockClock::interval_of(const KernelWork& work) const {
    const std::array<Taken, 3> taken = taken_by_block(work);
    if (!has_times_ || !std::all_of(taken.begin(), taken.end(), std::mem_fn(&Taken::fits))) {
        constexpr double kEndless = std::numeric_limits<double>::infinity();
        return {kEndless, kEndless};
    }
    const Times times = times_of(work);
    return {times.low * (1 - spread_), times.high * (1 + spread_)};
}

}  // namespace napkin
