"""An upstream that does to order what a web server cannot be made to do. The path says what:

/seen            answers with the request head exactly as it arrived
/sink            reads the whole body; answers {"bytes", "sha256", "framing", "trailers"}
/early           answers 403 before it has read any of the body, then reads the rest
/slow/SECONDS    thinks that long before the head; /stall/SECONDS rests that long in the middle of the body
/bytes/N         a body of N bytes; /chunked/N the same in chunks; /until-close/N the same ended by the close
/trailers        a chunked body with a trailer field; /interim a 103 before the 200
/truncated       promises 100 bytes, sends 10 and closes; /reset breaks the connection off there; /garbage is no HTTP;
                 /hang-up closes without an answer
/fields?N=V&…    answers with these fields, and the field "content" as the body; /hints?N=V&… has them in a 103 too
/big-head        one header field of 128 KiB; /twice two Set-Cookie fields and one of each hop-by-hop field
/raw/HEX         exactly the bytes that HEX spells, and the end of the connection
/mute/SECONDS    is silent that long, reads nothing, and answers then
/refuse-once     refuses the first request's token, and answers the second as /seen does

Prints `listening PORT`, then `request LINE connection=N` for every request it reads.
"""

import hashlib
import json
import os
import socket
import socketserver
import struct
import threading
import time
import urllib.parse

lock = threading.Lock()
connections = 0
refusals = 0


def say(*words):
    with lock:
        print(*words, flush=True)


class Connection(socketserver.StreamRequestHandler):
    wbufsize = 0
    disable_nagle_algorithm = True

    def handle(self):
        global connections
        with lock:
            connections += 1
            number = connections
        try:
            while self.one(number):
                pass
        except (ConnectionError, BrokenPipeError):
            pass

    def one(self, number):
        """Reads one request and answers it; says whether the connection goes on."""
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            line = self.rfile.readline(262144)
            if not line:
                return False
            head += line
        lines = head.decode("latin-1").split("\r\n")
        say("request", lines[0], f"connection={number}")
        self.fields = {}
        for line in lines[1:-2]:
            name, _, value = line.partition(":")
            self.fields[name.strip().lower()] = value.strip()
        method, path, _ = lines[0].split(" ", 2)
        word, _, argument = path.partition("?")[0].strip("/").partition("/")
        act = getattr(self, "do_" + word.replace("-", "_"), None)
        if act is None:
            self.drain()
            self.answer(b"no such order\n", "404 Not Found")
            return True
        return act(method, head, argument) is not False

    def body(self):
        """The request's body, piece by piece; trailers go to self.trailers."""
        self.trailers = {}
        if self.fields.get("expect", "").lower() == "100-continue":
            self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if self.fields.get("transfer-encoding", "").lower() == "chunked":
            while True:
                size = int(self.rfile.readline().split(b";")[0], 16)
                if size == 0:
                    break
                while size:
                    piece = self.rfile.read(min(size, 1 << 20))
                    if not piece:
                        raise ConnectionError
                    size -= len(piece)
                    yield piece
                self.rfile.readline()
            while (line := self.rfile.readline().decode("latin-1").strip()):
                name, _, value = line.partition(":")
                self.trailers[name.lower()] = value.strip()
            return
        missing = int(self.fields.get("content-length", 0))
        while missing:
            piece = self.rfile.read(min(missing, 1 << 20))
            if not piece:
                raise ConnectionError
            missing -= len(piece)
            yield piece

    def drain(self):
        for _ in self.body():
            pass

    def answer(self, body, status="200 OK", fields=""):
        self.wfile.write(f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{fields}\r\n".encode("latin-1") + body)

    def send_bytes(self, count):
        piece = b"x" * 65536
        while count:
            self.wfile.write(piece[: min(count, len(piece))])
            count -= min(count, len(piece))

    def do_seen(self, method, head, argument):
        self.drain()
        self.answer(head)

    def do_refuse_once(self, method, head, argument):
        global refusals
        self.drain()
        with lock:
            refusals += 1
            is_first = refusals == 1
        if is_first:
            self.answer(b"", "401 Unauthorized", 'WWW-Authenticate: Bearer error="invalid_token"\r\n')
        else:
            self.answer(head)

    def do_sink(self, method, head, argument):
        digest, count = hashlib.sha256(), 0
        for piece in self.body():
            digest.update(piece)
            count += len(piece)
        framing = (
            "chunked" if "transfer-encoding" in self.fields else "length" if "content-length" in self.fields else "none"
        )
        report = {"bytes": count, "sha256": digest.hexdigest(), "framing": framing, "trailers": self.trailers}
        self.answer(json.dumps(report).encode())

    def do_early(self, method, head, argument):
        self.answer(b"enough\n", "403 Forbidden")
        self.drain()

    def do_slow(self, method, head, argument):
        self.drain()
        time.sleep(float(argument))
        self.answer(b"at last\n")

    def do_stall(self, method, head, argument):
        self.drain()
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n01234")
        time.sleep(float(argument))
        self.wfile.write(b"56789")

    def do_bytes(self, method, head, argument):
        self.wfile.write(f"HTTP/1.1 200 OK\r\nContent-Length: {argument}\r\n\r\n".encode())
        if method != "HEAD":
            self.send_bytes(int(argument))

    def do_chunked(self, method, head, argument):
        self.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        missing = int(argument)
        while missing:
            size = min(missing, 10000)
            self.wfile.write(f"{size:x}\r\n".encode() + b"x" * size + b"\r\n")
            missing -= size
        self.wfile.write(b"0\r\n\r\n")

    def do_until_close(self, method, head, argument):
        self.wfile.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
        self.send_bytes(int(argument))
        return False

    def do_trailers(self, method, head, argument):
        self.wfile.write(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Checksum\r\n\r\n"
            b"5\r\nhello\r\n0\r\nX-Checksum: abc123\r\n\r\n"
        )

    def do_raw(self, method, head, argument):
        self.wfile.write(bytes.fromhex(argument))
        return False

    def do_mute(self, method, head, argument):
        time.sleep(float(argument))
        self.answer(b"at last\n", fields="Connection: close\r\n")
        return False

    def do_interim(self, method, head, argument):
        self.drain()
        self.wfile.write(b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n")
        self.answer(b"final\n")

    def do_fields(self, method, head, argument):
        self.drain()
        pairs = self.query(head)
        content = dict(pairs).get("content", "").encode()
        self.answer(content, fields="".join("%s: %s\r\n" % pair for pair in pairs if pair[0] != "content"))

    def do_hints(self, method, head, argument):
        lines = "".join("%s: %s\r\n" % pair for pair in self.query(head))
        self.wfile.write(("HTTP/1.1 103 Early Hints\r\n%s\r\n" % lines).encode("latin-1"))
        self.do_fields(method, head, argument)

    @staticmethod
    def query(head):
        return urllib.parse.parse_qsl(head.split(b" ")[1].decode().partition("?")[2])

    def do_truncated(self, method, head, argument):
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789")
        return False

    def do_reset(self, method, head, argument):
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789")
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        os.close(self.connection.detach())
        return False

    def do_garbage(self, method, head, argument):
        self.wfile.write(b"this is no HTTP at all\r\n\r\n")
        return False

    def do_hang_up(self, method, head, argument):
        return False

    def do_big_head(self, method, head, argument):
        self.answer(b"ok\n", fields="X-Big: " + "y" * 131072 + "\r\n")

    def do_twice(self, method, head, argument):
        self.answer(
            b"ok\n",
            fields="Set-Cookie: a=1\r\nSet-Cookie: b=2\r\n"
            "Connection: X-Listed\r\nX-Listed: gone\r\nKeep-Alive: timeout=9\r\n"
            "Proxy-Authenticate: Basic\r\nUpgrade: h2c\r\nX-Kept: stays\r\n",
        )


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 1024


if __name__ == "__main__":
    with Server(("127.0.0.1", 0), Connection) as server:
        say("listening", server.server_address[1])
        server.serve_forever()
