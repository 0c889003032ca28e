"""Thousands of connections at once: those that have been used and wait, and those whose answer is waited for.

    connections.py upstream                           prints `listening PORT`; /wait answers when somebody asks for /go
    connections.py callers PORT PROCESS IDLE BUSY     prints what the proxy's process needs for them; fails where it is
                                                      too much
    connections.py burst PORT PROCESS COUNT EACH      so many requests at once, each with at most EACH KiB; when they
                                                      are over, nearly all of that is given back
    connections.py secured PORT PROCESS COUNT EACH    the same for connections over TLS that have been used and wait
    connections.py unfinished PORT TLSPORT PROCESS COUNT LIMIT   so many handshakes and heads that stay unfinished; at
                                                                 most LIMIT MiB
"""

import asyncio
import ssl
import sys
import time

LIMIT = 8 * 1024
# What may stay of a burst: partly used pages, and tables that have grown.
REMAINDER = 16 << 20
waiting = []


async def serve(reader, writer):
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            if b" /wait " in head:
                waiting.append(asyncio.get_running_loop().create_future())
                await waiting[-1]
            if b" /go " in head:
                for each in waiting:
                    each.set_result(None)
                waiting.clear()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    writer.close()


async def upstream():
    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=4096)
    print("listening", server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def resident(process):
    with open(f"/proc/{process}/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS"))


async def connect(port, tls=None):
    return await asyncio.open_connection("127.0.0.1", port, ssl=tls)


async def ask(connection, path="/"):
    reader, writer = connection
    writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    head = await reader.readuntil(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200 ") or await reader.readexactly(2) != b"ok":
        raise SystemExit(f"error: answered {head!r}")


async def many(port, count, tls=None):
    """So many connections, each of which has been answered once."""
    connections = []
    while len(connections) < count:
        batch = await asyncio.gather(*(connect(port, tls) for _ in range(min(200, count - len(connections)))))
        await asyncio.gather(*(ask(each) for each in batch))
        connections += batch
    return connections


async def callers(port, process, idle, busy):
    # The first burst makes the buffers and the upstream connections that later ones use again.
    for _, writer in await many(port, 400):
        writer.close()
    await asyncio.sleep(6)
    before = resident(process)
    idlers = await many(port, idle)
    # A sweep or two, which give back what was needed to open them.
    await asyncio.sleep(11)
    each = (resident(process) - before) / max(idle, 1)
    print(f"{idle} idle connections: {each / 1024:.2f} KiB each, {resident(process) >> 20} MiB resident in all")
    began = time.monotonic()
    workers = await many(port, busy)
    answers = [asyncio.create_task(ask(worker, "/wait")) for worker in workers]
    await asyncio.sleep(3)
    with_busy = resident(process)
    honest, slowest = await connect(port), 0.0
    for _ in range(200):
        asked = time.monotonic()
        await ask(honest)
        slowest = max(slowest, time.monotonic() - asked)
    print(
        f"{busy} busy beside them: {with_busy >> 20} MiB resident; "
        f"an honest caller waited {slowest * 1000:.1f} ms at most"
    )
    if any(answer.done() for answer in answers):
        raise SystemExit("error: a busy connection did not stay so")
    await ask(honest, "/go")
    await asyncio.gather(*answers)
    # Who has waited all the time is still there.
    for start in range(0, idle, 200):
        await asyncio.gather(*(ask(each) for each in idlers[start : start + 200]))
    print(f"all {idle + busy} answered, {time.monotonic() - began:.1f} s after the busy ones began")
    if each >= LIMIT:
        raise SystemExit(f"error: an idle connection needs {each / 1024:.2f} KiB")
    if slowest > 2:
        raise SystemExit("error: the honest caller waited too long")


def untrusting():
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


async def given_back(process, before, what):
    """Fails if the process does not become small again within some sweeps."""
    for _ in range(30):
        await asyncio.sleep(1)
        if resident(process) - before < REMAINDER:
            print(f"{what} over: {resident(process) >> 20} MiB resident")
            return
    raise SystemExit(f"error: {what} over, and {resident(process) >> 20} MiB stay resident")


def judge(what, count, taken, each):
    kib = taken / count / 1024
    print(f"{count} {what}: {kib:.1f} KiB each")
    if kib > each:
        raise SystemExit(f"error: {kib:.1f} KiB are more than {each}")


async def burst(port, process, count, each):
    for _, writer in await many(port, 10):
        writer.close()
    await asyncio.sleep(6)
    before = resident(process)
    callers, answers = [], []
    while len(callers) < count:
        batch = await asyncio.gather(*(connect(port) for _ in range(min(100, count - len(callers)))))
        callers += batch
        answers += [asyncio.create_task(ask(caller, "/wait")) for caller in batch]
    await asyncio.sleep(5)
    taken = resident(process) - before
    await ask(await connect(port), "/go")
    await asyncio.gather(*answers)
    for _, writer in callers:
        writer.close()
    judge("requests at once", count, taken, each)
    await given_back(process, before, "the burst is")


async def secured(port, process, count, each):
    for _, writer in await many(port, 10, untrusting()):
        writer.close()
    await asyncio.sleep(6)
    before = resident(process)
    callers = await many(port, count, untrusting())
    await asyncio.sleep(11)
    judge("idle connections over TLS", count, resident(process) - before, each)
    for _, writer in callers:
        writer.transport.abort()
    await given_back(process, before, "connections over TLS are")


async def unfinished(port, secured, process, count, limit):
    """Most of a large ClientHello on so many connections, and 30 KB of a head on as many."""
    hello = bytes.fromhex("160301400001003ffc0303") + bytes(10000)
    head = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"".join(b"X-%d: " % n + b"x" * 1000 + b"\r\n" for n in range(29))
    kept = []
    for place, start in ((secured, hello), (port, head)):
        for _ in range(count // 100):
            for reader, writer in await asyncio.gather(*(connect(place) for _ in range(100))):
                writer.write(start)
                kept.append((reader, writer))
        await asyncio.sleep(3)
        # Who had to go needs no descriptor here any more.
        for reader, writer in kept:
            if reader.at_eof() or reader.exception():
                writer.close()
    honest = await connect(port)
    began = time.monotonic()
    await ask(honest)
    waited = time.monotonic() - began
    with open(f"/proc/{process}/status") as status:
        most = next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024
    print(f"{count} unfinished handshakes and {count} unfinished heads: {most:.0f} MiB resident at most; "
          f"an honest caller waited {waited * 1000:.1f} ms")
    if most >= limit:
        raise SystemExit(f"error: {most:.0f} MiB are more than {limit}")
    if waited > 2:
        raise SystemExit("error: the honest caller waited too long")


if __name__ == "__main__":
    if sys.argv[1] == "upstream":
        asyncio.run(upstream())
    elif sys.argv[1] == "unfinished":
        asyncio.run(unfinished(*map(int, sys.argv[2:])))
    elif sys.argv[1] == "burst":
        asyncio.run(burst(*map(int, sys.argv[2:])))
    elif sys.argv[1] == "secured":
        asyncio.run(secured(*map(int, sys.argv[2:])))
    else:
        asyncio.run(callers(*map(int, sys.argv[2:])))
