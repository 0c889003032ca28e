#!/usr/bin/env python3
"""Pages of other sites in a real browser, and what they try on a proxy of the same machine: headless Chromium, see browser.py.

    foreign_pages.py --proxy PORT --pages PORT

The pages are served on the second port, as foreign.localhost (another site), friend.localhost (a site whose pages may call) and
localhost (the same site, another origin). Every request names itself as `by`, so that the upstream's list tells which got through.
Ends with 0 where the browser saw what it should.
"""

import argparse
import http.server
import tempfile
import threading

from browser import Browser, check

# What a page can cause, each a promise of what it learned.
ATTEMPTS = {
    "fetch": "fetch(to, {mode: 'no-cors'}).then(answer => answer.type)",
    "fetch-read": "fetch(to).then(answer => answer.text())",
    "fetch-post": "fetch(to, {method: 'POST', mode: 'no-cors', body: 'x=1'}).then(answer => answer.type)",
    "fetch-credentials": "fetch(to, {credentials: 'include'}).then(answer => answer.text())",
    "fetch-preflight": "fetch(to, {method: 'DELETE', headers: {'X-Custom': '1'}}).then(answer => answer.text())",
    "image": "new Promise((loaded, failed) => { const i = new Image(); i.onload = loaded; i.onerror = failed; i.src = to })",
    "script": "new Promise((loaded, failed) => { const s = document.createElement('script'); s.onload = loaded; "
              "s.onerror = failed; s.src = to; document.body.append(s) })",
    "beacon": "Promise.resolve(navigator.sendBeacon(to, 'x=1'))",
    "events": "new Promise((opened, failed) => { const e = new EventSource(to); e.onopen = opened; e.onerror = failed })",
    "websocket": "new Promise((opened, failed) => { const w = new WebSocket(to.replace('http:', 'ws:')); w.onopen = opened; "
                 "w.onerror = failed })",
    "frame": "new Promise(loaded => { const f = document.createElement('iframe'); f.onload = loaded; f.src = to; "
             "document.body.append(f) })",
    "form": "new Promise(loaded => { const f = document.createElement('iframe'); f.name = 'inner'; document.body.append(f); "
            "const form = document.createElement('form'); form.method = 'post'; form.action = to; form.target = 'inner'; "
            "document.body.append(form); f.onload = loaded; form.submit() })",
}


class Blank(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = b"<!doctype html><title>A page</title><body>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def attempt(browser, name, to):
    """What a page learned: what its promise came to, or `refused`."""
    return browser.call("POST", "/execute/async", {
        "script": "const [to, told] = arguments; "
                  "Promise.race([%s, new Promise(over => setTimeout(() => over('nothing'), 5000))])"
                  ".then(value => told(String(value)), () => told('refused'))" % ATTEMPTS[name],
        "args": [to]})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--proxy", type=int, required=True)
    parser.add_argument("--pages", type=int, required=True)
    options = parser.parse_args()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", options.pages), Blank)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        browser = Browser(folder, "--host-resolver-rules=MAP rebound.example 127.0.0.1")
        try:
            walk(browser, options)
        finally:
            browser.end()


def walk(browser, options):
    proxy = "http://localhost:%d/seen" % options.proxy

    for site in ("foreign.localhost", "localhost"):
        browser.go("http://%s:%d/" % (site, options.pages))
        for name in ATTEMPTS:
            learned = attempt(browser, name, "%s?by=%s-%s" % (proxy, site, name))
            check("GET /" not in learned and "POST /" not in learned, "%s learns nothing by %s" % (site, name), learned)
        check(attempt(browser, "websocket", proxy + "?by=socket") == "refused", "no WebSocket opens for " + site)
        browser.count("location = '%s?by=%s-link'" % (proxy, site))
        browser.until(lambda: "cross-site-request" in (browser.text("body") or ""), "a link of %s leads to a refusal" % site)

    browser.go("http://rebound.example:%d/seen?by=rebound" % options.proxy)
    check("Misdirected" in browser.text("body") or "unknown-host" in browser.text("body"), "another name for the address is refused", browser.text("body"))

    browser.go("http://friend.localhost:%d/" % options.pages)
    for name in ("fetch-read", "fetch-preflight"):
        learned = attempt(browser, name, "%s?by=friend-%s" % (proxy, name))
        check("/seen?by=friend" in learned, "a page that may call reads its answer by " + name, learned)
    check(attempt(browser, "fetch-credentials", proxy + "?by=friend-credentials") == "refused",
          "but not what a browser's cookies would bring")

    browser.go(proxy + "?by=typed")
    check("/seen?by=typed" in browser.text("body"), "who types the address is served", browser.text("body"))
    learned = attempt(browser, "fetch-read", proxy + "?by=own")
    check("/seen?by=own" in learned, "and so is a page of the app itself", learned)


if __name__ == "__main__":
    main()
