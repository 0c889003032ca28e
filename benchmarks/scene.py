"""What every benchmark stands on: a work directory with certificates, the origins, the OpenID provider and the peers.

The plain origin and the floor are C programs of this directory, the TLS origin is nginx, the provider is the tests'
(Authlib); one token of its, about 1.2 KB, is what every peer injects.
"""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import urllib.parse
import urllib.request

from processes import Process, fail, free_ports

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
SECRET = "benchmark-secret"
SIZES = {"1k": 1 << 10, "64k": 64 << 10, "1m": 1 << 20}


class Scene:
    def __init__(self):
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="bearer-proxy-benchmark-"))
        self.running, self.rendered = [], 0
        self.values = {"WORK": self.work, "SECRET": SECRET, "UID": os.getuid(),
                       "USER": "user root;" if os.getuid() == 0 else "",
                       # Without start_http2: callers have HTTP/1.1, and nothing asks for the origin with HTTP/2.
                       "HTTP2": "", "ORIGIN2": 1}

    def __enter__(self):
        try:
            self.compile("origin")
            self.compile("floor")
            self.certificates()
            self.start_origins()
            self.start_provider()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in reversed(self.running):
            process.stop()
        shutil.rmtree(self.work, ignore_errors=True)

    def spawn(self, name, arguments, environment=None):
        process = Process(name, [str(a) for a in arguments], self.work / f"{name}.log", environment)
        self.running.append(process)
        return process

    def end(self, process):
        process.stop()
        self.running.remove(process)

    def compile(self, name, *flags):
        subprocess.run(["cc", "-O2", *flags, "-o", self.work / name, HERE / f"{name}.c"], check=True)
        return self.work / name

    def certificates(self):
        """A certification authority for this run and a certificate of its for localhost."""
        def openssl(*arguments):
            subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, cwd=self.work)

        (self.work / "san").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
        key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-days", 2, "-subj", "/CN=benchmark CA")
        openssl("req", *key, "-keyout", "localhost.key", "-out", "localhost.csr", "-subj", "/CN=localhost")
        openssl("x509", "-req", "-in", "localhost.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
                "-days", 2, "-extfile", "san", "-out", "localhost.pem")
        self.values["CA"] = self.work / "ca.pem"

    def start_origins(self):
        self.values["PLAIN"] = self.spawn("origin", [self.work / "origin"]).port()
        files = self.work / "files"
        files.mkdir(mode=0o755)
        for name, size in SIZES.items():
            (files / name).write_bytes(b"x" * size)
        self.work.chmod(0o755)
        [self.values["TLS"]] = free_ports(1)
        self.nginx("tls-origin").wait(self.values["TLS"])

    def start_http2(self):
        """nghttpd as an origin whose answers have the trailers of gRPC; peers that need to be told speak HTTP/2."""
        [port] = free_ports(1)
        self.values.update(HTTP2="http2", ORIGIN2=port)
        self.spawn("nghttpd", ["nghttpd", "--no-tls", "-d", self.work / "files", "--trailer", "grpc-status: 0", port]
                   ).wait(port)

    def start_provider(self):
        python = ROOT / ".venv/bin/python"
        provider = self.spawn(
            "provider", [python, ROOT / "Tests/peers/openid_provider.py", "--client", f"benchmark:{SECRET}"])
        self.values["ISSUER"] = f"http://127.0.0.1:{provider.port()}"
        form = {
            "grant_type": "client_credentials", "client_id": "benchmark", "client_secret": SECRET,
            "scope": "orders.read"}
        with urllib.request.urlopen(self.values["ISSUER"] + "/token", urllib.parse.urlencode(form).encode()) as answer:
            self.values["TOKEN"] = json.load(answer)["access_token"]

    def start_exchange(self):
        """A provider that exchanges tokens, and a token of a caller's, about as long as the others."""
        python = ROOT / ".venv/bin/python"
        provider = self.spawn("exchange", [
            python, ROOT / "Tests/peers/exchange_provider.py", "--client", f"benchmark:{SECRET}", "--caller",
            f"front:{SECRET}", "--padding", "400"])
        self.values["EXCHANGE"] = f"http://127.0.0.1:{provider.port()}/realms/enterprise"
        return self.caller()

    def caller(self):
        """A caller's token, another one each time."""
        form = {
            "grant_type": "client_credentials", "client_id": "front", "client_secret": SECRET, "scope": "proxy.call"}
        with urllib.request.urlopen(
                self.values["EXCHANGE"] + "/token", urllib.parse.urlencode(form).encode()) as answer:
            return json.load(answer)["access_token"]

    def render(self, template):
        """The configuration file of benchmarks/peers with this run's values in it."""
        text = (HERE / "peers" / template).read_text()
        for name, value in self.values.items():
            text = text.replace(f"@{name}@", str(value))
        self.rendered += 1
        # A file for each process: bearer-proxy follows the one that it was given.
        path = self.work / f"{self.rendered}-{template}"
        path.write_text(text)
        return path

    def nginx(self, name):
        return self.spawn(name, ["nginx", "-p", self.work, "-e", self.work / f"{name}.err", "-g", "daemon off;",
                                 "-c", self.render(f"{name}.conf")])

    # The peers: each returns its process and the port it serves on.

    def start_floor(self):
        process = self.spawn("floor", [self.work / "floor", self.values["PLAIN"]])
        return process, process.port()

    def start_nginx(self):
        [port] = free_ports(1)
        self.values["PORT"] = port
        process = self.nginx("nginx")
        process.wait(port)
        return process, port

    def start_haproxy(self):
        [port] = free_ports(1)
        self.values["PORT"] = port
        process = self.spawn("haproxy", ["haproxy", "-db", "-f", self.render("haproxy.cfg")])
        process.wait(port)
        return process, port

    def start_envoy(self):
        [port] = free_ports(1)
        self.values["PORT"] = port
        found = list((ROOT / ".venv-benchmarks").glob("lib/python*/site-packages/envoy/_bin/envoy"))
        if not found:
            fail("envoy is not in .venv-benchmarks; run benchmarks/run, which installs it")
        process = self.spawn("envoy", [found[0], "--concurrency", 1, "-l", "error", "--disable-hot-restart",
                                       "-c", self.render("envoy.yaml")])
        process.wait(port)
        return process, port

    def start_bearer_proxy(self, environment=None, wait=True, configuration="bearer-proxy.yaml", binary=None):
        port, admin = free_ports(2)
        self.values.update(PORT=port, ADMIN=admin)
        name = "before" if binary else "bearer-proxy"
        process = self.spawn(name, [binary or self.binary(), "run", "-c", self.render(configuration)], environment)
        if wait:
            process.wait(port)
        return process, port

    @staticmethod
    def binary():
        """The release build that benchmarks/run makes."""
        path = ROOT / ".build-release/release/bearer-proxy"
        if not path.exists():
            fail("no release build in .build-release; run benchmarks/run, which makes it")
        return path
