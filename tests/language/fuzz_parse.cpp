// libFuzzer entry: build with clang and -DNAPKIN_FUZZ=ON, then run
//   build/tests/language/napkin_fuzz_parse -dict=tests/language/ncd.dict corpus/
//   tests/golden/errors
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/language/parse_property.h"

extern "C" int LLVMFuzzerTestOneInput(  // NOLINT(readability-identifier-naming)
    const std::uint8_t* data, std::size_t size) {
    const std::string text(data, data + size);
    const std::string failure = napkin::test::parse_property_failure(text);
    if (failure.empty()) return 0;
    std::fputs(failure.c_str(), stderr);
    std::abort();
}
