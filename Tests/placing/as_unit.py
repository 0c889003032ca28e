"""Runs a program under those restrictions of a systemd unit that are filters of system calls, without systemd.

    as_unit.py UNIT PROGRAM [ARGUMENTS]

SystemCallFilter, SystemCallErrorNumber, RestrictAddressFamilies and MemoryDenyWriteExecute; the sets behind names such
as @system-service are those of this machine's systemd. Needs Debian's packages python3-seccomp and systemd.
"""

import errno
import os
import socket
import subprocess
import sys

import seccomp

PROT_WRITE_EXEC = 2 | 4


def settings(unit: str) -> dict[str, list[str]]:
    """The [Service] section: every value of a setting that may be repeated."""
    found: dict[str, list[str]] = {}
    section = ""
    for line in open(unit, encoding="utf-8"):
        line = line.strip()
        if line.startswith("["):
            section = line
        elif section == "[Service]" and "=" in line and line[0] not in "#;":
            name, value = line.split("=", 1)
            found.setdefault(name, []).append(value)
    return found


def members(word: str) -> set[str]:
    """A system call, or those of a set."""
    if not word.startswith("@"):
        return {word}
    listed = subprocess.run(
        ["systemd-analyze", "syscall-filter", word], check=True, capture_output=True, text=True
    ).stdout
    words = [line.strip() for line in listed.splitlines()[1:] if line.strip() and line.strip()[0] != "#"]
    return set().union(*map(members, words))


def allowed_calls(filters: list[str]) -> set[str]:
    allowed: set[str] = set()
    for value in filters:
        calls = set().union(*map(members, value.lstrip("~").split()))
        allowed = allowed - calls if value.startswith("~") else allowed | calls
    return allowed


def main() -> None:
    unit, program = sys.argv[1], sys.argv[2:]
    service = settings(unit)
    denial = seccomp.ERRNO(getattr(errno, service["SystemCallErrorNumber"][0]))
    calls = seccomp.SyscallFilter(defaction=denial)
    allowed = allowed_calls(service["SystemCallFilter"])
    families = {int(getattr(socket, name)) for name in service["RestrictAddressFamilies"][0].split()}
    for name in sorted(allowed):
        try:
            number = seccomp.resolve_syscall(seccomp.Arch(), name)
        except RuntimeError:
            continue  # Not a call of this architecture, or newer than the library.
        if number < 0:
            continue
        if name == "socket":
            for family in families:
                calls.add_rule(seccomp.ALLOW, name, seccomp.Arg(0, seccomp.EQ, family))
        elif name in ("mmap", "mprotect", "pkey_mprotect") and service.get("MemoryDenyWriteExecute") == ["yes"]:
            # As systemd has it: no mapping that is both, and none that becomes executable later.
            forbidden = PROT_WRITE_EXEC if name == "mmap" else 4
            for bits in range(0, 8):
                if bits & forbidden != forbidden:
                    calls.add_rule(seccomp.ALLOW, name, seccomp.Arg(2, seccomp.MASKED_EQ, 7, bits))
        else:
            calls.add_rule(seccomp.ALLOW, name)
    calls.load()
    os.execv(program[0], program)


if __name__ == "__main__":
    main()
