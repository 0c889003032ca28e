"""Ends of the proxy under load: how many requests are lost.

    drain.py ROUNDS BINARY            prints a line for each way to end, and fails where a request was lost
    drain.py call PORT                calls until connections are refused; prints {"answered", "lost", "refused",
                                      "broken"}

The client tells a request that was lost from a connection that was refused. wrk cannot, so where it calls another
server listens at the same address before the proxy ends (SO_REUSEPORT), as a successor would: no connection is refused
then, and each error is a loss.
"""

import errno
import json
import os
import random
import re
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

CONNECTIONS = 64
REQUEST = b"GET /x HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
BODY = b"0123456789abcdef" * 64


class Caller:
    """Calls on 64 connections at once, one request after the other, and heeds `Connection: close`."""

    def __init__(self, port):
        self.port = port
        self.selector = selectors.DefaultSelector()
        self.counts = {"answered": 0, "lost": 0, "refused": 0}
        self.broken = []
        self.stopped = False

    def connect(self):
        each = socket.socket()
        each.setblocking(False)
        code = each.connect_ex(("127.0.0.1", self.port))
        if code not in (0, errno.EINPROGRESS):
            self.refuse(each, code)
            return
        self.selector.register(each, selectors.EVENT_WRITE, bytearray())

    def refuse(self, each, code):
        if code not in (errno.ECONNREFUSED, errno.ETIMEDOUT):
            self.broken.append(f"connecting: {errno.errorcode.get(code, code)}")
        self.counts["refused"] += 1
        each.close()

    def lose(self, each, why):
        self.counts["lost"] += 1
        self.broken.append(why)
        self.selector.unregister(each)
        each.close()

    def ready(self, key, mask):
        each, received = key.fileobj, key.data
        if mask & selectors.EVENT_WRITE:
            if code := each.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                self.selector.unregister(each)
                self.refuse(each, code)
                return
            self.ask(each, received)
            return
        try:
            data = each.recv(65536)
        except BlockingIOError:
            return
        except OSError as error:
            self.lose(each, f"reset after {len(received)} bytes ({errno.errorcode[error.errno]})")
            return
        if not data:
            self.lose(each, f"closed after {len(received)} bytes")
            return
        received += data
        end = received.find(b"\r\n\r\n")
        if end < 0 or len(received) < end + 4 + len(BODY):
            return
        if not received.startswith(b"HTTP/1.1 200 ") or received[end + 4 :] != BODY:
            self.lose(each, f"answered {bytes(received[:40])!r}")
            return
        self.counts["answered"] += 1
        if self.counts["answered"] == 1:
            print("begun", flush=True)
        if b"\r\nconnection: close\r\n" in received[: end + 2].lower() or self.stopped:
            self.selector.unregister(each)
            each.close()
            if not self.stopped:
                self.connect()
            return
        received.clear()
        self.ask(each, received)

    def ask(self, each, received):
        try:
            each.send(REQUEST)
        except OSError as error:
            self.lose(each, f"not sent ({errno.errorcode[error.errno]})")
            return
        self.selector.modify(each, selectors.EVENT_READ, received)

    def run(self):
        def stop(*_):
            self.stopped = True

        signal.signal(signal.SIGINT, stop)
        for _ in range(CONNECTIONS):
            self.connect()
        quiet = None
        while self.selector.get_map():
            for key, mask in self.selector.select(1):
                self.ready(key, mask)
            # Who has no answer after ten seconds gets none.
            if self.stopped:
                quiet = quiet or time.monotonic() + 10
                if time.monotonic() > quiet:
                    for key in list(self.selector.get_map().values()):
                        self.lose(key.fileobj, "no answer")
        print(json.dumps(self.counts | {"broken": sorted(set(self.broken))}))


def free_port():
    with socket.socket() as each:
        each.bind(("127.0.0.1", 0))
        return each.getsockname()[1]


def await_port(port, process):
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.02)
        if process.poll() is not None:
            raise SystemExit(f"error: {process.args[0]} ended with {process.returncode} at its start")


class Stage:
    """An upstream, and the proxy as often as it is started."""

    def __init__(self, directory, binary):
        self.directory, self.binary = directory, binary
        self.port, self.admin, upstream = free_port(), free_port(), free_port()
        with open(f"{directory}/body", "wb") as file:
            file.write(BODY)
        self.upstream = upstream
        self.nginx = self.serve("upstream", f"127.0.0.1:{upstream}")
        await_port(upstream, self.nginx)

    def serve(self, name, address):
        """Starts nginx, which answers everything with the body."""
        directory = self.directory
        with open(f"{directory}/{name}.conf", "w") as file:
            file.write(
                f"daemon off; master_process off; pid {directory}/{name}.pid; "
                f"{'user root;' if os.getuid() == 0 else ''}"
                f"error_log {directory}/{name}.log; events {{ worker_connections 4096; }} http {{ access_log off;"
                "keepalive_requests 1000000000;"
                f"server {{ listen {address}; location / {{ root {directory}; try_files /body =404; }} }} }}"
            )
        return subprocess.Popen(["nginx", "-p", directory, "-c", f"{directory}/{name}.conf"])

    def start(self, shutdown, listener=None):
        with open(f"{self.directory}/proxy.yaml", "w") as file:
            file.write(
                f'listeners: [{{address: "127.0.0.1:{self.port}"}}]\n'
                f'admin: {{address: "127.0.0.1:{self.admin}", '
                "callers: {header: {name: X-Key, value: soak-drain-control}}}\n"
                f"log: {{access: false}}\nshutdown: {shutdown}\nallow_readable_secrets: true\n"
                f'routes: [{{name: all, path: /, upstream: "http://127.0.0.1:{self.upstream}/", token: none}}]\n'
            )
        command = [self.binary, "run", "-c", f"{self.directory}/proxy.yaml"]
        prepare = None
        environment = dict(os.environ)
        if listener:
            environment |= {"LISTEN_FDS": "1", "LISTEN_FDNAMES": "proxy"}
            command = ["/bin/sh", "-c", 'LISTEN_PID=$$ exec "$@"', "sh"] + command

            def prepare():
                os.dup2(listener.fileno(), 3)

        with open(f"{self.directory}/log", "ab") as log:
            process = subprocess.Popen(
                command, stdout=log, stderr=log, env=environment, preexec_fn=prepare, close_fds=listener is None
            )
        await_port(self.admin, process)
        return process

    def end(self, process, by_request):
        if by_request:
            address = f"http://127.0.0.1:{self.admin}/quitquitquit"
            urllib.request.urlopen(
                urllib.request.Request(address, data=b"", headers={"X-Key": "soak-drain-control"})
            ).read()
        else:
            process.send_signal(signal.SIGTERM)
        if process.wait(40) != 0:
            raise SystemExit(f"error: the proxy ended with {process.returncode}")


def start_callers(stage, kind):
    if kind == "wrk":
        command = ["wrk", "-t2", f"-c{CONNECTIONS}", "-d60s", "--timeout", "20s", f"http://127.0.0.1:{stage.port}/x"]
    else:
        command = [sys.executable, __file__, "call", str(stage.port)]
    callers = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    if kind != "wrk" and callers.stdout.readline() != "begun\n":
        raise SystemExit("error: no request was answered")
    return callers


def outcome(callers, kind):
    """Answered, lost, refused; and what was seen of the lost ones."""
    callers.send_signal(signal.SIGINT)
    text = callers.communicate(timeout=60)[0]
    if kind != "wrk":
        result = json.loads(text)
        return result["answered"], result["lost"], result["refused"], result["broken"]
    errors = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", text)
    wrong = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    lost = sum(map(int, errors.groups())) if errors else 0
    return (
        int(re.search(r"(\d+) requests in", text)[1]),
        lost + (int(wrong[1]) if wrong else 0),
        0,
        [errors and errors[0]],
    )


def listeners(port):
    """How many sockets listen at a port."""
    with open("/proc/net/tcp") as table:
        return sum(line.split()[1].endswith(f":{port:04X}") and line.split()[3] == "0A" for line in table)


def round_of(stage, kind, shutdown, by_request):
    process = stage.start(shutdown)
    callers = start_callers(stage, kind)
    time.sleep(random.uniform(0.5, 1.0))
    successor = None
    if kind == "wrk":
        known = listeners(stage.port)
        successor = stage.serve("successor", f"127.0.0.1:{stage.port} reuseport")
        while listeners(stage.port) == known:
            time.sleep(0.01)
    stage.end(process, by_request)
    # Connections whose first segment was dropped are made, or refused, a second later.
    time.sleep(1.5)
    result = outcome(callers, kind)
    if successor:
        successor.terminate()
        successor.wait()
    return result


def restarts(stage, kind):
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", stage.port))
        listener.listen(1024)
        os.set_inheritable(listener.fileno(), True)
        process = stage.start("{limit: 20s}", listener)
        callers = start_callers(stage, kind)
        for _ in range(5):
            time.sleep(random.uniform(0.3, 0.6))
            stage.end(process, False)
            process = stage.start("{limit: 20s}", listener)
        time.sleep(0.3)
        result = outcome(callers, kind)
        stage.end(process, False)
        return result


def main(rounds, binary):
    ways = {
        "SIGTERM": lambda stage, kind: round_of(stage, kind, "{limit: 20s}", False),
        "quitquitquit": lambda stage, kind: round_of(stage, kind, "{limit: 20s}", True),
        "SIGTERM, delay 300ms": lambda stage, kind: round_of(stage, kind, "{limit: 20s, delay: 300ms}", False),
        "5 restarts by socket activation": restarts,
    }
    lost = 0
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)
        stage = Stage(directory, os.path.abspath(binary))
        try:
            for way, perform in ways.items():
                for kind in ("client", "wrk"):
                    results = [perform(stage, kind) for _ in range(rounds)]
                    answered, refused = sum(each[0] for each in results), sum(each[2] for each in results)
                    losses = [each[1] for each in results]
                    lost += sum(losses)
                    print(
                        f"{way}, {kind}: {rounds} rounds, {answered} answered, {refused} refused, {sum(losses)} lost"
                        + (f" {losses} {results[losses.index(max(losses))][3]}" if sum(losses) else ""),
                        flush=True,
                    )
        finally:
            stage.nginx.terminate()
            stage.nginx.wait()
    if lost:
        raise SystemExit(f"error: {lost} requests were lost")


if __name__ == "__main__":
    if sys.argv[1] == "call":
        Caller(int(sys.argv[2])).run()
    else:
        main(int(sys.argv[1]), sys.argv[2])
