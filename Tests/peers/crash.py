"""Kills the proxy while it renews a person's token at a provider that rotates refresh tokens and revokes on reuse.

    crash.py ROUNDS BINARY    prints what became of the sign-in in each phase; fails where one was lost that need not be

A relay of this script is between proxy and provider, so that each instant of a renewal is known: `sent` is when
the request has left the proxy, `arrived` when the answer has been handed to its socket, `filed` when the new refresh
token is in the cache's file.
"""

import json
import os
import random
import signal
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

import msal
import requests
from msal_extensions import FilePersistence, PersistedTokenCache

HERE = os.path.dirname(os.path.abspath(__file__))
PASSWORD = "kettle-harbour-7"
SCOPE = "orders.read"


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Renewal:
    """The instants of one renewal, and the refresh token that it brings."""

    def __init__(self):
        self.sent, self.arrived, self.token = time.monotonic(), None, None


class Relay:
    """Ends TLS before the provider and takes the time of the renewals of one client."""

    def __init__(self, port, provider, context, client):
        self.provider, self.context, self.client = provider, context, client
        self.listener = socket.create_server(("127.0.0.1", port), backlog=128)
        self.renewals, self.changed = [], threading.Condition()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.listener.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    @staticmethod
    def message(file):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            line = file.readline()
            if not line:
                return None
            head += line
        length = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        return head, file.read(int(length[0].split(b":")[1])) if length else b""

    def serve(self, plain):
        try:
            with self.context.wrap_socket(plain, server_side=True) as caller:
                with socket.create_connection(("127.0.0.1", self.provider)) as provider:
                    provider.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    requests, answers = caller.makefile("rb"), provider.makefile("rb")
                    while request := self.message(requests):
                        self.exchange(request, caller, provider, answers)
        except OSError:
            pass

    def exchange(self, request, caller, provider, answers):
        is_renewal = b"grant_type=refresh_token" in request[1] and b"client_id=" + self.client in request[1]
        renewal = Renewal() if is_renewal else None
        if renewal:
            with self.changed:
                self.renewals.append(renewal)
                self.changed.notify_all()
        provider.sendall(request[0] + request[1])
        answer = self.message(answers)
        if renewal:
            renewal.token = json.loads(answer[1]).get("refresh_token")
        try:
            caller.sendall(answer[0] + answer[1])
        finally:
            if renewal:
                with self.changed:
                    renewal.arrived = time.monotonic()
                    self.changed.notify_all()

    def next(self, count=None, seconds=60):
        """The next renewal that begins; the one behind so many, where it is said."""
        with self.changed:
            count = len(self.renewals) if count is None else count
            if not self.changed.wait_for(lambda: len(self.renewals) > count, seconds):
                sys.exit("error: nothing is renewed")
            return self.renewals[count]

    def end(self, renewal):
        with self.changed:
            self.changed.wait_for(lambda: renewal.arrived is not None, 60)


class Other:
    """Another person, whose tokens msal renews in the same file all the time."""

    def __init__(self, issuer, authority, cache):
        session = requests.Session()
        session.trust_env, session.verify = False, authority
        self.application = msal.PublicClientApplication(
            "other", oidc_authority=issuer, http_client=session, token_cache=PersistedTokenCache(FilePersistence(cache))
        )
        flow = self.application.initiate_auth_code_flow([SCOPE], redirect_uri="http://localhost:4567")
        answer = session.post(
            flow["auth_uri"], data={"user": "ben@id.example", "password": PASSWORD}, allow_redirects=False
        )
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(answer.headers["Location"]).query))
        result = self.application.acquire_token_by_auth_code_flow(flow, query)
        if "access_token" not in result:
            sys.exit(f"error: msal cannot sign in: {result}")
        self.count, self.wrongs, self.stopped, self.turn = 0, [], False, threading.Lock()
        self.thread = threading.Thread(target=self.renew, daemon=True)
        self.thread.start()

    def renew(self):
        while not self.stopped:
            accounts = self.application.get_accounts(username="ben@id.example")
            if not accounts:
                self.wrongs.append("msal finds nobody")
                return
            with self.turn:
                result = (
                    self.application.acquire_token_silent_with_error([SCOPE], accounts[0], force_refresh=True) or {}
                )
            if "access_token" not in result:
                self.wrongs.append(f"msal: {result.get('error')} {result.get('error_description')}")
                return
            self.count += 1
            time.sleep(0.1)


class Scene:
    def __init__(self, directory, binary):
        self.directory, self.binary = directory, binary
        self.cache, self.certificate = os.path.join(directory, "cache.json"), os.path.join(directory, "certificate.pem")
        self.log = open(os.path.join(directory, "log"), "ab")
        key = os.path.join(directory, "key.pem")
        subprocess.run(
            [
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:prime256v1",
                "-nodes",
                "-days",
                "2",
                "-subj",
                "/CN=localhost",
                "-addext",
                "subjectAltName=DNS:localhost",
                "-keyout",
                key,
                "-out",
                self.certificate,
            ],
            check=True,
            stderr=subprocess.DEVNULL,
        )
        relay, provider, self.port, self.admin = free_ports(4)
        origin, realm = f"https://localhost:{relay}", "/realms/people"
        issuer = origin + realm
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, key)
        self.provider = subprocess.Popen(
            [sys.executable, os.path.join(HERE, "openid_provider.py"), "--port", str(provider), "--origin", origin,
             "--realm", "people", "--client", "desk:", "--client", "other:", "--person", f"ann@id.example:{PASSWORD}",
             "--person", f"ben@id.example:{PASSWORD}", "--expires-in", "2", "--ca-file", self.certificate],
            stdout=subprocess.PIPE, stderr=self.log)
        self.provider.stdout.readline()
        self.plain_provider = f"http://127.0.0.1:{provider}{realm}"
        self.relay = Relay(relay, provider, context, b"desk")
        self.configuration = os.path.join(directory, "proxy.yaml")
        with open(self.configuration, "w") as file:
            file.write(f"""
listeners: [{{address: "127.0.0.1:{self.port}"}}]
admin: {{address: "127.0.0.1:{self.admin}"}}
log: {{access: false}}
cache: {{file: {self.cache}}}
applications:
  desk: {{authority: "{issuer}", client_id: desk, tls: {{ca_file: {self.certificate}}}}}
routes:
  - {{name: hers, path: /, upstream: "{self.plain_provider}/api/", application: desk,
     token: {{account: ann@id.example, scopes: [{SCOPE}]}}}}
""")
        self.sign_in()
        self.other = Other(issuer, self.certificate, self.cache)
        self.start()

    def sign_in(self):
        login = subprocess.Popen(
            [self.binary, "login", "-c", self.configuration, "--application", "desk"],
            text=True,
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env=os.environ | {"BROWSER": "", "DISPLAY": "", "WAYLAND_DISPLAY": ""},
        )
        address = next(line.strip() for line in login.stderr if line.strip().startswith("http"))
        person = [sys.executable, os.path.join(HERE, "person.py"), "--user", "ann@id.example", "--password", PASSWORD,
                  "--ca", self.certificate, "--deliver", "authorize", self.location(address)]
        subprocess.run(person, check=True, stdout=subprocess.DEVNULL)
        if login.wait(60) != 0:
            sys.exit("error: login failed: " + login.stderr.read())

    @staticmethod
    def location(address):
        class Stay(urllib.request.HTTPRedirectHandler):
            def redirect_request(self, *_):
                return None

        try:
            urllib.request.build_opener(Stay, urllib.request.ProxyHandler({})).open(address)
        except urllib.error.HTTPError as redirect:
            return redirect.headers["Location"]

    def start(self):
        self.process = subprocess.Popen(
            [self.binary, "run", "-c", self.configuration], stdout=subprocess.DEVNULL, stderr=self.log)
        for _ in range(3000):
            if self.status("/healthz", self.admin) == 200:
                return
            time.sleep(0.01)
        sys.exit("error: the proxy does not start")

    def status(self, path="/whoami", port=None):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port or self.port}{path}", timeout=60) as answer:
                return answer.status
        except urllib.error.HTTPError as refusal:
            return refusal.code
        except OSError:
            return 0

    def call_until(self, stopped):
        while not stopped.is_set():
            self.status()
            time.sleep(0.02)

    def written(self):
        """What the file holds between two renewals of msal, which writes in place: a reader may find a part."""
        with self.other.turn, open(self.cache) as file:
            return file.read()

    def filed(self, renewal):
        """How long the answer of a renewal took to the file."""
        self.relay.end(renewal)
        while True:
            with open(self.cache) as file:
                if renewal.token in file.read():
                    return time.monotonic() - renewal.arrived
            time.sleep(0.0005)

    def reused(self):
        with urllib.request.urlopen(self.plain_provider + "/testing/requests") as answer:
            return json.load(answer).get("reused", 0)


def main():
    rounds, binary = int(sys.argv[1]), os.path.abspath(sys.argv[2])
    with tempfile.TemporaryDirectory() as directory:
        scene = Scene(directory, binary)
        try:
            play(scene, rounds)
        finally:
            scene.provider.kill()
            scene.process.kill()


def play(scene, rounds):
    stopped = threading.Event()
    threading.Thread(target=scene.call_until, args=(stopped,), daemon=True).start()
    answering, filing = [], []
    for _ in range(12):
        renewal = scene.relay.next()
        filing.append(scene.filed(renewal))
        answering.append(renewal.arrived - renewal.sent)
    spans = {
        "while the provider answers": statistics.median(answering),
        "while the answer is filed": 2 * statistics.median(filing),
    }
    kills = dict.fromkeys(
        ["between renewals", "while the provider answers", "while the answer is filed", "after it is filed"], 0
    )
    lost = dict.fromkeys(kills, 0)
    wrongs = []
    for number in range(rounds):
        aim = ["anywhere", *spans][number % 3]
        before = len(scene.relay.renewals)
        if aim == "anywhere":
            time.sleep(random.uniform(0, 2))
        else:
            renewal = scene.relay.next()
            if aim == "while the answer is filed":
                scene.relay.end(renewal)
            time.sleep(random.uniform(0, spans[aim]))
        scene.process.send_signal(signal.SIGKILL)
        killed = time.monotonic()
        scene.process.wait()
        latest = scene.relay.renewals[-1]
        was_answering = latest.arrived is None or latest.arrived > killed
        scene.relay.end(latest)
        text = scene.written()
        try:
            json.loads(text)
        except ValueError as error:
            wrongs.append(f"round {number}: the file is torn: {error}")
        if was_answering:
            phase = "while the provider answers"
        elif latest.token is not None and latest.token not in text:
            phase = "while the answer is filed"
        else:
            phase = "between renewals" if len(scene.relay.renewals) == before else "after it is filed"
        kills[phase] += 1
        count = len(scene.relay.renewals)
        scene.start()
        # The held access token may be good for a while yet: only the next renewal tells.
        renewal = scene.relay.next(count)
        scene.relay.end(renewal)
        if renewal.token is None:
            lost[phase] += 1
            if phase in ("between renewals", "after it is filed"):
                wrongs.append(f"round {number}: a sign-in was lost {phase}")
            while scene.status() != 401:
                time.sleep(0.05)
            scene.sign_in()
            while scene.status() != 200:
                time.sleep(0.05)
        wrongs += scene.other.wrongs
        if wrongs:
            break
    stopped.set()
    scene.other.stopped = True
    scene.other.thread.join(60)
    wrongs += scene.other.wrongs

    def times(values):
        return f"median {statistics.median(values) * 1000:.1f} ms, at most {max(values) * 1000:.1f} ms"

    for phase, count in kills.items():
        print(f"killed {phase}: {count}, sign-ins lost: {lost[phase]}")
    print(f"the provider answers: {times(answering)} of {len(answering)} renewals")
    print(f"an answer is filed: {times(filing)}")
    print(f"renewals of msal in the same file: {scene.other.count}; second uses seen by the provider: {scene.reused()}")
    for wrong in wrongs:
        print("wrong:", wrong)
    sys.exit(1 if wrongs else 0)


main()
