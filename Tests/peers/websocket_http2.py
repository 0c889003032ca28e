#!/usr/bin/env python3
"""Both ends of a WebSocket on a stream of HTTP/2 (RFC 8441), with h2, wsproto and hypercorn.

    websocket_http2.py serve                echoes each message; its first one is the Authorization that it was shown
    websocket_http2.py call PORT PATH [FIELD]
                                            exchanges messages and prints what happened as JSON; FIELD is `name: value`
    websocket_http2.py wait PORT PATH       says nothing, and prints the status with which the other side closes,
                                            and the end of the stream
    websocket_http2.py open PORT PATH       sends raw bytes instead of frames, early ones too, and ends its direction
    websocket_http2.py slow PORT PATH       sends bytes until none are taken for two seconds, and prints their number

`serve` prints `listening PORT`.
"""

import asyncio
import json
import socket
import sys
import time

import h2.config
import h2.connection
import h2.events
import h2.settings
import wsproto
import wsproto.connection
import wsproto.events as websocket
from hyperframe import frame as frames

import http2_cases


async def echo(scope, receive, send):
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        return await send({"type": "http.response.body", "body": b"plain"})
    if scope["type"] != "websocket":
        return
    fields = dict(scope["headers"])
    assert (await receive())["type"] == "websocket.connect"
    if scope["path"].endswith("/denied"):
        return await send({"type": "websocket.close", "code": 1008})
    await send({"type": "websocket.accept", "headers": [(b"x-version", scope["http_version"].encode())]})
    await send({"type": "websocket.send", "text": fields.get(b"authorization", b"none").decode()})
    while True:
        message = await receive()
        if message["type"] == "websocket.disconnect":
            return
        await send({"type": "websocket.send", "text": message.get("text"), "bytes": message.get("bytes")})


async def serve():
    import hypercorn.asyncio
    import hypercorn.config

    listener = socket.create_server(("127.0.0.1", 0))
    config = hypercorn.config.Config()
    config.bind = [f"fd://{listener.fileno()}"]
    config.websocket_max_message_size = 1 << 26
    config.accesslog = config.errorlog = None
    print("listening", listener.getsockname()[1], flush=True)
    await hypercorn.asyncio.serve(echo, config)


class Stream:
    """A stream of a connection that has asked for a WebSocket."""

    def __init__(self, port, path, fields=()):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.http = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
        self.http.initiate_connection()
        self.flush()
        self.status, self.fields, self.data, self.ended, self.reset = None, {}, b"", False, None
        self.settled = False
        while not self.settled:
            self.pump()
        self.permitted = self.http.remote_settings.get(h2.settings.SettingCodes.ENABLE_CONNECT_PROTOCOL) == 1
        self.http.send_headers(1, [
            (":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "http"), (":path", path),
            (":authority", "127.0.0.1"), ("sec-websocket-version", "13"), *fields])
        self.flush()

    def flush(self):
        self.socket.sendall(self.http.data_to_send())

    def pump(self):
        received = self.socket.recv(65536)
        if not received:
            self.ended = True
            return
        for event in self.http.receive_data(received):
            if isinstance(event, h2.events.RemoteSettingsChanged):
                self.settled = True
            if isinstance(event, h2.events.ResponseReceived):
                self.fields = dict(event.headers)
                self.status = int(self.fields[":status"])
            if isinstance(event, h2.events.DataReceived):
                self.data += event.data
                self.http.acknowledge_received_data(event.flow_controlled_length, 1)
            if isinstance(event, h2.events.StreamEnded):
                self.ended = True
            if isinstance(event, h2.events.StreamReset):
                self.ended, self.reset = True, int(event.error_code)
            if isinstance(event, h2.events.ConnectionTerminated) and event.error_code:
                self.ended, self.reset = True, f"goaway {int(event.error_code)}"
        self.flush()

    def send(self, data, ends=False):
        view = memoryview(data)
        while len(view) and not self.ended:
            room = min(self.http.local_flow_control_window(1), self.http.max_outbound_frame_size, len(view))
            if room == 0:
                self.pump()
                continue
            self.http.send_data(1, view[:room].tobytes())
            view = view[room:]
            self.flush()
        if ends:
            self.http.end_stream(1)
            self.flush()

    def head(self):
        while self.status is None and not self.ended:
            self.pump()
        return self.status


class Messages:
    """The messages on a stream."""

    def __init__(self, stream):
        self.stream = stream
        self.protocol = wsproto.connection.Connection(wsproto.ConnectionType.CLIENT)
        self.waiting, self.close, self.pong = [], None, False
        self.part = None

    def send(self, event):
        self.stream.send(self.protocol.send(event))

    def next(self):
        while not self.waiting and self.close is None:
            if self.stream.data:
                self.protocol.receive_data(self.stream.data)
                self.stream.data = b""
                for event in self.protocol.events():
                    if isinstance(event, websocket.CloseConnection):
                        self.close = event.code
                    elif isinstance(event, websocket.Pong):
                        self.pong = True
                        return None
                    elif isinstance(event, websocket.Message):
                        self.part = event.data if self.part is None else self.part + event.data
                        if event.message_finished:
                            self.waiting.append(self.part)
                            self.part = None
            elif self.stream.ended:
                return None
            else:
                self.stream.pump()
        return self.waiting.pop(0) if self.waiting else None


def call(port, path, fields):
    stream = Stream(port, path, [tuple(field.split(": ", 1)) for field in fields])
    result = {"permitted": stream.permitted, "status": stream.head()}
    if stream.status == 200:
        result["proof"] = "sec-websocket-accept" in stream.fields
        messages = Messages(stream)
        result["authorization"] = messages.next()
        messages.send(websocket.TextMessage("text ü"))
        result["text"] = messages.next()
        large = bytes(range(256)) * 8192
        messages.send(websocket.BytesMessage(large))
        result["binary"] = messages.next() == large
        messages.send(websocket.Ping(b"p"))
        messages.next()
        result["pong"] = messages.pong
        messages.send(websocket.CloseConnection(1000))
        messages.next()
        result["close"] = messages.close
    result["reset"] = stream.reset
    print(json.dumps(result))


def wait(port, path):
    # Frame by frame: h2 accepts none behind a GOAWAY, and a stream goes on to its end.
    connection = http2_cases.Connection(port)
    fields = http2_cases.fields("CONNECT", path, [("sec-websocket-version", "13")])
    connection.send(http2_cases.headers(1, [(":protocol", "websocket")] + fields, 4))
    protocol, close, end = wsproto.connection.Connection(wsproto.ConnectionType.CLIENT), None, "none"
    for frame in connection.frames(time.monotonic() + 60):
        if frame is None or isinstance(frame, frames.RstStreamFrame):
            end = "closed" if frame is None else f"reset {frame.error_code}"
            break
        if isinstance(frame, frames.HeadersFrame):
            print("opened", flush=True)
        if isinstance(frame, frames.DataFrame):
            protocol.receive_data(frame.data)
            for event in protocol.events():
                close = event.code if isinstance(event, websocket.CloseConnection) else close
            if "END_STREAM" in frame.flags:
                end = "ended"
                break
    print(json.dumps({"close": close, "end": end}))


def raw(port, path):
    stream = Stream(port, path)
    stream.send(b"early,")
    status = stream.head()
    stream.send(b"late", ends=True)
    while not stream.ended:
        stream.pump()
    print(json.dumps({"status": status, "data": stream.data.decode(), "reset": stream.reset}))


def slow(port, path):
    stream = Stream(port, path)
    stream.head()
    stream.socket.settimeout(2)
    sent = 0
    try:
        while sent < 1 << 26:
            room = min(stream.http.local_flow_control_window(1), stream.http.max_outbound_frame_size)
            if room == 0:
                stream.pump()
                continue
            stream.http.send_data(1, bytes(room))
            stream.flush()
            sent += room
    except socket.timeout:
        pass
    print(sent)


if __name__ == "__main__":
    mode, arguments = sys.argv[1], sys.argv[2:]
    if mode == "serve":
        asyncio.run(serve())
    elif mode == "call":
        call(int(arguments[0]), arguments[1], arguments[2:])
    else:
        {"wait": wait, "open": raw, "slow": slow}[mode](int(arguments[0]), arguments[1])
