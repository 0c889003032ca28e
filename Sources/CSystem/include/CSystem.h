// What Linux offers an event loop and Swift's Glibc module does not export: epoll, eventfd, timerfd, accept4.
#ifndef CSYSTEM_H
#define CSYSTEM_H

#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <sys/un.h>

#endif
