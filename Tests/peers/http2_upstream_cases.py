"""A table of what a lying upstream may send: frames, what the caller may see then, and what the upstream may see.

    http2_upstream_cases.py UPSTREAM_PORT PROXY_PORT

Serves on the first port, and calls the proxy on the second one, whose route / leads to the first with HTTP/2. The
sections are those of RFC 9113, "hpack" those of RFC 7541. Each row has a connection of its own, and a request that
follows it must be served. Prints a line for each row that fails, then "N cases, M failed".
"""

import queue
import socket
import struct
import sys
import threading

import httpx
from hyperframe import frame as frames

from http2_cases import (
    ALIVE, CLOSED, CODES, COMPRESSION, FLOW, MALFORMED, PREFACE, PROBE, PROTOCOL, SIZE, block, connection_error, data,
    headers, raw, reset, setting, stream_error, window)

SETTINGS = raw(4, 0, 0)
LAST_PROBE = b"the last"
OK = [(":status", "200"), ("content-length", "2")]
ANSWER = headers(1, OK, 4) + data(1, b"ok")
# What the caller sees: the whole answer, that of the proxy, a response that breaks off.
WHOLE, REFUSED, BROKEN = {"200 ok"}, {"502"}, {"broken", "502"}
CALM = connection_error("ENHANCE_YOUR_CALM", "PROTOCOL_ERROR", "INTERNAL_ERROR")


def answer(more=(), content=b"ok", status="200", length="2"):
    fields = [(":status", status)] + ([("content-length", length)] if length else []) + list(more)
    return headers(1, fields, 4) + data(1, content)


def literal(*fields):
    """A header block without codes and table, whose names and values an encoder would refuse."""
    return b"".join(b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value for name, value in fields)


def head(*fields, flags=5):
    return raw(1, flags, 1, literal((b":status", b"200"), *fields))


def goaway(last, code=0, more=b"", stream=0):
    return raw(7, 0, stream, struct.pack(">II", last, code) + more)


def push(promised, stream=1):
    return raw(5, 4, stream, struct.pack(">I", promised) + block([(":path", "/")]))


def fine(name, sent, peer=ALIVE):
    return (name, sent, WHOLE, peer)


def malformed(name, sent, caller=REFUSED):
    return (f"8 {name}", sent, caller, MALFORMED)


def ends(name, sent, peer=PROTOCOL, caller=BROKEN):
    """The connection ends. A response that was whole before that may have reached the caller."""
    return (name, sent, caller, peer)


CASES = [
    # 3 and 4: the beginning, and frames.
    fine("3.4 a response", ANSWER),
    ("3.4 a first frame that is no SETTINGS", None, REFUSED, PROTOCOL),
    ("3.4 HTTP/1.1", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", REFUSED,
     connection_error("PROTOCOL_ERROR", "FRAME_SIZE_ERROR")),
    fine("4.1 an unknown type is ignored", raw(0xBB, 0, 1, b"x") + ANSWER),
    fine("4.1 unknown flags are ignored", raw(6, 0x16, 0, b"12345678") + ANSWER),
    fine("4.1 the reserved bit is ignored", raw(6, 0, 0x8000_0000, b"12345678") + ANSWER),
    ("4.2 DATA of 2^14 bytes", answer(content=b"x" * 16384, length="16384"), {"200 " + "x" * 16384}, ALIVE),
    ends("4.2 DATA of more", answer(content=b"x" * 16385, length="16385"),
         SIZE | stream_error("FRAME_SIZE_ERROR")),
    ends("4.2 HEADERS of more", raw(1, 5, 1, block([(":status", "200"), ("x", "y" * 30000)], huffman=False)), SIZE),
    ends("4.3 a broken header block", raw(1, 5, 1, b"\x40"), COMPRESSION),
    ends("4.3 PRIORITY within a header block", headers(1, OK, 0) + raw(2, 0, 1, b"\0\0\0\0\xff")),
    ends("4.3 HEADERS of another stream within one", headers(1, OK, 0) + headers(3, OK)),
    # 5: states.
    ends("5.1 idle: DATA", data(3)),
    ends("5.1 idle: RST_STREAM", reset(3)),
    ends("5.1 idle: WINDOW_UPDATE", window(3, 1)),
    ends("5.1 idle: HEADERS", headers(3, OK)),
    ends("5.1 idle: CONTINUATION", raw(9, 4, 3, block(OK))),
    ends("5.1 idle: an even stream", headers(2, OK)),
    ends("5.1 idle: DATA on an even stream", data(2)),
    fine("5.1 closed: DATA", ANSWER + data(1), ALIVE | CLOSED | PROTOCOL),
    fine("5.1 closed: HEADERS", ANSWER + headers(1, OK), ALIVE | CLOSED | PROTOCOL),
    fine("5.1 closed: RST_STREAM", ANSWER + reset(1, 2)),
    fine("5.1 closed: WINDOW_UPDATE", ANSWER + window(1, 100)),
    fine("5.1 closed: PRIORITY", ANSWER + raw(2, 0, 1, b"\0\0\0\0\xff")),
    ends("5.1 closed: CONTINUATION", ANSWER + raw(9, 4, 1, b""), caller=WHOLE),
    ("5.1 reset: DATA", reset(1, 2) + data(1), REFUSED, ALIVE | CLOSED),
    ("5.1 reset: HEADERS", reset(1, 2) + headers(1, OK), REFUSED, ALIVE | CLOSED),
    ends("5.1.1 a response on a stream that is not open yet", headers(5, OK)),
    fine("5.5 an unknown setting is ignored", setting(0xFF, 1) + ANSWER),
    ends("5.5 an unknown type within a header block", headers(1, OK, 0) + raw(0xBB, 0, 1, b"x")),
    # 6: types.
    fine("6.1 DATA in pieces, some of them empty",
         headers(1, OK, 4) + data(1, b"o", 0) + data(1, b"", 0) + data(1, b"k", 0) + data(1, b"")),
    fine("6.1 DATA with padding", headers(1, OK, 4) + raw(0, 9, 1, b"\x05ok12345")),
    ends("6.1 DATA on stream 0", data(0)),
    ends("6.1 DATA with too much padding", headers(1, OK, 4) + raw(0, 9, 1, b"\x06ok")),
    fine("6.2 HEADERS with padding", raw(1, 0xC, 1, b"\x03" + block(OK) + b"\0\0\0") + data(1, b"ok")),
    fine("6.2 HEADERS with a priority", raw(1, 0x24, 1, b"\0\0\0\0\x10" + block(OK)) + data(1, b"ok")),
    ends("6.2 HEADERS on stream 0", headers(0, OK)),
    ends("6.2 HEADERS with too much padding", raw(1, 0xD, 1, b"\xff" + block(OK))),
    ends("6.3 PRIORITY on stream 0", raw(2, 0, 0, b"\0\0\0\0\xff")),
    ("6.3 PRIORITY of 4 bytes", raw(2, 0, 1, b"\0\0\0\0"), BROKEN, stream_error("FRAME_SIZE_ERROR")),
    ("6.4 RST_STREAM before a response", reset(1, 2), REFUSED, ALIVE),
    ("6.4 RST_STREAM within a response", headers(1, OK, 4) + data(1, b"o", 0) + reset(1, 2), BROKEN, ALIVE),
    ("6.4 RST_STREAM without an error within a response", headers(1, OK, 4) + reset(1, 0), BROKEN, ALIVE),
    fine("6.4 REFUSED_STREAM, and the request comes once more", reset(1, 7)),
    ends("6.4 RST_STREAM on stream 0", reset(0)),
    ends("6.4 RST_STREAM of 3 bytes", raw(3, 0, 1, b"\0\0\0"), SIZE),
    fine("6.5 SETTINGS", SETTINGS + ANSWER),
    ends("6.5 SETTINGS with ACK and content", raw(4, 1, 0, b"\0\0\0\0\0\0"), SIZE),
    ends("6.5 SETTINGS on a stream", raw(4, 0, 1)),
    ends("6.5 SETTINGS of 3 bytes", raw(4, 0, 0, b"\0\3\0"), SIZE),
    ends("6.5.2 ENABLE_PUSH 1", setting(2, 1)),
    ends("6.5.2 ENABLE_PUSH 2", setting(2, 2)),
    ends("6.5.2 INITIAL_WINDOW_SIZE 2^31", setting(4, 1 << 31), FLOW),
    ends("6.5.2 MAX_FRAME_SIZE below", setting(5, 16383)),
    ends("6.5.2 MAX_FRAME_SIZE above", setting(5, 1 << 24)),
    ends("8441 3 ENABLE_CONNECT_PROTOCOL 2", setting(8, 2)),
    ends("8441 3 ENABLE_CONNECT_PROTOCOL withdrawn", setting(8, 1) + setting(8, 0)),
    fine("6.5.3 HEADER_TABLE_SIZE 0 and back", setting(1, 0) + setting(1, 4096) + ANSWER),
    fine("6.5.3 no streams from now on", setting(3, 0) + ANSWER, connection_error("NO_ERROR") | ALIVE),
    ends("6.6 PUSH_PROMISE", push(2)),
    ends("6.6 PUSH_PROMISE on stream 0", push(2, stream=0)),
    ends("6.6 PUSH_PROMISE of an odd stream", push(3)),
    fine("6.7 PING", raw(6, 0, 0, b"12345678") + ANSWER),
    fine("6.7 PING with ACK that nobody has asked for", raw(6, 1, 0, b"12345678") + ANSWER),
    ends("6.7 PING on a stream", raw(6, 0, 1, b"12345678")),
    ends("6.7 PING of 6 bytes", raw(6, 0, 0, b"123456"), SIZE),
    fine("6.8 GOAWAY behind the request", goaway(1) + ANSWER, connection_error("NO_ERROR") | ALIVE),
    fine("6.8 GOAWAY in two steps", goaway(0x7FFF_FFFF) + ANSWER + goaway(1), connection_error("NO_ERROR") | ALIVE),
    fine("6.8 GOAWAY before the request, which comes once more", goaway(0), connection_error("NO_ERROR") | ALIVE),
    fine("6.8 GOAWAY with an error before the request", goaway(0, 11), connection_error("NO_ERROR") | ALIVE),
    fine("6.8 GOAWAY with text", goaway(1, 0, b"x" * 1000) + ANSWER, connection_error("NO_ERROR") | ALIVE),
    ("6.8 GOAWAY and the end before the response", (goaway(1, 2), "close"), REFUSED, {"closed"} | PROTOCOL),
    ends("6.8 GOAWAY on a stream", goaway(1, stream=1)),
    ends("6.8 GOAWAY of 7 bytes", raw(7, 0, 0, b"1234567"), SIZE),
    ends("6.9 WINDOW_UPDATE of 0", window(0, 0)),
    ("6.9 WINDOW_UPDATE of 0 on a stream", window(1, 0), BROKEN, MALFORMED),
    ends("6.9 WINDOW_UPDATE of 3 bytes", raw(8, 0, 0, b"\0\0\1"), SIZE),
    ends("6.9.1 a window above 2^31-1", window(0, 0x7FFF_FFFF) * 2, FLOW),
    ("6.9.1 a stream's window above 2^31-1", window(1, 0x7FFF_FFFF) * 2, BROKEN, stream_error("FLOW_CONTROL_ERROR")),
    fine("6.10 CONTINUATION", raw(1, 0, 1, block(OK)) + raw(9, 0, 1, b"") + raw(9, 4, 1, block([("z", "y")]))
         + data(1, b"ok")),
    ends("6.10 another frame before the last", headers(1, OK, 0) + raw(9, 0, 1, b"") + data(1)),
    ends("6.10 CONTINUATION on stream 0", headers(1, OK, 0) + raw(9, 4, 0, b"")),
    ends("6.10 CONTINUATION behind the last", headers(1, OK, 4) + raw(9, 4, 1, b"")),
    ends("6.10 CONTINUATION behind DATA", headers(1, OK, 4) + data(1, b"o", 0) + raw(9, 4, 1, b"")),
    ("7 an unknown code in RST_STREAM", reset(1, 0xFF), REFUSED, ALIVE),
    fine("7 an unknown code in GOAWAY", goaway(1, 0xFF) + ANSWER, connection_error("NO_ERROR") | ALIVE),
    # 8: messages.
    fine("8.1 interim responses", headers(1, [(":status", "103"), ("link", "<a>")], 4) * 3 + ANSWER),
    fine("8.1 a 100 that nobody has asked for", headers(1, [(":status", "100")], 4) + ANSWER),
    malformed("a 101", headers(1, [(":status", "101")], 4) + ANSWER),
    malformed("an interim response that ends the stream", headers(1, [(":status", "103")])),
    malformed("an interim response with content", headers(1, [(":status", "103")], 4) + data(1, b"ok")),
    malformed("an end without a response", headers(1, [(":status", "103")], 4) + headers(1, [("x", "y")])),
    malformed("content before the head", data(1, b"ok", 0) + ANSWER),
    fine("8.1 content and trailers",
         headers(1, [(":status", "200")], 4) + data(1, b"ok", 0) + headers(1, [("x-sum", "1")])),
    malformed("trailers that do not end the stream",
              headers(1, OK, 4) + data(1, b"o", 0) + headers(1, [("x", "1")], 4), BROKEN),
    malformed("a pseudo-header field among trailers",
              headers(1, OK, 4) + data(1, b"o", 0) + headers(1, [(":status", "200")]), BROKEN),
    malformed("a second response", headers(1, OK, 4) + data(1, b"o", 0) + headers(1, OK, 4), BROKEN),
    malformed("less content than announced", answer(content=b"o"), BROKEN),
    malformed("more content than announced", answer(content=b"okay"), BROKEN | {"200 ok"}),
    malformed("more in several frames", headers(1, OK, 4) + data(1, b"ok", 0) + data(1, b"ay"), BROKEN | {"200 ok"}),
    malformed("none, though announced", headers(1, OK)),
    malformed("two lengths", answer([("content-length", "2")])),
    malformed("two lengths that differ", answer([("content-length", "3")])),
    malformed("a length that is no number", answer(length="0x2")),
    malformed("a negative length", answer(length="-2")),
    malformed("a length with a sign", answer(length="+2")),
    malformed("a list of lengths", answer(length="2, 2")),
    malformed("content of a 204", answer(status="204", length="")),
    malformed("a length of a 204", headers(1, [(":status", "204"), ("content-length", "2")])),
    malformed("content of a 304", answer(status="304", length="")),
    malformed("no status", headers(1, [("x", "y")])),
    malformed("two statuses", headers(1, [(":status", "200")] * 2)),
    malformed("a status behind fields", headers(1, [("x", "y"), (":status", "200")])),
    *[malformed(f"the status {status!r}", headers(1, [(":status", status)]))
      for status in ["", "20", "2000", "abc", "099", "600", "-20", "2 0", "200 OK"]],
    malformed("a request's pseudo-header field", answer([(":path", "/")])),
    malformed("an unknown pseudo-header field", headers(1, [(":status", "200"), (":x", "y")])),
    malformed("upper case in a name", head((b"X-A", b"y"))),
    malformed("an empty name", head((b"", b"y"))),
    malformed("a space in a name", head((b"x y", b"z"))),
    malformed("a colon in a name", head((b"x:y", b"z"))),
    malformed("CR LF in a name", head((b"x: a\r\ny", b"z"))),
    malformed("CR LF in a value", head((b"x", b"a\r\nset-cookie: b"))),
    malformed("LF in a value", head((b"x", b"a\nset-cookie: b"))),
    malformed("CR in a value", head((b"x", b"a\rb"))),
    malformed("NUL in a value", head((b"x", b"a\0b"))),
    malformed("space before a value", head((b"x", b" a"))),
    malformed("space behind a value", head((b"x", b"a "))),
    *[malformed(name, answer([(name, value)])) for name, value in [
        ("connection", "close"), ("keep-alive", "1"), ("proxy-connection", "close"), ("upgrade", "websocket"),
        ("transfer-encoding", "chunked"), ("te", "gzip")]],
    malformed("CR LF in a trailer", headers(1, [(":status", "200")], 4) + data(1, b"o", 0)
              + raw(1, 5, 1, literal((b"x", b"a\r\nb: c"))), BROKEN),
    malformed("transfer-encoding among trailers", headers(1, [(":status", "200")], 4) + data(1, b"o", 0)
              + headers(1, [("transfer-encoding", "chunked")]), BROKEN),
    ("8 a response of HTTP/1.1 as content", answer(content=b"0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", length=""),
     {"200 0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"}, ALIVE),
    ("8 a head over the limit", raw(1, 0, 1, literal((b":status", b"200")))
     + raw(9, 0, 1, literal((b"x", b"y" * 120)) * 100) * 4 + raw(9, 4, 1, literal((b"x", b"y"))), REFUSED,
     MALFORMED | CALM),
    # hpack.
    ends("hpack 2.3.3 an index beyond both tables", raw(1, 5, 1, block(OK) + b"\xff\x80\x01"), COMPRESSION),
    ends("hpack 4.2 a table size at the end", raw(1, 5, 1, block(OK) + b"\x3f\x21"), COMPRESSION),
    ends("hpack 5.2 the end of string",
         raw(1, 5, 1, block(OK) + b"\x00\x85\xf2\xb2\x4a\x84\xff\x87\x49\x51\xff\xff\xff\xfa\x7f"), COMPRESSION),
    ends("hpack 5.2 padding of zeros",
         raw(1, 5, 1, block(OK) + b"\x00\x85\xf2\xb2\x4a\x84\xff\x83\x49\x50\x90"), COMPRESSION),
    ends("hpack 6.1 index 0", raw(1, 5, 1, block(OK) + b"\x80"), COMPRESSION),
    ends("hpack 6.3 a table above the setting", raw(1, 5, 1, b"\x3f\xe2\x7f" + block(OK)), COMPRESSION),
    # Floods.
    ends("a flood of PING", raw(6, 0, 0, b"x" * 8) * 20_000, CALM),
    ends("a flood of SETTINGS", SETTINGS * 20_000, CALM),
    ends("a flood of WINDOW_UPDATE", window(0, 1) * 20_000, CALM),
    ends("a flood of empty DATA", headers(1, [(":status", "200")], 4) + data(1, b"", 0) * 20_000, CALM),
    ends("a flood of PRIORITY", raw(2, 0, 1, b"\0\0\0\0\x10") * 20_000, CALM),
    ("a flood of interim responses", headers(1, [(":status", "103"), ("x", "y" * 100)], 4) * 5_000, REFUSED,
     MALFORMED | CALM | {"reset CANCEL"}),
    ends("a flood of CONTINUATION", headers(1, OK, 0) + raw(9, 0, 1, b"") * 20_000, CALM),
    ends("an HPACK bomb", raw(1, 0, 1, b"\x88\x40\x01x\x7f\xe1\x1e" + b"y" * 4000) + raw(9, 4, 1, b"\xbe" * 16_000),
         CALM | COMPRESSION),
]


class Row:
    """The connection that serves a row's first request, and what the proxy does on it."""

    def __init__(self, sent):
        self.sent, self.outcomes, self.lock, self.is_claimed = sent, queue.Queue(), threading.Lock(), False

    def claim(self):
        with self.lock:
            is_first, self.is_claimed = not self.is_claimed, True
        return is_first


class Upstream:
    """Sends what a row says behind the first request, and a response to others, each the last of its connection."""

    def __init__(self, port):
        self.listener = socket.create_server(("127.0.0.1", port), backlog=100)
        self.row = Row(ANSWER)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            threading.Thread(target=self.serve, args=self.listener.accept()[:1], daemon=True).start()

    def serve(self, connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        row, outcome = self.row, "closed"
        is_first = row.claim()
        try:
            outcome = self.exchange(connection, connection.makefile("rb"), row, is_first)
        except OSError:
            pass
        if is_first:
            row.outcomes.put(outcome)
        connection.close()

    def exchange(self, connection, reader, row, is_first):
        """Serves the connection to its end: goaway CODE, or closed."""
        reader.read(len(PREFACE))
        if row.sent is None:
            connection.sendall(raw(6, 0, 0, PROBE))
        elif not (isinstance(row.sent, bytes) and row.sent.startswith(b"HTTP")):
            connection.sendall(SETTINGS)
        while len(header := reader.read(9)) == 9:
            frame, length = frames.Frame.parse_frame_header(memoryview(header))
            frame.parse_body(memoryview(reader.read(length)))
            if isinstance(frame, frames.GoAwayFrame):
                return "goaway " + CODES[frame.error_code]
            if isinstance(frame, frames.SettingsFrame) and "ACK" not in frame.flags:
                connection.sendall(raw(4, 1, 0))
            if isinstance(frame, frames.PingFrame) and frame.opaque_data == PROBE:
                # The answer to a PING may overtake a reset.
                connection.sendall(raw(6, 0, 0, LAST_PROBE))
            is_probe = isinstance(frame, frames.PingFrame) and frame.opaque_data == LAST_PROBE
            if is_probe or isinstance(frame, frames.RstStreamFrame):
                row.outcomes.put("alive" if is_probe else "reset " + CODES[frame.error_code])
                # Others come on another connection.
                connection.sendall(goaway(1))
            if isinstance(frame, frames.HeadersFrame):
                if not is_first or frame.stream_id != 1:
                    connection.sendall(goaway(frame.stream_id))
                    connection.sendall(headers(frame.stream_id, OK, 4) + data(frame.stream_id, b"ok"))
                elif isinstance(row.sent, tuple):
                    connection.sendall(row.sent[0])
                    return "closed"
                else:
                    connection.sendall((row.sent or b"") + raw(6, 0, 0, PROBE))
        return "closed"


client = httpx.Client(timeout=60, trust_env=False, limits=httpx.Limits(max_keepalive_connections=0))


def ask(port):
    try:
        answered = client.get(f"http://127.0.0.1:{port}/")
    except httpx.TransportError:
        return "broken"
    if "set-cookie" in answered.headers:
        return "a field that nobody sent"
    return f"200 {answered.text}" if answered.status_code == 200 else str(answered.status_code)


def run(upstream, port, case):
    name, sent, callers, peers = case
    row = upstream.row = Row(sent)
    caller = ask(port)
    peer = row.outcomes.get(timeout=60)
    if caller not in callers or peer not in peers:
        return f"FAILED {name}: the caller saw {caller[:80]!r}, the upstream {peer}"
    upstream.row = Row(ANSWER)
    upstream.row.claim()
    after = ask(port)
    return None if after == "200 ok" else f"FAILED {name}: the next request got {after[:80]!r}"


if __name__ == "__main__":
    upstream = Upstream(int(sys.argv[1]))
    failures = [line for line in (run(upstream, int(sys.argv[2]), case) for case in CASES) if line]
    for line in failures:
        print(line)
    print(f"{len(CASES)} cases, {len(failures)} failed")
