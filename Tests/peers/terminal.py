#!/usr/bin/env python3
"""A person at a terminal: runs a command on a pseudo-terminal and types a line when it asks.

    terminal.py --output FILE --when TEXT --answer LINE -- COMMAND…

What the command shows goes to FILE as it comes. Ends with the command's status. Only the standard library is used.
"""

import argparse
import os
import pty
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", required=True)
    parser.add_argument("--when", required=True)
    parser.add_argument("--answer", required=True)
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    process, terminal = pty.fork()
    if process == 0:
        os.execvp(options.command[0], options.command)
    shown, answered = b"", False
    with open(options.output, "wb", buffering=0) as output:
        while True:
            try:
                part = os.read(terminal, 4096)
            except OSError:
                break
            if not part:
                break
            output.write(part)
            shown += part
            if not answered and options.when.encode() in shown:
                os.write(terminal, options.answer.encode() + b"\n")
                answered = True
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))


if __name__ == "__main__":
    main()
