#!/usr/bin/env python3
"""A person at the pages of identity providers that we did not write: canaille, glewlwyd, oidc-provider-mock, Authlib's.

    peer_person.py PROVIDER [--user U] [--password P] [--scope S …] authorize URL     brings the answer to the redirect
                                                                                      URI
    peer_person.py PROVIDER [--user U] [--password P] [--scope S …] device URL CODE

glewlwyd's pages are a program in JavaScript: what that would post is posted here. --scope is what the person consents
to there.
"""

import argparse
import json
import sys
import urllib.parse
import urllib.request

from person import Forms, Person


class FormPerson(Person):
    """Fills in whatever form the provider shows, until the browser is sent to the redirect URI."""

    NAMES = ("login", "username", "user", "sub")

    def sign_in(self, url):
        origin = urllib.parse.urlsplit(url)[:2]
        url, page, location = self.open(url)
        for _ in range(20):
            if location is not None:
                target = urllib.parse.urljoin(url, location)
                if urllib.parse.urlsplit(target)[:2] != origin:
                    return target
                url, page, location = self.open(target)
                continue
            form = next((form for form in Forms(page).forms if form["fields"] or form["buttons"]), None)
            if form is None:
                sys.exit("no form to fill in at %s: %s" % (url, page[:2000]))
            url, page, location = self.open(urllib.parse.urljoin(url, form["action"]), self.filled(form))
        sys.exit("twenty pages, and no end")

    def filled(self, form):
        fields = dict(form["fields"])
        for name in fields:
            if name in self.NAMES:
                fields[name] = self.user
            elif name == "password":
                fields[name] = self.password
        # Of several buttons the one that agrees.
        buttons = [(name, value) for name, value in form["buttons"] if name]
        agreeing = [button for button in buttons if button[1] in ("accept", "allow", "yes")] or buttons
        if agreeing:
            fields[agreeing[0][0]] = agreeing[0][1] or ""
        return fields

    def approve_device(self, url, code):
        sys.exit("this provider has no device codes")


class ProgramPerson(Person):
    """Does what glewlwyd's pages do."""

    def __init__(self, user, password, scopes):
        super().__init__(None, user, password)
        self.scopes = scopes

    def api(self, method, url, body):
        request = urllib.request.Request(
            url, json.dumps(body).encode(), {"Content-Type": "application/json"}, method=method)
        with self.opener.open(request, timeout=30) as answer:
            answer.read()

    def agree(self, page):
        """Signs in at the login page's address, consents, and says where the page would go on."""
        parts = urllib.parse.urlsplit(page)
        asked = dict(urllib.parse.parse_qsl(parts.query))
        api = "%s://%s/api" % parts[:2]
        self.api("POST", api + "/auth/", {"username": self.user, "password": self.password})
        self.api("PUT", api + "/auth/grant/" + asked["client_id"], {"scope": asked.get("scope", " ".join(self.scopes))})
        return asked["callback_url"] + ("&" if "?" in asked["callback_url"] else "?") + "g_continue"

    def sign_in(self, url):
        _, _, location = self.open(url)
        _, _, location = self.open(self.agree(location))
        return location

    def approve_device(self, url, code):
        _, page, location = self.open(url + ("&" if "?" in url else "?") + urllib.parse.urlencode({"code": code}))
        for _ in range(3):
            if location is None or "prompt=device" in location:
                return location or page
            _, page, location = self.open(self.agree(location))
        return location


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("provider", choices=["canaille", "glewlwyd", "mock", "authlib"])
    parser.add_argument("--user", default="ann")
    parser.add_argument("--password", default="")
    parser.add_argument("--scope", action="append", default=[])
    parser.add_argument("what", choices=["authorize", "device"])
    parser.add_argument("url")
    parser.add_argument("code", nargs="?")
    options = parser.parse_args()
    person = (
        ProgramPerson(options.user, options.password, options.scope) if options.provider == "glewlwyd"
        else FormPerson(None, options.user, options.password))
    if options.what == "device":
        print(person.approve_device(options.url, options.code))
        return
    target, _, query = person.sign_in(options.url).partition("?")
    print(person.deliver(target, dict(urllib.parse.parse_qsl(query)), "GET"))


if __name__ == "__main__":
    main()
