#include "CPriority.h"

int setpriority(int kind, unsigned thread, int nice) {
  (void)kind, (void)thread, (void)nice;
  return 0;
}
