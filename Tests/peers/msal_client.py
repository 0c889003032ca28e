#!/usr/bin/env python3
"""The real msal package as a client of the demonstration's identity provider; ends with 0 where everything holds.

    msal_client.py --ca FILE --origin https://localhost:PORT --api https://localhost:PORT
"""

import argparse
import base64
import json
import os
import re
import ssl
import sys
import threading
import time
import urllib.error
import urllib.request

import msal

from person import Person

TENANT = "c0a7050d-0000-4000-8000-000000000001"
FABRIKAM = "fab71ca0-0000-4000-8000-000000000001"
CLIENT = "c0a7050d-0000-4000-8000-0000000000a3"
ALICE = "c0a7050d-0000-4000-8000-0000000000d1"
PASSWORD = "tulip-anchor-42"


def check(holds, what, seen=None):
    if not holds:
        if isinstance(seen, dict):
            seen = {name: "…" if name.endswith("_token") else value for name, value in seen.items()}
        sys.exit("not so: %s; seen: %s" % (what, json.dumps(seen, default=str)))
    print("ok: " + what)


class Scene:
    def __init__(self, ca, origin, api):
        self.ca, self.origin, self.api = ca, origin, api

    def testing(self, task, document=None):
        request = urllib.request.Request(
            "%s/testing/%s" % (self.origin, task), None if document is None else json.dumps(document).encode())
        context = ssl.create_default_context(cafile=self.ca)
        with urllib.request.urlopen(request, context=context, timeout=30) as answer:
            return json.load(answer)

    def visit(self, path, tokens):
        """What the API answers: the status, and the claims of its challenge."""
        request = urllib.request.Request(self.api + path, headers={"Authorization": "Bearer " + tokens["access_token"]})
        try:
            with urllib.request.urlopen(
                    request, context=ssl.create_default_context(cafile=self.ca), timeout=30) as answer:
                return answer.status, None
        except urllib.error.HTTPError as answer:
            with answer:
                found = re.search(r'claims="([^"]*)"', answer.headers.get("WWW-Authenticate", ""))
                return answer.code, base64.b64decode(found[1]).decode() if found else None

    def person(self, user, declines=False):
        return Person(self.ca, user, PASSWORD, declines)

    def application(self, tenant=TENANT, **options):
        """As an authority of Entra's shape, without asking Microsoft about it."""
        return msal.PublicClientApplication(
            CLIENT, authority="%s/%s" % (self.origin, tenant), instance_discovery=False, verify=self.ca, **options)


def device_flow(scene):
    """Device code, then silence from the cache, by refresh, for another API, and after a revocation."""
    scene.testing("behaviour", {"device_interval": 1})
    app = scene.application()
    flow = app.initiate_device_flow(["api://orders/Orders.Read"])
    check("user_code" in flow and flow["verification_uri"] == scene.origin + "/device", "a device code is given", flow)
    person = scene.person("alice@contoso.example")
    thread = threading.Timer(1.5, person.approve_device, [flow["verification_uri"], flow["user_code"]])
    thread.start()
    result = app.acquire_token_by_device_flow(flow)
    thread.join()
    check("access_token" in result, "the device is signed in", result)
    check(person.headings == ["Sign in", "Orders desk asks for your permission", "You are signed in"],
          "the person saw sign-in, consent and a good end", person.headings)
    claims = result["id_token_claims"]
    check(
        claims["preferred_username"] == "alice@contoso.example" and claims["tid"] == TENANT, "the ID token is Alice's"
    )
    account, = app.get_accounts()
    check(account["home_account_id"] == "%s.%s" % (ALICE, TENANT), "the account is known by uid and utid", account)

    before = scene.testing("requests")["token"]
    again = app.acquire_token_silent(["api://orders/Orders.Read"], account)
    check(again["access_token"] == result["access_token"] and scene.testing("requests")["token"] == before,
          "silence is served from the cache")
    fresh = app.acquire_token_silent(["api://orders/Orders.Read"], account, force_refresh=True)
    check(fresh["access_token"] != result["access_token"], "the refresh token brings another access token")
    tokens = list(app.token_cache.search(msal.TokenCache.CredentialType.REFRESH_TOKEN))
    check(len(tokens) == 1, "the rotated refresh token replaced the old one", len(tokens))

    other = app.acquire_token_silent_with_error(["api://ledger/Ledger.Read"], account)
    check(other["error"] == "invalid_grant" and other["suberror"] == "consent_required"
          and other["error_codes"] == [65001], "an API without consent needs a sign-in", other)
    both = app.acquire_token_silent_with_error(["api://orders/Orders.Read", "api://ledger/Ledger.Read"], account)
    check(both["error_codes"] == [28000], "one token is for one API", both)

    scene.testing("revoke", {"user": "alice@contoso.example"})
    gone = app.acquire_token_silent_with_error(["api://orders/Orders.Read"], account, force_refresh=True)
    check(gone["error"] == "invalid_grant" and gone["suberror"] == "bad_token", "revoked sessions end silence", gone)


def code_flow(scene, mode):
    """Authorization code with PKCE, for two APIs in turn: two access tokens from one sign-in."""
    scene.testing("behaviour", {"refresh_in": 1800})
    scene.testing("withdraw", {"user": "bob@contoso.example"})
    app = scene.application("organizations")
    person = scene.person("bob@contoso.example")

    def sign_in(scopes, **options):
        flow = app.initiate_auth_code_flow(
            scopes, redirect_uri="http://localhost:50123", response_mode=mode, **options)
        target, parameters, method = person.authorize(flow["auth_uri"])
        check(method == ("POST" if mode == "form_post" else "GET"), "the answer comes by " + mode, method)
        check(target.rstrip("/") == "http://localhost:50123", "it goes to the redirect URI", target)
        return app.acquire_token_by_auth_code_flow(flow, parameters)

    orders = sign_in(["api://orders/Orders.Read"])
    check(orders.get("scope") == "api://orders/Orders.Read" and "refresh_on" in orders, "a code becomes tokens",
          orders)
    account, = app.get_accounts()
    check(orders["id_token_claims"]["tid"] == TENANT, "the tenant of 'organizations' is known once somebody signed in")
    person.headings = []
    ledger = sign_in(["api://ledger/Ledger.Read"], login_hint="bob@contoso.example")
    check(ledger.get("scope") == "api://ledger/Ledger.Read" and ledger["access_token"] != orders["access_token"],
          "the other API has a token of its own", ledger)
    check(person.headings[0] == "Orders desk asks for your permission",
          "who is signed in is asked for consent alone", person.headings)
    person.headings = []
    quiet = sign_in(["api://ledger/Ledger.Read"], prompt="none", login_hint="bob@contoso.example")
    check("access_token" in quiet, "prompt=none succeeds where nothing is missing", quiet)
    refused = sign_in(["api://ledger/Ledger.Post"], prompt="none", login_hint="bob@contoso.example")
    check(refused["error"] == "consent_required", "prompt=none tells what is missing", refused)
    silent = app.acquire_token_silent(["api://orders/Orders.Read"], account, force_refresh=True)
    check(silent and silent["access_token"] != orders["access_token"], "one refresh token serves both APIs", silent)


def discovery(scene):
    """As any OpenID provider: by issuer. Whoever declines is believed."""
    scene.testing("withdraw", {"user": "alice@contoso.example"})
    app = msal.PublicClientApplication(
        CLIENT, oidc_authority="%s/%s/v2.0" % (scene.origin, TENANT), verify=scene.ca)
    flow = app.initiate_auth_code_flow(["api://orders/Orders.Read"], redirect_uri="http://127.0.0.1:50124")
    declined = scene.person("alice@contoso.example", declines=True)
    target, parameters, _ = declined.authorize(flow["auth_uri"])
    result = app.acquire_token_by_auth_code_flow(flow, parameters)
    check(result.get("error") == "access_denied", "who declines is believed", result)


def guest(scene):
    """One person, two tenants: one account, two objects."""
    scene.testing("behaviour", {})
    app = scene.application(FABRIKAM)
    flow = app.initiate_auth_code_flow(["api://orders/Orders.Read"], redirect_uri="http://localhost:50125")
    _, parameters, _ = scene.person("fay@fabrikam.example").authorize(flow["auth_uri"])
    home = app.acquire_token_by_auth_code_flow(flow, parameters)
    check(home["id_token_claims"]["tid"] == FABRIKAM, "Fay is at home at Fabrikam", home)
    elsewhere = scene.application(TENANT, token_cache=app.token_cache)
    account, = elsewhere.get_accounts()
    denied = elsewhere.acquire_token_silent_with_error(["api://orders/Orders.Read"], account)
    check(denied["suberror"] == "consent_required", "consent is per tenant", denied)
    flow = elsewhere.initiate_auth_code_flow(["api://orders/Orders.Read"], redirect_uri="http://localhost:50125")
    _, parameters, _ = scene.person("fay@fabrikam.example").authorize(flow["auth_uri"])
    there = elsewhere.acquire_token_by_auth_code_flow(flow, parameters)
    check(there["id_token_claims"]["oid"] != home["id_token_claims"]["oid"], "and somebody else at Contoso", there)
    check({entry["home_account_id"] for entry in elsewhere.get_accounts()} == {account["home_account_id"]},
          "still one account")


def challenges(scene):
    """Claims challenges as an API sends them: one healed in silence, one that takes the person."""
    scene.testing("behaviour", {})
    app = scene.application(client_capabilities=["CP1"])
    person = scene.person("alice@contoso.example")

    def sign_in(claims=None):
        flow = app.initiate_auth_code_flow(
            ["api://orders/Orders.Read"], redirect_uri="http://localhost:50126", claims_challenge=claims)
        _, parameters, _ = person.authorize(flow["auth_uri"])
        return app.acquire_token_by_auth_code_flow(flow, parameters)

    first = sign_in()
    account, = app.get_accounts()
    status, _ = scene.visit("/api/list", first)
    check(status == 200, "the API takes the token", status)
    scene.testing("critical-event", {"user": "alice@contoso.example"})
    status, claims = scene.visit("/api/list", first)
    check(status == 401 and "nbf" in claims, "after the event it challenges", (status, claims))
    healed = app.acquire_token_silent(["api://orders/Orders.Read"], account, claims_challenge=claims)
    status, _ = scene.visit("/api/list", healed)
    check(status == 200, "msal, given the claims, heals it in silence", status)

    status, claims = scene.visit("/api/payouts", healed)
    check(status == 401 and "acrs" in claims, "a payout takes a second factor", (status, claims))
    silent = app.acquire_token_silent_with_error(["api://orders/Orders.Read"], account, claims_challenge=claims)
    check(silent["error"] == "interaction_required" and silent["classification"] == "basic_action"
          and json.loads(silent["claims"]) == json.loads(claims), "silence cannot give it", silent)
    person.headings = []
    stepped = sign_in(silent["claims"])
    check(person.headings == ["Verify that it is you"], "the person is asked for the code alone", person.headings)
    status, _ = scene.visit("/api/payouts", stepped)
    check(status == 200, "the API takes the token of the step-up", status)
    # A token counts by the second: one of the event's own second would be too old.
    time.sleep(1.1)
    kept = app.acquire_token_silent(["api://orders/Orders.Read"], account, force_refresh=True)
    status, _ = scene.visit("/api/payouts", kept)
    check(status == 200, "and of every refresh after it", status)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ca", required=True)
    parser.add_argument("--origin", required=True)
    parser.add_argument("--api", required=True)
    options = parser.parse_args()
    # In requests, these beat verify=; and nothing here is behind a forward proxy.
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        os.environ.pop(name, None)
    os.environ["NO_PROXY"] = "*"
    scene = Scene(options.ca, options.origin, options.api)
    device_flow(scene)
    code_flow(scene, "query")
    code_flow(scene, "form_post")
    discovery(scene)
    guest(scene)
    challenges(scene)


if __name__ == "__main__":
    main()
