// Texts of which lines and words are linked with the picture: lines by the array that a statement
// defines, words by arrays and axes.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/json.h"
#include "derive/tile_program.h"

namespace napkin::cli {

/// What words and places of a derivation stand for.
class Links {
public:
    Links(const State& state, const TileProgram& program, const SourceMap& sources);

    /// The array that a box defines, as the user named it, of any array that the box, or a copy
    /// that a rule made of it, is made of.
    [[nodiscard]] std::string array_of(ArrayId array) const;
    /// What words of the texts stand for, `{axes: {word: axis}, arrays: {word: array}}`, into which
    /// those of another step may be merged.
    [[nodiscard]] Json words() const;
    /// The kernels of a tile program: a line a statement, without places.
    [[nodiscard]] std::vector<std::string> tile_program(const std::string& text) const;
    /// A kernel: a paragraph that says where in the diagram it comes from is one link.
    [[nodiscard]] std::string kernel(const std::string& text) const;

private:
    void add_place(Span span);
    [[nodiscard]] std::string at(Span span) const;

    const Diagram& diagram_;
    const SourceMap& sources_;
    std::map<std::string, std::string> places_;  ///< arrays by `attention.ncd:6:3`
    std::map<std::string, std::string> arrays_;  ///< by the name of a variable or of an array
};

}  // namespace napkin::cli
