"""benchmarks/run --http2: CPU time per stream of HTTP/2 beside nginx, HAProxy and Envoy. Use --help for the options.

h2load makes the streams on one connection, 1 or 64 at once. From callers: HTTP/2 to the proxy and HTTP/1.1 to the
origin. To upstreams: HTTP/2 on both sides, to nghttpd. gRPC: the same with a POST of a message, and trailers.
"""

import argparse
import re
import statistics
import subprocess

from matrix import PEERS, versions
from processes import fail
from scene import Scene

MESSAGE = b"\0\0\0\x04\0" + b"x" * 1024
# What is measured, the path, and the peers that cannot do it.
WAYS = [
    ("from callers", "plain", "1k", ()), ("from callers", "plain", "64k", ()),
    # nginx before 1.29.4 has HTTP/2 to upstreams for gRPC alone.
    ("to upstreams", "h2", "1k", ("nginx",)), ("to upstreams", "h2", "64k", ("nginx",)), ("gRPC unary", "h2", "1k", ()),
]


def load(peer, port, way, upstream, size, streams, count, message):
    """The CPU time of `count` streams, in microseconds each."""
    process, url = peer, f"http://127.0.0.1:{port}/{upstream}/{size}"
    call = []
    if way == "gRPC unary":
        call = ["-d", message, "-H", "content-type: application/grpc", "-H", "te: trailers"]
    before = process.cpu()
    run = subprocess.run(
        ["h2load", "-n", str(count), "-c", "1", "-m", str(streams), *call, url], capture_output=True, text=True)
    if not re.search(rf"{count} succeeded, 0 failed, 0 errored", run.stdout):
        fail(f"{process.name} did not serve all of {url}: {run.stdout}{run.stderr}")
    if not re.search(rf"status codes: {count} 2xx", run.stdout):
        fail(f"{process.name} did not answer all of {url} with 200: {run.stdout}")
    return (process.cpu() - before) * 1e6 / count


def main():
    parser = argparse.ArgumentParser(prog="benchmarks/run --http2", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--count", type=int, default=20000, help="streams of a measurement")
    parser.add_argument("--peers", default="bearer-proxy,nginx,haproxy,envoy")
    arguments = parser.parse_args()
    peers = arguments.peers.split(",")
    cells = [(*way, streams) for way in WAYS for streams in (1, 64)]
    found = {cell: {} for cell in cells}
    with Scene() as scene:
        scene.start_http2()
        message = scene.work / "message"
        message.write_bytes(MESSAGE)
        running = {name: PEERS[name](scene) for name in peers}
        for turn in range(arguments.rounds + 1):
            for cell in cells:
                way, upstream, size, without, streams = cell
                for name in peers[turn % len(peers):] + peers[:turn % len(peers)]:
                    if name in without:
                        continue
                    process, port = running[name]
                    # The first round warms up.
                    count = arguments.count if turn else max(arguments.count // 10, 100)
                    took = load(process, port, way, upstream, size, streams, count, message)
                    if turn:
                        found[cell].setdefault(name, []).append(took)
    print(f"CPU µs per stream, median of {arguments.rounds} rounds of {arguments.count}; {', '.join(versions(peers))}")
    print("\n| way | size | streams | " + " | ".join(peers) + " |\n|---|---|---|" + "---|" * len(peers))
    for (way, _, size, _, streams), each in found.items():
        own = statistics.median(each[peers[0]])
        words = [f"{statistics.median(each[n]):.1f} (× {statistics.median(each[n]) / own:.2f})" if n in each else "–"
                 for n in peers]
        print(f"| {way} | {size} | {streams} | " + " | ".join(words) + " |")


if __name__ == "__main__":
    main()
