"""Runs the program where it is to be placed, and proves what the place promises.

    placed.py certificates DIRECTORY
    placed.py image DIRECTORY ROOT CONFIGURATION…
    placed.py unit DIRECTORY UNIT BINARY

The first makes an authority and a certificate that it signed. `image` runs ROOT, assembled by deploy/rootfs with that
authority among its own, in which each CONFIGURATION has to pass `check`. `unit` runs BINARY under the restrictions of a
systemd unit. In either place one request goes through the proxy: to an identity provider on loopback, which is asked
for a token, and to an API over TLS.
"""

import base64
import ctypes
import http.client
import http.server
import json
import os
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable

HERE = pathlib.Path(__file__).resolve().parent
USER = 65532
SECRET = "what-only-the-provider-knows"
TOKEN = "a-token-of-the-image"
TOKENS_ASKED = []


def expect(condition: bool, sentence: str) -> None:
    if not condition:
        sys.exit(f"error: {sentence}")
    print(f"  {sentence}")


def certificates(directory: pathlib.Path) -> None:
    """An authority of our own, and a certificate for localhost that it signed."""
    def openssl(*words: str) -> None:
        subprocess.run(["openssl", *words], cwd=directory, check=True, capture_output=True)

    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", "/CN=image check", "-keyout", "ca.key", "-out", "ca.pem")
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost",
            "-keyout", "api.key", "-out", "api.csr")
    (directory / "api.ext").write_text("subjectAltName=DNS:localhost\n")
    openssl("x509", "-req", "-in", "api.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
            "-extfile", "api.ext", "-out", "api.pem")


class Peer(http.server.BaseHTTPRequestHandler):
    """The provider and the API, each on a port of its own."""

    def reply(self, document: dict) -> None:
        body = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        issuer = f"http://127.0.0.1:{self.server.server_port}"
        if self.path == "/.well-known/openid-configuration":
            self.reply({"issuer": issuer, "token_endpoint": f"{issuer}/token",
                        "authorization_endpoint": f"{issuer}/authorize", "jwks_uri": f"{issuer}/keys",
                        "token_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic"]})
        else:
            self.reply({"path": self.path, "authorization": self.headers.get("Authorization")})

    def do_POST(self) -> None:
        form = self.rfile.read(int(self.headers["Content-Length"])).decode()
        # The secret in clear, in either of its placements.
        scheme, _, credential = self.headers.get("Authorization", "").partition(" ")
        TOKENS_ASKED.append(form + (base64.b64decode(credential).decode() if scheme == "Basic" else ""))
        self.reply({"access_token": TOKEN, "token_type": "Bearer", "expires_in": 3600})

    def log_message(self, *_: object) -> None:
        pass


def landlock_version() -> int:
    """What this kernel offers to a program that gives up access to files; 0 where it offers nothing."""
    create_ruleset, ask_for_version = 444, 1
    return max(0, ctypes.CDLL(None).syscall(create_ruleset, None, 0, ask_for_version))


def serve(context: ssl.SSLContext | None = None) -> int:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Peer)
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def get(port: int, path: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


class Place:
    """Directories for configuration, secrets and state, and a way to run the program with them."""

    # As the program sees them.
    configuration_path = "/etc/bearer-proxy"
    secrets_path = "/run/secrets"
    state_path = "/var/lib/bearer-proxy"

    def __init__(self, directory: pathlib.Path, certificates_at: pathlib.Path) -> None:
        self.certificates_at = certificates_at
        self.configuration, self.secrets, self.state = (
            directory / name for name in ("configuration", "secrets", "state")
        )
        for made in (self.configuration, self.secrets, self.state):
            made.mkdir()
        secret = self.secrets / "contoso"
        secret.write_text(SECRET)
        # As Kubernetes mounts a Secret: root's, and readable for the group. A caller without rights gives it its own
        # user.
        secret.chmod(0o440)
        if os.geteuid() == 0:
            os.chown(secret, 0, USER)
        # A pod's service account, as the kubelet projects its token.
        federated = self.secrets / "federated-token"
        federated.write_text("e30.e30.c2ln")
        federated.chmod(0o440)
        if os.geteuid() == 0:
            os.chown(federated, 0, USER)
        # The systemd unit's configuration has its secret beside it.
        (self.configuration / "secrets").mkdir()
        beside = self.configuration / "secrets" / "contoso"
        shutil.copy2(secret, beside)
        self.state.chmod(0o700)
        if os.geteuid() == 0:
            os.chown(beside, 0, USER)
            os.chown(self.state, USER, USER)

    def words(self, *words: str) -> list[str]:
        raise NotImplementedError

    def start(self, *words: str, **options: object) -> subprocess.Popen:
        return subprocess.Popen(
            self.words(*words),
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )

    def program(self, process: subprocess.Popen) -> int:
        """The process that became the program."""
        raise NotImplementedError


class Image(Place):
    """A root file system with what is mounted into it. Its authorities vouch for the API."""

    trust = ""

    def __init__(self, root: pathlib.Path, directory: pathlib.Path, certificates_at: pathlib.Path) -> None:
        super().__init__(directory, certificates_at)
        self.root = root

    def words(self, *words: str) -> list[str]:
        places = [self.root, self.configuration, self.secrets, self.state]
        return [str(HERE / "in-image"), *map(str, places), "/usr/bin/bearer-proxy", *words]

    def run(self, *words: str) -> subprocess.CompletedProcess:
        process = self.start(*words)
        output, errors = process.communicate(timeout=60)
        return subprocess.CompletedProcess(words, process.returncode, output, errors)

    def program(self, process: subprocess.Popen) -> int:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            if children and pathlib.Path(f"/proc/{children[0]}/comm").read_text().strip() == "bearer-proxy":
                return int(children[0])
            time.sleep(0.02)
        sys.exit("error: the program did not start")


class Unit(Place):
    """The filters of a systemd unit, on this system's files. Another user reads them, who cannot enter every folder."""

    def __init__(self, unit: str, binary: str, directory: pathlib.Path, certificates_at: pathlib.Path) -> None:
        super().__init__(directory, certificates_at)
        self.unit, self.launcher = (shutil.copyfile(file, directory / pathlib.Path(file).name)
                                    for file in (unit, HERE / "as_unit.py"))
        subprocess.run([HERE / "public-copy", binary, directory], check=True)
        self.binary = str(directory / pathlib.Path(binary).name)
        self.configuration_path, self.secrets_path, self.state_path = map(
            str, (self.configuration, self.secrets, self.state)
        )
        shutil.copy(certificates_at / "ca.pem", self.configuration)
        self.trust = f"tls: {{ca_file: {self.configuration}/ca.pem}}"

    def words(self, *words: str) -> list[str]:
        other = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"] if os.geteuid() == 0 else []
        return [*other, "/usr/bin/python3", str(self.launcher), str(self.unit), self.binary, *words]

    def program(self, process: subprocess.Popen) -> int:
        return process.pid


def check_files(root: pathlib.Path) -> None:
    """Nothing that can be started but the program, and nothing that gives anybody more rights."""
    started, special, writable = [], [], []
    for path in root.rglob("*"):
        # The state directory is its user's, whom a caller without rights cannot give it to.
        mode = path.lstat().st_mode
        if path.is_symlink():
            continue
        name = "/" + str(path.relative_to(root))
        if mode & 0o6000:
            special.append(name)
        if mode & 0o002 and name != "/tmp":
            writable.append(name)
        if path.is_file() and mode & 0o111 and ".so" not in path.name:
            started.append(name)
    expect(started == ["/usr/bin/bearer-proxy"], f"holds no program but {', '.join(started)}")
    special += writable
    expect(not special, "no file gives rights to whoever comes" + "".join(f"; {name} does" for name in special))


def check_process(process: int) -> None:
    status = dict(line.split(":\t", 1) for line in pathlib.Path(f"/proc/{process}/status").read_text().splitlines()
                  if ":\t" in line)
    if os.geteuid() == 0:
        expect(set(status["Uid"].split()) == {str(USER)} and set(status["Gid"].split()) == {str(USER)},
               f"runs as user and group {USER}")
        expect(not status["Groups"].strip(), "has no other group")
    expect(int(status["CapEff"], 16) == 0, "has no capability")
    expect(status["NSpid"].split()[-1] == "1", "is the first process, as in a container")
    mounts = [line.split() for line in pathlib.Path(f"/proc/{process}/mountinfo").read_text().splitlines()]
    writable = sorted(mount[4] for mount in mounts if "rw" in mount[5].split(",") and mount[4] != "/proc")
    expect(writable == ["/var/lib/bearer-proxy"], f"can write in {', '.join(writable)} alone")


def check_exchange(place: Place, inspect: Callable[[int], None]) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(place.certificates_at / "api.pem", place.certificates_at / "api.key")
    provider, api, traffic, admin = serve(), serve(context), free_port(), free_port()
    (place.configuration / "proxy.yaml").write_text(f"""
listeners: [{{address: "127.0.0.1:{traffic}"}}]
admin: {{address: "127.0.0.1:{admin}"}}
cache: {{file: {place.state_path}/msal_token_cache.json}}
applications:
  contoso:
    authority: http://127.0.0.1:{provider}
    client_id: image
    client_secret_file: {place.secrets_path}/contoso
routes:
  - name: orders
    path: /orders/
    upstream: https://localhost:{api}/api/
    application: contoso
    token: {{as: application, scopes: [orders.read]}}
    {place.trust}
""")
    environment = {"PATH": os.environ["PATH"], "BEARER_PROXY_CONFIG": f"{place.configuration_path}/proxy.yaml"}
    began = time.monotonic()
    process, child = place.start("run", env=environment), None
    try:
        status, text = 0, "nothing"
        while status != 200 and time.monotonic() - began < 30 and process.poll() is None:
            try:
                status, text = get(admin, "/readyz")
            except OSError:
                pass
            time.sleep(0.02)
        told = f"/readyz responds {text}" if process.poll() is None else f"it ended with status {process.poll()}"
        expect(status == 200, "becomes ready" if status == 200 else f"does not become ready: {told}")
        child = place.program(process)
        inspect(child)
        status, text = get(traffic, "/orders/42?expand=lines")
        expect(status == 200, f"a request is answered with {status}")
        expect(json.loads(text) == {"path": "/api/42?expand=lines", "authorization": f"Bearer {TOKEN}"},
               "the API got the path and the token, over verified TLS")
        expect(len(TOKENS_ASKED) == 1 and SECRET in TOKENS_ASKED[0], "the secret came from its mounted file")
        # A token serves before it is written.
        cached = place.state / "msal_token_cache.json"
        while not cached.exists() and time.monotonic() - began < 60:
            time.sleep(0.02)
        expect(cached.stat().st_mode & 0o777 == 0o600, "the cache is written, for its user alone")
        os.kill(child, signal.SIGTERM)
        output, errors = process.communicate(timeout=60)
        expect(process.returncode == 0, f"SIGTERM ends it with status {process.returncode}")
        expect('"landlock":' in output + errors or not landlock_version(), "confines itself with what the kernel has")
        expect(TOKEN not in output + errors and SECRET not in output + errors, "neither token nor secret is logged")
        expect(all(line[0] + line[-1] == "{}" for line in (output + errors).splitlines()), "every line is a record")
    finally:
        if process.poll() is None:
            # The program first: it would live on without the process that began its namespace, and hold its output
            # open.
            if child:
                os.kill(child, signal.SIGKILL)
            process.kill()
            print(*process.communicate(), sep="", file=sys.stderr)
        elif process.returncode:
            print(*process.communicate(), sep="", file=sys.stderr)


def main() -> None:
    command, certificates_at, *words = sys.argv[1:]
    if command == "certificates":
        return certificates(pathlib.Path(certificates_at))
    with tempfile.TemporaryDirectory() as directory:
        pathlib.Path(directory).chmod(0o755)
        if command == "unit":
            unit, binary = words
            return check_exchange(
                Unit(unit, binary, pathlib.Path(directory), pathlib.Path(certificates_at)), lambda _: None
            )
        root, *configurations = words
        check_files(pathlib.Path(root))
        image = Image(pathlib.Path(root), pathlib.Path(directory), pathlib.Path(certificates_at))
        for configuration in configurations:
            shutil.copy(configuration, image.configuration / "proxy.yaml")
            verdict = image.run("check", "-c", f"{image.configuration_path}/proxy.yaml")
            if verdict.returncode:
                sys.exit(f"error: {configuration} is not accepted: {verdict.stderr}")
            print(f"  accepts {configuration}")
        check_exchange(image, check_process)


if __name__ == "__main__":
    main()
