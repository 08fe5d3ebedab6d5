// Whether the tile program of a certificate, which is text from elsewhere, can be run at all: every
// element has as many indices as its array has axes, every function as many arguments as it takes.
#pragma once

#include "derive/proof/checker/program_reader.h"

namespace napkin::proof::checker {

/// Throws MalformedCertificate. `plain` says what the arrays of the diagram are.
void check_form(const ReadProgram& program, const Diagram& plain);

}  // namespace napkin::proof::checker
