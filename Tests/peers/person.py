#!/usr/bin/env python3
"""A person at a browser, for identity providers with plain pages: reads them, fills in their forms, follows their
redirects.

    person.py [--ca FILE] [--user U] [--password P] [--decline] device URL CODE
    person.py [--ca FILE] [--user U] [--password P] [--decline] authorize URL

`device` types a device's code and signs in. `authorize` opens an authorization request and prints what reaches the
redirect URI as one JSON object; with --deliver it takes it there, as the browser would, and keeps the sign-in where the
page asks (--discard: does not). Cookies last for one run, or
between runs with --jar FILE. Only the standard library is used, so that any test may run it.
"""

import argparse
import html.parser
import http.cookiejar
import json
import ssl
import sys
import urllib.error
import urllib.parse
import urllib.request


class Forms(html.parser.HTMLParser):
    """The forms of a page: where they go, their fields, their buttons; and the page's heading, alert and footer."""

    def __init__(self, text):
        super().__init__()
        self.forms, self.heading, self.alert, self.footer, self._in = [], "", "", "", None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "form":
            self.forms.append({"action": attributes.get("action", ""), "fields": {}, "buttons": []})
        elif tag == "input" and self.forms:
            self.forms[-1]["fields"][attributes.get("name")] = attributes.get("value", "")
        elif tag == "button" and self.forms:
            self.forms[-1]["buttons"].append((attributes.get("name"), attributes.get("value")))
        if tag == "h1":
            self._in = "heading"
        elif attributes.get("role") == "alert":
            self._in = "alert"
        elif tag == "footer":
            self._in = "footer"

    def handle_endtag(self, tag):
        if tag in ("h1", "p", "footer"):
            self._in = None

    def handle_data(self, data):
        if self._in:
            setattr(self, self._in, getattr(self, self._in) + data)


class StayHere(urllib.request.HTTPRedirectHandler):
    """Redirects are looked at, not followed."""

    def redirect_request(self, *arguments):
        return None


class Person:
    def __init__(self, ca, user, password, declines=False, jar=None):
        self.user, self.password, self.declines = user, password, declines
        # In a file if runs share it; the provider's cookies are the session's, so they must be kept on
        # purpose.
        self.jar = http.cookiejar.MozillaCookieJar(jar)
        if jar:
            try:
                self.jar.load(ignore_discard=True)
            except OSError:
                pass
        self.opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=ca)),
            urllib.request.HTTPCookieProcessor(self.jar), StayHere())
        self.headings = []

    def open(self, url, form=None):
        """The page behind a URL, or the redirect that ends the sign-in."""
        data = urllib.parse.urlencode(form).encode() if form is not None else None
        try:
            with self.opener.open(urllib.request.Request(url, data), timeout=30) as answer:
                return answer.geturl(), answer.read().decode(), None
        except urllib.error.HTTPError as answer:
            with answer:
                location = answer.headers.get("Location")
                if location is None:
                    sys.exit("%s answered %d: %s" % (url, answer.code, Forms(answer.read().decode()).heading))
                return url, "", location
        finally:
            if self.jar.filename:
                self.jar.save(ignore_discard=True)

    def go_on(self, url, page, location):
        """Fills in page after page: the redirect's URI and parameters at the end, or None where there is none."""
        origin = urllib.parse.urlsplit(url)[:2]
        while location is None:
            read = Forms(page)
            self.headings.append(" ".join(read.heading.split()))
            if read.alert:
                sys.exit("the page says: " + read.alert)
            form = self.choose(read.forms, read.footer)
            if form is None:
                return None
            target = urllib.parse.urljoin(url, form["action"])
            if urllib.parse.urlsplit(target)[:2] != origin:
                return target, form["fields"], "POST"
            url, page, location = self.open(target, form["fields"])
        target, _, query = location.partition("?")
        return target, dict(urllib.parse.parse_qsl(query)), "GET"

    def choose(self, forms, footer):
        """The form to send, filled in; None where the page has none. The footer shows what a telephone would."""
        for form in forms:
            fields, buttons = form["fields"], [value for _, value in form["buttons"]]
            if "password" in fields:
                return {"action": form["action"], "fields": {
                    **fields, "user": self.user, "password": self.password, "action": "sign-in"}}
            if "verify" in buttons:
                return {"action": form["action"], "fields": {
                    **fields, "code": footer.split()[-1], "action": "verify"}}
            if "accept" in buttons:
                return {"action": form["action"], "fields": {
                    **fields, "action": "decline" if self.declines else "accept"}}
            if "another" in buttons:
                return {"action": form["action"], "fields": {**fields, "action": "another"}}
            if not {"interaction"} & fields.keys():
                return form
        return None

    def approve_device(self, url, code):
        address, _, location = self.open(url)
        self.headings = []
        return self.go_on(*self.open(address, {"user_code": code})) if location is None else None

    def authorize(self, url):
        """What the sign-in brings to the redirect URI."""
        return self.go_on(*self.open(url))

    def deliver(self, target, parameters, method, keeps=True):
        """Takes it there. Loopback only: the application's own listener, whose page may ask whether to keep the
        sign-in."""
        body = urllib.parse.urlencode(parameters)
        plain = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        request = urllib.request.Request(target, body.encode()) if method == "POST" else target + "?" + body
        try:
            with plain.open(request, timeout=30) as answer:
                page = answer.read().decode()
        except urllib.error.HTTPError as refusal:
            page = refusal.read().decode()
        for form in Forms(page).forms:
            if ("keep", "yes") in form["buttons"]:
                action = urllib.parse.urljoin(target, form["action"])
                with plain.open(action, b"keep=yes" if keeps else b"keep=no", timeout=30) as answer:
                    return page + answer.read().decode()
        return page


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ca")
    parser.add_argument("--user", default="alice@contoso.example")
    parser.add_argument("--password", default="tulip-anchor-42")
    parser.add_argument("--decline", action="store_true")
    parser.add_argument("--deliver", action="store_true")
    parser.add_argument("--discard", action="store_true")
    parser.add_argument("--jar")
    parser.add_argument("what", choices=["device", "authorize"])
    parser.add_argument("url")
    parser.add_argument("code", nargs="?")
    options = parser.parse_args()
    person = Person(options.ca, options.user, options.password, options.decline, options.jar)
    if options.what == "device":
        person.approve_device(options.url, options.code)
        print(" > ".join(person.headings))
        return
    end = person.authorize(options.url)
    if end is None:
        sys.exit("the sign-in ended at the provider: " + " > ".join(person.headings))
    target, parameters, method = end
    if options.deliver:
        print(person.deliver(target, parameters, method, not options.discard))
    else:
        print(json.dumps({"target": target, "method": method, "parameters": parameters, "pages": person.headings}))


if __name__ == "__main__":
    main()
