#!/usr/bin/env python3
"""Callers that go on until a program has ended.

    busy_callers.py PORT CALLERS PATH[,PATH...] COMMAND...

Runs COMMAND. Until it ends, and for two rounds more, CALLERS connections to PORT of 127.0.0.1 ask for the paths in
turn. Prints a JSON object: `statuses`, how often each path got which status; `output` and `status` of COMMAND.
"""

import collections
import http.client
import json
import subprocess
import sys
import threading
import time


def main():
    port, callers, paths, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3].split(","), sys.argv[4:]
    statuses = {path: collections.Counter() for path in paths}
    lock, over = threading.Lock(), threading.Event()

    def call(number):
        rounds, own = 2, {path: collections.Counter() for path in paths}
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        while rounds:
            rounds -= over.is_set()
            for path in paths:
                try:
                    connection.request("GET", path)
                    response = connection.getresponse()
                    response.read()
                    own[path][str(response.status)] += 1
                except (OSError, http.client.HTTPException) as error:
                    own[path][type(error).__name__] += 1
                    connection.close()
                # As callers do that have something else to do, too.
                time.sleep(0.02)
        with lock:
            for path in paths:
                statuses[path] += own[path]

    threads = [threading.Thread(target=call, args=(number,)) for number in range(callers)]
    for thread in threads:
        thread.start()
    done = subprocess.run(command, capture_output=True, text=True)
    over.set()
    for thread in threads:
        thread.join()
    print(json.dumps({"statuses": statuses, "output": done.stdout + done.stderr, "status": done.returncode}))


if __name__ == "__main__":
    main()
