"""One wave, from its locks to its end: each instance's nodes pass together or go back together."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from knowngood.rollout.crew import Crew, Done, Failed, Lost, Nodes, Outcome, Outcomes, Refused
from knowngood.rollout.events import End, Event, NodeEnded, StepBegan, StepEnded
from knowngood.rollout.plan import NodePlan

Instance = tuple[NodePlan, ...]
_LEFT = "its switch is armed: it restores its former state by itself unless it was confirmed"


@dataclass(slots=True)
class WaveRun:
    """`ends` and `failures` are filled as the wave goes on; `refusal` is why none of it was begun."""

    crew: Crew
    instances: Sequence[Instance]
    interrupted: Callable[[], bool]
    hooks: tuple[bool, bool]  # whether there is a before_restart, an after_healthy
    force: bool = False
    restarts: bool = True
    ends: dict[str, NodeEnded] = field(default_factory=dict)
    failures: set[str] = field(default_factory=set)
    drained: dict[str, NodePlan] = field(default_factory=dict)
    touched: set[str] = field(default_factory=set)
    refusal: str = ""

    def run(self) -> Iterator[Event]:
        """All of it. Every node of the wave has an end afterwards, whatever its crew says."""
        locked = yield from self._lock()
        if self.refusal:
            yield from self._end_all(self.instances, End.UNTOUCHED, self.refusal)
        else:
            yield from self._change(locked)
        yield from self._undrain()
        if nodes := [node for instance in locked for node in instance]:
            yield from self._step("unlock", nodes)

    def abandon(self) -> Iterator[Event]:
        """Nobody follows any longer: what was begun ends by itself, on the node."""
        for instance in self.instances:
            for node in instance:
                if node.host in self.ends:
                    continue
                if node.host in self.touched:
                    yield self._end(node, End.LEFT, f"not followed to its end: {_LEFT}")
                else:
                    yield self._end(node, End.UNTOUCHED, "interrupted")

    def _change(self, locked: list[Instance]) -> Iterator[Event]:
        steps = [*(() if self.force else ("check",)), "stage"]
        going = locked
        for step in steps:
            if (yield from self._stop_if_interrupted(going)):
                return
            going = yield from self._untouched_unless_done(step, going)
        if (yield from self._stop_if_interrupted(going)):
            return
        going = yield from self._drain(going)
        if (yield from self._stop_if_interrupted(going)):
            return
        yield from self._activate(going)

    def _lock(self) -> Generator[Event, None, list[Instance]]:
        """All locks of the wave, or none; a node out of reach costs its instance alone."""
        nodes = [node for instance in self.instances for node in instance]
        outcomes = yield from self._step("lock", nodes)
        held = [f"{host}: {each.reason}" for host, each in outcomes.items() if isinstance(each, Failed)]
        if held:
            self.refusal = "; ".join(held)
            return [tuple(n for n in i if isinstance(outcomes[n.host], Done)) for i in self.instances]
        away = [i for i in self.instances if any(isinstance(outcomes[n.host], Lost) for n in i)]
        for instance in away:
            reached = [node for node in instance if isinstance(outcomes[node.host], Done)]
            if reached:
                yield from self._step("unlock", reached)
        yield from self._fail_untouched(away, outcomes)
        return [instance for instance in self.instances if instance not in away]

    def _untouched_unless_done(
        self, step: str, going: list[Instance]
    ) -> Generator[Event, None, list[Instance]]:
        outcomes = yield from self._step(step, [node for instance in going for node in instance])
        bad = [i for i in going if not all(isinstance(outcomes[n.host], Done) for n in i)]
        yield from self._fail_untouched(bad, outcomes)
        return [instance for instance in going if instance not in bad]

    def _drain(self, going: list[Instance]) -> Generator[Event, None, list[Instance]]:
        if not self.hooks[0] or not self.restarts:
            return going
        nodes = [node for instance in going for node in instance if node.restart or node.start]
        self.drained |= {node.host: node for node in nodes}
        if not nodes:
            return going
        outcomes: dict[str, Outcome] = {n.host: Done() for i in going for n in i}
        outcomes |= yield from self._step("drain", nodes)
        bad = [i for i in going if not all(isinstance(outcomes[n.host], Done) for n in i)]
        yield from self._fail_untouched(bad, outcomes)
        return [instance for instance in going if instance not in bad]

    def _activate(self, going: list[Instance]) -> Iterator[Event]:
        """From here on the wave goes to its end: what is armed is confirmed or taken back."""
        nodes = [node for instance in going for node in instance]
        if not nodes:
            return
        self.touched |= {node.host for node in nodes}
        outcomes = yield from self._step("activate", nodes)
        for step in ("verify", "confirm"):
            good = [i for i in going if all(isinstance(outcomes[n.host], Done) for n in i)]
            if good:
                outcomes |= yield from self._step(step, [node for instance in good for node in instance])
        for instance in going:
            if all(isinstance(outcomes[node.host], Done) for node in instance):
                yield from self._end_all([instance], End.DESIRED)
            else:
                yield from self._take_back(instance, outcomes)

    def _take_back(self, instance: Instance, outcomes: Outcomes) -> Iterator[Event]:
        """The whole instance goes back, also those of its nodes that passed."""
        self.failures |= {node.host for node in instance}
        changed = [node for node in instance if not isinstance(outcomes[node.host], Refused)]
        yield from self._step("evidence", changed)
        back = yield from self._step("restore", changed)
        for node in instance:
            if node not in changed:
                yield self._end(node, End.UNTOUCHED, _reason(outcomes[node.host]))
        for node in changed:
            why = _reason(outcomes[node.host]) or "another node of its instance failed"
            restored = back[node.host]
            if isinstance(restored, Done):
                yield self._end(node, End.FORMER, why)
            else:
                left = f"; {_LEFT}" if isinstance(restored, Lost) else ""
                yield self._end(node, End.PERSON, f"{why}; not restored: {restored.reason}{left}")

    def _undrain(self) -> Iterator[Event]:
        """Nodes that serve, as wanted or as before, get their traffic back."""
        nodes = [n for h, n in self.drained.items() if self.ends[h].end is not End.PERSON]
        if not nodes:
            return
        if not self.hooks[1]:
            self.drained.clear()  # nobody can tell when a drain without its counterpart ends
            return
        outcomes = yield from self._step("undrain", nodes)
        for node in nodes:
            if isinstance(outcomes[node.host], Done):
                del self.drained[node.host]
            else:
                self.failures.add(node.host)

    def _stop_if_interrupted(self, going: list[Instance]) -> Generator[Event, None, bool]:
        if not self.interrupted():
            return False
        yield from self._end_all(going, End.UNTOUCHED, "interrupted")
        return True

    def _fail_untouched(self, instances: Sequence[Instance], outcomes: Outcomes) -> Iterator[Event]:
        for instance in instances:
            for node in instance:
                self.failures.add(node.host)
                why = _reason(outcomes[node.host]) or "another node of its instance failed"
                yield self._end(node, End.UNTOUCHED, why)

    def _end_all(self, instances: Iterable[Instance], end: End, reason: str = "") -> Iterator[Event]:
        for instance in instances:
            for node in instance:
                yield self._end(node, end, reason)

    def _end(self, node: NodePlan, end: End, reason: str) -> NodeEnded:
        ended = NodeEnded(node.host, node.manifest, end, reason)
        self.ends[node.host] = ended
        return ended

    def _step(self, step: str, nodes: Nodes) -> Generator[Event, None, dict[str, Outcome]]:
        """One command of the crew. A node that it forgets to answer for counts as lost."""
        if not nodes:
            return {}
        yield StepBegan(step, tuple(node.host for node in nodes))
        command: Callable[[Nodes], Outcomes] = getattr(self.crew, step)
        said = command(nodes)
        outcomes = {node.host: said.get(node.host, Lost("no answer")) for node in nodes}
        for host, outcome in outcomes.items():
            yield StepEnded(step, host, outcome)
        return outcomes


def _reason(outcome: Outcome) -> str:
    return "" if isinstance(outcome, Done) else outcome.reason
