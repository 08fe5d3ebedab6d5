// `.npy` files: bytes as NumPy writes them, round trips, damaged and unsuitable files.
#include "diagrams/npy.h"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include "builder.h"
#include "diagrams/evaluate/npy_header.h"

using namespace std::string_literals;
using napkin::ElementType;
using napkin::NpyContent;
using napkin::NpyType;
using napkin::Result;
using napkin::Tensor;
using napkin::test::Builder;

namespace {

/// A folder of this test's own, removed at its end.
class Folder {
public:
    Folder() : path_(std::filesystem::temp_directory_path() / unique_name()) {
        std::filesystem::create_directories(path_);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    [[nodiscard]] std::string file(const std::string& name) const { return path_ / name; }
    std::string file(const std::string& name, const std::string& bytes) const {
        std::ofstream(path_ / name, std::ios::binary) << bytes;
        return path_ / name;
    }

private:
    static std::string unique_name() {
        return "napkin-npy-" + std::to_string(std::hash<std::string>{}(
                                   std::to_string(reinterpret_cast<std::uintptr_t>(&kCase)) +
                                   std::filesystem::current_path().string()));
    }
    static constexpr int kCase = 0;
    std::filesystem::path path_;
};

/// A file as NumPy lays it out, with the header's text given.
std::string npy_bytes(int version, const std::string& dictionary, const std::string& data) {
    const std::string text = dictionary + "\n";
    std::string bytes = "\x93NUMPY"s + static_cast<char>(version) + '\0';
    bytes += static_cast<char>(text.size() % 256);
    bytes += static_cast<char>(text.size() / 256);
    if (version > 1) bytes += "\0\0"s;
    return bytes + text + data;
}

std::string code_of(const std::string& path) {
    const Result<NpyContent> content = napkin::read_npy(path);
    return content ? "" : content.error().list[0].code;
}

}  // namespace

TEST_CASE("npy: types, orders and versions are read") {
    const Folder folder;
    struct Case {
        std::string descr;
        std::string data;
        std::vector<double> expected;
    };
    const std::vector<Case> cases = {
        {"<f2", "\x00\x3c\x00\xc0\x01\x00"s, {1, -2, 0x1p-24}},
        {"<f4", "\x00\x00\x80\x3f\x00\x00\x00\xc0\x00\x00\x80\x7f"s, {1, -2, HUGE_VAL}},
        {">f4", "\x3f\x80\x00\x00\xc0\x00\x00\x00\x7f\x80\x00\x00"s, {1, -2, HUGE_VAL}},
        {"<i2", "\x01\x00\xff\xff\x00\x01"s, {1, -1, 256}},
        {"|u1", "\x01\xff\x80"s, {1, 255, 128}},
        {"|i1", "\x01\xff\x80"s, {1, -1, -128}},
        {"|b1", "\x01\x00\x01"s, {1, 0, 1}},
        {"<i4", "\x01\x00\x00\x00\xff\xff\xff\xff\x00\x00\x00\x80"s, {1, -1, -2147483648.0}},
    };
    for (const Case& entry : cases)
        for (int version = 1; version <= 3; ++version) {
            INFO(entry.descr, " version ", version);
            const std::string path =
                folder.file("a.npy", npy_bytes(version,
                                               "{'descr': '" + entry.descr +
                                                   "', 'fortran_order': False, 'shape': (3,), }",
                                               entry.data));
            const Result<NpyContent> content = napkin::read_npy(path);
            REQUIRE(content);
            CHECK_EQ(content->tensor, Tensor{{3}, entry.expected});
        }
}

TEST_CASE("npy: Fortran order is brought to C order, scalars and keys in another order are read") {
    const Folder folder;
    const std::string matrix = folder.file(
        "m.npy", npy_bytes(1, "{\"shape\":(2,3),\"fortran_order\":True,\"descr\":\"|u1\"}",
                           "\x01\x02\x03\x04\x05\x06"));
    CHECK_EQ(napkin::read_npy(matrix)->tensor, Tensor{{2, 3}, {1, 3, 5, 2, 4, 6}});
    const std::string scalar = folder.file(
        "s.npy", npy_bytes(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (), }", "\x07"));
    CHECK_EQ(napkin::read_npy(scalar)->tensor, Tensor{{}, {7}});
}

TEST_CASE("npy: what is written is read back, in every type, and begins aligned") {
    const Folder folder;
    const auto written = [&](const Tensor& tensor, NpyType type) {
        return napkin::read_npy(folder.file("o.npy", napkin::npy_bytes(tensor, type)))->tensor;
    };
    const Tensor tensor{{2, 1, 3}, {1, 0, -3, 4, 5, 100000}};
    for (const NpyType type : {NpyType::F4, NpyType::F8, NpyType::I4, NpyType::I8}) {
        CHECK_EQ(written(tensor, type), tensor);
    }
    CHECK_EQ(written({{2}, {0, 1}}, NpyType::B1), Tensor{{2}, {0, 1}});
    CHECK_EQ(written({{}, {2.5}}, NpyType::F4), Tensor{{}, {2.5}});
    // The text that numpy.save writes for this array.
    const std::string header = napkin::npy::print_header("<f4", {2, 3});
    CHECK_EQ(header.size() % 64, 0);
    CHECK_EQ(header.substr(10, 59), "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }");
    CHECK_NE(napkin::npy::print_header("<f4", {5}).find("'shape': (5,), }"), std::string::npos);
}

TEST_CASE("npy: damaged, truncated and unsuitable files are refused with their reason") {
    const Folder folder;
    const std::string good = npy_bytes(
        1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", std::string(8, '\0'));
    CHECK_EQ(code_of(folder.file("good.npy", good)), "");
    for (std::size_t length = 0; length < good.size(); ++length) {
        const std::string code = code_of(folder.file("cut.npy", good.substr(0, length)));
        CHECK_EQ(code, length >= good.size() - 8 ? "E0514" : "E0512");
    }
    CHECK_EQ(code_of(folder.file("long.npy", good + "x")), "E0514");
    CHECK_EQ(code_of(folder.file("none.npy")), "E0511");
    CHECK_EQ(code_of(folder.file("")), "E0511");
    const std::vector<std::string> damaged = {
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)",
        "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }",
        "{'descr': '<f4', 'shape': (2,), }",
        "[]",
        "",
    };
    for (const std::string& dictionary : damaged) {
        INFO(dictionary);
        CHECK_EQ(code_of(folder.file("bad.npy", npy_bytes(1, dictionary, ""))), "E0512");
    }
    CHECK_EQ(code_of(folder.file("c8.npy", npy_bytes(1,
                                                     "{'descr': '<c8', 'fortran_order': False, "
                                                     "'shape': (1,), }",
                                                     std::string(8, '\0')))),
             "E0513");
    CHECK_EQ(code_of(folder.file("big.npy", npy_bytes(1,
                                                      "{'descr': '<i8', 'fortran_order': False, "
                                                      "'shape': (1,), }",
                                                      "\0\0\0\0\0\0\0\x40"s))),
             "E0517");
}

TEST_CASE("npy: values for an input must have its shape and kind, and are rounded to its type") {
    const Folder folder;
    Builder b;
    const napkin::AxisId n = b.axis("n", 2);
    const napkin::ArrayId real = b.input("X", {n}, ElementType::BF16);
    const napkin::ArrayId integer = b.input("label", {n}, ElementType::I32);
    const napkin::ArrayId flag = b.input("flag", {n}, ElementType::Bool);
    const std::string path =
        folder.file("x.npy", napkin::npy_bytes({{2}, {3.14159, 1}}, NpyType::F8));
    CHECK_EQ(napkin::read_input(b.diagram, real, path)->values, std::vector<double>{3.140625, 1});
    CHECK_EQ(napkin::read_input(b.diagram, integer, path).error().list[0].code, "E0516");
    CHECK_EQ(napkin::read_input(b.diagram, flag, path).error().list[0].code, "E0516");
    folder.file("x.npy", napkin::npy_bytes({{1, 2}, {3, 1}}, NpyType::I4));
    CHECK_EQ(napkin::read_input(b.diagram, integer, path).error().list[0].message,
             "`" + path + "` has shape [1, 2], but `label[n]` has shape [2]");
    CHECK_EQ(napkin::read_input(b.diagram, real, path).error().list[0].code, "E0516");
}
