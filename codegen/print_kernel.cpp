// CUDA C++ from kernel programs, laid out as clang-format does it.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/kernel_program.h"
#include "codegen/source_writer.h"
#include "diagrams/overloaded.h"

namespace napkin::kernel {
namespace {

constexpr std::size_t kColumns = 100;

/// A comment of any length, broken at spaces.
void print_comment(SourceWriter& writer, std::string text) {
    const std::size_t indent = static_cast<std::size_t>(4 * writer.depth()) + 3;
    const std::size_t room = kColumns - std::min(indent, kColumns / 2);
    while (text.size() > room) {
        std::size_t cut = text.rfind(' ', room);
        if (cut == std::string::npos || cut == 0) cut = text.find(' ', room);
        if (cut == std::string::npos) break;
        writer.line("// " + text.substr(0, cut));
        text.erase(0, cut + 1);
    }
    writer.line(text.empty() ? "//" : "// " + text);
}

/// `head(a, b, c)tail`, its parts packed into lines and aligned after the parenthesis.
void print_list(SourceWriter& writer, const std::string& head,
                const std::vector<std::string>& parts, const std::string& tail) {
    std::string line = head;
    const std::size_t indent = static_cast<std::size_t>(4 * writer.depth());
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const std::string part = parts[i] + (i + 1 < parts.size() ? "," : tail);
        const bool first = i == 0;
        if (!first && indent + line.size() + 1 + part.size() > kColumns) {
            writer.line(line);
            line = std::string(head.size(), ' ') + part;
        } else {
            line += (first ? "" : " ") + part;
        }
    }
    writer.line(parts.empty() ? line + tail : line);
}

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

    void body(const Body& statements) {
        for (const Statement& statement : statements) {
            std::visit(
                overloaded{[&](const Declare& s) { declare(s); },
                           [&](const Assign& s) { assign(s); },
                           [&](const Call& s) { writer_.line(s.text + ";"); },
                           [&](const For& s) { loop(s); }, [&](const If& s) { branch(s); },
                           [&](const Enclose& s) {
                               const auto scope = writer_.block(s.open, s.close);
                               body(s.body);
                           },
                           [&](const SkipUnless& s) {
                               writer_.line(fmt::format("if (!({})) continue;", s.condition));
                           },
                           [&](const LeaveIf& s) {
                               writer_.line(fmt::format("if ({}) return;", s.condition));
                           },
                           [&](const Barrier& s) {
                               writer_.line(s.scope == Scope::Block ? "block_barrier();"
                                                                    : "warp_barrier();");
                           },
                           [&](const Comment& s) { print_comment(writer_, s.text); },
                           [&](const Phase& s) { phase(s); }},
                statement.node);
        }
    }

private:
    void declare(const Declare& s) {
        std::string text = s.constant ? "const " : "";
        text += s.type + " " + s.name;
        if (!s.value.empty()) text += (s.value.front() == '{' ? "" : " = ") + s.value;
        writer_.line(text + ";" + (s.remark.empty() ? "" : "  // " + s.remark));
    }
    void assign(const Assign& s) {
        writer_.line(fmt::format("{} {} {};", s.target, s.operation, s.value));
    }
    void loop(const For& s) {
        if (s.unroll) writer_.directive("#pragma unroll");
        const std::string step = s.step == "1" ? "++" + s.name : s.name + " += " + s.step;
        const auto scope =
            writer_.block(fmt::format("for (int {0} = {1}; {0} < {2}; {3}) {{{4}", s.name, s.begin,
                                      s.end, step, s.remark.empty() ? "" : "  // " + s.remark));
        body(s.body);
    }
    void branch(const If& s) {
        if (s.otherwise.empty()) {
            const auto scope = writer_.block(fmt::format("if ({}) {{", s.condition));
            body(s.then);
            return;
        }
        {
            const auto scope = writer_.block(fmt::format("if ({}) {{", s.condition), "");
            body(s.then);
        }
        const auto scope = writer_.block("} else {");
        body(s.otherwise);
    }
    void phase(const Phase& s) {
        writer_.line();
        for (const std::string& comment : s.comments) print_comment(writer_, comment);
        const auto scope = writer_.block("{");
        body(s.body);
    }
    SourceWriter& writer_;
};

void print_signature(SourceWriter& writer, const Program& program) {
    std::vector<std::string> parameters;
    for (const KernelParameter& parameter : program.parameters)
        parameters.push_back(parameter_text(parameter));
    writer.line("extern \"C\" __global__ void __launch_bounds__(kThreads)");
    const auto indent = writer.indent();
    print_list(writer, program.name + "(", parameters, ") {");
}

void print_tiles(SourceWriter& writer, const Program& program) {
    if (program.tiles.empty()) return;
    print_comment(writer, fmt::format("Shared memory: {} bytes.", program.shared_bytes));
    writer.line("NK_SHARED_MEMORY(memory);");
    for (const Tile& tile : program.tiles) {
        const std::string element = element_name(tile.type);
        writer.line(fmt::format("// {}: {}", tile.name, tile.shape));
        writer.line(
            fmt::format("const Shared<{0}> {1} = shared_tile<{0}>(memory, {2}, {3}, "
                        "\"{1}\");",
                        element, tile.name, tile.offset, tile.elements));
    }
}

}  // namespace

std::string print(const Program& program) {
    SourceWriter writer;
    for (const std::string& line : program.header) print_comment(writer, line);
    writer.directive("#include \"napkin.cuh\"");
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
        Printer(writer).body(program.body);
    }
    writer.line("}");
    writer.line();
    writer.line("}  // namespace nk");
    return writer.text();
}

}  // namespace napkin::kernel
