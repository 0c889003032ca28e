#!/usr/bin/env python3
"""Both ends of a WebSocket, with the websockets package, and a server that speaks nothing of it behind the handshake.

    websocket_peer.py serve            echoes each message; the first one it sends is the Authorization it was shown
    websocket_peer.py serve-raw        answers 101, echoes bytes until they end, then says "bye" and ends
    websocket_peer.py serve-silent     answers 101 and nothing more
    websocket_peer.py serve-deaf       answers 101 and reads nothing more
    websocket_peer.py serve-unproven   answers 101 without the proof of RFC 6455, and echoes bytes
    websocket_peer.py wait URL         says nothing, and prints the status with which the other side closes
    websocket_peer.py call URL [FIELD] exchanges messages and prints what happened as JSON; FIELD is `name: value`

A server prints `listening PORT`, `began` for each connection that has begun, and `ended` for each one that ends,
`serve` with the status of its end.
"""

import base64
import hashlib
import json
import socket
import sys
import threading

from websockets.exceptions import WebSocketException
from websockets.sync.client import connect
from websockets.sync.server import serve


def echo(connection):
    print("began", flush=True)
    connection.send(connection.request.headers.get("Authorization", "none"))
    for message in connection:
        connection.send(message)
    print("ended", connection.close_code, flush=True)


def proof(head):
    keys = [line[19:] for line in head.split(b"\r\n") if line.lower().startswith(b"sec-websocket-key: ")]
    key = keys[0] if keys else b""
    return base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())


def raw(client, mode):
    head = b""
    while b"\r\n\r\n" not in head:
        head += client.recv(4096)
    client.sendall(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n")
    if mode != "serve-unproven":
        client.sendall(b"Sec-WebSocket-Accept: " + proof(head) + b"\r\n")
    client.sendall(b"\r\n")
    print("began", flush=True)
    if mode == "serve-deaf":
        threading.Event().wait()
    silent = mode == "serve-silent"
    rest = head.split(b"\r\n\r\n", 1)[1]
    while rest or (rest := client.recv(65536)):
        if not silent:
            client.sendall(rest)
        rest = b""
    if not silent:
        client.sendall(b"bye")
    print("ended", flush=True)
    client.close()


def call(url, fields):
    result = {}
    try:
        with connect(
            url, additional_headers=dict(field.split(": ", 1) for field in fields), max_size=None, close_timeout=1
        ) as connection:
            result["authorization"] = connection.recv(timeout=20)
            connection.send("text ü")
            result["text"] = connection.recv(timeout=20)
            large = bytes(range(256)) * 8192
            connection.send(large)
            result["binary"] = connection.recv(timeout=20) == large
            result["pong"] = connection.ping().wait(20)
            connection.close(1000, "done")
            result["close"] = connection.close_code
    except (WebSocketException, OSError) as error:
        result["error"] = f"{type(error).__name__}: {error}"
    print(json.dumps(result))


def wait(url):
    with connect(url) as connection:
        try:
            while True:
                connection.recv(timeout=60)
        except WebSocketException:
            print(json.dumps({"close": connection.close_code}))


def main():
    mode, arguments = sys.argv[1], sys.argv[2:]
    if mode == "call":
        call(arguments[0], arguments[1:])
    elif mode == "wait":
        wait(arguments[0])
    elif mode == "serve":
        with serve(echo, "127.0.0.1", 0, max_size=None) as server:
            print("listening", server.socket.getsockname()[1], flush=True)
            server.serve_forever()
    else:
        listener = socket.create_server(("127.0.0.1", 0))
        print("listening", listener.getsockname()[1], flush=True)
        while True:
            client, _ = listener.accept()
            threading.Thread(target=raw, args=(client, mode), daemon=True).start()


main()
