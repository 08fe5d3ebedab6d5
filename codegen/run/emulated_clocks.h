// Which events of an emulated block come before which, whatever the order in which threads run:
// vector clocks of threads and of what is asynchronous.
//
// Every thread counts its releases; copies that it started and nobody has waited for are an agent
// of their own, and so are bulk copies on a barrier, stores of a thread and products of a warp. An
// event is its agent and that agent's count (an epoch). What a thread knows of others' counts
// changes only when it waits, so threads with the same past share it, and waiting is mostly looking
// up that two pasts were joined before. (FastTrack, Flanagan and Freund 2009, has epochs.)
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace napkin {

/// An event: its agent and, in the lower bits, the agent's count from 1 on. 0: none.
using Epoch = std::uint32_t;
inline constexpr int kCountBits = 20;
inline constexpr Epoch kMostCounts = (Epoch{1} << kCountBits) - 1;
inline constexpr Epoch kMostAgents = (Epoch{1} << (32 - kCountBits)) - 1;  ///< the last is no agent

[[nodiscard]] constexpr Epoch epoch_of(int agent, std::uint64_t count) {
    return static_cast<Epoch>(agent) << kCountBits | static_cast<Epoch>(count);
}
[[nodiscard]] constexpr int agent_of(Epoch epoch) {
    return static_cast<int>(epoch >> kCountBits);
}
[[nodiscard]] constexpr Epoch count_of(Epoch epoch) {
    return epoch & kMostCounts;
}

/// Counts of agents, shared by all who know the same; never changed.
class Knowledge {
public:
    Knowledge() = default;
    explicit Knowledge(std::vector<Epoch> counts) : data_(new Data{1, std::move(counts)}) {}
    Knowledge(const Knowledge& other) : data_(other.data_) {
        if (data_ != nullptr) ++data_->users;
    }
    Knowledge(Knowledge&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
    Knowledge& operator=(Knowledge other) noexcept {
        std::swap(data_, other.data_);
        return *this;
    }
    ~Knowledge() {
        if (data_ != nullptr && --data_->users == 0) delete data_;
    }
    bool operator==(const Knowledge&) const = default;  ///< the very same
    [[nodiscard]] Epoch of(int agent) const {
        const auto which = static_cast<std::size_t>(agent);
        return data_ != nullptr && which < data_->counts.size() ? data_->counts[which] : 0;
    }
    [[nodiscard]] std::size_t size() const { return data_ == nullptr ? 0 : data_->counts.size(); }
    [[nodiscard]] std::size_t hash() const { return reinterpret_cast<std::size_t>(data_) >> 5; }

private:
    struct Data {
        int users = 0;
        std::vector<Epoch> counts;
    };
    Data* data_ = nullptr;
};

/// What several agents make known to those who wait for them.
struct Release {
    std::vector<Knowledge> known;  ///< each once
    std::vector<std::pair<int, Epoch>> counts;
};

/// What an agent is, for messages.
enum class AgentKind { Thread, Copies, BulkLoads, BulkStores, Products };

class Clocks {
public:
    explicit Clocks(int threads) : threads_(static_cast<std::size_t>(threads)) {}
    void restart();

    /// Of what the thread does until its next release.
    [[nodiscard]] Epoch now(int thread) const { return epoch_of(thread, at(thread).count); }
    /// Of the copies that a thread starts as its `count`-th.
    [[nodiscard]] Epoch copies(int thread, std::uint64_t count) const {
        return epoch_of(static_cast<int>(threads_.size()) + thread, count);
    }
    /// Agents in a row that are one event's together; the first's number. `owner` is for messages:
    /// a thread, a warp group or a barrier's place.
    int add_agents(AgentKind kind, int count, long long owner);

    /// Whether an event comes before what the thread does now.
    [[nodiscard]] bool ordered(Epoch event, int thread) const;
    /// The same without what the thread did itself since it last waited for anyone.
    [[nodiscard]] bool known(Epoch event, int thread) const;
    [[nodiscard]] const Knowledge& knowledge(int thread) const { return at(thread).known; }

    void release(int thread, Release& into);
    [[nodiscard]] Knowledge join(const Release& released);
    void acquire(int thread, const Knowledge& what);
    /// The thread waited for what the agent did up to a count.
    void learn(int thread, int agent, std::uint64_t count);
    void learn_copies(int thread, std::uint64_t count);
    /// Threads that all wait for each other.
    void meet(int first, int count);

    /// What the thread knows and did is visible to bulk copies and products from here on.
    void fence(int thread);
    /// Whether what a thread wrote is, when the thread `by` starts one.
    [[nodiscard]] bool fenced(Epoch written, int by) const;
    [[nodiscard]] const Knowledge& fence_knowledge(int thread) const { return at(thread).fenced; }

    /// Whether counts still fit.
    [[nodiscard]] bool exhausted() const { return exhausted_; }
    [[nodiscard]] AgentKind kind(Epoch event) const;
    /// Who, for messages.
    [[nodiscard]] std::string name(Epoch event) const;

private:
    struct Fence {
        Epoch count = 0;   ///< the thread's, from the fence on
        Epoch copies = 0;  ///< that it had waited for
    };
    struct Thread {
        Knowledge known;
        Epoch count = 1;
        Epoch copies = 0;  ///< waited for
        std::vector<Fence> fences;
        Knowledge fenced;  ///< what it knew at its last fence
    };
    struct Agents {
        AgentKind kind = AgentKind::Thread;
        int count = 1;
        long long owner = 0;
    };
    struct Joined {
        Knowledge first;
        Knowledge second;
        Knowledge both;
    };
    struct Learned {
        Knowledge before;
        int agent = -1;
        Epoch count = 0;
        Knowledge after;
    };

    [[nodiscard]] const Thread& at(int thread) const {
        return threads_[static_cast<std::size_t>(thread)];
    }
    [[nodiscard]] int threads() const { return static_cast<int>(threads_.size()); }
    [[nodiscard]] bool holds(const Knowledge& what, Epoch event) const;
    [[nodiscard]] const Agents& agents(int agent) const {
        return agents_[static_cast<std::size_t>(agent - 2 * threads())];
    }
    void count_on(Thread& thread);

    std::vector<Thread> threads_;
    std::vector<Agents> agents_;  ///< after two for each thread
    std::array<Joined, 256> joined_;
    std::array<Learned, 256> learned_;
    bool exhausted_ = false;
};

inline bool Clocks::holds(const Knowledge& what, Epoch event) const {
    const int agent = agent_of(event);
    const Epoch count = count_of(event);
    if (agent < 2 * threads()) return what.of(agent) >= count;
    for (int i = 0; i < agents(agent).count; ++i)
        if (what.of(agent + i) < count) return false;
    return true;
}

inline bool Clocks::known(Epoch event, int thread) const {
    return holds(at(thread).known, event);
}

inline bool Clocks::ordered(Epoch event, int thread) const {
    const int agent = agent_of(event);
    if (agent == thread) return true;
    if (agent == threads() + thread && count_of(event) <= at(thread).copies) return true;
    return known(event, thread);
}

}  // namespace napkin
