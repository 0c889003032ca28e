#!/usr/bin/env python3
"""The real msal and msal-extensions packages at work on a cache file that bearer-proxy writes too.

    cache_peer.py [--plain] add PATH PREFIX COUNT   signs COUNT people in, PREFIX0 and so on; prints each that is in the
                                                    file
    cache_peer.py [--plain] rewrite PATH PERSON COUNT
                                                    signs PERSON in again and again, until msal-extensions has written
                                                    the file COUNT times
    cache_peer.py generation PATH PERSON            prints the newest refresh token of a person
    cache_peer.py overtaken PATH PERSON             reads the file, is overtaken by a writer while it does, and prints
                                                    what it finds in its next search
    cache_peer.py silent PATH PERSON                prints the access token that msal gives silently, with no provider
                                                    in reach

--plain: the lock of msal-extensions without portalocker, which is what Azure CLI has.
"""

import base64
import json
import os
import sys
import time

PLAIN = "--plain" in sys.argv
if PLAIN:
    sys.argv.remove("--plain")
    sys.modules["portalocker"] = None

import msal
import msal_extensions
from msal_extensions import FilePersistence, PersistedTokenCache

if PLAIN == (msal_extensions.CrossPlatLock.__module__ != "msal_extensions.filelock"):
    sys.exit("msal-extensions took the other lock: %s" % msal_extensions.CrossPlatLock.__module__)

TENANT = "c0a7050d-0000-4000-8000-000000000001"
CLIENT = "c0a7050d-0000-4000-8000-0000000000a3"
HOST = "login.microsoftonline.com"


def say(line):
    os.write(1, (line + "\n").encode())


def encoded(document):
    return base64.urlsafe_b64encode(json.dumps(document).encode()).decode().rstrip("=")


def home(person):
    return "%s.%s" % (person, TENANT)


def sign_in(cache, person):
    claims = {"sub": person, "oid": person, "preferred_username": person + "@contoso.example", "iss": "i"}
    cache.add(
        {
            "client_id": CLIENT,
            "scope": ["User.Read"],
            "grant_type": "authorization_code",
            "token_endpoint": "https://%s/%s/oauth2/v2.0/token" % (HOST, TENANT),
            "environment": HOST,
            "response": {
                "access_token": "at-" + person,
                "refresh_token": "rt-%s-0" % person,
                "expires_in": 3600,
                "token_type": "Bearer",
                "id_token": "e30.%s.x" % encoded(claims),
                "client_info": encoded({"uid": person, "utid": TENANT}),
            },
        }
    )


def newest(cache, person):
    found = cache.find(msal.TokenCache.CredentialType.REFRESH_TOKEN, query={"home_account_id": home(person)})
    found.sort(key=lambda entry: int(entry.get("last_modification_time", 0)))
    return found[-1]["secret"] if found else "none"


def add(path, prefix, count):
    cache = PersistedTokenCache(FilePersistence(path))
    for index in range(int(count)):
        person = "%s%d" % (prefix, index)
        while True:
            try:
                sign_in(cache, person)
                break
            except msal_extensions.LockError:
                say("locked out")
        say(person)


class Counted(FilePersistence):
    """Counts what it writes."""

    count = 0

    def save(self, content):
        super().save(content)
        self.count += 1


def rewrite(path, person, count):
    persistence = Counted(path)
    cache = PersistedTokenCache(persistence)
    while persistence.count < int(count):
        try:
            sign_in(cache, person)
        except msal_extensions.LockError:
            say("locked out")
    say("written %d" % persistence.count)


class Overtaken(FilePersistence):
    """Returns from its first load only after somebody has replaced the file."""

    is_first = True

    def load(self):
        before = os.stat(self.get_location()).st_ino
        contents = super().load()
        if self.is_first:
            self.is_first = False
            say("loaded")
            while os.stat(self.get_location()).st_ino == before:
                pass
        return contents


def overtaken(path, person):
    cache = PersistedTokenCache(Overtaken(path))
    say("first " + newest(cache, person))
    say("next " + newest(cache, person))


class Discovery:
    """Answers for the provider's metadata and for nothing else."""

    class Answer:
        headers = {}

        def __init__(self, status, document):
            self.status_code, self.text = status, json.dumps(document)

        def raise_for_status(self):
            if self.status_code >= 400:
                raise RuntimeError(self.status_code)

    def get(self, url, **_):
        if "openid-configuration" not in url:
            return self.Answer(404, {})
        base = "https://%s/%s" % (HOST, TENANT)
        return self.Answer(200, {
            "issuer": base + "/v2.0", "authorization_endpoint": base + "/oauth2/v2.0/authorize",
            "token_endpoint": base + "/oauth2/v2.0/token", "device_authorization_endpoint": base + "/devicecode"})

    def post(self, *_, **__):
        return self.Answer(503, {"error": "temporarily_unavailable"})

    def close(self):
        pass


def silent(path, person):
    application = msal.PublicClientApplication(
        CLIENT, authority="https://%s/%s" % (HOST, TENANT), instance_discovery=False, http_client=Discovery(),
        token_cache=PersistedTokenCache(FilePersistence(path)))
    accounts = application.get_accounts(username=person + "@contoso.example")
    if len(accounts) != 1:
        sys.exit("accounts: %d" % len(accounts))
    result = application.acquire_token_silent(["User.Read"], account=accounts[0])
    say(result["access_token"] if result else "nothing")


def generation(path, person):
    say(newest(PersistedTokenCache(FilePersistence(path)), person))


{"add": add, "rewrite": rewrite, "generation": generation, "overtaken": overtaken, "silent": silent}[sys.argv[1]](
    *sys.argv[2:])
