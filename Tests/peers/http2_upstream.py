"""An upstream with HTTP/2 that does to order what a server does not do, frame by frame. The path says what:

/seen            answers with the fields as they arrived
/sink            reads the whole content; answers its length, its SHA-256 and the trailers
/refused         refuses the first request with REFUSED_STREAM, and answers the second
/gone            answers the first request with a GOAWAY that leaves it out, and the end; the second is answered
/leaving         answers, behind a GOAWAY that includes it
/http11          wants HTTP/1.1
/early           answers 403 before the content, and wants no more of it (RST_STREAM without an error)
/interim         a 103 before the 200; /trailers trailer fields; /only-trailers a response without content
/broken          breaks off in the middle of the content
/held            gets no answer
/paused/NAME     answers half of 200,000 bytes, and the rest when /go was requested
/window          gives no window for content

    http2_upstream.py [STREAMS]     permits that many streams at once

Prints `listening PORT`, then `connection N` for each, and `request PATH connection=N` for each request.
"""

import hashlib
import socket
import socketserver
import struct
import sys
import threading

import hpack
from hyperframe import frame as frames

lock = threading.Lock()
released = threading.Event()
seen = {}
connections = 0
streams = int(sys.argv[1]) if len(sys.argv) > 1 else 100


def say(*words):
    with lock:
        print(*words, flush=True)


def is_first(path):
    with lock:
        seen[path] = seen.get(path, 0) + 1
        return seen[path] == 1


def raw(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


class Connection(socketserver.BaseRequestHandler):
    def handle(self):
        global connections
        with lock:
            connections += 1
            self.number = connections
        say("connection", self.number)
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.decoder, self.encoder = hpack.Decoder(), hpack.Encoder()
        self.sending = threading.Lock()
        self.requests = {}
        try:
            self.read(24)
            self.send(raw(4, 0, 0, struct.pack(">HI", 3, streams)))
            while self.one():
                pass
        except (ConnectionError, BrokenPipeError):
            pass

    def read(self, count):
        data = b""
        while len(data) < count:
            piece = self.request.recv(count - len(data))
            if not piece:
                raise ConnectionError
            data += piece
        return data

    def send(self, data):
        with self.sending:
            self.request.sendall(data)

    def one(self):
        head = self.read(9)
        frame, length = frames.Frame.parse_frame_header(memoryview(head))
        frame.parse_body(memoryview(self.read(length)))
        if isinstance(frame, frames.SettingsFrame) and "ACK" not in frame.flags:
            self.send(raw(4, 1, 0))
        elif isinstance(frame, frames.PingFrame) and "ACK" not in frame.flags:
            self.send(raw(6, 1, 0, frame.opaque_data))
        elif isinstance(frame, (frames.HeadersFrame, frames.ContinuationFrame)):
            self.block = frame.data if isinstance(frame, frames.HeadersFrame) else self.block + frame.data
            self.ends = getattr(self, "ends", False) or "END_STREAM" in frame.flags
            if "END_HEADERS" in frame.flags:
                fields, ends, self.ends = self.decoder.decode(self.block), self.ends, False
                if frame.stream_id not in self.requests:
                    return self.begin(frame.stream_id, fields, ends)
                self.requests[frame.stream_id]["trailers"] = fields
                self.end(frame.stream_id)
        elif isinstance(frame, frames.DataFrame):
            request = self.requests.get(frame.stream_id)
            if request is None:
                return True
            request["sum"].update(frame.data)
            request["length"] += len(frame.data)
            if frame.data and request["path"] != "/window":
                increment = struct.pack(">I", len(frame.data))
                self.send(raw(8, 0, 0, increment) + raw(8, 0, frame.stream_id, increment))
            if "END_STREAM" in frame.flags:
                self.end(frame.stream_id)
        elif isinstance(frame, frames.GoAwayFrame):
            say("goaway", frame.error_code, f"connection={self.number}")
        elif isinstance(frame, frames.RstStreamFrame):
            say("reset", frame.error_code, f"connection={self.number}")
            self.requests.pop(frame.stream_id, None)
        return True

    def begin(self, stream, fields, ends):
        path = dict(fields)[":path"]
        say("request", path, f"connection={self.number}")
        self.requests[stream] = {"fields": fields, "path": path, "sum": hashlib.sha256(), "length": 0, "trailers": []}
        if path == "/refused" and is_first(path):
            self.send(raw(3, 0, stream, struct.pack(">I", 7)))
        elif path == "/http11":
            self.send(raw(3, 0, stream, struct.pack(">I", 13)))
        elif path == "/gone" and is_first(path):
            self.send(raw(7, 0, 0, struct.pack(">II", max(stream - 2, 0), 0)))
            return False
        elif path == "/early":
            self.head(stream, [(":status", "403")], ends=True)
            self.send(raw(3, 0, stream, struct.pack(">I", 0)))
        elif ends:
            self.end(stream)
        return True

    def head(self, stream, fields, ends=False):
        self.send(raw(1, 5 if ends else 4, stream, self.encoder.encode(fields)))

    def go_on(self, stream):
        released.wait()
        self.send(raw(0, 0, stream, b"y" * 10_000) * 9 + raw(0, 1, stream, b"y" * 10_000))

    def end(self, stream):
        request = self.requests.pop(stream)
        path, content, trailers = request["path"], b"ok", []
        if path in ("/held", "/window"):
            return
        if path == "/go":
            released.set()
        if path.startswith("/paused/"):
            self.head(stream, [(":status", "200"), ("content-length", "200000")])
            self.send(raw(0, 0, stream, b"x" * 10_000) * 10)
            threading.Thread(target=self.go_on, args=(stream,), daemon=True).start()
            return
        if path == "/leaving":
            self.send(raw(7, 0, 0, struct.pack(">II", stream, 0)))
        if path == "/seen":
            content = "".join(f"{name}: {value}\n" for name, value in request["fields"]).encode()
        if path == "/sink":
            content = f"{request['length']} {request['sum'].hexdigest()} {request['trailers']}".encode()
        if path == "/interim":
            self.head(stream, [(":status", "103"), ("link", "</a>")])
        if path == "/only-trailers":
            return self.head(stream, [(":status", "200"), ("x-end", "1")], ends=True)
        if path in ("/trailers", "/sink"):
            trailers = [("x-end", "1")]
        is_head = dict(request["fields"])[":method"] == "HEAD"
        self.head(stream, [(":status", "200"), ("x-connection", str(self.number))], ends=is_head)
        if is_head:
            return
        self.send(raw(0, 0 if trailers or path == "/broken" else 1, stream, content))
        if trailers:
            self.head(stream, trailers, ends=True)
        if path == "/broken":
            self.send(raw(3, 0, stream, struct.pack(">I", 2)))


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 100


with Server(("127.0.0.1", 0), Connection) as server:
    print("listening", server.server_address[1], flush=True)
    server.serve_forever()
