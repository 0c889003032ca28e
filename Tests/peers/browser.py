#!/usr/bin/env python3
"""A real browser at the sign-in pages: headless Chromium, driven by the WebDriver protocol. Only the standard library
is used.

    browser.py --origin http://localhost:PORT --route R --return /PATH [--strong PATH] [--more PATH --drafts PATH]
               [--elsewhere URL] [--limit SECONDS] [--screenshots DIR] [--user U] [--password P]

Signs in, consents, comes back and sees the API's answer; says no; comes with a wrong state; comes back twice; and, with
--strong, asks for a stronger sign-in. Ends with 0 where everything holds. Certificates are not judged: the sample
provider's authority is nobody's.
"""

import argparse
import base64
import http.server
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request


def check(holds, what, seen=None):
    if not holds:
        sys.exit("not so: %s; seen: %s" % (what, seen))
    print("ok: " + what, flush=True)


class Browser:
    """One session of chromedriver's."""

    def __init__(self, folder, *switches):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=%d" % port], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": folder, "TMPDIR": folder})
        self.base = "http://127.0.0.1:%d" % port
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        deadline = time.monotonic() + 60
        while True:
            try:
                if self.call("GET", "/status")["ready"]:
                    break
            except OSError:
                pass
            if time.monotonic() > deadline or self.driver.poll() is not None:
                sys.exit("chromedriver does not start")
            time.sleep(0.05)
        # Containers and root give Chromium's sandbox nothing to stand on.
        options = {
            "args": [
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                *([] if any(switch.startswith("--proxy-") for switch in switches) else ["--no-proxy-server"]),
                "--window-size=760,900",
                "--user-data-dir=" + os.path.join(folder, "profile"),
                *switches,
            ]
        }
        made = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "acceptInsecureCerts": True, "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.base += "/session/" + made["sessionId"]

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with self.opener.open(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as answer:
            with answer:
                sys.exit("the browser refuses %s: %s" % (path, json.load(answer)["value"].get("message")))

    def end(self):
        try:
            self.call("DELETE", "")
        finally:
            # The browser has ended with its session. A driver that was started with signals blocked would not hear the
            # politer one.
            self.driver.kill()
            self.driver.wait(30)

    def close_others(self):
        """Closes the windows that pages have opened."""
        own = self.call("GET", "/window")
        for window in self.call("GET", "/window/handles"):
            if window != own:
                self.call("POST", "/window", {"handle": window})
                self.call("DELETE", "/window")
        self.call("POST", "/window", {"handle": own})

    def until(self, holds, what):
        """Waits for something that a page does in its own time."""
        deadline = time.monotonic() + 20
        while not holds():
            if time.monotonic() > deadline:
                check(False, what, self.text("body"))
            time.sleep(0.05)
        check(True, what)

    def go(self, url):
        self.call("POST", "/url", {"url": url})

    @property
    def url(self):
        return self.call("GET", "/url")

    def find(self, selector):
        return [
            list(one.values())[0]
            for one in self.call("POST", "/elements", {"using": "css selector", "value": selector})
        ]

    def text(self, selector):
        """In one step, for the page may be on its way out."""
        return self.count(
            "const found = document.querySelector(%s); return found && found.innerText" % json.dumps(selector)
        )

    def type(self, selector, text):
        found = self.find(selector)
        if not found:
            sys.exit("there is no %s in: %s" % (selector, self.text("body")))
        self.call("POST", "/element/%s/clear" % found[0], {})
        self.call("POST", "/element/%s/value" % found[0], {"text": text})

    def press(self, selector):
        """Presses what leads to another page, and waits for that."""
        found = self.find(selector)
        if not found:
            sys.exit("there is no %s in: %s" % (selector, self.text("body")))
        self.leave(lambda: self.call("POST", "/element/%s/click" % found[0], {}))

    def leave(self, action):
        """Does what leads to another page. A page that goes on by itself (a refresh) is waited through."""
        self.count("window.isLeft = true")
        action()
        deadline = time.monotonic() + 30
        while self.count("return window.isLeft || document.readyState != 'complete' || "
                         "document.querySelector('meta[http-equiv=refresh]') != null"):
            if time.monotonic() > deadline:
                sys.exit("no other page came; still: %s" % self.url)
            time.sleep(0.05)

    @property
    def heading(self):
        return self.count("const found = document.querySelector('h1'); return found && found.innerText")

    def picture(self, folder, name):
        if folder:
            with open(os.path.join(folder, name + ".png"), "wb") as file:
                file.write(base64.b64decode(self.call("GET", "/screenshot")))

    def complaints(self):
        """What the console says: a content security policy that was broken, for one."""
        return [entry["message"] for entry in self.call("POST", "/se/log", {"type": "browser"})]

    def count(self, script):
        return self.call("POST", "/execute/sync", {"script": script, "args": []})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--origin", required=True)
    parser.add_argument("--route", required=True)
    parser.add_argument("--return", dest="back", required=True)
    parser.add_argument("--strong", metavar="PATH", help="a path whose API wants a stronger sign-in")
    parser.add_argument("--drafts", metavar="PATH", help="a path to read whose API wants that permission too")
    parser.add_argument("--more", metavar="PATH", help="a path whose API wants another permission")
    parser.add_argument("--elsewhere", metavar="URL", help="a page of another site")
    parser.add_argument(
        "--neighbour", action="store_true", help="another service of the host sets cookies of the pages' name"
    )
    parser.add_argument(
        "--limit", type=float, help="seconds that pages wait: walks through what is too late, and no more"
    )
    parser.add_argument("--screenshots")
    parser.add_argument("--user", default="alice@contoso.example")
    parser.add_argument("--password", default="tulip-anchor-42")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        browser = Browser(folder)
        try:
            if options.neighbour:
                neighbour(browser, options)
            if options.limit:
                late(browser, options)
            else:
                walk(browser, options)
        finally:
            browser.end()


def walk(browser, options):
    link = "%s/.bearer/sign-in?route=%s&return=%s" % (options.origin, options.route, options.back)

    def picture(name):
        browser.picture(options.screenshots, name)

    def begin():
        browser.go(link)
        browser.press("button")

    browser.go(options.origin + "/no/such/route")
    check(
        browser.heading == "No route"
        and "no-route" in browser.count("return document.querySelector('dl').textContent"),
        "what is wrong with an address is a page",
        browser.text("body"),
    )
    check(not browser.count("return document.querySelector('details').open"), "whose details are folded")
    picture("0-no-route")
    browser.go(options.origin + options.back)
    check(browser.heading == "Sign in", "a route without a sign-in is the page with the button", browser.text("body"))
    browser.press("button")
    check(not browser.url.startswith(options.origin), "and the only one before the provider", browser.url)

    browser.go(link)
    check(browser.heading == "Sign in", "the page asks to sign in", browser.heading)
    check(
        options.user in browser.text("main") and options.route in browser.text("main"),
        "it says whose account for what",
        browser.text("main"),
    )
    check(browser.count("return document.scripts.length") == 0, "it has no script")
    check(browser.count("return performance.getEntriesByType('resource').length") == 0, "it loads nothing")
    check(browser.count("return document.activeElement.textContent") == "Continue", "Enter continues")
    picture("1-sign-in")

    browser.press("button")
    check(
        browser.heading == "Sign in" and not browser.url.startswith(options.origin),
        "its button leads to the provider",
        browser.url,
    )
    check(browser.find("#user") and options.user in browser.call(
        "GET", "/element/%s/property/value" % browser.find("#user")[0]), "which knows who is expected")
    picture("2-provider")
    browser.type("#password", options.password)
    browser.press("button.main")
    check("asks for your permission" in browser.heading, "the provider asks for consent", browser.heading)
    picture("3-consent")
    browser.press("button[value=decline]")
    check(browser.heading == "Sign-in cancelled" and browser.url.startswith(options.origin), "who declines is believed",
          browser.text("body"))
    details = browser.count("return document.querySelector('dl').textContent")
    check("access_denied" in details, "with the provider's reason", details)
    picture("4-denial")
    check("?" not in browser.url, "the code has left the address bar", browser.url)
    callback = browser.count("return performance.getEntriesByType('navigation')[0].name")

    browser.press("a.button")
    check(browser.heading == "Sign in", "and can begin again", browser.heading)
    browser.press("button")
    browser.press("button[value=accept]")
    check(browser.url == options.origin + options.back, "who accepts comes back to where they were", browser.url)
    check(options.user in browser.text("body"), "and sees what the API answers", browser.text("body"))
    picture("5-back")

    browser.go(callback)
    check(browser.heading == "This sign-in is over", "an answer counts once", browser.heading)
    picture("6-reused")
    browser.go(options.origin + "/.bearer/callback?code=x&state=invented")
    check(browser.heading == "Unknown sign-in", "an invented state is nobody's", browser.heading)
    picture("7-wrong-state")
    browser.go("%s/.bearer/sign-in?route=%s&return=//evil.example" % (options.origin, options.route))
    check(browser.heading == "Unsafe link", "a link never leads elsewhere", browser.heading)
    picture("8-unsafe-link")
    browser.go(link)
    check(browser.heading == "Sign in again", "a page for who is signed in already", browser.heading)
    browser.count(
        "document.querySelector('[name=seal]').value = '1.' + document.querySelector('[name=seal]').value.split('.')[1]"
    )
    browser.press("button")
    check(browser.heading == "Changed form", "a form that was changed is refused", browser.heading)
    picture("9-changed-form")

    if options.more:
        browser.go(options.origin + options.back)
        check(post(browser, options.more) == 403, "what nobody has consented to is refused")
        further(browser, options, options.drafts, "More permissions are needed", picture, "10-more-permissions")
        check(
            "Orders.Write" in browser.text("body"), "consent comes beside what was granted before", browser.text("body")
        )
        check(post(browser, options.more) == 200, "and now it may")
    if options.strong:
        further(browser, options, options.strong, "Confirm that it is you", picture, "12-step-up")
    if options.elsewhere:
        elsewhere(browser, options)
    said = [line for line in browser.complaints() if "Content Security Policy" in line]
    check(not said, "no policy was broken", said)


def neighbour(browser, options):
    """Visits a service on another port of the pages' host, which sets cookies of their name for every path of
    theirs."""
    name = "bearer-sign-in-" + options.origin.rsplit(":", 1)[1]

    class Service(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            for value, path in (("x", "/"), ("A" * 43, "/.bearer/sign-in"), ("B" * 43, "/.bearer/callback")):
                self.send_header("Set-Cookie", "%s=%s; Path=%s" % (name, value, path))
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    browser.go("http://localhost:%d/" % server.server_port)
    check(name + "=x" in browser.count("return document.cookie"), "a neighbour has set the pages' cookie",
          browser.count("return document.cookie"))


def post(browser, path):
    """The status of what a page of the listener's own origin sends."""
    return browser.count(
        "return fetch(%s, {method: 'POST', body: 'x'}).then(answer => answer.status)" % json.dumps(path)
    )


def late(browser, options):
    """Pages that waited for longer than --limit says."""
    link = "%s/.bearer/sign-in?route=%s&return=%s" % (options.origin, options.route, options.back)
    browser.go(link)
    time.sleep(options.limit + 1)
    browser.press("button")
    check(browser.heading == "This page has expired", "a page that was open for too long says so", browser.heading)
    browser.picture(options.screenshots, "20-expired-page")
    # Whoever is slow once more is told so once more.
    for _ in range(20):
        browser.press("a.button")
        check(browser.heading == "Sign in", "its link begins again", browser.heading)
        browser.press("button")
        if browser.heading != "This page has expired":
            break
    browser.type("#password", options.password)
    browser.press("button.main")
    time.sleep(options.limit + 1)
    browser.press("button[value=accept]")
    check(browser.heading == "This sign-in has expired", "who comes back too late is told so", browser.text("body"))
    check(browser.find("a.button"), "and can begin again")
    browser.picture(options.screenshots, "21-expired-sign-in")


def elsewhere(browser, options):
    """A link on another site's page, and that page's attempts to show ours in a frame and to send our form."""
    link = "%s/.bearer/sign-in?route=%s&return=%s" % (options.origin, options.route, options.back)
    browser.go(options.elsewhere)
    browser.count("""
        const link = document.createElement('a');
        link.href = %s; link.textContent = 'x'; document.body.append(link);
        const frame = document.createElement('iframe'); frame.src = link.href; document.body.append(frame);
        const form = document.createElement('form');
        form.method = 'post'; form.action = link.href; form.innerHTML = '<button>send</button>';
        document.body.append(form);
        return new Promise(done => frame.onload = done)""" % json.dumps(link))
    said = browser.complaints()
    check(any("frame-ancestors" in line or "X-Frame-Options" in line or "refused to connect" in line for line in said),
          "no other page can frame it", said)
    browser.press("a")
    check(browser.find("input[name=ask]"), "a link on another site's page is followed with care", browser.text("body"))
    browser.press("button")
    check(browser.heading == "You are signed in" and options.back in browser.text("main"),
          "and does not go on by itself to where that page wants it", browser.text("body"))
    browser.picture(options.screenshots, "30-another-sites-link")
    browser.press("a.button")
    check(
        browser.url == options.origin + options.back and options.user in browser.text("body"),
        "but where the person presses",
        browser.text("body"),
    )
    browser.go(options.elsewhere)
    browser.count(
        "document.body.innerHTML = '<form method=post action=\"%s/.bearer/sign-in\"><button>x</button></form>'"
        % options.origin
    )
    browser.press("button")
    check(browser.heading == "Refused", "another site's form is refused", browser.text("body"))
    browser.picture(options.screenshots, "31-another-sites-form")


def further(browser, options, path, heading, picture, name):
    """A route that answers with a page, its button, the provider's pages, and back."""
    browser.go(options.origin + path)
    status = browser.count("return performance.getEntriesByType('navigation')[0].responseStatus")
    check(status in (401, 403), "the API's status stays", status)
    check(browser.heading == heading, "a demand in words: " + heading, browser.text("body"))
    picture(name)
    browser.press("button")
    if browser.find("#code"):
        picture(name + "-code")
        browser.type("#code", browser.text("footer").split()[-1])
        browser.press("button.main")
    if browser.find("button[value=accept]"):
        picture(name + "-consent")
        browser.press("button[value=accept]")
    check(browser.url == options.origin + path and options.user in browser.text("body"), "and it is satisfied",
          browser.text("body"))


if __name__ == "__main__":
    main()
