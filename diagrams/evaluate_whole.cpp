#include "diagrams/evaluate_whole.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "diagrams/evaluate/whole/plan.h"
#include "diagrams/evaluate/whole/stage_runner.h"
#include "diagrams/evaluate/whole/vectorised.h"

namespace napkin {
namespace {

using evaluation::KnownArrays;
using evaluation::Plan;
using evaluation::Stage;

/// Parts of expressions that a thread evaluates in a second, about.
constexpr double kStepRate = 2.5e9;
constexpr int kMostThreads = 64;

/// With the threads that there are.
WholeOptions completed(WholeOptions options) {
    if (options.threads <= 0)
        options.threads =
            std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMostThreads);
    return options;
}

/// Runs the blocks by several threads; what one of them throws is thrown again.
void run(const Diagram& diagram, const Stage& stage, const KnownArrays& known, int most_threads,
         Tensors& outputs) {
    const evaluation::StagePrograms programs(diagram, stage);
    const std::int64_t blocks = stage.blocks();
    std::atomic<std::int64_t> next = 0;
    std::exception_ptr failure;
    std::mutex failing;
    const auto work = [&] {
        try {
            evaluation::StageRunner runner(diagram, stage, programs, known, outputs);
            for (std::int64_t block = next++; block < blocks; block = next++) runner.run(block);
        } catch (...) {
            next = blocks;
            const std::lock_guard lock(failing);
            if (!failure) failure = std::current_exception();
        }
    };
    std::vector<std::thread> threads;
    for (std::int64_t at = 1; at < std::min<std::int64_t>(most_threads, blocks); ++at)
        threads.emplace_back(work);
    work();
    for (std::thread& thread : threads) thread.join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace

std::optional<WholeWork> whole_work(const Diagram& diagram, const std::vector<ArrayId>& arrays,
                                    const WholeOptions& options) {
    const WholeOptions how = completed(options);
    const std::optional<Plan> plan = evaluation::plan_stages(diagram, arrays, how);
    if (!plan) return std::nullopt;
    return WholeWork{
        plan->multiplications, plan->steps, plan->values,
        (plan->multiplications / evaluation::multiplication_rate() + plan->steps / kStepRate) /
            how.threads};
}

Tensors evaluate_whole(const Diagram& diagram, const Tensors& inputs,
                       const std::vector<ArrayId>& arrays, const WholeOptions& options) {
    const WholeOptions how = completed(options);
    const std::optional<Plan> plan = evaluation::plan_stages(diagram, arrays, how);
    invariant(plan.has_value(), "arrays that do not fit in memory");
    KnownArrays known(diagram.arrays.size());
    Tensors parameters;
    Tensors computed;
    for (std::size_t at = 0; at < diagram.arrays.size(); ++at) {
        const ArrayId id{static_cast<std::uint32_t>(at)};
        const Array& array = diagram[id];
        if (const auto given = inputs.find(id); given != inputs.end()) {
            known[at] = given->second.values.data();
        } else if (array.role == ArrayRole::Parameter && array.value) {
            parameters[id].values = {round_to(array.type, *array.value)};
            known[at] = parameters[id].values.data();
        }
    }
    for (const Stage& stage : plan->stages) {
        for (const ArrayId root : stage.roots) computed[root] = make_tensor(diagram, root);
        run(diagram, stage, known, how.threads, computed);
        for (const ArrayId root : stage.roots)
            known[root.index()] = computed.at(root).values.data();
    }
    Tensors result;
    for (const ArrayId array : arrays) result[array] = std::move(computed.at(array));
    return result;
}

}  // namespace napkin
