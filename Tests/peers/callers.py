#!/usr/bin/env python3
"""Many callers, each with a token of its own, over a few connections.

    callers.py PORT TOKENS PASSES CONNECTIONS [SHUFFLE]

TOKENS is a file with a line `TOKEN DIGEST` for each caller. Each pass sends one request of each caller to /api/x, in an
order drawn anew, and meanwhile an honest caller (the first line) sends one request after the other. Prints one JSON
object: how often each status came, and the honest caller's median and longest time in seconds.
"""

import asyncio
import json
import random
import statistics
import sys
import time


class Connection:
    async def open(self, port):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", port)
        return self

    async def get(self, token, digest):
        self.writer.write((
            "GET /api/x HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\nX-Caller: %s\r\n\r\n"
            % (token, digest)).encode())
        head = await self.reader.readuntil(b"\r\n\r\n")
        length = next((int(line.split(b":")[1]) for line in head.split(b"\r\n")
                       if line.lower().startswith(b"content-length:")), 0)
        await self.reader.readexactly(length)
        return head.split(b" ")[1].decode()


async def main(port, path, passes, connections):
    with open(path, encoding="ascii") as file:
        callers = [line.split() for line in file]
    counts, times, busy = {}, [], True

    async def honest():
        connection = await Connection().open(port)
        while busy:
            start = time.monotonic()
            status = await connection.get(*callers[0])
            times.append(time.monotonic() - start)
            counts[status] = counts.get(status, 0) + 1
            await asyncio.sleep(0.005)

    async def work(queue):
        connection = await Connection().open(port)
        while queue:
            status = await connection.get(*queue.pop())
            counts[status] = counts.get(status, 0) + 1

    task = asyncio.create_task(honest())
    for _ in range(passes):
        queue = callers[:]
        random.shuffle(queue)
        await asyncio.gather(*(work(queue) for _ in range(connections)))
    busy = False
    await task
    print(json.dumps({"statuses": counts, "median": statistics.median(times), "longest": max(times)}))


asyncio.run(main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
