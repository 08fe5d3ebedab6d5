#include "cli/measurements.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <functional>
#include <stdexcept>

#include "cli/files.h"
#include "cli/measure_messages.h"
#include "codegen/run/folders.h"

namespace napkin::cli {
namespace {

/// Tells our databases from others: `napk`.
constexpr std::int64_t kApplication = 0x6e61706b;
constexpr std::int64_t kVersion = 1;
/// So long a process waits for another one that writes.
constexpr int kPatience = 30000;  // ms

constexpr const char* kSchema =
    "CREATE TABLE measurement ("
    " device TEXT NOT NULL, driver TEXT NOT NULL, compiler TEXT NOT NULL,"
    " kernels TEXT NOT NULL, sizes TEXT NOT NULL, derivation TEXT NOT NULL,"
    " verdict TEXT NOT NULL, median REAL NOT NULL, least REAL NOT NULL, most REAL NOT NULL,"
    " repetitions INTEGER NOT NULL, measured_at TEXT NOT NULL,"
    " PRIMARY KEY (device, driver, compiler, kernels, sizes)) STRICT";

/// What SQLite says; becomes a diagnostic with the file's path.
class DatabaseError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// One statement, prepared, with values for its question marks in order. Calls throw DatabaseError.
class Statement {
public:
    Statement(sqlite3* database, const char* text) : database_(database) {
        check(sqlite3_prepare_v2(database, text, -1, &statement_, nullptr));
    }
    ~Statement() { sqlite3_finalize(statement_); }
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;

    Statement& with(const std::string& text) {
        check(sqlite3_bind_text(statement_, ++bound_, text.data(), static_cast<int>(text.size()),
                                SQLITE_TRANSIENT));
        return *this;
    }
    Statement& with(double value) {
        check(sqlite3_bind_double(statement_, ++bound_, value));
        return *this;
    }
    /// Whether there is a (further) row.
    bool step() {
        const int code = sqlite3_step(statement_);
        if (code != SQLITE_ROW && code != SQLITE_DONE) check(code);
        return code == SQLITE_ROW;
    }
    [[nodiscard]] std::string text(int column) const {
        const void* bytes = sqlite3_column_text(statement_, column);
        return bytes == nullptr ? "" : static_cast<const char*>(bytes);
    }
    [[nodiscard]] double number(int column) const {
        return sqlite3_column_double(statement_, column);
    }
    [[nodiscard]] std::int64_t whole(int column) const {
        return sqlite3_column_int64(statement_, column);
    }

private:
    void check(int code) const {
        if (code != SQLITE_OK) throw DatabaseError(sqlite3_errmsg(database_));
    }
    sqlite3* database_;
    sqlite3_stmt* statement_ = nullptr;
    int bound_ = 0;
};

std::int64_t number_of(sqlite3* database, const char* question) {
    Statement statement(database, question);
    return statement.step() ? statement.whole(0) : 0;
}

void run(sqlite3* database, const std::string& text) {
    Statement(database, text.c_str()).step();
}

bool is_empty(sqlite3* database) {
    return number_of(database, "PRAGMA application_id") == 0 &&
           number_of(database, "SELECT count(*) FROM sqlite_schema") == 0;
}

/// Makes the table where there is none: of two processes that come at once one does.
void make_table(sqlite3* database) {
    run(database, "BEGIN IMMEDIATE");
    if (is_empty(database)) {
        run(database, kSchema);
        run(database, fmt::format("PRAGMA application_id = {}", kApplication));
        run(database, fmt::format("PRAGMA user_version = {}", kVersion));
    }
    run(database, "COMMIT");
}

void check_whole(sqlite3* database) {
    if (number_of(database, "PRAGMA application_id") != kApplication)
        throw DatabaseError("it is another program's database");
    const std::int64_t version = number_of(database, "PRAGMA user_version");
    if (version != kVersion)
        throw DatabaseError(
            fmt::format("its form is {}, and this napkin knows {}", version, kVersion));
    Statement check(database, "PRAGMA quick_check(1)");
    if (check.step() && check.text(0) != "ok") throw DatabaseError("damaged: " + check.text(0));
}

/// The work's result, or the diagnostic of a file that stands in its way.
template <class Value>
Result<Value> guarded(const std::filesystem::path& path, const std::function<Value()>& work) {
    try {
        return work();
    } catch (const DatabaseError& error) {
        return measurements_unusable(path.string(), error.what());
    }
}

}  // namespace

void Measurements::Close::operator()(sqlite3* database) const {
    sqlite3_close(database);
}

Measurements::Measurements(std::filesystem::path path, sqlite3* database)
    : path_(std::move(path)), database_(database) {}
Measurements::Measurements(Measurements&&) noexcept = default;
Measurements& Measurements::operator=(Measurements&&) noexcept = default;
Measurements::~Measurements() = default;

std::filesystem::path Measurements::usual_path() {
    return cache_folder() / "measurements.sqlite";
}

Result<Measurements> Measurements::open(const std::filesystem::path& path) {
    if (path.has_parent_path())
        if (auto failure = make_folder(path.parent_path().string())) return *failure;
    sqlite3* database = nullptr;
    const int code = sqlite3_open_v2(path.c_str(), &database,
                                     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
    Measurements result(path, database);
    if (code != SQLITE_OK) return measurements_unusable(path.string(), sqlite3_errmsg(database));
    sqlite3_busy_timeout(database, kPatience);
    const Result<bool> whole = guarded<bool>(path, [&] {
        if (is_empty(database)) make_table(database);
        check_whole(database);
        return true;
    });
    if (!whole) return whole.error();
    return result;
}

Result<Measurements> Measurements::open_to_read(const std::filesystem::path& path) {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) return Measurements(path, nullptr);
    sqlite3* database = nullptr;
    const int code = sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr);
    Measurements result(path, database);
    if (code != SQLITE_OK) return measurements_unusable(path.string(), sqlite3_errmsg(database));
    sqlite3_busy_timeout(database, kPatience);
    const Result<bool> empty = guarded<bool>(path, [&] {
        if (is_empty(database)) return true;
        check_whole(database);
        return false;
    });
    if (!empty) return empty.error();
    if (*empty) return Measurements(path, nullptr);
    return result;
}

Result<std::optional<Measurement>> Measurements::find(const TestBench& bench,
                                                      const TimedProgram& program) const {
    if (!database_) return std::optional<Measurement>();
    return guarded<std::optional<Measurement>>(path_, [&]() -> std::optional<Measurement> {
        Statement statement(database_.get(),
                            "SELECT verdict, median, least, most, repetitions FROM measurement"
                            " WHERE device = ? AND driver = ? AND compiler = ? AND kernels = ?"
                            " AND sizes = ?");
        statement.with(bench.device).with(bench.driver).with(bench.compiler);
        statement.with(program.kernels).with(program.sizes);
        if (!statement.step()) return std::nullopt;
        return Measurement{statement.text(0), statement.number(1), statement.number(2),
                           statement.number(3), static_cast<int>(statement.whole(4))};
    });
}

std::optional<Diagnostic> Measurements::keep(const TestBench& bench, const TimedProgram& program,
                                             const Measurement& measurement) const {
    invariant(database_ != nullptr, "measurements are kept in a database that was opened to read");
    const Result<bool> kept = guarded<bool>(path_, [&] {
        Statement statement(database_.get(),
                            "INSERT OR REPLACE INTO measurement VALUES"
                            " (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, strftime('%Y-%m-%dT%H:%M:%fZ'))");
        statement.with(bench.device).with(bench.driver).with(bench.compiler);
        statement.with(program.kernels).with(program.sizes).with(program.derivation);
        statement.with(measurement.verdict).with(measurement.median).with(measurement.least);
        statement.with(measurement.most).with(static_cast<double>(measurement.repetitions));
        return statement.step();
    });
    if (!kept) return kept.error().list.front();
    return std::nullopt;
}

Result<std::vector<TestBench>> Measurements::benches() const {
    if (!database_) return std::vector<TestBench>();
    return guarded<std::vector<TestBench>>(path_, [&] {
        std::vector<TestBench> benches;
        Statement statement(database_.get(),
                            "SELECT device, driver, compiler FROM measurement"
                            " GROUP BY device, driver, compiler ORDER BY max(measured_at) DESC");
        while (statement.step())
            benches.push_back({statement.text(0), statement.text(1), statement.text(2)});
        return benches;
    });
}

}  // namespace napkin::cli
