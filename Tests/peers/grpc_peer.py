"""Both ends of gRPC calls, with grpcio: messages are bytes, so that no schema is needed.

    grpc_peer.py serve         answers every call with the Authorization that it was shown, then what it is sent
    grpc_peer.py health STATE  serves grpc.health.v1 with that state, or for UNIMPLEMENTED no method at all
    grpc_peer.py call TARGET   calls /orders.Orders/Get and /orders.Orders/Chat there, and prints what happened as JSON
    grpc_peer.py fail TARGET METHOD…
                               calls each METHOD there, unary and as a stream of messages, and prints a line for each:
                               the code, the message, and the challenge that came with it

The server prints `listening PORT`.
"""

import concurrent.futures
import json
import sys

import grpc


class Echo(grpc.GenericRpcHandler):
    def service(self, call):
        shown = dict(call.invocation_metadata).get("authorization", "none").encode()
        if call.method == "/orders.Orders/Chat":
            return grpc.stream_stream_rpc_method_handler(
                lambda messages, _: (part for message in messages for part in (shown, message)))
        return grpc.unary_unary_rpc_method_handler(lambda message, _: shown + b" " + message)


def health(state):
    from grpc_health.v1 import health, health_pb2, health_pb2_grpc

    def add(server):
        if state == "UNIMPLEMENTED":
            return
        servicer = health.HealthServicer()
        servicer.set("", health_pb2.HealthCheckResponse.ServingStatus.Value(state))
        health_pb2_grpc.add_HealthServicer_to_server(servicer, server)

    serve((), add)


def serve(handlers=(Echo(),), add=lambda server: None):
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(4), handlers=handlers)
    add(server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print("listening", port, flush=True)
    server.wait_for_termination()


def call(target):
    result = {}
    with grpc.insecure_channel(target) as channel:
        try:
            get = channel.unary_unary("/orders.Orders/Get")
            result["get"] = get(b"message", metadata=[("authorization", "Bearer own")], timeout=60).decode()
            chat = channel.stream_stream("/orders.Orders/Chat")
            result["chat"] = [part.decode() for part in chat(iter([b"one", b"two"]), timeout=60)]
        except grpc.RpcError as error:
            result["code"] = error.code().name
    print(json.dumps(result))


def fail(target, methods):
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


if sys.argv[1] == "serve":
    serve()
elif sys.argv[1] == "health":
    health(sys.argv[2])
elif sys.argv[1] == "fail":
    fail(sys.argv[2], sys.argv[3:])
else:
    call(sys.argv[2])
