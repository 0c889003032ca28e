"""glewlwyd as the identity provider of tests: a server in C, with device codes, refresh tokens for one use, and
refusals of its own.

    glewlwyd_provider.py --directory DIR --client ID:SECRET --password ANNS [--scope SCOPE …] [--expires-in SECONDS]
                         [--public-key FILE] [--certificate FILE --key FILE --ca-file FILE --shown-name DNS]

Prints `listening PORT` when it is ready; the issuer is http://127.0.0.1:PORT/api/oidc. Its database and configuration
are files in DIR. One person, ann, and one client. Set up as an administrator would, through its API. With
--certificate it serves TLS, and knows the client by a DNS name in the certificate that it shows (RFC 8705): one of
--ca-file, at the alias of the token endpoint.
"""

import argparse
import http.cookiejar
import json
import os
import socket
import sqlite3
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request

SCHEMA = "/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3"
MODULES = "/usr/lib/glewlwyd/"
CONFIGURATION = """port=%(port)d
bind_address="127.0.0.1"
external_url="%(scheme)s://127.0.0.1:%(port)d"
login_url="login.html"
api_prefix="api"
log_mode="file"
log_level="WARNING"
log_file="%(directory)s/glewlwyd.log"
cookie_domain="127.0.0.1"
cookie_secure=0
session_key="GLEWLWYD"
login_api_enabled=true
admin_scope="g_admin"
profile_scope="g_profile"
user_module_path="%(modules)suser"
user_middleware_module_path="%(modules)suser_middleware"
client_module_path="%(modules)sclient"
user_auth_scheme_module_path="%(modules)sscheme"
plugin_module_path="%(modules)splugin"
hash_algorithm="SHA256"
database={ type="sqlite3" path="%(database)s" };
"""
SECURE = """use_secure_connection=true
secure_connection_key_file="%(key)s"
secure_connection_pem_file="%(certificate)s"
secure_connection_ca_file="%(ca_file)s"
"""


class Administrator:
    """Sets glewlwyd up with the account that its schema comes with."""

    def __init__(self, base, ca_file):
        self.base = base
        self.opener = urllib.request.build_opener(
            urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=ca_file)),
            urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))

    def post(self, path, body):
        request = urllib.request.Request(
            self.base + path, json.dumps(body).encode(), {"Content-Type": "application/json"}, method="POST")
        try:
            with self.opener.open(request, timeout=30) as answer:
                answer.read()
        except urllib.error.HTTPError as answer:
            with answer:
                sys.exit("glewlwyd refuses %s: %d %s" % (path, answer.code, answer.read().decode()))

    def wait(self):
        """Until it serves; not longer than it lives."""
        glewlwyd = os.getppid()
        while True:
            try:
                return self.post("/auth/", {"username": "admin", "password": "password"})
            except OSError:
                if os.getppid() != glewlwyd:
                    sys.exit("glewlwyd ended before it served")
                time.sleep(0.05)


def key_pair():
    private = subprocess.run(
        ["openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"], capture_output=True, text=True,
        check=True).stdout
    public = subprocess.run(["openssl", "pkey", "-pubout"], input=private, capture_output=True, text=True, check=True)
    return private, public.stdout


def set_up(administrator, issuer, arguments):
    private, public = key_pair()
    mutual = {"client-cert-source": "TLS", "client-cert-use-endpoint-aliases": True} if arguments.certificate else {}
    administrator.post("/mod/plugin/", {"module": "oidc", "name": "oidc", "display_name": "OIDC", "parameters": {
        **mutual, "iss": issuer, "jwt-type": "rsa", "jwt-key-size": "256", "key": private, "cert": public,
        "jwks-show": True, "jwks-x5c": [],
        "access-token-duration": arguments.expires_in, "refresh-token-duration": 86400,
        "code-duration": 600, "refresh-token-rolling": True, "refresh-token-one-use": "always", "allow-non-oidc": True,
        "auth-type-code-enabled": True, "auth-type-token-enabled": False, "auth-type-id-token-enabled": True,
        "auth-type-password-enabled": False, "auth-type-client-enabled": True, "auth-type-device-enabled": True,
        "auth-type-refresh-enabled": True, "auth-type-none-enabled": False, "scope": [], "additional-parameters": [],
        "claims": [{"name": "preferred_username", "user-property": "email", "type": "string", "mandatory": True,
                    "on-demand": False, "scope": []}],
        "service-documentation": "", "op-policy-uri": "", "op-tos-uri": "",
        "request-parameter-allow": arguments.public_key is not None, "client-pubkey-parameter": "pubkey",
        "subject-type": "public", "address-claim": {"type": "no"}, "name-claim": "mandatory", "name-claim-scope": [],
        "email-claim": "mandatory", "email-claim-scope": [], "scope-claim": "no", "scope-claim-scope": [],
        "pkce-allowed": True, "pkce-method-plain-allowed": False, "allowed-scope": ["openid"],
        "device-authorization-expiration": 600, "device-authorization-interval": 1, "oauth-as-iss-id": True}})
    scopes = ["profile", "offline_access"] + arguments.scope
    for name in scopes:
        administrator.post("/scope/", {
            "name": name, "display_name": name, "description": name, "password_required": True, "scheme": {}})
    administrator.post("/user/", {
        "username": "ann", "name": "Ann", "email": "ann@id.example", "password": arguments.password, "enabled": True,
        "scope": ["openid"] + scopes})
    identifier, _, secret = arguments.client.partition(":")
    proof = {}
    if arguments.public_key:
        with open(arguments.public_key) as file:
            proof = {"pubkey": file.read()}
    if arguments.shown_name:
        proof["tls_client_auth_san_dns"] = arguments.shown_name
    administrator.post("/client/", {
        **proof, "client_id": identifier, "name": "Desk", "confidential": True, "client_secret": secret,
        "enabled": True,
        "redirect_uri": ["http://localhost"], "scope": arguments.scope,
        "authorization_type": ["code", "id_token", "client_credentials", "refresh_token", "device_authorization"],
        "token_endpoint_auth_method": [arguments.auth_method]})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--directory", required=True)
    parser.add_argument("--client", required=True, metavar="ID:SECRET")
    parser.add_argument("--auth-method", default="client_secret_basic", metavar="NAME")
    parser.add_argument("--password", required=True, help="ann's")
    parser.add_argument("--public-key", metavar="FILE", help="the client's, as PEM, for private_key_jwt")
    parser.add_argument("--certificate", metavar="FILE", help="serve https: with this certificate and --key")
    parser.add_argument("--key", metavar="FILE")
    parser.add_argument("--ca-file", metavar="FILE", help="who issued that certificate, and the clients'")
    parser.add_argument("--shown-name", metavar="DNS", help="in the client's certificate, for tls_client_auth")
    parser.add_argument("--scope", action="append", default=[], metavar="SCOPE", help="beside openid and profile")
    parser.add_argument("--expires-in", type=int, default=3600, metavar="SECONDS")
    arguments = parser.parse_args()
    os.makedirs(arguments.directory, mode=0o700, exist_ok=True)
    database = os.path.join(arguments.directory, "glewlwyd.db")
    connection = sqlite3.connect(database)
    with open(SCHEMA) as schema:
        connection.executescript(schema.read())
    connection.close()
    # It takes no port 0. Bound to nothing for a moment, so another process may take it: then glewlwyd ends, and says
    # so.
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    configuration = os.path.join(arguments.directory, "glewlwyd.conf")
    scheme, text = ("https", CONFIGURATION + SECURE) if arguments.certificate else ("http", CONFIGURATION)
    with open(configuration, "w") as file:
        file.write(text % {
            **vars(arguments), "scheme": scheme, "port": port, "database": database, "modules": MODULES})
    # A child sets it up; this process becomes glewlwyd, so that whoever ends it ends glewlwyd.
    if os.fork():
        os.execvp("glewlwyd", ["glewlwyd", "--config-file=" + configuration])
    base = "%s://127.0.0.1:%d/api" % (scheme, port)
    administrator = Administrator(base, arguments.ca_file)
    administrator.wait()
    set_up(administrator, base + "/oidc", arguments)
    print("listening", port, flush=True)


if __name__ == "__main__":
    main()
