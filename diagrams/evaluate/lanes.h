// Lanes: expressions are evaluated for up to kLanes elements at once, so that the cost of walking
// an expression is shared. A number that is the same in every lane is kept once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace napkin::evaluation {

inline constexpr std::size_t kLanes = 1024;

/// Buffers of kLanes numbers that are used again.
template <class T>
class LanePool {
public:
    [[nodiscard]] std::unique_ptr<T[]> take() {
        if (free_.empty()) return std::make_unique<T[]>(kLanes);
        std::unique_ptr<T[]> buffer = std::move(free_.back());
        free_.pop_back();
        return buffer;
    }
    void give(std::unique_ptr<T[]> buffer) { free_.push_back(std::move(buffer)); }

private:
    std::vector<std::unique_ptr<T[]>> free_;
};

/// A buffer on loan from a pool; empty when default constructed.
template <class T>
class LaneBuffer {
public:
    LaneBuffer() = default;
    explicit LaneBuffer(LanePool<T>& pool) : pool_(&pool), data_(pool.take()) {}
    LaneBuffer(LaneBuffer&& other) noexcept = default;
    LaneBuffer& operator=(LaneBuffer&& other) noexcept {
        std::swap(pool_, other.pool_);
        std::swap(data_, other.data_);
        return *this;
    }
    LaneBuffer(const LaneBuffer&) = delete;
    LaneBuffer& operator=(const LaneBuffer&) = delete;
    ~LaneBuffer() {
        if (data_ != nullptr) pool_->give(std::move(data_));
    }
    [[nodiscard]] T* get() const { return data_.get(); }
    explicit operator bool() const { return data_ != nullptr; }

private:
    LanePool<T>* pool_ = nullptr;
    std::unique_ptr<T[]> data_;
};

/// The value of an expression in every lane.
struct Value {
    double scalar = 0;
    const double* lanes = nullptr;  ///< null: `scalar` in every lane
    LaneBuffer<double> storage;     ///< owns `lanes`, unless they lie in an input

    [[nodiscard]] bool uniform() const { return lanes == nullptr; }
    [[nodiscard]] double at(std::size_t lane) const {
        return lanes == nullptr ? scalar : lanes[lane];
    }
};

/// An index in every lane: `values[lane]`, or `base + step * lane` where `values` is null.
struct IndexLanes {
    std::int64_t base = 0;
    std::int64_t step = 0;
    const std::int64_t* values = nullptr;

    [[nodiscard]] bool affine() const { return values == nullptr; }
    [[nodiscard]] bool uniform() const { return values == nullptr && step == 0; }
    [[nodiscard]] std::int64_t at(std::size_t lane) const {
        return values == nullptr ? base + step * static_cast<std::int64_t>(lane) : values[lane];
    }
};

/// The sum of `term` of every number, by the machine's addition: four sums side by side, which do
/// not wait for each other.
template <class Term>
[[nodiscard]] double sum_in_strands(const double* numbers, std::size_t count, const Term& term) {
    std::array<double, 4> sums = {};
    std::size_t at = 0;
    for (; at + 4 <= count; at += 4)
        for (std::size_t strand = 0; strand < 4; ++strand)
            sums[strand] += term(numbers[at + strand]);
    for (; at < count; ++at) sums[0] += term(numbers[at]);
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// What an expression is evaluated for: an index of every axis in every lane, and the operands of a
/// monoid's combine (which has one lane).
struct Batch {
    std::size_t count = 0;
    std::span<const IndexLanes> axes;
    std::span<const double> operands;
};

}  // namespace napkin::evaluation
