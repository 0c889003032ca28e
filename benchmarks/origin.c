// The origin of the benchmarks: answers GET /NAME with a body of the size that NAME asks for, from memory, one thread.
// A request without `Authorization: Bearer` gets 401, so that a run also proves the token was injected; under /open/
// none is asked for. Reads no request bodies and is no HTTP server otherwise.
// Usage: origin; prints `listening PORT`.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

struct answer { const char *name; size_t body; char *bytes; size_t length; };
static struct answer answers[] = {{"1k", 1 << 10, 0, 0}, {"64k", 64 << 10, 0, 0}, {"1m", 1 << 20, 0, 0}};
static struct answer refused, unknown;

struct connection {
  int fd;
  char in[16384];
  size_t held;
  const struct answer *out;  // the answer being sent, or 0
  size_t sent;
};

static void render(struct answer *a, const char *status, size_t body) {
  char head[256];
  int n = snprintf(
    head, sizeof head, "HTTP/1.1 %s\r\nContent-Type: application/octet-stream\r\nContent-Length: %zu\r\n\r\n", status,
    body);
  a->length = (size_t)n + body;
  a->bytes = malloc(a->length);
  memcpy(a->bytes, head, (size_t)n);
  memset(a->bytes + n, 'x', body);
}

static const struct answer *judge(const char *head, size_t length) {
  const char *path = memchr(head, '/', length);
  if (!path) return &unknown;
  path++;
  int open = strncmp(path, "open/", 5) == 0;
  if (open) path += 5;
  else if (!strcasestr(head, "\nauthorization: bearer ")) return &refused;
  for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
    size_t n = strlen(answers[i].name);
    if (strncmp(path, answers[i].name, n) == 0 && path[n] == ' ') return &answers[i];
  }
  return &unknown;
}

// Sends what is due and answers what is whole; 0 while the connection lives.
static int serve(struct connection *c) {
  for (;;) {
    while (c->out) {
      ssize_t n = send(c->fd, c->out->bytes + c->sent, c->out->length - c->sent, MSG_NOSIGNAL);
      if (n < 0) return errno == EAGAIN ? 0 : -1;
      c->sent += (size_t)n;
      if (c->sent == c->out->length) c->out = 0;
    }
    char *end = c->held ? memmem(c->in, c->held, "\r\n\r\n", 4) : 0;
    if (end) {
      end[2] = 0;
      c->out = judge(c->in, (size_t)(end - c->in));
      c->sent = 0;
      size_t used = (size_t)(end + 4 - c->in);
      memmove(c->in, c->in + used, c->held - used);
      c->held -= used;
      continue;
    }
    if (c->held == sizeof c->in) return -1;
    ssize_t n = recv(c->fd, c->in + c->held, sizeof c->in - c->held, 0);
    if (n == 0) return -1;
    if (n < 0) return errno == EAGAIN ? 0 : -1;
    c->held += (size_t)n;
  }
}

int main(void) {
  for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) render(&answers[i], "200 OK", answers[i].body);
  render(&refused, "401 Unauthorized", 0);
  render(&unknown, "404 Not Found", 0);
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 1024)) { perror("origin"); return 1; }
  getsockname(listener, (struct sockaddr *)&address, &size);
  printf("listening %d\n", ntohs(address.sin_port));
  fflush(stdout);
  int set = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN};
  epoll_ctl(set, EPOLL_CTL_ADD, listener, &event);
  for (;;) {
    struct epoll_event ready[256];
    int n = epoll_wait(set, ready, 256, -1);
    for (int i = 0; i < n; i++) {
      struct connection *c = ready[i].data.ptr;
      if (c) {
        if (serve(c)) { close(c->fd); free(c); }
        continue;
      }
      int fd;
      while ((fd = accept4(listener, 0, 0, SOCK_NONBLOCK)) >= 0) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
        c = calloc(1, sizeof *c);
        c->fd = fd;
        event = (struct epoll_event){.events = EPOLLIN | EPOLLOUT | EPOLLET | EPOLLRDHUP, .data.ptr = c};
        epoll_ctl(set, EPOLL_CTL_ADD, fd, &event);
      }
    }
  }
}
