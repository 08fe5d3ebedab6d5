#include "derive/proof/input_sets.h"

#include <bit>
#include <utility>

#include "derive/proof/limits.h"

namespace napkin::proof {
namespace {

constexpr std::size_t kBits = 64;

InputSet left_of(std::uint64_t node) {
    return InputSet{static_cast<std::uint32_t>(node >> 32)};
}
InputSet right_of(std::uint64_t node) {
    return InputSet{static_cast<std::uint32_t>(node)};
}
std::uint64_t pair_of(InputSet left, InputSet right) {
    return static_cast<std::uint64_t>(left.value) << 32 | right.value;
}
/// How many inputs a tree of this height is about.
std::size_t span_of(int height) {
    return kBits << height;
}

}  // namespace

InputSets::InputSets(std::size_t inputs) {
    while (span_of(height_) < inputs) ++height_;
    (void)intern(0);
}

InputSet InputSets::intern(std::uint64_t node) {
    const InputSet next{static_cast<std::uint32_t>(nodes_.size())};
    const auto [entry, fresh] = known_.try_emplace(node, next);
    if (!fresh) return entry->second;
    if (nodes_.size() >= kMostSets)
        throw TooMuchWork("sets of inputs that reach outputs", kMostSets);
    nodes_.push_back(node);
    return next;
}

InputSet InputSets::single(std::size_t input) {
    InputSet tree = intern(std::uint64_t{1} << (input % kBits));
    for (int height = 0; height < height_; ++height)
        tree = intern((input / span_of(height)) % 2 == 0 ? pair_of(tree, {}) : pair_of({}, tree));
    return tree;
}

InputSet InputSets::unite_at(int height, InputSet a, InputSet b) {
    if (a == b || b == InputSet{}) return a;
    if (a == InputSet{}) return b;
    const std::uint64_t one = nodes_[a.index()];
    const std::uint64_t other = nodes_[b.index()];
    if (height == 0) return intern(one | other);
    const InputSet left = unite_at(height - 1, left_of(one), left_of(other));
    return intern(pair_of(left, unite_at(height - 1, right_of(one), right_of(other))));
}

InputSet InputSets::unite(InputSet a, InputSet b) {
    if (a == b || b == InputSet{}) return a;
    if (a == InputSet{}) return b;
    if (b < a) std::swap(a, b);
    if (unions_.size() >= kMostSets) unions_.clear();
    const auto [known, fresh] = unions_.try_emplace(pair_of(a, b));
    if (fresh) known->second = unite_at(height_, a, b);
    return known->second;
}

void InputSets::collect_missing(int height, std::size_t first, InputSet from, InputSet in,
                                std::vector<std::size_t>& missing) const {
    if (from == in || from == InputSet{}) return;
    const std::uint64_t one = nodes_[from.index()];
    const std::uint64_t other = nodes_[in.index()];
    if (height > 0) {
        const std::size_t half = span_of(height - 1);
        collect_missing(height - 1, first, left_of(one), left_of(other), missing);
        return collect_missing(height - 1, first + half, right_of(one), right_of(other), missing);
    }
    for (std::uint64_t extra = one & ~other; extra != 0; extra &= extra - 1)
        missing.push_back(first + static_cast<std::size_t>(std::countr_zero(extra)));
}

std::vector<std::size_t> InputSets::missing(InputSet from, InputSet in) const {
    std::vector<std::size_t> missing;
    collect_missing(height_, 0, from, in, missing);
    return missing;
}

}  // namespace napkin::proof
