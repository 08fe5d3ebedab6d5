#include "cli/mask_export.h"

#include <algorithm>

#include "cli/files.h"
#include "cli/messages.h"
#include "diagrams/evaluate.h"
#include "diagrams/npy.h"

namespace napkin::cli {

namespace {

using index::TileState;

std::string progression_text(const NestedProgression& each) {
    std::string text = std::to_string(each.inner.stride) + " " + std::to_string(each.inner.first) +
                       " " + std::to_string(each.inner.count);
    if (each.count > 1)
        text += " x " + std::to_string(each.stride) + " " + std::to_string(each.count);
    return text;
}

std::string row_text(const std::vector<NestedProgression>& row) {
    if (row.empty()) return "1 0 0";
    std::string text;
    for (const NestedProgression& each : row)
        text += (text.empty() ? "" : " + ") + progression_text(each);
    return text;
}

/// How many integers they are, and how many as compressed sparse rows.
std::string size_text(std::int64_t rows, std::int64_t integers, std::int64_t pairs) {
    return "# " + std::to_string(rows) + " rows, " + std::to_string(integers) +
           " integers; as compressed sparse rows " + std::to_string(rows + 1 + pairs) + "\n";
}

/// Rows of one head or matrix, or the number of the first that is no such row.
struct CompressedRows {
    std::string text;
    std::int64_t integers = 0;
    std::int64_t pairs = 0;
    std::optional<std::int64_t> broken;
};

/// Nullopt where a row's columns cannot be told.
template <class Visible>
std::optional<CompressedRows> compress_rows(std::int64_t rows, const Visible& visible) {
    CompressedRows result;
    for (std::int64_t row = 0; row < rows; ++row) {
        const std::optional<std::vector<std::int64_t>> columns = visible(row);
        if (!columns) return std::nullopt;
        const std::optional<std::vector<NestedProgression>> parts = compressed(*columns);
        if (!parts) {
            result.broken = row;
            return result;
        }
        result.text += row_text(*parts) + "\n";
        result.pairs += static_cast<std::int64_t>(columns->size());
        result.integers += parts->empty() ? 3 : 0;
        for (const NestedProgression& each : *parts) result.integers += each.count > 1 ? 5 : 3;
    }
    return result;
}

Tensor tensor_of(std::vector<std::int64_t> extents) {
    std::int64_t size = 1;
    for (const std::int64_t extent : extents) size *= extent;
    return {std::move(extents), std::vector<double>(static_cast<std::size_t>(size), 0.0)};
}

/// Of the woven axes that the mask depends on, the first of several is the batch.
std::int64_t batches_of(const Diagram& diagram, const MaskReport& report) {
    std::vector<AxisId> woven;
    for (std::uint32_t k = 0; k < diagram.axes.size(); ++k)
        if (diagram.axes[k].woven) woven.push_back(AxisId{k});
    if (woven.size() < 2 || report.heads.empty() || report.heads.front() != woven.front()) return 1;
    return diagram[woven.front()].extent;
}

/// Counts and indices of the tiles of one state.
struct BlockList {
    Tensor count;
    Tensor index;
};

void add_row(const TileGrid& grid, std::int64_t row, std::size_t place, TileState state,
             BlockList& list) {
    std::size_t count = 0;
    const auto begin = place * static_cast<std::size_t>(grid.columns);
    for (std::int64_t column = 0; column < grid.columns; ++column)
        if (grid.at(row, column) == state)
            list.index.values[begin + count++] = static_cast<double>(column);
    list.count.values[place] = static_cast<double>(count);
}

/// One progression a row, and how often it comes again, as arrays that a diagram reads.
class RowArrays {
public:
    RowArrays(std::int64_t rows, std::string ending) : ending_(std::move(ending)) {
        for (Tensor* tensor : {&first_, &count_, &times_}) *tensor = tensor_of({rows});
        for (Tensor* tensor : {&stride_, &again_}) {
            *tensor = tensor_of({rows});
            std::fill(tensor->values.begin(), tensor->values.end(), 1.0);
        }
    }
    void set(std::int64_t row, const NestedProgression& progression) {
        const Progression& one = progression.inner;
        const auto put = [&](Tensor& tensor, std::int64_t value) {
            tensor.values[static_cast<std::size_t>(row)] = static_cast<double>(value);
        };
        put(stride_, one.stride);
        put(first_, one.first);
        put(count_, one.count);
        put(again_, progression.count > 1 ? progression.stride : one.stride * one.count);
        put(times_, progression.count);
        repeats_ = repeats_ || progression.count > 1;
    }
    [[nodiscard]] bool repeats() const { return repeats_; }
    [[nodiscard]] std::vector<std::pair<std::string, const Tensor*>> arrays() const {
        std::vector<std::pair<std::string, const Tensor*>> all = {{"stride" + ending_, &stride_},
                                                                  {"first" + ending_, &first_},
                                                                  {"count" + ending_, &count_}};
        if (repeats_) {
            all.emplace_back("again" + ending_, &again_);
            all.emplace_back("times" + ending_, &times_);
        }
        return all;
    }
    [[nodiscard]] std::string condition() const {
        std::string text = repeats_ ? "in_progressions[x](" : "in_progression[x](";
        for (const auto& [name, tensor] : arrays()) {
            if (text.back() != '(') text += ", ";
            text += name + "[q]";
        }
        return text + ")";
    }

private:
    std::string ending_;
    Tensor stride_;
    Tensor first_;
    Tensor count_;
    Tensor again_;
    Tensor times_;
    bool repeats_ = false;
};

}  // namespace

Result<std::string> compressed_text(const State& state, const MaskReport& report) {
    if (!report.data.empty() && !report.by_data) return data_in_mask(report.statement);
    std::string text;
    for (std::size_t head = 0; head < report.counts.size(); ++head) {
        MaskRows masked(state.diagram, report, head);
        const std::optional<CompressedRows> made =
            compress_rows(masked.count(), [&](std::int64_t row) { return masked.visible(row); });
        if (!made) return uncounted_mask(report.statement);
        const CompressedRows& rows = *made;
        if (rows.broken) return row_not_compressed(report.statement, *rows.broken);
        if (report.counts.size() > 1) text += "# head " + std::to_string(head) + "\n";
        text += size_text(masked.count(), rows.integers, rows.pairs) + rows.text;
    }
    return text;
}

std::optional<Diagnostics> write_block_lists(const State& state, const MaskReport& report,
                                             const std::string& folder) {
    if (!report.data.empty() && !report.by_data)
        return Diagnostics{{data_in_mask(report.statement)}};
    std::vector<TileGrid> grids;
    for (std::size_t head = 0; head < report.counts.size(); ++head) {
        std::optional<TileGrid> grid = tile_grid(state.diagram, report, report.tilings, head);
        if (!grid) return Diagnostics{{uncounted_mask(report.statement)}};
        grids.push_back(std::move(*grid));
    }
    const std::int64_t batches = batches_of(state.diagram, report);
    const std::int64_t heads = static_cast<std::int64_t>(grids.size()) / batches;
    const std::int64_t rows = grids.front().rows;
    const BlockList nothing{tensor_of({batches, heads, rows}),
                            tensor_of({batches, heads, rows, grids.front().columns})};
    BlockList partial = nothing;
    BlockList full = nothing;
    std::size_t place = 0;
    for (const TileGrid& grid : grids)
        for (std::int64_t row = 0; row < rows; ++row, ++place) {
            add_row(grid, row, place, TileState::Partial, partial);
            add_row(grid, row, place, TileState::Full, full);
        }
    if (const auto failure = make_folder(folder)) return Diagnostics{{*failure}};
    const std::pair<const char*, const Tensor*> files[] = {{"mask_block_cnt", &partial.count},
                                                           {"mask_block_idx", &partial.index},
                                                           {"full_block_cnt", &full.count},
                                                           {"full_block_idx", &full.index}};
    for (const auto& [name, tensor] : files)
        if (const auto failure =
                write_file(folder + "/" + name + ".npy", npy_bytes(*tensor, NpyType::I4)))
            return Diagnostics{{*failure}};
    return std::nullopt;
}

std::vector<std::int64_t> MaskMatrix::visible(std::int64_t row) const {
    std::vector<std::int64_t> result;
    for (std::int64_t column = 0; column < columns; ++column)
        if (values[static_cast<std::size_t>(row * columns + column)] != 0) result.push_back(column);
    return result;
}

Result<MaskMatrix> read_matrix(const std::string& path) {
    const Result<NpyContent> content = read_npy(path);
    if (!content) return content.error();
    const Tensor& tensor = content->tensor;
    const bool digits = std::all_of(tensor.values.begin(), tensor.values.end(),
                                    [](double value) { return value == 0 || value == 1; });
    if (tensor.extents.size() != 2 || tensor.values.empty() || !digits) return no_mask_matrix(path);
    return MaskMatrix{tensor.extents[0], tensor.extents[1], tensor.values};
}

Result<std::string> compressed_text(const MaskMatrix& matrix, const std::string& path) {
    const CompressedRows rows = *compress_rows(
        matrix.rows, [&](std::int64_t row) { return std::optional(matrix.visible(row)); });
    if (rows.broken) return row_not_compressed(path, *rows.broken);
    return size_text(matrix.rows, rows.integers, rows.pairs) + rows.text;
}

Result<std::string> import_matrix(const MaskMatrix& matrix, const std::string& path,
                                  const std::string& folder) {
    std::vector<RowArrays> terms;
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
        const auto parts = compressed(matrix.visible(row));
        if (!parts) return row_not_compressed(path, row);
        while (terms.size() < std::max<std::size_t>(parts->size(), 1))
            terms.emplace_back(matrix.rows, terms.empty() ? "" : "_2");
        for (std::size_t at = 0; at < parts->size(); ++at) terms[at].set(row, (*parts)[at]);
    }
    if (const auto failure = make_folder(folder)) return Diagnostics{{*failure}};
    std::string inputs;
    std::string condition;
    for (const RowArrays& term : terms) {
        for (const auto& [name, tensor] : term.arrays()) {
            inputs += (inputs.empty() ? "" : ", ") + name + "[q]";
            if (const auto failure =
                    write_file(folder + "/" + name + ".npy", npy_bytes(*tensor, NpyType::I4)))
                return Diagnostics{{*failure}};
        }
        condition += (condition.empty() ? "" : " or ") + term.condition();
    }
    const bool is_long = terms.size() > 1 || terms.front().repeats();
    const char* const gap = is_long ? "\n      " : " ";
    const std::string text =
        std::string("# The mask of a matrix, each row ") +
        (is_long ? "progressions" : "a progression") +
        " of keys.\ndiagram compressed {\n  axis q = " + std::to_string(matrix.rows) +
        ", x = " + std::to_string(matrix.columns) +
        ", d = 128\n  input Q[q, d], K[x, d], V[x, d] : bf16\n  input " + inputs +
        " : i32\n\n  S[q, x] = sum(d) Q[q, d] * K[x, d] * rsqrt(size(d))\n  M[q, x] = if " +
        condition + gap + "then S[q, x]" + gap +
        "else -inf\n"
        "  P[q, x] = softmax[x](M[q, x])\n"
        "  output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d]\n}\n";
    if (const auto failure = write_file(folder + "/compressed.ncd", text))
        return Diagnostics{{*failure}};
    return text;
}

}  // namespace napkin::cli
