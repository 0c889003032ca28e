"""Envoy's question in its gRPC form, asked with grpcio and Google's protobuf: an independent reading of the messages.

    check_peer.py TARGET JSON…   asks each question of TARGET, and prints a JSON line for each answer

A question has "http", the fields of HttpRequest; "extensions"; "metadata" of the call; "raw", bytes in hexadecimal in
place of the message, "times" as often; and "compressed", to say that it is. TARGET is host:port or unix:PATH.
"""

import json
import sys

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
    for number, field in maps:
        entry = kind.nested_type.add(name=field.capitalize() + "Entry")
        entry.options.map_entry = True
        entry.field.add(name="key", number=1, label=F.LABEL_OPTIONAL, type=F.TYPE_STRING)
        entry.field.add(name="value", number=2, label=F.LABEL_OPTIONAL, type=F.TYPE_STRING)
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
struct = file.message_type.add(name="Struct")
entry = struct.nested_type.add(name="FieldsEntry")
entry.options.map_entry = True
entry.field.add(name="key", number=1, label=F.LABEL_OPTIONAL, type=F.TYPE_STRING)
entry.field.add(name="value", number=2, label=F.LABEL_OPTIONAL, type=F.TYPE_MESSAGE, type_name=".check.Value")
struct.field.add(
    name="fields", number=1, label=F.LABEL_REPEATED, type=F.TYPE_MESSAGE, type_name=".check.Struct.FieldsEntry")
message(
    file, "CheckResponse",
    [(1, "status", "Status", 0), (2, "denied", "Denied", 0), (3, "allowed", "Allowed", 0),
     (4, "metadata", "Struct", 0)])
pool = descriptor_pool.DescriptorPool()
pool.Add(file)
kinds = {name: message_factory.GetMessageClass(pool.FindMessageTypeByName("check." + name))
         for name in ("CheckRequest", "CheckResponse")}

with grpc.insecure_channel(sys.argv[1], options=[("grpc.default_authority", "localhost")]) as channel:
    for text in sys.argv[2:]:
        question = json.loads(text)
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
