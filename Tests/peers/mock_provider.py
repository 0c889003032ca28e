"""oidc-provider-mock as the identity provider of tests: its metadata list no way to authenticate, and renewals want
Basic.

Prints `listening PORT` when it is ready; the issuer is http://127.0.0.1:PORT. It knows every client, secret and person.
"""

import argparse
import datetime

import oidc_provider_mock
from authlib.oauth2.rfc6750 import BearerTokenGenerator
from werkzeug.serving import WSGIRequestHandler, make_server


class Quiet(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log(self, type, message, *arguments):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--expires-in", type=int, default=3600, metavar="SECONDS")
    arguments = parser.parse_args()
    # What it calls the age of tokens holds for those of a sign-in only; renewed ones live as long as Authlib's default
    # says.
    BearerTokenGenerator.GRANT_TYPES_EXPIRES_IN["refresh_token"] = arguments.expires_in
    app = oidc_provider_mock.app(access_token_max_age=datetime.timedelta(seconds=arguments.expires_in))
    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=Quiet)
    print("listening", server.port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
