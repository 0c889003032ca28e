"""Both ends of gRPC calls, with grpcio: messages are bytes, so that no schema is needed.

    grpc_peer.py serve [refuse]    `refuse`: a token is good for nothing until another one comes
    grpc_peer.py health STATE      serves grpc.health.v1 with that state, or for UNIMPLEMENTED no method at all
    grpc_peer.py described         serves grpc.health.v1 with SERVING, and reflection
    grpc_peer.py ask TARGET        asks there for health, once and as a stream, and for reflection; prints JSON
    grpc_peer.py call TARGET       calls Get and Shown there, and prints what happened as JSON
    grpc_peer.py calls TARGET      makes calls of every kind there, and prints what became of them as JSON
    grpc_peer.py drain TARGET OTHER PID
                                   sends SIGTERM to PID while a stream is open at TARGET, makes calls until one
                                   arrives at OTHER, goes on with the stream, and prints all of it as JSON
    grpc_peer.py fail TARGET METHOD…
                                   calls each METHOD there, unary and as a stream of messages, and prints a line for
                                   each: the code, the message, and the challenge that came with it

The server prints `listening PORT`.
"""

import concurrent.futures
import hashlib
import json
import os
import queue
import signal
import sys
import threading
import time

import grpc

refuses = "refuse" in sys.argv
first = None
lock = threading.Lock()


def shown(context):
    return dict(context.invocation_metadata()).get("authorization", "none")


def check(context):
    """Refuses the first token for ever, before any message."""
    global first
    if not refuses:
        return
    with lock:
        first = first or shown(context)
    if shown(context) == first:
        context.set_trailing_metadata([("www-authenticate", 'Bearer error="invalid_token"')])
        context.abort(grpc.StatusCode.UNAUTHENTICATED, "another token")


def get(message, context):
    check(context)
    context.set_trailing_metadata([("x-end", "1")])
    return shown(context).encode() + b" " + message


def count(messages, context):
    digest, length = hashlib.sha256(), 0
    for message in messages:
        digest.update(message)
        length += len(message)
    return f"{length} {digest.hexdigest()}".encode()


def listing(message, context):
    for number in range(int(message)):
        yield bytes([number % 256]) * 10_000


def chat(messages, context):
    for message in messages:
        if message == b"stop":
            context.abort(grpc.StatusCode.ABORTED, "enough: ü")
        yield b"echo " + message


def echo(messages, context):
    for message in messages:
        yield shown(context).encode()
        yield message


def fail(message, context):
    context.set_trailing_metadata([("x-why", "because")])
    context.abort(grpc.StatusCode.NOT_FOUND, "no such order")


class Handler(grpc.GenericRpcHandler):
    def service(self, call):
        return {
            "/orders.Orders/Get": grpc.unary_unary_rpc_method_handler(get),
            "/orders.Orders/Count": grpc.stream_unary_rpc_method_handler(count),
            "/orders.Orders/List": grpc.unary_stream_rpc_method_handler(listing),
            "/orders.Orders/Chat": grpc.stream_stream_rpc_method_handler(chat),
            "/orders.Orders/Shown": grpc.stream_stream_rpc_method_handler(echo),
            "/orders.Orders/Fail": grpc.unary_unary_rpc_method_handler(fail),
        }.get(call.method)


def health(state, isDescribed=False):
    from grpc_health.v1 import health, health_pb2, health_pb2_grpc

    def add(server):
        if state == "UNIMPLEMENTED":
            return
        if isDescribed:
            from grpc_reflection.v1alpha import reflection

            reflection.enable_server_reflection(["grpc.health.v1.Health", reflection.SERVICE_NAME], server)
        servicer = health.HealthServicer()
        servicer.set("", health_pb2.HealthCheckResponse.ServingStatus.Value(state))
        health_pb2_grpc.add_HealthServicer_to_server(servicer, server)

    serve((), add)


def ask(target):
    from grpc_health.v1 import health_pb2, health_pb2_grpc
    from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

    with grpc.insecure_channel(target) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        request, name = health_pb2.HealthCheckRequest(), health_pb2.HealthCheckResponse.ServingStatus.Name
        told = {"check": name(stub.Check(request, timeout=60).status)}
        watch = stub.Watch(request, timeout=60)
        told["watch"] = name(next(watch).status)
        watch.cancel()
        known = ProtoReflectionDescriptorDatabase(channel)
        told["services"] = sorted(known.get_services())
        file = known.FindFileContainingSymbol("grpc.health.v1.Health")
        told["methods"] = [method.name for method in file.service[0].method]
    print(json.dumps(told))


def serve(handlers=(Handler(),), add=lambda server: None):
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(32), handlers=handlers)
    add(server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print("listening", port, flush=True)
    server.wait_for_termination()


def code(action):
    try:
        action()
        return "OK"
    except grpc.RpcError as error:
        return error.code().name


def call(target):
    result = {}
    with grpc.insecure_channel(target) as channel:
        try:
            get = channel.unary_unary("/orders.Orders/Get")
            result["get"] = get(b"message", metadata=[("authorization", "Bearer own")], timeout=60).decode()
            chat = channel.stream_stream("/orders.Orders/Shown")
            result["chat"] = [part.decode() for part in chat(iter([b"one", b"two"]), timeout=60)]
        except grpc.RpcError as error:
            result["code"] = error.code().name
    print(json.dumps(result))


def fail_each(target, methods):
    with grpc.insecure_channel(target) as channel:
        for method in methods:
            for kind in ("unary", "stream"):
                try:
                    if kind == "unary":
                        channel.unary_unary(method)(b"message", timeout=60)
                    else:
                        list(channel.stream_stream(method)(iter([b"x" * 1000] * 100), timeout=60))
                except grpc.RpcError as error:
                    challenge = dict(error.trailing_metadata() or ()).get("www-authenticate", "-")
                    print(method, kind, error.code().name, error.details(), challenge, sep=" | ")


def calls(target):
    told = {}
    with grpc.insecure_channel(target) as channel:
        unary = channel.unary_unary("/orders.Orders/Get")
        answer, end = unary.with_call(b"message", metadata=[("authorization", "Bearer own")], timeout=120)
        told["get"], told["trailers"] = answer.decode(), dict(end.trailing_metadata()).get("x-end")
        with concurrent.futures.ThreadPoolExecutor(32) as pool:
            answers = list(pool.map(lambda n: unary(str(n).encode(), timeout=120).decode().split()[-1], range(300)))
        told["many"] = answers == [str(n) for n in range(300)]
        large = bytes(range(256)) * 12_000
        told["large"] = unary(large, timeout=120).endswith(large)
        pieces = [bytes([n % 256]) * 20_000 for n in range(200)]
        counted = channel.stream_unary("/orders.Orders/Count")(iter(pieces), timeout=120).decode()
        told["count"] = counted == f"4000000 {hashlib.sha256(b''.join(pieces)).hexdigest()}"
        listed = list(channel.unary_stream("/orders.Orders/List")(b"300", timeout=120))
        told["list"] = listed == [bytes([n % 256]) * 10_000 for n in range(300)]
        # Each message is sent when the answer to the one before is here.
        turn = threading.Semaphore()

        def messages():
            for number in range(20):
                turn.acquire()
                yield str(number).encode()
            turn.acquire()
            yield b"stop"

        told["chat"] = []
        chatting = channel.stream_stream("/orders.Orders/Chat")(messages(), timeout=120)
        try:
            for part in chatting:
                told["chat"].append(part.decode())
                turn.release()
        except grpc.RpcError as error:
            told["chat_end"] = [error.code().name, error.details()]
        try:
            channel.unary_unary("/orders.Orders/Fail")(b"", timeout=120)
        except grpc.RpcError as error:
            told["fail"] = [error.code().name, error.details(), dict(error.trailing_metadata()).get("x-why")]
        told["unknown"] = code(lambda: channel.unary_unary("/orders.Orders/No")(b"", timeout=120))
        cancelled = channel.unary_stream("/orders.Orders/List")(b"100000", timeout=120)
        next(cancelled)
        cancelled.cancel()
        told["after"] = unary(b"again", timeout=120).decode().split()[-1]
    print(json.dumps(told))


def drain(target, other, pid):
    # Otherwise the authority is both addresses.
    options = [("grpc.default_authority", target)]
    with grpc.insecure_channel(f"ipv4:{target},{other}", options) as channel:
        messages, told = queue.SimpleQueue(), {"chat": [], "calls": []}
        chatting = channel.stream_stream("/orders.Orders/Chat")(iter(messages.get, None), timeout=240)
        get = channel.unary_unary("/orders.Orders/Get")
        messages.put(b"before")
        told["chat"].append(next(chatting).decode())
        told["calls"].append(get(b"message", timeout=120).decode())
        os.kill(int(pid), signal.SIGTERM)
        end = time.monotonic() + 120
        while len(told["calls"]) < 2 and time.monotonic() < end:
            answer = get(b"message", timeout=120).decode()
            if answer not in told["calls"]:
                told["calls"].append(answer)
        for message in (b"after", b"last"):
            messages.put(message)
            told["chat"].append(next(chatting).decode())
        messages.put(None)
        told["rest"], told["code"] = [part.decode() for part in chatting], chatting.code().name
    print(json.dumps(told))


if sys.argv[1] == "serve":
    serve()
elif sys.argv[1] == "health":
    health(sys.argv[2])
elif sys.argv[1] == "described":
    health("SERVING", isDescribed=True)
elif sys.argv[1] == "drain":
    drain(*sys.argv[2:])
elif sys.argv[1] == "fail":
    fail_each(sys.argv[2], sys.argv[3:])
else:
    {"call": call, "calls": calls, "ask": ask}[sys.argv[1]](sys.argv[2])
