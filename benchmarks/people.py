"""A cache of one person and of ten thousand: the cost of a silent hit, of the start, and of a thousand callers
while the token expires."""

import base64
import http.server
import json
import os
import statistics
import subprocess
import threading
import time

from processes import fail
from scene import ROOT, Scene
from traffic import Connections, answer

PEOPLE = (1, 10_000)
CLIENT = "c0a7050d-0000-4000-8000-0000000000a3"
PROXIES, CALLERS = 4, 250


def caches(scene):
    """Silent hits in ns and the reading of the file in ms, by cache-writer; leaves each file for the start."""
    writer = ROOT / ".build-release/release/cache-writer"
    if not writer.exists():
        fail("no cache-writer in .build-release; run benchmarks/counters, which makes it")
    found = {}
    for people in PEOPLE:
        folder = scene.work / f"people-{people}"
        folder.mkdir(mode=0o700)
        output = subprocess.run([writer, "measure", folder / "cache.json", "p", str(people)], check=True,
                                capture_output=True, text=True).stdout
        lines = [line.split() for line in output.splitlines() if len(line.split()) == 2]

        def median(name):
            return statistics.median(float(value) for found_name, value in lines if found_name == name)

        size = median("file_bytes") / 1e6
        print(f"{people} accounts, {size:.1f} MB: " + ", ".join(
            f"{name} {median(name):g}" for name in ("read_ms", "look_up_ns", "rights_ns", "renewal_ms")))
        found[f"ns per silent hit of a loop, {people} accounts"] = median("loop_hit_ns")
        found[f"ns per silent hit of the broker, {people} accounts"] = median("broker_hit_ns")
        if people > 1:
            found[f"CPU ms to read {people} accounts"] = median("read_processor_ms")
    return found


def start(scene, start):
    """ms from exec to the first answer with a cached token."""
    found = {}
    for people in PEOPLE:
        scene.values["CACHE"] = scene.work / f"people-{people}" / "cache.json"
        found[f"ms from start to first answer, {people} accounts"] = start(scene, "/plain/1k", "people.yaml")
    return found


class TokenEndpoint(http.server.ThreadingHTTPServer):
    """Takes any refresh token, a fifth of a second long, and counts."""

    daemon_threads = True

    def __init__(self):
        self.requests, self.lock = 0, threading.Lock()
        super().__init__(("127.0.0.1", 0), Answer)
        self.issuer = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        issuer = self.server.issuer
        self.answer({"issuer": issuer, "authorization_endpoint": f"{issuer}/authorize",
                     "token_endpoint": f"{issuer}/token",
                     "jwks_uri": f"{issuer}/keys", "response_types_supported": ["code"]})

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        with self.server.lock:
            self.server.requests += 1
        time.sleep(0.2)
        self.answer({
            "token_type": "Bearer", "access_token": "new" * 400, "expires_in": 3600, "refresh_token": "next" * 300})

    def answer(self, value):
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def expired(issuer, now):
    """A cache in which one person is signed in at an issuer, and whose access token ended a moment ago."""
    claims = base64.urlsafe_b64encode(json.dumps({"iss": issuer, "sub": "alice"}).encode()).decode().rstrip("=")
    owner = {"home_account_id": "alice", "environment": "127.0.0.1", "client_id": CLIENT}
    realm, isolation = {"realm": ""}, {"ext_cache_key": issuer}
    return {
        "AccessToken": {"a": owner | realm | isolation | {
            "credential_type": "AccessToken", "secret": "old" * 400, "target": "orders.read", "token_type": "Bearer",
            "cached_at": str(now - 3600), "expires_on": str(now)}},
        "RefreshToken": {"r": owner | isolation | {
            "credential_type": "RefreshToken", "secret": "first" * 240, "target": "orders.read",
            "last_modification_time": str(now - 3600)}},
        "IdToken": {"i": owner | realm | {"credential_type": "IdToken", "secret": f"e30.{claims}.x"}},
        "Account": {"c": realm | {
            "home_account_id": "alice", "environment": "127.0.0.1", "local_account_id": "alice", "username": "alice",
            "authority_type": "MSSTS"}},
    }


def rewriting(scene):
    """The longest that a caller waits for a route without a token while a refresh rewrites the file of many people."""
    provider = TokenEndpoint()
    cache = scene.work / f"people-{PEOPLE[-1]}" / "cache.json"
    document = json.loads(cache.read_text())
    for section, entries in expired(provider.issuer, int(time.time())).items():
        document.setdefault(section, {}).update(entries)
    cache.write_text(json.dumps(document))
    written = cache.stat().st_ino
    scene.values.update(CACHE=cache, ISSUER=provider.issuer)
    process, port = scene.start_bearer_proxy(configuration="storm.yaml")
    slowest, finished = 0, time.monotonic() + 30
    with Connections(port, 1, "/open/1k") as traffic, Connections(port, 1, "/plain/1k") as signed_in:
        traffic.rounds(1)  # the first waits until the file has been read
        signed_in.sockets[0].sendall(signed_in.request)
        while cache.stat().st_ino == written:
            began = time.monotonic()
            traffic.rounds(1)
            slowest = max(slowest, time.monotonic() - began)
            if began > finished:
                fail(f"nothing was written to {cache}: {process.errors()}")
        answer(signed_in.sockets[0])
    scene.end(process)
    provider.shutdown()
    return {f"ms of the longest wait while {PEOPLE[-1]} accounts are rewritten": slowest * 1000}


def storm(scene):
    """Token requests, and seconds until the last of a thousand callers of four processes is answered."""
    provider = TokenEndpoint()
    folder = scene.work / "storm"
    folder.mkdir(mode=0o700)
    cache = folder / "cache.json"
    with open(os.open(cache, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        json.dump(expired(provider.issuer, int(time.time())), file)
    scene.values.update(CACHE=cache, ISSUER=provider.issuer)
    running = [scene.start_bearer_proxy(configuration="storm.yaml") for _ in range(PROXIES)]
    output = subprocess.run(
        [ROOT / "Tests/peers/storm.py", "/plain/1k", str(CALLERS), *(str(port) for _, port in running)], check=True,
        capture_output=True, text=True).stdout
    told = json.loads(output)
    for process, _ in running:
        scene.end(process)
    provider.shutdown()
    if told["statuses"] != {"200": PROXIES * CALLERS}:
        fail(f"the storm's answers: {told['statuses']}")
    return {
        f"token requests for {PROXIES * CALLERS} callers of {PROXIES} processes at expiry": provider.requests,
        "ms until all of them are answered, 200 of them the provider's": told["seconds"] * 1000,
    }
