"""A table of what RFC 9113 and RFC 7541 demand of a server: frames that a client sends, and what may follow.

    http2_cases.py PORT [websocket]     the second table is for a server with WebSockets, at /chat/ (RFC 8441)

The sections are those of RFC 9113, "hpack" those of RFC 7541. Each row has a connection of its own. Prints a line for
each row that fails, then "N cases, M failed". On the server /sink reads the content of a request, and /slow/2 answers
after two seconds.
"""

import socket
import struct
import sys
import time

import hpack
from hyperframe import frame as frames

CODES = [
    "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
    "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
]
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
PROBE = b"probe---"


def raw(kind, flags, stream, payload=b"", length=None):
    length = len(payload) if length is None else length
    return struct.pack(">I", length)[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def fields(method="GET", path="/sink", more=(), without=(), instead=()):
    pseudo = [(":method", method), (":scheme", "http"), (":path", path), (":authority", "127.0.0.1")]
    pseudo = [(name, dict(instead).get(name, value)) for name, value in pseudo if name not in without]
    return pseudo + list(more)


def block(items, huffman=True):
    return hpack.Encoder().encode(items, huffman=huffman)


def headers(stream, items=None, flags=5, kind=1):
    return raw(kind, flags, stream, block(items if items is not None else fields()))


def post(stream, more=(), flags=4):
    return headers(stream, fields("POST", more=more), flags)


def data(stream, content=b"x", flags=1):
    return raw(0, flags, stream, content)


def setting(identifier, value):
    return raw(4, 0, 0, struct.pack(">HI", identifier, value))


def window(stream, increment):
    return raw(8, 0, stream, struct.pack(">I", increment))


def reset(stream, code=8):
    return raw(3, 0, stream, struct.pack(">I", code))


class Connection:
    def __init__(self, port, settings=b"", preface=PREFACE):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=10)
        self.decoder = hpack.Decoder()
        self.rest = b""
        self.send(preface + raw(4, 0, 0, settings))

    def send(self, data):
        try:
            self.socket.sendall(data)
        except OSError:
            pass

    def end(self):
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def frames(self, until):
        """The frames that arrive until then; None for the end of the connection."""
        while True:
            while len(self.rest) >= 9:
                length = int.from_bytes(self.rest[:3], "big")
                if len(self.rest) < 9 + length:
                    break
                frame, _ = frames.Frame.parse_frame_header(memoryview(self.rest[:9]))
                body, self.rest = self.rest[9:9 + length], self.rest[9 + length:]
                frame.parse_body(memoryview(body))
                yield frame
            left = until - time.monotonic()
            if left <= 0:
                return
            self.socket.settimeout(left)
            try:
                received = self.socket.recv(65536)
            except socket.timeout:
                return
            except OSError:
                received = b""
            if not received:
                yield None
                return
            self.rest += received

    def outcome(self, settle, limit=30):
        """The first of: goaway CODE, reset CODE, closed, status N, alive: none of them for `settle` seconds."""
        self.send(raw(6, 0, 0, PROBE))
        status, answered = None, False
        until = time.monotonic() + limit
        seen = None
        for frame in self.frames(until):
            if frame is None:
                return "closed"
            if isinstance(frame, frames.GoAwayFrame):
                return "goaway " + CODES[frame.error_code]
            if isinstance(frame, frames.RstStreamFrame):
                return "reset " + CODES[frame.error_code]
            if isinstance(frame, frames.HeadersFrame):
                status = dict(self.decoder.decode(frame.data)).get(":status", status)
            if isinstance(frame, (frames.HeadersFrame, frames.DataFrame)) and "END_STREAM" in frame.flags:
                return f"status {status}"
            if isinstance(frame, frames.PingFrame) and frame.opaque_data == PROBE:
                seen = time.monotonic()
                break
        if seen is None:
            return "silent"
        for frame in self.frames(seen + settle):
            if frame is None:
                return "closed"
            if isinstance(frame, frames.GoAwayFrame):
                return "goaway " + CODES[frame.error_code]
            if isinstance(frame, frames.RstStreamFrame):
                return "reset " + CODES[frame.error_code]
            if isinstance(frame, frames.HeadersFrame):
                status = dict(self.decoder.decode(frame.data)).get(":status", status)
            if isinstance(frame, (frames.HeadersFrame, frames.DataFrame)) and "END_STREAM" in frame.flags:
                return f"status {status}"
        return "alive"


def connection_error(*codes):
    return {f"goaway {code}" for code in codes} | {"closed"}


def stream_error(*codes):
    return {f"reset {code}" for code in codes} | connection_error(*codes)


PROTOCOL = connection_error("PROTOCOL_ERROR")
MALFORMED = stream_error("PROTOCOL_ERROR")
REFUSED = MALFORMED | {"status 400", "status 421", "status 403", "status 405", "status 501"}
SIZE = connection_error("FRAME_SIZE_ERROR")
FLOW = connection_error("FLOW_CONTROL_ERROR")
COMPRESSION = connection_error("COMPRESSION_ERROR")
CLOSED = stream_error("STREAM_CLOSED")
FINE = {"status 200"}
ALIVE = {"alive"}


def malformed(name, **options):
    return (f"8 {name}", headers(1, fields(**options)), REFUSED)


CASES = [
    # 3: the beginning.
    ("3.4 a request", headers(1), FINE),
    ("3.4 a first frame that is no SETTINGS", None, PROTOCOL),
    # 4: frames.
    ("4.1 an unknown type is ignored", raw(0xBB, 0, 1, b"x") + headers(1), FINE),
    ("4.1 unknown flags are ignored", raw(6, 0x16, 0, b"12345678") + headers(1), FINE),
    ("4.1 the reserved bit is ignored", raw(6, 0, 0x8000_0000, b"12345678") + headers(1), FINE),
    ("4.2 DATA of 2^14 bytes", post(1) + data(1, b"x" * 16384), FINE),
    ("4.2 DATA of more", post(1) + data(1, b"x" * 16385), SIZE | stream_error("FRAME_SIZE_ERROR")),
    ("4.2 HEADERS of more", raw(1, 5, 1, block(fields(more=[("x", "y" * 30000)]), huffman=False)), SIZE),
    ("4.3 a broken header block", raw(1, 5, 1, b"\x40"), COMPRESSION),
    ("4.3 PRIORITY within a header block", headers(1, flags=1) + raw(2, 0, 1, b"\0\0\0\0\xff"), PROTOCOL),
    ("4.3 HEADERS of another stream within one", headers(1, flags=1) + headers(3), PROTOCOL),
    # 5: states.
    ("5.1 idle: DATA", data(1), PROTOCOL),
    ("5.1 idle: RST_STREAM", reset(1), PROTOCOL),
    ("5.1 idle: WINDOW_UPDATE", window(1, 100), PROTOCOL),
    ("5.1 idle: CONTINUATION", raw(9, 4, 1, block(fields())), PROTOCOL),
    ("5.1 half closed: DATA", headers(1, fields(path="/slow/2")) + data(1), CLOSED),
    ("5.1 half closed: HEADERS", headers(1, fields(path="/slow/2")) + headers(1), CLOSED | PROTOCOL),
    ("5.1 half closed: CONTINUATION", headers(1, fields(path="/slow/2")) + raw(9, 4, 1, b""), PROTOCOL),
    ("5.1 half closed: PRIORITY", headers(1) + raw(2, 0, 1, b"\0\0\0\0\xff"), FINE),
    ("5.1 half closed: WINDOW_UPDATE", headers(1) + window(1, 100), FINE),
    # RFC 9113 §5.1: frames on a stream that was reset may be ignored.
    ("5.1 reset: DATA", post(1) + reset(1) + data(1), CLOSED | ALIVE),
    ("5.1 reset: HEADERS", post(1) + reset(1) + headers(1), CLOSED | ALIVE),
    ("5.1 reset: CONTINUATION", post(1) + reset(1) + raw(9, 4, 1, b""), PROTOCOL),
    ("5.1 reset: PRIORITY", post(1) + reset(1) + raw(2, 0, 1, b"\0\0\0\0\xff"), ALIVE),
    ("5.1.1 an even stream", headers(2), PROTOCOL),
    ("5.1.1 a smaller number is never served", headers(5) + headers(3), FINE | PROTOCOL),
    ("5.1.2 more streams than announced", b"".join(headers(n, fields(path="/slow/2")) for n in range(1, 220, 2)),
     stream_error("REFUSED_STREAM", "PROTOCOL_ERROR")),
    ("5.4.1 a connection error ends the connection", raw(6, 0, 1, b"12345678"), PROTOCOL),
    ("5.5 an unknown setting is ignored", setting(0xFF, 1) + headers(1), FINE),
    ("5.5 an unknown type within a header block", headers(1, flags=1) + raw(0xBB, 0, 1, b"x"), PROTOCOL),
    # 6: types.
    ("6.1 DATA", post(1) + data(1), FINE),
    ("6.1 DATA in pieces, one of them empty", post(1) + data(1, b"a", 0) + data(1, b"", 0) + data(1, b"b"), FINE),
    ("6.1 DATA with padding", post(1) + raw(0, 9, 1, b"\x05hello12345"), FINE),
    ("6.1 DATA on stream 0", data(0), PROTOCOL),
    ("6.1 DATA with too much padding", post(1) + raw(0, 9, 1, b"\x06hello"), PROTOCOL),
    ("6.2 HEADERS with padding", raw(1, 0xD, 1, b"\x03" + block(fields()) + b"\0\0\0"), FINE),
    ("6.2 HEADERS with a priority", raw(1, 0x25, 1, b"\0\0\0\0\x10" + block(fields())), FINE),
    ("6.2 HEADERS on stream 0", headers(0), PROTOCOL),
    ("6.2 HEADERS with too much padding", raw(1, 0xD, 1, b"\xff" + block(fields())), PROTOCOL),
    ("6.3 PRIORITY before the request", raw(2, 0, 1, b"\0\0\0\0\xff") + headers(1), FINE),
    ("6.3 PRIORITY on stream 0", raw(2, 0, 0, b"\0\0\0\0\xff"), PROTOCOL),
    ("6.3 PRIORITY of 4 bytes", raw(2, 0, 1, b"\0\0\0\0"), stream_error("FRAME_SIZE_ERROR")),
    ("6.4 RST_STREAM on stream 0", reset(0), PROTOCOL),
    ("6.4 RST_STREAM of 3 bytes", post(1) + raw(3, 0, 1, b"\0\0\0"), SIZE),
    ("6.4 RST_STREAM", post(1) + reset(1), ALIVE),
    ("6.5 SETTINGS", raw(4, 0, 0) + headers(1), FINE),
    ("6.5 SETTINGS with ACK and content", raw(4, 1, 0, b"\0\0\0\0\0\0"), SIZE),
    ("6.5 SETTINGS on a stream", raw(4, 0, 1), PROTOCOL),
    ("6.5 SETTINGS of 3 bytes", raw(4, 0, 0, b"\0\3\0"), SIZE),
    ("6.5.2 ENABLE_PUSH 2", setting(2, 2), PROTOCOL),
    ("6.5.2 INITIAL_WINDOW_SIZE 2^31", setting(4, 1 << 31), FLOW),
    ("6.5.2 MAX_FRAME_SIZE below", setting(5, 16383), PROTOCOL),
    ("6.5.2 MAX_FRAME_SIZE above", setting(5, 1 << 24), PROTOCOL),
    ("6.5.3 HEADER_TABLE_SIZE twice", setting(1, 0) + setting(1, 4096) + headers(1), FINE),
    ("6.7 PING", raw(6, 0, 0, b"12345678") + headers(1), FINE),
    ("6.7 PING with ACK", raw(6, 1, 0, b"12345678") + headers(1), FINE),
    ("6.7 PING on a stream", raw(6, 0, 1, b"12345678"), PROTOCOL),
    ("6.7 PING of 6 bytes", raw(6, 0, 0, b"123456"), SIZE),
    ("6.8 GOAWAY on a stream", raw(7, 0, 1, struct.pack(">II", 0, 0)), PROTOCOL),
    ("6.9 WINDOW_UPDATE of 0", window(0, 0), PROTOCOL),
    ("6.9 WINDOW_UPDATE of 0 on a stream", post(1) + window(1, 0), MALFORMED),
    ("6.9 WINDOW_UPDATE of 3 bytes", raw(8, 0, 0, b"\0\0\1"), SIZE),
    ("6.9.1 a window above 2^31-1", window(0, 0x7FFF_FFFF) + window(0, 0x7FFF_FFFF), FLOW),
    ("6.9.1 a stream's window above 2^31-1", post(1) + window(1, 0x7FFF_FFFF) + window(1, 0x7FFF_FFFF),
     stream_error("FLOW_CONTROL_ERROR")),
    ("6.9.1 no window, no answer", setting(4, 0) + post(1) + data(1), ALIVE),
    ("6.9.2 the window grows with the setting", setting(4, 0) + post(1) + data(1) + setting(4, 1000), FINE),
    ("6.10 CONTINUATION",
     raw(1, 1, 1, block(fields())) + raw(9, 0, 1, block([("x", "y")])) + raw(9, 4, 1, block([("z", "y")])), FINE),
    ("6.10 another frame before the last", headers(1, flags=1) + raw(9, 0, 1, b"") + data(1), PROTOCOL),
    ("6.10 CONTINUATION on stream 0", headers(1, flags=1) + raw(9, 4, 0, b""), PROTOCOL),
    ("6.10 CONTINUATION behind the last", headers(1, fields(path="/slow/2")) + raw(9, 4, 1, b""), PROTOCOL),
    ("6.10 CONTINUATION behind DATA", post(1) + data(1) + raw(9, 4, 1, b""), PROTOCOL),
    ("7 an unknown code in RST_STREAM", post(1) + reset(1, 0xFF), ALIVE),
    ("8.4 PUSH_PROMISE of a client", raw(5, 4, 1, struct.pack(">I", 2) + block(fields())), PROTOCOL),
    # 8: messages.
    ("8.1 content and trailers", post(1) + data(1, flags=0) + headers(1, [("x-sum", "1")]), FINE),
    ("8.1 trailers that do not end the stream", post(1) + data(1, flags=0) + headers(1, [("x", "1")], 4), MALFORMED),
    ("8.1 a pseudo-header field among trailers", post(1) + data(1, flags=0) + headers(1, [(":path", "/")]), MALFORMED),
    ("8.1.1 less content than announced", post(1, [("content-length", "2")]) + data(1), MALFORMED),
    ("8.1.1 more content than announced", post(1, [("content-length", "1")]) + data(1, b"xy"), MALFORMED),
    ("8.1.1 more in several frames",
     post(1, [("content-length", "1")]) + data(1, b"x", 0) + data(1, b"y"), MALFORMED),
    ("8.1.1 none, though announced", headers(1, fields("POST", more=[("content-length", "1")])), MALFORMED),
    malformed("two lengths", method="POST", more=[("content-length", "0"), ("content-length", "0")]),
    malformed("a length that is no number", method="POST", more=[("content-length", "0x0")]),
    malformed("a negative length", method="POST", more=[("content-length", "-1")]),
    malformed("upper case in a name", more=[("X-A", "y")]),
    malformed("an unknown pseudo-header field", more=[(":test", "x")]),
    malformed("a response's pseudo-header field", more=[(":status", "200")]),
    ("8 a pseudo-header field behind others", headers(1, [("x", "y")] + fields()), REFUSED),
    malformed("connection", more=[("connection", "keep-alive")]),
    malformed("keep-alive", more=[("keep-alive", "1")]),
    malformed("proxy-connection", more=[("proxy-connection", "keep-alive")]),
    malformed("transfer-encoding", method="POST", more=[("transfer-encoding", "chunked")]),
    malformed("upgrade", more=[("upgrade", "websocket")]),
    malformed("te", more=[("te", "trailers, deflate")]),
    ("8 te: trailers", headers(1, fields(more=[("te", "trailers")])), FINE),
    malformed("an empty path", instead=[(":path", "")]),
    malformed("no method", without=[":method"]),
    malformed("no scheme", without=[":scheme"]),
    malformed("no path", without=[":path"]),
    malformed("two methods", more=[]) [:1] + (headers(1, [(":method", "GET")] + fields()), REFUSED),
    malformed("two schemes")[:1] + (headers(1, [(":scheme", "http")] + fields()), REFUSED),
    malformed("two paths")[:1] + (headers(1, [(":path", "/")] + fields()), REFUSED),
    malformed("two authorities")[:1] + (headers(1, [(":authority", "127.0.0.1")] + fields()), REFUSED),
    malformed("CONNECT with a path", method="CONNECT"),
    ("8441 3 :protocol without the announcement", headers(1, [(":protocol", "websocket")] + fields("CONNECT")),
     MALFORMED),
    ("8 CONNECT", headers(1, fields("CONNECT", without=[":path", ":scheme"])), REFUSED),
    ("8 TRACE", headers(1, fields("TRACE")), REFUSED),
    # Smuggling to HTTP/1.1.
    malformed("no authority and no host", without=[":authority"]),
    ("8 a host instead of the authority",
     headers(1, fields(without=[":authority"], more=[("host", "127.0.0.1")])), FINE),
    ("8 a host and the same authority", headers(1, fields(more=[("host", "127.0.0.1")])), FINE),
    malformed("a host that is another", more=[("host", "other")]),
    malformed("two hosts", more=[("host", "127.0.0.1"), ("host", "127.0.0.1")]),
    malformed("user information", instead=[(":authority", "u:p@127.0.0.1")]),
    malformed("an authority that is unknown", instead=[(":authority", "other.example")]),
    malformed("a path in the authority", instead=[(":authority", "127.0.0.1/sink")]),
    malformed("a line in the authority", instead=[(":authority", "127.0.0.1\r\nx: y")]),
    malformed("a request in the path", instead=[(":path", "/ HTTP/1.1\r\nHost: x\r\n\r\nGET /sink")]),
    malformed("a space in the path", instead=[(":path", "/sink x")]),
    malformed("a NUL in the path", instead=[(":path", "/sink\0")]),
    malformed("a path that is a URL", instead=[(":path", "http://other/sink")]),
    malformed("a path without a slash", instead=[(":path", "echo")]),
    malformed("a path of dots", instead=[(":path", "/sink/../../x")])[:2] + (REFUSED | {"status 404", "status 200"},),
    malformed("an asterisk", instead=[(":path", "*")]),
    malformed("a request in the method", method="GET /sink HTTP/1.1\r\nx: y\r\n\r\nGET"),
    malformed("a space in the method", method="GE T"),
    malformed("another scheme", instead=[(":scheme", "ftp")]),
    malformed("https without TLS", instead=[(":scheme", "https")]),
    malformed("CR LF in a value", more=[("x", "a\r\nb: c")]),
    malformed("LF in a value", more=[("x", "a\nb: c")]),
    malformed("CR in a value", more=[("x", "a\rb")]),
    malformed("NUL in a value", more=[("x", "a\0b")]),
    malformed("space before a value", more=[("x", " a")]),
    malformed("CR LF in a name", more=[("x: a\r\ny", "z")]),
    malformed("a colon in a name", more=[("x:y", "z")]),
    malformed("a space in a name", more=[("x y", "z")]),
    malformed("an empty name", more=[("", "z")]),
    malformed("CR LF in a cookie", more=[("cookie", "a\r\nb: c")]),
    ("8 CR LF in a trailer", post(1) + data(1, flags=0) + headers(1, [("x", "a\r\nb: c")]), MALFORMED),
    ("8 transfer-encoding among trailers",
     post(1) + data(1, flags=0) + headers(1, [("transfer-encoding", "chunked")]), MALFORMED),
    ("8 chunks as content", post(1) + data(1, b"0\r\n\r\nGET /admin HTTP/1.1\r\n\r\n"), FINE),
    # hpack.
    ("hpack 2.3.3 an index beyond both tables", raw(1, 5, 1, block(fields()) + b"\xff\x80\x01"), COMPRESSION),
    ("hpack 4.2 a table size at the end", raw(1, 5, 1, block(fields()) + b"\x3f\x21"), COMPRESSION),
    ("hpack 5.2 padding of more than 7 bits",
     raw(1, 5, 1, block(fields()) + b"\x00\x85\xf2\xb2\x4a\x84\xff\x84\x49\x50\x9f\xff"),
     COMPRESSION),
    ("hpack 5.2 padding of zeros", raw(1, 5, 1, block(fields()) + b"\x00\x85\xf2\xb2\x4a\x84\xff\x83\x49\x50\x90"),
     COMPRESSION),
    ("hpack 5.2 the end of string",
     raw(1, 5, 1, block(fields()) + b"\x00\x85\xf2\xb2\x4a\x84\xff\x87\x49\x51\xff\xff\xff\xfa\x7f"),
     COMPRESSION),
    ("hpack 6.1 index 0", raw(1, 5, 1, block(fields()) + b"\x80"), COMPRESSION),
    ("hpack 6.3 a table above the setting", raw(1, 5, 1, b"\x3f\xe2\x7f" + block(fields())), COMPRESSION),
]


def tunnel(name="websocket", more=(), without=(), flags=4, method="CONNECT", path="/chat/x"):
    return headers(1, [(":protocol", name)] + fields(method, path, without=without) + list(more), flags)


def no_tunnel(title, allowed=MALFORMED, **options):
    return (f"8441 4 {title}", tunnel(**options), allowed)


WEBSOCKET_CASES = [
    ("8441 4 a WebSocket, whose end ends it", tunnel() + data(1), FINE),
    ("8441 4 one that has ended already", tunnel(flags=5), FINE),
    ("8441 4 one that is reset", tunnel() + reset(1), ALIVE),
    ("8441 5 content before the response is no request", tunnel() + data(1, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
     FINE),
    no_tunnel("another protocol", {"status 501"}, name="connect-udp", flags=5),
    no_tunnel("a route without WebSockets", {"status 501"}, path="/other", flags=5),
    no_tunnel("another authority", REFUSED, without=[":authority"], more=[("host", "other")], flags=5),
    no_tunnel("GET", method="GET"),
    no_tunnel("POST", method="POST"),
    no_tunnel("no scheme", without=[":scheme"]),
    no_tunnel("no path", without=[":path"]),
    no_tunnel("no authority", without=[":authority"]),
    no_tunnel("no protocol", name=""),
    no_tunnel("CR LF in the protocol", name="websocket\r\nx: y"),
    no_tunnel("CR in the protocol", name="websocket\rx"),
    no_tunnel("LF in the protocol", name="websocket\n"),
    no_tunnel("NUL in the protocol", name="websocket\0"),
    no_tunnel("a space in the protocol", name="websocket x"),
    no_tunnel("two protocols", name="websocket, h2c"),
    no_tunnel("a protocol and a request", name="websocket HTTP/1.1\r\n\r\nGET /admin"),
    no_tunnel("a length", more=[("content-length", "3")]),
    no_tunnel("upgrade", more=[("upgrade", "websocket")]),
    no_tunnel("connection", more=[("connection", "upgrade")]),
    ("8441 4 two :protocol", headers(1, [(":protocol", "websocket")] * 2 + fields("CONNECT"), 4), MALFORMED),
    ("8441 4 :protocol behind fields", headers(1, fields("CONNECT") + [("x", "y"), (":protocol", "websocket")]),
     MALFORMED),
    ("8441 4 :protocol among trailers", post(1) + data(1, flags=0) + headers(1, [(":protocol", "websocket")]),
     MALFORMED),
    ("8 CONNECT without :protocol", headers(1, fields("CONNECT", without=[":path", ":scheme"])), REFUSED),
    ("8441 3 a setting that is no flag", setting(8, 2), PROTOCOL),
]


def run(port, case):
    name, sent, allowed = case
    if sent is None:
        connection = Connection(port, preface=PREFACE + raw(6, 0, 0, PROBE))
    else:
        connection = Connection(port)
        connection.send(sent)
    # If silence is a mistake, it is waited for longer.
    outcome = connection.outcome(0.5 if "alive" in allowed else 30)
    connection.socket.close()
    return None if outcome in allowed else f"FAILED {name}: {outcome}"


if __name__ == "__main__":
    cases = WEBSOCKET_CASES if sys.argv[2:] == ["websocket"] else CASES
    failures = [line for line in (run(int(sys.argv[1]), case) for case in cases) if line]
    for line in failures:
        print(line)
    print(f"{len(cases)} cases, {len(failures)} failed")
