"""A collector of traces for the end-to-end tests: it reads what it is sent with OpenTelemetry's own definition of the
protocol (opentelemetry-proto), which refuses unknown members and wrong types, and holds the JSON to what the OTLP
specification asks for beyond that: ids in hexadecimal, enumerations as numbers, 64-bit numbers as strings.

Prints `listening PORT` when it is ready, then a line of JSON for every request:
  {"path", "headers", "status", "resource": {…}, "spans": [{"name", "kind", "trace", "id", "parent", "flags", "state",
  "attributes", …}]}

--answers '[{"status": 503, "headers": {…}, "body": "…", "delay": s, "times": n}]' are the answers to the first
requests, one after another (or for so many requests); then everything is taken. --certificate and --key make it speak
TLS. --port is where it listens.
"""

import argparse
import base64
import http.server
import json
import re
import ssl
import threading
import time

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

lock = threading.Lock()


def value(any_value):
    kind = any_value.WhichOneof("value")
    return getattr(any_value, kind) if kind else None


def attributes(pairs):
    keys = [pair.key for pair in pairs]
    assert len(set(keys)) == len(keys), f"an attribute is there twice: {keys}"
    return {pair.key: value(pair.value) for pair in pairs}


def spans_of(document):
    """Reads a request; an AssertionError or a ParseError says what is wrong with it."""
    for resource in document["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                for key, length in (("traceId", 32), ("spanId", 16), ("parentSpanId", 16)):
                    if key in span:
                        assert re.fullmatch("[0-9a-f]{%d}" % length, span[key]) and int(span[key], 16), (key, span[key])
                        # protobuf's own JSON has base64 where OTLP has hexadecimal digits.
                        span[key] = base64.b64encode(bytes.fromhex(span[key])).decode()
                assert type(span["kind"]) is int and type(span.get("status", {}).get("code", 0)) is int
                for key in ("startTimeUnixNano", "endTimeUnixNano"):
                    assert re.fullmatch("[0-9]+", span[key]), (key, span[key])
                for attribute in span["attributes"]:
                    assert type(attribute["value"].get("intValue", "")) is str, attribute
    request = json_format.ParseDict(document, ExportTraceServiceRequest())
    for resource in request.resource_spans:
        for scope in resource.scope_spans:
            for span in scope.spans:
                assert 0 < span.start_time_unix_nano <= span.end_time_unix_nano
                assert abs(span.end_time_unix_nano / 1e9 - time.time()) < 300, "not of this time"
                yield attributes(resource.resource.attributes), {
                    "name": span.name, "kind": span.kind, "trace": span.trace_id.hex(), "id": span.span_id.hex(),
                    "parent": span.parent_span_id.hex(), "flags": span.flags, "state": span.trace_state,
                    "start": span.start_time_unix_nano, "end": span.end_time_unix_nano, "failed": span.status.code == 2,
                    "attributes": {key: str(text) for key, text in attributes(span.attributes).items()},
                }


class Collector(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *words):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with lock:
            answer = self.server.answers[0] if self.server.answers else {}
            if answer:
                answer["times"] = answer.get("times", 1) - 1
                if answer["times"] <= 0:
                    self.server.answers.pop(0)
        time.sleep(answer.get("delay", 0))
        status, report = answer.get("status", 200), {}
        if status == 200:
            try:
                assert self.headers["Content-Type"] == "application/json", self.headers["Content-Type"]
                found = list(spans_of(json.loads(body)))
                report = {"resource": found[0][0], "spans": [span for _, span in found]}
            except Exception as error:
                status, report = 400, {"problem": repr(error), "spans": []}
        text = answer.get("body", "{}").encode()
        with lock:
            said = {"path": self.path, "headers": {k.lower(): v for k, v in self.headers.items()}, "status": status}
            print(json.dumps({"resource": {}, "spans": [], **said, **report}), flush=True)
        self.send_response(status)
        for name, field in answer.get("headers", {}).items():
            self.send_header(name, field)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--answers", type=json.loads, default=[])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--certificate")
    parser.add_argument("--key")
    options = parser.parse_args()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", options.port), Collector)
    server.answers = options.answers
    if options.certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options.certificate, options.key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    print(f"listening {server.server_address[1]}", flush=True)
    server.serve_forever()


main()
