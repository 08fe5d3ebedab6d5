#include "cli/ascii.h"

#include <langinfo.h>

#include <algorithm>
#include <array>
#include <clocale>

namespace napkin::cli {
namespace {

struct StandIn {
    std::string_view sign;
    std::string_view ascii;
};

// clang-format off
constexpr std::array kStandIns = {
    // Wires, rules and frames.
    StandIn{"─", "-"}, StandIn{"━", "-"}, StandIn{"═", "="}, StandIn{"╌", "-"}, StandIn{"┄", "-"},
    StandIn{"╶", "-"}, StandIn{"╴", "-"}, StandIn{"│", "|"}, StandIn{"┆", "|"}, StandIn{"╷", "|"},
    StandIn{"╵", "|"}, StandIn{"╭", "+"}, StandIn{"╮", "+"}, StandIn{"╰", "+"}, StandIn{"╯", "+"},
    StandIn{"┌", "+"}, StandIn{"┐", "+"}, StandIn{"└", "+"}, StandIn{"┘", "+"}, StandIn{"├", "+"},
    StandIn{"┤", "+"}, StandIn{"┴", "+"}, StandIn{"┬", "+"}, StandIn{"┼", "+"},
    StandIn{"●", "o"}, StandIn{"○", "o"}, StandIn{"■", "#"}, StandIn{"◁", "<"},
    StandIn{"→", ">"}, StandIn{"←", "<"}, StandIn{"█", "#"}, StandIn{"▒", "+"},
    // Letters and signs of formulas.
    StandIn{"ℓ", "l"}, StandIn{"α", "alpha"}, StandIn{"β", "beta"}, StandIn{"λ", "lambda"},
    StandIn{"\u0305", "~"}, StandIn{"′", "'"}, StandIn{"·", "*"}, StandIn{"×", "x"},
    StandIn{"−", "-"}, StandIn{"≡", "="}, StandIn{"≤", "<="}, StandIn{"≥", ">="},
    StandIn{"≠", "!="}, StandIn{"∈", "in"}, StandIn{"∞", "inf"}, StandIn{"√", "sqrt"},
    StandIn{"Σ", "sum"}, StandIn{"∏", "prod"}, StandIn{"∴", "so"}, StandIn{"…", "..."},
};
// clang-format on

/// How many columns the signs before a stand-in take: a combining one takes none.
std::size_t columns_of(std::string_view sign) {
    return sign == "\u0305" ? 0 : 1;
}

}  // namespace

bool writes_utf8() {
    static const bool utf8 = [] {
        const locale_t locale = ::newlocale(LC_CTYPE_MASK, "", nullptr);
        if (locale == nullptr) return false;
        const std::string_view codeset = ::nl_langinfo_l(CODESET, locale);
        const bool is_utf8 = codeset == "UTF-8" || codeset == "utf8";
        ::freelocale(locale);
        return is_utf8;
    }();
    return utf8;
}

std::string in_ascii(std::string_view text) {
    std::string result;
    std::size_t owed = 0;  // columns that stand-ins took too many
    while (!text.empty()) {
        const auto found =
            std::find_if(kStandIns.begin(), kStandIns.end(),
                         [&](const StandIn& each) { return text.starts_with(each.sign); });
        if (static_cast<unsigned char>(text.front()) >= 0x80 && found != kStandIns.end()) {
            result += found->ascii;
            owed += found->ascii.size() - columns_of(found->sign);
            text.remove_prefix(found->sign.size());
            continue;
        }
        if (text.front() == '\n') owed = 0;
        const bool spare = owed > 0 && text.starts_with("  ");
        if (spare)
            --owed;
        else
            result += text.front();
        text.remove_prefix(1);
    }
    return result;
}

}  // namespace napkin::cli
