"""Canaille as the identity provider of tests: strict about scopes (RFC 6749 section 6) and about how each client
authenticates.

Prints `listening PORT` when it is ready; the issuer is http://127.0.0.1:PORT. Everything is in memory. One person, ann,
and one client. Canaille's rules are its own but for the redirect URI: any port of loopback is accepted (RFC 8252
section 7.3).
"""

import argparse
import datetime
import os
import secrets

from werkzeug.serving import WSGIRequestHandler, make_server


class Quiet(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log(self, type, message, *arguments):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--client", required=True, metavar="ID:SECRET")
    parser.add_argument("--auth-method", default="client_secret_basic", metavar="NAME")
    parser.add_argument("--password", required=True, help="ann's")
    parser.add_argument("--scope", action="append", default=[], metavar="SCOPE", help="beside openid and profile")
    parser.add_argument("--expires-in", type=int, default=3600, metavar="SECONDS")
    arguments = parser.parse_args()
    # Authlib wants https from browsers; loopback needs none.
    os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

    # Imported here: Authlib reads the variable when it is loaded.
    from canaille import create_app
    from canaille.app import models
    from canaille.backends import Backend
    from canaille.oidc.models import Client
    from joserfc.jwk import RSAKey

    server = make_server("127.0.0.1", 0, None, threaded=True, request_handler=Quiet)
    grants = ["authorization_code", "refresh_token", "client_credentials"]
    app = create_app({
        "SECRET_KEY": secrets.token_urlsafe(32),
        "SERVER_NAME": "127.0.0.1:%d" % server.port,
        "PREFERRED_URL_SCHEME": "http",
        "SESSION_COOKIE_SECURE": False,
        "OAUTH2_TOKEN_EXPIRES_IN": {grant: arguments.expires_in for grant in grants},
        "CANAILLE": {"DATABASE": "memory", "JAVASCRIPT": False, "HTMX": False},
        "CANAILLE_OIDC": {"ACTIVE_JWKS": [RSAKey.generate_key(2048, auto_kid=True).as_dict(private=True)]},
    })
    Client.check_redirect_uri = lambda self, uri: uri.startswith(("http://localhost:", "http://127.0.0.1:"))
    identifier, _, secret = arguments.client.partition(":")
    with app.app_context(), Backend.instance.session():
        Backend.instance.save(models.User(
            user_name="ann", formatted_name="Ann Example", family_name="Example", display_name="ann@id.example",
            emails=["ann@id.example"], password=arguments.password))
        client = models.Client(
            client_id=identifier, client_name="Desk", client_secret=secret, redirect_uris=["http://localhost"],
            grant_types=grants, response_types=["code"], token_endpoint_auth_method=arguments.auth_method,
            scope=["openid", "profile"] + arguments.scope, id_token_signed_response_alg="RS256",
            client_id_issued_at=datetime.datetime.now(datetime.timezone.utc))
        Backend.instance.save(client)
        client.audience = [client]
        Backend.instance.save(client)
    server.app = app
    print("listening", server.port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
