"""The common part of servers that take only tokens of the provider's: `provider` is its URL."""

import http.server
import urllib.error
import urllib.request


class TokenHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    provider = ""

    def is_known(self):
        request = urllib.request.Request(
            self.provider + "/api/whoami", headers={"Authorization": self.headers.get("Authorization", "")})
        try:
            return urllib.request.urlopen(request, timeout=60).status == 200
        except urllib.error.HTTPError:
            return False

    def respond(self, status, fields, body):
        self.send_response(status)
        for name, value in fields:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass
