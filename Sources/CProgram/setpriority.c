#include "CProgram.h"

// A `setpriority` that changes nothing. In a program that links this module it takes the place of the C library's.
// Dispatch calls it for each thread that it starts, and nothing else does: to give the thread nice 0, or less for its
// quality of service, whatever the process was started with. If a filter of system calls or the lack of a right forbids
// that, Dispatch writes a line to the system's log. Without the call a thread keeps the nice value that it inherits.
int setpriority(int kind, unsigned thread, int nice) {
  (void)kind, (void)thread, (void)nice;
  return 0;
}
