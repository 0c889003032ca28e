"""An OpenID provider of Authlib's for the end-to-end tests: the other side of the token request that we did not write.

Authlib authenticates the client (client_secret_basic or client_secret_post), judges grant and scope, signs RFC 9068
access tokens, and, at /api/whoami, verifies them against the published keys. With --person it signs people in too:
authorization code with PKCE and nonce, ID tokens, and refresh tokens that are good for one use; the second use of one
revokes every token that came of the same sign-in (RFC 9700 section 4.14.2). A --proven-client is known by its
certificate alone and proves itself with a JWT (RFC 7523): Authlib verifies signature, claims and single use; this file,
that the header names the certificate. A --handshake-client shows its certificate in the TLS handshake (RFC 8705) at
--mutual-port, where every caller has to show one of --mutual-ca; its tokens are bound to the certificate. This file
also holds what Authlib leaves to its user: the clients, the people, the codes, what was pushed (RFC 9126), the metadata
document, and switches by which a test makes the provider slow or broken.

Prints `listening PORT` when it is ready. With --realm, each realm is an issuer of its own at /realms/NAME, with keys,
codes and controls of its own. Control, for tests only:
  GET  /testing/requests     how often each endpoint was asked, and refresh tokens `rotated`, `reused`, and `foreign`:
                             of none of this issuer's sign-ins
  POST /testing/behaviour    {"delay": s, "status": 503, "headers": {…}, "body": "…", "times": n, "endpoint": "token"};
                             {"together": n}: each answer waits until n requests have come;
                             {"repeat": "code", "error": …}: refuses, and repeats that parameter in several spellings
  GET  /testing/repeated     what it has repeated so far, in each spelling
"""

import argparse
import base64
import hashlib
import hmac
import json
import os
import secrets
import ssl
import threading
import time
import urllib.parse
import urllib.request

from authlib.integrations.flask_oauth2 import AuthorizationServer, ResourceProtector
from authlib.integrations.flask_oauth2 import current_token
from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749 import AuthorizationCodeMixin, ClientMixin, TokenMixin, grants
from authlib.oauth2.rfc6749 import InvalidClientError
from authlib.oauth2.rfc7523 import JWTBearerClientAssertion
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oidc.core import UserInfo
from authlib.oidc.core.grants import OpenIDCode
from authlib.oauth2.rfc9207 import IssuerParameter
from authlib.oauth2.rfc9068 import JWTBearerTokenGenerator, JWTBearerTokenValidator
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from flask import Flask, Response, jsonify, request
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet, RSAKey, import_key
from joserfc.jws import JWSRegistry
from werkzeug.middleware.dispatcher import DispatcherMiddleware
from werkzeug.serving import WSGIRequestHandler, make_server

AUDIENCE = "https://orders.example"
SIGN_IN_SCOPES = ["openid", "profile", "offline_access"]
PAGE = """<!DOCTYPE html><html lang="en"><title>Sign in</title><h1>Sign in</h1>%s
<form method="post" action=""><input name="user"><input name="password" type="password">
<button>Sign in</button></form>"""


class Client(ClientMixin):
    redirect_uris = None

    def __init__(self, identifier, secret, methods, scopes, grant_types):
        self.identifier, self.secret, self.methods, self.scopes = identifier, secret, methods, scopes
        self.grant_types = grant_types

    def get_client_id(self):
        return self.identifier

    def get_allowed_scope(self, scope):
        return " ".join(s for s in (scope or " ".join(self.scopes)).split() if s in self.scopes)

    def check_client_secret(self, client_secret):
        return hmac.compare_digest(self.secret.encode(), client_secret.encode())

    def check_endpoint_auth_method(self, method, endpoint):
        return method in self.methods

    def check_grant_type(self, grant_type):
        return grant_type in self.grant_types

    def check_response_type(self, response_type):
        return response_type == "code"

    def check_redirect_uri(self, redirect_uri):
        # RFC 8252 section 7.3: any port of loopback. Some providers compare the whole URI.
        if Client.redirect_uris:
            return redirect_uri in Client.redirect_uris
        return redirect_uri.startswith(("http://localhost:", "http://127.0.0.1:"))


class User:
    def __init__(self, issuer, entry):
        self.name, self.password, subject = (entry.split(":") + [""])[:3]
        self.subject = subject or hashlib.sha256((issuer + self.name).encode()).hexdigest()[:16]

    def get_user_id(self):
        return self.subject


class Code(AuthorizationCodeMixin):
    def __init__(self, request):
        data = request.payload.data
        self.user, self.client, self.scope, self.redirect_uri = (
            request.user, request.client, request.payload.scope, request.payload.redirect_uri)
        self.nonce, self.at = data.get("nonce"), int(time.time())
        self.code_challenge, self.code_challenge_method = data.get("code_challenge"), data.get("code_challenge_method")

    def get_redirect_uri(self):
        return self.redirect_uri

    def get_scope(self):
        return self.scope

    def get_nonce(self):
        return self.nonce

    def get_auth_time(self):
        return self.at

    def get_acr(self):
        return None

    def get_amr(self):
        return None


class Refresh(TokenMixin):
    """A refresh token. Those of one sign-in share a family: a dict, which says whether it is revoked."""

    def __init__(self, user, client, scope, family):
        self.user, self.client, self.scope, self.family, self.used = user, client, scope, family, False

    def check_client(self, client):
        return client is self.client

    def get_scope(self):
        return self.scope


class ClientCredentials(grants.ClientCredentialsGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = [
        "client_secret_basic", "client_secret_post", JWTBearerClientAssertion.CLIENT_AUTH_METHOD, "tls_client_auth"]


# Certificates in a header (x5c) are longer than joserfc's default of 512 bytes.
JWSRegistry.max_header_length = 8192


class Proof(JWTBearerClientAssertion):
    """The assertion of a client that is known by its certificate."""

    def __init__(self, issuer, files):
        super().__init__()
        self.issuer, self.files, self.seen = issuer, files, set()

    def get_audiences(self):
        return [self.issuer, self.issuer + "/token"]

    def validate_jti(self, claims, jti):
        fresh = jti not in self.seen
        self.seen.add(jti)
        return fresh and claims["exp"] - claims["iat"] <= 600

    def certificate(self, client):
        with open(self.files[client.get_client_id()], "rb") as file:
            return x509.load_pem_x509_certificate(file.read())

    def resolve_client_public_key(self, client):
        key = self.certificate(client).public_key()
        kind = "EC" if hasattr(key, "curve") else "RSA"
        form = serialization.PublicFormat.SubjectPublicKeyInfo
        return import_key(key.public_bytes(serialization.Encoding.PEM, form), kind)

    def process_assertion_claims(self, assertion, key):
        header, claims = self.extract_assertion(assertion)
        certificate = self.certificate(self.query(claims["sub"]))
        name, algorithm = ("x5t", hashes.SHA1()) if header["alg"] == "RS256" else ("x5t#S256", hashes.SHA256())
        expected = base64.urlsafe_b64encode(certificate.fingerprint(algorithm)).rstrip(b"=").decode()
        # msal pads this, and breaks the lines of x5c; RFC 7515 does neither.
        if header.get(name, "").rstrip("=") != expected:
            raise InvalidClientError(description="The header names no registered certificate.")
        known = base64.b64encode(certificate.public_bytes(serialization.Encoding.DER)).decode()
        if "".join(header.get("x5c", [known])[0].split()) != known:
            raise InvalidClientError(description="The header holds another certificate.")
        try:
            token = jwt.decode(assertion, key, algorithms=["PS256", "RS256", "ES256", "ES384", "ES512"])
        except JoseError as error:
            raise InvalidClientError(description=error.description) from error
        self.verify_claims(token.claims)
        return token.claims


def shown_certificate():
    """The DER of the certificate that a request's connection was made with."""
    text = request.environ.get("SSL_CLIENT_CERT")
    return ssl.PEM_cert_to_DER_cert(text) if text else None


def thumbprint(certificate):
    return base64.urlsafe_b64encode(hashlib.sha256(certificate).digest()).rstrip(b"=").decode()


def provider(issuer, arguments, ca_file, mutual=None):
    app = Flask("openid_provider")
    # An RSA key with a key id, new at every start: a restarted provider has rotated its keys.
    signing = RSAKey.generate_key(2048, {"use": "sig", "alg": "RS256"}, auto_kid=True)
    public = KeySet([signing]).as_dict(private=False)
    clients = {}
    for entry in arguments.client:
        identifier, _, secret = entry.partition(":")
        signs_in = not secret or identifier in arguments.signs_in
        clients[identifier] = Client(
            identifier, secret, arguments.auth_method if secret else ["none"],
            arguments.scope + (SIGN_IN_SCOPES if signs_in else []),
            (["client_credentials"] if secret else []) + (["authorization_code", "refresh_token"] if signs_in else []))
    certificates = dict(entry.split(":", 1) for entry in arguments.proven_client)
    for identifier in certificates:
        clients[identifier] = Client(
            identifier, "", [Proof.CLIENT_AUTH_METHOD], arguments.scope, ["client_credentials"])
    handshakes = dict(entry.split(":", 1) for entry in arguments.handshake_client)
    for identifier in handshakes:
        clients[identifier] = Client(identifier, "", ["tls_client_auth"], arguments.scope, ["client_credentials"])

    def by_handshake(query_client, _asked):
        """RFC 8705 section 2: the id in the form, and nothing else but the certificate."""
        identifier = request.form.get("client_id")
        if identifier not in handshakes or "client_secret" in request.form or "client_assertion" in request.form:
            return None
        with open(handshakes[identifier], "rb") as file:
            known = x509.load_pem_x509_certificate(file.read()).public_bytes(serialization.Encoding.DER)
        return query_client(identifier) if shown_certificate() == known else None

    proof = Proof(issuer, certificates)
    proof.query = clients.get
    people = {user.name: user for user in (User(issuer, entry) for entry in arguments.person)}
    codes, refresh_tokens = {}, {}
    lock = threading.Lock()
    requests, behaviour, repeated = {}, {}, []

    def count(what):
        with lock:
            requests[what] = requests.get(what, 0) + 1

    class Tokens(JWTBearerTokenGenerator):
        def get_jwks(self):
            return signing

        def get_audiences(self, client, user, scope):
            return request.form.get("resource", AUDIENCE) if arguments.resource else AUDIENCE

        def get_extra_claims(self, client, grant_type, user, scope):
            # Real providers' tokens are about 1.2 KB and more; so is this one.
            claims = {"padding": "x" * arguments.padding} if arguments.padding else {}
            claims.update(claim.split("=", 1) for claim in arguments.claim)
            if client.get_client_id() in handshakes:
                claims["cnf"] = {"x5t#S256": thumbprint(shown_certificate())}
            return claims

    class AuthorizationCode(grants.AuthorizationCodeGrant):
        TOKEN_ENDPOINT_AUTH_METHODS = ["none", "client_secret_basic", "client_secret_post"]

        def save_authorization_code(self, code, request):
            codes[code] = Code(request)

        def query_authorization_code(self, code, client):
            # Good for one try.
            known = codes.pop(code, None)
            return known if known and known.client is client else None

        def delete_authorization_code(self, authorization_code):
            pass

        def authenticate_user(self, authorization_code):
            return authorization_code.user

    class Identity(OpenIDCode):
        def exists_nonce(self, nonce, request):
            return any(code.nonce == nonce for code in codes.values())

        def resolve_client_private_key(self, client):
            return signing

        def get_client_algorithm(self, client):
            return "RS256"

        def get_encode_header(self, client):
            return {"alg": "RS256", "kid": signing.kid}

        def get_client_claims(self, client):
            return {"iss": issuer}

        def generate_user_info(self, user, scope):
            return UserInfo(sub=user.subject, preferred_username=user.name)

    class RefreshToken(grants.RefreshTokenGrant):
        TOKEN_ENDPOINT_AUTH_METHODS = ["none", "client_secret_basic", "client_secret_post"]
        INCLUDE_NEW_REFRESH_TOKEN = True

        def authenticate_refresh_token(self, refresh_token):
            with lock:
                known = refresh_tokens.get(refresh_token)
                if known is None:
                    requests["foreign"] = requests.get("foreign", 0) + 1
                if known is None or known.family["revoked"]:
                    return None
                if not known.used:
                    return known
                known.family["revoked"] = True
            count("reused")
            return None

        def authenticate_user(self, refresh_token):
            return refresh_token.user

        def revoke_old_credential(self, refresh_token):
            # Not sooner: a request that is refused, such as for its scopes, has not used it.
            with lock:
                what = "reused" if refresh_token.used else "rotated"
                refresh_token.family["revoked"] = refresh_token.used
                refresh_token.used = True
            count(what)

    def save(token, request):
        if "refresh_token" in token:
            old = getattr(request, "refresh_token", None)
            family = old.family if old else {"revoked": False}
            scope = old.scope if old else token["scope"]
            refresh_tokens[token["refresh_token"]] = Refresh(request.user, request.client, scope, family)

    server = AuthorizationServer(app, query_client=clients.get, save_token=save)
    server.scopes_supported = arguments.scope + (SIGN_IN_SCOPES if people else [])
    server.register_token_generator("default", Tokens(
        issuer, refresh_token_generator=lambda *_, **__: secrets.token_urlsafe(32),
        expires_generator=lambda client, grant: arguments.expires_in))
    if arguments.name_issuer:
        class Named(IssuerParameter):
            def get_issuer(self):
                return issuer

        server.register_extension(Named())
    server.register_client_auth_method(Proof.CLIENT_AUTH_METHOD, proof)
    server.register_client_auth_method("tls_client_auth", by_handshake)
    server.register_grant(ClientCredentials)
    server.register_grant(AuthorizationCode, [CodeChallenge(required=True), Identity(require_nonce=True)])
    server.register_grant(RefreshToken)

    class Revocation(RevocationEndpoint):
        CLIENT_AUTH_METHODS = ["none", "client_secret_basic", "client_secret_post"]

        def query_token(self, token_string, token_type_hint):
            return refresh_tokens.get(token_string) if token_type_hint == "refresh_token" else None

        def revoke_token(self, token, request):
            token.family["revoked"] = True
            count("revoked")

    server.register_endpoint(Revocation)

    @app.before_request
    def misbehave():
        endpoint = {
            "/token": "token", "/jwks": "jwks", "/revoke": "revoke", "/par": "par", "/authorize": "authorize",
            "/.well-known/openid-configuration": "discovery"}.get(request.path)
        if endpoint is None:
            return None
        count(endpoint)
        with lock:
            active = (
                dict(behaviour)
                if behaviour.get("endpoint", "token") == endpoint and behaviour.get("times", 1) > 0
                else {}
            )
            if "times" in active:
                behaviour["times"] -= 1
        if "together" in active:
            active["together"].wait(60)
        if "repeat" in active:
            value = request.form[active["repeat"]]
            letters = "".join("%%%02X" % byte for byte in value.encode())
            spellings = [value, letters, base64.b64encode(value.encode()).decode()]
            with lock:
                repeated.extend(spellings)
            return jsonify(
                error=active.get("error", "invalid_grant"), error_description="Not good: " + " ".join(spellings),
                error_uri="https://id.example/?" + letters, suberror=value, correlation_id=value, trace_id=spellings[2],
                error_codes=spellings, claims=value), 400
        time.sleep(active.get("delay", 0))
        if "status" in active:
            return Response(active.get("body", ""), status=active["status"], headers=active.get("headers", {}))
        return None

    @app.before_request
    def indicate():
        """RFC 8707: both requests name one of the resources, in exactly this spelling."""
        if not arguments.resource or request.path not in ("/authorize", "/token"):
            return None
        named = request.values.getlist("resource")
        if len(named) == 1 and named[0] in arguments.resource:
            return None
        return jsonify(error="invalid_target", error_description="resource: " + " ".join(named)), 400

    def metadata():
        listed = arguments.listed_auth_method
        methods = {} if listed == ["nothing"] else {
            "token_endpoint_auth_methods_supported": listed or arguments.auth_method}
        if arguments.revokes:
            methods["revocation_endpoint"] = issuer + "/revoke"
        if arguments.requires_pushed:
            methods["pushed_authorization_request_endpoint"] = issuer + "/par"
            methods["require_pushed_authorization_requests"] = True
        if mutual:
            methods["mtls_endpoint_aliases"] = {"token_endpoint": mutual + "/token"}
            methods["tls_client_certificate_bound_access_tokens"] = True
        return jsonify(
            issuer=issuer,
            authorization_endpoint=issuer + "/authorize",
            token_endpoint=issuer + "/token",
            jwks_uri=issuer + "/jwks",
            scopes_supported=arguments.scope,
            response_types_supported=["code"],
            subject_types_supported=["public"],
            grant_types_supported=["client_credentials", "authorization_code", "refresh_token"],
            code_challenge_methods_supported=["S256"],
            authorization_response_iss_parameter_supported=arguments.name_issuer,
            id_token_signing_alg_values_supported=["RS256"],
            **methods,
        )

    app.add_url_rule("/.well-known/openid-configuration", "metadata", metadata)

    pushed = {}

    @app.post("/par")
    def push():
        """What Authlib has no part for: it authenticates the client, and this keeps the form."""
        try:
            server.authenticate_client(
                server.create_oauth2_request(None), ["none", "client_secret_basic", "client_secret_post"], "par")
        except OAuth2Error as error:
            return jsonify(error=error.error, error_description=error.description), error.status_code
        name = "urn:ietf:params:oauth:request_uri:" + secrets.token_urlsafe(16)
        pushed[name] = request.form.to_dict()
        return jsonify(request_uri=name, expires_in=60), 201

    @app.before_request
    def pull():
        """A request to the authorization endpoint becomes the one that was pushed."""
        if request.path != "/authorize" or not arguments.requires_pushed:
            return None
        kept = pushed.get(request.args.get("request_uri"))
        if kept is None or set(request.args) != {"client_id", "request_uri"}:
            return "invalid_request: push it first", 400
        if kept.get("client_id", request.args["client_id"]) != request.args["client_id"]:
            return "invalid_request: another client's", 400
        kept = {"client_id": request.args["client_id"]} | kept
        kept.pop("client_secret", None)
        request.environ["QUERY_STRING"] = urllib.parse.urlencode(kept)
        request.__dict__.pop("args", None)
        request.query_string = request.environ["QUERY_STRING"].encode()
        return None

    @app.get("/end-session")
    def end_session():
        """RP-initiated logout: back where the client says, after a question that this page leaves out."""
        count("end-session")
        if request.args.get("client_id") not in clients:
            return "unknown client", 400
        target = request.args.get("post_logout_redirect_uri")
        if target is None:
            return "signed out"
        return Response(status=302, headers={"Location": target + "?state=" + request.args.get("state", "")})

    @app.post("/revoke")
    def revoke():
        return server.create_endpoint_response(Revocation.ENDPOINT_NAME)

    @app.route("/authorize", methods=["GET", "POST"])
    def authorize():
        try:
            grant = server.get_consent_grant()
        except OAuth2Error as error:
            return "%s: %s" % (error.error, error.description), 400
        user = people.get(request.form.get("user"))
        if request.method == "GET" or user is None or user.password != request.form.get("password"):
            return PAGE % ("" if request.method == "GET" else '<p role="alert">Wrong name or password.</p>')
        return server.create_authorization_response(grant=grant, grant_user=user)

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
        bound = current_token.get("cnf", {}).get("x5t#S256")
        # RFC 8705 section 3.
        if bound and (shown_certificate() is None or thumbprint(shown_certificate()) != bound):
            return Response(status=401, headers={"WWW-Authenticate": 'Bearer error="invalid_token"'})
        return jsonify({name: current_token[name] for name in ("iss", "sub", "aud", "client_id", "scope")})

    @app.get("/testing/requests")
    def asked():
        with lock:
            return jsonify(requests)

    @app.get("/testing/repeated")
    def told():
        with lock:
            return jsonify(repeated)

    @app.post("/testing/behaviour")
    def behave():
        with lock:
            behaviour.clear()
            behaviour.update(request.get_json())
            if "together" in behaviour:
                behaviour["together"] = threading.Barrier(behaviour["together"])
        return "", 204

    return app


class KeepAlive(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log(self, type, message, *arguments):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument(
        "--name", default="127.0.0.1", metavar="HOST", help="the issuer's host, as those see it who reach it by a name"
    )
    parser.add_argument("--client", action="append", default=[], metavar="ID:SECRET", help="without a secret: public")
    parser.add_argument("--proven-client", action="append", default=[], metavar="ID:FILE", help="with its certificate")
    parser.add_argument(
        "--handshake-client", action="append", default=[], metavar="ID:FILE", help="with its certificate (RFC 8705)"
    )
    parser.add_argument("--mutual-port", type=int, metavar="PORT", help="where callers show certificates")
    parser.add_argument("--mutual-ca", metavar="FILE", help="whose certificates they show")
    parser.add_argument("--revokes", action="store_true", help="has a revocation endpoint (RFC 7009)")
    parser.add_argument("--requires-pushed", action="store_true", help="wants sign-ins pushed (RFC 9126)")
    parser.add_argument("--person", action="append", default=[], metavar="NAME:PASSWORD[:SUBJECT]")
    parser.add_argument(
        "--realm", action="append", default=[], metavar="NAME", help="an issuer of its own at /realms/NAME"
    )
    parser.add_argument(
        "--signs-in", action="append", default=[], metavar="ID", help="a client with a secret that people sign in to"
    )
    parser.add_argument(
        "--auth-method", action="append", metavar="NAME", help="client_secret_basic, client_secret_post"
    )
    parser.add_argument(
        "--listed-auth-method", action="append", metavar="NAME", help="what the metadata list instead, or nothing"
    )
    parser.add_argument("--scope", action="append", metavar="SCOPE")
    parser.add_argument(
        "--resource", action="append", metavar="URI",
        help="wants one of these in both requests (RFC 8707), as the audience"
    )
    parser.add_argument(
        "--redirect-uri", action="append", metavar="URI", help="compared as a whole; else any of loopback"
    )
    parser.add_argument("--name-issuer", action="store_true", help="answers name the issuer (RFC 9207)")
    parser.add_argument("--expires-in", type=int, default=3600, metavar="SECONDS")
    parser.add_argument("--padding", type=int, default=400, metavar="BYTES")
    parser.add_argument("--claim", action="append", default=[], metavar="NAME=VALUE", help="a claim of every token")
    parser.add_argument("--origin", metavar="URL", help="where others find it, if that is not where it listens")
    parser.add_argument("--certificate", metavar="FILE", help="serve https: with this certificate chain and --key")
    parser.add_argument("--key", metavar="FILE")
    parser.add_argument("--ca-file", metavar="FILE", help="what /api/whoami trusts when it fetches the keys")
    arguments = parser.parse_args()
    # Authlib wants https from browsers; loopback needs none.
    os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
    Client.redirect_uris = arguments.redirect_uri
    arguments.auth_method = arguments.auth_method or ["client_secret_basic", "client_secret_post"]
    arguments.scope = arguments.scope or ["orders.read", "orders.write"]

    context = None
    if arguments.certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(arguments.certificate, arguments.key)
    server = make_server(
        "127.0.0.1", arguments.port, None, threaded=True, request_handler=KeepAlive, ssl_context=context
    )
    origin = arguments.origin or f"http{'s' if context else ''}://{arguments.name}:{server.port}"
    mutual = f"https://{arguments.name}:{arguments.mutual_port}" if arguments.mutual_port else None
    server.app = DispatcherMiddleware(
        provider(origin, arguments, arguments.ca_file, mutual),
        {
            "/realms/" + name: provider(origin + "/realms/" + name, arguments, arguments.ca_file)
            for name in arguments.realm
        },
    )
    if mutual:
        strict = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        strict.load_cert_chain(arguments.certificate, arguments.key)
        strict.load_verify_locations(arguments.mutual_ca)
        strict.verify_mode = ssl.CERT_REQUIRED
        door = make_server(
            "127.0.0.1", arguments.mutual_port, server.app, threaded=True, request_handler=KeepAlive, ssl_context=strict
        )
        threading.Thread(target=door.serve_forever, daemon=True).start()
    print("listening", server.port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
