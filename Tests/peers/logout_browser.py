#!/usr/bin/env python3
"""A real browser at the page where people sign out: headless Chromium, see browser.py.

    logout_browser.py --origin http://localhost:PORT --route R --back /PATH [--user U] [--password P]
                      [--screenshots DIR]

Signs in, signs out here and at the provider, comes back to a page of the proxy's, and finds that the route wants a
sign-in and the provider a password. A page of another site signs nobody out. Ends with 0 where everything holds.
"""

import argparse
import http.server
import tempfile
import threading

from accessible import Looker
from browser import Browser, check
from login_browser import Page


def sign_in(browser, options, consents):
    browser.go("%s/.bearer/sign-in?route=%s&return=%s" % (options.origin, options.route, options.back))
    browser.press("button.main")
    check(browser.heading == "Sign in", "the provider asks for the password", browser.heading)
    browser.type("#user", options.user)
    browser.type("#password", options.password)
    browser.press("button.main")
    if consents:
        browser.press("button[value=accept]")
    browser.until(lambda: options.user in (browser.text("body") or ""), "the route is used in the person's name")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--origin", required=True)
    parser.add_argument("--route", required=True)
    parser.add_argument("--back", required=True)
    parser.add_argument("--user", default="alice@contoso.example")
    parser.add_argument("--password", default="tulip-anchor-42")
    parser.add_argument("--screenshots")
    options = parser.parse_args()
    logout = "%s/.bearer/logout?route=%s" % (options.origin, options.route)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        browser = Browser(folder)
        looker = Looker(browser, options.screenshots)
        try:
            browser.go(logout)
            check(browser.heading == "No account is signed in", "there is nobody to sign out", browser.heading)
            sign_in(browser, options, True)
            # A form of another site: what it posts has no seal, and the cookie does not come along.
            browser.go("http://foreign.localhost:%d/" % server.server_port)
            browser.leave(lambda: browser.count(
                "const form = document.createElement('form'); form.method = 'post'; form.action = '%s';"
                "document.body.append(form); form.submit()" % logout))
            check(browser.heading == "Refused", "a page of another site signs nobody out", browser.heading)
            browser.go(options.origin + options.back)
            check(options.user in browser.text("body"), "the route is still used in the person's name")
            browser.go(logout)
            check(browser.heading == "Sign out" and options.user in browser.text("main"), "the page says who signs out")
            looker.look("logout")
            browser.press("button.main")
            check(browser.heading == "You are signed out", "the person is signed out", browser.heading)
            check(
                browser.url == options.origin + "/.bearer/signed-out", "by way of the provider, and back", browser.url)
            looker.look("signed-out")
            browser.go(options.origin + options.back)
            check(browser.heading == "Sign in", "the route wants a sign-in", browser.heading)
            sign_in(browser, options, False)
            check(not looker.wrong, "its pages can be read and used", "\n  ".join([""] + looker.wrong))
            said = [line for line in browser.complaints() if "Content Security Policy" in line]
            check(not said, "no policy was broken", said)
        finally:
            browser.end()
            server.shutdown()


if __name__ == "__main__":
    main()
