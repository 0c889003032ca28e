"""benchmarks/counters: numbers that do not vary (allocations, system calls) and numbers that vary little (start,
memory, size, a cache of many people), each compared with its threshold. Exits with 1 if one is exceeded."""

import argparse
import json
import mmap
import shutil
import statistics
import struct
import subprocess
import sys
import time

import crash
import people
import syscalls
from processes import fail
from scene import HERE, Scene
from traffic import Connections, Streams, answer

WARM, COUNTED = 500, 4000
# Requests are traced, and none of them is sampled.
UNSAMPLED = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_TRACES_SAMPLER": "always_off"}


def allocation_counter(scene):
    library = scene.work / "allocations.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, HERE / "allocations.c"], check=True)
    return library


def code_of_nghttp2():
    """The offsets between which the code of libnghttp2 lies in the program, which is linked with it."""
    symbols = subprocess.run(["nm", Scene.binary()], check=True, capture_output=True, text=True).stdout.splitlines()
    places = [int(line.split()[0], 16) for line in symbols if line.split()[-2:-1] in (["t"], ["T"])
              and line.split()[-1].startswith("nghttp2_")]
    if max(places) - min(places) > 1 << 20:
        fail("the code of libnghttp2 is not in one place")
    # The last function is a short one.
    return f"{min(places):x}-{max(places) + 256:x}"


def allocations(scene, trace, upstreams=("plain", "tls"), suffix="", environment={}):
    """Heap allocations per warm request, over plain and TLS upstreams, on 1 and 16 connections, and per warm stream,
    without libnghttp2's own."""
    library = allocation_counter(scene)
    counts = scene.work / "allocations"
    counts.write_bytes(bytes(24))
    found = {}
    if not suffix:
        scene.start_http2()
    process, port = scene.start_bearer_proxy({
        "LD_PRELOAD": str(library), "ALLOCATIONS": str(counts), "NOT_COUNTED": code_of_nghttp2(), **environment})
    with open(counts, "r+b") as file, mmap.mmap(file.fileno(), 24) as shared:

        def allocated():
            return struct.unpack_from("=Q", shared)[0]

        if allocated() == 0:
            fail("the allocation counter counts nothing: was it preloaded?")
        for upstream in upstreams:
            for connections in (1, 16):
                with Connections(port, connections, f"/{upstream}/1k") as traffic:
                    traffic.rounds(WARM)
                    before = allocated()
                    requests = traffic.rounds(COUNTED // connections)
                    found[f"allocations per request, {upstream} upstream, {connections} connections{suffix}"] = (
                        allocated() - before
                    ) / requests
                    if trace:
                        struct.pack_into("=Q", shared, 8, 1)
                        traffic.rounds(20)
                        struct.pack_into("=Q", shared, 8, 0)
        for upstream, path in [("plain", "/plain/1k"), ("HTTP/2", "/h2/1k")] if not suffix else []:
            with Streams(port, path) as traffic:
                traffic.rounds(WARM)
                before, apart = allocated(), struct.unpack_from("=Q", shared, 16)[0]
                requests = traffic.rounds(COUNTED)
                found[f"allocations per stream of HTTP/2, {upstream} upstream"] = (allocated() - before) / requests
                apart = (struct.unpack_from("=Q", shared, 16)[0] - apart) / requests
                print(f"allocations of libnghttp2 per stream, {upstream} upstream: {apart:.2f}")
                if trace:
                    struct.pack_into("=Q", shared, 8, 1)
                    traffic.rounds(20)
                    struct.pack_into("=Q", shared, 8, 0)
    if trace:
        print(process.log.read_text(errors="replace"))
    scene.end(process)
    return found


def handed_out(scene):
    """Heap allocations per token handed out, warm, as the recipes ask for it; and its CPU time beside that of a proxied
    request, which another process serves."""
    library = allocation_counter(scene)
    counts = scene.work / "allocations"
    counts.write_bytes(bytes(16))
    key = f"X-Proxy-Key: {scene.values['SECRET']}\r\n"
    fields = key + "X-Original-Method: GET\r\nX-Original-URI: /plain/1k?a=b\r\n"
    path = "/.bearer/authorize/plain"
    process, port = scene.start_bearer_proxy(
        {"LD_PRELOAD": str(library), "ALLOCATIONS": str(counts)}, configuration="bearer-proxy-engines.yaml")
    with open(counts, "r+b") as file, mmap.mmap(file.fileno(), 16) as shared:
        with Connections(port, 16, path, fields=fields) as traffic:
            traffic.rounds(WARM)
            before = struct.unpack_from("=Q", shared)[0]
            requests = traffic.rounds(COUNTED // 16)
            allocated = struct.unpack_from("=Q", shared)[0] - before
    scene.end(process)
    asked, port = scene.start_bearer_proxy(configuration="bearer-proxy-engines.yaml")
    proxied, other = scene.start_bearer_proxy()
    ways = {"handed out": (asked, Connections(port, 16, path, fields=fields)),
            "proxied": (proxied, Connections(other, 16, "/plain/1k"))}
    times = {name: [] for name in ways}
    for turn in range(8):
        for name, (serving, traffic) in ways.items():
            began = serving.cpu()
            requests_now = traffic.rounds(5 * COUNTED // 16)
            if turn > 1:
                times[name].append((serving.cpu() - began) * 1e6 / requests_now)
    for serving, traffic in ways.values():
        traffic.__exit__()
        scene.end(serving)
    middle = {name: statistics.median(values) for name, values in times.items()}
    print("CPU µs per request:", ", ".join(f"{name} {value:.1f}" for name, value in middle.items()))
    return {"allocations per token handed out, 16 connections": allocated / requests,
            "CPU of a token handed out, × a proxied request's": middle["handed out"] / middle["proxied"]}


def callers(scene):
    """What a warm caller's request costs more than one with the route's own token: heap allocations, and CPU time
    beside a listener that demands callers' tokens and one that demands none, which is sent as long a head, or a short
    one. And how much memory a caller takes."""
    token = scene.start_exchange()
    library = allocation_counter(scene)
    counts = scene.work / "allocations"
    counts.write_bytes(bytes(16))
    found = {}
    process, port = scene.start_bearer_proxy(
        {"LD_PRELOAD": str(library), "ALLOCATIONS": str(counts)}, configuration="bearer-proxy-callers.yaml")
    with open(counts, "r+b") as file, mmap.mmap(file.fileno(), 16) as shared:
        with Connections(port, 16, "/caller/1k", token) as traffic:
            traffic.rounds(WARM)
            before = struct.unpack_from("=Q", shared)[0]
            requests = traffic.rounds(COUNTED // 16)
            found["allocations per request, warm caller, 16 connections"] = (
                struct.unpack_from("=Q", shared)[0] - before) / requests
    scene.end(process)
    process, port = scene.start_bearer_proxy(configuration="bearer-proxy-callers.yaml")
    plain, other = scene.start_bearer_proxy()
    ways = {"caller": (process, port, "/caller/1k", token), "own, same listener": (process, port, "/own/1k", token),
            "own, same head": (plain, other, "/plain/1k", token), "own": (plain, other, "/plain/1k", None)}
    times = {name: [] for name in ways}
    traffics = {name: Connections(number, 16, path, bearer) for name, (_, number, path, bearer) in ways.items()}
    for turn in range(12):
        for name, (serving, _, _, _) in ways.items():
            began = serving.cpu()
            requests = traffics[name].rounds(5 * COUNTED // 16)
            if turn > 1:
                times[name].append((serving.cpu() - began) * 1e6 / requests)
    for traffic in traffics.values():
        traffic.__exit__()
    middle = {name: statistics.median(values) for name, values in times.items()}
    print("CPU µs per request:", ", ".join(f"{name} {value:.1f}" for name, value in middle.items()))
    ratios = ((name, middle["caller"] / value) for name, value in middle.items() if name != "caller")
    print("a warm caller, ×:", ", ".join(f"{name} {value:.2f}" for name, value in ratios))
    found["CPU µs more per request of a warm caller, same listener"] = middle["caller"] - middle["own, same listener"]
    found["CPU µs more per request of a warm caller, same head"] = middle["caller"] - middle["own, same head"]
    found["CPU µs more per request of a warm caller"] = middle["caller"] - middle["own"]
    scene.end(process)
    scene.end(plain)
    return found | caller_memory(scene)


def caller_memory(scene):
    """Resident KiB per caller with one loop, with the exchanged token: the difference between 1,000 and 6,000 callers.
    The first 1,000 take longer than the program keeps the text of its start, so it is not given back in between."""
    process, port = scene.start_bearer_proxy(configuration="bearer-proxy-callers.yaml")
    held = []
    for count in (1000, 5000):
        for _ in range(count):
            with Connections(port, 1, "/caller/1k", scene.caller()) as traffic:
                traffic.rounds(1)
        held.append(process.resident())
    scene.end(process)
    return {"resident KiB per caller, one loop, with its token": (held[1] - held[0]) / 1024 / 5000}


def system_calls(scene):
    """System calls per warm request on 1 and 16 connections, and by name."""
    found = {}
    process, port = scene.start_bearer_proxy()
    for connections in (1, 16):
        with Connections(port, connections, "/plain/1k") as traffic:
            traffic.rounds(WARM)
            tool, counts, requests = syscalls.during(process.child.pid, lambda: traffic.rounds(COUNTED // connections))
        frequent = sorted(counts.items(), key=lambda c: -c[1])[:6]
        names = ", ".join(f"{name} {count / requests:.2f}" for name, count in frequent)
        print(f"system calls per request, {connections} connections, by {tool}: {names}")
        if not counts:
            fail(f"{tool} counted no system call")
        found[f"system calls per request, {connections} connections"] = sum(counts.values()) / requests
    scene.end(process)
    return found


def start(scene, path, configuration="bearer-proxy.yaml"):
    """Milliseconds from exec to the whole first answer; the median of seven starts."""
    times = []
    for _ in range(7):
        process, took, _ = crash.first_answer(scene, path, configuration)
        times.append(took)
        scene.end(process)
    return statistics.median(times)


def memory(scene):
    """Resident MiB when idle after some traffic, and KiB per idle keep-alive connection that has served a request.

    The second is the difference between 200 and 1,200 such connections: the first few also bring back program text."""
    process, port = scene.start_bearer_proxy()
    with Connections(port, 1, "/plain/1k") as traffic:
        traffic.rounds(100)
    time.sleep(2)
    idle = process.resident()
    held = []
    for idle_connections in (200, 1200):
        with Connections(port, idle_connections, "/plain/1k") as traffic:
            for connection in traffic.sockets:  # one after another: no burst of busy buffers or upstream connections
                connection.sendall(traffic.request)
                answer(connection)
            time.sleep(1)
            held.append(process.resident())
    scene.end(process)
    return {
        "idle resident MiB": idle / 1048576,
        "resident KiB per idle connection": (held[1] - held[0]) / 1024 / 1000,
    }


def size(scene):
    stripped = scene.work / "stripped"
    shutil.copyfile(Scene.binary(), stripped)
    subprocess.run(["strip", stripped], check=True)
    return stripped.stat().st_size / 1048576


def main():
    parser = argparse.ArgumentParser(prog="benchmarks/counters", description=__doc__)
    parser.add_argument("--trace", action="store_true", help="print the call stacks of allocations in warm requests")
    parser.add_argument("--people", action="store_true", help="only what a cache of many people costs")
    parser.add_argument("--callers", action="store_true", help="only what callers with tokens of their own cost")
    parser.add_argument("--engines", action="store_true", help="only what a token for another proxy costs")
    arguments = parser.parse_args()
    thresholds = json.loads((HERE / "thresholds.json").read_text())
    with Scene() as scene:
        found = {}
        everything = not (arguments.people or arguments.callers or arguments.engines)
        if everything:
            found |= allocations(scene, arguments.trace) | system_calls(scene)
            found |= allocations(scene, arguments.trace, ["plain"], ", traced, not sampled", UNSAMPLED)
        if everything or arguments.callers:
            found |= callers(scene)
        if everything or arguments.engines:
            found |= handed_out(scene)
        if everything:
            found["ms from start to first answer, no token"] = start(scene, "/open/1k")
            found["ms from start to first answer, token requested"] = start(scene, "/plain/1k")
            found |= crash.after_kill(scene)
            found |= memory(scene)
            found["stripped binary MiB"] = size(scene)
        if everything or arguments.people:
            found |= people.caches(scene)
            found |= people.start(scene, start)
            found |= people.rewriting(scene)
            found |= people.storm(scene)
    exceeded = [name for name in found if found[name] > thresholds[name]]
    print(f"\n{'counter':62} {'found':>10} {'at most':>10}")
    for name, value in found.items():
        print(f"{name:62} {value:10.3f} {thresholds[name]:10g}{'  EXCEEDED' if name in exceeded else ''}")
    if exceeded:
        sys.exit(1)


if __name__ == "__main__":
    main()
