// Counts heap allocations of the process it is preloaded into. The count lies in the file that ALLOCATIONS names (8
// bytes of count, 8 bytes that a reader sets non-zero to have each allocation's call stack written to standard error),
// so a script reads it at any moment without the process taking part. Allocations by the code between the two offsets
// in the program that NOT_COUNTED names are counted apart, in 8 bytes more.
#define _GNU_SOURCE
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

struct shared { _Atomic unsigned long count, trace, apart; };
static struct shared before_start;
static struct shared *shared = &before_start;
static _Thread_local int tracing;
static uintptr_t apart_from, apart_to;

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

__attribute__((constructor)) static void map(void) {
  const char *path = getenv("ALLOCATIONS");
  int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
  if (fd < 0) return;
  void *at = mmap(0, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at != MAP_FAILED) shared = at;
  close(fd);
  const char *range = getenv("NOT_COUNTED");
  // The program's headers lie behind its ELF header, which is 64 bytes long.
  uintptr_t program = getauxval(AT_PHDR) - 64;
  if (range && sscanf(range, "%lx-%lx", &apart_from, &apart_to) == 2) apart_from += program, apart_to += program;
}

#define COUNT count(__builtin_return_address(0))

static void count(void *caller) {
  if ((uintptr_t)caller - apart_from < apart_to - apart_from) {
    atomic_fetch_add_explicit(&shared->apart, 1, memory_order_relaxed);
    return;
  }
  atomic_fetch_add_explicit(&shared->count, 1, memory_order_relaxed);
  if (!atomic_load_explicit(&shared->trace, memory_order_relaxed) || tracing) return;
  tracing = 1;
  void *frames[24];
  int n = backtrace(frames, 24);
  backtrace_symbols_fd(frames, n, 2);
  if (write(2, "--\n", 3) < 0) {}
  tracing = 0;
}

void *malloc(size_t size) { COUNT; return __libc_malloc(size); }
void *calloc(size_t n, size_t size) { COUNT; return __libc_calloc(n, size); }
void *realloc(void *at, size_t size) { COUNT; return __libc_realloc(at, size); }
void *memalign(size_t alignment, size_t size) { COUNT; return __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { COUNT; return __libc_memalign(alignment, size); }
int posix_memalign(void **at, size_t alignment, size_t size) {
  COUNT;
  *at = __libc_memalign(alignment, size);
  return *at ? 0 : ENOMEM;
}
