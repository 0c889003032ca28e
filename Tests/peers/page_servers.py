"""Servers of pages that attack: whatever is put into `stored` is served, over HTTP/1.1 and TLS; and one page over
HTTP/2 with early hints, which Chromium takes over no earlier version. Two more make a browser ask a third party before
it shows anything: a certificate that says where its issuer is, and a signed exchange that says where its certificate
is. Only the standard library and the openssl command are used."""

import base64
import hashlib
import http.server
import json
import os
import socketserver
import ssl
import subprocess
import tempfile
import threading
import time
import urllib.parse

stored = {}


class Pages(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path, _, query = self.path.partition("?")
        query = urllib.parse.unquote(query)
        if path == "/redirect":
            return self.answer(302, {"Location": query}, "")
        if path == "/manifest":
            icons = [{"src": query, "sizes": "192x192", "type": "image/png"}]
            return self.answer(200, {"Content-Type": "application/manifest+json"},
                               json.dumps({"name": "x", "start_url": "/", "display": "standalone", "icons": icons}))
        if path == "/rules":
            return self.answer(200, {"Content-Type": "application/speculationrules+json"},
                               json.dumps({"prefetch": [{"source": "list", "urls": [query]}]}))
        if path == "/worker.js":
            to = json.dumps(query)
            return self.answer(200, {"Content-Type": "text/javascript"},
                               "oninstall = () => %s && fetch(%s, {mode: 'no-cors'})" % (to, to))
        if path not in stored:
            return self.answer(404, {}, "")
        return self.answer(200, *stored[path])

    def answer(self, status, fields, text):
        body = text if isinstance(text, bytes) else text.encode()
        self.send_response(status)
        for name, value in {"Content-Type": "text/html", **fields}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def tls(certificate, key, protocols):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    context.set_alpn_protocols(protocols)
    return context


def start(server):
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def serve(port=0, context=None):
    """Serves `stored`; the port."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Pages)
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    return start(server)


def frame(kind, flags, stream, payload=b""):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def block(*fields):
    """Fields as HPACK's literals without indexing (RFC 7541 §6.2.2)."""
    def text(value):
        # A length of 127 and more continues in groups of seven bits.
        length, size = len(value), b""
        if length < 127:
            return bytes([length]) + value
        length -= 127
        while length > 127:
            size, length = size + bytes([length & 127 | 128]), length >> 7
        return b"\x7f" + size + bytes([length]) + value
    return b"".join(b"\0" + text(name.encode()) + text(value.encode()) for name, value in fields)


def serve_hints(context, link):
    """Answers everything over HTTP/2 with a 103 that has `link`, and with a page once the browser has heard that; the
    port."""

    class Connection(socketserver.StreamRequestHandler):
        def handle(self):
            try:
                self.serve(context.wrap_socket(self.request, server_side=True))
            except (OSError, ssl.SSLError):
                pass

        def serve(self, stream):
            def read(count):
                data = b""
                while len(data) < count:
                    more = stream.recv(count - len(data))
                    if not more:
                        raise OSError
                    data += more
                return data

            read(24)
            stream.sendall(frame(4, 0, 0))
            while True:
                head = read(9)
                payload = read(int.from_bytes(head[:3], "big"))
                kind, flags, number = head[3], head[4], int.from_bytes(head[5:9], "big")
                if kind == 4 and not flags & 1:
                    stream.sendall(frame(4, 1, 0))
                elif kind == 6 and not flags & 1:
                    # The answer to this one shows that the browser has read what was sent before.
                    stream.sendall(frame(6, 1, 0, payload))
                elif kind == 6:
                    waiting = int.from_bytes(payload, "big")
                    stream.sendall(frame(1, 4, waiting, block((":status", "200"), ("content-type", "text/html"))))
                    stream.sendall(frame(0, 1, waiting, b"<!doctype html><title>x</title>"))
                elif kind == 1:
                    stream.sendall(frame(1, 4, number, block((":status", "103"), ("link", link))))
                    stream.sendall(frame(6, 0, 0, number.to_bytes(8, "big")))

    return start(socketserver.ThreadingTCPServer(("127.0.0.1", 0), Connection))


def issued(issuer):
    """The TLS of a server that does not send its certificate's issuer, but the address where it is to be had."""
    with tempfile.TemporaryDirectory() as folder:
        def make(name, *arguments):
            subprocess.run(
                ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                 "-keyout", name + ".key", "-out", name + ".pem", "-subj", "/CN=" + name, *arguments],
                cwd=folder, check=True, capture_output=True)

        make("authority")
        make("leaf", "-CA", "authority.pem", "-CAkey", "authority.key",
             "-addext", "subjectAltName=DNS:foreign.example", "-addext", "basicConstraints=critical,CA:FALSE",
             "-addext", "authorityInfoAccess=caIssuers;URI:" + issuer)
        return tls(os.path.join(folder, "leaf.pem"), os.path.join(folder, "leaf.key"), ["http/1.1"])


def exchange(address, certificate):
    """A signed exchange (application/signed-exchange;v=b3) for an address, whose signature is nobody's."""
    def head(kind, count):
        # CBOR's major type and length (RFC 8949 §3).
        return bytes([kind << 5 | count]) if count < 24 else bytes([kind << 5 | 24, count])

    def text(value):
        return head(2, len(value)) + value

    def sized(value, size):
        return len(value).to_bytes(size, "big") + value

    content = b"<p>x"
    digest = base64.b64encode(hashlib.sha256(content + b"\0").digest())
    fields = {b":status": b"200", b"content-type": b"text/html", b"content-encoding": b"mi-sha256-03",
              b"digest": b"mi-sha256-03=" + digest}
    head_bytes = head(5, len(fields)) + b"".join(
        text(name) + text(fields[name]) for name in sorted(fields, key=lambda name: (len(name), name)))
    now = int(time.time())
    signature = (
        'x;sig=*%s*;validity-url="%s";integrity="digest/mi-sha256-03";cert-url="%s";cert-sha256=*%s*;date=%d;expires=%d'
        % (base64.b64encode(b"x" * 70).decode(), address, certificate, base64.b64encode(b"y" * 32).decode(), now - 10,
           now + 3600)).encode()
    return (b"sxg1-b3\0" + sized(address.encode(), 2) + len(signature).to_bytes(3, "big")
            + len(head_bytes).to_bytes(3, "big") + signature + head_bytes + (4096).to_bytes(8, "big") + content)
