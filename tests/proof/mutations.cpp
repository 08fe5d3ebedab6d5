#include "tests/proof/mutations.h"

#include <algorithm>
#include <stdexcept>

#include "diagrams/infinity.h"

namespace napkin::test {
namespace {

Region& region_of(State& state, std::size_t nth = 0) {
    return state.relabelling.regions.at(nth);
}
AxisId axis(const State& state, const std::string& name) {
    return *find_axis(state.diagram, name);
}

/// The expression with every read of one array replaced by a read of another of the same axes.
Expression with_array(Expression expression, ArrayId from, ArrayId to) {
    return rewrite(std::move(expression), [&](Expression node) {
        if (Read* read = std::get_if<Read>(&node.node); read != nullptr && read->array == from)
            read->array = to;
        return node;
    });
}
/// The expression with an axis' index replaced.
Expression with_index(Expression expression, AxisId from, const Expression& to) {
    return rewrite(std::move(expression), [&](Expression node) {
        const AxisIndex* index = std::get_if<AxisIndex>(&node.node);
        return index != nullptr && index->axis == from ? to : node;
    });
}
/// The first call of a function in an expression.
Apply& call_in(Expression& expression, Function function) {
    Apply* call = std::get_if<Apply>(&expression.node);
    if (call != nullptr && call->function == function) return *call;
    if (call != nullptr)
        for (Expression& argument : call->arguments) {
            try {
                return call_in(argument, function);
            } catch (const std::runtime_error&) {
            }
        }
    throw std::runtime_error("a mutation does not apply: no such call");
}
/// Adds a variable to what a computation reads, as its expressions now do.
void note_read(ProgramEditor& edit, Compute& compute, const std::string& array) {
    const ArrayId id = edit.array(array);
    for (RegionProgram& region : edit.program().regions)
        for (std::uint32_t i = 0; i < region.variables.size(); ++i)
            if (region.variables[i].array == id &&
                std::find(compute.reads.begin(), compute.reads.end(), VariableId{i}) ==
                    compute.reads.end())
                compute.reads.push_back(VariableId{i});
}

void rules(std::vector<Mutation>& list) {
    const auto add = [&](const char* fault, const char* subject,
                         std::function<void(State&)> mutate) {
        list.push_back({"rule", fault, subject, std::move(mutate), nullptr});
    };
    add("group an axis that the region folds", "attention-whole", [](State& state) {
        region_of(state).groups.push_back({axis(state, "x"), 3, Level::Block});
    });
    add("group an axis that what is saved lacks", "row-sums", [](State& state) {
        region_of(state).groups.push_back({axis(state, "d"), 2, Level::Block});
    });
    add("fuse regions out of order", "attention_unfused", [](State& state) {
        std::swap(state.relabelling.regions.at(0), state.relabelling.regions.at(1));
    });
    add("lose a statement in fusing", "attention",
        [](State& state) { region_of(state).statements.pop_back(); });
    add("lose a region", "attention_unfused",
        [](State& state) { state.relabelling.regions.erase(state.relabelling.regions.begin()); });
    add("compute a statement twice", "attention_backward", [](State& state) {
        Region& last = state.relabelling.regions.back();
        last.statements.push_back(region_of(state).statements.back());
    });
    add("stream an axis that is mapped and folded in two roles", "attention-whole",
        [](State& state) {
            region_of(state).streams.push_back({axis(state, "d"), 2, Level::Block});
        });
    add("split an axis with a stride off by one", "split-rows", [](State& state) {
        for (Statement& statement : state.diagram.statements)
            if (Map* map = std::get_if<Map>(&statement.body))
                map->value = rewrite(map->value, [&](Expression node) {
                    Apply* call = std::get_if<Apply>(&node.node);
                    if (call != nullptr && call->function == Function::Multiply &&
                        std::holds_alternative<SizeOf>(call->arguments[1].node))
                        node = apply(Function::Multiply, {call->arguments[0], integer(1)});
                    return node;
                });
    });
    add("split an axis by a size that does not divide", "split-rows",
        [](State& state) { state.diagram.axes[axis(state, "n").index()].extent -= 1; });
    add("join two axes in the wrong order", "joined-rows", [](State& state) {
        for (Statement& statement : state.diagram.statements)
            if (Map* map = std::get_if<Map>(&statement.body))
                map->value = rewrite(map->value, [&](Expression node) {
                    Apply* call = std::get_if<Apply>(&node.node);
                    if (call != nullptr && call->function == Function::FloorDivide)
                        call->function = Function::Modulo;
                    else if (call != nullptr && call->function == Function::Modulo)
                        call->function = Function::FloorDivide;
                    return node;
                });
    });
}

void repairs(std::vector<Mutation>& list) {
    const auto add = [&](const char* fault, const char* subject,
                         std::function<void(ProgramEditor&)> mutate) {
        list.push_back({"accumulator", fault, subject, nullptr, std::move(mutate)});
    };
    add("no repair of the denominator", "attention",
        [](ProgramEditor& edit) { edit.seed("P_sum", 1) = edit.read_of("P_sum"); });
    add("no repair of the result", "attention",
        [](ProgramEditor& edit) { edit.seed("O_sum", 1) = edit.read_of("O_sum"); });
    add("repair upside down", "attention", [](ProgramEditor& edit) {
        Apply& exponent = call_in(edit.value("P_repair"), Function::Subtract);
        std::swap(exponent.arguments[0], exponent.arguments[1]);
    });
    add("repair applied twice", "attention", [](ProgramEditor& edit) {
        edit.seed("P_sum", 1) =
            apply(Function::Multiply, {edit.seed("P_sum", 1), edit.read_of("P_repair")});
    });
    add("weights relative to the old maximum", "attention", [](ProgramEditor& edit) {
        Compute& compute = edit.compute("P_weight");
        edit.value("P_weight") =
            with_array(edit.value("P_weight"), edit.array("P_max_new"), edit.array("P_max"));
        note_read(edit, compute, "P_max");
    });
    add("the maximum is never carried on", "attention",
        [](ProgramEditor& edit) { edit.drop_compute("P_max", 1); });
    add("the maximum of the first chunk is kept", "attention", [](ProgramEditor& edit) {
        const Expression old = edit.read_of("P_max");
        Fold fold = std::get<Fold>(edit.compute("P_max_new").statement.body);
        fold.values = {apply(Function::Select, {apply(Function::Greater, {old, number(-kInfinity)}),
                                                old, fold.values[0]})};
        edit.compute("P_max_new").statement.body = fold;
    });
    add("a sum starts at one", "matmul",
        [](ProgramEditor& edit) { edit.value("C_sum") = number(1); });
    add("the maximum starts at infinity", "attention",
        [](ProgramEditor& edit) { edit.value("P_max") = number(kInfinity); });
    add("the carry of a scan starts at one", "gated_scan",
        [](ProgramEditor& edit) { edit.value("h_carry") = number(1); });
    add("no tail", "attention",
        [](ProgramEditor& edit) { edit.value("O") = edit.read_of("O_sum"); });
    add("the tail divides by the maximum", "attention", [](ProgramEditor& edit) {
        edit.value("O") = with_array(edit.value("O"), edit.array("P_sum"), edit.array("P_max"));
        note_read(edit, edit.compute("O"), "P_max");
    });
    add("the tail forgets the maximum", "attention_softcap", [](ProgramEditor& edit) {
        edit.value("L") = std::get<Apply>(edit.value("L").node).arguments[1];
    });
}

void accumulators(std::vector<Mutation>& list) {
    const auto add = [&](const char* fault, const char* subject,
                         std::function<void(ProgramEditor&)> mutate) {
        list.push_back({"accumulator", fault, subject, nullptr, std::move(mutate)});
    };
    add("a minimum for a maximum", "fp8_matmul", [](ProgramEditor& edit) {
        std::get<Fold>(edit.compute("s_max", 1).statement.body).monoid = kMin;
        edit.value("s_max") = number(kInfinity);
    });
    add("a chunk is folded in twice", "matmul", [](ProgramEditor& edit) {
        edit.value("C_sum", 1) =
            apply(Function::Add, {edit.value("C_sum", 1), edit.value("C_sum", 1)});
    });
    add("a chunk replaces what was before", "matmul",
        [](ProgramEditor& edit) { edit.seed("C_sum", 1) = number(0); });
    add("the square of the mean is added, not subtracted", "layernorm_linear",
        [](ProgramEditor& edit) {
            for (Compute* compute : {&edit.compute("Y")})
                std::get<Map>(compute->statement.body).value =
                    rewrite(std::get<Map>(compute->statement.body).value, [&](Expression node) {
                        Apply* call = std::get_if<Apply>(&node.node);
                        if (call != nullptr && call->function == Function::Subtract)
                            call->function = Function::Add;
                        return node;
                    });
        });
    add("the mean is left out", "layernorm_linear",
        [](ProgramEditor& edit) { edit.value("N_sum2", 1) = number(0); });
    add("the label's term is left out", "cross_entropy",
        [](ProgramEditor& edit) { edit.value("T_sum", 1) = number(0); });
    add("affine maps composed in the wrong order", "gated_scan", [](ProgramEditor& edit) {
        Monoid& monoid = edit.region().monoids.back();
        for (Expression& part : monoid.combine)
            part = rewrite(std::move(part), [](Expression node) {
                if (Operand* operand = std::get_if<Operand>(&node.node))
                    operand->slot = (operand->slot + 2) % 4;
                return node;
            });
    });
    add("the carry of a scan is not carried", "gated_scan",
        [](ProgramEditor& edit) { edit.drop_compute("h_carry", 1); });
    add("the carry of a scan is taken before the chunk", "prefix_sum",
        [](ProgramEditor& edit) { edit.swap_computes("C", 0, "C_carry", 1); });
    add("the smallest is picked", "pick", [](ProgramEditor& edit) {
        call_in(edit.value("I_takes"), Function::Greater).function = Function::Less;
    });
    add("the index of the last chunk is kept", "pick",
        [](ProgramEditor& edit) { edit.value("I_at", 1) = edit.read_of("I_chunk_at"); });
    add("a scale is applied twice", "fp8_matmul", [](ProgramEditor& edit) {
        edit.value("Y") = apply(Function::Multiply, {edit.value("Y"), edit.read_of("scale")});
    });
}

void expansion(std::vector<Mutation>& list) {
    const auto add = [&](const char* fault, const char* subject,
                         std::function<void(ProgramEditor&)> mutate) {
        list.push_back({"expansion", fault, subject, nullptr, std::move(mutate)});
    };
    add("the mask of tiles is off by one", "attention_gqa", [](ProgramEditor& edit) {
        call_in(edit.loop().visible.at(0), Function::LessEqual).function = Function::Less;
    });
    add("the mask of elements is off by one", "attention_gqa", [](ProgramEditor& edit) {
        call_in(edit.value("M"), Function::LessEqual).function = Function::Less;
    });
    add("the mask leaks", "attention_window", [](ProgramEditor& edit) {
        edit.value("M") = edit.read_of("S");
        note_read(edit, edit.compute("M"), "S");
    });
    add("the branches of a mask are exchanged", "attention_alibi", [](ProgramEditor& edit) {
        Apply& mask = std::get<Apply>(edit.value("M").node);
        mask.arguments[0] = apply(Function::Not, {mask.arguments[0]});
    });
    add("no tile is visible", "attention_window", [](ProgramEditor& edit) {
        edit.loop().visible = {apply(Function::Less, {axis_index(edit.axis("x")), integer(0)})};
    });
    add("data that masks one fold leaves out chunks that another needs", "labels",
        [](ProgramEditor& edit) {
            const auto read = [&](const char* axis) {
                return napkin::read(edit.array("y"), {axis_index(edit.axis(axis))});
            };
            edit.loop().data_masks = {apply(Function::NotEqual, {read("i"), read("j")})};
        });
    add("an input without an axis is read as if it had it", "attention_gqa",
        [](ProgramEditor& edit) {
            const Expression group = axis_index(edit.axis("g"));
            for (Expression& index : edit.load("K").index.at(1)) index = group;
            edit.value("S") = rewrite(edit.value("S"), [&](Expression node) {
                Read* read = std::get_if<Read>(&node.node);
                if (read != nullptr && read->array == edit.array("K")) read->index.at(1) = group;
                return node;
            });
        });
    add("one head's slope for all", "attention_alibi", [](ProgramEditor& edit) {
        for (Expression& index : edit.load("slope").index.at(0)) index = integer(0);
        edit.value("M") = rewrite(edit.value("M"), [&](Expression node) {
            Read* read = std::get_if<Read>(&node.node);
            if (read != nullptr && read->array == edit.array("slope"))
                read->index.at(0) = integer(0);
            return node;
        });
    });
    add("two strides are exchanged", "convolution", [](ProgramEditor& edit) {
        edit.value("Y_sum", 1) = rewrite(edit.value("Y_sum", 1), [&](Expression node) {
            Read* read = std::get_if<Read>(&node.node);
            if (read != nullptr && read->array == edit.array("W"))
                std::swap(read->index.at(1), read->index.at(2));
            return node;
        });
    });
    add("the halo is off by one", "convolution", [](ProgramEditor& edit) {
        for (Expression& index : edit.load("X").index.at(1))
            index = apply(Function::Add, {index, integer(1)});
    });
    add("one axis of a reduction is left out", "convolution", [](ProgramEditor& edit) {
        Fold& fold = std::get<Fold>(edit.compute("Y_sum", 1).statement.body);
        std::erase(fold.over, edit.axis("s"));
    });
    add("the wrong rows are loaded", "matmul", [](ProgramEditor& edit) {
        for (Expression& index : edit.load("B").index.at(0)) index = integer(0);
    });
    add("a result is not saved", "attention_softcap",
        [](ProgramEditor& edit) { edit.drop_save("L"); });
    add("a result is saved with every chunk", "matmul",
        [](ProgramEditor& edit) { edit.save_in_loop("C"); });
    add("a state is not initialised", "attention",
        [](ProgramEditor& edit) { edit.drop_compute("P_sum", 0); });
    add("a label gathers its neighbour's row", "embedding", [](ProgramEditor& edit) {
        edit.load("E").gather.at(1) = apply(
            Function::Modulo, {apply(Function::Add, {edit.load("E").gather.at(1), integer(1)}),
                               size_of(edit.axis("d"))});
    });
    add("a wire is used after the wrong statement", "swiglu", [](ProgramEditor& edit) {
        edit.value("Y") = with_array(edit.value("Y"), edit.array("U_sum"), edit.array("G_sum"));
        note_read(edit, edit.compute("Y"), "G_sum");
    });
}

void interpreter(std::vector<Mutation>& list) {
    const auto add = [&](const char* fault, const char* subject,
                         std::function<void(ProgramEditor&)> mutate) {
        list.push_back({"interpreter", fault, subject, nullptr, std::move(mutate)});
    };
    add("the ragged last chunk is not run", "attention", [](ProgramEditor& edit) {
        Loop& loop = edit.loop();
        const std::int64_t extent = edit.region().axes[loop.axis.index()].extent;
        loop.visible.push_back(apply(
            Function::Less, {axis_index(loop.axis), integer(extent / loop.size * loop.size)}));
    });
    add("the first chunk is not run", "matmul", [](ProgramEditor& edit) {
        Loop& loop = edit.loop();
        loop.visible.push_back(
            apply(Function::GreaterEqual, {axis_index(loop.axis), integer(loop.size)}));
    });
    add("a tile counts its indices from zero", "attention_gqa", [](ProgramEditor& edit) {
        const Loop& loop = edit.loop();
        Apply& mask = std::get<Apply>(edit.value("M").node);
        mask.arguments[0] =
            with_index(mask.arguments[0], loop.axis,
                       apply(Function::Modulo, {axis_index(loop.axis), integer(loop.size)}));
    });
    add("a state is forgotten between chunks", "attention",
        [](ProgramEditor& edit) { edit.variable("O_sum").persists = false; });
    add("what a lower level keeps is forgotten", "nested", [](ProgramEditor& edit) {
        for (Variable& variable : edit.region().variables)
            if (variable.level == Level::Warps) variable.persists = false;
    });
    add("an update comes before its last use", "attention",
        [](ProgramEditor& edit) { edit.swap_computes("P_repair", 0, "P_max", 1); });
    add("elements are selected in rising order", "topk_routing", [](ProgramEditor& edit) {
        edit.value("gate") = apply(Function::Negate, {edit.value("gate")});
    });
    add("one element too few is selected from", "topk_routing", [](ProgramEditor& edit) {
        edit.value("gate") =
            apply(Function::Select,
                  {apply(Function::Less,
                         {axis_index(edit.axis("e")),
                          apply(Function::Subtract, {size_of(edit.axis("e")), integer(1)})}),
                   edit.value("gate"), number(-kInfinity)});
    });
}

}  // namespace

std::vector<Mutation> all_mutations() {
    std::vector<Mutation> list;
    rules(list);
    repairs(list);
    accumulators(list);
    expansion(list);
    interpreter(list);
    return list;
}

std::pair<std::string, std::string> extra_subject(const std::string& name) {
    const std::string attention = R"(diagram attention {
  axis q = 5, x = 7, d = 3
  input Q[q, d], K[x, d], V[x, d]
  S[q, x] = sum(d) Q[q, d] * K[x, d]
  P[q, x] = softmax[x](S[q, x])
  output O[q, d] = sum(x) P[q, x] * V[x, d]
})";
    if (name == "attention-whole") return {attention, "fuse S, P, O"};
    if (name == "nested")
        return {attention, "fuse S, P, O\ngroup q by 4\nstream x by 3\ngroup q by 2 at l2"};
    if (name == "row-sums")
        return {R"(diagram sums {
  axis n = 5, d = 4
  input X[n, d]
  output Y[n] = sum(d) X[n, d]
})",
                "group n by 2"};
    if (name == "split-rows")
        return {R"(diagram rows {
  axis n = 6, d = 3
  input X[n, d]
  output Y[n, d] = X[n, d] * n
})",
                "split-axis n as r by 2"};
    if (name == "joined-rows")
        return {R"(diagram rows {
  axis n = 4, d = 3
  input X[n, d]
  output Y[n, d] = X[n, d] * (n - d)
})",
                "join-axes n, d as c"};
    if (name == "pick")
        return {R"(diagram pick {
  axis q = 9, x = 7
  input S[q, x]
  output I[q] = argmax(x) S[q, x]
})",
                "stream x by 3"};
    if (name == "labels")
        return {R"(diagram labels {
  axis i = 5, j = i, d = 2
  input A[i, d], B[j, d]
  input y[i] : i32
  S[i, j] = sum(d) A[i, d] * B[j, d]
  M[i, j] = if y[i] != y[j] then S[i, j] else -inf
  output R[i] = logsumexp[j](M[i, j]) - S[i, i]
})",
                "fuse all\ngroup i by 1\nstream j by 1"};
    throw std::runtime_error("no subject " + name);
}

}  // namespace napkin::test
