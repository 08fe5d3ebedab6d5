// napkin_judge [--on h100] [--rows | --pipelines | --plot | --fit]: the model's times beside those
// recorded on a machine, an H200 unless said; every one with --rows, what they are made of with
// --pipelines, drawn with --plot; with --fit also figures that fit the half that is not held out.
#include <fmt/format.h>

#include <iostream>

#include "tests/judged/judge.h"

int main(int count, char** arguments) {
    using namespace napkin;
    std::vector<std::string> options(arguments + 1, arguments + count);
    std::string name = "h200";
    if (options.size() > 1 && options[0] == "--on") {
        name = options[1];
        options.erase(options.begin(), options.begin() + 2);
    }
    const std::string option = options.empty() ? "" : options[0];
    SourceMap sources;
    const Result<Machine> machine = load_machine(sources, name);
    const test::Records records = test::recorded_on(name);
    if (!machine || records.rows.empty()) {
        std::cerr << "nothing is recorded on " << name << "\n";
        return 1;
    }
    if (option == "--rows") {
        std::cout << test::row_list(records.rows, *machine);
        return 0;
    }
    if (option == "--pipelines") {
        std::cout << test::pipeline_list(records.rows, *machine);
        return 0;
    }
    if (option == "--plot") {
        std::cout << test::scatter(records, *machine);
        return 0;
    }
    std::cout << test::table(records, *machine);
    if (option != "--fit") return 0;
    const Machine fitted = test::fitted(records.rows, *machine);
    std::cout << "\n" << test::table(records, fitted) << "\n";
    for (const auto& [key, figure] : fitted.figures)
        if (figure.value != machine->figures.at(key).value)
            std::cout << fmt::format("{} = {:.4g} of {:.4g}\n", key, figure.value,
                                     machine->figures.at(key).value);
    return 0;
}
