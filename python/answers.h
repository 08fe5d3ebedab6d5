// A derivation and what the commands answer about it, without Python. What a command prints as JSON
// is returned as that text.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/execution.h"
#include "cli/exporting.h"
#include "cli/session.h"
#include "diagrams/drawing/render.h"
#include "search/search.h"

namespace napkin::python {

/// Thrown where the user's input is refused: `napkin.Refusal` in Python.
class Refused : public std::exception {
public:
    Refused(const Diagnostics& why, const SourceMap& sources);
    [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }
    /// A list of `{code, message, file, line, column, help}`.
    [[nodiscard]] const std::string& json() const { return json_; }

private:
    std::string text_;  ///< as the command line prints it
    std::string json_;
};

/// An array of the plain diagram, for whoever prepares or takes values.
struct ArrayFacts {
    std::string name;
    std::string type;
    std::vector<std::string> axes;
    std::vector<std::int64_t> shape;
};

/// What a picture shows, in pixels or columns of text.
struct PictureWish {
    drawing::Format format = drawing::Format::Svg;
    std::string machine;  ///< empty for none
    std::string region;   ///< empty for all
    std::string theme;    ///< one that there is
    int width = 0;        ///< the usual one when 0
};

struct EmitWish {
    std::string as;      ///< `tile` or `cuda`
    std::string target;  ///< empty for the best that serves
    std::string arch = "sm_90";
    bool unproved = false;
};

struct OperatorWish {
    std::string name;
    std::vector<std::string> dynamic;  ///< axes whose sizes are given at run time
    std::string target;                ///< empty for the best that serves
    std::string arch = "sm_90";
    bool unproved = false;
};

/// A diagram's text, the steps that were taken and the sizes that were given. A value: it never
/// changes, and several threads may ask it.
class Derivation {
public:
    Derivation(std::string text, std::string name, std::string steps, cli::Settings settings);

    [[nodiscard]] const std::string& diagram_name() const { return loaded_.plain.name; }
    [[nodiscard]] std::string canonical_text() const;
    [[nodiscard]] std::vector<std::string> steps() const;
    /// Sizes of axes that have one of their own.
    [[nodiscard]] Sizes sizes() const;
    [[nodiscard]] std::vector<ArrayFacts> arrays(ArrayRole role) const;
    /// What the checker warns of.
    [[nodiscard]] std::vector<std::string> warnings() const { return warnings_; }

    [[nodiscard]] std::string cost(const std::string& machine) const;
    [[nodiscard]] std::string derivation(const std::string& machine) const;
    [[nodiscard]] std::string search(const std::string& machine, int top, const std::string& target,
                                     const Deadline& deadline) const;
    /// What was shown, and the certificate.
    [[nodiscard]] std::pair<std::string, std::string> prove(std::uint64_t seed) const;
    [[nodiscard]] std::string emit(const EmitWish& wish) const;
    /// The files of an export by name; `gradient` may be null.
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> operator_files(
        const OperatorWish& wish, const Derivation* gradient) const;
    [[nodiscard]] std::string draw(const PictureWish& wish) const;

    [[nodiscard]] const Diagram& plain() const { return loaded_.plain; }
    /// Computes and judges; random inputs where none are given.
    [[nodiscard]] cli::RunReport run(const Tensors& inputs, const std::string& device,
                                     const std::string& target, std::uint64_t seed) const;
    /// Throws for a diagnostic of this derivation.
    [[noreturn]] void refuse(const Diagnostics& why) const { throw Refused(why, sources_); }

private:
    [[nodiscard]] cli::ExportedProgram begin_export(cli::Context& context) const;

    std::string name_;
    cli::Settings settings_;
    SourceMap sources_;
    std::vector<Command> commands_;
    cli::Loaded loaded_;
    std::vector<std::string> warnings_;
};

[[nodiscard]] std::vector<std::string> machines();
[[nodiscard]] std::string version();

}  // namespace napkin::python
