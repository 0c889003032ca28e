"""benchmarks/run --engines: what it costs nginx, HAProxy and Envoy to ask for each request's token, beside the same
engine with the token in its own configuration. The parts are those that `bearer-proxy engine` prints. The same parts
also ask an nginx that gives every question one answer, without a look at it: the least that a question costs."""

import argparse
import statistics
import subprocess

from load import burst
from processes import fail, free_ports
from scene import ROOT, Scene

ALONE = {"nginx": Scene.start_nginx, "haproxy": Scene.start_haproxy, "envoy": Scene.start_envoy}
NGINX = """
{user}
worker_processes 1;
pid {work}/{name}.pid;
error_log {work}/{name}.err crit;
events {{ worker_connections 4096; }}
http {{
  access_log off;
  client_body_temp_path {work}/{name}-body;
  proxy_temp_path {work}/{name}-proxy;
  fastcgi_temp_path {work}/{name}-fcgi;
  uwsgi_temp_path {work}/{name}-uwsgi;
  scgi_temp_path {work}/{name}-scgi;
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


def start_nginx(scene, name, part):
    file = scene.work / name
    file.write_text(NGINX.format(work=scene.work, name=name, user=scene.values["USER"], part=part))
    return scene.spawn(name, ["nginx", "-p", scene.work, "-e", f"{file}.err", "-g", "daemon off;", "-c", file])


def start_static(scene):
    """An nginx whose only answer is 200 with the token, on a unix socket."""
    [port] = free_ports(1)
    process = start_nginx(scene, "static", f"""server {{
    listen 127.0.0.1:{port};
    listen unix:{scene.work}/static.sock;
    location / {{ add_header Authorization "Bearer {scene.values["TOKEN"]}"; return 200; }}
  }}""")
    process.wait(port)
    return process


def start_asking(scene, name, configuration, source="tokens"):
    """The engine with what bearer-proxy prints for it, which asks at a socket; its process and port."""

    def part(engine):
        text = subprocess.run(
            [scene.binary(), "engine", engine, "-c", configuration], check=True, capture_output=True, text=True).stdout
        return text.replace(f"{scene.work}/tokens.sock", f"{scene.work}/{source}.sock")

    [port] = free_ports(1)
    text, file = part(name), scene.work / f"asking-{source}-{name}"
    if name == "nginx":
        process = start_nginx(scene, file.name, text.replace("127.0.0.1:8000", f"127.0.0.1:{port}"))
        process.wait(port)
        return process, port
    if name == "haproxy":
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
    process = scene.spawn(file.stem, command)
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
        static, ways = start_static(scene), {}
        for name in engines:
            ways[name, "alone"] = ALONE[name](scene)
            engine, port = start_asking(scene, name, configuration)
            ways[name, "asking"] = Both(engine, source), port
            engine, port = start_asking(scene, name, configuration, "static")
            ways[name, "static"] = Both(engine, static), port
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

    print(f"\n1 KiB, {arguments.connections} connections, medians of {arguments.rounds} rounds. CPU of `asking` and\n"
          "`static` is the engine's and that of bearer-proxy or the static answer together.\n")
    print("| engine | CPU µs/request alone | asking | static | p50 alone | asking | static |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name in engines:
        cpu = [f"{middle((name, way), 'cpu'):.1f}" for way in ("alone", "asking", "static")]
        p50 = [f"{middle((name, way), 'p50'):.0f} µs" for way in ("alone", "asking", "static")]
        print(f"| {' | '.join([name] + cpu + p50)} |")


if __name__ == "__main__":
    main()
