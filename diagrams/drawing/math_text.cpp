#include "diagrams/drawing/math_text.h"

#include <algorithm>
#include <array>
#include <utility>

namespace napkin::drawing {

namespace {

constexpr double kScriptSize = 0.72;
constexpr double kDrop = 0.20;     // of a subscript's baseline, in sizes
constexpr double kRaise = 0.36;    // of a superscript's
constexpr double kBarTall = 0.86;  // of a bar over letters with ascenders
constexpr double kBarShort = 0.66;
constexpr std::string_view kRoot = "√";
constexpr double kRootGap = 0.08;  // before it, in sizes
constexpr double kRootRise = 0.9;  // of its end

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// Appends to the last run where the style is the same, so that labels stay few pieces.
void append(MathText& label, std::string_view text, Face face, Script script, bool overbar) {
    if (!label.runs.empty()) {
        Run& last = label.runs.back();
        if (last.face == face && last.script == script && !overbar && !last.overbar &&
            !last.under_root && last.text != kRoot) {
            last.text += text;
            return;
        }
    }
    label.runs.push_back({std::string(text), face, script, overbar, false});
}

/// The end of what `_` or `^` at the front applies to: a group in braces or parentheses, else a
/// name or number with its own underscores and level.
std::size_t script_end(std::string_view text) {
    if (text.empty()) return 0;
    const char open = text[0];
    if (open == '(' || open == '{') {
        const std::size_t close = text.find(open == '(' ? ')' : '}');
        return close == std::string_view::npos ? text.size() : close + 1;
    }
    std::size_t end = text[0] == '-' ? 1 : 0;
    while (end < text.size() &&
           (is_letter(text[end]) || is_digit(text[end]) || text[end] == '_' || text[end] == '@'))
        ++end;
    return end;
}

/// The end of the name, number, quoted text or group that a root stands over.
std::size_t radicand_end(std::string_view text) {
    const char close = text.empty() ? ' ' : text[0] == '(' ? ')' : text[0] == '"' ? '"' : ' ';
    if (close != ' ') return std::min(text.find(close, 1), text.size() - 1) + 1;
    std::size_t end = 0;
    while (end < text.size() && (is_letter(text[end]) || is_digit(text[end]))) ++end;
    while (end < text.size() && text[end] == '_') end += 1 + script_end(text.substr(end + 1));
    return end;
}

std::string level_of(std::string_view name) {
    if (name == "device") return "ℓ0";
    if (name == "block") return "ℓ1";
    if (name == "warps") return "ℓ2";
    return std::string(name);
}

void append_script(MathText& label, std::string_view text, Script script) {
    if (!text.empty() && text[0] == '{') text = text.substr(1, text.size() - 2);
    std::string level;
    if (const std::size_t at = text.find('@'); at != std::string_view::npos) {
        level = "," + level_of(text.substr(at + 1));
        text = text.substr(0, at);
    }
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const bool alone = i == 0 || !is_letter(text[i - 1]);
        if (c == 'l' && alone && i + 1 < text.size() && is_digit(text[i + 1]))
            append(label, "ℓ", Face::Italic, script, false);
        else if (c == '-')
            append(label, "−", Face::Roman, script, false);
        else
            append(label, text.substr(i, 1), is_letter(c) ? Face::Italic : Face::Roman, script,
                   false);
    }
    if (!level.empty()) append(label, level, Face::Roman, script, false);
}

void append_root(MathText& label, MathText radicand) {
    label.runs.push_back({std::string(kRoot), Face::Roman, Script::Base, false, false});
    for (Run& run : radicand.runs) {
        run.under_root = true;
        label.runs.push_back(std::move(run));
    }
}

/// Functions of formulas stand upright.
bool is_function(std::string_view word) {
    constexpr std::array<std::string_view, 5> kFunctions = {"ceil", "floor", "min", "max", "sum"};
    return std::find(kFunctions.begin(), kFunctions.end(), word) != kFunctions.end();
}

/// Signs that read better in their typographic form.
std::string_view sign_of(char c) {
    switch (c) {
    case '*': return "·";
    case '-': return "−";
    default: return {};
    }
}

/// A character of text in the encoding that TeX's fonts have by default; empty for those that only
/// mathematics has.
std::string tex_letter(char c) {
    switch (c) {
    case '<':
    case '>':
    case '|': return "";
    case '\\': return "\\textbackslash{}";
    case '^': return "\\textasciicircum{}";
    case '~': return "\\textasciitilde{}";
    case '"': return "''";
    case '{':
    case '}':
    case '$':
    case '&':
    case '#':
    case '_':
    case '%': return std::string("\\") + c;
    default: return {c};
    }
}

/// Letters in text of the run's face, signs in mathematics between them.
void append_tex(std::string& out, const Run& run) {
    const std::string open = run.face == Face::Italic ? "\\textit{"
                             : run.face == Face::Mono ? "\\texttt{"
                                                      : "\\text{";
    std::string letters;
    const auto close = [&] {
        if (!letters.empty()) out += open + letters + "}";
        letters.clear();
    };
    std::string_view rest = run.text;
    while (!rest.empty()) {
        const std::string_view at = rest;
        const char32_t point = next_code_point(rest);
        const std::string_view own = at.substr(0, at.size() - rest.size());
        const std::string_view sign = tex_of(point);
        const std::string letter = own.size() == 1 ? tex_letter(own[0]) : std::string(own);
        if (sign.empty() && !letter.empty()) {
            letters += letter;
            continue;
        }
        close();
        out += "{" + std::string(sign.empty() ? own : sign) + "}";  // braces: no room around it
    }
    close();
}

}  // namespace

MathText parse_math(std::string_view text, bool overbar) {
    MathText label;
    for (std::size_t i = 0; i < text.size();) {
        const char c = text[i];
        const std::size_t quoted = c == '"' ? text.find('"', i + 1) : std::string_view::npos;
        if (quoted != std::string_view::npos) {
            append(label, text.substr(i + 1, quoted - i - 1), Face::Roman, Script::Base, overbar);
            i = quoted + 1;
        } else if ((c == '_' || c == '^') && i + 1 < text.size()) {
            const std::size_t length = script_end(text.substr(i + 1));
            append_script(label, text.substr(i + 1, length),
                          c == '_' ? Script::Below : Script::Above);
            i += length + 1;
        } else if (text.substr(i, kRoot.size()) == kRoot) {
            i += kRoot.size();
            const std::size_t length = radicand_end(text.substr(i));
            append_root(label, parse_math(text.substr(i, length)));
            i += length;
        } else if (is_letter(c)) {
            std::size_t end = i + 1;
            while (end < text.size() && is_letter(text[end])) ++end;
            const std::string_view word = text.substr(i, end - i);
            append(label, word, is_function(word) ? Face::Roman : Face::Italic, Script::Base,
                   overbar);
            i = end;
        } else if (const std::string_view sign = sign_of(c); !sign.empty()) {
            append(label, sign, Face::Roman, Script::Base, false);
            ++i;
        } else {
            const bool in_name = overbar && is_digit(c) && i > 0;  // a bar goes over it too
            append(label, text.substr(i, 1), Face::Roman, Script::Base, in_name);
            ++i;
        }
    }
    return label;
}

MathText plain_text(std::string_view text, Face face) {
    MathText label;
    if (!text.empty()) label.runs.push_back({std::string(text), face, Script::Base, false, false});
    return label;
}

MathText operator+(MathText first, const MathText& second) {
    first.runs.insert(first.runs.end(), second.runs.begin(), second.runs.end());
    return first;
}

std::vector<PlacedRun> place_runs(const MathText& text, double size) {
    std::vector<PlacedRun> places;
    double x = 0;
    double stack = 0;  // where a superscript after a subscript begins: above it, not after it
    Script before = Script::Base;
    double lean = 0;  // of the run before, from which an upright sign keeps clear
    for (const Run& run : text.runs) {
        PlacedRun place;
        place.size = run.script == Script::Base ? size : size * kScriptSize;
        place.rise = run.script == Script::Below   ? -kDrop * size
                     : run.script == Script::Above ? kRaise * size
                                                   : 0;
        place.width = units_of(run.text, run.face) * place.size / 1000;
        if (run.script == Script::Below && before == Script::Base) stack = x;
        const bool above_below = run.script == Script::Above && before == Script::Below;
        place.x = above_below ? stack : x;
        if (run.text == kRoot && !places.empty()) place.x += kRootGap * size;
        if (run.face != Face::Italic && run.script != Script::Below) place.x += lean;
        lean = overhang_of(run.text, run.face) * place.size / 1000;
        const double end = place.x + place.width;
        x = end > x ? end : x;
        before = run.script;
        places.push_back(place);
    }
    return places;
}

std::vector<Bar> bars_over(const MathText& text, double size) {
    std::vector<Bar> bars;
    const std::vector<PlacedRun> places = place_runs(text, size);
    bool goes_on = false;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const Run& run = text.runs[i];
        const PlacedRun& place = places[i];
        const bool tall = run.text.find_first_not_of("acegmnopqrsuvwxyz") != std::string::npos;
        const double lean = place.size * (tall ? 0.10 : 0.04);  // italics lean to the right
        const bool has_bar = run.overbar || run.under_root;
        if (has_bar && !goes_on) bars.push_back({place.x + (run.under_root ? 0 : lean), 0, 0});
        goes_on = has_bar;
        if (!has_bar) continue;
        Bar& bar = bars.back();
        bar.right = std::max(bar.right, place.x + place.width + lean * 0.6);
        bar.rise = run.under_root ? kRootRise * size
                                  : std::max(bar.rise, place.size * (tall ? kBarTall : kBarShort));
    }
    return bars;
}

double width_of(const MathText& text, double size) {
    double width = 0;
    for (const PlacedRun& run : place_runs(text, size))
        if (run.x + run.width > width) width = run.x + run.width;
    return width;
}

std::string to_unicode(const MathText& text) {
    std::string out;
    Script before = Script::Base;
    for (const Run& run : text.runs) {
        if (run.script != before && run.script == Script::Below) out += '_';
        if (run.script != before && run.script == Script::Above) out += '^';
        before = run.script;
        if (!run.overbar) {
            out += run.text;
            continue;
        }
        for (const char c : run.text) {
            out += c;
            out += "\u0305";
        }
    }
    return out;
}

std::string to_tex(const MathText& text) {
    std::string out;
    Script before = Script::Base;
    std::string_view around;  // what is open
    const auto stand_in = [&](std::string_view wanted) {
        if (wanted == around) return;
        if (!around.empty()) out += '}';
        out += wanted;
        around = wanted;
    };
    for (const Run& run : text.runs) {
        if (run.script != before && before != Script::Base) out += '}';
        stand_in(run.under_root ? "\\sqrt{" : run.overbar ? "\\overline{" : "");
        if (run.script != before && run.script != Script::Base)
            out += run.script == Script::Below ? "_{" : "^{";
        before = run.script;
        if (run.text != kRoot) append_tex(out, run);
    }
    if (before != Script::Base) out += '}';
    stand_in("");
    return out;
}

}  // namespace napkin::drawing
