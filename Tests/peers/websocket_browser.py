#!/usr/bin/env python3
"""A page in Chromium that opens a WebSocket to its own origin, a TLS listener; see browser.py.

    websocket_browser.py URL      URL is the page's; prints what the WebSocket brought
"""

import sys
import tempfile

from browser import Browser

SCRIPT = """
const done = arguments[arguments.length - 1];
const socket = new WebSocket(location.origin.replace(/^http/, "ws") + "/chat/room");
const seen = [];
socket.onmessage = message => {
  seen.push(message.data);
  if (seen.length === 1) socket.send("from the page");
  else socket.close(1000);
};
socket.onerror = () => done("error");
socket.onclose = event => done(seen.join("|") + "|" + event.code);
"""

with tempfile.TemporaryDirectory() as folder:
    browser = Browser(folder, "--ignore-certificate-errors")
    try:
        browser.go(sys.argv[1])
        print(browser.call("POST", "/execute/async", {"script": SCRIPT, "args": []}))
    finally:
        browser.end()
