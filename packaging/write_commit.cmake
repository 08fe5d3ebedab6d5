# Writes OUTPUT, a C++ source with the commit of the sources in SOURCE; empty where they came without Git. The file is
# touched only where that changed, so that nothing is compiled anew.
find_program(git git)
set(commit "")
if(git AND EXISTS "${SOURCE}/.git")
  execute_process(
    COMMAND "${git}" describe --always --abbrev=12 --match= --dirty= OUTPUT_VARIABLE commit
    WORKING_DIRECTORY "${SOURCE}" OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(
    COMMAND "${git}" diff --quiet HEAD RESULT_VARIABLE changed WORKING_DIRECTORY "${SOURCE}" ERROR_QUIET)
  if(commit AND changed)
    string(APPEND commit " with changes")
  endif()
endif()
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT [[#include "cli/usage/usage.h"

namespace napkin::cli {

std::string version_text() {
    const std::string commit = "@commit@";
    return NAPKIN_VERSION + (commit.empty() ? "" : ", commit " + commit);
}

}  // namespace napkin::cli
]] @ONLY)
