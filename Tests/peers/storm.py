#!/usr/bin/env python3
"""Callers at one instant: opens all connections first, then sends a request on each of them at once.

    storm.py PATH[,PATH...] REQUESTS PORT...

REQUESTS go to each PORT of 127.0.0.1, to the paths in turn. Prints a JSON object: `seconds` from the first request to
the end of the last answer, `statuses`, how often each came, and `bodies`, how often each path got which content (its
first 64 bytes). Only the standard library is used, so that tests and benchmarks may run it.
"""

import collections
import json
import selectors
import socket
import sys
import time


def main():
    paths, count, ports = sys.argv[1].split(","), int(sys.argv[2]), [int(port) for port in sys.argv[3:]]
    # In turn, so that all processes hear of it at the same time.
    callers = [socket.create_connection(("127.0.0.1", port), 30) for _ in range(count) for port in ports]
    began = time.monotonic()
    asked = {}
    for number, caller in enumerate(callers):
        asked[caller] = paths[number % len(paths)]
        caller.sendall(f"GET {asked[caller]} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
    statuses, bodies = collections.Counter(), collections.Counter()
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
                    body = bytes(key.data).partition(b"\r\n\r\n")[2][:64].decode(errors="replace")
                    bodies[asked[key.fileobj] + " " + body] += 1
                    waiting.unregister(key.fileobj)
                    key.fileobj.close()
    print(json.dumps({"seconds": round(time.monotonic() - began, 3), "statuses": statuses, "bodies": bodies}))


if __name__ == "__main__":
    main()
