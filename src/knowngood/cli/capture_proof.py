"""The proof of a capture: written aside, loaded and compared as any manifest, until nothing drifts."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from knowngood.cli.audit import stop_with
from knowngood.cli.common import stop
from knowngood.manifest import Manifest, ManifestError, load_manifests
from knowngood.manifest.captured import Capture, render, unwritable
from knowngood.model import (
    Desired,
    ExitCode,
    Finding,
    Host,
    Known,
    Observation,
    Occurrences,
    Secret,
    Setting,
    Want,
)
from knowngood.observe.captured import unconfirmed
from knowngood.observe.proposal import Proposal
from knowngood.observe.see import see
from knowngood.report.captured import why_left_out
from knowngood.syntax.secret_texts import untelling
from knowngood.syntax.secrets import mask

_TELLING = 6  # characters; a shorter secret's text stands in other texts by chance
_MOST_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class Proved:
    """A manifest's text that is valid, and in sync with the observation it came from."""

    text: str
    proposal: Proposal
    manifest: Manifest


@dataclass(frozen=True, slots=True)
class Trial:
    """What a manifest is tried with: the host, what was observed of it, and the files it names.

    `contents` are by their path relative to the manifest.
    """

    host: Host
    observation: Observation
    capture: Capture  # its settings and notes are the proposal's
    contents: Mapping[str, bytes]

    def prove(self, proposal: Proposal) -> Proved:
        """Leave out what can't be written or is not confirmed, until the rest drifts 0."""
        for setting, reason in (*unwritable(proposal.desired).items(), *_telling(proposal).items()):
            proposal = proposal.without(setting, reason)
        for _ in range(_MOST_ROUNDS):
            text, manifest, desired = self._load(proposal)
            wrong = self._wrong(desired)
            if not wrong:
                return Proved(text, proposal, manifest)
            for setting, reason in wrong.items():
                proposal = _less(proposal, setting, reason)
        return stop(
            "no settings were left that agree with each other; nothing was written", ExitCode.INCOMPLETE
        )

    def _load(self, proposal: Proposal) -> tuple[str, Manifest, Desired]:
        text = render(self._capture(proposal))
        with tempfile.TemporaryDirectory(prefix="knowngood-") as folder:
            project = Path(folder).resolve()
            name = f"{proposal.desired.manifest}.yaml"
            for path, data in {**self.contents, name: text.encode()}.items():
                (project / "state" / path).parent.mkdir(parents=True, exist_ok=True)
                (project / "state" / path).write_bytes(data)
            manifests, mistakes = load_manifests(project)
            if mistakes:
                stop_with(mistakes)
            try:
                desired = manifests[0].resolve(self.host, {**os.environ, **proposal.secrets})
            except ManifestError as error:
                stop_with(error.diagnostics)
        return text, manifests[0], desired

    def _capture(self, proposal: Proposal) -> Capture:
        def safe(notes: Mapping[Setting, str]) -> dict[Setting, str]:
            return {setting: masked(text, proposal) for setting, text in notes.items()}

        return replace(
            self.capture,
            desired=proposal.desired,
            comments=safe(proposal.comments),
            left_out=safe(proposal.left_out),
            remarks=[masked(text, proposal) for text in proposal.remarks],
        )

    def _wrong(self, desired: Desired) -> Mapping[Setting, str]:
        """The settings that are not in sync, or that nobody confirms, with the reason."""
        from knowngood.drift.judge import judge

        observation = _as_drift_asks(self.observation, desired)
        seen = see(desired, observation)
        findings: tuple[Finding, ...] = judge(desired, observation, seen).findings
        wrong = dict(unconfirmed(desired, seen))
        return wrong | {finding.setting: why_left_out(finding) for finding in findings}


def _as_drift_asks(observation: Observation, desired: Desired) -> Observation:
    """The observation without what the node tells only of names that are declared."""
    declared = {*desired.env, *desired.unit_env}
    told = {name: text for name, text in observation.manager_environment.items() if name in declared}
    return replace(observation, manager_environment=told)


def masked(text: str, proposal: Proposal) -> str:
    """A sentence without the secrets that the node's texts hold."""
    known = (secret for secret in proposal.secrets.values() if len(secret) >= 3)
    return untelling(mask(text, known))


def _less(proposal: Proposal, setting: Setting, reason: str) -> Proposal:
    """Without a setting. A file that the process has not as it is stays, as one that it does not load."""
    if setting.kind == "unit" and setting.name == "active":
        stop(f"the unit's state can't be captured: {reason}", ExitCode.INCOMPLETE)
    if setting.kind == "file" and any(f.path == setting.name and f.loaded for f in proposal.desired.files):
        return proposal.not_loaded(setting.name, reason)
    return proposal.without(setting, reason)


def _telling(proposal: Proposal) -> Mapping[Setting, str]:
    """The settings whose plain value holds a secret that stands elsewhere under its own name."""
    secrets = [text for text in proposal.secrets.values() if len(text) >= _TELLING]
    desired = proposal.desired
    texts: dict[Setting, tuple[str, ...]] = {
        Setting(kind, name): _plain(want)
        for kind, wants in (("env", desired.env), ("env", desired.unit_env), ("arg", desired.args))
        for name, want in wants.items()
    }
    texts |= {
        Setting("systemd", n): lines for n, lines in desired.directives.items() if isinstance(lines, tuple)
    }
    return {
        setting: "its value holds a secret that is declared elsewhere"
        for setting, words in texts.items()
        if any(secret in word for secret in secrets for word in words)
    }


def _plain(want: Want) -> tuple[str, ...]:
    if not isinstance(want, Known) or isinstance(want, Secret):
        return ()
    if isinstance(want.value, Occurrences):
        return tuple(word for words in want.value.words for word in words)
    return (want.value,)
