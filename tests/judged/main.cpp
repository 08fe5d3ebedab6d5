// napkin_judge [--rows | --fit]: the model's times beside the recorded ones, every one with --rows;
// with --fit also figures that fit the half that is not held out.
#include <fmt/format.h>

#include <iostream>

#include "tests/judged/judge.h"

int main(int count, char** arguments) {
    using namespace napkin;
    SourceMap sources;
    const Result<Machine> machine = load_machine(sources, "H200");
    const std::vector<test::Recorded> rows = test::recorded_on_h200();
    if (count > 1 && std::string(arguments[1]) == "--rows") {
        std::cout << test::row_list(rows, *machine);
        return 0;
    }
    std::cout << test::table(rows, *machine);
    if (count < 2 || std::string(arguments[1]) != "--fit") return 0;
    const Machine fitted = test::fitted(rows, *machine);
    std::cout << "\n" << test::table(rows, fitted) << "\n";
    for (const auto& [key, figure] : fitted.figures)
        if (figure.value != machine->figures.at(key).value)
            std::cout << fmt::format("{} = {:.4g} of {:.4g}\n", key, figure.value,
                                     machine->figures.at(key).value);
    return 0;
}
