#include "diagrams/drawing/turns.h"

#include <algorithm>
#include <optional>

namespace napkin::drawing {

namespace {

using Followers = std::vector<std::vector<std::size_t>>;

/// The longest ways from each; one that leads back to itself ends there.
class LongestWays {
public:
    explicit LongestWays(const Followers& followers)
        : followers_(followers), known_(followers.size()) {}

    int from(std::size_t at) {
        if (known_[at]) return *known_[at];
        known_[at] = 0;
        int longest = 0;
        for (const std::size_t next : followers_[at]) longest = std::max(longest, 1 + from(next));
        known_[at] = longest;
        return longest;
    }

private:
    const Followers& followers_;
    std::vector<std::optional<int>> known_;
};

}  // namespace

std::vector<TurnPlace> places_of(const std::vector<Turn>& turns) {
    Followers before(turns.size());
    Followers after(turns.size());
    for (std::size_t i = 0; i < turns.size(); ++i)
        for (std::size_t j = 0; j < turns.size(); ++j) {
            if (i == j || turns[i].to != turns[j].from) continue;
            before[i].push_back(j);
            after[j].push_back(i);
        }
    LongestWays to_left(before);
    LongestWays to_right(after);
    std::vector<TurnPlace> places;
    for (std::size_t i = 0; i < turns.size(); ++i)
        places.push_back({before[i], to_left.from(i), to_right.from(i)});
    return places;
}

}  // namespace napkin::drawing
