// The floor of the benchmarks: what a proxy costs that looks at nothing. One thread, one epoll set, each downstream
// connection paired with one upstream connection for as long as it lives; bytes are received into one buffer and sent
// on. Adds no token and parses nothing: no proxy that copies can be cheaper.
// Usage: floor UPSTREAM-PORT; prints `listening PORT`.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BUFFER = 65536 };

// One side of a pair. `pending` holds what was received here and could not yet be sent to the other side.
struct side {
  int fd;
  struct side *other;
  char *pending;
  size_t start, end;
  int gone;
};

static char shared[BUFFER];

// Moves bytes from one side to the other until either would block; 0 while the pair lives. A short read emptied the
// socket and the next edge tells of more, unless the edge that told of the end is this one (`ended`).
static int move(struct side *from, int ended) {
  struct side *to = from->other;
  for (;;) {
    while (from->start < from->end) {
      ssize_t n = send(to->fd, from->pending + from->start, from->end - from->start, MSG_NOSIGNAL);
      if (n < 0) return errno == EAGAIN ? 0 : -1;
      from->start += (size_t)n;
    }
    ssize_t n = recv(from->fd, shared, BUFFER, 0);
    if (n == 0) return -1;
    if (n < 0) return errno == EAGAIN ? 0 : -1;
    ssize_t sent = send(to->fd, shared, (size_t)n, MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno != EAGAIN) return -1;
      sent = 0;
    }
    if (sent < n) {
      if (!from->pending) from->pending = malloc(BUFFER);
      from->start = 0;
      from->end = (size_t)(n - sent);
      memcpy(from->pending, shared + sent, from->end);
    } else if (n < BUFFER && !ended) {
      return 0;
    }
  }
}

static void watch(int set, struct side *side) {
  struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = side};
  setsockopt(side->fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
  epoll_ctl(set, EPOLL_CTL_ADD, side->fd, &event);
}

int main(int argc, char **argv) {
  if (argc != 2) { fprintf(stderr, "usage: floor UPSTREAM-PORT\n"); return 2; }
  struct sockaddr_in upstream = {
    .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 1024)) { perror("floor"); return 1; }
  getsockname(listener, (struct sockaddr *)&address, &size);
  printf("listening %d\n", ntohs(address.sin_port));
  fflush(stdout);
  int set = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN};
  epoll_ctl(set, EPOLL_CTL_ADD, listener, &event);
  for (;;) {
    struct epoll_event ready[256];
    struct side *dead[256];
    int n = epoll_wait(set, ready, 256, -1), gone = 0;
    for (int i = 0; i < n; i++) {
      struct side *side = ready[i].data.ptr;
      if (!side) {
        int fd;
        while ((fd = accept4(listener, 0, 0, SOCK_NONBLOCK)) >= 0) {
          int up = socket(AF_INET, SOCK_STREAM, 0);
          if (connect(up, (struct sockaddr *)&upstream, sizeof upstream)) { close(up); close(fd); continue; }
          struct side *pair = calloc(2, sizeof *pair);
          pair[0] = (struct side){.fd = fd, .other = &pair[1]};
          pair[1] = (struct side){.fd = up, .other = &pair[0]};
          // Loopback connects at once; from here on nothing blocks.
          fcntl(up, F_SETFL, O_NONBLOCK);
          watch(set, &pair[0]);
          watch(set, &pair[1]);
        }
        continue;
      }
      if (side->gone) continue;
      int broken = 0;
      unsigned ended = ready[i].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR);
      if (ended || ready[i].events & EPOLLIN) broken = move(side, ended != 0);
      if (!broken && (ready[i].events & EPOLLOUT) && side->other->start < side->other->end)
        broken = move(side->other, 1);
      if (broken) {
        side->gone = side->other->gone = 1;
        dead[gone++] = side;
      }
    }
    // Freed only after the batch: a later event of it may name either side.
    for (int i = 0; i < gone; i++) {
      struct side *a = dead[i], *b = a->other;
      close(a->fd);
      close(b->fd);
      free(a->pending);
      free(b->pending);
      free(a < b ? a : b);
    }
  }
}
