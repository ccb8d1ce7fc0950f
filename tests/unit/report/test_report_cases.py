"""Every golden file under tests/cases/reports, named CASE.EXITCODE.FORMAT, is what its case renders to.

KNOWNGOOD_WRITE_GOLDEN=1 writes those that exist anew, to be read in the diff.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from report_cases import FOLDER, load_case

from knowngood.report.json import drift_json
from knowngood.report.terminal import render_drift

GOLDEN = sorted(path for path in FOLDER.iterdir() if path.suffix in (".txt", ".json"))


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda path: path.name)
def test_golden(golden: Path) -> None:
    name, exit_code, form = golden.name.split(".", 2)
    report, next_command = load_case(name)
    text = drift_json(report) if form == "json" else screen(form, name, next_command)
    if os.environ.get("KNOWNGOOD_WRITE_GOLDEN"):
        golden.write_text(text, "utf-8")
    assert int(report.exit_code) == int(exit_code)
    assert text == golden.read_text("utf-8")


def screen(form: str, name: str, next_command: str | None) -> str:
    """`txt`, or words before it: 60 for a width, v or vv, color."""
    words = form.split(".")[:-1]
    width = next((int(word) for word in words if word.isdigit()), 100)
    verbose = next((len(word) for word in words if re.fullmatch("v+", word)), 0)
    report, _ = load_case(name)
    return render_drift(
        report, width=width, color="color" in words, verbose=verbose, next_command=next_command
    )


def test_every_case_has_a_golden_file() -> None:
    cases = {path.stem for path in FOLDER.glob("*.yaml")}
    assert cases == {path.name.split(".")[0] for path in GOLDEN}
