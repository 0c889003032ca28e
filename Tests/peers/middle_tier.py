#!/usr/bin/env python3
"""A person's program that calls APIs through proxies, which call others in the person's name; ends with 0 where
everything holds.

    middle_tier.py --ca FILE --origin https://… --api https://… --gateway http://… (--branch http://… | --engine)
        --secret FILE WHAT

The program is the real msal package as a public client. `chain`: what the two proxies obtain, one behind the other in
both directions, is what msal's own acquire_token_on_behalf_of obtains. `conditional`: the provider demands a second
factor of the person; `critical`: the person's sessions were revoked. Each time the program gets through by the claims
that the proxy hands up, given to msal as they are. With --engine, nginx or another engine is the gateway, which asks
a proxy for tokens: there is one route, and the engine may replace the document beside the challenge. One that sends
no request again may take --turns of challenge and sign-in.
"""

import argparse
import base64
import json
import os
import re
import ssl
import sys
import time
import urllib.error
import urllib.request

import msal

from person import Person

TENANT = "c0a7050d-0000-4000-8000-000000000001"
DESK = "c0a7050d-0000-4000-8000-0000000000a3"
GATEWAY, BRANCH = "c0a7050d-0000-4000-8000-0000000000a4", "c0a7050d-0000-4000-8000-0000000000a5"
ORDERS = "c0a7050d-0000-4000-8000-0000000000b1"
USER, PASSWORD = "alice@contoso.example", "tulip-anchor-42"


def check(holds, what, seen=None):
    if not holds:
        sys.exit("not so: %s; seen: %s" % (what, seen))
    print("ok: " + what, flush=True)


def payload(token):
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


class Scene:
    def __init__(self, options):
        self.options = options
        self.paths = ["/orders/me"] if getattr(options, "engine", False) else ["/orders/me", "/branch/orders/me"]
        self.context = ssl.create_default_context(cafile=options.ca)
        self.person = Person(options.ca, USER, PASSWORD)
        self.program = msal.PublicClientApplication(
            DESK, authority=self.authority, instance_discovery=False, verify=options.ca, client_capabilities=["CP1"])

    @property
    def authority(self):
        return "%s/%s" % (self.options.origin, TENANT)

    def get(self, url, token, body=None):
        """Status, `WWW-Authenticate` and body."""
        request = urllib.request.Request(url, body, headers={"Authorization": "Bearer " + token} if token else {})
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=self.context))
        try:
            with opener.open(request, timeout=60) as answer:
                return answer.status, None, answer.read().decode()
        except urllib.error.HTTPError as answer:
            with answer:
                return answer.code, answer.headers.get("WWW-Authenticate"), answer.read().decode()

    def testing(self, task, document):
        status, _, body = self.get(self.options.origin + "/testing/" + task, None, json.dumps(document).encode())
        check(status in (200, 204), "the provider does as it is told", (status, body))

    def sign_in(self, scope, claims=None):
        flow = self.program.initiate_auth_code_flow(
            [scope], redirect_uri="http://localhost:50128", claims_challenge=claims)
        _, parameters, _ = self.person.authorize(flow["auth_uri"])
        result = self.program.acquire_token_by_auth_code_flow(flow, parameters)
        check("access_token" in result, "the person signs in", result.get("error_description"))
        return result["access_token"]

    def middle(self, client):
        with open(self.options.secret, encoding="ascii") as file:
            return msal.ConfidentialClientApplication(
                client, client_credential=file.read().strip(), authority=self.authority, instance_discovery=False,
                verify=self.options.ca)

    def on_behalf_of(self, client, assertion, scope):
        result = self.middle(client).acquire_token_on_behalf_of(assertion, [scope])
        check("access_token" in result, "msal asks on behalf of the person", result.get("error_description"))
        return result["access_token"]


def report(text):
    """What the API saw of the token, without what every token has of its own."""
    def plain(value):
        if isinstance(value, dict):
            return {name: plain(member) for name, member in value.items()
                    if not re.search("identifier|expires|issued|valid|until|since|seconds|forwarded|fields|path",
                                     name, re.IGNORECASE)}
        return value
    return plain({name: value for name, value in json.loads(text).items() if name in ("caller", "token")})


def chain(scene):
    options = scene.options
    sides = [
        (GATEWAY, options.gateway, "api://gateway/Gateway.Access", BRANCH, "branch", "api://branch/Branch.Access"),
        (BRANCH, options.branch, "api://branch/Branch.Access", GATEWAY, "gateway", "api://gateway/Gateway.Access"),
    ]
    for near, proxy, scope, far, route, further in sides:
        token = scene.sign_in(scope)
        check(payload(token)["aud"] == near, "the person's token is for the near proxy", payload(token)["aud"])
        status, _, ours = scene.get(proxy + "/orders/me", token)
        check(status == 200, "one proxy obtains a token in the person's name", (status, ours))
        theirs = scene.on_behalf_of(near, token, "api://orders/Orders.Read")
        claims = payload(theirs)
        check(claims["aud"] == ORDERS and claims["azp"] == near, "so does msal", claims)
        status, _, body = scene.get(options.api + "/api/me", theirs)
        check(status == 200 and report(ours) == report(body), "and the API sees the same", (ours, body))

        status, _, ours = scene.get("%s/%s/orders/me" % (proxy, route), token)
        check(status == 200, "two proxies, one behind the other, do the same", (status, ours))
        second = scene.on_behalf_of(far, scene.on_behalf_of(near, token, further), "api://orders/Orders.Read")
        status, _, body = scene.get(options.api + "/api/me", second)
        check(status == 200 and report(ours) == report(body), "and the API sees what it sees of msal's", (ours, body))
        check(USER in ours, "which is the person", ours)
        # The token for one proxy is of no use at the other.
        other = options.branch if proxy == options.gateway else options.gateway
        check(scene.get(other + "/orders/me", token)[0] == 401, "a foreign token gets nowhere")

        status, field, body = scene.get(proxy + "/approvals/me", token)
        problem = json.loads(body)
        check(status == 403 and field is None and problem["type"].endswith(":caller-consent-required")
              and problem["scopes"] == ["api://orders/Orders.Approve"], "what nobody consented to is named", problem)


def claims_of(field):
    return base64.b64decode(re.search(r'claims="([^"]*)"', field)[1], validate=True).decode()


def surfaced(scene, path, token):
    status, field, body = scene.get(scene.options.gateway + path, token)
    check(status == 401 and 'error="insufficient_claims"' in (field or ""), "the claims come up", (status, field, body))
    claims = claims_of(field)
    if not getattr(scene.options, "engine", False):
        place = scene.options.gateway + "/.well-known/oauth-protected-resource/" + path.split("/")[1]
        check('resource_metadata="%s"' % place in field and 'scope="Gateway.Access"' in field,
              "beside the place of the metadata and the scopes", field)
        check(json.loads(body)["claims"] == claims or json.loads(json.loads(body)["claims"]) == json.loads(claims),
              "challenge and document say the same", body)
    return claims


def get_through(scene, path, scope, claims):
    turns = getattr(scene.options, "turns", 1)
    for turn in range(turns):
        account = scene.program.get_accounts()[0]
        silent = scene.program.acquire_token_silent_with_error([scope], account, claims_challenge=claims) or {}
        token = silent.get("access_token") or scene.sign_in(scope, claims)
        status, field, body = scene.get(scene.options.gateway + path, token)
        if status != 401 or turn == turns - 1:
            break
        # The API demands a token of a second that has not passed, and an engine that reports nothing gets one then.
        time.sleep(1.1)
        claims = claims_of(field)
    check(status == 200 and USER in body, "msal gets through by the surfaced claims alone", (status, body))


def conditional(scene):
    scope = "api://gateway/Gateway.Access"
    token = scene.sign_in(scope)
    scene.testing("behaviour", {"second_factor": [USER]})
    for path in scene.paths:
        claims = surfaced(scene, path, token)
        get_through(scene, path, scope, claims)


def critical(scene):
    scope = "api://gateway/Gateway.Access"
    token = scene.sign_in(scope)
    for path in scene.paths:
        check(scene.get(scene.options.gateway + path, token)[0] == 200, "a token is held")
    scene.testing("critical-event", {"user": USER})
    for path in scene.paths:
        # The API refuses the held token with claims; the exchange with them says that only a sign-in brings them.
        claims = surfaced(scene, path, token)
        get_through(scene, path, scope, claims)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--ca", "--origin", "--api", "--gateway", "--secret"):
        parser.add_argument(name, required=True)
    parser.add_argument("--branch")
    parser.add_argument("--engine", action="store_true")
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("what", choices=["chain", "conditional", "critical"])
    options = parser.parse_args()
    # In requests, these beat verify=; and nothing here is behind a forward proxy.
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        os.environ.pop(name, None)
    os.environ["NO_PROXY"] = "*"
    {"chain": chain, "conditional": conditional, "critical": critical}[options.what](Scene(options))


if __name__ == "__main__":
    main()
