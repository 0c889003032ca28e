"""What a crash costs: kill -9, the next start, and the first answer with the token that the cache's file holds."""

import os
import socket
import statistics
import time

from people import TokenEndpoint
from processes import fail
from traffic import answer

ROUNDS = 7


def processor_time(process):
    """Nanoseconds that the threads of a process have run."""
    total = 0
    for task in os.listdir(f"/proc/{process}/task"):
        with open(f"/proc/{process}/task/{task}/schedstat") as file:
            total += int(file.read().split()[0])
    return total


def first_answer(scene, path, configuration):
    """Starts bearer-proxy. The process, and milliseconds from exec to the whole first response: wall and CPU time."""
    began = time.monotonic()
    process, port = scene.start_bearer_proxy(wait=False, configuration=configuration)
    while True:
        try:
            connection = socket.create_connection(("127.0.0.1", port), 5)
            break
        except ConnectionRefusedError:
            if process.child.poll() is not None or time.monotonic() - began > 10:
                fail(f"bearer-proxy did not start: {process.errors()}")
            time.sleep(0.0005)
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
    answer(connection)
    took = (time.monotonic() - began) * 1000
    connection.close()
    return process, took, processor_time(process.child.pid) / 1e6


def after_kill(scene):
    """Token requests and milliseconds of the starts after a kill -9."""
    provider = TokenEndpoint()
    folder = scene.work / "crash"
    folder.mkdir(mode=0o700)
    scene.values.update(CACHE=folder / "cache.json", ISSUER=provider.issuer)
    process, *_ = first_answer(scene, "/plain/1k", "crash.yaml")
    asked = provider.requests
    if asked == 0:
        fail("the first start asked for no token: nothing would be proved")
    end = time.monotonic() + 10
    while not scene.values["CACHE"].exists():  # written behind the first answer
        if time.monotonic() > end:
            fail(f"nothing was written to the cache: {process.errors()}")
        time.sleep(0.005)
    wall, processor = [], []
    for _ in range(ROUNDS):
        process.child.kill()
        process.child.wait()
        scene.end(process)
        process, took, ran = first_answer(scene, "/plain/1k", "crash.yaml")
        wall.append(took)
        processor.append(ran)
    scene.end(process)
    return {
        "ms from start to first answer, after kill -9": statistics.median(wall),
        "CPU ms from start to first answer, after kill -9": statistics.median(processor),
        "token requests after kill -9": provider.requests - asked,
    }
