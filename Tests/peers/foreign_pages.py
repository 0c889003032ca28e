#!/usr/bin/env python3
"""Pages of other sites in a real browser, and what they try on a proxy of the same machine: headless Chromium, see
browser.py.

    foreign_pages.py --proxy PORT --secure PORT --pages PORT --certificate FILE --key FILE --log FILE [--print]

The proxy listens on the first port without TLS, as localhost and proxy.example, and on the second with it. Pages of
every kind in KINDS try every way of browser_ways.py; friend.localhost is a site whose pages may call. Every request
names itself in its path, /seen/KIND-TARGET/WAY, so that the proxy's access log (--log) tells which were sent and how
each was answered, and the upstream's list which got through. Ends with 0 where the browser saw what it should. --print
says for each kind of page which ways sent something.
"""

import argparse
import base64
import hashlib
import json
import os
import subprocess
import tempfile
import time

import browser_ways as ways
from browser import Browser, check
from page_servers import exchange, issued, serve, serve_hints, stored, tls

# The kinds of page, each with the listener it tries, and whether it has all pages of browser_ways, or those of LIKELY.
KINDS = {
    "http-local": True, "https-tls": True, "clear-named": True,
    "same-local": False, "sandbox-local": False, "file-local": False, "https-local": False, "file-named": False,
    "sandbox-named": False,
}
LIKELY = {
    "rules-prefetch", "rules-prefetch-redirected", "rules-prerender", "rules-prerender-blank", "rules-document",
    "location", "form-page", "icon",
}
SANDBOX = "sandbox allow-scripts allow-forms allow-popups allow-popups-to-escape-sandbox allow-top-navigation; "

# What a page reads of an answer, each a promise of it.
READING = {
    "fetch": "fetch(to).then(answer => answer.text())",
    "preflight": "fetch(to, {method: 'DELETE', headers: {'X-Custom': '1'}}).then(answer => answer.text())",
    "credentials": "fetch(to, {credentials: 'include'}).then(answer => answer.text())",
    "beacon": "Promise.resolve(navigator.sendBeacon(to, 'x=1'))",
    "no-cors": "fetch(to, {mode: 'no-cors'}).then(answer => answer.text())",
    "prefetch": "new Promise((loaded, failed) => { const link = document.createElement('link'); link.rel = 'prefetch'; "
                "link.href = to; link.onload = loaded; link.onerror = failed; document.head.append(link) })",
    "websocket": "new Promise((opened, failed) => { const socket = new WebSocket(to.replace(/^http/, 'ws')); "
                 "socket.onopen = opened; socket.onerror = failed })",
    "service-worker": "navigator.serviceWorker.register(to).then(worker => worker.unregister())"
                      ".then(() => 'registered')",
}


class Arrivals:
    """What the proxy says that it was sent."""

    def __init__(self, path):
        self.path = path
        self.offset = 0
        # The statuses by path.
        self.seen = {}

    def look(self):
        """Whether anything came since."""
        if not os.path.exists(self.path):
            return False
        with open(self.path, "rb") as file:
            file.seek(self.offset)
            text = file.read()
        text = text[:text.rfind(b"\n") + 1]
        self.offset += len(text)
        for line in text.splitlines():
            record = json.loads(line)
            self.seen.setdefault(record.get("path", ""), set()).add(record["status"])
        return bool(text)

    def settle(self, paths):
        """Waits for these paths, and until the browser has come to rest: of others few are lost."""
        quiet = time.monotonic()
        end = quiet + (60 if paths else 10)
        while time.monotonic() < end and (time.monotonic() < quiet + 0.4 or not paths <= self.seen.keys()):
            if self.look():
                quiet = time.monotonic()
            time.sleep(0.05)


def read(browser, name, to):
    """What a page learned: what its promise came to, or `refused`."""
    return browser.call("POST", "/execute/async", {
        "script": "const [to, told] = arguments; "
                  "Promise.race([%s, new Promise(over => setTimeout(() => over('nothing'), 20000))])"
                  ".then(value => told(String(value)), () => told('refused'))" % READING[name],
        "args": [to]})


def tried():
    return {*ways.MARKUP, *ways.SCRIPTS, *ways.pages("")}


class Attack:
    """Pages of one kind, at one listener."""

    def __init__(self, walk, name):
        self.walk = walk
        self.name = name
        self.kind, target = name.split("-")
        options = walk.options
        self.target = {"local": "http://localhost:%d" % options.proxy, "tls": "https://localhost:%d" % options.secure,
                       "named": "http://proxy.example:%d" % options.proxy}[target]
        self.base = {
            "http": "http://foreign.localhost:%d" % options.pages, "same": "http://localhost:%d" % options.pages,
            "clear": "http://foreign.example:%d" % options.pages, "file": "file://" + walk.folder,
            "https": "https://foreign.example:%d" % walk.secure,
            "sandbox": "http://foreign.localhost:%d" % options.pages,
        }[self.kind]

    def to(self, way):
        return "%s/seen/%s/%s" % (self.target, self.name, way)

    def page(self, way, fields, text):
        """Stores a page; its address."""
        if isinstance(text, str) and "xml" not in text[:9]:
            text = "<!doctype html><title>A page</title>" + text
        path = "/%s-%s.html" % (self.name, way)
        if self.kind == "sandbox":
            fields = {**fields, "Content-Security-Policy": SANDBOX + fields.get("Content-Security-Policy", "")}
        if self.kind == "file":
            with open(self.walk.folder + path, "w") as file:
                file.write(text)
        stored[path] = (fields, text)
        return self.base + path

    def expected(self):
        """The ways that must be seen to arrive."""
        if self.name == "clear-named":
            return ways.UNMARKED
        if self.name in ("http-local", "https-tls"):
            return {way for way in tried() if way not in ways.SILENT and (way in ways.SECURE) == (self.kind == "https")}
        return set()

    def settle(self, among):
        self.walk.arrivals.settle({"/seen/%s/%s" % (self.name, way) for way in self.expected() & set(among)})

    def run(self, browser):
        markup = "\n".join(text.replace("TO", self.to(way)) for way, text in ways.MARKUP.items())
        browser.go(self.page("markup", {}, markup))
        self.settle(ways.MARKUP)
        browser.go(self.page("scripts", {}, ""))
        for way, script in ways.SCRIPTS.items():
            if "const " not in script:
                script = "return " + script
            # What a script is refused is no matter here.
            browser.call("POST", "/execute/sync", {
                "script": "(async to => { %s })(arguments[0]).catch(() => 0)" % script, "args": [self.to(way)]})
        self.settle(ways.SCRIPTS)
        browser.close_others()
        for way in ways.pages(""):
            if KINDS[self.name] or way in LIKELY:
                fields, text = ways.pages(self.to(way))[way]
                if "issuer" in fields:
                    text = '<img src="https://foreign.example:%d/">' % serve(context=issued(fields.pop("issuer")))
                if "exchange" in fields:
                    # Shown if its certificate cannot be used: a page.
                    text = exchange("https://foreign.example:%d/" % self.walk.secure, fields.pop("exchange"))
                    fields = {"Content-Type": "application/signed-exchange;v=b3", "X-Content-Type-Options": "nosniff"}
                if "103" in fields:
                    context = tls(self.walk.options.certificate, self.walk.options.key, ["h2"])
                    address = "https://foreign.example:%d/" % serve_hints(context, fields["103"])
                else:
                    address = self.page(way, fields, text)
                browser.go(address)
                self.settle([way] if way not in ways.SECURE or way in ways.PROMPT else [])
        self.settle(ways.SECURE)
        # Away from the last page, for it may go on asking.
        browser.go("about:blank")

    def sent(self):
        return {path.split("/")[3] for path in self.walk.arrivals.seen if path.startswith("/seen/%s/" % self.name)}


class Walk:
    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        self.arrivals = Arrivals(options.log)
        stored["/"] = ({}, "<!doctype html><title>A page</title><body>")
        serve(options.pages)
        self.secure = serve(context=tls(options.certificate, options.key, ["http/1.1"]))

    def attack(self, browser):
        for name in KINDS:
            attack = Attack(self, name)
            attack.run(browser)
            if self.options.print:
                print("%s: nothing: %s" % (name, sorted(tried() - attack.sent())))
            missing = attack.expected() - attack.sent()
            check(not missing, "%d ways make the browser ask from %s pages" % (len(attack.sent()), name), missing)
        for name in KINDS:
            got = {path: status for path, status in self.arrivals.seen.items() if path.startswith("/seen/%s/" % name)}
            served = {path: status for path, status in got.items() if status != {403}}
            check(len(got) > 20 and not served, "every request of %s pages is refused" % name, served)

    def read(self, browser):
        proxy, secure = "http://localhost:%d" % self.options.proxy, "https://localhost:%d" % self.options.secure
        for site in ("foreign.localhost", "localhost"):
            pages = "http://%s:%d/" % (site, self.options.pages)
            browser.go(pages)
            check(read(browser, "service-worker", pages + "worker.js") == "registered",
                  site + " has service workers of its own")
            for name in READING:
                learned = read(browser, name, "%s/seen/%s/read-%s" % (proxy, site, name))
                check("GET /" not in learned and "POST /" not in learned,
                      "%s learns nothing by %s" % (site, name), learned)
            check(read(browser, "websocket", proxy + "/seen/socket") == "refused", "no WebSocket opens for " + site)
            browser.count("location = '%s/seen/%s/link'" % (proxy, site))
            browser.until(lambda: "Cross-site request refused" in (browser.text("body") or ""),
                          "a link of %s leads to a refusal" % site)

        browser.go("http://rebound.example:%d/seen/rebound" % self.options.proxy)
        check("Unknown host" in browser.text("body"), "another name for the address is refused", browser.text("body"))

        browser.go("http://friend.localhost:%d/" % self.options.pages)
        for name in ("fetch", "preflight"):
            learned = read(browser, name, "%s/seen/friend/%s" % (proxy, name))
            check("/seen/friend" in learned, "a page that may call reads its answer by " + name, learned)
        check(read(browser, "credentials", proxy + "/seen/friend/credentials") == "refused",
              "but not what a browser's cookies would bring")

        for name, origin in {"own": proxy, "own-tls": secure}.items():
            browser.go("%s/seen/%s/typed" % (origin, name))
            text = browser.text("body")
            check("/seen/%s/typed" % name in text, "who types the address is served", text)
            for way in ("fetch", "no-cors", "beacon", "prefetch"):
                learned = read(browser, way, "%s/seen/%s/%s" % (origin, name, way))
                check(learned not in ("refused", "nothing"), "and so is a page of the app itself: " + way, learned)
            # Whose script the upstream would serve, for all paths.
            script = origin + "/fields?Content-Type=text/javascript&Service-Worker-Allowed=/"
            check(read(browser, "service-worker", script) == "refused", "but it installs no service worker")


def configure(options, folder, *switches):
    """What a network may name to a browser: where the script is that finds a proxy for each request (PAC)."""
    arrivals = Arrivals(options.log)
    origins = {"clear": "http://localhost:%d" % options.proxy, "named": "http://proxy.example:%d" % options.proxy,
               "tls": "https://localhost:%d" % options.secure}
    for name, origin in origins.items():
        path = "/seen/pac/" + name
        os.mkdir(os.path.join(folder, name))
        browser = Browser(os.path.join(folder, name), "--proxy-pac-url=" + origin + path, *switches)
        try:
            browser.go("about:blank")
            arrivals.settle({path})
            check(arrivals.seen.get(path) == {403}, "a proxy's script is refused: " + name, arrivals.seen.get(path))
        finally:
            browser.end()


def key_digest(certificate):
    """The digest by which Chromium is told to trust a key: one that it merely ignores counts less than a good one."""
    def openssl(*arguments, text=None):
        return subprocess.run(["openssl", *arguments], input=text, capture_output=True, check=True).stdout

    key = openssl("x509", "-in", certificate, "-pubkey", "-noout")
    der = openssl("pkey", "-pubin", "-outform", "der", text=key)
    return base64.b64encode(hashlib.sha256(der).digest()).decode()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("proxy", "secure", "pages"):
        parser.add_argument("--" + name, type=int, required=True)
    for name in ("certificate", "key", "log"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--print", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        switches = (
            "--host-resolver-rules=MAP *.example 127.0.0.1",
            "--ignore-certificate-errors-spki-list=" + key_digest(options.certificate))
        configure(options, folder, *switches)
        browser = Browser(
            folder, *switches, "--short-reporting-delay", "--disable-popup-blocking",
            "--autoplay-policy=no-user-gesture-required", "--enable-experimental-web-platform-features")
        try:
            walk = Walk(options, folder)
            walk.read(browser)
            walk.attack(browser)
        finally:
            browser.end()


if __name__ == "__main__":
    main()
