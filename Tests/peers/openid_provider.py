"""An OpenID provider of Authlib's for the end-to-end tests: the other side of the token request that we did not write.

Authlib authenticates the client (client_secret_basic or client_secret_post), judges grant and scope, signs RFC 9068 access
tokens, and, at /api/whoami, verifies them against the published keys. This file holds what Authlib leaves to its
user: the clients, the metadata document, and switches by which a test makes the provider slow or broken.

Prints `listening PORT` when it is ready. Control, for tests only:
  GET  /testing/requests     how often each endpoint was asked
  POST /testing/behaviour    {"delay": s, "status": 503, "headers": {…}, "body": "…", "times": n, "endpoint": "token"}
"""

import argparse
import hmac
import json
import ssl
import threading
import time
import urllib.request

from authlib.integrations.flask_oauth2 import AuthorizationServer, ResourceProtector
from authlib.integrations.flask_oauth2 import current_token
from authlib.oauth2.rfc6749 import ClientMixin, grants
from authlib.oauth2.rfc9068 import JWTBearerTokenGenerator, JWTBearerTokenValidator
from flask import Flask, Response, jsonify, request
from joserfc.jwk import KeySet, RSAKey
from werkzeug.serving import WSGIRequestHandler, make_server

AUDIENCE = "https://orders.example"


class Client(ClientMixin):
    def __init__(self, identifier, secret, methods, scopes):
        self.identifier, self.secret, self.methods, self.scopes = identifier, secret, methods, scopes

    def get_client_id(self):
        return self.identifier

    def get_allowed_scope(self, scope):
        return " ".join(s for s in (scope or " ".join(self.scopes)).split() if s in self.scopes)

    def check_client_secret(self, client_secret):
        return hmac.compare_digest(self.secret.encode(), client_secret.encode())

    def check_endpoint_auth_method(self, method, endpoint):
        return method in self.methods

    def check_grant_type(self, grant_type):
        return grant_type == "client_credentials"


class ClientCredentials(grants.ClientCredentialsGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_basic", "client_secret_post"]


def provider(issuer, arguments, ca_file):
    app = Flask("openid_provider")
    # An RSA key with a key id, new at every start: a restarted provider has rotated its keys.
    signing = RSAKey.generate_key(2048, {"use": "sig", "alg": "RS256"}, auto_kid=True)
    public = KeySet([signing]).as_dict(private=False)
    clients = {}
    for entry in arguments.client:
        identifier, _, secret = entry.partition(":")
        clients[identifier] = Client(identifier, secret, arguments.auth_method, arguments.scope)

    class Tokens(JWTBearerTokenGenerator):
        def get_jwks(self):
            return signing

        def get_audiences(self, client, user, scope):
            return AUDIENCE

        def get_extra_claims(self, client, grant_type, user, scope):
            # Real providers' tokens are about 1.2 KB and more; so is this one.
            return {"padding": "x" * arguments.padding} if arguments.padding else {}

    server = AuthorizationServer(app, query_client=clients.get, save_token=lambda token, request: None)
    server.scopes_supported = arguments.scope
    server.register_token_generator("default", Tokens(issuer, expires_generator=lambda client, grant: arguments.expires_in))
    server.register_grant(ClientCredentials)

    lock = threading.Lock()
    requests, behaviour = {}, {}

    @app.before_request
    def misbehave():
        endpoint = {"/token": "token", "/jwks": "jwks", "/.well-known/openid-configuration": "discovery"}.get(request.path)
        if endpoint is None:
            return None
        with lock:
            requests[endpoint] = requests.get(endpoint, 0) + 1
            active = dict(behaviour) if behaviour.get("endpoint", "token") == endpoint and behaviour.get("times", 1) > 0 else {}
            if "times" in active:
                behaviour["times"] -= 1
        time.sleep(active.get("delay", 0))
        if "status" in active:
            return Response(active.get("body", ""), status=active["status"], headers=active.get("headers", {}))
        return None

    @app.get("/.well-known/openid-configuration")
    def metadata():
        return jsonify(
            issuer=issuer,
            authorization_endpoint=issuer + "/authorize",
            token_endpoint=issuer + "/token",
            jwks_uri=issuer + "/jwks",
            scopes_supported=arguments.scope,
            response_types_supported=["code"],
            subject_types_supported=["public"],
            grant_types_supported=["client_credentials"],
            id_token_signing_alg_values_supported=["RS256"],
            token_endpoint_auth_methods_supported=arguments.auth_method,
        )

    @app.get("/jwks")
    def jwks():
        return jsonify(public)

    @app.post("/token")
    def token():
        return server.create_token_response()

    class Published(JWTBearerTokenValidator):
        """Knows only what any resource server would: the issuer, and what it publishes."""

        def get_jwks(self):
            context = ssl.create_default_context(cafile=ca_file) if ca_file else None
            with urllib.request.urlopen(issuer + "/.well-known/openid-configuration", context=context) as answer:
                location = json.load(answer)["jwks_uri"]
            with urllib.request.urlopen(location, context=context) as answer:
                return KeySet.import_key_set(json.load(answer))

    protected = ResourceProtector()
    protected.register_token_validator(Published(issuer, AUDIENCE))

    @app.get("/api/whoami")
    @protected()
    def whoami():
        return jsonify({name: current_token[name] for name in ("iss", "sub", "aud", "client_id", "scope")})

    @app.get("/testing/requests")
    def asked():
        with lock:
            return jsonify(requests)

    @app.post("/testing/behaviour")
    def behave():
        with lock:
            behaviour.clear()
            behaviour.update(request.get_json())
        return "", 204

    return app


class KeepAlive(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log(self, type, message, *arguments):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--client", action="append", default=[], metavar="ID:SECRET")
    parser.add_argument("--auth-method", action="append", metavar="NAME", help="client_secret_basic, client_secret_post")
    parser.add_argument("--scope", action="append", metavar="SCOPE")
    parser.add_argument("--expires-in", type=int, default=3600, metavar="SECONDS")
    parser.add_argument("--padding", type=int, default=400, metavar="BYTES")
    parser.add_argument("--certificate", metavar="FILE", help="serve https: with this certificate chain and --key")
    parser.add_argument("--key", metavar="FILE")
    parser.add_argument("--ca-file", metavar="FILE", help="what /api/whoami trusts when it fetches the keys")
    arguments = parser.parse_args()
    arguments.auth_method = arguments.auth_method or ["client_secret_basic", "client_secret_post"]
    arguments.scope = arguments.scope or ["orders.read", "orders.write"]

    context = None
    if arguments.certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(arguments.certificate, arguments.key)
    server = make_server("127.0.0.1", arguments.port, None, threaded=True, request_handler=KeepAlive, ssl_context=context)
    server.app = provider(f"http{'s' if context else ''}://127.0.0.1:{server.port}", arguments, arguments.ca_file)
    print("listening", server.port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
