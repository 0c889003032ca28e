#!/usr/bin/env python3
"""The real msal and msal-extensions packages as another application of the same cache file, at the demonstration's
provider.

    msal_peer.py --ca FILE --origin https://localhost:PORT --cache PATH [--entra] WHAT [--force]

WHAT: `sign-in` (alice, by device code, at her browser too), `silent`, `accounts`, `sign-out`. Prints one JSON object; a
token is told by its identifier, as the sample API tells it. `--entra` has the provider appear as
login.microsoftonline.com, which is what msal then files the tokens under; nothing leaves this machine.
"""

import argparse
import base64
import json
import os
import threading

import msal
import requests
from msal_extensions import FilePersistence, PersistedTokenCache

from person import Person

TENANT = "c0a7050d-0000-4000-8000-000000000001"
CLIENT = "c0a7050d-0000-4000-8000-0000000000a3"
PASSWORD = "tulip-anchor-42"
ENTRA = "https://login.microsoftonline.com"


class Provider:
    """msal's way to the provider: counts what is posted, and lends the provider another name."""

    def __init__(self, options):
        self.options, self.posts = options, 0
        self.session = requests.Session()
        self.session.trust_env = False
        self.session.verify = options.ca

    def renamed(self, answer):
        if self.options.entra:
            answer._content = answer.content.replace(self.options.origin.encode(), ENTRA.encode())
        return answer

    def real(self, url):
        return url.replace(ENTRA, self.options.origin) if self.options.entra else url

    def get(self, url, **arguments):
        return self.renamed(self.session.get(self.real(url), timeout=30, **arguments))

    def post(self, url, **arguments):
        self.posts += 1
        return self.renamed(self.session.post(self.real(url), timeout=30, **arguments))

    def close(self):
        self.session.close()


def identifier(token):
    body = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))["uti"]


def told(result, provider):
    if not result or "access_token" not in result:
        return {"error": (result or {}).get("error", "nothing"), "description": (result or {}).get("error_description"),
                "posts": provider.posts}
    return {"token": identifier(result["access_token"]), "scope": result.get("scope"),
            "source": result.get("token_source"), "posts": provider.posts}


def main():
    parser = argparse.ArgumentParser()
    for name in ("--ca", "--origin", "--cache"):
        parser.add_argument(name, required=True)
    parser.add_argument("--entra", action="store_true")
    parser.add_argument("--force", action="store_true")
    parser.add_argument("--scope", default="api://orders/Orders.Read")
    parser.add_argument("what", choices=["sign-in", "silent", "accounts", "sign-out"])
    options = parser.parse_args()
    os.environ["NO_PROXY"] = "*"
    provider = Provider(options)
    application = msal.PublicClientApplication(
        CLIENT, authority="%s/%s" % (ENTRA if options.entra else options.origin, TENANT), instance_discovery=False,
        http_client=provider, token_cache=PersistedTokenCache(FilePersistence(options.cache)))
    if options.what == "sign-in":
        flow = application.initiate_device_flow([options.scope])
        person = Person(options.ca, "alice@contoso.example", PASSWORD)
        thread = threading.Thread(
            target=person.approve_device, args=[provider.real(flow["verification_uri"]), flow["user_code"]])
        thread.start()
        result = told(application.acquire_token_by_device_flow(flow), provider)
        thread.join()
    else:
        accounts = application.get_accounts()
        if options.what == "silent" and len(accounts) == 1:
            result = told(application.acquire_token_silent_with_error(
                [options.scope], accounts[0], force_refresh=options.force), provider)
        else:
            for account in accounts if options.what == "sign-out" else []:
                application.remove_account(account)
            result = {"accounts": [account["username"] for account in accounts]}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
