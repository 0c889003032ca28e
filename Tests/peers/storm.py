#!/usr/bin/env python3
"""Callers at one instant: opens all connections first, then sends a request on each of them at once.

    storm.py PATH REQUESTS PORT...

REQUESTS go to each PORT of 127.0.0.1. Prints a JSON object: `seconds` from the first request to the end of the last answer,
and `statuses`, how often each came. Only the standard library is used, so that tests and benchmarks may run it.
"""

import collections
import json
import selectors
import socket
import sys
import time


def main():
    path, count, ports = sys.argv[1], int(sys.argv[2]), [int(port) for port in sys.argv[3:]]
    request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()
    # In turn, so that all processes hear of it at the same time.
    callers = [socket.create_connection(("127.0.0.1", port), 30) for _ in range(count) for port in ports]
    began = time.monotonic()
    for caller in callers:
        caller.sendall(request)
    statuses = collections.Counter()
    with selectors.DefaultSelector() as waiting:
        for caller in callers:
            waiting.register(caller, selectors.EVENT_READ, bytearray())
        while waiting.get_map():
            ready = waiting.select(60)
            if not ready:
                sys.exit(f"{len(waiting.get_map())} callers got no answer within a minute")
            for key, _ in ready:
                data = key.fileobj.recv(65536)
                key.data.extend(data)
                if not data:
                    statuses[key.data[9:12].decode() or "none"] += 1
                    waiting.unregister(key.fileobj)
                    key.fileobj.close()
    print(json.dumps({"seconds": round(time.monotonic() - began, 3), "statuses": statuses}))


if __name__ == "__main__":
    main()
