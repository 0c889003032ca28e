"""benchmarks/run --engines: what it costs nginx, HAProxy and Envoy to ask for each request's token, beside the same
engine with the token in its own configuration. The parts are those that `bearer-proxy engine` prints."""

import argparse
import statistics
import subprocess

from load import burst
from processes import fail, free_ports
from scene import ROOT, Scene

ALONE = {"nginx": Scene.start_nginx, "haproxy": Scene.start_haproxy, "envoy": Scene.start_envoy}
NGINX = """
%s
worker_processes 1;
pid {work}/engine.pid;
error_log {work}/engine.err crit;
events {{ worker_connections 4096; }}
http {{
  access_log off;
  client_body_temp_path {work}/engine-body;
  proxy_temp_path {work}/engine-proxy;
  fastcgi_temp_path {work}/engine-fcgi;
  uwsgi_temp_path {work}/engine-uwsgi;
  scgi_temp_path {work}/engine-scgi;
  keepalive_requests 100000000;
  {part}
}}
"""


class Both:
    """An engine and the proxy that it asks, as one process of the measurement."""

    def __init__(self, *processes):
        self.processes = processes

    def times(self):
        return tuple(map(sum, zip(*(process.times() for process in self.processes))))

    def resident(self):
        return sum(process.resident() for process in self.processes)


def start_asking(scene, name, configuration):
    """The engine with what bearer-proxy prints for it; its process and port."""

    def part(engine):
        return subprocess.run(
            [scene.binary(), "engine", engine, "-c", configuration], check=True, capture_output=True, text=True).stdout

    [port] = free_ports(1)
    text, file = part(name), scene.work / f"asking-{name}"
    if name == "nginx":
        text = NGINX.format(work=scene.work, part=text.replace("127.0.0.1:8000", f"127.0.0.1:{port}"))
        text = text.replace("%s", str(scene.values["USER"]))
        command = ["nginx", "-p", scene.work, "-e", scene.work / "asking.err", "-g", "daemon off;", "-c", file]
    elif name == "haproxy":
        script = scene.work / "bearer.lua"
        script.write_text(part("haproxy-lua"))
        text = text.replace("/etc/haproxy/bearer.lua", str(script)).replace("127.0.0.1:8000", f"127.0.0.1:{port}")
        text = text.replace("global\n", "global\n  nbthread 1\n  maxconn 4096\n")
        command = ["haproxy", "-db", "-f", file]
    else:
        text = text.replace("port_value: 8000", f"port_value: {port}")
        file = file.with_suffix(".yaml")
        [envoy] = (ROOT / ".venv-benchmarks").glob("lib/python*/site-packages/envoy/_bin/envoy")
        command = [envoy, "--concurrency", 1, "-l", "error", "--disable-hot-restart", "-c", file]
    file.write_text(text)
    process = scene.spawn(f"asking-{name}", command)
    process.wait(port)
    return process, port


def main():
    parser = argparse.ArgumentParser(prog="benchmarks/run --engines", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=2, help="of each measured burst")
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--engines", default=",".join(ALONE))
    arguments = parser.parse_args()
    engines = arguments.engines.split(",")
    if unknown := set(engines) - set(ALONE):
        fail(f"no engine {', '.join(unknown)}")
    with Scene() as scene:
        source, _ = scene.start_bearer_proxy(configuration="bearer-proxy-engines.yaml")
        configuration = scene.work / f"{scene.rendered}-bearer-proxy-engines.yaml"
        ways = {}
        for name in engines:
            ways[name, "alone"] = ALONE[name](scene)
            engine, port = start_asking(scene, name, configuration)
            ways[name, "asking"] = Both(engine, source), port
        found = {way: [] for way in ways}
        for turn in range(arguments.rounds):
            order = list(ways)
            for way in order[turn % len(order):] + order[:turn % len(order)]:
                process, port = ways[way]
                url = f"http://127.0.0.1:{port}/plain/1k"
                found[way].append(burst(" ".join(way), process, url, arguments.connections, arguments.seconds))
            print(f"round {turn + 1} of {arguments.rounds} done", flush=True)

    def middle(way, value):
        return statistics.median(getattr(one, value) for one in found[way])

    print(f"\n1 KiB, {arguments.connections} connections, medians of {arguments.rounds} rounds. CPU of `asking` is\n"
          "the engine's and bearer-proxy's together.\n")
    print("| engine | CPU µs/request alone | asking | added | p50 alone | asking | added |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name in engines:
        cpu = [middle((name, way), "cpu") for way in ("alone", "asking")]
        p50 = [middle((name, way), "p50") for way in ("alone", "asking")]
        print(f"| {name} | {cpu[0]:.1f} | {cpu[1]:.1f} | {cpu[1] - cpu[0]:.1f} | {p50[0]:.0f} µs | {p50[1]:.0f} µs | "
              f"{p50[1] - p50[0]:.0f} µs |")


if __name__ == "__main__":
    main()
