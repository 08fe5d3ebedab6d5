#include "codegen/run/emulated_clocks.h"

#include <fmt/format.h>

#include <algorithm>

namespace napkin {
namespace {

std::vector<Epoch> counts_in(const Knowledge& known, std::size_t size) {
    std::vector<Epoch> counts(std::max(size, known.size()));
    for (std::size_t i = 0; i < known.size(); ++i) counts[i] = known.of(static_cast<int>(i));
    return counts;
}

void raise(std::vector<Epoch>& counts, int agent, Epoch count) {
    const auto which = static_cast<std::size_t>(agent);
    if (which >= counts.size()) counts.resize(which + 1);
    counts[which] = std::max(counts[which], count);
}

void raise(std::vector<Epoch>& counts, const Knowledge& by) {
    if (counts.size() < by.size()) counts.resize(by.size());
    for (std::size_t i = 0; i < by.size(); ++i)
        counts[i] = std::max(counts[i], by.of(static_cast<int>(i)));
}

}  // namespace

void Clocks::restart() {
    std::fill(threads_.begin(), threads_.end(), Thread{});
    agents_.clear();
    joined_.fill({});
    learned_.fill({});
    exhausted_ = false;
}

int Clocks::add_agents(AgentKind kind, int count, long long owner) {
    const int first = 2 * threads() + static_cast<int>(agents_.size());
    for (int i = 0; i < count; ++i) agents_.push_back({kind, count - i, owner});
    if (first + count >= static_cast<int>(kMostAgents)) exhausted_ = true;
    return first;
}

void Clocks::count_on(Thread& thread) {
    if (++thread.count >= kMostCounts) exhausted_ = true;
}

void Clocks::release(int thread, Release& into) {
    Thread& of = threads_[static_cast<std::size_t>(thread)];
    if (std::find(into.known.begin(), into.known.end(), of.known) == into.known.end())
        into.known.push_back(of.known);
    into.counts.emplace_back(thread, of.count);
    into.counts.emplace_back(threads() + thread, of.copies);
    count_on(of);
}

Knowledge Clocks::join(const Release& released) {
    std::vector<Epoch> counts(2 * threads_.size() + agents_.size());
    for (const Knowledge& known : released.known) raise(counts, known);
    for (const auto& [agent, count] : released.counts) raise(counts, agent, count);
    return Knowledge(std::move(counts));
}

void Clocks::acquire(int thread, const Knowledge& what) {
    Thread& of = threads_[static_cast<std::size_t>(thread)];
    if (of.known == what || what == Knowledge()) return;
    Joined& joined = joined_[(of.known.hash() * 31 + what.hash()) % joined_.size()];
    if (joined.first != of.known || joined.second != what) {
        std::vector<Epoch> counts = counts_in(of.known, what.size());
        raise(counts, what);
        joined = {of.known, what, Knowledge(std::move(counts))};
    }
    of.known = joined.both;
}

void Clocks::learn(int thread, int agent, std::uint64_t count) {
    Thread& of = threads_[static_cast<std::size_t>(thread)];
    const auto reached = static_cast<Epoch>(count);
    if (count >= kMostCounts) exhausted_ = true;
    if (of.known.of(agent) >= reached) return;
    const std::size_t place = of.known.hash() + static_cast<std::size_t>(agent) * 7 + count;
    Learned& learned = learned_[place % learned_.size()];
    if (learned.before != of.known || learned.agent != agent || learned.count != reached) {
        std::vector<Epoch> counts = counts_in(of.known, static_cast<std::size_t>(agent) + 1);
        raise(counts, agent, reached);
        learned = {of.known, agent, reached, Knowledge(std::move(counts))};
    }
    of.known = learned.after;
}

void Clocks::learn_copies(int thread, std::uint64_t count) {
    if (count >= kMostCounts) exhausted_ = true;
    Thread& of = threads_[static_cast<std::size_t>(thread)];
    of.copies = std::max(of.copies, static_cast<Epoch>(count));
}

void Clocks::meet(int first, int count) {
    Release all;
    for (int thread = first; thread < first + count; ++thread) release(thread, all);
    const Knowledge joined = join(all);
    for (int thread = first; thread < first + count; ++thread)
        threads_[static_cast<std::size_t>(thread)].known = joined;
}

void Clocks::fence(int thread) {
    Thread& of = threads_[static_cast<std::size_t>(thread)];
    count_on(of);
    of.fences.push_back({of.count, of.copies});
    of.fenced = of.known;
}

bool Clocks::fenced(Epoch written, int by) const {
    const int agent = agent_of(written);
    if (agent >= 2 * threads()) return true;  // a bulk copy wrote it
    if (holds(at(by).fenced, written)) return true;
    const bool copied = agent >= threads();
    const int writer = copied ? agent - threads() : agent;
    const std::vector<Fence>& fences = at(writer).fences;
    const auto fence = std::partition_point(fences.begin(), fences.end(), [&](const Fence& one) {
        return copied ? one.copies < count_of(written) : one.count <= count_of(written);
    });
    return fence != fences.end() && (writer == by || at(by).known.of(writer) >= fence->count);
}

AgentKind Clocks::kind(Epoch event) const {
    const int agent = agent_of(event);
    if (agent < threads()) return AgentKind::Thread;
    return agent < 2 * threads() ? AgentKind::Copies : agents(agent).kind;
}

std::string Clocks::name(Epoch event) const {
    const int agent = agent_of(event);
    switch (kind(event)) {
    case AgentKind::Thread: return fmt::format("thread {}", agent);
    case AgentKind::Copies: return fmt::format("a copy that thread {} started", agent - threads());
    case AgentKind::BulkLoads:
        return fmt::format("a bulk copy on the barrier at byte {}", agents(agent).owner);
    case AgentKind::BulkStores:
        return fmt::format("a bulk store that thread {} started", agents(agent).owner);
    case AgentKind::Products: return fmt::format("a product of warp group {}", agents(agent).owner);
    }
    return "";
}

}  // namespace napkin
