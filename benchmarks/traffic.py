"""An exact number of keep-alive requests over a fixed number of connections, which wrk cannot send."""

import socket

from processes import fail


class Connections:
    def __init__(self, port, count, path, token=None, fields=""):
        field = fields + (f"Authorization: Bearer {token}\r\n" if token else "")
        self.request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{field}\r\n".encode()
        self.sockets = []
        for _ in range(count):
            connection = socket.create_connection(("127.0.0.1", port), 10)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.sockets.append(connection)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for connection in self.sockets:
            connection.close()

    def rounds(self, count):
        """Sends one request on every connection and reads every answer, `count` times; returns how many that were."""
        for _ in range(count):
            for connection in self.sockets:
                connection.sendall(self.request)
            for connection in self.sockets:
                answer(connection)
        return count * len(self.sockets)


class Streams:
    """Requests one after the other on a connection with HTTP/2, without another library's buffers between."""

    def __init__(self, port, path):
        self.socket = socket.create_connection(("127.0.0.1", port), 10)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # :method GET, :scheme http, :authority and :path without indexing.
        authority, path = f"127.0.0.1:{port}".encode(), path.encode()
        self.block = b"\x82\x86\x01" + bytes([len(authority)]) + authority + b"\x04" + bytes([len(path)]) + path
        self.stream, self.data = 1, b""
        # All the connection's window at once, and no window of streams that is in the way.
        self.socket.sendall(
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, b"\x00\x04\x7f\xff\xff\xff")
            + frame(8, 0, 0, (2**31 - 65536).to_bytes(4, "big")))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def rounds(self, count):
        """Sends a request and reads its answer, `count` times; returns how many that were."""
        for _ in range(count):
            self.socket.sendall(frame(1, 5, self.stream, self.block))
            while not self.ends():
                pass
            self.stream += 2
        return count

    def ends(self):
        """Reads a frame; true if it ends the present stream."""
        while len(self.data) < 9 or len(self.data) < 9 + int.from_bytes(self.data[:3], "big"):
            self.data += received(self.socket)
        length, kind, flags = int.from_bytes(self.data[:3], "big"), self.data[3], self.data[4]
        self.data = self.data[9 + length:]
        if kind in (3, 7):
            fail("a stream was reset, or the connection ended")
        if kind == 4 and not flags & 1:
            self.socket.sendall(frame(4, 1, 0))
        return kind in (0, 1) and bool(flags & 1)


def frame(kind, flags, stream, payload=b""):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def answer(connection):
    """Reads one whole answer with a Content-Length."""
    data = b""
    while (end := data.find(b"\r\n\r\n")) < 0:
        data += received(connection)
    head = data[:end].lower()
    if not head.startswith(b"http/1.1 200 "):
        fail(f"answered {data[:200]!r}")
    missing = int(head.split(b"content-length:")[1].split(b"\r\n")[0]) - (len(data) - end - 4)
    while missing > 0:
        missing -= len(received(connection))


def received(connection):
    data = connection.recv(65536)
    if not data:
        fail("the peer closed a connection that should have lived")
    return data
