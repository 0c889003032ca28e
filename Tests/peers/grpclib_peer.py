"""Both ends of gRPC calls, with grpclib, a second implementation: the methods and the lines of grpc_peer.py.

    grpclib_peer.py serve           prints `listening PORT`
    grpclib_peer.py calls TARGET    makes calls of every kind there, and prints what became of them as JSON
"""

import asyncio
import hashlib
import json
import sys

from grpclib.client import Channel, StreamStreamMethod, StreamUnaryMethod, UnaryStreamMethod, UnaryUnaryMethod
from grpclib.const import Cardinality, Handler, Status
from grpclib.encoding.base import CodecBase
from grpclib.exceptions import GRPCError
from grpclib.server import Server


class Plain(CodecBase):
    """Messages are bytes, so that no schema is needed."""

    __content_subtype__ = "proto"

    def encode(self, message, message_type):
        return message

    def decode(self, data, message_type):
        return bytes(data)


class Orders:
    async def get(self, stream):
        message = await stream.recv_message()
        await stream.send_message(stream.metadata.get("authorization", "none").encode() + b" " + message)
        await stream.send_trailing_metadata(metadata={"x-end": "1"})

    async def count(self, stream):
        digest, length = hashlib.sha256(), 0
        async for message in stream:
            digest.update(message)
            length += len(message)
        await stream.send_message(f"{length} {digest.hexdigest()}".encode())

    async def listing(self, stream):
        for number in range(int(await stream.recv_message())):
            await stream.send_message(bytes([number % 256]) * 10_000)

    async def chat(self, stream):
        async for message in stream:
            if message == b"stop":
                raise GRPCError(Status.ABORTED, "enough: ü")
            await stream.send_message(b"echo " + message)

    async def fail(self, stream):
        await stream.recv_message()
        await stream.send_trailing_metadata(
            status=Status.NOT_FOUND, status_message="no such order", metadata={"x-why": "because"})

    def __mapping__(self):
        kinds = {
            "Get": (self.get, Cardinality.UNARY_UNARY),
            "Count": (self.count, Cardinality.STREAM_UNARY),
            "List": (self.listing, Cardinality.UNARY_STREAM),
            "Chat": (self.chat, Cardinality.STREAM_STREAM),
            "Fail": (self.fail, Cardinality.UNARY_UNARY),
        }
        return {f"/orders.Orders/{name}": Handler(*kind, bytes, bytes) for name, kind in kinds.items()}


async def serve():
    server = Server([Orders()], codec=Plain())
    await server.start("127.0.0.1", 0)
    print("listening", server._server.sockets[0].getsockname()[1], flush=True)
    await server.wait_closed()


async def calls(target):
    host, port = target.split(":")
    channel = Channel(host, int(port), codec=Plain())

    def method(kind, name):
        return kind(channel, f"/orders.Orders/{name}", bytes, bytes)

    unary, listing, told = method(UnaryUnaryMethod, "Get"), method(UnaryStreamMethod, "List"), {}
    async with unary.open(metadata={"authorization": "Bearer own"}, timeout=120) as stream:
        await stream.send_message(b"message", end=True)
        told["get"] = (await stream.recv_message()).decode()
        await stream.recv_trailing_metadata()
        told["trailers"] = stream.trailing_metadata.get("x-end")
    answers = await asyncio.gather(*(unary(str(n).encode(), timeout=120) for n in range(90)))
    told["many"] = [answer.split()[-1] for answer in answers] == [str(n).encode() for n in range(90)]
    large = bytes(range(256)) * 12_000
    told["large"] = (await unary(large, timeout=120)).endswith(large)
    pieces = [bytes([n % 256]) * 20_000 for n in range(200)]
    counted = await method(StreamUnaryMethod, "Count")(pieces, timeout=120)
    told["count"] = counted == f"4000000 {hashlib.sha256(b''.join(pieces)).hexdigest()}".encode()
    told["list"] = await listing(b"300", timeout=120) == [bytes([n % 256]) * 10_000 for n in range(300)]
    told["chat"] = []
    try:
        async with method(StreamStreamMethod, "Chat").open(timeout=120) as stream:
            # Each message is sent when the answer to the one before is here.
            for number in range(20):
                await stream.send_message(str(number).encode())
                told["chat"].append((await stream.recv_message()).decode())
            await stream.send_message(b"stop", end=True)
            await stream.recv_message()
    except GRPCError as error:
        told["chat_end"] = [error.status.name, error.message]
    async with method(UnaryUnaryMethod, "Fail").open(timeout=120) as stream:
        await stream.send_message(b"", end=True)
        try:
            await stream.recv_message()
            await stream.recv_trailing_metadata()
        except GRPCError as error:
            told["fail"] = [error.status.name, error.message, (stream.trailing_metadata or {}).get("x-why")]
    try:
        await method(UnaryUnaryMethod, "No")(b"", timeout=120)
    except GRPCError as error:
        told["unknown"] = error.status.name
    async with listing.open(timeout=120) as stream:
        await stream.send_message(b"100000", end=True)
        await stream.recv_message()
        await stream.cancel()
    told["after"] = (await unary(b"again", timeout=120)).split()[-1].decode()
    channel.close()
    print(json.dumps(told))


asyncio.run(serve() if sys.argv[1] == "serve" else calls(sys.argv[2]))
