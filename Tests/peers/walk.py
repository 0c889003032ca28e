#!/usr/bin/env python3
"""Walks README, the tutorials and the demonstration as a new user does, in a root that has Debian, curl and the two
programs, and nothing else: no toolchain, no Python, no repository.

    walk.py ROOT

ROOT has /usr/bin/bearer-proxy and /usr/local/bin/bearer-proxy-demo. Run it as root, in a network namespace of its own
with loopback: the pages' ports are then free. Starts the demonstration with both of its ports in use, runs each call
that it prints, and then each page of PAGES with every command in its order and word for word. Of the configurations,
addresses and ids of the examples are replaced by the sample provider's (Keycloak's: by openid_provider.py's, which the
Python of .venv runs), and the machine trusts the demonstration's certification authority. The person at the browser,
outside, is person.py. Ends with 0 where everything works.
"""

import http.client
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.parse

from person import Person

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
USER, HOME = 1000, "/home/walker"
ALICE = "alice@contoso.example"
ENTRA = "https://login.microsoftonline.com/contoso.onmicrosoft.com"
NO_ID = "0" * 8 + "-0000-0000-0000-" + "0" * 12
SECRET = "THE CLIENT SECRET"
# Page, section, and who has the token.
PAGES = [
    ("README.md", "For an application", "application"),
    ("README.md", "For a person", "person"),
    ("docs/graph-person.md", None, "person"),
    ("docs/daemon.md", None, "application"),
    ("docs/keycloak.md", None, "keycloak"),
]
# What needs another's server, another machine, or the toolchain.
ELSEWHERE = ("az ", "kcadm.sh ", "deploy/", "Tests/", "swift ", "sudo ")


def check(holds, what, seen=""):
    if not holds:
        sys.exit("not so: %s; seen: %s" % (what, seen))
    print("  ok: " + what, flush=True)


class Walker:
    """A user of the root."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.trust = None
        self.user, self.password = ALICE, "tulip-anchor-42"
        self.places = 0
        self.started = []
        (self.root / HOME[1:]).mkdir(parents=True, exist_ok=True)
        os.chown(self.root / HOME[1:], USER, USER)

    def outside(self, path):
        return self.root / str(path).lstrip("/")

    def start(self, command, place=HOME, **options):
        """Starts a shell's line."""

        def enter():
            os.setsid()
            os.chroot(self.root)
            os.chdir(place)
            os.setgroups([])
            os.setgid(USER)
            os.setuid(USER)

        environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": HOME, "LANG": "C.UTF-8"}
        process = subprocess.Popen(["/bin/sh", "-c", command], preexec_fn=enter, env=environment, text=True,
                                   stdin=subprocess.DEVNULL, **options)
        self.started.append(process)
        return process

    def end(self):
        """Ends what still runs: each process is the leader of its group."""
        for process in self.started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def run(self, command, place=HOME):
        """The status of a shell's line, and everything that it printed."""
        process = self.start(command, place, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        output, _ = process.communicate(timeout=120)
        return process.returncode, output

    def sign_in(self, command, place):
        """Runs `login`, and is the person that it asks for."""
        said = self.outside(place) / "login.txt"
        with open(said, "w") as file:
            process = self.start(command, place, stdout=file, stderr=file)
        device = "--device-code" in command
        pattern = r"address: +(\S+)\n\s+code: +(\S+)" if device else r"\n  (http://127\S+)()\n"
        found = eventually(lambda: process.poll() is None and re.search(pattern, said.read_text()))
        person = Person(str(self.trust), self.user, self.password)
        if found and device:
            person.approve_device(*found.groups())
        elif found:
            person.deliver(*person.authorize(self.location(found[1])))
        process.wait(60)
        return process.returncode, said.read_text()

    @staticmethod
    def location(url):
        """Where an address of loopback leads to."""
        parts = urllib.parse.urlsplit(url)
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
        connection.request("GET", parts.path)
        return connection.getresponse().getheader("Location")

    def place(self):
        self.places += 1
        place = "%s/%d" % (HOME, self.places)
        self.outside(place).mkdir()
        os.chown(self.outside(place), USER, USER)
        return place


def eventually(holds, seconds=60):
    deadline = time.monotonic() + seconds
    while not (found := holds()) and time.monotonic() < deadline:
        time.sleep(0.1)
    return found


def demonstrate(walker):
    """Starts the demonstration and does what its last screen says. The process, and the provider's addresses."""
    held = []
    for port in (8080, 9901):
        held.append(socket.create_server(("127.0.0.1", port)))
    folder = HOME + "/demo"
    output = walker.outside(HOME) / "demo.txt"
    with open(output, "w") as file:
        demo = walker.start("exec bearer-proxy-demo --directory %s --proxy /usr/bin/bearer-proxy" % folder,
                            stdout=file, stderr=file)
    eventually(lambda: "Ctrl-C ends it" in output.read_text() or demo.poll() is not None, 180)
    text = output.read_text()
    is_true = demo.poll() is None and "steps went as expected" in text
    check(is_true, "the demonstration starts, and its tour is true", text)
    check("Port 8080 is in use" in text and "Port 9901 is in use" in text, "it takes other ports, and says so", text)
    for one in held:
        one.close()
    walker.trust = walker.outside(folder + "/demo-ca.pem")
    calls = re.findall(r"(?m)^ +\$ (.*)$", text[text.index("Try it yourself"):])
    expected = ["200 OK", "data: {", "403 Forbidden", "is signed in to", ALICE, "my-orders", "# TYPE bearer_proxy_",
                "Sample users"]
    check(len(calls) == len(expected), "it prints %d calls" % len(expected), text)
    for call, words in zip(calls, expected):
        status, said = walker.sign_in(call, HOME) if " login " in call else walker.run("cd / && " + call)
        check(status == 0 and words in said, call.replace(folder + "/", ""), said)
    written = (walker.outside(folder) / "proxy.yaml").read_text()
    issuer = re.search(r"authority: (\S+)", written)[1]
    api = re.search(r'upstream: "(\S+)/api/"', written)[1]
    secret = (walker.outside(folder) / "client-secret").read_text()
    ids = dict(re.findall(r"(?m)^  (\w+):\n(?:    .*\n)*?    client_id: (\S+)", written))
    return demo, {"issuer": issuer, "api": api, "secret": secret, "portal": ids["portal"], "desk": ids["desk"]}


def blocks(page, section):
    """The fenced parts of a page: language and text."""
    text = (REPOSITORY / page).read_text()
    if section:
        text = re.search(r"(?ms)^## %s\n(.*?)(?=^## |\Z)" % re.escape(section), text)[1]
    return re.findall(r"(?ms)^```(\w*)\n(.*?\n)```$", text)


def keycloak():
    """A provider with realms: its process, issuer and secret, and the person and her password."""
    secret, user, password = "s3cret+with/odd=characters&more", "ann@id.example", "kettle-harbour-7"
    provider = subprocess.Popen(
        [REPOSITORY / ".venv/bin/python", REPOSITORY / "Tests/peers/openid_provider.py", "--port", "0", "--name",
         "127.0.0.1", "--client", "orders-app:" + secret, "--client", "desk:", "--person", user + ":" + password,
         "--realm", "main"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    line = provider.stdout.readline()
    check(line.startswith("listening "), "a provider with realms listens", line)
    return provider, "http://127.0.0.1:%s/realms/main" % line.split()[1], secret, user, password


def walk(walker, page, section, kind, sample):
    changes = {ENTRA: sample["issuer"]}
    if kind == "keycloak":
        changes = {"https://id.example/realms/main": sample["issuer"], SECRET: sample["secret"],
                   "https://orders.example/api/": sample["issuer"] + "/api/"}
    elif kind == "person":
        changes |= {NO_ID: sample["desk"], "alice@contoso.com": ALICE, "[User.Read]": '["api://orders/Orders.Read"]',
                    "https://graph.microsoft.com/v1.0/": sample["api"] + "/api/"}
    else:
        changes |= {NO_ID: sample["portal"], "https://orders.example/": sample["api"] + "/", SECRET: sample["secret"]}
    place, proxies, outputs = walker.place(), [], {}
    for language, text in blocks(page, section):
        for one, other in changes.items():
            text = text.replace(one, other)
        if language == "yaml":
            name = re.match(r"# ([\w-]+\.yaml)\n", text)[1]
            (walker.outside(place) / name).write_text(text)
            continue
        for line in text.replace("\\\n", " ").splitlines():
            if not line or line.startswith((" ", *ELSEWHERE)):
                continue
            command = line.split("  #")[0].strip()
            shown = command.replace(sample["secret"], SECRET)
            if command.endswith("&"):
                log = open(walker.outside(place) / "run.txt", "w")
                proxies.append(walker.start("exec " + command[:-1], place, stdout=log, stderr=log))
                print("  ok: " + shown, flush=True)
                continue
            if " login " in command:
                status, said = walker.sign_in(command, place)
            else:
                status, said = walker.run(command, place)
                if command.startswith(("curl ", "bearer-proxy status")):
                    # A proxy that was started a moment ago, or a sign-in that it has not noticed yet.
                    deadline = time.monotonic() + 60
                    while (status or "urn:bearer-proxy:problem" in said) and time.monotonic() < deadline:
                        time.sleep(0.2)
                        status, said = walker.run(command, place)
            log = walker.outside(place) / "run.txt"
            check(status == 0 and "urn:bearer-proxy:problem" not in said, shown,
                  said + (log.read_text() if log.exists() else ""))
            outputs[command] = said
    for proxy in proxies:
        os.killpg(proxy.pid, signal.SIGTERM)
        check(proxy.wait(60) == 0, "and the proxy ends in good order")
    last = [said for command, said in outputs.items() if command.startswith("curl http://127.0.0.1:8080/")]
    expected = {"person": ALICE, "keycloak": sample["issuer"], "application": ""}[kind]
    check(last and all(expected in said for said in last), "the API has answered", last)


def main():
    walker = Walker(sys.argv[1])
    try:
        tour(walker)
    finally:
        walker.end()


def tour(walker):
    print("the demonstration", flush=True)
    demo, sample = demonstrate(walker)
    authorities = walker.outside("/usr/local/share/ca-certificates")
    authorities.mkdir(parents=True, exist_ok=True)
    shutil.copy(walker.trust, authorities / "demo.crt")
    # Nothing of the environment outside: its TMPDIR does not exist there.
    subprocess.run(["chroot", walker.root, "update-ca-certificates"], check=True, stdout=subprocess.DEVNULL,
                   env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})
    for page, section, kind in PAGES:
        print(page + (": " + section if section else ""), flush=True)
        if kind != "keycloak":
            walk(walker, page, section, kind, sample)
            continue
        provider, issuer, secret, walker.user, walker.password = keycloak()
        try:
            walk(walker, page, section, kind, {"issuer": issuer, "secret": secret})
        finally:
            provider.kill()
            provider.wait()
    os.killpg(demo.pid, signal.SIGTERM)
    check(demo.wait(60) == 0, "the demonstration ends in good order")


if __name__ == "__main__":
    main()
