"""Turns measured bursts into Markdown: one table per response size, connection count and upstream, with ratios."""

import datetime
import os
import pathlib
import platform
import re
import textwrap
from statistics import median

HERE = pathlib.Path(__file__).resolve().parent
RESULTS, COUNTERS, NUMBERS = "results", "counters", "numbers"
# The tables that the repository's README repeats side by side, and which of their columns.
SHOWN, COLUMNS = "### 1 KiB, 64 connections, ", ["CPU µs/request", "× nginx", "p50"]
UPSTREAMS = {"plain": "plain upstream", "tls": "TLS upstream"}
SIZES = {"1k": "1 KiB", "64k": "64 KiB", "1m": "1 MiB"}


def machine():
    with open("/proc/cpuinfo") as file:
        model = re.search(r"model name\s*:\s*(.+)", file.read())
    with open("/proc/meminfo") as file:
        memory = int(re.search(r"MemTotal:\s+(\d+)", file.read())[1]) / 1048576
    name = model[1].strip() if model else platform.machine()
    kernel = ".".join(re.findall(r"\d+", platform.release())[:3])
    return f"{os.cpu_count()} cores ({name}), {memory:.0f} GiB, Linux {kernel}"


def ratio(bursts, others):
    """The median of the ratios of CPU per request, round by round: noise that both met cancels."""
    pairs = [(a.cpu, b.cpu) for a, b in zip(bursts, others) if b.cpu > 0]
    return f"{median(a / b for a, b in pairs):.2f}" if pairs else "–"


def micro(value):
    return f"{value / 1000:.2f} ms" if value >= 1000 else f"{value:.0f} µs"


def table(cell, peers):
    """One table; `peers` maps a peer's name to its bursts, in the order to print."""
    upstream, size, connections = cell
    lines = [
        f"### {SIZES[size]}, {connections} connection{'s' if connections > 1 else ''}, {UPSTREAMS[upstream]}",
        "",
        "| peer | requests/s | CPU µs/request | of it user | × nginx | × floor | p50 | p99 | RSS MiB |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name, bursts in peers.items():
        row = [
            name,
            f"{median(b.rate for b in bursts):,.0f}",
            f"{median(b.cpu for b in bursts):.1f}",
            # The kernel divides by samples, a hundred in a second: only the sum of all rounds says something.
            f"{sum(b.user for b in bursts) / len(bursts):.1f}",
            ratio(bursts, peers.get("nginx", [])),
            ratio(bursts, peers.get("floor", [])),
            micro(median(b.p50 for b in bursts)),
            micro(median(b.p99 for b in bursts)),
            f"{max(b.resident for b in bursts) / 1048576:.1f}",
        ]
        lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines) + "\n"


def document(results, versions, rounds, seconds, load):
    """The whole results section; `results` maps a cell to a table's `peers`, `load` is the load
    average before the run."""
    today = datetime.date.today().isoformat()
    measured = (
        f"Measured {today} on {machine()}; load generator, origin and proxy share the cores. "
        f"Medians of {rounds} interleaved round{'s' if rounds > 1 else ''} of {seconds} s; "
        f"ratios are of CPU per request, taken round by round. Load average of the machine before the run: {load:.1f}"
        f"{' (other work was going on: latencies and rates suffer most)' if load > 1 else ''}."
    )
    parts = [textwrap.fill(measured, 120) + "\n", "Versions: " + ", ".join(versions) + ".\n"]
    return "\n".join(parts + [table(cell, peers) for cell, peers in results.items()])


def section(text, name):
    """What stands between the markers of a page: the text before it, it, and the text after it."""
    before, rest = text.split(f"<!-- {name}: begin -->\n")
    found, after = rest.split(f"<!-- {name}: end -->")
    return before + f"<!-- {name}: begin -->\n", found, f"<!-- {name}: end -->" + after


def replace(path, name, text):
    before, _, after = section(path.read_text(), name)
    path.write_text(before + text + after)


def numbers(page):
    """The numbers that the repository's README repeats from this directory's."""
    results = section(page, RESULTS)[1]
    date = re.search(r"Measured (\S+)", results)[1]
    plain, tls = (_rows(results, SHOWN + upstream) for upstream in UPSTREAMS.values())
    shown = [["peer"] + ["plain: " + name for name in COLUMNS] + ["TLS: " + name for name in COLUMNS],
             ["---"] + ["---:"] * 6]
    shown += [[peer, *plain[peer], *tls[peer]] for peer in plain if peer in tls]
    return "\n".join([
        f"1 KiB, 64 connections, plain and TLS upstream, each proxy with one thread, of {date}:", "",
        *("| " + " | ".join(row) + " |" for row in shown), "",
        section(page, COUNTERS)[1]])


def _rows(results, heading):
    """The shown columns of a table, by peer."""
    rows = []
    for line in results.split(heading + "\n", 1)[1].strip().splitlines():
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return {row[0]: [row[rows[0].index(name)] for name in COLUMNS] for row in rows[2:]}


def write(text):
    """Replaces the results in this directory's README and, if they were measured, the numbers in the repository's."""
    replace(HERE / "README.md", RESULTS, text)
    if all(SHOWN + upstream in text for upstream in UPSTREAMS.values()):
        replace(HERE.parent / "README.md", NUMBERS, numbers((HERE / "README.md").read_text()))
