#define _GNU_SOURCE
#include "CSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <malloc.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

_Static_assert(sizeof(struct csystem_event) == sizeof(struct epoll_event), "the kernel's layout");
_Static_assert(offsetof(struct csystem_event, word) == offsetof(struct epoll_event, data), "the kernel's layout");

static uint64_t nanoseconds(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

uint64_t csystem_monotonic_time(void) { return nanoseconds(CLOCK_MONOTONIC); }
uint64_t csystem_wall_time(void) { return nanoseconds(CLOCK_REALTIME); }

// By the plain system calls: glibc's functions are cancellation points, which in a process with several threads cost
// two atomic operations each, 2 % of a request's user time.
int64_t csystem_receive(int descriptor, void *bytes, uint64_t count) {
  return syscall(SYS_recvfrom, descriptor, bytes, count, 0, NULL, NULL);
}

int64_t csystem_send(int descriptor, const void *bytes, uint64_t count) {
  return syscall(SYS_sendto, descriptor, bytes, count, MSG_NOSIGNAL, NULL, 0);
}

int csystem_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

int csystem_epoll_add(int epoll, int descriptor, uint32_t events, uint64_t word) {
  struct epoll_event event = {.events = events, .data.u64 = word};
  return epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
}

int csystem_epoll_wait(int epoll, struct csystem_event *events, int count, int milliseconds) {
  return epoll_wait(epoll, (struct epoll_event *)events, count, milliseconds);
}

int csystem_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

int csystem_timerfd(void) { return timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK); }

int csystem_timerfd_set(int timer, uint64_t nanoseconds) {
  struct itimerspec setting = {
      .it_value = {.tv_sec = (time_t)(nanoseconds / 1000000000u), .tv_nsec = (long)(nanoseconds % 1000000000u)}};
  return timerfd_settime(timer, TFD_TIMER_ABSTIME, &setting, NULL);
}

int csystem_accept(int listener, void *address, uint32_t *length) {
  socklen_t size = *length;
  int accepted = accept4(listener, address, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
  *length = size;
  return accepted;
}

int csystem_refuse_connection_requests(int listener) {
  // Bound to a network interface that does not exist, the listener matches no request for a connection, and the kernel
  // refuses it. Handshakes under way go on: each has an entry of its own. A socket without an interface may be bound by
  // anyone since Linux 5.7.
  int nowhere = INT_MAX;
  int refuses = setsockopt(listener, SOL_SOCKET, SO_BINDTOIFINDEX, &nowhere, sizeof nowhere) == 0;
  // Among several listeners of one address the kernel may choose this one all the same. What it is chosen for is
  // dropped then, and comes again a second later. Kernels that keep filters for the privileged leave that out.
  //
  // The filter sees a segment from its TCP header on (tcp(7), packet(7)). Byte 13 holds the flags: a SYN without an ACK
  // asks for a connection. Everything else passes, the last step of handshakes under way too.
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 13),
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x12),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x02, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, 0),
      BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
  };
  struct sock_fprog program = {.len = sizeof code / sizeof *code, .filter = code};
  int drops = setsockopt(listener, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0;
  return refuses || drops ? 0 : -1;
}

int csystem_peer_credentials(int socket, uint32_t *user, uint32_t *group, int32_t *process) {
  struct ucred credentials;
  socklen_t size = sizeof credentials;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return -1;
  *user = credentials.uid;
  *group = credentials.gid;
  *process = credentials.pid;
  return 0;
}

int csystem_processor_count(void) {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

void csystem_release_text_pages(void) {
  FILE *maps = fopen("/proc/self/maps", "re");
  if (maps == NULL) return;
  char line[512];
  while (fgets(line, sizeof line, maps) != NULL) {
    unsigned long start, end;
    char permissions[5];
    // Readable, executable, not writable, and behind it a path: never the pages that relocation has written to.
    if (sscanf(line, "%lx-%lx %4s", &start, &end, permissions) != 3) continue;
    if (permissions[0] != 'r' || permissions[1] != '-' || permissions[2] != 'x') continue;
    char *path = line;
    while (*path != '\0' && *path != '/') path++;
    if (*path == '/') madvise((void *)start, end - start, MADV_DONTNEED);
  }
  fclose(maps);
}

void csystem_trim_heap(void) { malloc_trim(0); }

int csystem_forbid_dumps(void) {
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

// Landlock's structures and numbers (landlock(7)). Debian 12's headers do not have all of them, and the running kernel
// decides.
struct landlock_ruleset {
  uint64_t filesystem;
};
struct landlock_beneath {
  uint64_t access;
  int32_t directory;
} __attribute__((packed));
enum { landlock_create = 444, landlock_add = 445, landlock_restrict = 446, landlock_beneath_rule = 1 };
enum : uint64_t {
  landlock_execute = 1 << 0,
  landlock_write = 1 << 1,
  // Bits 4 to 12: removing and making of every kind.
  landlock_change = 0x1FF0,
  landlock_refer = 1 << 13,
  landlock_truncate = 1 << 14,
};

// Allows `access` below a path. What is not there now is left out; who needs it says so later.
static int allow_beneath(int ruleset, const char *path, int flags, uint64_t access) {
  int place = open(path, O_PATH | flags | O_CLOEXEC);
  if (place < 0) return 0;
  struct landlock_beneath rule = {.access = access, .directory = place};
  int result = (int)syscall(landlock_add, ruleset, landlock_beneath_rule, &rule, 0);
  close(place);
  return result;
}

void csystem_inherit_no_descriptors(void) {
  enum { close_range_number = 436, mark_close_on_exec = 4 };
  syscall(close_range_number, 3, ~0u, mark_close_on_exec);
}

int csystem_pipe(int32_t ends[2]) { return pipe2(ends, O_CLOEXEC); }

int csystem_confine(const char *const *directories, int count, const char *const *programs, int program_count) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  long version = syscall(landlock_create, NULL, 0, 1);
  if (version < 1) return 0;
  uint64_t changes = landlock_write | landlock_change;
  if (version >= 2) changes |= landlock_refer;
  if (version >= 3) changes |= landlock_truncate;
  struct landlock_ruleset ruleset = {.filesystem = changes | landlock_execute};
  int descriptor = (int)syscall(landlock_create, &ruleset, sizeof ruleset, 0);
  if (descriptor < 0) return -1;
  int result = 0;
  for (int index = 0; index < count && result == 0; index++) {
    result = allow_beneath(descriptor, directories[index], O_DIRECTORY, changes);
  }
  for (int index = 0; index < program_count && result == 0; index++) {
    result = allow_beneath(descriptor, programs[index], 0, landlock_execute);
  }
  if (program_count > 0 && result == 0) {
    // Scripts write there what they do not want.
    uint64_t discard = landlock_write | (version >= 3 ? landlock_truncate : 0);
    result = allow_beneath(descriptor, "/dev/null", 0, discard);
  }
  if (result == 0) result = (int)syscall(landlock_restrict, descriptor, 0);
  int number = errno;
  close(descriptor);
  errno = number;
  return result == 0 ? (int)version : -1;
}

// capabilities(7). The library for this is one more than is needed for two calls.
struct capability_header {
  uint32_t version;
  int32_t process;
};
struct capability_words {
  uint32_t effective, permitted, inheritable;
};
enum { capability_version_3 = 0x20080522 };

int64_t csystem_keep_capabilities(uint64_t kept) {
  // First, while this may still be allowed: without CAP_SETPCAP there is nothing that a program could give back either,
  // for none is run.
  for (int number = 0; number < 64; number++) {
    if ((kept >> number & 1) != 0) continue;
    prctl(PR_CAPBSET_DROP, number, 0, 0, 0);
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_LOWER, number, 0, 0);
  }
  struct capability_header header = {.version = capability_version_3};
  struct capability_words words[2] = {{0}, {0}};
  if (syscall(SYS_capget, &header, words) != 0) return -1;
  uint64_t left = 0;
  int changes = 0;
  for (int half = 0; half < 2; half++) {
    uint32_t mask = (uint32_t)(kept >> (32 * half));
    changes |= ((words[half].permitted | words[half].effective | words[half].inheritable) & ~mask) != 0;
    words[half].permitted &= mask;
    words[half].effective &= mask;
    words[half].inheritable &= mask;
    left |= (uint64_t)words[half].permitted << (32 * half);
  }
  // If there is nothing to give up, a filter of system calls may well forbid to ask.
  if (changes && syscall(SYS_capset, &header, words) != 0) return -1;
  return (int64_t)left;
}

int csystem_unnamed_file(int directory) { return openat(directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600); }

int csystem_name_file(int file, int directory, const char *name) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  return linkat(AT_FDCWD, path, directory, name, AT_SYMLINK_FOLLOW);
}

int csystem_try_lock_byte(int file, int64_t offset) {
  struct flock region = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = offset, .l_len = 1};
  return fcntl(file, F_OFD_SETLK, &region);
}

int csystem_set_modified(int file, int64_t seconds, uint32_t nanoseconds) {
  struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = (time_t)seconds, .tv_nsec = (long)nanoseconds}};
  return futimens(file, times);
}

int csystem_is_remote(int directory) {
  struct statfs system;
  if (fstatfs(directory, &system) != 0) return 0;
  switch ((uint32_t)system.f_type) {
    case 0x6969:      // NFS
    case 0xff534d42:  // CIFS
    case 0xfe534d42:  // SMB2
    case 0x517b:      // SMB
    case 0x65735546:  // FUSE
    case 0x01021997:  // 9P
    case 0x00c36400:  // Ceph
      return 1;
    default: return 0;
  }
}

#ifdef __GLIBC__
static char *const *argument_words;
static int argument_count;

// glibc hands main's arguments to constructors, too.
__attribute__((constructor)) static void keep_arguments(int count, char **words) {
  argument_count = count;
  argument_words = words;
}

char *const *csystem_arguments(int *count) {
  *count = argument_count;
  return argument_words;
}
#else
char *const *csystem_arguments(int *count) {
  *count = 0;
  return NULL;
}
#endif

uint64_t csystem_file_system_type(const char *path) {
  struct statfs status;
  return statfs(path, &status) == 0 ? (uint64_t)(uint32_t)status.f_type : 0;
}
