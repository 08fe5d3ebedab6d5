#include "codegen/run/emulated_products.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "codegen/run/emulated_bulk.h"

namespace napkin {
namespace {

using nk::emulator::Format;
using nk::emulator::GroupProduct;

constexpr int kRows = 64;
constexpr std::size_t kKnown = 64;  ///< registers that a thread's products used, the last ones
/// A signalling NaN: what is computed from it in place is another.
constexpr std::uint32_t kPoison = 0xffa0dead;

/// Where a thread's result `which` is in 64 rows of `columns`.
std::size_t result_place(int thread, int which, int columns) {
    const int row = thread / 32 * 16 + thread % 32 / 4 + which % 4 / 2 * 8;
    const int column = which / 4 * 8 + thread % 4 * 2 + which % 2;
    return static_cast<std::size_t>(row * columns + column);
}

std::uint32_t bits_of(float value) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}
float float_of(std::uint32_t bits) {
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

void poison(float* registers, int count) {
    for (int i = 0; i < count; ++i) registers[i] = float_of(kPoison);
}
bool poisoned(const float* registers, int count) {
    return std::all_of(registers, registers + count,
                       [](float value) { return bits_of(value) == kPoison; });
}

bool is_narrow(Format format) {
    return format == Format::E4M3 || format == Format::E5M2;
}

float widen(std::uint32_t bits, Format format) {
    if (format == Format::BF16) return float_of(bits << 16);
    if (format == Format::E5M2) return widen(bits << 8, Format::F16);
    if (format == Format::E4M3) {
        const float sign = (bits & 0x80U) != 0 ? -1.0F : 1.0F;
        const int exponent = static_cast<int>(bits >> 3 & 15);
        const int fraction = static_cast<int>(bits & 7);
        if ((bits & 0x7fU) == 0x7fU) return float_of(0x7fc00000U);
        return sign * (exponent == 0 ? std::ldexp(static_cast<float>(fraction), -9)
                                     : std::ldexp(static_cast<float>(8 + fraction), exponent - 10));
    }
    const std::uint32_t magnitude = (bits & 0x7fffU) << 13;
    const std::uint32_t sign = (bits & 0x8000U) << 16;
    if (magnitude >= 0x7c00U << 13) return float_of(sign | magnitude | 0x7f800000U);
    return float_of(sign | bits_of(float_of(magnitude) * 0x1p112F));
}

bool same_product(const GroupProduct& a, const GroupProduct& b) {
    return a.across == b.across && (a.held == nullptr) == (b.held == nullptr) && a.left == b.left &&
           a.right == b.right && a.left_transposed == b.left_transposed &&
           a.right_transposed == b.right_transposed && a.add == b.add &&
           a.left_format == b.left_format && a.right_format == b.right_format;
}

/// The exponent of a number as its format holds it: the least normal one's below that.
int exponent_of(float value, Format format) {
    const int least = format == Format::E4M3 ? -6 : -14;
    return std::max(std::ilogb(value), least);
}

/// Numbers of 8 bits that are multiplied with others, and their exponents.
struct NarrowFactors {
    std::vector<float> values;
    std::vector<int> exponents;  ///< far below all others where the number is zero

    NarrowFactors(std::vector<float> from, Format format) : values(std::move(from)) {
        constexpr int kZero = -(1 << 20);
        for (const float value : values)
            exponents.push_back(value == 0 ? kZero : exponent_of(value, format));
    }
};

/// A number without what lies after its 13th bit of fraction.
float cut(float value) {
    return float_of(bits_of(value) & ~0x3ffU);
}

/// sum + left[0] right[0] + left[1] right[columns] ..., as the tensor core sums numbers of 8 bits.
float narrow_sum(float sum, const NarrowFactors& left, std::size_t first,
                 const NarrowFactors& right, std::size_t column, std::size_t columns) {
    constexpr std::size_t kDepth = 32;
    constexpr int kBits = 13;
    float plain = sum;
    int largest = sum == 0 ? -(1 << 22) : std::ilogb(sum);
    for (std::size_t k = 0; k < kDepth; ++k) {
        const std::size_t of_right = k * columns + column;
        plain += left.values[first + k] * right.values[of_right];
        largest = std::max(largest, left.exponents[first + k] + right.exponents[of_right]);
    }
    constexpr int kNone = -(1 << 18);
    if (!std::isfinite(plain)) return plain;
    if (largest < kNone) return 0;
    const double unit = std::ldexp(1.0, kBits - largest);
    auto units = static_cast<std::int64_t>(static_cast<double>(sum) * unit);
    for (std::size_t k = 0; k < kDepth; ++k)
        units += static_cast<std::int64_t>(static_cast<double>(left.values[first + k]) *
                                           right.values[k * columns + column] * unit);
    return cut(static_cast<float>(static_cast<double>(units) / unit));
}

}  // namespace

long long OperandLayout::place(int across, int k) const {
    const int pitch = swizzle;
    long long at = start;
    if (!transposed) {
        at += across / 8 * rows_apart + across % 8 * pitch + k * element_bytes;
    } else {
        const int width = swizzle / 2;
        at +=
            across / width * panels_apart + across % width * 2 + k / 8 * rows_apart + k % 8 * pitch;
    }
    return swizzled(at, swizzle);
}

Misuse decode(std::uint64_t operand, bool transposed, Format format, int size,
              long long shared_bytes, OperandLayout& layout) {
    const auto field = [&](int from) {
        return static_cast<long long>(operand >> from & 0x3fff) * 16;
    };
    layout.start = field(0) - nk::emulator::kSharedBase;
    layout.panels_apart = field(16);
    layout.rows_apart = field(32);
    layout.swizzle = std::array{0, 128, 64, 32}[operand >> 62];
    layout.transposed = transposed;
    layout.element_bytes = is_narrow(format) ? 1 : 2;
    if (layout.swizzle == 0) return "an operand of a product without swizzle";
    long long least = layout.start;
    long long most = layout.start;
    for (int across = 0; across < size; ++across)
        for (const int k : {0, layout.depth() - 1}) {
            least = std::min(least, layout.place(across, k));
            most = std::max(most, layout.place(across, k));
        }
    const long long end = most + layout.element_bytes;
    if (least >= 0 && end <= shared_bytes) return std::nullopt;
    return fmt::format("an operand of a product outside shared memory: bytes {} to {} of {}", least,
                       end, shared_bytes);
}

void GroupProducts::know(Thread& of, const void* registers, int words) {
    const auto known = std::find_if(of.known.begin(), of.known.end(),
                                    [&](const Known& k) { return k.registers == registers; });
    Known now{registers, std::vector<std::uint32_t>(static_cast<std::size_t>(words))};
    std::memcpy(now.words.data(), registers, now.words.size() * 4);
    if (known != of.known.end()) {
        *known = std::move(now);
        return;
    }
    if (of.known.size() == kKnown) of.known.erase(of.known.begin());
    of.known.push_back(std::move(now));
}

void GroupProducts::fence(int thread, const void* frame) {
    Thread& of = threads_[static_cast<std::size_t>(thread)];
    of.fenced = true;
    std::erase_if(of.known, [&](const Known& known) { return known.registers < frame; });
    for (Known& known : of.known)
        std::memcpy(known.words.data(), known.registers, known.words.size() * 4);
}

Misuse GroupProducts::check_fenced(Thread& of, const void* registers, int words) {
    const auto known = std::find_if(of.known.begin(), of.known.end(),
                                    [&](const Known& k) { return k.registers == registers; });
    const bool unchanged =
        known == of.known.end()
            ? of.fenced
            : std::memcmp(known->words.data(), registers,
                          std::min(known->words.size(), static_cast<std::size_t>(words)) * 4) == 0;
    if (unchanged) return std::nullopt;
    return "a product reads registers that were written since fence_products";
}

Misuse GroupProducts::begin(const GroupProduct& product) {
    StartedProduct started;
    started.what = product;
    if (product.held != nullptr)
        started.held.resize(std::size_t{4} * kGroupThreads);
    else if (Misuse wrong = decode(product.left, product.left_transposed, product.left_format,
                                   kRows, shared_bytes_, started.left))
        return wrong;
    if (Misuse wrong = decode(product.right, product.right_transposed, product.right_format,
                              8 * product.across, shared_bytes_, started.right))
        return wrong;
    queue_.push_back(std::move(started));
    return std::nullopt;
}

/// Takes what the product reads of the thread's registers, and poisons its results.
Misuse GroupProducts::take_registers(int thread, StartedProduct& started,
                                     const GroupProduct& product) {
    Thread& of = threads_[static_cast<std::size_t>(thread)];
    const int count = 4 * product.across;
    const auto busy = std::find_if(of.busy.begin(), of.busy.end(), [&](const Busy& other) {
        return product.results < other.results + 4 * other.across &&
               other.results < product.results + count;
    });
    if (busy != of.busy.end()) {
        if (busy->results != product.results || busy->across != product.across)
            return "a product writes part of the registers of another in flight";
        if (!poisoned(product.results, count))
            return "registers of a product are written before wait_products";
        if (started.results == nullptr) started.results = busy->values;
        if (started.results != busy->values)
            return "the threads of a warp group start products of different registers";
        ++busy->products;
    } else {
        if (Misuse wrong = check_fenced(of, product.results, count)) return wrong;
        if (started.results == nullptr) {
            started.results = &results_.emplace_back();
            started.results->across = product.across;
            started.results->at.resize(static_cast<std::size_t>(kRows * 8 * product.across));
        }
        if (product.add)
            for (int i = 0; i < count; ++i)
                started.results->at[result_place(thread, i, 8 * product.across)] =
                    product.results[i];
        of.busy.push_back({product.results, product.across, started.results, 1});
        poison(product.results, count);
    }
    of.held.push_back(product.held);
    if (product.held == nullptr) return std::nullopt;
    if (Misuse wrong = check_fenced(of, product.held, 4)) return wrong;
    know(of, product.held, 4);
    std::memcpy(&started.held[static_cast<std::size_t>(4 * thread)], product.held, 16);
    return std::nullopt;
}

Misuse GroupProducts::start(int thread, const GroupProduct& product) {
    Thread& of = threads_[static_cast<std::size_t>(thread)];
    const std::int64_t which = of.started++;
    if (which - first_ == static_cast<std::int64_t>(queue_.size()))
        if (Misuse wrong = begin(product)) return wrong;
    StartedProduct& started = at(which);
    if (!same_product(started.what, product))
        return "the threads of a warp group start different products";
    ++started.threads;
    return take_registers(thread, started, product);
}

void GroupProducts::commit(int thread) {
    Thread& of = threads_[static_cast<std::size_t>(thread)];
    of.groups.push_back(of.started);
    ++of.commits;
}

std::int64_t GroupProducts::covered(int thread, int pending) const {
    const Thread& of = threads_[static_cast<std::size_t>(thread)];
    const auto groups = static_cast<int>(of.groups.size());
    return groups > pending ? of.groups[static_cast<std::size_t>(groups - pending - 1)] : of.ended;
}

bool GroupProducts::whole(std::int64_t products) const {
    return std::all_of(threads_.begin(), threads_.end(),
                       [&](const Thread& of) { return of.started >= products; });
}

void GroupProducts::hurry() {
    for (StartedProduct& product : queue_) {
        if (!product.whole()) return;
        if (!product.carried_out) carry_out(product);
        product.carried_out = true;
    }
}

Misuse GroupProducts::end_one(int thread, StartedProduct& product) {
    Thread& of = threads_[static_cast<std::size_t>(thread)];
    const unsigned* held = of.held.front();
    of.held.erase(of.held.begin());
    if (held != nullptr &&
        std::memcmp(held, &product.held[static_cast<std::size_t>(4 * thread)], 16) != 0)
        return "registers of a product's left operand are written before wait_products";
    ++product.ended;
    const auto busy = std::find_if(of.busy.begin(), of.busy.end(),
                                   [&](const Busy& one) { return one.values == product.results; });
    if (--busy->products > 0) return std::nullopt;
    const int count = 4 * busy->across;
    if (!poisoned(busy->results, count))
        return "registers of a product are written before wait_products";
    for (int i = 0; i < count; ++i)
        busy->results[i] = busy->values->at[result_place(thread, i, 8 * busy->across)];
    know(of, busy->results, count);
    ++busy->values->ended;
    of.busy.erase(busy);
    return std::nullopt;
}

Misuse GroupProducts::end(int thread, std::int64_t products) {
    hurry();
    Thread& of = threads_[static_cast<std::size_t>(thread)];
    while (!of.groups.empty() && of.groups.front() <= products) of.groups.pop_front();
    if (of.ended < products) of.fenced = false;
    for (; of.ended < products; ++of.ended)
        if (Misuse wrong = end_one(thread, at(of.ended))) return wrong;
    drop_ended();
    return std::nullopt;
}

void GroupProducts::drop_ended() {
    for (; !queue_.empty() && queue_.front().ended == kGroupThreads; ++first_) queue_.pop_front();
    results_.remove_if([](const ResultsInFlight& r) { return r.ended == kGroupThreads; });
}

Misuse GroupProducts::settle(int thread, const void* registers, int words) const {
    const Thread& of = threads_[static_cast<std::size_t>(thread)];
    const auto* first = static_cast<const std::uint32_t*>(registers);
    const auto meets = [&](const void* other, int count) {
        const auto* begin = static_cast<const std::uint32_t*>(other);
        return begin != nullptr && begin < first + words && first < begin + count;
    };
    for (const Busy& busy : of.busy)
        if (meets(busy.results, 4 * busy.across))
            return "registers are used before wait_products covers the product that writes them";
    for (const unsigned* held : of.held)
        if (meets(held, 4))
            return "registers are used before wait_products covers the product that reads them";
    return std::nullopt;
}

bool GroupProducts::none(int thread) const {
    const Thread& of = threads_[static_cast<std::size_t>(thread)];
    return of.started == of.ended;
}

StartedProduct& GroupProducts::last(int thread) {
    return at(threads_[static_cast<std::size_t>(thread)].started - 1);
}

float GroupProducts::element(const OperandLayout& layout, int across, int k, Format format) const {
    std::uint16_t bits = 0;
    std::memcpy(&bits, shared_ + layout.place(across, k),
                static_cast<std::size_t>(layout.element_bytes));
    return widen(bits, format);
}

float GroupProducts::left_element(const StartedProduct& product, int row, int k) const {
    if (product.held.empty()) return element(product.left, row, k, product.what.left_format);
    const int thread = row / 16 * 32 + row % 8 * 4 + k % 8 / 2;
    const int word = row % 16 / 8 + k / 8 * 2;
    const std::uint32_t pair = product.held[static_cast<std::size_t>(4 * thread + word)];
    return widen(pair >> (16 * (k % 2)) & 0xffffU, product.what.left_format);
}

/// Those of step k along it, then those of the next.
std::vector<float> GroupProducts::right_elements(const StartedProduct& product) const {
    const int columns = 8 * product.what.across;
    std::vector<float> right;
    for (int k = 0; k < product.right.depth(); ++k)
        for (int column = 0; column < columns; ++column)
            right.push_back(element(product.right, column, k, product.what.right_format));
    return right;
}

void GroupProducts::carry_out(StartedProduct& product) const {
    const auto columns = static_cast<std::size_t>(8 * product.what.across);
    const int depth = product.right.depth();
    std::vector<float> right = right_elements(product);
    std::vector<float> left;
    for (int row = 0; row < kRows; ++row)
        for (int k = 0; k < depth; ++k) left.push_back(left_element(product, row, k));
    std::vector<float>& sums = product.results->at;
    if (!product.what.add) std::fill(sums.begin(), sums.end(), 0.0F);
    const auto steps = static_cast<std::size_t>(depth);
    if (is_narrow(product.what.right_format)) {
        const NarrowFactors of_left(std::move(left), product.what.left_format);
        const NarrowFactors of_right(std::move(right), product.what.right_format);
        for (std::size_t at = 0; at < sums.size(); ++at)
            sums[at] = narrow_sum(sums[at], of_left, at / columns * steps, of_right, at % columns,
                                  columns);
        return;
    }
    for (std::size_t row = 0; row < kRows; ++row)
        for (std::size_t k = 0; k < steps; ++k) {
            const float factor = left[row * steps + k];
            const float* from = &right[k * columns];
            float* to = &sums[row * columns];
            for (std::size_t column = 0; column < columns; ++column)
                to[column] += factor * from[column];
        }
}

}  // namespace napkin
