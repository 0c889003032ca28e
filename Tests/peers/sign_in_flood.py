#!/usr/bin/env python3
"""Begins sign-ins at the pages of a listener, each as another browser, and ends none.

    sign_in_flood.py PORT PATH COUNT

PATH is the link of the page with the button. Prints how many of COUNT began.
"""

import html
import http.client
import re
import sys
import urllib.parse


def main():
    port, path, count = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    connection = http.client.HTTPConnection("localhost", port, timeout=30)
    begun = 0
    for _ in range(count):
        connection.request("GET", path)
        response = connection.getresponse()
        page, cookie = response.read().decode(), response.getheader("Set-Cookie", "").partition(";")[0]
        fields = {name: html.unescape(value) for name, value in re.findall(r'name="(\w+)" value="([^"]*)"', page)}
        connection.request(
            "POST", "/.bearer/sign-in", urllib.parse.urlencode(fields),
            {"Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded"})
        response = connection.getresponse()
        response.read()
        begun += response.status == 303
        if response.getheader("Connection", "").lower() == "close":
            connection.close()
    print(begun)


if __name__ == "__main__":
    main()
