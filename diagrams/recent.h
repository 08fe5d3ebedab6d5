// What was computed last.
#pragma once

#include <algorithm>
#include <cstddef>
#include <list>
#include <utility>

namespace napkin {

/// The answers to the last few different questions: a search asks the same ones again and again.
template <class Question, class Answer>
class Recent {
public:
    explicit Recent(std::size_t most) : most_(most) {}

    /// The answer to a question that is equal; null where it is not among the last.
    template <class Asked>
    [[nodiscard]] const Answer* find(const Asked& asked) {
        const auto found = std::find_if(kept_.begin(), kept_.end(),
                                        [&](const auto& each) { return each.first == asked; });
        if (found == kept_.end()) return nullptr;
        kept_.splice(kept_.begin(), kept_, found);
        return &kept_.front().second;
    }
    /// Keeps an answer that was not found.
    const Answer& keep(Question question, Answer answer) {
        if (kept_.size() >= most_) kept_.pop_back();
        return kept_.emplace_front(std::move(question), std::move(answer)).second;
    }

private:
    std::size_t most_;
    std::list<std::pair<Question, Answer>> kept_;  // the last that was asked for first
};

}  // namespace napkin
