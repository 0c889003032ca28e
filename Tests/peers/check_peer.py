"""Envoy's questions in their gRPC forms, asked with grpcio and Google's protobuf: an independent reading of them.

    check_peer.py TARGET JSON…   asks each question of TARGET, and prints a JSON line for each answer

A question has "http", the fields of HttpRequest; "extensions"; "metadata" of the call; "raw", bytes in hexadecimal in
place of the message, "times" as often; and "compressed", to say that it is. TARGET is host:port or unix:PATH.

With "process", a list, the question is a stream of ext_proc. Each element is one of its messages: "request" or
"response", a head's fields, with "namespaces", texts of Envoy's metadata; another part by its name; or "raw". The line
has the answers and the end. An element "wait" prints what came so far, and sends nothing more.
"""

import base64
import json
import sys
import threading
import time

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory

F = descriptor_pb2.FieldDescriptorProto


def message(file, name, fields, maps=()):
    kind = file.message_type.add(name=name)
    for number, field, of, repeated in fields:
        kind.field.add(
            name=field, number=number, label=F.LABEL_REPEATED if repeated else F.LABEL_OPTIONAL,
            type={"string": F.TYPE_STRING, "bytes": F.TYPE_BYTES, "int32": F.TYPE_INT32}.get(of, F.TYPE_MESSAGE),
            type_name=None if of in ("string", "bytes", "int32") else f".check.{of}")
    for number, field, *of in maps:
        entry = kind.nested_type.add(name=field.capitalize() + "Entry")
        entry.options.map_entry = True
        entry.field.add(name="key", number=1, label=F.LABEL_OPTIONAL, type=F.TYPE_STRING)
        entry.field.add(
            name="value", number=2, label=F.LABEL_OPTIONAL, type=F.TYPE_MESSAGE if of else F.TYPE_STRING,
            type_name=f".check.{of[0]}" if of else None)
        kind.field.add(
            name=field, number=number, label=F.LABEL_REPEATED, type=F.TYPE_MESSAGE,
            type_name=f".check.{name}.{entry.name}")


# As envoy/service/auth/v3 has them.
file = descriptor_pb2.FileDescriptorProto(name="check.proto", package="check", syntax="proto3")
message(file, "HeaderValue", [(1, "key", "string", 0), (2, "value", "string", 0), (3, "raw_value", "bytes", 0)])
message(file, "HeaderMap", [(1, "headers", "HeaderValue", 1)])
message(
    file, "Http",
    [(1, "id", "string", 0), (2, "method", "string", 0), (4, "path", "string", 0), (5, "host", "string", 0),
     (6, "scheme", "string", 0), (11, "body", "string", 0), (13, "header_map", "HeaderMap", 0)], [(3, "headers")])
message(file, "Request", [(2, "http", "Http", 0)])
message(file, "Attributes", [(4, "request", "Request", 0)], [(10, "extensions")])
message(file, "CheckRequest", [(1, "attributes", "Attributes", 0)])
message(file, "Status", [(1, "code", "int32", 0), (2, "message", "string", 0)])
message(file, "Option", [(1, "header", "HeaderValue", 0), (3, "action", "int32", 0)])
message(file, "Denied", [(1, "status", "Status", 0), (2, "headers", "Option", 1), (3, "body", "string", 0)])
message(file, "Allowed", [(2, "headers", "Option", 1), (5, "removed", "string", 1)])
message(file, "Value", [(3, "text", "string", 0)])
message(file, "Struct", [], [(1, "fields", "Value")])
message(
    file, "CheckResponse",
    [(1, "status", "Status", 0), (2, "denied", "Denied", 0), (3, "allowed", "Allowed", 0),
     (4, "metadata", "Struct", 0)])
# As envoy/service/ext_proc/v3 has them.
message(file, "Head", [(1, "headers", "HeaderMap", 0)])
message(file, "Part", [])
message(file, "Metadata", [], [(1, "namespaces", "Struct")])
PARTS = [(4, "request_body", "Part", 0), (5, "response_body", "Part", 0), (6, "request_trailers", "Part", 0),
         (7, "response_trailers", "Part", 0)]
message(
    file, "ProcessingRequest",
    [(2, "request", "Head", 0), (3, "response", "Head", 0), (8, "metadata", "Metadata", 0)] + PARTS)
message(file, "Mutation", [(1, "set", "Option", 1), (2, "removed", "string", 1)])
message(file, "Common", [(1, "status", "int32", 0), (2, "mutation", "Mutation", 0)])
message(file, "Answer", [(1, "common", "Common", 0)])
message(
    file, "Immediate", [(1, "status", "Status", 0), (2, "headers", "Mutation", 0), (3, "body", "string", 0)])
message(file, "Nested", [(1, "fields", "NestedEntry", 1)])
message(file, "NestedEntry", [(1, "key", "string", 0), (2, "value", "NestedValue", 0)])
message(file, "NestedValue", [(5, "struct", "Struct", 0)])
message(
    file, "ProcessingResponse",
    [(1, "request", "Answer", 0), (2, "response", "Answer", 0), (7, "immediate", "Immediate", 0),
     (8, "metadata", "Nested", 0)] + [(number - 1, name, "Part", 0) for number, name, *_ in PARTS])
pool = descriptor_pool.DescriptorPool()
pool.Add(file)
kinds = {name: message_factory.GetMessageClass(pool.FindMessageTypeByName("check." + name))
         for name in ("CheckRequest", "CheckResponse", "ProcessingRequest", "ProcessingResponse")}


def process(channel, question):
    """The answers of a stream, and its end."""
    answers = []

    def messages():
        for step in question["process"]:
            if "raw" in step:
                yield bytes.fromhex(step["raw"]) * step.get("times", 1)
                continue
            if "wait" in step:
                while len(answers) < step["wait"]:
                    time.sleep(0.01)
                print(json.dumps(answers, sort_keys=True), flush=True)
                over.wait()
                return
            part = {"metadata": {"namespaces": {
                name: {"fields": {key: {"text": text} for key, text in texts.items()}}
                for name, texts in step.get("namespaces", {}).items()}}}
            for name in ("request", "response"):
                if name in step:
                    # Envoy sends values as bytes.
                    part[name] = {"headers": {"headers": [
                        {"key": key, "rawValue": base64.b64encode(value.encode()).decode()}
                        for key, value in step[name]]}}
            part |= {name: {} for _, name, *_ in PARTS if name in step}
            yield json_format.ParseDict(part, kinds["ProcessingRequest"]()).SerializeToString()

    over = threading.Event()
    stream = channel.stream_stream("/envoy.service.ext_proc.v3.ExternalProcessor/Process")(
        messages(), metadata=list(question.get("metadata", {}).items()), timeout=question.get("timeout", 60))
    try:
        for answer in stream:
            answers.append(json_format.MessageToDict(kinds["ProcessingResponse"].FromString(answer)))
        end = {"code": stream.code().name}
    except grpc.RpcError as error:
        end = {"code": error.code().name, "details": error.details()}
    over.set()
    for answer in answers:
        for option in find(answer, "set"):
            option["header"]["value"] = base64.b64decode(option["header"].pop("rawValue")).decode()
    return answers + [end]


def find(value, name):
    """The elements of each list of that name."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from inner if key == name else find(inner, name)


with grpc.insecure_channel(sys.argv[1], options=[("grpc.default_authority", "localhost")]) as channel:
    for text in sys.argv[2:]:
        question = json.loads(text)
        if "process" in question:
            print(json.dumps(process(channel, question), sort_keys=True), flush=True)
            continue
        request = kinds["CheckRequest"]()
        json_format.ParseDict(
            {"attributes": {"request": {"http": question.get("http", {})},
                            "extensions": question.get("extensions", {})}}, request)
        sent = request.SerializeToString()
        if "raw" in question:
            sent = bytes.fromhex(question["raw"]) * question.get("times", 1)
        check = channel.unary_unary("/envoy.service.auth.v3.Authorization/Check")
        try:
            answer = check(
                sent, metadata=list(question.get("metadata", {}).items()), timeout=60,
                compression=grpc.Compression.Gzip if question.get("compressed") else None)
        except grpc.RpcError as error:
            print(json.dumps({"code": error.code().name, "details": error.details()}))
        else:
            print(json.dumps(json_format.MessageToDict(kinds["CheckResponse"].FromString(answer)), sort_keys=True))
