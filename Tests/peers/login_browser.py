#!/usr/bin/env python3
"""A real browser at the address that `bearer-proxy login` prints: headless Chromium, see browser.py.

    login_browser.py --start URL [--user U] [--password P] [--screenshots DIR]

A page of another site sends wrong answers first: images, forms, fetches. Then the person signs in, consents, says on
the last page that the sign-in is kept, and comes once more. Ends with 0 where everything holds.
"""

import argparse
import http.server
import json
import tempfile
import threading
import urllib.parse

from accessible import Looker
from browser import Browser, check


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = b"<!doctype html><title>A page</title><body>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--start", required=True)
    parser.add_argument("--user", default="alice@contoso.example")
    parser.add_argument("--password", default="tulip-anchor-42")
    parser.add_argument("--screenshots")
    options = parser.parse_args()
    port = urllib.parse.urlsplit(options.start).port
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        browser = Browser(folder)
        looker = Looker(browser, options.screenshots)
        try:
            browser.go("http://foreign.localhost:%d/" % server.server_port)
            for host in ("localhost", "127.0.0.1"):
                attack(browser, "http://%s:%d/" % (host, port))
            check(True, "a page of another site has sent its answers")
            browser.go(options.start)
            check(browser.heading == "Sign in", "the address of this machine leads to the provider", browser.url)
            browser.type("#user", options.user)
            browser.type("#password", options.password)
            browser.press("button.main")
            browser.press("button[value=accept]")
            check(
                browser.heading == "Is this you?" and options.user in browser.text("main"),
                "the page says who signed in",
                browser.text("body"),
            )
            looker.look("login asks")
            browser.press("button[value=yes]")
            check(browser.heading == "You are signed in", "and keeps it where the person says so", browser.text("body"))
            looker.look("login is done")
            check(not looker.wrong, "its pages can be read and used", "\n  ".join([""] + looker.wrong))
            said = [line for line in browser.complaints() if "Content Security Policy" in line and str(port) in line
                    and "frame-ancestors" not in line]
            check(not said, "no policy was broken", said)
        finally:
            browser.end()


def attack(browser, target):
    """What a page can send without a click: each waits for its end, whatever that is."""
    browser.count("""
        const to = %s, query = '?code=x&state=y';
        const image = new Promise(over => { const i = new Image(); i.onload = i.onerror = over; i.src = to + query });
        const form = new Promise(over => {
            const frame = document.createElement('iframe'); frame.name = 'inner' + Math.random();
            document.body.append(frame);
            const form = document.createElement('form'); form.method = 'post'; form.action = to;
            form.target = frame.name;
            form.innerHTML = '<input name=code value=x><input name=state value=y>'; document.body.append(form);
            setTimeout(over, 2000); frame.onload = over; form.submit() });
        const fetches = Promise.allSettled(
            ['?error=access_denied', '?error=access_denied&state=y', '?code=a&code=b'].map(
                part => fetch(to + part, {mode: 'no-cors'})));
        return Promise.all([image, form, fetches]).then(() => true)""" % json.dumps(target))


if __name__ == "__main__":
    main()
