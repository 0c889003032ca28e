"""An upstream that closes connections while a request is on its way to it.

    closing_upstream.py WAY [SECONDS]

Prints `listening PORT`, and `applied TARGET connection=N` for each POST that it reads. By WAY:

    crossing   the first connection closes behind its first answer, and the next request arrives after that
    reading    it reads the next request, and closes
    resetting  it resets the connection with the next request unread
    idle       each connection closes when nothing has arrived for SECONDS

Otherwise each request is answered. For a request that crosses the end, the kernel drops what arrives as if it were
lost, until something has.
"""

import ctypes
import itertools
import select
import socket
import struct
import sys
import threading

SO_ATTACH_FILTER, SO_DETACH_FILTER, SO_MEMINFO, DROPS = 26, 27, 55, 8
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def drop_until_something_arrives(peer):
    """A filter that returns 0 drops each segment before TCP sees it."""
    instruction = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0))
    peer.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HP", 1, ctypes.addressof(instruction)))
    peer.sendall(ANSWER)
    while struct.unpack("9I", peer.getsockopt(socket.SOL_SOCKET, SO_MEMINFO, 36))[DROPS] < 2:
        select.select([], [], [], 0.001)
    peer.shutdown(socket.SHUT_WR)
    peer.setsockopt(socket.SOL_SOCKET, SO_DETACH_FILTER, 0)


def read_request(peer, number, patience=None):
    """True if a request came; False at the end, or after `patience` seconds of silence."""
    received = b""
    while b"\r\n\r\n" not in received:
        if not select.select([peer], [], [], patience)[0]:
            return False
        piece = peer.recv(65536)
        if not piece:
            return False
        received += piece
    head, _, content = received.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    length = next((int(line[15:]) for line in lines if line.lower().startswith("content-length:")), 0)
    while len(content) < length:
        content += peer.recv(65536)
    method, target, _ = lines[0].split(" ")
    if method == "POST":
        sys.stdout.write(f"applied {target} connection={number}\n")
        sys.stdout.flush()
    return True


def serve(peer, way, patience, number):
    with peer:
        while read_request(peer, number, patience):
            if way == "crossing":
                return drop_until_something_arrives(peer)
            peer.sendall(ANSWER)
            if way == "reading":
                read_request(peer, number)
                return
            if way == "resetting":
                select.select([peer], [], [])
                return


def main():
    way = sys.argv[1]
    patience = float(sys.argv[2]) if way == "idle" else None
    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    print("listening", listener.getsockname()[1], flush=True)
    for number in itertools.count(1):
        peer, _ = listener.accept()
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        arguments = (peer, way if number == 1 else "answering", patience, number)
        threading.Thread(target=serve, args=arguments, daemon=True).start()


main()
