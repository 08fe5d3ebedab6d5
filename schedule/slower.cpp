#include "schedule/slower.h"

#include <fmt/format.h>

#include <algorithm>

namespace napkin::schedule {
namespace {

bool contains(const std::vector<BufferId>& buffers, BufferId buffer) {
    return std::find(buffers.begin(), buffers.end(), buffer) != buffers.end();
}

bool is_operand(const Program& program, BufferId buffer) {
    return std::any_of(program.ops.begin(), program.ops.end(), [&](const Op& op) {
        return op.kind == Op::Kind::Multiply && contains(op.reads, buffer);
    });
}

/// What is slow about bringing an operand of a product.
std::optional<std::string> slowness(const Program& program, const Op& op) {
    if (op.writes.empty() || !is_operand(program, op.writes.front())) return std::nullopt;
    if (program.apart(op.id) && !op.box)
        return fmt::format("its warp groups wait for threads that copy, since {}", op.unboxed);
    if (op.kind == Op::Kind::Publish && op.side != Op::Side::None && op.lead == 0 && !op.held)
        return fmt::format("its warp groups wait for `{}`, which they publish in its own turn",
                           op.text);
    return std::nullopt;
}

std::optional<std::string> slowness_in(const Program& program, const Body& body, bool in_loop) {
    for (const Item& item : body) {
        std::optional<std::string> found;
        if (const ChunkLoop* loop = std::get_if<ChunkLoop>(&item.node))
            found = slowness_in(program, loop->body, true);
        const OpId* op = std::get_if<OpId>(&item.node);
        if (op != nullptr && in_loop) found = slowness(program, program[*op]);
        if (found) return found;
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::string> why_slower(const Program& program) {
    return slowness_in(program, program.body, false);
}

}  // namespace napkin::schedule
