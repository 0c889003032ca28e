"""An API for programs that get their tokens themselves, over HTTP and over TLS. It asks the provider whether a token is
one of its own.

/metrics                  Prometheus' text
/container/blob           a blob, as Azure Storage has it
/secrets/NAME/            a secret, as Azure Key Vault has it; without a token a challenge that names RESOURCE
/subscriptions            one subscription, as Azure's management API has it

Prints `listening PORT`, then `tls PORT`, then for each request `request STATUS PATH TOKEN`: the token's digest.
"""

import argparse
import hashlib
import http.server
import json
import ssl
import threading

import token_handler

lock = threading.Lock()


def say(*words):
    with lock:
        print(*words, flush=True)


class Handler(token_handler.TokenHandler):
    resource = ""

    def answer(self, status, body, fields):
        token = self.headers.get("Authorization", "").encode()
        say("request", status, self.path.split("?")[0], hashlib.sha256(token).hexdigest()[:16])
        self.respond(status, fields.items(), body)

    def do_GET(self):
        if not self.is_known():
            challenge = 'Bearer authorization="https://login.example/tenant", resource="%s"' % self.resource
            return self.answer(401, b"", {"WWW-Authenticate": challenge})
        if self.path.startswith("/metrics"):
            return self.answer(200, b"program_api_up 1\n", {"Content-Type": "text/plain; version=0.0.4"})
        if self.path.startswith("/container/blob"):
            return self.answer(200, b"hello blob", {
                "Content-Type": "text/plain", "ETag": '"1"', "x-ms-blob-type": "BlockBlob",
                "Last-Modified": "Wed, 25 Nov 2026 00:00:00 GMT", "Content-Range": "bytes 0-9/10"})
        if self.path.startswith("/secrets/"):
            name = self.path.split("?")[0].strip("/")
            host = "https://" + self.headers["Host"]
            body = json.dumps({"value": "hello secret", "id": "%s/%s/1" % (host, name), "attributes": {}})
            return self.answer(200, body.encode(), {"Content-Type": "application/json"})
        if self.path.startswith("/subscriptions?"):
            subscription = {
                "id": "/subscriptions/0b0e", "subscriptionId": "0b0e", "displayName": "sample", "state": "Enabled"}
            return self.answer(
                200, json.dumps({"value": [subscription]}).encode(), {"Content-Type": "application/json"})
        return self.answer(404, b"", {})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ["provider", "resource", "certificate", "key"]:
        parser.add_argument("--" + name, required=True)
    arguments = parser.parse_args()
    Handler.provider, Handler.resource = arguments.provider, arguments.resource
    plain = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    secure = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(arguments.certificate, arguments.key)
    secure.socket = context.wrap_socket(secure.socket, server_side=True)
    say("tls", secure.server_address[1])
    say("listening", plain.server_address[1])
    threading.Thread(target=secure.serve_forever, daemon=True).start()
    plain.serve_forever()


if __name__ == "__main__":
    main()
