"""An MCP client of the SDK's (`mcp`) or of fastmcp's, for the end-to-end tests.

    mcp_client.py KIND URL [--mode legacy] [--client ID --person NAME:PASSWORD [--held SCOPE --issuer URL]]

Calls `add` and `count`, and prints one JSON object: the `sum`, the `count`, the `progress` events that arrived,
`sign_ins`, and `error` if it failed. With --client it knows OAuth: its library finds the provider by itself, and this
file is the person at the provider's page. --held: it has a token from before, for that scope. --waits FILE: has `count`
wait in the middle until there is this file.
"""

import argparse
import asyncio
import base64
import hashlib
import json
import urllib.parse

import httpx2
from fastmcp import Client as FastClient
from fastmcp.client.auth import OAuth
from mcp.client import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

REDIRECT = "http://127.0.0.1:49152/callback"
report = {"sign_ins": [], "progress": 0}


async def sign_in(address, person):
    """What a person does at the provider's page; the address that the browser is sent back to."""
    query = urllib.parse.parse_qs(urllib.parse.urlsplit(address).query)
    report["sign_ins"].append({name: query.get(name, [None])[0] for name in ("scope", "resource")})
    if len(report["sign_ins"]) > 5:
        raise RuntimeError("it signs in again and again")
    name, _, password = person.partition(":")
    async with httpx2.AsyncClient() as browser:
        answer = await browser.post(address, data={"user": name, "password": password})
    if answer.status_code != 302:
        raise RuntimeError(f"the provider answered {answer.status_code}: {answer.text}")
    return answer.headers["location"]


class Storage:
    def __init__(self, client, tokens):
        self.client, self.tokens = client, tokens

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


class Person(OAuth):
    """fastmcp's client listens at loopback for the browser itself."""

    async def redirect_handler(self, authorization_url):
        back = await sign_in(authorization_url, self.person)

        async def follow():
            async with httpx2.AsyncClient() as browser:
                for _ in range(100):
                    try:
                        return await browser.get(back)
                    except httpx2.ConnectError:
                        await asyncio.sleep(0.1)

        self.browser = asyncio.create_task(follow())


async def held(arguments):
    """A token for a part of the scopes, as one from an earlier run would be."""
    client = OAuthClientInformationFull(
        client_id=arguments.client, redirect_uris=[REDIRECT], token_endpoint_auth_method="none")
    if not arguments.held:
        return client, None
    issuer, resource = arguments.issuer, arguments.url
    verifier = "v" * 43
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    query = urllib.parse.urlencode({
        "response_type": "code", "client_id": arguments.client, "redirect_uri": REDIRECT, "scope": arguments.held,
        "state": "s", "code_challenge": challenge, "code_challenge_method": "S256", "resource": resource})
    back = await sign_in(f"{issuer}/authorize?{query}", arguments.person)
    report["sign_ins"].clear()
    code = urllib.parse.parse_qs(urllib.parse.urlsplit(back).query)["code"][0]
    async with httpx2.AsyncClient() as browser:
        answer = await browser.post(issuer + "/token", data={
            "grant_type": "authorization_code", "code": code, "redirect_uri": REDIRECT, "code_verifier": verifier,
            "client_id": arguments.client, "resource": resource})
    return client, OAuthToken.model_validate_json(answer.content)


async def sdk_client(arguments):
    auth = None
    if arguments.client:
        client, tokens = await held(arguments)
        last = {}

        async def redirect(address):
            last["back"] = await sign_in(address, arguments.person)

        async def callback():
            query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(last["back"]).query))
            return AuthorizationCodeResult(code=query["code"], state=query.get("state"), iss=query.get("iss"))

        metadata = OAuthClientMetadata(
            redirect_uris=[REDIRECT], grant_types=["authorization_code", "refresh_token"], response_types=["code"],
            token_endpoint_auth_method="none", client_name="test")
        auth = OAuthClientProvider(
            arguments.url, metadata, Storage(client, tokens), redirect_handler=redirect, callback_handler=callback)
    transport = streamable_http_client(arguments.url, http_client=create_mcp_http_client(auth=auth))
    async with Client(transport, mode=arguments.mode) as client:
        await calls(arguments, client, lambda result: result.structured_content["result"], {
            "progress_callback": progress})


async def fast_client(arguments):
    auth = None
    if arguments.client:
        auth = Person(client_id=arguments.client)
        auth.person = arguments.person
    async with FastClient(arguments.url, auth=auth) as client:
        await calls(arguments, client, lambda result: result.structured_content["result"], {
            "progress_handler": progress})


async def progress(done, total, message):
    report["progress"] += 1


async def calls(arguments, client, value, listening):
    report["sum"] = value(await client.call_tool("add", {"left": 40, "right": 2}))
    report["count"] = value(await client.call_tool("count", {"number": 3, "until": arguments.waits}, **listening))
    report["sum"] = value(await client.call_tool("add", {"left": 40, "right": 2}))


def causes(error):
    for inner in getattr(error, "exceptions", [error]):
        if inner is error:
            yield f"{type(error).__name__}: {error}"
        else:
            yield from causes(inner)


async def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=["mcp", "fastmcp"])
    parser.add_argument("url")
    parser.add_argument("--mode", default="legacy")
    parser.add_argument("--client")
    parser.add_argument("--person")
    parser.add_argument("--held")
    parser.add_argument("--issuer")
    parser.add_argument("--waits", default="")
    arguments = parser.parse_args()
    try:
        async with asyncio.timeout(100):
            await (sdk_client if arguments.kind == "mcp" else fast_client)(arguments)
    except Exception as error:
        report["error"] = "; ".join(causes(error))
    print(json.dumps(report), flush=True)


asyncio.run(main())
