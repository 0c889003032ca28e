"""One measured burst of wrk against one peer."""

import dataclasses
import re
import subprocess
import time

from processes import fail

UNITS = {"us": 1, "ms": 1e3, "s": 1e6, "m": 6e7}


@dataclasses.dataclass
class Burst:
    """What one burst showed; times in microseconds, memory in bytes."""

    rate: float
    cpu: float
    user: float
    p50: float
    p99: float
    resident: int


def wrk(url, connections, seconds):
    run = subprocess.run(
        ["wrk", "-t1", f"-c{connections}", f"-d{seconds}", "--latency", url], capture_output=True, text=True, check=True
    )
    return run.stdout


def latency(text, percentile):
    found = re.search(rf"^\s+{percentile}%\s+([\d.]+)(us|ms|s|m)\s*$", text, re.M)
    if not found:
        fail(f"wrk says nothing of the {percentile}th percentile:\n{text}")
    number, unit = found.groups()
    return float(number) * UNITS[unit]


def burst(name, process, url, connections, seconds):
    """Warms up for a second, then measures for `seconds`; every answer must be a 2xx."""
    wrk(url, connections, 1)
    before, began = process.times(), time.monotonic()
    text = wrk(url, connections, seconds)
    elapsed = time.monotonic() - began
    user, system = (now - then for now, then in zip(process.times(), before))
    refused = re.search(r"(Non-2xx or 3xx responses: \d+|Socket errors:.*)", text)
    if refused:
        fail(f"{name} at {url}: {refused[1]}")
    requests = int(re.search(r"(\d+) requests in", text)[1])
    if requests == 0:
        fail(f"{name} at {url}: no request was answered")
    return Burst(
        requests / elapsed, (user + system) * 1e6 / requests, user * 1e6 / requests,
        latency(text, 50), latency(text, 99), process.resident())
