"""System calls of a running process between two moments, by name: with `perf trace` if possible, or with `strace`."""

import re
import shutil
import signal
import subprocess
import time


def command(process):
    if shutil.which("perf"):
        probe = subprocess.run(["perf", "trace", "-s", "-p", str(process), "sleep", "0.1"], capture_output=True)
        if probe.returncode == 0:
            return ["perf", "trace", "-s", "-p", str(process)]
    return ["strace", "-f", "-c", "-p", str(process)]


def parse(text, tool):
    """Counts by name out of either tool's summary."""
    # perf: `   epoll_wait   123   0   …`, one table per thread; strace: `%time seconds usecs calls [errors] name`.
    of_perf = r"^ +([a-z_0-9]+) +(\d+) +\d+ +[\d.]+ "
    of_strace = r"^ *[\d.]+ +[\d.]+ +\d+ +(\d+) +(?:\d+ +)?([a-z_0-9]+)$"
    pattern = of_perf if tool == "perf" else of_strace
    counts = {}
    for found in re.finditer(pattern, text, re.M):
        name, number = found.groups() if tool == "perf" else reversed(found.groups())
        if name != "total":
            counts[name] = counts.get(name, 0) + int(number)
    return counts


def during(process, work):
    """The tool's name, the counts by name while work() ran, and what work() returned."""
    arguments = command(process)
    tracer = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    time.sleep(1)  # neither tool says when it has attached
    result = work()
    tracer.send_signal(signal.SIGINT)
    text, _ = tracer.communicate(timeout=30)
    return arguments[0], parse(text, arguments[0]), result
