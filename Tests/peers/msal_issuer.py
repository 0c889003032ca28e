#!/usr/bin/env python3
"""The real msal and msal-extensions packages as another application of the same cache file, at one of several OpenID
Connect issuers of a host (Tests/peers/openid_provider.py).

    msal_issuer.py --ca FILE --issuer URL --client ID --cache PATH --scope SCOPE WHAT

WHAT: `sign-in` (ann, by authorization code), `silent`, `forced` (silent, with a new access token), `accounts`,
`sign-out`. Prints one JSON object: `token`, `error`, `posts` (token requests made), `accounts`.
"""

import argparse
import json
import os
import urllib.parse

import msal
import requests
from msal_extensions import FilePersistence, PersistedTokenCache

USER, PASSWORD = "ann@id.example", "kettle-harbour-7"


class Provider:
    """msal's way to the provider: counts what is posted."""

    def __init__(self, ca):
        self.posts, self.session = 0, requests.Session()
        self.session.trust_env, self.session.verify = False, ca

    def get(self, url, **arguments):
        return self.session.get(url, timeout=60, **arguments)

    def post(self, url, **arguments):
        self.posts += 1
        return self.session.post(url, timeout=60, **arguments)

    def close(self):
        self.session.close()


def sign_in(application, provider, scope):
    flow = application.initiate_auth_code_flow([scope], redirect_uri="http://localhost:4567")
    answer = provider.session.post(
        flow["auth_uri"], data={"user": USER, "password": PASSWORD}, allow_redirects=False, timeout=60)
    query = urllib.parse.urlsplit(answer.headers["Location"]).query
    return application.acquire_token_by_auth_code_flow(flow, dict(urllib.parse.parse_qsl(query)))


def main():
    parser = argparse.ArgumentParser()
    for name in ("--ca", "--issuer", "--client", "--cache", "--scope"):
        parser.add_argument(name, required=True)
    parser.add_argument("what", choices=["sign-in", "silent", "forced", "accounts", "sign-out"])
    options = parser.parse_args()
    os.environ["NO_PROXY"] = "*"
    provider = Provider(options.ca)
    application = msal.PublicClientApplication(
        options.client, oidc_authority=options.issuer, http_client=provider,
        token_cache=PersistedTokenCache(FilePersistence(options.cache)))
    accounts = application.get_accounts()
    result = {}
    if options.what == "sign-in":
        result = sign_in(application, provider, options.scope)
    elif options.what in ("silent", "forced"):
        for account in accounts[:1]:
            result = application.acquire_token_silent_with_error(
                [options.scope], account, force_refresh=options.what == "forced") or {}
    elif options.what == "sign-out":
        for account in accounts:
            application.remove_account(account)
        accounts = application.get_accounts()
    print(json.dumps({
        "token": result.get("access_token"), "error": result.get("error"), "posts": provider.posts,
        "accounts": [account["username"] for account in accounts]}))


if __name__ == "__main__":
    main()
