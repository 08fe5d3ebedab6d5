// Times that were measured, kept in an SQLite database so that none is measured twice: under the
// device, its driver and the compiler, and under the kernels and their sizes. Several processes may
// use one at once.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "diagrams/result.h"

struct sqlite3;

namespace napkin::cli {

/// On what kernels are timed.
struct TestBench {
    std::string device;    ///< `NVIDIA H200`
    std::string driver;    ///< `13.0`
    std::string compiler;  ///< of NVRTC
    /// `NVIDIA H200, driver 13.0, NVRTC 13.0`.
    [[nodiscard]] std::string text() const {
        return device + ", driver " + driver + ", NVRTC " + compiler;
    }
    bool operator==(const TestBench&) const = default;
};

/// What is timed.
struct TimedProgram {
    std::string kernels;     ///< a hash of all that is compiled
    std::string sizes;       ///< `q=4096,x=4096`
    std::string derivation;  ///< for people who look into the database
    bool operator==(const TimedProgram&) const = default;
};

/// How long it took, in seconds.
struct Measurement {
    std::string verdict;  ///< `right`, `unchecked`, `undecided`, `wrong`, or `failed: why`
    double median = 0;
    double least = 0;
    double most = 0;
    int repetitions = 0;
    /// Whether the time is one of a kernel that computes what the diagram says.
    [[nodiscard]] bool counts() const { return verdict != "wrong" && !failed(); }
    /// Whether there is no time, since the device gave up on it.
    [[nodiscard]] bool failed() const { return verdict.starts_with("failed"); }
    bool operator==(const Measurement&) const = default;
};

/// The database of a file, open while this lives. A file that is damaged, newer, or no such
/// database is a diagnostic of whatever touches it.
class Measurements {
public:
    /// `napkin/measurements.sqlite` in the cache folder.
    [[nodiscard]] static std::filesystem::path usual_path();
    /// Makes the file where there is none.
    [[nodiscard]] static Result<Measurements> open(const std::filesystem::path& path);
    /// The same, to read only; one without anything in it where there is no file.
    [[nodiscard]] static Result<Measurements> open_to_read(const std::filesystem::path& path);
    Measurements(Measurements&&) noexcept;
    Measurements& operator=(Measurements&&) noexcept;
    ~Measurements();

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    [[nodiscard]] Result<std::optional<Measurement>> find(const TestBench& bench,
                                                          const TimedProgram& program) const;
    /// Replaces what was kept of the same program on the same bench.
    [[nodiscard]] std::optional<Diagnostic> keep(const TestBench& bench,
                                                 const TimedProgram& program,
                                                 const Measurement& measurement) const;
    /// On which something was measured, the latest first.
    [[nodiscard]] Result<std::vector<TestBench>> benches() const;

private:
    Measurements(std::filesystem::path path, sqlite3* database);
    struct Close {
        void operator()(sqlite3* database) const;
    };
    std::filesystem::path path_;
    std::unique_ptr<sqlite3, Close> database_;  ///< null: nothing is there
};

}  // namespace napkin::cli
