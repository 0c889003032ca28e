"""The upstream and the callers of chaos.py with HTTP/2: the same exchanges, the same verdicts, many at once on each
connection.

    chaos_http2.py upstream [--certificate F --key F]     prints `listening PORT`; serves until it is killed
    chaos_http2.py callers PORT COUNT [OPTIONS]           as chaos.py; --at-once exchanges share --connections

What ends a connection in HTTP/1.1 resets a stream here. The upstream has three faults more, behind which the exchange
goes on elsewhere: `refuse` (REFUSED_STREAM, once), `goaway` (a GOAWAY that includes the stream) and `goaway-before`
(one that leaves it out, once). Callers leave their connections after some streams, and take some answers slowly: they
give no window for a moment.
"""

import asyncio
import ssl

import chaos
import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
import h2.settings
from hyperframe.frame import GoAwayFrame

# Fewer than the resets that a connection may have.
STREAMS_PER_CONNECTION = 400


class Peer(asyncio.Protocol):
    """One side of a connection: frames in and out, content as far as the other side's windows let it."""

    client = False

    def __init__(self):
        self.connection = h2.connection.H2Connection(
            h2.config.H2Configuration(client_side=self.client, header_encoding="latin-1"))
        self.waiting = {}
        self.transport = None

    def connection_made(self, transport):
        self.transport = transport
        self.connection.initiate_connection()
        self.connection.update_settings({h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: 1 << 20})
        self.connection.increment_flow_control_window(1 << 24)
        self.flush()

    def data_received(self, data):
        try:
            events = self.connection.receive_data(data)
        except h2.exceptions.ProtocolError as error:
            self.fault(error)
            self.flush()
            self.transport.close()
            return
        for event in events:
            self.happened(event)
            if isinstance(event, h2.events.WindowUpdated | h2.events.RemoteSettingsChanged):
                self.pump()
            elif isinstance(event, h2.events.StreamReset):
                self.waiting.pop(event.stream_id, None)
        self.flush()

    def flush(self):
        if data := self.connection.data_to_send():
            self.transport.write(data)

    def send(self, stream, content, ends=True):
        """Sends content as the windows permit."""
        self.waiting[stream] = [memoryview(content), ends]
        self.pump()

    def pump(self):
        for stream, part in list(self.waiting.items()):
            try:
                while part[0]:
                    window = self.connection.local_flow_control_window(stream)
                    room = min(window, self.connection.max_outbound_frame_size)
                    if room <= 0:
                        break
                    self.connection.send_data(stream, part[0][:room].tobytes())
                    part[0] = part[0][room:]
                if not part[0]:
                    del self.waiting[stream]
                    if part[1]:
                        self.connection.end_stream(stream)
            except (h2.exceptions.StreamClosedError, h2.exceptions.ProtocolError):
                self.waiting.pop(stream, None)
        self.flush()

    def reset(self, stream, code):
        self.waiting.pop(stream, None)
        try:
            self.connection.reset_stream(stream, code)
        except (h2.exceptions.StreamClosedError, h2.exceptions.ProtocolError):
            pass
        self.flush()

    def acknowledge(self, event):
        if event.flow_controlled_length:
            try:
                self.connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            except h2.exceptions.ProtocolError:
                pass


class Upstream(Peer):
    seen = set()

    def __init__(self):
        super().__init__()
        self.requests, self.last, self.leaves = {}, 0, False
        # The streams that were answered before their request had ended, and must not be answered again: h2 encodes a
        # second head before it refuses that, and all further heads of the connection are wrong then.
        self.answered = set()

    def happened(self, event):
        if isinstance(event, h2.events.RequestReceived):
            if self.leaves is not False and event.stream_id > self.leaves:
                return
            self.last = event.stream_id
            fields = dict(event.headers)
            _, key, fault, _, size = fields[":path"].split("/")
            self.requests[event.stream_id] = [fields[":method"], key, fault, int(size), bytearray()]
            if fault in ("refuse", "goaway-before") and key not in self.seen:
                self.seen.add(key)
                del self.requests[event.stream_id]
                # A connection that has just begun carries what another one left out: it does not leave as well.
                if fault == "refuse" or event.stream_id < 40:
                    self.reset(event.stream_id, h2.errors.ErrorCodes.REFUSED_STREAM)
                else:
                    self.leave(event.stream_id - 2)
            elif fault.startswith("early"):
                self.answered.add(event.stream_id)
                self.answer(event.stream_id, early=True)
        elif isinstance(event, h2.events.DataReceived):
            self.acknowledge(event)
            if event.stream_id in self.requests:
                self.requests[event.stream_id][4] += event.data
        elif isinstance(event, h2.events.StreamEnded):
            if event.stream_id in self.requests and event.stream_id not in self.answered:
                self.answer(event.stream_id)
        elif isinstance(event, h2.events.StreamReset):
            self.finished(event.stream_id)

    def fault(self, error):
        print("upstream:", error, flush=True)

    def leave(self, last):
        """Serves no stream behind that one."""
        if self.leaves is not False:
            return
        self.leaves = max(last, 0)
        frame = GoAwayFrame(0)
        frame.last_stream_id = self.leaves
        self.flush()
        self.transport.write(frame.serialize())
        self.finished(None)

    def finished(self, stream):
        self.requests.pop(stream, None)
        if self.leaves is not False and not self.requests and not self.waiting:
            asyncio.get_running_loop().call_later(0.2, self.transport.close)

    def answer(self, stream, early=False):
        asyncio.get_running_loop().create_task(self.respond(stream, *self.requests[stream], early))

    async def respond(self, stream, method, key, fault, size, arrived, early):
        body, kind = chaos.content(key, size), fault.partition("-")[0]
        if fault.startswith("caller-"):
            kind = "none"
        if fault == "goaway" and stream >= 40:
            self.leave(self.last)
        seen = "nothing"
        if method == "POST" and not early:
            seen = "right" if bytes(arrived) == body else "wrong"
        code = h2.errors.ErrorCodes.INTERNAL_ERROR
        breaks = kind in ("reset", "close", "break")
        try:
            if kind == "garbage" or breaks and fault.endswith(("-before", "-head")):
                # A head is one frame: there is no half of it.
                return self.reset(stream, code)
            fields = [(":status", "200"), ("x-key", key), ("x-seen", seen)]
            if key.endswith(("1", "3", "5", "7")):
                fields.append(("content-length", str(size)))
            self.connection.send_headers(stream, fields)
            if breaks and fault.endswith("-body"):
                self.send(stream, body[: size // 2], ends=False)
                await asyncio.sleep(0.002)
                return self.reset(stream, code)
            if kind == "slow" and size > 5:
                for start in range(0, size, size // 5 + 1):
                    self.send(stream, body[start : start + size // 5 + 1], ends=False)
                    while stream in self.waiting:
                        await asyncio.sleep(0.001)
                    await asyncio.sleep(0.001)
                self.connection.end_stream(stream)
                self.flush()
            else:
                self.send(stream, body)
            while stream in self.waiting:
                await asyncio.sleep(0.002)
            if fault == "early-close":
                self.reset(stream, h2.errors.ErrorCodes.NO_ERROR)
        except (h2.exceptions.StreamClosedError, h2.exceptions.ProtocolError):
            self.waiting.pop(stream, None)
        finally:
            self.flush()
            self.finished(stream)


class Left(Exception):
    """The caller has ended the connection of all its streams."""


class CallerConnection(Peer):
    client = True

    def __init__(self):
        super().__init__()
        self.answers, self.opened, self.lost, self.end = {}, 0, False, ConnectionResetError("the connection ended")
        self.goes = False

    def happened(self, event):
        if isinstance(event, h2.events.ConnectionTerminated):
            self.goes = True
            if event.error_code:
                self.end = ConnectionResetError(f"GOAWAY {event.error_code}")
        elif getattr(event, "stream_id", None) in self.answers:
            if not isinstance(event, h2.events.WindowUpdated):
                self.answers[event.stream_id].put_nowait(event)

    def fault(self, error):
        self.end = ConnectionResetError(f"not HTTP/2: {error!r}")

    def connection_lost(self, error):
        self.lost = True
        for queue in self.answers.values():
            queue.put_nowait(None)

    def open(self, fields, ends):
        try:
            stream = self.connection.get_next_available_stream_id()
            self.connection.send_headers(stream, fields, end_stream=ends)
        except h2.exceptions.ProtocolError as error:
            raise self.end from error
        self.answers[stream] = asyncio.Queue()
        self.opened += 1
        self.flush()
        return stream

    async def event(self, stream):
        """The next event of a stream that matters."""
        while True:
            event = await self.answers[stream].get()
            if event is None:
                raise self.end
            if isinstance(event, h2.events.StreamReset):
                raise ConnectionResetError(f"RST_STREAM {event.error_code}")
            return event

    def release(self, stream):
        del self.answers[stream]
        if (self.goes or self.opened >= STREAMS_PER_CONNECTION) and not self.answers:
            self.lost = True
            self.transport.close()


class Connections:
    """The connections that callers share."""

    def __init__(self, options):
        self.options = options
        self.held = [None] * options.connections
        self.locks = [asyncio.Lock() for _ in self.held]
        self.tls = ssl.create_default_context(cafile=options.ca) if options.ca else None
        if self.tls:
            self.tls.set_alpn_protocols(["h2"])

    async def get(self, index):
        async with self.locks[index]:
            held = self.held[index]
            if held is None or held.lost or held.goes or held.opened >= STREAMS_PER_CONNECTION:
                _, held = await asyncio.get_running_loop().create_connection(
                    CallerConnection, "127.0.0.1", self.options.port, ssl=self.tls,
                    server_hostname="localhost" if self.tls else None)
                self.held[index] = held
            return held


class Caller(chaos.Caller):
    def __init__(self, connections, index, *rest):
        super().__init__(*rest)
        self.connections, self.index = connections, index

    def drop(self):
        pass

    async def exchange(self, key):
        try:
            await super().exchange(key)
        except Left:
            self.counts["left"] += 1

    async def attempt(self, method, target, key, fault, framing, size):
        connection = await self.connections.get(self.index)
        fields = [(":method", method), (":scheme", "http"), (":authority", "localhost"), (":path", target)]
        sent = chaos.content(key, size) if method == "POST" else b""
        if method == "POST" and self.random.random() < 0.5:
            fields.append(("content-length", str(size)))
        stops = fault.startswith("caller-") and "-half-" not in fault
        ends = not sent and not (stops and fault.endswith("-head"))
        stream = connection.open(fields, ends)
        try:
            if stops and fault.endswith(("-head", "-body")):
                if fault.endswith("-body") and sent:
                    connection.send(stream, sent[: size // 2], ends=False)
                    await asyncio.sleep(0.001)
                return self.leaves(connection, stream, fault)
            if not ends:
                connection.send(stream, sent)
            await self.receive(connection, stream, stops, method, target, key, fault, framing, size)
        finally:
            connection.release(stream)

    async def receive(self, connection, stream, stops, method, target, key, fault, framing, size):
        fields, body, slow = {}, bytearray(), self.random.random() < 0.05
        while True:
            event = await connection.event(stream)
            if isinstance(event, h2.events.ResponseReceived):
                fields = dict(event.headers)
                if stops:
                    return self.leaves(connection, stream, fault)
            elif isinstance(event, h2.events.DataReceived):
                body += event.data
                if slow:
                    await asyncio.sleep(0.02)
                connection.acknowledge(event)
                connection.flush()
            elif isinstance(event, h2.events.StreamEnded):
                break
        self.judge(fields[":status"], fields, bytes(body), method, target, key, fault, framing, size)
        if stream in connection.waiting:
            # Answered early: the rest is not wanted.
            connection.reset(stream, h2.errors.ErrorCodes.CANCEL)

    def leaves(self, connection, stream, fault):
        if "breaks" in fault:
            connection.end, connection.lost = Left(), True
            connection.transport.abort()
        else:
            connection.reset(stream, h2.errors.ErrorCodes.CANCEL)
        self.counts["left"] += 1


async def upstream(options):
    tls = None
    if options.certificate:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(options.certificate, options.key)
        tls.set_alpn_protocols(["h2"])
    server = await asyncio.get_running_loop().create_server(Upstream, "127.0.0.1", 0, backlog=1024, ssl=tls)
    print("listening", server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def callers(options):
    connections = Connections(options)
    await chaos.call(
        options, lambda index, *rest: Caller(connections, index % options.connections, *rest))


if __name__ == "__main__":
    options = chaos.options()
    asyncio.run(upstream(options) if options.mode == "upstream" else callers(options))
