"""An MCP server of the SDK's (`mcp`) or of fastmcp's, for the end-to-end tests.

    mcp_server.py KIND --port PORT [--issuer URL --scope S… | --demands before|within]

Without --issuer it knows no OAuth. With it, it is a resource server as its library makes one: it publishes metadata
(RFC 9728), takes JWTs of the issuer that are for its own URL and have all scopes, and challenges every other request.
Tools: `add` answers in one message; `count` reports progress in events, as many as it is asked for, and waits after the
first until there is a file, if it is told to. --demands: it wants tokens that begin with `alpha`, and says so with
claims, before the first byte of an answer or within a stream of events.

Prints `listening PORT`, and for each request `request METHOD SESSION SUBJECT TOKEN`: the token's digest, and `-` for
what is not there.
"""

import argparse
import asyncio
import base64
import hashlib
import json
import os
import urllib.request

import uvicorn
from fastmcp import Context as FastContext
from fastmcp import FastMCP
from fastmcp.server.auth import RemoteAuthProvider
from fastmcp.server.auth.providers.jwt import JWTVerifier
from joserfc import jwt
from joserfc.jwk import KeySet
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import Context, MCPServer


def document(url):
    with urllib.request.urlopen(url) as answer:
        return json.load(answer)


class Verifier:
    def __init__(self, issuer, resource):
        self.issuer, self.resource = issuer, resource
        self.keys = KeySet.import_key_set(
            document(document(issuer + "/.well-known/openid-configuration")["jwks_uri"]))

    async def verify_token(self, token):
        try:
            claims = jwt.decode(token, self.keys, algorithms=["RS256"]).claims
        except ValueError:
            return None
        audiences = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
        if claims["iss"] != self.issuer or self.resource not in audiences:
            return None
        return AccessToken(
            token=token, client_id=claims["client_id"], scopes=claims["scope"].split(), expires_at=claims["exp"],
            resource=self.resource, subject=claims["sub"], claims={"iss": claims["iss"]})


async def counted(context, count, until):
    for number in range(count):
        await context.report_progress(number + 1, count)
        if until and number == 0:
            print("waiting", flush=True)
            while not os.path.exists(until):
                await asyncio.sleep(0.05)
            print("waited", flush=True)
    return count


def sdk_server(arguments, resource):
    secured = {}
    if arguments.issuer:
        secured = {
            "token_verifier": Verifier(arguments.issuer, resource),
            "auth": AuthSettings(
                issuer_url=arguments.issuer, resource_server_url=resource, required_scopes=arguments.scope,
                validate_token_resource=True),
        }
    server = MCPServer("tools", **secured)

    @server.tool()
    async def add(left: int, right: int) -> int:
        return left + right

    @server.tool()
    async def count(number: int, until: str, context: Context) -> int:
        return await counted(context, number, until)

    return server.streamable_http_app()


def fast_server(arguments, resource):
    auth = None
    if arguments.issuer:
        keys = document(arguments.issuer + "/.well-known/openid-configuration")["jwks_uri"]
        verifier = JWTVerifier(
            jwks_uri=keys, issuer=arguments.issuer, audience=resource, required_scopes=arguments.scope)
        auth = RemoteAuthProvider(
            token_verifier=verifier, authorization_servers=[arguments.issuer],
            base_url=f"http://127.0.0.1:{arguments.port}")
    server = FastMCP("tools", auth=auth)

    @server.tool
    async def add(left: int, right: int) -> int:
        return left + right

    @server.tool
    async def count(number: int, until: str, context: FastContext) -> int:
        return await counted(context, number, until)

    return server.http_app(path="/mcp")


def demanding(app, place):
    claims = base64.b64encode(b'{"access_token":{"acrs":{"essential":true,"value":"alpha"}}}').decode()
    challenge = 'Bearer error="insufficient_claims", claims="%s"' % claims

    async def demand(scope, receive, send):
        token = dict(scope.get("headers", [])).get(b"authorization", b"")
        if scope["type"] != "http" or token.startswith(b"Bearer alpha"):
            return await app(scope, receive, send)
        if place == "before":
            await send({
                "type": "http.response.start", "status": 401, "headers": [(b"www-authenticate", challenge.encode())]})
            return await send({"type": "http.response.body", "body": b"another token"})
        is_stream, said = False, False

        async def within(message):
            nonlocal is_stream, said
            if message["type"] == "http.response.start":
                is_stream = dict(message["headers"]).get(b"content-type", b"").startswith(b"text/event-stream")
            await send(message)
            if is_stream and not said and message["type"] == "http.response.body" and message.get("more_body"):
                said = True
                event = "event: challenge\r\ndata: WWW-Authenticate: %s\r\n\r\n" % challenge
                await send({"type": "http.response.body", "body": event.encode(), "more_body": True})

        await app(scope, receive, within)

    return demand


def identity(fields):
    token = fields.get(b"authorization", b"").decode().partition(" ")[2]
    if not token:
        return "- -"
    part = token.split(".")[1]
    try:
        subject = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))["sub"]
    except (ValueError, TypeError):
        subject = "-"
    return subject + " " + hashlib.sha256(token.encode()).hexdigest()[:16]


def watched(app):
    async def watch(scope, receive, send):
        if scope["type"] == "http":
            fields = dict(scope["headers"])
            print(
                "request", scope["method"], fields.get(b"mcp-session-id", b"-").decode(), identity(fields), flush=True)
        await app(scope, receive, send)

    return watch


class Server(uvicorn.Server):
    async def startup(self, sockets=None):
        await super().startup(sockets)
        print("listening", self.config.port, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=["mcp", "fastmcp"])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--issuer")
    parser.add_argument("--scope", action="append", default=[])
    parser.add_argument("--demands", choices=["before", "within"])
    arguments = parser.parse_args()
    resource = f"http://127.0.0.1:{arguments.port}/mcp"
    app = (sdk_server if arguments.kind == "mcp" else fast_server)(arguments, resource)
    if arguments.demands:
        app = demanding(app, arguments.demands)
    Server(uvicorn.Config(watched(app), host="127.0.0.1", port=arguments.port, log_level="warning")).run()


if __name__ == "__main__":
    main()
