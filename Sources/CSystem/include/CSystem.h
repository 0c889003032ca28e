// What Linux offers and Swift's Glibc module does not export: for event loops epoll, eventfd, timerfd, accept4 and peer
// credentials, for shared files locks that end with a descriptor, and files without a name. Only types of <stdint.h>
// cross this header, so that it never disagrees with Glibc's own.
#ifndef CSYSTEM_H
#define CSYSTEM_H

#include <stdint.h>

/// The kernel's `struct epoll_event`, which is packed on x86-64 only.
struct csystem_event {
  uint32_t events;
  uint64_t word;
}
#ifdef __x86_64__
__attribute__((packed))
#endif
;

enum : uint32_t {
  CSYSTEM_IN = 0x001,
  CSYSTEM_OUT = 0x004,
  CSYSTEM_ERR = 0x008,
  CSYSTEM_HUP = 0x010,
  CSYSTEM_RDHUP = 0x2000,
  CSYSTEM_EXCLUSIVE = 1u << 28,
  CSYSTEM_EDGE = 1u << 31,
};

/// Each returns -1 with errno on failure. New descriptors are non-blocking and close on exec.
int csystem_epoll_create(void);
int csystem_epoll_add(int epoll, int descriptor, uint32_t events, uint64_t word);
int csystem_epoll_wait(int epoll, struct csystem_event *events, int count, int milliseconds);
/// Receive and send without SIGPIPE.
int64_t csystem_receive(int descriptor, void *bytes, uint64_t count);
int64_t csystem_send(int descriptor, const void *bytes, uint64_t count);
int csystem_eventfd(void);
int csystem_timerfd(void);
/// Arms the timer for an instant of the monotonic clock; 0 disarms.
int csystem_timerfd_set(int timer, uint64_t nanoseconds);
/// Accepts a connection; the peer's address goes to `address`, at most `*length` bytes.
int csystem_accept(int listener, void *address, uint32_t *length);
/// Has the kernel refuse requests for new TCP connections from now on; those that it has answered already still arrive
/// in the queue. 0, or -1 if the kernel has no means.
int csystem_refuse_connection_requests(int listener);
/// Nanoseconds of the monotonic clock, and since 1970. Not read in Swift: which module defines `struct timespec`
/// depends there on the order in which the compiler comes across them.
uint64_t csystem_monotonic_time(void);
uint64_t csystem_wall_time(void);
/// The process at the other end of a unix socket.
int csystem_peer_credentials(int socket, uint32_t *user, uint32_t *group, int32_t *process);
/// The words that this process was started with, as the C library got them; `*count` is their number. The standard
/// library reads them from /proc, which a container may lack. NULL if the C library does not hand them out.
char *const *csystem_arguments(int *count);
/// Processors this process may run on; 0 if the system does not tell.
int csystem_processor_count(void);
/// The type of the file system at a path (statfs(2)); 0 if it cannot be found.
uint64_t csystem_file_system_type(const char *path);
/// Gives the pages of program text back to the page cache; what is still needed returns at a minor fault each. Text is
/// clean and mapped from files, so nothing can be lost.
void csystem_release_text_pages(void);
/// Gives free heap back to the system.
void csystem_trim_heap(void);

/// Forbids core files and other processes of the same user to read this one's memory; 0, or -1 with errno.
int csystem_forbid_dumps(void);
/// From now on neither this thread nor those it starts may gain privileges, change files outside `directories`, or run
/// programs other than `programs` and those below them (absolute paths). If there are some, these may write to
/// /dev/null, too. Returns the Landlock version in force, 0 if the kernel has none, -1 with errno.
int csystem_confine(const char *const *directories, int count, const char *const *programs, int program_count);

/// Has programs that this process starts inherit no descriptor but the first three, of those that are open now. A
/// kernel before 5.11 cannot.
void csystem_inherit_no_descriptors(void);

/// A pipe whose ends no program inherits: the end to read from, then the one to write to; 0, or -1 with errno.
int csystem_pipe(int32_t ends[2]);

/// Gives up every capability that has no bit in `kept`: of this thread and those it starts, and of the bounding set, so
/// that none comes back. Returns the bits of those that are left, or -1 with errno.
int64_t csystem_keep_capabilities(uint64_t kept);

/// Creates an empty file, mode 0600, that has no name in the directory yet.
int csystem_unnamed_file(int directory);
/// Gives such a file its name; fails with EEXIST if there is one.
int csystem_name_file(int file, int directory, const char *name);
/// Tries to lock one byte of a file for this open descriptor (not for the process, as POSIX locks are).
int csystem_try_lock_byte(int file, int64_t offset);
/// Sets the time of the last writing, and leaves that of the last reading.
int csystem_set_modified(int file, int64_t seconds, uint32_t nanoseconds);
/// Whether a directory is on a file system that other machines write too, so that inotify does not tell everything.
int csystem_is_remote(int directory);

#endif
