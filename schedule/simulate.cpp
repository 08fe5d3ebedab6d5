#include "schedule/simulate.h"

#include <algorithm>
#include <cmath>

namespace napkin::schedule {
namespace {

constexpr std::int64_t kTurns = 40;
constexpr double kInstant = 1e-9;
constexpr double kDone = 1e-6;  // clocks left of what is over

/// First in, first out, without giving memory back.
template <class Item>
class Queue {
public:
    [[nodiscard]] bool empty() const { return first_ == items_.size(); }
    [[nodiscard]] std::size_t size() const { return items_.size() - first_; }
    [[nodiscard]] Item& front() { return items_[first_]; }
    void push(const Item& item) { items_.push_back(item); }
    void pop() {
        if (++first_ < items_.size()) return;
        items_.clear();
        first_ = 0;
    }
    [[nodiscard]] auto begin() { return items_.begin() + static_cast<std::ptrdiff_t>(first_); }
    [[nodiscard]] auto end() { return items_.end(); }
    [[nodiscard]] auto begin() const {
        return items_.begin() + static_cast<std::ptrdiff_t>(first_);
    }
    [[nodiscard]] auto end() const { return items_.end(); }

private:
    std::vector<Item> items_;
    std::size_t first_ = 0;
};

class Simulation {
public:
    Simulation(const std::vector<Step>& steps, const Sharing& sharing, std::vector<Activity>* noted)
        : steps_(steps), sharing_(sharing), noted_(noted) {
        double all = 0;
        for (const Step& step : steps)
            for (const Unit unit : kUnits) all += step.cost.of(unit);
        busiest_.reserve(steps.size());
        for (const Step& step : steps) busiest_.push_back(step.cost.of_busiest());
        agents_.reserve(static_cast<std::size_t>(sharing.agents));
        // Agents that begin together stay together; no two of a real block do.
        for (int a = 0; a < sharing.agents; ++a) {
            Agent agent;
            agent.start = 0.31 * a * all / sharing.agents;
            agent.done.assign(steps.size(), kNothing);
            agent.ends.reserve(kTurns);
            agents_.push_back(std::move(agent));
        }
    }

    std::optional<double> run() {
        while (true) {
            const std::size_t turns = agents_.empty() ? 0 : agents_.front().ends.size();
            while (advance()) {
            }
            if (noted_ == nullptr && agents_.front().ends.size() > turns && repeats())
                return agents_.front().ends.back() - last_end_;
            if (std::all_of(agents_.begin(), agents_.end(),
                            [](const Agent& agent) { return agent.turn >= kTurns; }))
                break;
            if (!pass()) return std::nullopt;
        }
        constexpr std::size_t kLast = kTurns - 3;
        double sum = 0;
        for (const Agent& agent : agents_)
            sum += (agent.ends[kLast] - agent.ends[kFirst]) / static_cast<double>(kLast - kFirst);
        return sum / sharing_.agents;
    }

private:
    static constexpr std::int64_t kNothing = -1000;
    static constexpr std::size_t kFirst = 10;  // turns before the steady state is measured

    struct Product {
        std::size_t step = 0;
        std::int64_t chunk = 0;
        double left = 0;  // clocks
        std::int64_t number = 0;
        double begin = -1;
    };
    struct Agent {
        double start = 0;
        std::size_t step = 0;
        std::int64_t turn = 0;
        std::optional<double> left;  // of the step that it is at, 1 at its beginning
        double begin = 0;            // of that step
        Queue<Product> queue;
        Queue<Product> reads;
        std::vector<std::int64_t> done;  // the last chunk, by step
        std::vector<double> ends;        // of its turns
    };

    struct Work {
        Agent* agent;
        double rate;
    };

    /// Whether everything stands as it stood when the first agent ended the turn before: then every
    /// turn from here on is like the last one. Asked before the turns that are measured.
    bool repeats() {
        const Agent& first = agents_.front();
        bool all_begun = true;
        std::vector<double>& now = now_;
        now.clear();
        const auto note_products = [&](const Queue<Product>& products) {
            now.push_back(static_cast<double>(products.size()));
            for (const Product& product : products) {
                now.push_back(static_cast<double>(product.step));
                now.push_back(static_cast<double>(product.chunk - first.turn));
                now.push_back(product.left);
                now.push_back(static_cast<double>(product.number - issued_));
            }
        };
        for (const Agent& agent : agents_) {
            all_begun = all_begun && works(agent) && agent.ends.size() <= kFirst;
            now.push_back(static_cast<double>(agent.step));
            now.push_back(static_cast<double>(agent.turn - first.turn));
            now.push_back(agent.left.value_or(-1));
            note_products(agent.queue);
            note_products(agent.reads);
            for (const std::int64_t chunk : agent.done)
                now.push_back(static_cast<double>(chunk - first.turn));
        }
        const auto same = [](double a, double b) { return std::abs(a - b) < kInstant; };
        const bool found =
            all_begun && std::equal(now.begin(), now.end(), before_.begin(), before_.end(), same);
        last_end_ = first.ends.size() > 1 ? first.ends[first.ends.size() - 2] : 0;
        std::swap(before_, now_);
        return found;
    }

    [[nodiscard]] bool works(const Agent& agent) const {
        return agent.turn < kTurns && time_ >= agent.start - kInstant;
    }

    /// What takes no time: issues, results that are there, turns that end.
    bool advance() {
        bool moved = false;
        for (Agent& agent : agents_) {
            if (!works(agent)) continue;
            const Step& step = steps_[agent.step];
            const std::int64_t chunk = agent.turn + step.lead;
            if (!agent.left) {
                const bool ready =
                    std::all_of(step.waits.begin(), step.waits.end(), [&](const Step::Wait& wait) {
                        const std::int64_t wanted = chunk - wait.chunks_before;
                        // What the kernel did before its first turn.
                        return wanted < steps_[wait.step].lead || agent.done[wait.step] >= wanted;
                    });
                if (!ready) continue;
                if (step.asynchronous && step.cost.of(Unit::Tensor) > 0)
                    agent.queue.push(
                        {agent.step, chunk, step.cost.of(Unit::Tensor), issued_++, -1});
                else if (step.asynchronous)
                    agent.reads.push({agent.step, chunk, step.cost.of(Unit::Shared), 0, time_});
                agent.begin = time_;
                agent.left = step.asynchronous || busiest_[agent.step] == 0 ? 0.0 : 1.0;
            }
            if (*agent.left > kInstant) continue;
            if (!step.asynchronous) {
                agent.done[agent.step] = chunk;
                note(agent, agent.step, chunk, agent.begin);
            }
            agent.left.reset();
            moved = true;
            if (++agent.step < steps_.size()) continue;
            agent.step = 0;
            ++agent.turn;
            agent.ends.push_back(time_);
        }
        return moved;
    }

    void note(const Agent& agent, std::size_t step, std::int64_t chunk, double begin) {
        if (noted_ == nullptr) return;
        noted_->push_back(
            {static_cast<std::size_t>(&agent - agents_.data()), step, chunk, begin, time_});
    }

    /// Goes on to the next thing that ends; false where nothing can.
    bool pass() {
        std::vector<Product*>& heads = heads_;
        heads.clear();
        for (Agent& agent : agents_)
            if (!agent.queue.empty()) heads.push_back(&agent.queue.front());
        if (sharing_.turns && heads.size() > 1) {
            Product* first = *std::min_element(
                heads.begin(), heads.end(),
                [](const Product* a, const Product* b) { return a->number < b->number; });
            heads.assign(1, first);
        }
        std::vector<Work>& work = work_;
        work.clear();
        for (Agent& agent : agents_)
            if (works(agent) && agent.left && *agent.left > kInstant)
                work.push_back({&agent, 1 / (sharing_.latency * busiest_[agent.step])});
        for (const Unit unit : kUnits) {
            double load = 0;
            for (const Work& item : work)
                load += item.rate * steps_[item.agent->step].cost.of(unit);
            if (load <= 1) continue;
            for (Work& item : work)
                if (steps_[item.agent->step].cost.of(unit) > 0) item.rate /= load;
        }
        double wait = -1;
        const auto sooner = [&](double time) {
            if (wait < 0 || time < wait) wait = time;
        };
        const auto share = static_cast<double>(heads.size());
        for (Product* head : heads)
            if (head->begin < 0) head->begin = time_;
        for (const Product* head : heads) sooner(head->left * share);
        for (const Agent& agent : agents_)
            for (const Product& read : agent.reads) sooner(read.left);
        for (const Work& item : work) sooner(*item.agent->left / item.rate);
        for (const Agent& agent : agents_)
            if (agent.turn < kTurns && agent.start > time_ + kInstant) sooner(agent.start - time_);
        if (wait < 0) return false;
        wait = std::max(wait, kDone);
        time_ += wait;
        for (Product* head : heads) head->left -= wait / share;
        for (const Work& item : work) *item.agent->left -= wait * item.rate;
        for (Agent& agent : agents_)
            for (Product& read : agent.reads) read.left -= wait;
        for (Agent& agent : agents_)
            for (Queue<Product>* queue : {&agent.queue, &agent.reads})
                while (!queue->empty() && queue->front().left <= kDone) {
                    const Product& over = queue->front();
                    agent.done[over.step] = over.chunk;
                    note(agent, over.step, over.chunk, over.begin);
                    queue->pop();
                }
        return true;
    }

    const std::vector<Step>& steps_;
    Sharing sharing_;
    std::vector<Activity>* noted_;
    std::vector<Agent> agents_;
    std::vector<double> busiest_;  // clocks of each step's busiest unit
    std::vector<Product*> heads_;
    std::vector<Work> work_;
    std::vector<double> now_;
    std::vector<double> before_;  // how things stood at the end of the first agent's last turn
    double last_end_ = 0;         // when that was
    double time_ = 0;
    std::int64_t issued_ = 0;
};

}  // namespace

std::optional<double> simulate(const std::vector<Step>& steps, const Sharing& sharing,
                               std::vector<Activity>* noted) {
    if (steps.empty()) return 0.0;
    return Simulation(steps, sharing, noted).run();
}

}  // namespace napkin::schedule
