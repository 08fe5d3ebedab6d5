// What is kept on disk is taken for what it is, and for nothing else.
#include "codegen/run/kept.h"

#include <doctest/doctest.h>

#include <fstream>
#include <string>

#include "codegen/run/folders.h"
#include "tests/support/provided.h"

namespace napkin {
namespace {

namespace fs = std::filesystem;

fs::path fresh_folder() {
    fs::path folder = test::kept_folder("kept");  // of this user alone
    fs::remove_all(folder);
    return folder;
}

fs::path only_entry(const fs::path& folder) {
    return fs::directory_iterator(folder)->path();
}

}  // namespace

TEST_CASE("kept: found under its own key, and under no other") {
    const fs::path folder = fresh_folder();
    CHECK_FALSE(find_kept(folder, "a").has_value());
    for (const std::string& value :
         {std::string("one\ntwo"), std::string(), std::string(3, '\0')}) {
        keep(folder, "a", value);
        CHECK_EQ(find_kept(folder, "a"), value);
    }
    CHECK_FALSE(find_kept(folder, "b").has_value());
    // Where hashes collide, the entry lies in the other's place.
    fs::rename(only_entry(folder), folder / hash_text("b"));
    CHECK_FALSE(find_kept(folder, "b").has_value());
    CHECK_FALSE(this_build().empty());
}

TEST_CASE("kept: an entry that is damaged anywhere is none") {
    const fs::path folder = fresh_folder();
    keep(folder, "the key", "the value");
    const fs::path entry = only_entry(folder);
    const std::string whole = read_file(entry).value();
    const auto put = [&](const std::string& text) {
        std::ofstream(entry, std::ios::binary | std::ios::trunc) << text;
    };
    for (std::size_t at = 0; at < whole.size(); ++at) {
        std::string changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ 1);
        put(changed);
        CHECK_FALSE(find_kept(folder, "the key").has_value());
        put(whole.substr(0, at));
        CHECK_FALSE(find_kept(folder, "the key").has_value());
    }
    put(whole + "x");
    CHECK_FALSE(find_kept(folder, "the key").has_value());
    put(whole);
    CHECK_EQ(find_kept(folder, "the key"), "the value");
}

TEST_CASE("kept: a folder that cannot be written costs nothing but time") {
    keep("/proc/none", "a", "value");
    CHECK_FALSE(find_kept("/proc/none", "a").has_value());
}

}  // namespace napkin
