#!/usr/bin/env python3
"""What an audit costs the controller: knowngood beside bare asyncssh, pyinfra's stock facts and Ansible.

Boots one real systemd node that answers at N loopback addresses, and lets each tool audit the same unit
there: four files, a serve script with ten knobs and ten flags, the unit's directives, the running process.
All tools run in turns, in one go; the numbers are medians. Needs root on Linux. See README.md here.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import audit_node
import audit_tools
import measure
import table
import tools_venv
from audit_tools import Answer, Site, Tool
from measure import Cost

SLOW = 60.0  # seconds: what takes longer is not repeated
Costs = dict[tuple[str, int], list[Cost]]  # by tool and number of hosts


def main() -> None:
    options = _options()
    audit_node.prepare()
    tools_venv.move_in()
    audit_node.enter_own_network()
    machine = table.machine()
    chosen = [tool for tool in audit_tools.tools(options.ansible_upto) if tool.key in options.tools]
    with tempfile.TemporaryDirectory(prefix="kg-audit-") as scratch:
        keys = audit_node.Keys.make(Path(scratch))
        with audit_node.booted(Path(scratch), keys) as node:
            exchanges = check_answers(chosen, node, Path(scratch), keys)
            sites = {
                count: Site.write(
                    Path(scratch, f"{count}"), audit_node.addresses(count), audit_node.PORT, keys
                )
                for count in options.hosts
            }
            costs = measure_all(chosen, sites, options.repeats)
    _show(chosen, options.hosts, exchanges, costs)
    targets = judge(costs)
    met = table.show_targets(targets)
    if options.json:
        table.write_json(
            options.json, {"machine": machine, "key_exchange": exchanges, "audits": _as_rows(costs)}, targets
        )
    sys.exit(1 if options.check and not met else 0)


def _options() -> argparse.Namespace:
    keys = [tool.key for tool in audit_tools.tools(0)]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--hosts", type=_numbers, default=[1, 10, 50, 200, 500], metavar="N,…", help="%(default)s")
    add("--repeats", type=int, default=3, help=f"of each run that takes under {SLOW:.0f} s (%(default)s)")
    add("--ansible-upto", type=int, default=200, metavar="N", help="most hosts for Ansible (%(default)s)")
    add("--tools", type=lambda text: text.split(","), default=keys, help=",".join(keys))
    add("--json", type=Path, metavar="FILE", help="write all numbers there too")
    add("--check", action="store_true", help="exit 1 when a target is missed")
    return parser.parse_args()


def _numbers(text: str) -> list[int]:
    return sorted(int(number) for number in text.split(","))


# --- Measuring ------------------------------------------------------------------------------------------


def check_answers(
    chosen: Sequence[Tool], node: audit_node.Node, scratch: Path, keys: audit_node.Keys
) -> dict[str, str]:
    """Prove that each tool answers, sees a clean host as clean and an edited knob as drift.

    Returns each tool's key exchange, as the host's sshd logged it.
    """
    site = Site.write(scratch / "check", audit_node.addresses(1), audit_node.TELLTALE_PORT, keys)
    exchanges = {}
    for tool in chosen:
        audit(tool, site, drifted=0)
        exchanges[tool.key] = ", ".join(node.key_exchanges())
    node.edit_script("CTAS=512", "CTAS=256")
    for tool in chosen:
        audit(tool, site, drifted=1)
    node.edit_script("CTAS=256", "CTAS=512")
    node.restart()
    return exchanges


def measure_all(chosen: Sequence[Tool], sites: dict[int, Site], repeats: int) -> Costs:
    """Every tool on every site, in turns; who goes first changes with each round."""
    costs: Costs = {}
    for count, site in sites.items():
        able = [tool for tool in chosen if count <= tool.upto]
        for turn in range(repeats):
            shift = turn % len(able) if able else 0
            for tool in able[shift:] + able[:shift]:
                runs = costs.setdefault((tool.key, count), [])
                if runs and runs[0].wall > SLOW:
                    continue
                print(f"  {tool.name} · {count} hosts · run {turn + 1}", end=" ", file=sys.stderr, flush=True)
                runs.append(audit(tool, site, drifted=0))
                print(f"· {runs[-1].wall:.1f} s", file=sys.stderr)
    return costs


def audit(tool: Tool, site: Site, drifted: int) -> Cost:
    """One run, measured; SystemExit when it did not have all hosts' answers, or other ones than the truth."""
    cost = measure.run(tool.argv(site), cwd=site.folder, env=tool.env(site), timeout=1200)
    try:
        answer = tool.read(cost.output)
    except (ValueError, LookupError):
        answer = Answer(0, None)  # it said nothing of the kind that it should; shown below
    if answer.answered != len(site.hosts) or answer.drifted not in (None, drifted):
        told = answer.reasons or (cost.output + cost.errors).splitlines()
        raise SystemExit(
            "\n".join(told[-30:]) + f"\n{tool.name}: {answer.answered} of {len(site.hosts)} hosts answered, "
            f"{answer.drifted} drift where {drifted} do (exit {cost.exit_code})"
        )
    return cost


# --- Telling ----------------------------------------------------------------------------------------------


def marginal_cpu(costs: Costs, key: str, few: int = 50, many: int = 200) -> float | None:
    """CPU seconds that one more host costs: the slope between two sizes; None where one was not measured."""
    if (key, few) not in costs or (key, many) not in costs:
        return None
    return (measure.middle(costs[key, many]).cpu - measure.middle(costs[key, few]).cpu) / (many - few)


def judge(costs: Costs) -> list[table.Target]:
    """The targets that these numbers can answer."""

    def cost(key: str, count: int) -> Cost | None:
        return measure.middle(costs[key, count]) if (key, count) in costs else None

    targets = []
    ours, bare, ansible = (marginal_cpu(costs, key) for key in ("knowngood", "asyncssh", "ansible"))
    if ours and ansible:
        what = "CPU of one more host, Ansible's over ours"
        targets.append(table.Target(what, ansible / ours, 35, "×", at_least=True))
    if ours and bare:
        targets.append(table.Target("CPU of one more host, ours over asyncssh's", ours / bare, 2, "×"))
    if (mine := cost("knowngood", 50)) and (theirs := cost("ansible", 50)):
        what = "CPU of a whole run at 50 hosts, Ansible's over ours"
        targets.append(table.Target(what, theirs.cpu / mine.cpu, 12, "×", at_least=True))
    if (mine := cost("knowngood", 200)) and (theirs := cost("asyncssh", 200)):
        what = "wall at 200 hosts, ours over asyncssh's"
        targets.append(table.Target(what, mine.wall / theirs.wall, 1.6, "×"))
    if mine := cost("knowngood", 500):
        targets.append(table.Target("peak memory at 500 hosts", mine.peak / 1e6, 120, " MB"))
    return targets


def _show(chosen: Sequence[Tool], counts: Sequence[int], exchanges: dict[str, str], costs: Costs) -> None:
    table.show("key exchange", ["", "negotiated"], [[tool.name, exchanges[tool.key]] for tool in chosen])
    for count in counts:
        able = [tool for tool in chosen if (tool.key, count) in costs]
        rows = [_row(tool.name, costs[tool.key, count], count, costs) for tool in able]
        table.show(f"{count} host{'s' * (count > 1)}", COLUMNS, rows)
    slopes = [(tool.name, marginal_cpu(costs, tool.key)) for tool in chosen]
    ours = marginal_cpu(costs, "knowngood")
    rows = [[name, slope * 1000, slope / ours if ours else None] for name, slope in slopes if slope]
    if rows:
        table.show("one more host (slope from 50 to 200)", ["", "CPU ms", "÷ ours"], rows)


COLUMNS = [
    *("tool", "wall s", "wall ms/host", "CPU s", "CPU ms/host", "peak MB"),
    *("CPU ÷ ours", "wall ÷ ours", "runs"),
]


def _row(name: str, runs: Sequence[Cost], count: int, costs: Costs) -> list[object]:
    cost = measure.middle(runs)
    ours = measure.middle(costs["knowngood", count]) if ("knowngood", count) in costs else None
    return [
        name,
        cost.wall,
        cost.wall / count * 1000,
        cost.cpu,
        cost.cpu / count * 1000,
        cost.peak / 1e6,
        cost.cpu / ours.cpu if ours else None,
        cost.wall / ours.wall if ours else None,
        len(runs),
    ]


def _as_rows(costs: Costs) -> list[dict[str, object]]:
    keep = ("wall", "cpu", "peak")
    return [
        {"tool": key, "hosts": count, "runs": [{name: asdict(run)[name] for name in keep} for run in runs]}
        for (key, count), runs in costs.items()
    ]


if __name__ == "__main__":
    main()
