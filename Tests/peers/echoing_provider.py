"""A provider that refuses every request for tokens or codes, and repeats in everything that it answers what it was
sent: in every member of the error, in the fields and in the status line. How it spells it is the realm's name,
/realms/FORM; below /realms/code-FORM the `error` itself is a standard one. It shares no code with the proxy.

Prints `listening PORT`. GET /testing/forms answers the names of the forms, GET /testing/repeated what was written so
far, as JSON.
"""

import base64
import html
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, quote, quote_plus, unquote_plus

lock = threading.Lock()
repeated = []


def lower(text):
    return "".join(
        part if index == 0 else "%" + part[:2].lower() + part[2:] for index, part in enumerate(text.split("%"))
    )


def basic(secret, client):
    return base64.b64encode(f"{quote(client, safe='')}:{quote(secret, safe='')}".encode()).decode()


FORMS = {
    "raw": lambda secret, client, request: secret,
    "percent-upper": lambda secret, client, request: quote(secret, safe=""),
    "percent-lower": lambda secret, client, request: lower(quote(secret, safe="")),
    "percent-plus": lambda secret, client, request: quote_plus(secret),
    "percent-twice": lambda secret, client, request: quote(quote(secret, safe=""), safe=""),
    "base64": lambda secret, client, request: basic(secret, client),
    "base64-unpadded": lambda secret, client, request: basic(secret, client).rstrip("="),
    "base64-url": lambda secret, client, request: basic(secret, client).replace("+", "-").replace("/", "_"),
    "base64-raw": lambda secret, client, request: base64.b64encode(f"{client}:{secret}".encode()).decode(),
    "base64-percent": lambda secret, client, request: quote(basic(secret, client), safe=""),
    "json": lambda secret, client, request: json.dumps(secret),
    "json-slashes": lambda secret, client, request: json.dumps(secret).replace("/", "\\/"),
    "json-numbers": lambda secret, client, request: "".join(f"\\u{ord(letter):04x}" for letter in secret),
    "html": lambda secret, client, request: html.escape(secret),
    "cut": lambda secret, client, request: "." * 280 + secret,
    "begin": lambda secret, client, request: secret[:16],
    "request": lambda secret, client, request: request,
}


class Provider(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *words):
        pass

    def answer(self, status, document, reason=None, fields=()):
        body = json.dumps(document).encode()
        self.send_response(status, reason)
        for name, value in fields:
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/testing/forms":
            return self.answer(200, list(FORMS))
        if self.path == "/testing/repeated":
            with lock:
                return self.answer(200, repeated)
        origin = f"http://127.0.0.1:{self.server.server_address[1]}"
        issuer = origin + self.path.partition("/.well-known/")[0]
        self.answer(200, {
            "issuer": issuer,
            "token_endpoint": issuer + "/token",
            "device_authorization_endpoint": issuer + "/device",
            "authorization_endpoint": issuer + "/authorize",
            "jwks_uri": issuer + "/keys",
            "token_endpoint_auth_methods_supported":
                ["client_secret_basic"] if "-in-field" in self.path else ["client_secret_post"],
        })

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        field = self.headers.get("Authorization", "")
        if field.startswith("Basic "):
            client, secret = map(unquote_plus, base64.b64decode(field[6:]).decode().split(":", 1))
        else:
            members = parse_qs(body)
            client, secret = members["client_id"][0], members["client_secret"][0]
        realm = self.path.split("/")[2]
        form = realm.removeprefix("code-").removesuffix("-in-field")
        text = FORMS[form](secret, client, field + "&" + body)
        with lock:
            repeated.append(text)
        value = f"The secret {text} is wrong."
        plain = "".join(letter for letter in text if " " <= letter < "\x7f")
        self.answer(
            401,
            {
                "error": "invalid_client" if realm.startswith("code-") else text,
                "error_description": text if form == "cut" else value,
                "error_uri": "https://id.example/?" + text, "suberror": text, "correlation_id": text, "trace_id": text,
                "error_codes": [text, value], "timestamp": value, text: text,
                "claims": json.dumps({"access_token": {"x": {"value": text}}}),
            },
            reason="No " + plain,
            fields=[("X-Secret", plain), ("WWW-Authenticate", f'Basic realm="{plain}"'), ("X-Request-ID", plain)])


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024


if __name__ == "__main__":
    server = Server(("127.0.0.1", 0), Provider)
    print("listening", server.server_address[1], flush=True)
    sys.exit(server.serve_forever())
