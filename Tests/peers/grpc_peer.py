"""Both ends of gRPC calls, with grpcio: messages are bytes, so that no schema is needed.

    grpc_peer.py serve         answers every call with the Authorization that it was shown, then what it is sent
    grpc_peer.py call TARGET   calls /orders.Orders/Get and /orders.Orders/Chat there, and prints what happened as JSON

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


def serve():
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(4), handlers=(Echo(),))
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


if sys.argv[1] == "serve":
    serve()
else:
    call(sys.argv[2])
