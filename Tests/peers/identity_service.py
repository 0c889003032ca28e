"""A stand-in for the services by which Azure's platforms hand out tokens for managed identities. Each behaves as its
documentation and the libraries say, errors included; msal's own client (--judge) gets its tokens from the same ones.
Services of other platforms that vouch for workloads are here too; their tokens, and those that IMDS has for the
exchange, are signed.

    identity_service.py [--certificate FILE --key FILE]     prints `listening PORT`; with a certificate also `tls PORT`
    identity_service.py --judge PORT TLS_PORT THUMBPRINT    ends with 0 where msal's client gets a token of each source

  /metadata/identity/oauth2/token   IMDS: Metadata: true, api-version, resource; expires_in and expires_on as strings
  /msi/token                        App Service: X-IDENTITY-HEADER; expires_on alone; {statusCode, message} as an error
  /ml/token                         Azure Machine Learning: secret; clientid; expires_on alone
  /shell/token                      Cloud Shell: POST of a form
  /arc/token                        Arc: 401 that names a file, then Authorization: Basic with what it holds
  /fabric/token                     Service Fabric: Secret; over TLS with a certificate of its own making
  /computeMetadata/v1/…/identity    Google Cloud: Metadata-Flavor: Google; text, with the same field in the answer
  /actions/token                    GitHub Actions: Authorization: bearer with the job's token; {count, value}

Control, for tests only: POST /testing/behaviour {"status": 410, "times": n, "headers": {…}, "body": "…"};
GET /testing/requests: each request's method, path, query and fields. GET /testing/keys: the keys that sign.
"""

import argparse
import http.server
import json
import os
import ssl
import sys
import threading
import time
import urllib.parse

from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey

SECRET = "header-secret-of-the-platform"
USER_ASSIGNED = {
    "client_id": "0a1b2c3d-0000-4000-8000-00000000c11e", "object_id": "0a1b2c3d-0000-4000-8000-0000000000b1",
    "msi_res_id": "/subscriptions/s/resourcegroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/orders"}
VERSIONS = {"imds": "2018-02-01", "msi": "2019-08-01", "ml": "2017-09-01", "arc": "2020-06-01",
            "fabric": "2019-07-01-preview"}


class Service:
    def __init__(self, arc_directory):
        self.lock, self.requests, self.behaviour, self.issued = threading.Lock(), [], {}, 0
        self.arc_directory, self.arc_key = arc_directory, None
        self.key = RSAKey.generate_key(2048, {"use": "sig", "alg": "RS256"}, auto_kid=True)

    def signed(self, issuer, subject, audience):
        now = int(time.time())
        claims = {"iss": issuer, "sub": subject, "aud": audience, "iat": now, "nbf": now, "exp": now + 600}
        return jwt.encode({"alg": "RS256", "kid": self.key.kid}, claims, self.key)

    def token(self, name):
        with self.lock:
            self.issued += 1
            return "managed.%s.%d" % (name, self.issued)

    def identity(self, query, names):
        """Which identity is meant: a dict, None for one that is not assigned."""
        for parameter, name in names.items():
            if parameter in query:
                known = USER_ASSIGNED[name].lower() == query[parameter].lower()
                return {name: query[parameter]} if known else None
        return {}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    service = None

    def log_message(self, *_):
        pass

    def answer(self, status, document, headers=None):
        body = document.encode() if isinstance(document, str) else json.dumps(document).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        if self.path == "/testing/behaviour":
            with self.service.lock:
                self.service.behaviour = json.loads(body)
            return self.answer(200, {})
        self.handle_token("POST", body)

    def do_GET(self):
        if self.path == "/testing/requests":
            with self.service.lock:
                return self.answer(200, self.service.requests)
        if self.path == "/testing/keys":
            return self.answer(200, KeySet([self.service.key]).as_dict(private=False))
        self.handle_token("GET", "")

    def handle_token(self, method, body):
        service, parts = self.service, urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(parts.query or body))
        with service.lock:
            service.requests.append({
                "method": method, "path": parts.path, "query": query,
                "fields": {name.lower(): value for name, value in self.headers.items()}})
            active = dict(service.behaviour) if service.behaviour.get("times", 0) > 0 else None
            if active:
                service.behaviour["times"] -= 1
        if active:
            return self.answer(active["status"], active.get("body", ""), active.get("headers"))
        if parts.path.startswith("/computeMetadata/"):
            return self.google(parts.path, query)
        if parts.path == "/actions/token":
            return self.actions(query)
        kinds = {"/metadata/identity/oauth2/token": "imds", "/msi/token": "msi", "/ml/token": "ml",
                 "/shell/token": "shell", "/arc/token": "arc", "/fabric/token": "fabric"}
        kind = kinds.get(parts.path)
        if kind is None:
            return self.answer(404, "")
        if self.headers.get("X-Forwarded-For"):
            return self.answer(400, {"error": "invalid_request", "error_description": "proxied"})
        if kind in VERSIONS and query.get("api-version") != VERSIONS[kind]:
            return self.answer(400, {"error": "invalid_request", "error_description": "unknown api-version"})
        if "resource" not in query:
            return self.answer(400, {"error": "invalid_resource", "error_description": "no resource"})
        getattr(self, kind)(method, query)

    def google(self, path, query):
        flavor = {"Metadata-Flavor": "Google", "Content-Type": "text/html"}
        if self.headers.get("Metadata-Flavor") != "Google":
            return self.answer(403, "Missing required header \"Metadata-Flavor\": \"Google\"", flavor)
        if path != "/computeMetadata/v1/instance/service-accounts/default/identity":
            return self.answer(404, "not found", flavor)
        if not query.get("audience"):
            return self.answer(400, "non-empty audience parameter required", flavor)
        token = self.service.signed("https://accounts.google.com", "104029292853099978293", query["audience"])
        self.answer(200, token, flavor)

    def actions(self, query):
        if self.headers.get("Authorization") != "bearer " + SECRET:
            return self.answer(401, {"message": "Unable to get ID token: the job's token is not valid"})
        token = self.service.signed(
            "https://token.actions.githubusercontent.com", "repo:contoso/orders:ref:refs/heads/main",
            query.get("audience", "https://github.com/contoso"))
        self.answer(200, {"count": 1, "value": token})

    def document(self, kind, query, **members):
        token = self.service.token(kind)
        if query["resource"] == "api://AzureADTokenExchange":
            # As Entra signs one for a managed identity: the subject is its object id.
            token = self.service.signed(
                "https://login.microsoftonline.com/contoso/v2.0", USER_ASSIGNED["object_id"], query["resource"])
        document = {"access_token": token, "resource": query["resource"], "token_type": "Bearer"}
        return {**document, **members}

    def imds(self, method, query):
        if self.headers.get("Metadata") != "true":
            return self.answer(400, {
                "error": "bad_request_102", "error_description": "Required metadata header not specified"})
        identity = self.service.identity(query, {name: name for name in USER_ASSIGNED})
        if identity is None:
            return self.answer(400, {"error": "invalid_request", "error_description": "Identity not found"})
        now = int(time.time())
        self.answer(200, self.document(
            "imds", query, expires_in="86399", expires_on=str(now + 86399), not_before=str(now - 300),
            client_id=identity.get("client_id", "machine")))

    def msi(self, method, query):
        if self.headers.get("X-IDENTITY-HEADER") != SECRET:
            return self.answer(401, {"statusCode": 401, "message": "Unauthorized", "correlationId": "c-1"})
        names = {"client_id": "client_id", "object_id": "object_id", "mi_res_id": "msi_res_id"}
        if self.service.identity(query, names) is None or "msi_res_id" in query:
            return self.answer(400, {
                "statusCode": 400, "correlationId": "c-2",
                "message": "No User Assigned or Delegated Managed Identity found for specified ClientId"})
        self.answer(200, self.document("msi", query, expires_on=str(int(time.time()) + 3600)))

    def ml(self, method, query):
        if self.headers.get("secret") != SECRET:
            return self.answer(401, {"error": {"code": "UserError", "message": "Invalid secret"}})
        if self.service.identity(query, {"clientid": "client_id"}) is None or "client_id" in query:
            return self.answer(400, {"error": {"code": "UserError", "message": "Identity not found"}})
        self.answer(200, self.document("ml", query, expires_on=str(int(time.time()) + 3600)))

    def shell(self, method, query):
        if method != "POST" or self.headers.get("Metadata") != "true":
            return self.answer(400, {
                "error": {"code": "BadRequest", "message": "Required metadata header not specified"}})
        self.answer(200, self.document("shell", query, expires_on=str(int(time.time()) + 3600)))

    def arc(self, method, query):
        authorization = self.headers.get("Authorization")
        if authorization is None or authorization != "Basic %s" % self.service.arc_key:
            self.service.arc_key = os.urandom(16).hex()
            name = os.path.join(self.service.arc_directory, os.urandom(8).hex() + ".key")
            with open(name, "w") as file:
                file.write(self.service.arc_key)
            return self.answer(401, "", {"WWW-Authenticate": "Basic realm=" + name})
        identity = self.service.identity(query, {name: name for name in USER_ASSIGNED})
        if identity is None:
            return self.answer(400, {"error": "invalid_request", "error_description": "Identity not found"})
        self.answer(200, self.document(
            "arc", query, expires_in="86399", expires_on=str(int(time.time()) + 86399), **identity))

    def fabric(self, method, query):
        if not isinstance(self.connection, ssl.SSLSocket) or self.headers.get("Secret") != SECRET:
            return self.answer(403, {"error": {"code": "SecretHeaderNotFound", "message": "Secret is not found"}})
        self.answer(200, self.document("fabric", query, expires_on=int(time.time()) + 3600))


def judge(port, tls_port, thumbprint, arc_directory):
    import msal
    import requests
    from msal import managed_identity

    origin = "http://127.0.0.1:%d" % port
    managed_identity._supported_arc_platforms_and_their_prefixes[sys.platform] = arc_directory
    user = [msal.UserAssignedManagedIdentity(client_id=USER_ASSIGNED["client_id"]),
            msal.UserAssignedManagedIdentity(object_id=USER_ASSIGNED["object_id"]),
            msal.UserAssignedManagedIdentity(resource_id=USER_ASSIGNED["msi_res_id"])]
    stranger = msal.UserAssignedManagedIdentity(client_id="stranger")
    machine = msal.SystemAssignedManagedIdentity()
    scenes = {
        "imds": ({"AZURE_POD_IDENTITY_AUTHORITY_HOST": origin}, user),
        "msi": ({"IDENTITY_ENDPOINT": origin + "/msi/token", "IDENTITY_HEADER": SECRET}, user),
        "ml": ({"MSI_ENDPOINT": origin + "/ml/token", "MSI_SECRET": SECRET}, user[:1]),
        "arc": ({"IDENTITY_ENDPOINT": origin + "/arc/token", "IMDS_ENDPOINT": origin}, user),
        "fabric": ({"IDENTITY_ENDPOINT": "https://127.0.0.1:%d/fabric/token" % tls_port, "IDENTITY_HEADER": SECRET,
                    "IDENTITY_SERVER_THUMBPRINT": thumbprint}, []),
    }
    for kind, (variables, identities) in scenes.items():
        os.environ.update(variables)
        for identity in [machine] + identities + ([stranger] if identities else []):
            client = msal.ManagedIdentityClient(identity, http_client=requests.Session())
            reply = client.acquire_token_for_client(resource="https://orders.example")
            found = reply.get("access_token", "").startswith("managed.%s." % kind)
            if found == (identity is stranger):
                sys.exit("%s, %s: %s" % (kind, dict(identity), reply))
            print("ok: %s, %s" % (kind, identity.get("IdType", identity)))
        for name in variables:
            del os.environ[name]


def serve(service, certificate=None, key=None):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"service": service}))
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--certificate", metavar="FILE")
    parser.add_argument("--key", metavar="FILE")
    parser.add_argument("--arc-directory", metavar="DIRECTORY", default=".")
    parser.add_argument("--judge", nargs=3, metavar=("PORT", "TLS_PORT", "THUMBPRINT"))
    arguments = parser.parse_args()
    if arguments.judge:
        port, tls_port, thumbprint = arguments.judge
        return judge(int(port), int(tls_port), thumbprint, arguments.arc_directory)
    service = Service(arguments.arc_directory)
    if arguments.certificate:
        print("tls", serve(service, arguments.certificate, arguments.key), flush=True)
    print("listening", serve(service), flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
