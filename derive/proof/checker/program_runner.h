// Runs the tile programs of certificates over the field pair: loops, copies, and the plain
// evaluator for what is computed. It shares no code with the interpreter: variables are whole
// arrays, copies go element by element, chunks are visited exactly where a condition holds
// somewhere.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "derive/interpret/device.h"
#include "derive/proof/checker/program_reader.h"
#include "derive/proof/field_domain.h"

namespace napkin::proof::checker {

/// Device memory by name, and how often each element of it was written.
struct Memory {
    std::map<std::string, Grid<FieldValue>> arrays;
    std::map<std::string, std::vector<int>> writes;
};

/// Runs all regions; `memory` holds inputs and parameters.
void run_program(FieldDomain& domain, const ReadProgram& program, Memory& memory);

}  // namespace napkin::proof::checker
