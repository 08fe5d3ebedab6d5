#include "codegen/accesses.h"

#include <algorithm>
#include <array>

#include "codegen/kernel_walk.h"
#include "diagrams/overloaded.h"
#include "diagrams/result.h"

namespace napkin::kernel {
namespace {

/// A device primitive and the arguments that it writes, or reads and writes; it reads the others.
struct Primitive {
    std::string_view name;
    std::vector<std::size_t> writes;
    std::vector<std::size_t> updates;
};

/// The primitive of a name, where it is one that kernels run for its effect.
std::optional<Primitive> find_primitive(const std::string& name) {
    // clang-format off
    const std::vector<Primitive> list = {
        {"begin_multiply", {},  {0}},
        {"begin_turns",    {},  {}},
        {"combine_columns", {}, {0}},
        {"commit_copies",  {},  {}},
        {"copy_async",     {0}, {}},
        {"copy_pieces",    {0}, {}},
        {"copy_repeating", {0}, {}},
        {"copy_shifted",   {0}, {}},
        {"copy_vector",    {0}, {}},
        {"end_turns",      {},  {}},
        {"fence_async",    {},  {}},
        {"fence_barriers", {},  {}},
        {"fetch_first",    {0}, {}},
        {"finish_multiply", {}, {0}},
        {"find_ends",      {0}, {}},
        {"give_up_registers", {}, {}},
        {"hold",           {},  {0}},
        {"load_gathered",  {0}, {}},
        {"load_panels",    {0}, {}},
        {"load_row_pieces", {0}, {}},
        {"load_rows",      {0}, {}},
        {"load_vector",    {0}, {}},
        {"make_again",     {},  {0}},
        {"mark_chunks",    {0}, {}},
        {"mark_by_lanes",  {0}, {}},
        {"multiply",       {},  {0}},
        {"multiply_head",  {},  {0, 1}},
        {"multiply_narrow", {}, {0}},
        {"multiply_tail",  {},  {0}},
        {"named_barrier",  {},  {}},
        {"parted_barrier",  {},  {}},
        {"outer_product",  {},  {0}},
        {"pass_turn",      {},  {}},
        {"publish",        {0}, {}},
        {"publish_nibbles", {0}, {}},
        {"read_nibbles",   {0}, {}},
        {"replace_nan",    {},  {0}},
        {"save_all_held",  {1, 2}, {0}},
        {"save_held",      {1, 2}, {0}},
        {"save_matrix",    {3}, {}},
        {"save_pieces",    {1}, {}},
        {"save_slices",    {1, 2}, {}},
        {"save_row_pieces", {1}, {}},
        {"save_rows",      {1}, {}},
        {"scan_row",       {},  {0, 3}},
        {"start_multiply", {},  {0}},
        {"store",          {1}, {}},
        {"take_next",      {},  {0}},
        {"take_registers", {},  {}},
        {"take_turn",      {},  {}},
        {"wait_copies",    {},  {}},
        {"wait_products",  {},  {}},
    };
    // clang-format on
    const auto found = std::find_if(list.begin(), list.end(), [&](const Primitive& primitive) {
        return primitive.name == name;
    });
    return found == list.end() ? std::nullopt : std::optional(*found);
}

/// Of those that give a value: they exchange it through their second argument.
bool exchanges(const std::string& function) {
    constexpr std::array<std::string_view, 5> kThroughScratch = {
        "block_first", "block_maximum", "block_minimum", "block_product", "block_sum"};
    return std::find(kThroughScratch.begin(), kThroughScratch.end(), function) !=
           kThroughScratch.end();
}

/// What an element is one of, or a member belongs to.
const Variable* base_of(const Expression& expression) {
    if (const Variable* variable = std::get_if<Variable>(&expression.node)) return variable;
    const bool part = std::holds_alternative<Element>(expression.node) ||
                      std::holds_alternative<Member>(expression.node);
    return part ? base_of(parts_of(expression)->front()) : nullptr;
}

class Collector {
public:
    explicit Collector(Functions known) : functions_(std::move(known)) {}

    Accesses run(const Body& body) {
        for (const Statement& statement : body) visit(statement);
        for (const std::string& name : declared_) forget(name);
        return std::move(found_);
    }

private:
    void forget(const std::string& name) {
        found_.reads.erase(name);
        found_.writes.erase(name);
    }
    /// What a body in a scope of its own does, in which the names mean something else.
    void enter(const Body& body, const std::vector<std::string>& names) {
        Accesses inside = accesses_of(body, functions_);
        for (const std::string& name : names) {
            inside.reads.erase(name);
            inside.writes.erase(name);
        }
        found_.add(inside);
    }
    void enter(const Lambda& function) {
        std::vector<std::string> names;
        for (const Lambda::Parameter& parameter : function.parameters)
            names.push_back(parameter.name);
        enter(function.body, names);
    }
    void read(const Expression& expression) {
        if (const Lambda* function = std::get_if<Lambda>(&expression.node)) return enter(*function);
        if (const Variable* variable = std::get_if<Variable>(&expression.node)) {
            const auto function = functions_.find(variable->name);
            if (function == functions_.end())
                found_.reads.insert(variable->name);
            else
                found_.add(function->second);
        }
        if (const Call* call = std::get_if<Call>(&expression.node)) {
            const Entity* function = std::get_if<Entity>(&call->parts.front().node);
            if (function != nullptr && exchanges(function->name)) write(call->parts.at(2));
        }
        if (const std::vector<Expression>* parts = parts_of(expression))
            for (const Expression& part : *parts) read(part);
    }
    /// The indices of what is written are read.
    void write(const Expression& target) {
        const Variable* variable = base_of(target);
        invariant(variable != nullptr, "a kernel writes what is no place");
        found_.writes.insert(variable->name);
        const Expression* place = &target;
        while (const std::vector<Expression>* parts = parts_of(*place)) {
            for (std::size_t i = 1; i < parts->size(); ++i) read((*parts)[i]);
            place = &parts->front();
        }
    }
    void run(const Expression& expression) {
        const Call* call = std::get_if<Call>(&expression.node);
        invariant(call != nullptr, "a kernel runs what is no call");
        const Expression& callee = call->parts.front();
        if (std::holds_alternative<Member>(callee.node)) {
            write(callee);
            for (std::size_t i = 1; i < call->parts.size(); ++i) read(call->parts[i]);
            return;
        }
        const Entity* function = std::get_if<Entity>(&callee.node);
        if (function == nullptr) return read(expression);
        const std::optional<Primitive> known = find_primitive(function->name);
        invariant(known.has_value(), "it is not known what `", function->name, "` writes");
        for (std::size_t i = 0; i + 1 < call->parts.size(); ++i) {
            const auto in = [i](const std::vector<std::size_t>& arguments) {
                return std::find(arguments.begin(), arguments.end(), i) != arguments.end();
            };
            const bool updates = in(known->updates);
            if (updates || in(known->writes)) write(call->parts[i + 1]);
            if (updates || !in(known->writes)) read(call->parts[i + 1]);
        }
    }
    void declare(const Declare& s) {
        declared_.insert(s.name);
        for (const Expression& dimension : s.dimensions) read(dimension);
        if (!s.value) return;
        if (const Lambda* function = std::get_if<Lambda>(&s.value->node)) {
            Collector inside(functions_);
            inside.enter(*function);
            functions_[s.name] = std::move(inside.found_);
            return;
        }
        read(*s.value);
        found_.writes.insert(s.name);
    }
    void visit(const Statement& statement) {
        std::visit(
            overloaded{[&](const Declare& s) { declare(s); }, [](const Alias&) {},
                       [&](const Assign& s) {
                           write(s.target);
                           if (s.adds) read(s.target);
                           read(s.value);
                       },
                       [&](const Run& s) { run(s.call); }, [&](const Return& s) { read(s.value); },
                       [&](const For& s) {
                           read(s.begin);
                           Collector inside(functions_);
                           inside.read(s.end);
                           inside.read(s.step);
                           if (s.next) inside.read(*s.next);
                           inside.enter(s.body, {});
                           inside.forget(s.name);
                           found_.add(inside.found_);
                       },
                       [&](const Halve& s) { enter(s.body, {s.name}); },
                       [&](const Repeat& s) {
                           enter(s.body, {});
                           read(s.condition);
                       },
                       [&](const If& s) {
                           read(s.condition);
                           enter(s.then, {});
                           enter(s.otherwise, {});
                       },
                       [&](const Block& s) { enter(s.body, {}); },
                       [&](const SkipUnless& s) { read(s.condition); },
                       [&](const LeaveIf& s) { read(s.condition); }, [](const Barrier&) {},
                       [](const Comment&) {}, [&](const Phase& s) { enter(s.body, {}); }},
            statement.node);
    }

    Functions functions_;
    Accesses found_;
    std::set<std::string> declared_;
};

}  // namespace

void Accesses::add(const Accesses& other) {
    reads.insert(other.reads.begin(), other.reads.end());
    writes.insert(other.writes.begin(), other.writes.end());
}

Accesses accesses_of(const Body& body, const Functions& known) {
    return Collector(known).run(body);
}

}  // namespace napkin::kernel
