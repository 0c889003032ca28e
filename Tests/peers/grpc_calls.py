"""Both ends of gRPC calls of every kind, with grpcio: messages are bytes, so that no schema is needed.

    grpc_calls.py serve [refuse]    `refuse`: a token is good for nothing until another one comes
    grpc_calls.py call TARGET       makes the calls there, and prints what became of them as JSON

The server prints `listening PORT`.
"""

import concurrent.futures
import hashlib
import json
import sys
import threading

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
            "/orders.Orders/Fail": grpc.unary_unary_rpc_method_handler(fail),
        }.get(call.method)


def serve():
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(32), handlers=(Handler(),))
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


if sys.argv[1] == "serve":
    serve()
else:
    call(sys.argv[2])
