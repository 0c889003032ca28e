"""An upstream and callers that break off anywhere, and count what became of each exchange: a request's answer must be
its own, and a body that looks whole must be.

    chaos.py upstream [--certificate F --key F [--callers-ca F]]     prints `listening PORT`; serves until it is killed
    chaos.py callers PORT COUNT [--ca F] [--prefix P] [--fault F]…    makes COUNT exchanges through the proxy at PORT:
                                                                      by chance, or
                                                                     of one fault and shape; prints one JSON object

Each request names an exchange and what is to happen to it:

    METHOD /KEY/FAULT/FRAMING/SIZE           a body of SIZE bytes that follow from KEY, in FRAMING (length, chunked,
                                             close)

FAULT, which the upstream carries out (those that begin with `caller-` are the callers' own):

    none, slow                  all goes well, at once or piece by piece
    close-before, reset-before  ends the connection instead of answering
    reset-head, close-head      in the middle of the answer's head
    reset-body, close-body      in the middle of its body
    reset-after, close-after    right behind the answer's last byte
    early, early-close          answers before it has read the request's body; early-close then closes
    garbage, two-answers        sends no HTTP; sends an answer more than it was asked for
    break-before, -head, -body  a TLS alert in clear between its records, then the end (without TLS the end alone)
    stall-before, stall-head, stall-body    says nothing more, and keeps the connection
    caller-leaves-…, caller-resets-…, caller-breaks-…, caller-stalls-…, caller-half-closes    the same from the other
                                                                                              side

A POST carries SIZE bytes that follow from KEY as well. The upstream says in `X-Seen` whether what arrived was that.
"""

import argparse
import asyncio
import collections
import hashlib
import json
import os
import random
import socket
import ssl
import struct

UPSTREAM_FAULTS = [
    "slow", "close-before", "reset-before", "reset-head", "close-head", "reset-body", "close-body", "reset-after",
    "close-after", "early", "early-close", "garbage", "two-answers", "break-before", "break-head", "break-body",
]
CALLER_FAULTS = [
    "caller-leaves-head", "caller-leaves-body", "caller-resets-head", "caller-resets-body", "caller-breaks-head",
    "caller-breaks-body", "caller-leaves-answer", "caller-resets-answer", "caller-half-closes",
]
# Those of an upstream with HTTP/2 (chaos_http2.py).
HTTP2_FAULTS = ["refuse", "goaway", "goaway-before"]
# Those after which the caller must have the whole answer all the same.
HARMLESS = {"none", "slow", "close-after", "two-answers", "caller-half-closes", *HTTP2_FAULTS}
# The sizes of bodies, and how often each of a hundred.
SIZES = {0: 10, 1: 10, 100: 25, 3000: 25, 20000: 24, 200000: 5, 1000000: 1}


def content(key, size):
    """The bytes that belong to a key: no two keys have a piece in common."""
    seed = hashlib.sha256(key.encode()).digest()
    return (seed * (size // len(seed) + 1))[:size]


def reset(writer):
    """Ends a connection by a reset instead of an end."""
    s = writer.get_extra_info("socket")
    if s is not None:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def send_alert(writer):
    """Sends a fatal alert in clear on a TLS connection, where the other side expects records of what was agreed on. To
    be followed by an abort: Python takes the alert that is sent in answer for an error of whichever connection it looks
    at next."""
    if writer.get_extra_info("ssl_object"):
        with socket.socket(fileno=os.dup(writer.get_extra_info("socket").fileno())) as s:
            try:
                s.send(b"\x15\x03\x03\x00\x02\x02\x28")
            except OSError:
                pass  # The connection is full or over: what follows ends it all the same.


async def read_head(reader):
    """The start line and the fields of a message; None at the end of the connection."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
        return None
    lines = head.decode("latin-1").split("\r\n")
    return lines[0], {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in lines[1:-2])}


async def read_body(reader, fields, until_close=False):
    """The content of a message. Raises where it breaks off."""
    if fields.get("transfer-encoding") == "chunked":
        body = b""
        while size := int(await reader.readuntil(b"\r\n"), 16):
            body += await reader.readexactly(size)
            if await reader.readexactly(2) != b"\r\n":
                raise ValueError("chunk")
        while await reader.readuntil(b"\r\n") != b"\r\n":
            pass
        return body
    if "content-length" in fields:
        return await reader.readexactly(int(fields["content-length"]))
    return await reader.read() if until_close else b""


def chunked(body):
    pieces = [body[i : i + 1500] for i in range(0, len(body), 1500)]
    return b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in pieces) + b"0\r\n\r\n"


async def serve(reader, writer):
    try:
        while (message := await read_head(reader)) and await answer(reader, writer, *message):
            pass
    except (ConnectionError, ssl.SSLError, asyncio.IncompleteReadError, ValueError):
        pass
    writer.close()


async def answer(reader, writer, line, fields):
    method, path, _ = line.split(" ")
    _, key, fault, framing, size = path.split("/")
    if fault.startswith("caller-"):
        fault = "none"
    if fault.endswith("-before"):
        await end(reader, writer, fault)
        return False
    seen = "nothing"
    if not fault.startswith("early"):
        arrived = await read_body(reader, fields)
        if method == "POST":
            seen = "right" if arrived == content(key, int(size)) else "wrong"
    if fault == "garbage":
        writer.write(b"\0\1\2 not HTTP\r\n\r\n")
        return False
    body = content(key, int(size))
    head = b"HTTP/1.1 200 OK\r\nX-Key: %s\r\nX-Seen: %s\r\n" % (key.encode(), seen.encode())
    if framing == "length":
        head += b"Content-Length: %d\r\n\r\n" % len(body)
    elif framing == "chunked":
        head, body = head + b"Transfer-Encoding: chunked\r\n\r\n", chunked(body)
    else:
        head += b"Connection: close\r\n\r\n"
    goes_on = framing != "close"
    if fault == "early-close":
        head = head.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n") if goes_on else head
        goes_on = False
    if fault.endswith("-head"):
        writer.write(head[: len(head) // 2])
    elif fault.endswith("-body"):
        writer.write(head + body[: len(body) // 2])
    elif fault == "slow":
        message = head + body
        for start in range(0, len(message), len(message) // 5 + 1):
            writer.write(message[start : start + len(message) // 5 + 1])
            await writer.drain()
            await asyncio.sleep(0.001)
        return goes_on
    elif fault == "two-answers" and goes_on:
        writer.write(head + body + b"HTTP/1.1 200 OK\r\nX-Key: nobody\r\nContent-Length: 6\r\n\r\nnobody")
    else:
        writer.write(head + body)
    await writer.drain()
    if fault.startswith(("reset-", "close-", "stall-", "break-")):
        await end(reader, writer, fault)
        return False
    if fault == "early":
        await read_body(reader, fields)
    return goes_on


async def end(reader, writer, fault):
    """Ends a connection, or what happens on it, as a fault says."""
    if fault.startswith("reset-"):
        # Behind what was sent: a reset at once would overtake it, and nobody could tell the faults apart.
        await asyncio.sleep(0.002)
        reset(writer)
    elif fault.startswith("break-"):
        send_alert(writer)
        await asyncio.sleep(0.002)
        writer.transport.abort()
    elif fault.startswith("stall-"):
        await reader.read()


class Caller:
    """Makes one exchange after the other, on one connection for as long as it lasts."""

    def __init__(self, options, name, random, counts, wrongs):
        self.options, self.name, self.random, self.counts, self.wrongs = options, name, random, counts, wrongs
        self.tls = ssl.create_default_context(cafile=options.ca) if options.ca else None
        self.reader = self.writer = self.previous = None

    async def run(self, left):
        while left[0] > 0:
            left[0] -= 1
            await self.exchange(f"{self.name}-{left[0]}")
        if self.writer:
            self.writer.close()

    def drop(self):
        if self.writer:
            self.writer.close()
        self.reader = self.writer = self.previous = None

    def leave(self, fault):
        """Ends the connection as a fault of the caller's says."""
        if "resets" in fault:
            reset(self.writer)
        elif "breaks" in fault:
            send_alert(self.writer)
            self.writer.transport.abort()
        self.drop()
        self.counts["left"] += 1

    def wrong(self, what, target):
        self.counts["wrong"] += 1
        if len(self.wrongs) < 20:
            self.wrongs.append(f"{what}: {target}")

    async def exchange(self, key):
        fault = "none" if self.random.random() < 0.5 else self.random.choice(
            UPSTREAM_FAULTS + CALLER_FAULTS + (HTTP2_FAULTS if self.options.upstream_http2 else []))
        framing = self.random.choice(["length", "chunked", "close"])
        size = self.random.choices(list(SIZES), SIZES.values())[0]
        method = self.random.choice(["GET", "GET", "POST"])
        fault, framing, method = (
            self.options.fault or fault,
            self.options.framing or framing,
            self.options.method or method,
        )
        if self.options.size is not None:
            size = self.options.size
        if fault == "two-answers":
            # In one piece: an answer that arrives later, when the connection is another request's, is that request's.
            size = min(size, 3000)
        target = f"{self.options.prefix}/{key}/{fault}/{framing}/{size}"
        try:
            await asyncio.wait_for(self.attempt(method, target, key, fault, framing, size), 30)
        except asyncio.TimeoutError:
            self.counts["hung"] += 1
            self.wrong("no answer and no end", f"{method} {target}")
            self.drop()
        except (ConnectionError, ssl.SSLError, asyncio.IncompleteReadError) as error:
            self.counts["broken"] += 1
            # An idle connection may be closed under a request; a harmless exchange on a fresh one may not break.
            if fault in HARMLESS:
                self.wrong(f"broken off by {error!r} behind {self.previous or 'nothing'}", f"{method} {target}")
            self.drop()

    async def attempt(self, method, target, key, fault, framing, size):
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection(
                "127.0.0.1",
                self.options.port,
                limit=1 << 20,
                ssl=self.tls,
                server_hostname="localhost" if self.tls else None,
            )
        sent = b""
        request = f"{method} {target} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        if method == "POST":
            sent = content(key, size)
            if self.random.random() < 0.5:
                request, sent = request + "Transfer-Encoding: chunked\r\n", chunked(sent)
            else:
                request += f"Content-Length: {size}\r\n"
        message = request.encode() + b"\r\n" + sent
        if fault.startswith("caller-") and fault.endswith(("-head", "-body")):
            cut = len(request) // 2 if fault.endswith("head") else len(request) + 2 + len(sent) // 2
            message = message[:cut]
        self.writer.write(message)
        if fault.startswith(("caller-leaves-", "caller-resets-", "caller-breaks-")) and not fault.endswith("-answer"):
            await self.writer.drain()
            self.leave(fault)
            return
        if fault == "caller-half-closes" and not self.tls:
            self.writer.write_eof()
        # Not drained: an upstream may answer early and read no more.
        answer = await read_head(self.reader)
        if answer is None:
            raise ConnectionResetError("no answer")
        line, fields = answer
        if fault in ("caller-leaves-answer", "caller-resets-answer"):
            self.leave(fault)
            return
        status = line.split(" ")[1]
        until_close = status == "200" and "content-length" not in fields and "transfer-encoding" not in fields
        body = await read_body(self.reader, fields, until_close)
        ends = fields.get("connection") == "close" or fault == "caller-half-closes"
        self.judge(status, fields, body, method, target, key, fault, framing, size)
        self.previous = f"{line} to {method} {target} {fields}"
        if ends:
            self.drop()


    def judge(self, status, fields, body, method, target, key, fault, framing, size):
        """The verdict on an answer that looks whole."""
        if status == "200":
            self.counts["whole"] += 1
            if fields.get("x-key") != key:
                self.wrong(f"the answer to {fields.get('x-key')}: {fields}", f"{method} {target}")
            elif (
                not self.options.upstream_http2 and (
                    fault == "close-body" or fault == "break-body" and not self.options.upstream_tls)
            ) and framing == "close":
                # Nothing tells this end from a good one.
                self.counts["undetectable"] += 1
            elif body != content(key, size):
                self.wrong(f"{len(body)} bytes that are not the body", f"{method} {target}")
            elif fields.get("x-seen") == "wrong":
                self.wrong("a request that arrived changed", f"{method} {target}")
            elif fault in (
                "close-head",
                "reset-head",
                "close-before",
                "reset-before",
                "garbage",
                "break-head",
                "break-before",
            ):
                self.wrong("an answer that nobody gave", f"{method} {target}")
            elif fault.endswith("-body") and size > 0 and framing != "close":
                self.wrong("half an answer that looks whole", f"{method} {target}")
        else:
            self.counts[status] += 1
            # A POST is not repeated if a connection turns out to have been closed meanwhile.
            if fault in HARMLESS and status == "502" and self.options.upstream_http2:
                # Each of its attempts met another one's GOAWAY: seldom, and the answer is true.
                self.counts["unlucky"] += 1
            elif fault in HARMLESS and not (method == "POST" and status == "502"):
                self.wrong(f"{status} for nothing", f"{method} {target}")


async def call(options, caller):
    counts, wrongs = collections.Counter(), []
    left = [options.count]
    randoms = random.Random(options.seed)
    await asyncio.gather(
        *(
            caller(i, options, f"c{i}", random.Random(randoms.random()), counts, wrongs).run(left)
            for i in range(options.at_once)
        )
    )
    print(json.dumps({"exchanges": options.count, "counts": counts, "wrongs": wrongs}))


async def callers(options):
    await call(options, lambda _, *rest: Caller(*rest))


async def upstream(options):
    tls = None
    if options.certificate:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(options.certificate, options.key)
    if options.callers_ca:
        tls.load_verify_locations(options.callers_ca)
        tls.verify_mode = ssl.CERT_REQUIRED
    server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=1 << 20, backlog=1024, ssl=tls)
    print("listening", server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def options():
    parser = argparse.ArgumentParser()
    modes = parser.add_subparsers(dest="mode", required=True)
    mode = modes.add_parser("upstream")
    for name in ["--certificate", "--key", "--callers-ca"]:
        mode.add_argument(name)
    mode = modes.add_parser("callers")
    mode.add_argument("port", type=int)
    mode.add_argument("count", type=int)
    mode.add_argument("--seed", type=int, default=1)
    mode.add_argument("--at-once", type=int, default=16)
    mode.add_argument("--size", type=int)
    mode.add_argument("--prefix", default="")
    mode.add_argument("--upstream-tls", action="store_true", help="the upstream speaks TLS, so that a break shows")
    mode.add_argument("--upstream-http2", action="store_true", help="the upstream speaks HTTP/2, and has its faults")
    mode.add_argument("--connections", type=int, default=4, help="that exchanges share with HTTP/2")
    for name in ["--ca", "--fault", "--framing", "--method"]:
        mode.add_argument(name)
    return parser.parse_args()


def main():
    given = options()
    asyncio.run(upstream(given) if given.mode == "upstream" else callers(given))


if __name__ == "__main__":
    main()
