// CUDA C++ from kernel programs, laid out as clang-format does it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "codegen/kernel_program.h"
#include "codegen/long_lines.h"
#include "codegen/source_writer.h"
#include "diagrams/overloaded.h"

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
                [&](const Declare& s) { declare(s); }, [&](const Assign& s) { assign(s); },
                [&](const Call& s) { print_call(writer_, s.text); }, [&](const For& s) { loop(s); },
                [&](const If& s) { branch(s); }, [&](const Enclose& s) { enclose(s); },
                [&](const SkipUnless& s) {
                    writer_.line(fmt::format("if (!({})) continue;", s.condition));
                },
                [&](const LeaveIf& s) {
                    writer_.line(fmt::format("if ({}) return;", s.condition));
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
    /// A block or a lambda; on one line where it has one short statement.
    void enclose(const Enclose& s) {
        const bool lambda = s.open.find("[&]") != std::string::npos;
        if ((lambda || s.open == "{") && s.body.size() == 1) {
            std::string only;
            if (const Call* call = std::get_if<Call>(&s.body.front().node)) only = call->text + ";";
            if (const Assign* set = std::get_if<Assign>(&s.body.front().node))
                only = fmt::format("{} {} {};", set->target, set->operation, set->value);
            const std::string whole = fmt::format("{} {} {}", s.open, only, s.close);
            if (!only.empty() && writer_.columns() + whole.size() <= kColumns)
                return writer_.line(whole);
        }
        const auto scope = writer_.block(s.open, s.close);
        body(s.body, lambda ? After::LambdaBrace : After::Brace);
    }
    void declare(const Declare& s) {
        std::string text = s.constant ? "const " : "";
        text += s.type + " " + s.name;
        const std::string remark = s.remark.empty() ? "" : "  // " + s.remark;
        // Remarks of neighbouring lines would be aligned.
        const std::size_t end = text.size() + s.value.size() + (s.value.empty() ? 1 : 4);
        const bool apart = !s.remark.empty() && last_remark_ != 0 && last_remark_ != end;
        if (apart) {
            print_comment(writer_, s.remark);
            Declare plain = s;
            plain.remark.clear();
            last_remark_ = 0;
            return declare(plain);
        }
        last_remark_ = s.remark.empty() ? 0 : end;
        if (s.value.empty()) return writer_.line(text + ";" + remark);
        if (s.value.front() == '{') return writer_.line(text + s.value + ";" + remark);
        const std::size_t indent = writer_.columns();
        if (indent + text.size() + s.value.size() + remark.size() + 4 > kColumns) {
            if (!s.remark.empty()) print_comment(writer_, s.remark);
            return print_assignment(writer_, text + " =", s.value + ";");
        }
        writer_.line(text + " = " + s.value + ";" + remark);
    }
    void assign(const Assign& s) {
        print_assignment(writer_, s.target + " " + s.operation, s.value + ";");
    }
    void condition(const std::string& head, const std::string& text, const std::string& tail) {
        const std::size_t indent = writer_.columns();
        if (indent + head.size() + text.size() + tail.size() <= kColumns)
            return writer_.line(head + text + tail);
        for (const std::string& line : filled(head, text + tail, indent)) writer_.line(line);
    }
    void loop(const For& s) {
        if (s.unroll) writer_.directive("#pragma unroll");
        const std::string step = s.step == "1" ? "++" + s.name : s.name + " += " + s.step;
        if (!s.remark.empty()) print_comment(writer_, s.remark);
        const auto scope = writer_.block(
            fmt::format("for (int {0} = {1}; {0} < {2}; {3}) {{", s.name, s.begin, s.end, step));
        body(s.body);
    }
    void branch(const If& s) {
        condition("if (", s.condition, ") {");
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
    const std::string head = "extern \"C\" __global__ void __launch_bounds__(kThreads)";
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

void print_matrix(SourceWriter& writer, const Tile& tile) {
    const std::string type = fmt::format("shared_matrix<{}, {}, {}>", element_name(tile.type),
                                         tile.matrix->rows, tile.matrix->columns);
    if (tile.matrix->stages == 1)
        return print_assignment(
            writer, fmt::format("const auto {} =", tile.name),
            fmt::format("{}(memory, {}, \"{}\");", type, tile.offset, tile.name));
    const std::int64_t bytes = tile.elements * element_bytes(tile.type) / tile.matrix->stages;
    const auto scope =
        writer.block(fmt::format("const auto {} = [&](int stage) {{", tile.name), "};");
    writer.line(fmt::format("return {}(memory, {} + stage * {}, \"{}\");", type, tile.offset, bytes,
                            tile.name));
}

void print_tiles(SourceWriter& writer, const Program& program) {
    if (program.tiles.empty()) return;
    print_comment(writer, fmt::format("Shared memory: {} bytes.", program.shared_bytes));
    writer.line("NK_SHARED_MEMORY(memory);");
    for (const Tile& tile : program.tiles) {
        print_comment(writer, fmt::format("{}: {}", tile.name, tile.shape));
        if (tile.matrix) {
            print_matrix(writer, tile);
            continue;
        }
        print_assignment(
            writer, fmt::format("const auto {} =", tile.name),
            fmt::format("shared_tile<{}>(memory, {}, {}, \"{}\");", element_name(tile.type),
                        tile.offset, tile.elements, tile.name));
    }
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
    for (const Program::Constant& constant : program.constants)
        writer.line(fmt::format(
            "constexpr {} {} = {};{}", constant.value > 2147483647 ? "i64" : "int", constant.name,
            constant.value, constant.remark.empty() ? "" : "  // " + constant.remark));
    for (const std::string& condition : program.preconditions)
        writer.line(fmt::format("static_assert({});", condition));
    writer.line();
    print_signature(writer, program);
    {
        const auto scope = writer.indent();
        print_tiles(writer, program);
        Printer(writer).body(program.body,
                             program.tiles.empty() ? Printer::After::Brace : Printer::After::Line);
    }
    writer.line("}");
    writer.line();
    writer.line("}  // namespace nk");
    return writer.text();
}

}  // namespace napkin::kernel
