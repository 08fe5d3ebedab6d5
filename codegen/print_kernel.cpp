// CUDA C++ from kernel programs, laid out as clang-format does it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "codegen/fold_constants.h"
#include "codegen/kernel_program.h"
#include "codegen/line_breaks.h"
#include "codegen/source_writer.h"
#include "diagrams/overloaded.h"
#include "diagrams/rounding.h"

namespace napkin::kernel {
namespace {

std::string parameter_text(const KernelParameter& parameter) {
    switch (parameter.kind) {
    case KernelParameter::Kind::Buffer: {
        const std::string element =
            parameter.type == ElementType::I4 ? "u8" : element_name(parameter.type);
        return fmt::format("Global<{}{}> {}", parameter.written ? "" : "const ", element,
                           parameter.name);
    }
    case KernelParameter::Kind::Scalar:
        return fmt::format("{} {}", is_floating(parameter.type) ? "float" : "i64", parameter.name);
    case KernelParameter::Kind::Size: return "int " + parameter.name;
    case KernelParameter::Kind::Stride: return "i64 " + parameter.name;
    case KernelParameter::Kind::TensorMap:
        return "const __grid_constant__ TensorMap " + parameter.name;
    case KernelParameter::Kind::Counter: return fmt::format("Global<int> {}", parameter.name);
    }
    throw InternalError("unknown kernel parameter");
}

class Printer {
public:
    explicit Printer(SourceWriter& writer) : writer_(writer) {}

    /// What stands before a body.
    enum class After { Line, Brace, LambdaBrace };

    void body(const Body& statements, After after = After::Brace) {
        std::size_t at = 0;
        if (after == After::LambdaBrace) at = comments_of_loop(statements);
        for (; at < statements.size(); ++at) {
            const bool opened = after != After::Line && at == 0;
            statement(statements[at], opened);
        }
    }

private:
    /// clang-format moves a comment between a lambda's brace and a directive; it may stand behind
    /// the directive. Returns how many statements are done.
    std::size_t comments_of_loop(const Body& statements) {
        std::size_t count = 0;
        while (count < statements.size() && std::holds_alternative<Comment>(statements[count].node))
            ++count;
        if (count == 0 || count == statements.size()) return 0;
        const For* next = std::get_if<For>(&statements[count].node);
        if (next == nullptr || !next->unroll) return 0;
        writer_.directive("#pragma unroll");
        for (std::size_t i = 0; i < count; ++i)
            print_comment(writer_, std::get<Comment>(statements[i].node).text);
        For plain = *next;
        plain.unroll = false;
        loop(plain);
        return count + 1;
    }
    void statement(const Statement& statement, bool opened) {
        if (!std::holds_alternative<Declare>(statement.node)) last_remark_ = 0;
        std::visit(
            overloaded{
                [&](const Declare& s) { declare(s); },
                [&](const Alias& s) {
                    writer_.line(fmt::format("using {} = {};", s.name, print(s.type)));
                },
                [&](const Assign& s) { print_assignment(writer_, target_of(s), text_of(s.value)); },
                [&](const Run& s) { run(s); },
                [&](const Return& s) { print_filled(writer_, "return ", text_of(s.value), ";"); },
                [&](const For& s) { loop(s); },
                [&](const Halve& s) {
                    const auto scope = writer_.block(
                        fmt::format("for (int {0} = {1}; {0} > 0; {0} /= 2) {{", s.name, s.from));
                    body(s.body);
                },
                [&](const Repeat& s) {
                    const auto scope =
                        writer_.block("do {", fmt::format("}} while ({});", print(s.condition)));
                    body(s.body);
                },
                [&](const If& s) { branch(s); }, [&](const Block& s) { enclose("{", s.body, "}"); },
                [&](const SkipUnless& s) {
                    print_filled(writer_, "if (", text_of(!s.condition), ") continue;");
                },
                [&](const LeaveIf& s) {
                    if (is(s.condition, true)) return writer_.line("return;");
                    print_filled(writer_, "if (", text_of(s.condition), ") return;");
                },
                [&](const Barrier& s) {
                    writer_.line(s.scope == Scope::Block ? "block_barrier();" : "warp_barrier();");
                },
                [&](const Comment& s) {
                    if (s.apart && !opened) writer_.line();
                    print_comment(writer_, s.text);
                },
                [&](const Phase& s) { phase(s, opened); }},
            statement.node);
    }
    static std::string target_of(const Assign& s) {
        return print(s.target) + (s.adds ? " +=" : " =");
    }
    /// A statement without a body of its own, on one line.
    static std::string short_statement(const Statement& statement) {
        if (const Run* s = std::get_if<Run>(&statement.node)) return print(s->call) + ";";
        if (const Return* s = std::get_if<Return>(&statement.node))
            return "return " + print(s->value) + ";";
        if (const Assign* s = std::get_if<Assign>(&statement.node))
            return fmt::format("{} {};", target_of(*s), print(s->value));
        return {};
    }
    /// A body in braces; on one line where it has one short statement.
    void enclose(const std::string& open, const Body& inside, const std::string& close) {
        if (inside.size() == 1) {
            const std::string only = short_statement(inside.front());
            const std::string whole = fmt::format("{} {} {}", open, only, close);
            if (!only.empty() && writer_.columns() + whole.size() <= kColumns)
                return writer_.line(whole);
        }
        const auto scope = writer_.block(open, close);
        body(inside, open == "{" ? After::Brace : After::LambdaBrace);
    }
    /// The function that a call ends with.
    static const Lambda* function_in(const Expression& call) {
        const std::vector<Expression>* parts = parts_of(call);
        return parts == nullptr ? nullptr : std::get_if<Lambda>(&parts->back().node);
    }
    void run(const Run& s) {
        const Lambda* function = function_in(s.call);
        if (function == nullptr) return print_call(writer_, text_of(s.call));
        const std::string text = print(s.call);
        enclose(text.substr(0, text.size() - 1), function->body, "});");
    }
    void declare(const Declare& s) {
        std::string text = (s.constant ? "const " : "") + print(s.type) + " " + s.name;
        for (const Expression& dimension : s.dimensions) text += "[" + print(dimension) + "]";
        const Lambda* function = s.value ? std::get_if<Lambda>(&s.value->node) : nullptr;
        if (function != nullptr) {
            last_remark_ = 0;
            return enclose(text + " = " + print(*s.value), function->body, "};");
        }
        const Text value = s.value ? text_of(*s.value) : Text();
        const bool braces = s.value && std::holds_alternative<Braces>(s.value->node);
        const std::string remark = s.remark.empty() ? "" : "  // " + s.remark;
        // Remarks of neighbouring lines would be aligned.
        const std::size_t end = text.size() + value.text.size() + (s.value ? 4 : 1);
        const bool apart = !s.remark.empty() && last_remark_ != 0 && last_remark_ != end;
        if (apart) {
            print_comment(writer_, s.remark);
            Declare plain = s;
            plain.remark.clear();
            last_remark_ = 0;
            return declare(plain);
        }
        last_remark_ = s.remark.empty() ? 0 : end;
        if (!s.value || braces) return writer_.line(text + value.text + ";" + remark);
        const std::size_t indent = writer_.columns();
        if (indent + text.size() + value.text.size() + remark.size() + 4 > kColumns) {
            if (!s.remark.empty()) print_comment(writer_, s.remark);
            return print_assignment(writer_, text + " =", value);
        }
        writer_.line(text + " = " + value.text + ";" + remark);
    }
    void loop(const For& s) {
        if (s.unroll) writer_.directive("#pragma unroll");
        if (s.unroll_by > 0) writer_.directive(fmt::format("#pragma unroll {}", s.unroll_by));
        const Integer* step = integer_in(s.step);
        const std::string advance = s.next ? fmt::format("{} = {}", s.name, print(*s.next))
                                    : step != nullptr && step->value == 1
                                        ? "++" + s.name
                                        : fmt::format("{} += {}", s.name, print(s.step));
        if (!s.remark.empty()) print_comment(writer_, s.remark);
        const auto scope =
            writer_.block(fmt::format("for (int {0} = {1}; {0} < {2}; {3}) {{", s.name,
                                      print(s.begin), print(s.end), advance));
        body(s.body);
    }
    void branch(const If& s) {
        print_filled(writer_, "if (", text_of(s.condition), ") {");
        {
            const auto scope = writer_.indent();
            body(s.then);
        }
        if (s.otherwise.empty()) return writer_.line("}");
        const auto scope = writer_.block("} else {");
        body(s.otherwise);
    }
    void phase(const Phase& s, bool opened) {
        if (!opened) writer_.line();
        for (const std::string& comment : s.comments) print_comment(writer_, comment);
        const auto scope = writer_.block("{");
        body(s.body);
    }
    SourceWriter& writer_;
    std::size_t last_remark_ = 0;  // where the last line's remark stands, 0 for none
};

void print_signature(SourceWriter& writer, const Program& program) {
    std::vector<std::string> parameters;
    for (const KernelParameter& parameter : program.parameters)
        parameters.push_back(parameter_text(parameter));
    std::string bounds = "kThreads";
    if (program.other_threads > 0) bounds += fmt::format(" + {}", program.other_threads);
    if (program.other_threads > 0 || program.few_blocks || program.resident > 1)
        bounds += fmt::format(", {}", program.resident);
    const std::string head =
        fmt::format("extern \"C\" __global__ void __launch_bounds__({})", bounds);
    std::string whole = head + " " + program.name + "(";
    for (const std::string& parameter : parameters)
        whole += (&parameter == &parameters.front() ? "" : ", ") + parameter;
    whole += ") {";
    if (whole.size() <= kColumns) return writer.line(whole);
    for (std::size_t i = 0; i < parameters.size(); ++i)
        parameters[i] += i + 1 < parameters.size() ? "," : ") {";
    const std::string open = program.name + "(";
    const std::vector<std::string> aligned = packed(open, parameters, 4);
    const std::vector<std::string> below = packed("", parameters, 4);
    // clang-format aligns parameters with the parenthesis unless that takes three lines more.
    const bool fits = head.size() + 1 + open.size() <= kColumns;
    const bool hang = fits && aligned.size() >= below.size() + 3;
    writer.line(hang ? head + " " + open : head);
    const auto indent = writer.indent();
    for (const std::string& line : hang ? below : aligned) writer.line(line);
}

bool is_narrow_real(ElementType type) {
    return is_floating(type) && type != ElementType::F32 && type != ElementType::F64;
}

/// Reals come as f32, whatever type they have: as that type they are what was proved.
void print_roundings(SourceWriter& writer, const Program& program) {
    for (const KernelParameter& parameter : program.parameters)
        if (parameter.kind == KernelParameter::Kind::Scalar && is_narrow_real(parameter.type))
            writer.line(
                fmt::format("{0} = {1}({0});", parameter.name,
                            parameter.type == ElementType::TF32
                                ? "round_tf32"
                                : fmt::format("round_to<{}>", element_name(parameter.type))));
}

/// What makes a tile of its place in the block's shared memory.
Expression tile_at(const Tile& tile, Expression offset) {
    const Type element = element_name(tile.type);
    std::vector<Expression> arguments = {variable("memory"), std::move(offset)};
    if (!tile.matrix) arguments.emplace_back(tile.elements / tile.stages);
    arguments.emplace_back(Quoted{tile.name});
    if (!tile.matrix) return call({"shared_tile", {element}}, std::move(arguments));
    const char* maker = tile.matrix->panels   ? "shared_panels"
                        : tile.matrix->turned ? "turned_matrix"
                                              : "shared_matrix";
    return call({maker, {element, tile.matrix->rows, tile.matrix->columns}}, std::move(arguments));
}

Body tiles_of(const Program& program) {
    Body body;
    for (const Tile& tile : program.tiles) {
        body.push_back({Comment{fmt::format("{}: {}", tile.name, tile.shape)}});
        if (tile.stages == 1) {
            body.push_back(define("auto", tile.name, tile_at(tile, tile.offset)));
            continue;
        }
        Expression offset = folded(Expression(tile.offset) + variable("stage") * tile.stage_bytes);
        body.push_back(define_function(
            tile.name, {{{"int", "stage"}}, {{Return{tile_at(tile, std::move(offset))}}}}));
    }
    return body;
}

}  // namespace

std::string print(const Program& program) {
    SourceWriter writer;
    for (const std::string& line : program.header) print_comment(writer, line);
    writer.directive("#include \"" + program.include + "\"");
    writer.line();
    writer.line("namespace nk {");
    writer.line();
    writer.line(fmt::format("constexpr int kThreads = {};", program.threads));
    writer.line();
    print_signature(writer, program);
    {
        const auto scope = writer.indent();
        print_roundings(writer, program);
        if (!program.tiles.empty()) {
            print_comment(writer, fmt::format("Shared memory: {} bytes.", program.shared_bytes));
            writer.line("NK_SHARED_MEMORY(memory);");
            Printer(writer).body(tiles_of(program));
        }
        Printer(writer).body(program.body,
                             program.tiles.empty() ? Printer::After::Brace : Printer::After::Line);
    }
    writer.line("}");
    writer.line();
    writer.line("}  // namespace nk");
    return writer.text();
}

}  // namespace napkin::kernel
