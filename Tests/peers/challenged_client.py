#!/usr/bin/env python3
"""Callers that act on what the proxy hands them: ends with 0 where they get through.

    challenged_client.py --ca FILE --proxy http://localhost:PORT --route PATH plain
    challenged_client.py --ca FILE --proxy http://localhost:PORT --route PATH --origin https://… --api https://… msal

`plain` knows RFC 6750, RFC 9470 and the problem document, and only the standard library. `msal` is the real msal
package, which is given the claims of the challenges as they arrive (`claims_challenge=`), and shows its token to the
API itself.
"""

import argparse
import base64
import json
import os
import re
import ssl
import sys
import urllib.error
import urllib.parse
import urllib.request

from person import Forms, Person

CLIENT = "c0a7050d-0000-4000-8000-0000000000a3"
TENANT = "c0a7050d-0000-4000-8000-000000000001"
USER, PASSWORD = "alice@contoso.example", "tulip-anchor-42"


def check(holds, what, seen=None):
    if not holds:
        sys.exit("not so: %s; seen: %s" % (what, seen))
    print("ok: " + what, flush=True)


class Caller:
    def __init__(self, ca):
        self.context = ssl.create_default_context(cafile=ca)

    def get(self, url, token=None):
        """Status, `WWW-Authenticate`, media type and body."""
        request = urllib.request.Request(url, headers={"Authorization": "Bearer " + token} if token else {})
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=self.context))
        try:
            with opener.open(request, timeout=30) as answer:
                return answer.status, None, answer.headers.get_content_type(), answer.read().decode()
        except urllib.error.HTTPError as answer:
            with answer:
                return (answer.code, answer.headers.get("WWW-Authenticate"), answer.headers.get_content_type(),
                        answer.read().decode())


def challenge(field):
    """The parameters of a Bearer challenge (RFC 6750 §3)."""
    scheme, _, rest = field.partition(" ")
    check(scheme.lower() == "bearer", "the challenge is Bearer's", field)
    return {name.lower(): quoted or plain
            for name, quoted, plain in re.findall(r'([A-Za-z_]+)\s*=\s*(?:"([^"]*)"|([^\s,"]+))', rest)}


def sign_in(person, link):
    """Follows a link of the problem document's, presses its page's button, and does what the identity provider
    wants."""
    url, page, _ = person.open(link)
    form = Forms(page).forms[0]
    _, _, there = person.open(urllib.parse.urljoin(url, form["action"]), form["fields"])
    target, parameters, _ = person.authorize(there)
    _, page, _ = person.open(target + "?" + urllib.parse.urlencode(parameters))
    check(Forms(page).heading == "You are signed in", "the page says that it is done", page)


def plain(caller, options):
    person = Person(options.ca, USER, PASSWORD)
    base = options.proxy + options.route
    status, field, kind, body = caller.get(base + "list")
    check(status == 401 and kind == "application/problem+json", "who is nobody gets a problem document", (status, kind))
    asked, problem = challenge(field), json.loads(body)
    check(asked["error"] == "interaction_required" and problem["reason"] == "no_account"
          and asked["scope"] == " ".join(problem["scopes"]), "challenge and document say the same", (asked, problem))
    link = problem["sign_in"]
    sign_in(person, link)
    status, _, _, body = caller.get(base + "list")
    check(status == 200 and USER in body, "and the link leads to an answer", (status, body))

    status, field, _, _ = caller.get(base + "statements")
    asked = challenge(field)
    check(status == 401 and asked["error"] == "insufficient_user_authentication" and "acr_values" in asked
          and "max_age" in asked, "RFC 9470 arrives as the API wrote it", (status, field))
    person.headings = []
    sign_in(person, link)
    check("Verify that it is you" in person.headings, "the same link asks for what RFC 9470 asked for", person.headings)
    status, _, _, body = caller.get(base + "statements")
    check(status == 200, "and satisfies it", (status, body))


def surfaced(caller, url):
    status, field, _, _ = caller.get(url)
    asked = challenge(field)
    check(
        status == 401 and asked["error"] == "insufficient_claims",
        "the challenge comes through the proxy",
        (status, field),
    )
    return base64.b64decode(asked["claims"], validate=True).decode()


def with_msal(caller, options):
    import msal
    claims = surfaced(caller, options.proxy + options.route + "payouts")
    app = msal.PublicClientApplication(
        CLIENT, authority="%s/%s" % (options.origin, TENANT), instance_discovery=False, verify=options.ca,
        client_capabilities=["CP1"])
    person, scopes = Person(options.ca, USER, PASSWORD), ["api://orders/Orders.Read"]

    def interact(claims=None):
        flow = app.initiate_auth_code_flow(scopes, redirect_uri="http://localhost:50127", claims_challenge=claims)
        _, parameters, _ = person.authorize(flow["auth_uri"])
        return app.acquire_token_by_auth_code_flow(flow, parameters)

    first = interact()
    check(caller.get(options.api + "/api/list", first["access_token"])[0] == 200, "msal has a token")
    check(caller.get(options.api + "/api/payouts", first["access_token"])[0] == 401, "which is not enough")
    account, = app.get_accounts()
    silent = app.acquire_token_silent_with_error(scopes, account, claims_challenge=claims)
    check(silent.get("error") == "interaction_required", "silence cannot satisfy the claims", silent.get("error"))
    stepped = interact(claims)
    check(caller.get(options.api + "/api/payouts", stepped["access_token"])[0] == 200,
          "msal, given the surfaced claims, obtains a token that the API accepts")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--ca", "--proxy", "--route"):
        parser.add_argument(name, required=True)
    parser.add_argument("--origin")
    parser.add_argument("--api")
    parser.add_argument("what", choices=["plain", "msal"])
    options = parser.parse_args()
    # In requests, these beat verify=; and nothing here is behind a forward proxy.
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        os.environ.pop(name, None)
    os.environ["NO_PROXY"] = "*"
    {"plain": plain, "msal": with_msal}[options.what](Caller(options.ca), options)


if __name__ == "__main__":
    main()
