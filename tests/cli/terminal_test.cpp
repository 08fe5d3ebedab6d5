// Sessions at a terminal: what ^C and ^D do there cannot be piped, nor what a terminal is asked.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/cli/terminal.h"
#include "tests/cli/transcript.h"

namespace napkin::test {
namespace {

const std::string kDiagram = NAPKIN_SOURCE_DIR "/examples/prefix_sum.ncd";
const std::string kRule = "━━━━";  // of a table in letters

}  // namespace

TEST_CASE("^C stops a command of a session, and keeps the session and the derivation") {
    const std::string pipe = scratch() + "/nobody_reads.txt";
    REQUIRE_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    Terminal terminal(kDiagram);
    REQUIRE(terminal.prompts());
    terminal.type("set t = 96\n");
    REQUIRE(terminal.shows("too large"));
    REQUIRE(terminal.prompts());
    terminal.type("draw " + pipe + "\n");
    bool stopped = false;
    for (int attempt = 0; attempt < 100 && !stopped; ++attempt) {
        terminal.type("\x03");
        stopped = terminal.shows("interrupted", 200);
    }
    CHECK(stopped);
    REQUIRE(terminal.prompts());
    terminal.type("history\n");
    CHECK(terminal.shows("1  set t = 96"));
    terminal.type("quit\nquit\n");
    CHECK_EQ(terminal.ended(), 0);
}

TEST_CASE("a session asks before it forgets a derivation, once") {
    Terminal terminal(kDiagram);
    REQUIRE(terminal.prompts());
    terminal.type("set t = 96\n");
    REQUIRE(terminal.shows("too large"));
    REQUIRE(terminal.prompts());
    terminal.type("\x04");
    CHECK(terminal.shows("not saved"));
    REQUIRE(terminal.prompts());
    terminal.type("undo\n");
    REQUIRE(terminal.shows("too large"));
    REQUIRE(terminal.prompts());
    terminal.type("redo\n");
    REQUIRE(terminal.shows("too large"));
    REQUIRE(terminal.prompts());
    terminal.type("quit\n");
    CHECK(terminal.shows("not saved"));
    REQUIRE(terminal.prompts());
    terminal.type("\x04");
    CHECK_EQ(terminal.ended(), 0);
}

namespace {

/// What a terminal of 10 by 20 pixels a letter answers that takes images by some protocol.
const std::string kSize = "\x1b[6;20;10t";
const std::string kPlain = kSize + "\x1b[?62;22c";
const std::string kKitty = "\x1b_Gi=31;OK\x1b\\" + kPlain;
const std::string kITerm = "\x1b]1337;Capabilities=T3CwF\x1b\\" + kPlain;
const std::string kSixel = kSize + "\x1b[?62;4;22c";

}  // namespace

TEST_CASE("pictures are images where the terminal answers that it takes them") {
    const std::string png = "iVBORw0KGgo";  // how one begins in base64
    const struct {
        std::string answer;
        std::string image;
    } cases[] = {
        {kKitty, "\x1b_Ga=T,f=100,q=2,c=48,m=1;" + png},
        {kITerm, "\x1b]1337;File=inline=1;size="},
        {kITerm, ";width=48:" + png},
        {kSixel, "\x1bPq\"1;1;"},
        {kITerm + kSixel, "\x1b]1337;File=inline=1;size="},
    };
    for (const auto& [answer, image] : cases) {
        INFO("a terminal that answers ", answer);
        Terminal terminal(kDiagram, {"xterm", answer});
        REQUIRE(terminal.prompts());
        CHECK(terminal.has_shown(image));
        CHECK_FALSE(terminal.has_shown(kRule));
        terminal.type("show text\n");
        CHECK(terminal.shows(kRule));
        REQUIRE(terminal.prompts());
        terminal.type("show image\n");
        CHECK(terminal.shows(image));
        REQUIRE(terminal.prompts());
        terminal.type("quit\n");
        CHECK_EQ(terminal.ended(), 0);
    }
}

TEST_CASE("pictures are text where the terminal takes no images, answers nonsense or nothing") {
    const std::string nonsense =
        "\x1b_Gi=31;EINVAL:no\x1b\\\x1b]1337;Capabilities=FxT\a\x1b[999999999999;1t\x1b]11;rgb:?/"
        "z\a"
        "\x1b[4c\x1bP4\xff\x1b\\\x1b[6;-1;t\x1b[?";
    for (const std::string& answer : {kPlain, nonsense, std::string()}) {
        INFO("a terminal that answers ", answer);
        Terminal terminal(kDiagram, {"xterm", answer});
        REQUIRE(terminal.prompts());
        CHECK(terminal.has_shown("\x1b[c"));
        CHECK(terminal.has_shown(kRule));
        terminal.type("show image\n");
        CHECK(terminal.shows("takes no images"));
        REQUIRE(terminal.prompts());
        terminal.type("quit\n");
        CHECK_EQ(terminal.ended(), 0);
    }
}

TEST_CASE("an image that the terminal would cut is text") {
    for (const char* most : {"\x1b[?2;0;200;5000S", "\x1b[?2;0;5000;100S"}) {
        INFO("a terminal that answers ", most);
        Terminal terminal(kDiagram, {"xterm", most + kSixel});
        REQUIRE(terminal.prompts());
        CHECK(terminal.has_shown("cuts an image"));
        CHECK(terminal.has_shown(kRule));
        terminal.type("quit\n");
        CHECK_EQ(terminal.ended(), 0);
    }
    Terminal terminal(kDiagram, {"xterm", "\x1b[?2;0;481;273S" + kSixel});
    REQUIRE(terminal.prompts());
    CHECK(terminal.has_shown("\x1bPq\"1;1;480;272"));
}

TEST_CASE("an image that cannot be drawn is told of, and text stands in its place") {
    const std::string none = scratch() + "/none.conf";
    std::ofstream(none) << "<fontconfig></fontconfig>";
    ::setenv("FONTCONFIG_FILE", none.c_str(), 1);
    Terminal terminal(kDiagram, {"xterm", kKitty});
    ::unsetenv("FONTCONFIG_FILE");
    REQUIRE(terminal.prompts());
    CHECK(terminal.has_shown("fonts"));
    CHECK(terminal.has_shown("pictures are text from here on"));
    CHECK(terminal.has_shown(kRule));
    terminal.type("quit\n");
    CHECK_EQ(terminal.ended(), 0);
}

TEST_CASE("what is typed while the terminal is asked is typed") {
    Terminal terminal(kDiagram, {"xterm", "hist" + kPlain + "ory\n"});
    REQUIRE(terminal.prompts());
    CHECK(terminal.shows("no step was taken yet"));
    REQUIRE(terminal.prompts());
    terminal.type("quit\n");
    CHECK_EQ(terminal.ended(), 0);
}

TEST_CASE("a terminal without escape sequences is not asked") {
    Terminal terminal(kDiagram);
    REQUIRE(terminal.prompts());
    CHECK_FALSE(terminal.has_shown("\x1b[c"));
    terminal.type("quit\n");
    CHECK_EQ(terminal.ended(), 0);
}

TEST_CASE("a run that takes long says how far it is") {
    Terminal terminal(NAPKIN_SOURCE_DIR "/examples/gated_scan.ncd");
    REQUIRE(terminal.prompts());
    terminal.type("run\n");
    CHECK(terminal.shows("0 of 2 done, computing, "));
    terminal.type("\x03");
    CHECK(terminal.shows("interrupted"));
    REQUIRE(terminal.prompts());
    terminal.type("quit\n");
    CHECK_EQ(terminal.ended(), 0);
}

}  // namespace napkin::test
