#include "diagrams/drawing/parts.h"

#include <algorithm>
#include <map>
#include <set>

#include "diagrams/drawing/contraction.h"
#include "diagrams/drawing/spelled.h"

namespace napkin::drawing {

namespace {

/// Collects what an expression reads inside calls of the library, and their arguments do not.
void collect_hidden(const Diagram& diagram, const Expression& expression,
                    std::set<ArrayId>& hidden) {
    if (const std::optional<Spelled> call = spelled(diagram, expression)) {
        std::set<ArrayId> given;
        for (const Expression* argument : call->arguments) {
            given.merge(arrays_read(*argument));
            collect_hidden(diagram, *argument, hidden);
        }
        for (ArrayId array : arrays_read(expression))
            if (!given.contains(array)) hidden.insert(array);
        return;
    }
    if (const Apply* apply = std::get_if<Apply>(&expression.node))
        for (const Expression& argument : apply->arguments)
            collect_hidden(diagram, argument, hidden);
    if (const Convert* convert = std::get_if<Convert>(&expression.node))
        collect_hidden(diagram, convert->argument[0], hidden);
}

bool is_summed_product(const Diagram& diagram, StatementId id) {
    const std::optional<Contraction> contraction = as_contraction(diagram, {id});
    return contraction && !contraction->folded.empty();
}

/// Follows statements from the last to the first: each stands with the one part that reads it,
/// alone where several do or where it is a cup.
class Parts {
public:
    Parts(const Diagram& diagram, const std::vector<StatementId>& statements)
        : diagram_(diagram), statements_(statements) {
        std::set<ArrayId> hidden;
        for (StatementId id : statements)
            for (const Expression* expression : expressions_of(diagram[id]))
                collect_hidden(diagram, *expression, hidden);
        for (auto id = statements.rbegin(); id != statements.rend(); ++id) {
            const std::vector<ArrayId>& targets = diagram[*id].targets;
            const bool shown = std::none_of(targets.begin(), targets.end(), [&](ArrayId target) {
                return hidden.contains(target);
            });
            add(*id, shown && is_summed_product(diagram, *id));
        }
    }
    [[nodiscard]] std::vector<std::vector<StatementId>> in_order() && {
        for (std::vector<StatementId>& part : parts_) std::reverse(part.begin(), part.end());
        const auto place = [&](const std::vector<StatementId>& part) {
            return std::find(statements_.begin(), statements_.end(), part.back());
        };
        std::sort(parts_.begin(), parts_.end(),
                  [&](const auto& a, const auto& b) { return place(a) < place(b); });
        return std::move(parts_);
    }

private:
    void add(StatementId id, bool is_cup) {
        std::set<std::size_t> readers;
        for (ArrayId target : diagram_[id].targets)
            for (StatementId reader : consumers(diagram_, target))
                if (const auto found = part_of_.find(reader); found != part_of_.end())
                    readers.insert(found->second);
        const bool joins = readers.size() == 1 && !is_cup && !cups_.contains(*readers.begin());
        const std::size_t part = joins ? *readers.begin() : parts_.size();
        if (!joins) parts_.emplace_back();
        if (is_cup) cups_.insert(part);
        parts_[part].push_back(id);
        part_of_[id] = part;
    }

    const Diagram& diagram_;
    const std::vector<StatementId>& statements_;
    std::vector<std::vector<StatementId>> parts_;
    std::set<std::size_t> cups_;
    std::map<StatementId, std::size_t> part_of_;
};

}  // namespace

std::vector<std::vector<StatementId>> parts_of(const Diagram& diagram,
                                               const std::vector<StatementId>& statements) {
    if (statements.size() == 1 || as_contraction(diagram, statements)) return {statements};
    return Parts(diagram, statements).in_order();
}

}  // namespace napkin::drawing
