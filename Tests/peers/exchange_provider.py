#!/usr/bin/env python3
"""Two authorization servers of Authlib's, for exchanges of tokens.

    exchange_provider.py --client ID:SECRET --caller ID:SECRET --expires-in SECONDS

/realms/enterprise issues tokens for the caller, whose audience is the client, and exchanges them by Keycloak's
documented rules: the subject is an access token; the requester has a secret, may exchange, and is in the subject's
audience; `audience` only narrows, and one that is not available is an error; `scope` may be any of the client's; there
is no `resource` and no actor; consent is there or not. It also issues identity assertions (ID-JAG) for the other
server, which name the `resource`.
/realms/resource takes those (Authlib's JWTBearerGrant, RFC 7523) from the client, each once. Both are also APIs:
/realms/NAME/api/whoami shows who has called with a token that they have issued for `https://NAME.example`.

Prints `listening PORT`. GET /realms/NAME/testing/forms: the members of each token request, secrets and tokens as
`…`; POST /realms/NAME/testing/behaviour {"consent": false} withdraws consent.
"""

import argparse
import os
import time
import uuid

from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import BaseGrant, OAuth2Error, TokenEndpointMixin, grants
from authlib.oauth2.rfc6749 import InvalidGrantError, InvalidRequestError, UnauthorizedClientError
from authlib.oauth2.rfc7523 import JWTBearerGrant
from authlib.oauth2.rfc9068 import JWTBearerTokenGenerator
from flask import Flask, g, jsonify, request
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet, RSAKey
from werkzeug.middleware.dispatcher import DispatcherMiddleware
from werkzeug.serving import make_server

from openid_provider import Client, KeepAlive

TYPE = "urn:ietf:params:oauth:token-type:"
EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
METHODS = ["client_secret_basic", "client_secret_post"]


class InvalidToken(OAuth2Error):
    error = "invalid_token"


class AccessDenied(OAuth2Error):
    error = "access_denied"
    status_code = 403


class Subject:
    def __init__(self, name):
        self.name = name

    def get_user_id(self):
        return self.name


def realm(origin, name, arguments, keys):
    issuer, other = f"{origin}/realms/{name}", origin + "/realms/resource"
    app, forms, behaviour, seen = Flask(name), [], {"consent": True}, set()
    signing = keys[name]
    (client_id, client_secret), (caller_id, caller_secret) = (
        entry.split(":", 1) for entry in (arguments.client, arguments.caller))
    clients = {
        client_id: Client(client_id, client_secret, METHODS, ["orders.read", "orders.write"],
                          ["client_credentials", EXCHANGE, JWTBearerGrant.GRANT_TYPE]),
        caller_id: Client(caller_id, caller_secret, METHODS, ["proxy.call"], ["client_credentials"]),
    }
    available = ["https://enterprise.example", "https://ledger.example"]

    class Tokens(JWTBearerTokenGenerator):
        def get_jwks(self):
            return signing

        def get_extra_claims(self, client, grant_type, user, scope):
            return {"padding": "x" * arguments.padding} if arguments.padding else {}

        def get_audiences(self, client, user, scope):
            if name == "resource":
                return ["https://resource.example"]
            return g.get("audiences") or ([client_id] if client.get_client_id() == caller_id else available)

    class ClientCredentials(grants.ClientCredentialsGrant):
        TOKEN_ENDPOINT_AUTH_METHODS = METHODS

    def subject(token):
        try:
            claims = jwt.decode(token, signing, algorithms=["RS256"]).claims
            jwt.JWTClaimsRegistry(exp={"essential": True}, iss={"essential": True, "value": issuer}).validate(claims)
            return claims
        except (JoseError, ValueError) as error:
            raise InvalidToken(description="Invalid token") from error

    class TokenExchange(BaseGrant, TokenEndpointMixin):
        GRANT_TYPE, TOKEN_ENDPOINT_AUTH_METHODS = EXCHANGE, METHODS

        def validate_token_request(self):
            client = self.authenticate_token_endpoint_client()
            if not client.check_grant_type(EXCHANGE):
                raise UnauthorizedClientError("Standard token exchange is not enabled for the requested client")
            form = request.form
            if form.get("subject_token_type") != TYPE + "access_token":
                raise InvalidRequestError("Parameter 'subject_token' supports access tokens only")
            self.kind = form.get("requested_token_type", TYPE + "access_token")
            for parameter in ("resource", "actor_token", "actor_token_type"):
                if parameter in form and (parameter, self.kind) != ("resource", TYPE + "id-jag"):
                    raise InvalidRequestError(f"Parameter '{parameter}' is not supported for standard token exchange")
            claims = subject(form.get("subject_token", ""))
            audience = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
            if client.get_client_id() not in audience and claims["client_id"] != client.get_client_id():
                raise AccessDenied(description="Client is not within the token audience")
            if not behaviour["consent"]:
                raise InvalidGrantError(description="Missing consents for Token Exchange")
            self.asked = form.getlist("audience")
            if self.kind not in (TYPE + "access_token", TYPE + "id-jag"):
                raise InvalidRequestError("requested_token_type unsupported")
            allowed = available if self.kind == TYPE + "access_token" else [other]
            for audience in self.asked:
                if audience not in allowed:
                    raise InvalidRequestError("Requested audience not available: " + audience)
            g.audiences = self.asked
            self.request.client, self.request.user = client, Subject(claims["sub"])
            self.validate_requested_scope()

        def create_token_response(self):
            if self.kind == TYPE + "id-jag":
                now = int(time.time())
                assertion = jwt.encode({"alg": "RS256", "typ": "oauth-id-jag+jwt", "kid": signing.kid}, {
                    "iss": issuer, "sub": self.request.user.name, "aud": other, "client_id": client_id,
                    "jti": str(uuid.uuid4()), "iat": now, "exp": now + 300, "scope": self.request.payload.scope,
                    "resource": request.form.getlist("resource"),
                }, signing)
                return 200, {"access_token": assertion, "issued_token_type": self.kind, "token_type": "N_A",
                             "expires_in": 300}, self.TOKEN_RESPONSE_HEADER
            token = self.generate_token(
                user=self.request.user, scope=self.request.payload.scope, include_refresh_token=False)
            return 200, {**token, "issued_token_type": self.kind}, self.TOKEN_RESPONSE_HEADER

    class IdentityAssertion(JWTBearerGrant):
        def get_audiences(self):
            return [issuer]

        def resolve_issuer_client(self, found):
            return clients[client_id] if found == origin + "/realms/enterprise" else None

        def resolve_client_public_key(self, client):
            return keys["enterprise"]

        def validate_token_request(self):
            # Authlib takes the assertion for the client's proof; here the client proves itself too.
            client = self.server.authenticate_client(self.request, METHODS, "token")
            headers, claims = self.extract_assertion(request.form.get("assertion", ""))
            if headers.get("typ") != "oauth-id-jag+jwt" or claims.get("client_id") != client.get_client_id():
                raise InvalidGrantError(description="The assertion is not for this client.")
            super().validate_token_request()
            if claims["jti"] in seen:
                raise InvalidGrantError(description="The assertion was used before.")
            seen.add(claims["jti"])

        def authenticate_user(self, found):
            return Subject(found)

        def has_granted_permission(self, client, user):
            return True

    server = AuthorizationServer(app, query_client=clients.get, save_token=lambda *_: None)
    server.scopes_supported = ["orders.read", "orders.write", "proxy.call"]
    server.register_token_generator("default", Tokens(
        issuer, expires_generator=lambda client, grant: arguments.expires_in))
    server.register_grant(ClientCredentials)
    if name == "enterprise":
        server.register_grant(TokenExchange)
    else:
        server.register_grant(IdentityAssertion)

    @app.get("/.well-known/openid-configuration")
    def metadata():
        return jsonify(issuer=issuer, token_endpoint=issuer + "/token", jwks_uri=issuer + "/jwks",
                       token_endpoint_auth_methods_supported=METHODS)

    @app.get("/jwks")
    def jwks():
        return jsonify(KeySet([signing]).as_dict(private=False))

    @app.post("/token")
    def token():
        secrets = ("subject_token", "assertion", "client_secret", "client_assertion")
        forms.append({key: "…" if key in secrets else request.form.getlist(key) for key in request.form})
        return server.create_token_response()

    @app.get("/api/whoami")
    def whoami():
        try:
            claims = subject(request.headers.get("Authorization", "").removeprefix("Bearer "))
        except InvalidToken:
            return "", 401, {"WWW-Authenticate": 'Bearer error="invalid_token"'}
        audience = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
        if f"https://{name}.example" not in audience:
            return "", 401, {"WWW-Authenticate": 'Bearer error="invalid_token"'}
        return jsonify({key: claims[key] for key in ("iss", "sub", "aud", "client_id", "scope")})

    @app.get("/testing/forms")
    def asked():
        return jsonify(forms)

    @app.post("/testing/behaviour")
    def behave():
        behaviour.update(request.get_json())
        return "", 204

    return app


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--client", required=True, metavar="ID:SECRET")
    parser.add_argument("--caller", required=True, metavar="ID:SECRET")
    parser.add_argument("--expires-in", type=int, default=3600)
    parser.add_argument("--padding", type=int, default=0, metavar="BYTES", help="as long as real providers' tokens")
    arguments = parser.parse_args()
    # Authlib wants https from browsers; loopback needs none.
    os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
    keys = {name: RSAKey.generate_key(2048, {"use": "sig", "alg": "RS256"}, auto_kid=True)
            for name in ("enterprise", "resource")}
    server = make_server("127.0.0.1", 0, None, threaded=True, request_handler=KeepAlive)
    origin = f"http://127.0.0.1:{server.port}"
    server.app = DispatcherMiddleware(
        Flask("none"), {f"/realms/{name}": realm(origin, name, arguments, keys) for name in keys})
    print("listening", server.port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
