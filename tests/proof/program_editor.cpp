#include <stdexcept>

#include "diagrams/overloaded.h"
#include "tests/proof/mutations.h"

namespace napkin::test {
namespace {

bool visit_body(std::vector<TileStatement>& body,
                const std::function<bool(std::vector<TileStatement>&, std::size_t)>& visit) {
    for (std::size_t at = 0; at < body.size(); ++at) {
        if (visit(body, at)) return true;
        if (Parallel* parallel = std::get_if<Parallel>(&body[at].node))
            if (visit_body(parallel->body, visit)) return true;
        if (Loop* loop = std::get_if<Loop>(&body[at].node))
            if (visit_body(loop->body, visit)) return true;
    }
    return false;
}

}  // namespace

void ProgramEditor::find(const Visitor& visit, const std::string& what) {
    for (RegionProgram& region : program_.regions)
        if (visit_body(region.body, visit)) return;
    throw std::runtime_error("a mutation does not apply: no " + what);
}

ArrayId ProgramEditor::array(const std::string& name) const {
    for (const RegionProgram& region : program_.regions)
        for (std::uint32_t i = 0; i < region.arrays.size(); ++i)
            if (region.arrays[i].name == name) return ArrayId{i};
    throw std::runtime_error("a mutation does not apply: no array " + name);
}

AxisId ProgramEditor::axis(const std::string& name) const {
    for (std::uint32_t i = 0; i < program_.regions[0].axes.size(); ++i)
        if (program_.regions[0].axes[i].name == name) return AxisId{i};
    throw std::runtime_error("a mutation does not apply: no axis " + name);
}

Compute& ProgramEditor::compute(const std::string& target, std::size_t nth) {
    const ArrayId id = array(target);
    Compute* found = nullptr;
    find(
        [&](std::vector<TileStatement>& body, std::size_t at) {
            Compute* compute = std::get_if<Compute>(&body[at].node);
            if (compute == nullptr) return false;
            for (const ArrayId each : compute->statement.targets)
                if (each == id && nth-- == 0) found = compute;
            return found != nullptr;
        },
        "computation of " + target);
    return *found;
}

Expression& ProgramEditor::value(const std::string& target, std::size_t nth) {
    Statement& statement = compute(target, nth).statement;
    if (Map* map = std::get_if<Map>(&statement.body)) return map->value;
    if (Select* select = std::get_if<Select>(&statement.body)) return select->value;
    return std::get<Fold>(statement.body).values.front();
}

Expression& ProgramEditor::seed(const std::string& target, std::size_t nth) {
    return std::get<Fold>(compute(target, nth).statement.body).seed.at(0);
}

Load& ProgramEditor::load(const std::string& name) {
    const ArrayId id = array(name);
    Load* found = nullptr;
    find(
        [&](std::vector<TileStatement>& body, std::size_t at) {
            Load* load = std::get_if<Load>(&body[at].node);
            if (load != nullptr && load->array == id) found = load;
            return found != nullptr;
        },
        "load of " + name);
    return *found;
}

Loop& ProgramEditor::loop(std::size_t nth) {
    Loop* found = nullptr;
    find(
        [&](std::vector<TileStatement>& body, std::size_t at) {
            Loop* loop = std::get_if<Loop>(&body[at].node);
            if (loop != nullptr && nth-- == 0) found = loop;
            return found != nullptr;
        },
        "loop");
    return *found;
}

Variable& ProgramEditor::variable(const std::string& name) {
    const ArrayId id = array(name);
    for (RegionProgram& region : program_.regions)
        for (Variable& variable : region.variables)
            if (variable.array == id) return variable;
    throw std::runtime_error("a mutation does not apply: no variable of " + name);
}

void ProgramEditor::drop_compute(const std::string& target, std::size_t nth) {
    const Compute* wanted = &compute(target, nth);
    find(
        [&](std::vector<TileStatement>& body, std::size_t at) {
            if (std::get_if<Compute>(&body[at].node) != wanted) return false;
            body.erase(body.begin() + static_cast<std::ptrdiff_t>(at));
            return true;
        },
        "computation of " + target);
}

void ProgramEditor::drop_save(const std::string& name) {
    const ArrayId id = array(name);
    find(
        [&](std::vector<TileStatement>& body, std::size_t at) {
            const Save* save = std::get_if<Save>(&body[at].node);
            if (save == nullptr || save->array != id || save->target) return false;
            body.erase(body.begin() + static_cast<std::ptrdiff_t>(at));
            return true;
        },
        "save of " + name);
}

void ProgramEditor::swap_computes(const std::string& first, std::size_t nth,
                                  const std::string& second, std::size_t other) {
    std::swap(compute(first, nth), compute(second, other));
}

void ProgramEditor::save_in_loop(const std::string& name) {
    const ArrayId id = array(name);
    std::vector<TileStatement> moved;
    find(
        [&](std::vector<TileStatement>& body, std::size_t at) {
            const Save* save = std::get_if<Save>(&body[at].node);
            if (save == nullptr || save->array != id) return false;
            for (std::size_t i = 0; i < at; ++i)
                if (const Compute* compute = std::get_if<Compute>(&body[i].node);
                    compute != nullptr && compute->statement.targets.front() == id)
                    moved.push_back(body[i]);
            moved.push_back(body[at]);
            return true;
        },
        "save of " + name);
    for (TileStatement& statement : moved) loop().body.push_back(std::move(statement));
}

Expression ProgramEditor::read_of(const std::string& name) {
    const ArrayId id = array(name);
    std::optional<Expression> found;
    find(
        [&](std::vector<TileStatement>& body, std::size_t at) {
            const Compute* compute = std::get_if<Compute>(&body[at].node);
            if (compute == nullptr) return false;
            for (const Expression* expression : expressions_of(compute->statement))
                walk(*expression, [&](const Expression& part) {
                    const Read* read = std::get_if<Read>(&part.node);
                    if (!found && read != nullptr && read->array == id) found = part;
                });
            return found.has_value();
        },
        "read of " + name);
    return *found;
}

}  // namespace napkin::test
