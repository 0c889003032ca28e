"""Child processes of a benchmark: start, wait until they listen, read CPU time and memory, end."""

import ctypes
import os
import re
import select
import signal
import socket
import subprocess
import sys
import time

TICK = os.sysconf("SC_CLK_TCK")


def fail(sentence):
    sys.exit(f"error: {sentence}")


def free_ports(count):
    """Ports of 127.0.0.1 that were free a moment ago, all different."""
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def follow_parent():
    """Run in a child before exec: it ends when the script that measures is killed."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


class Process:
    """One process with its children; `name` is what an error calls it."""

    def __init__(self, name, arguments, log, environment=None):
        self.name, self.log = name, log
        self.output = open(log, "wb")
        self.child = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self.output,
            env={**os.environ, **(environment or {})},
            preexec_fn=follow_parent,
        )

    def port(self, seconds=20):
        """The port of the line `listening PORT`, which our own peers print when they are ready."""
        ready, _, _ = select.select([self.child.stdout], [], [], seconds)
        line = self.child.stdout.readline().decode() if ready else ""
        found = re.match(r"listening (\d+)", line)
        if not found:
            self.stop()
            fail(f"{self.name} did not start; its errors: {self.errors()}")
        return int(found[1])

    def wait(self, port, seconds=20):
        """Returns once 127.0.0.1:port accepts a connection."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.child.poll() is not None:
                fail(f"{self.name} ended with {self.child.returncode}; its errors: {self.errors()}")
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return
            except OSError:
                time.sleep(0.005)
        fail(f"{self.name} does not listen on {port}; its errors: {self.errors()}")

    def errors(self):
        with open(self.log, errors="replace") as file:
            return file.read()[-2000:].strip() or "(none)"

    def ids(self):
        """This process and its descendants."""
        found, frontier = [], [self.child.pid]
        while frontier:
            process = frontier.pop()
            found.append(process)
            for task in os.listdir(f"/proc/{process}/task"):
                with open(f"/proc/{process}/task/{task}/children") as file:
                    frontier += [int(child) for child in file.read().split()]
        return found

    def cpu(self):
        """Seconds of user and system time used so far, all threads and children."""
        return sum(self.times())

    def times(self):
        """Seconds of user time, and seconds of system time, used so far, all threads and children."""
        user = system = 0
        for process in self.ids():
            with open(f"/proc/{process}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
            user += int(fields[11])
            system += int(fields[12])
        return user / TICK, system / TICK

    def resident(self):
        """Bytes resident, summed over the processes (a page shared by two counts twice)."""
        total = 0
        for process in self.ids():
            with open(f"/proc/{process}/status") as file:
                total += int(re.search(r"VmRSS:\s+(\d+) kB", file.read())[1]) * 1024
        return total

    def stop(self):
        if self.child.poll() is None:
            self.child.terminate()
            try:
                self.child.wait(10)
            except subprocess.TimeoutExpired:
                self.child.kill()
                self.child.wait()
        self.output.close()
