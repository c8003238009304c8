#pragma once

#include <filesystem>
#include <string_view>

namespace che {

// Makes the process' surroundings what the commands expect:
// - Descriptors 0 to 2 that are closed are opened, so that no file of a results folder becomes one of them
//   and takes up the output. Writing to such a standard output fails; such a standard error takes everything.
// - A reader that closes its pipe (`che table DIR | head -1`) ends no process.
// Throws Error where the working directory is gone, without which LibTorch's libraries do not load.
void set_up_process();

// Throws Error (runtime) when standard output did not take all that was printed. A reader that has closed its
// pipe had all that it wanted.
void check_output_was_written();

// The program of that name, "che" or "che-compute", in the folder of this one.
std::filesystem::path program_file(std::string_view name);

// che-compute. Throws Error that says what to do where it is missing, was built from another commit or is a
// copy of che.
std::filesystem::path compute_program();

}  // namespace che
