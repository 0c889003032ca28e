"""Callers that want to wear the proxy out, all at once, and one honest caller beside them.

    flood.py PORT KIND COUNT [--path PREFIX] [--hold SECONDS]

Opens COUNT connections that do what KIND says until the proxy ends them, or for SECONDS at most. Meanwhile another
process asks for PREFIXbytes/1 on a fresh connection every 20 ms. Prints one JSON object:

    answers   how many connections got which status first ("none": the end of the connection and no answer)
    ended     connections that the proxy ended; longest: seconds until the last of them
    probes    honest requests; failed: those without their answer; slowest: seconds that the slowest took; repeated: how
              many were sent again, twice at most, because the connection ended before a byte of an answer, as a new one
              may in a flood
"""

import argparse
import asyncio
import collections
import json
import multiprocessing
import resource
import socket
import time

HOST = b"Host: 127.0.0.1\r\n"
CHUNKED = b"POST %ssink HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n"

# What is sent first, what again and again, and after how many seconds each time.
KINDS = {
    "none": (b"", b"", 0),  # Nobody but the honest caller, for SECONDS.
    "idle": (b"", b"", 0),
    "slow-head": (b"GET %sseen HTTP/1.1\r\n" + HOST, b"X-Slow: b\r\n", 0.1),
    "half-open": (b"GET %sseen HTTP/1.1\r\nHo", b"", 0),
    "slow-body": (b"POST %ssink HTTP/1.1\r\n" + HOST + b"Content-Length: 100000\r\n\r\n", b"x", 0.1),
    "stopped-body": (b"POST %ssink HTTP/1.1\r\n" + HOST + b"Content-Length: 100000\r\n\r\nx", b"", 0),
    "slow-chunks": (CHUNKED, b"1\r\nx\r\n", 0.1),
    "slow-trailers": (CHUNKED + b"0\r\n", b"X: y\r\n", 0.1),
    "huge-head": (b"GET %sseen HTTP/1.1\r\n" + HOST + b"X-Huge: ", b"y" * 4096, 0),
    "many-fields": (b"GET %sseen HTTP/1.1\r\n" + HOST, b"X-Many: y\r\n" * 64, 0),
    "long-target": (b"GET %s", b"y" * 4096, 0),
    "endless-body": (CHUNKED, b"10000\r\n" + b"x" * 65536 + b"\r\n", 0),
    "endless-trailers": (CHUNKED + b"0\r\n", b"X-Endless: y\r\n" * 64, 0),
    "endless-extension": (CHUNKED + b"5;", b"a" * 4096, 0),
    "slow-reader": (b"GET %sbytes/100000000 HTTP/1.1\r\n" + HOST + b"\r\n", b"", 0),
    "no-reader": (b"GET %sbytes/100000000 HTTP/1.1\r\n" + HOST + b"\r\n", b"", 0),
    "silent-upstream": (b"GET %sslow/60 HTTP/1.1\r\n" + HOST + b"\r\n", b"", 0),
    "get": (b"GET %sslow/2 HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n", b"", 0),
    "pipeline": (b"", b"GET /nowhere HTTP/1.1\r\n" + HOST + b"\r\n", 0),
}

# Those who take their time with answers: bytes in each tenth of a second.
READERS = {"slow-reader": 40000, "no-reader": 0}
ESTABLISHED = 1


def probe(port, prefix, stop, results):
    """An honest caller in a process of its own, so that what it measures is the proxy and not the flood."""
    count = failed = repeated = 0
    slowest = 0.0
    while not stop.is_set():
        began = time.monotonic()
        answer = b""
        for attempt in range(3):
            repeated += attempt > 0
            try:
                with socket.create_connection(("127.0.0.1", port), timeout=20) as s:
                    s.sendall(b"GET " + prefix + b"bytes/1 HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
                    while piece := s.recv(4096):
                        answer += piece
            except ConnectionError:
                pass
            except OSError:
                break
            if answer:
                break
        failed += not (answer.startswith(b"HTTP/1.1 200 ") and answer.endswith(b"\r\n\r\nx"))
        count += 1
        slowest = max(slowest, time.monotonic() - began)
        stop.wait(0.02)
    results.put({"probes": count, "failed": failed, "repeated": repeated, "slowest": round(slowest, 3)})


async def drip(loop, s, first, again, pause, until):
    try:
        await loop.sock_sendall(s, first)
        while again and time.monotonic() < until:
            # Even without a pause the other connections have their turn: one that sends nothing ends as an idle one.
            await asyncio.sleep(pause)
            await loop.sock_sendall(s, again)
    except OSError:
        pass  # The proxy has had enough: the reader knows how it said so.


async def listen(loop, s, kind):
    """The status of the first answer, once the proxy ends the connection."""
    answer = b""
    try:
        while True:
            if kind in READERS:
                # What has come can be read when the connection is over, too: its state is what tells.
                await asyncio.sleep(0.1)
                if s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] != ESTABLISHED:
                    break
                if READERS[kind] == 0:
                    continue
            piece = await loop.sock_recv(s, READERS.get(kind, 65536))
            if not piece:
                break
            if len(answer) < 64:
                answer += piece
    except OSError:
        pass
    return answer[9:12].decode() if answer.startswith(b"HTTP/1.1 ") else "none"


async def attack(loop, options, results, began):
    first, again, pause = KINDS[options.kind]
    prefix = options.path.encode()
    s = socket.socket()
    s.setblocking(False)
    if options.kind in READERS:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    try:
        await loop.sock_connect(s, ("127.0.0.1", options.port))
        sending = asyncio.create_task(
            drip(loop, s, first % prefix if b"%s" in first else first, again, pause, began + options.hold))
        try:
            status = await asyncio.wait_for(listen(loop, s, options.kind), began + options.hold - time.monotonic())
            results["answers"][status] += 1
            results["ended"] += 1
            results["longest"] = round(max(results["longest"], time.monotonic() - began), 3)
        except asyncio.TimeoutError:
            pass
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
    finally:
        s.close()


async def flood(options):
    loop = asyncio.get_running_loop()
    results = {"answers": collections.Counter(), "ended": 0, "longest": 0.0}
    began = time.monotonic()
    await asyncio.gather(*(attack(loop, options, results, began) for _ in range(options.count)))
    if options.kind == "none":
        await asyncio.sleep(options.hold)
    return results


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("count", type=int)
    parser.add_argument("--path", default="/")
    parser.add_argument("--hold", type=float, default=15)
    options = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    stop, queue = multiprocessing.Event(), multiprocessing.Queue()
    honest = multiprocessing.Process(target=probe, args=(options.port, options.path.encode(), stop, queue))
    honest.start()
    results = asyncio.run(flood(options))
    stop.set()
    results.update(queue.get(timeout=30))
    honest.join()
    print(json.dumps(results))


if __name__ == "__main__":
    main()
