// Tensors that the command line names files for: `--input Q=q.npy`.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "cli/execution.h"
#include "diagrams/diagram.h"

namespace napkin::cli {

struct NamedFile {
    ArrayId array;
    std::string path;
};

/// `Q=q.npy` as its two halves, the first one of the arrays with these roles.
[[nodiscard]] Result<std::vector<NamedFile>> named_files(const Diagram& diagram,
                                                         const std::string& option,
                                                         const std::vector<std::string>& texts,
                                                         std::initializer_list<ArrayRole> roles);

/// The inputs that `--input` gives, of their types and sizes, and no others.
[[nodiscard]] Result<Tensors> read_inputs(const Arguments& arguments, const Diagram& diagram);

/// Runs what was derived with the inputs that `--input` gives, the others random; as
/// execute_random where it gives none.
[[nodiscard]] Result<RunReport> execute_given(Context& context, const Loaded& loaded,
                                              const ExecutionOptions& options);

}  // namespace napkin::cli
