#include "cli/mask_export.h"

#include <algorithm>
#include <set>
#include <sstream>

#include "cli/files.h"
#include "cli/messages.h"
#include "cli/session.h"
#include "diagrams/checked.h"
#include "diagrams/evaluate.h"
#include "diagrams/npy.h"
#include "perfmodel/progressions.h"

namespace napkin::cli {

namespace {

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

/// How many integers they are, and how many as compressed sparse rows; `orders` may say more.
std::string size_text(std::int64_t rows, std::int64_t columns, std::int64_t integers,
                      std::int64_t pairs, const std::string& orders = "") {
    return "# " + std::to_string(rows) + " rows of " + std::to_string(columns) + ", " +
           std::to_string(integers) + " integers; as compressed sparse rows " +
           std::to_string(rows + 1 + pairs) + (orders.empty() ? "" : "; " + orders) + "\n";
}

std::string head_line(std::int64_t head) {
    return "# head " + std::to_string(head) + "\n";
}

/// Rows of one head or matrix, or the number of the first that is no such row.
struct CompressedRows {
    std::string text;
    std::int64_t integers = 0;
    std::int64_t pairs = 0;
    std::optional<std::int64_t> broken;
    /// Whether that row is one, but all of them are shorter as compressed sparse rows.
    bool is_longer = false;
};

std::int64_t integers_of(const std::vector<NestedProgression>& row) {
    std::int64_t integers = row.empty() ? 3 : 0;
    for (const NestedProgression& each : row) integers += each.count > 1 ? 5 : 3;
    return integers;
}

std::int64_t columns_in(const std::vector<ColumnRun>& runs) {
    std::int64_t columns = 0;
    for (const ColumnRun& run : runs) columns += run.count;
    return columns;
}

/// Up to two progressions are a form whatever they take; any six columns are three, so rows of
/// three have to be shorter, all rows together, than compressed sparse rows. Nullopt where a row's
/// columns cannot be told.
template <class Visible>
std::optional<CompressedRows> compress_rows(std::int64_t rows, const Visible& visible) {
    CompressedRows result;
    std::optional<std::int64_t> longest;
    std::int64_t most = 0;
    for (std::int64_t row = 0; row < rows; ++row) {
        const std::optional<std::vector<ColumnRun>> runs = visible(row);
        if (!runs) return std::nullopt;
        const std::optional<std::vector<NestedProgression>> parts = compressed_runs(*runs);
        if (!parts) {
            result.broken = row;
            return result;
        }
        const std::int64_t integers = integers_of(*parts);
        const std::int64_t columns = columns_in(*runs);
        result.text += row_text(*parts) + "\n";
        result.pairs += columns;
        result.integers += integers;
        if (parts->size() < kMostProgressions || integers - columns <= most) continue;
        longest = row;
        most = integers - columns;
    }
    if (longest && result.integers > rows + 1 + result.pairs) {
        result.broken = longest;
        result.is_longer = true;
    }
    return result;
}

/// Of rows that have no form, the head that they are of, where there are several.
Diagnostic not_compressed(const std::string& what, std::int64_t row, bool is_longer,
                          std::int64_t heads, std::int64_t head) {
    const std::string of_head = heads > 1 ? " of head " + std::to_string(head) : "";
    return row_not_compressed(std::to_string(row) + of_head + " of `" + what + "`", is_longer);
}

/// One progression a row, and how often it comes again, as arrays that a diagram reads.
class RowArrays {
public:
    RowArrays(const std::vector<std::int64_t>& extents, std::string ending)
        : ending_(std::move(ending)) {
        for (Tensor* tensor : {&first_, &count_, &times_}) *tensor = zeros(extents);
        for (Tensor* tensor : {&stride_, &again_}) {
            *tensor = zeros(extents);
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
    /// `rows` are the indices of a row, `[q]`.
    [[nodiscard]] std::string condition(const std::string& rows) const {
        std::string text = repeats_ ? "in_progressions[x](" : "in_progression[x](";
        for (const auto& [name, tensor] : arrays()) {
            if (text.back() != '(') text += ", ";
            text += name + rows;
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

Tensor zeros(std::vector<std::int64_t> extents) {
    std::int64_t size = 1;
    for (const std::int64_t extent : extents) size *= extent;
    return {std::move(extents), std::vector<double>(static_cast<std::size_t>(size), 0.0)};
}

Result<std::string> compressed_text(const State& state, const MaskReport& report) {
    if (!report.data.empty() && !report.by_data) return data_in_mask(report.statement);
    const std::string orders = other_orders_text(state.diagram, report);
    std::string text;
    for (std::int64_t head = 0; head < std::ssize(report.counts); ++head) {
        MaskRows masked(state.diagram, report, static_cast<std::size_t>(head));
        const std::optional<CompressedRows> made =
            compress_rows(masked.count(), [&](std::int64_t row) { return masked.visible(row); });
        if (!made) return uncounted_mask(report.statement);
        const CompressedRows& rows = *made;
        if (rows.broken)
            return not_compressed(report.statement, *rows.broken, rows.is_longer,
                                  std::ssize(report.counts), head);
        if (report.counts.size() > 1) text += head_line(head);
        text += size_text(masked.count(), masked.columns(), rows.integers, rows.pairs, orders) +
                rows.text;
    }
    return text;
}

std::vector<ColumnRun> MaskMatrix::visible(std::int64_t row) const {
    std::vector<ColumnRun> runs;
    for (std::int64_t column = 0; column < columns; ++column)
        if (values[static_cast<std::size_t>(row * columns + column)] != 0)
            add_run(runs, {column, 1});
    return runs;
}

namespace {

enum class ReadLine { Row, NoRow, Beyond };

/// Adds the columns of `stride first count`, with ` x stride count` where it repeats.
ReadLine read_progression(const std::string& text, std::set<std::int64_t>& columns,
                          std::int64_t beyond) {
    std::istringstream words(text);
    std::int64_t stride = 0;
    std::int64_t first = 0;
    std::int64_t count = 0;
    std::int64_t again = 0;
    std::int64_t times = 1;
    std::string sign;
    if (!(words >> stride >> first >> count)) return ReadLine::NoRow;
    if (words >> sign && (sign != "x" || !(words >> again >> times))) return ReadLine::NoRow;
    if (words >> sign || stride < 1 || first < 0 || count < 0 || again < 0 || times < 1)
        return ReadLine::NoRow;
    if (count == 0) return ReadLine::Row;
    const std::int64_t last =
        saturating_add(first, saturating_add(saturating_multiply(stride, count - 1),
                                             saturating_multiply(again, times - 1)));
    if (last >= beyond) return ReadLine::Beyond;
    for (std::int64_t k = 0; k < times; ++k)
        for (std::int64_t t = 0; t < count; ++t) columns.insert(first + again * k + stride * t);
    return ReadLine::Row;
}

/// What `compressed_text` writes, line by line.
class RowReader {
public:
    RowReader(const std::string& path, const std::string& text)
        : path_(path), lines_(text.substr(begin_of(text))) {
        next();
    }

    Result<MaskMatrix> read() {
        const bool has_heads = line_.starts_with("# head ");
        do {
            if (has_heads && line_ + "\n" != head_line(heads_)) return wrong();
            if (has_heads) next();
            if (!begin_head()) return wrong();
            for (std::int64_t row = 0; row < matrix_.rows; ++row)
                if (!add_row()) return wrong();
            ++heads_;
        } while (has_heads && !ended_);
        if (!ended_) return wrong();
        matrix_.heads = heads_;
        return std::move(matrix_);
    }

private:
    void next() {
        ended_ = !std::getline(lines_, line_);
        ++number_;
    }
    [[nodiscard]] Diagnostics wrong() const {
        if (is_beyond_) return {{row_past_columns(path_, number_, matrix_.columns)}};
        if (ended_ && matrix_.rows > 0) return {{rows_missing(path_, number_ - 1)}};
        return {{no_compressed_row(path_, number_)}};
    }

    /// `# 8 rows of 16, ...`, the same of every head.
    bool begin_head() {
        std::istringstream words(line_);
        std::string sign;
        std::string rows;
        std::string of;
        MaskMatrix head;
        if (!(words >> sign >> head.rows >> rows >> of >> head.columns) || sign != "#" ||
            rows != "rows" || of != "of" || head.rows < 1 || head.columns < 1)
            return false;
        if (heads_ > 0 && (head.rows != matrix_.rows || head.columns != matrix_.columns))
            return false;
        matrix_.rows = head.rows;
        matrix_.columns = head.columns;
        const std::int64_t all =
            saturating_multiply(heads_ + 1, saturating_multiply(matrix_.rows, matrix_.columns));
        if (all > kLargestGrid) return false;
        matrix_.values.resize(static_cast<std::size_t>(all), 0.0);
        next();
        return true;
    }
    bool add_row() {
        std::set<std::int64_t> columns;
        for (std::size_t at = 0; at != std::string::npos;) {
            const std::size_t end = line_.find(" + ", at);
            const ReadLine read =
                read_progression(line_.substr(at, end - at), columns, matrix_.columns);
            is_beyond_ = read == ReadLine::Beyond;
            if (read != ReadLine::Row) return false;
            at = end == std::string::npos ? end : end + 3;
        }
        for (const std::int64_t column : columns)
            matrix_.values[static_cast<std::size_t>(row_ * matrix_.columns + column)] = 1;
        ++row_;
        next();
        return true;
    }

    const std::string& path_;
    std::istringstream lines_;
    std::string line_;
    std::int64_t number_ = 0;  // of the line
    bool ended_ = false;
    bool is_beyond_ = false;  // its columns
    MaskMatrix matrix_;
    std::int64_t heads_ = 0;  // that were read
    std::int64_t row_ = 0;
};

Result<MaskMatrix> read_rows(const std::string& path) {
    const Result<std::string> text = text_of_file(path);
    if (!text) return text.error();
    return RowReader(path, *text).read();
}

}  // namespace

bool holds_rows(const std::string& path) {
    return path.ends_with(".acsr");
}

Result<MaskMatrix> read_matrix(const std::string& path) {
    if (holds_rows(path)) return read_rows(path);
    const Result<NpyContent> content = read_npy(path);
    if (!content) return content.error();
    const Tensor& tensor = content->tensor;
    const std::size_t axes = tensor.extents.size();
    if (axes != 2 && axes != 3)
        return no_mask_matrix(path,
                              "it has " + std::to_string(axes) + (axes == 1 ? " axis" : " axes"));
    if (tensor.values.empty()) return no_mask_matrix(path, "it is empty");
    const auto other = std::find_if(tensor.values.begin(), tensor.values.end(),
                                    [](double value) { return value != 0 && value != 1; });
    if (other != tensor.values.end()) return no_mask_matrix(path, "it holds " + value_text(*other));
    return MaskMatrix{axes == 3 ? tensor.extents[0] : 1, tensor.extents[axes - 2],
                      tensor.extents[axes - 1], tensor.values};
}

Result<std::string> compressed_text(const MaskMatrix& matrix, const std::string& path) {
    std::string text;
    for (std::int64_t head = 0; head < matrix.heads; ++head) {
        const CompressedRows rows = *compress_rows(matrix.rows, [&](std::int64_t row) {
            return std::optional(matrix.visible(head * matrix.rows + row));
        });
        if (rows.broken)
            return not_compressed(path, *rows.broken, rows.is_longer, matrix.heads, head);
        if (matrix.heads > 1) text += head_line(head);
        text += size_text(matrix.rows, matrix.columns, rows.integers, rows.pairs) + rows.text;
    }
    return text;
}

Result<std::string> import_matrix(const MaskMatrix& matrix, const std::string& path,
                                  const std::string& folder) {
    std::vector<RowArrays> terms;
    const bool has_heads = matrix.heads > 1;
    const std::string rows = has_heads ? "[h, q]" : "[q]";
    for (std::int64_t row = 0; row < matrix.heads * matrix.rows; ++row) {
        const auto parts = compressed_runs(matrix.visible(row));
        if (!parts)
            return not_compressed(path, row % matrix.rows, false, matrix.heads, row / matrix.rows);
        while (terms.size() < std::max<std::size_t>(parts->size(), 1))
            terms.emplace_back(
                has_heads ? std::vector{matrix.heads, matrix.rows} : std::vector{matrix.rows},
                terms.empty() ? "" : "_" + std::to_string(terms.size() + 1));
        for (std::size_t at = 0; at < parts->size(); ++at) terms[at].set(row, (*parts)[at]);
    }
    std::string inputs;
    NamedTensors arrays;
    std::string condition;
    for (const RowArrays& term : terms) {
        for (const auto& [name, tensor] : term.arrays()) {
            inputs += (inputs.empty() ? "" : ", ") + name + rows;
            arrays.emplace_back(name, *tensor);
        }
        condition += (condition.empty() ? "" : " or ") + term.condition(rows);
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
        "  output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d]\n" +
        (has_heads ? "\n  weave h = " + std::to_string(matrix.heads) + "\n" : "") + "}\n";
    if (const auto failure = write_mask_folder(folder, {"compressed.ncd", text}, arrays))
        return Diagnostics{{*failure}};
    return text;
}

}  // namespace napkin::cli
