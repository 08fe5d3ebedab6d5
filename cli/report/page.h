// The page of a report: one HTML file with everything in it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/derivation_steps.h"

namespace napkin::cli {

/// A step's parts of the page, ready made.
struct StepPage {
    std::vector<std::string> pictures;  ///< SVG: of all, or of each kernel under an overview
    std::string legend;                 ///< SVG, of all of them
    std::vector<std::string> tile;      ///< the tile program, linked: by kernel
    Json words;                         ///< that are linked: Links::words
    Json accumulators;                  ///< by region; of no axes where none is streamed
    std::vector<std::pair<std::string, std::string>> refused;  ///< a command, and why not
    std::string questions;                                     ///< of slides, what is asked here
};

/// What stands beside all steps.
struct ReportPage {
    std::string title;
    std::string summary;
    std::vector<StepPage> steps;
    std::string diagram;  ///< its text
    std::string kernels;  ///< CUDA, linked; empty where there are none
    std::string why_no_kernels;
    std::string footer;
    Json data;  ///< what the page computes with
    bool slides = false;
};
/// `12.3 &#181;s to 13 &#181;s`, as pages write times.
[[nodiscard]] std::string typeset_times(const Figures& figures);
[[nodiscard]] std::string html_of(const ReportPage& page, const std::vector<DerivedStep>& steps);

}  // namespace napkin::cli
