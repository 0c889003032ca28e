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
