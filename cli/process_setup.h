#pragma once

namespace che {

// Makes the process' surroundings what the commands expect:
// - Descriptors 0 to 2 that are closed are opened, so that no file of a results folder becomes one of them
// and takes
//   up what is printed. Writing to such a standard output fails; such a standard error takes everything.
// - A reader that closes its pipe (`che table DIR | head -1`) ends no process.
// Before that, and before shared libraries are initialised, a process ends with a message when its working
// directory is gone, or when there is too little memory to load them.
void set_up_process();

// Throws Error (runtime) when standard output did not take all that was printed. A reader that has closed its
// pipe had all that it wanted.
void check_output_was_written();

}  // namespace che
