"""A double of Traefik, written by its documentation: a file of providers.file with routers (Host, PathPrefix),
forwardAuth, headers, replacePathRegex and services. It reads paths as they were sent: the worst for the API behind it.

    python traefik.py PORT FILE
"""

import http.client
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import yaml

PORT = int(sys.argv[1])
DYNAMIC = yaml.safe_load(open(sys.argv[2], encoding="utf-8"))["http"]
HOP_BY_HOP = {"connection", "keep-alive", "proxy-authenticate", "te", "trailer", "transfer-encoding", "upgrade"}


def matches(rule, host, path):
    """The rules that the recipe uses: (Host(`…`) || Host(`…`)) && PathPrefix(`…`)."""
    def holds(term):
        name, value = re.fullmatch(r"\s*(Host|PathPrefix)\(`([^`]*)`\)\s*", term).groups()
        return host.split(":")[0] == value if name == "Host" else path.startswith(value)

    return all(any(holds(term) for term in re.sub(r"^\s*\((.*)\)\s*$", r"\1", part).split("||"))
               for part in rule.split("&&"))


def call(url, method, fields, body=None):
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
    target = parts.path + ("?" + parts.query if parts.query else "")
    connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
    for name, value in fields:
        connection.putheader(name, value)
    connection.endheaders(body)
    answer = connection.getresponse()
    return answer.status, [(n, v) for n, v in answer.getheaders() if n.lower() not in HOP_BY_HOP], answer.read()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, fields=(), body=b""):
        self.send_response_only(status)
        for name, value in fields:
            if name.lower() != "content-length":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def serve(self):
        host, self.target = self.headers.get("Host", ""), self.path
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        fields = [(n, v) for n, v in self.headers.items() if n.lower() not in HOP_BY_HOP]
        routers = [r for r in DYNAMIC["routers"].values() if matches(r["rule"], host, self.path)]
        if not routers:
            return self.answer(404)
        # The priority is the length of the rule.
        router = max(routers, key=lambda r: len(r["rule"]))
        for name in router["middlewares"]:
            ((kind, options),) = DYNAMIC["middlewares"][name].items()
            outcome = self.MIDDLEWARES[kind](self, options, host, fields)
            if isinstance(outcome, tuple):
                return self.answer(*outcome)
            fields = outcome
        balancer = DYNAMIC["services"][router["service"]]["loadBalancer"]
        origin = balancer["servers"][0]["url"]
        if not balancer["passHostHeader"]:
            fields = replaced(fields, {"Host": urlsplit(origin).netloc})
        try:
            self.answer(*call(origin + self.target, self.command, fields, body))
        except OSError:
            self.answer(502)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = serve

    def custom_headers(self, options, _, fields):
        return replaced(fields, options["customRequestHeaders"])

    def replace_path(self, options, _, fields):
        path, mark, query = self.target.partition("?")
        replacement = re.sub(r"\$(\d)", r"\\\1", options["replacement"])
        self.target = re.sub(options["regex"], replacement, path, count=1) + mark + query
        return fields

    def forward_auth(self, options, host, fields):
        wanted = {name.lower() for name in options["authRequestHeaders"]}
        question = [(n, v) for n, v in fields if n.lower() in wanted and not n.lower().startswith("x-forwarded-")]
        question += [
            ("Host", urlsplit(options["address"]).netloc), ("X-Forwarded-Method", self.command),
            ("X-Forwarded-Proto", "http"), ("X-Forwarded-Host", host), ("X-Forwarded-Uri", self.path),
            ("X-Forwarded-For", self.client_address[0]),
        ]
        try:
            status, answered, body = call(options["address"], "GET", question)
        except OSError:
            return (500,)
        if not 200 <= status < 300:
            return status, answered, body
        given = dict((n.lower(), v) for n, v in answered)
        return replaced(fields, {name: given.get(name.lower(), "") for name in options["authResponseHeaders"]})

    MIDDLEWARES = {"headers": custom_headers, "replacePathRegex": replace_path, "forwardAuth": forward_auth}


def replaced(fields, values):
    """The fields with these values; an empty one removes the field."""
    names = {name.lower() for name in values}
    return [(n, v) for n, v in fields if n.lower() not in names] + [(n, v) for n, v in values.items() if v]


ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
