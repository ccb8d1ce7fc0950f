"""Settings and hosts by names that fit, and still name one thing only."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_cases import expand
from rich.cells import cell_len

from knowngood.model import Setting
from knowngood.report.names import all_hosts, host_list, setting_names


@pytest.mark.parametrize(
    ("addresses", "names"),
    [
        (["env:A", "arg:--tp", "unit:active"], ["env A", "arg --tp", "unit active"]),
        (["file:/a/k.py", "mode:/a/k.py"], ["file k", "mode k"]),
        (["file:/a/k.py", "file:/a/k.cu"], ["file k.py", "file k.cu"]),
        (["file:/a/k.py", "file:/b/k.py", "file:/c/m.py"], ["file a/k.py", "file b/k.py", "file m"]),
        (["file:/x/a/k", "file:/y/a/k"], ["file x/a/k", "file y/a/k"]),
        (["file:/k", "file:/a/k"], ["file /k", "file a/k"]),
        (["file:/root/.bashrc"], ["file .bashrc"]),
        (["systemd:Service.Nice", "systemd:Unit.After"], ["systemd Nice", "systemd After"]),
        (["systemd:Service.X", "systemd:Unit.X"], ["systemd Service.X", "systemd Unit.X"]),
        (["env:A\x1b"], ["env A\\x1b"]),
    ],
)
def test_settings(addresses: list[str], names: list[str]) -> None:
    settings = [Setting.parse(address) for address in addresses]
    assert setting_names(settings) == dict(zip(settings, names, strict=True))


@given(
    st.lists(
        st.text("ab/.", min_size=1, max_size=8).map(lambda path: Setting("file", f"/{path}")), max_size=6
    )
)
def test_no_two_files_have_one_name(settings: list[Setting]) -> None:
    names = setting_names(settings)
    assert len(set(names.values())) == len(set(settings))


@pytest.mark.parametrize(
    ("hosts", "cells", "shown"),
    [
        ("a b", 9, "a, b"),
        ("n-{01..40}", 20, "n-{01..40}"),
        ("n-{08..12} n-{20..22}", 30, "n-{08..12}, n-{20..22}"),
        ("n{8..11}", 10, "n{8..11}"),
        ("n-01 n-02 n-04 n-05 n-06 n-07 m-01", 25, "n-{01,02,{04..07}}, m-01"),
        ("gpu{07..09}.rack3.dc1", 24, "gpu{07..09}.rack3.dc1"),
        ("127.0.1.1 127.0.1.2 127.0.1.3 127.0.1.4", 20, "127.0.1.{1..4}"),
        ("alpha beta gamma delta", 18, "alpha and 3 more"),
        ("a-very-long-name another-long-name", 8, "2 nodes"),
        ("n-9 n-010 n-011", 10, "3 nodes"),
    ],
)
def test_hosts(hosts: str, cells: int, shown: str) -> None:
    assert host_list(expand(hosts), cells) == shown


numbered = st.lists(st.integers(0, 30).map("{:02}".format), min_size=1, max_size=12, unique=True)
unnumbered = st.lists(st.integers(0, 130).map(str), min_size=1, max_size=12, unique=True)


@given(numbered | unnumbered, st.integers(1, 80))
def test_a_list_of_hosts_keeps_to_its_room(numbers: list[str], cells: int) -> None:
    hosts = [f"n-{number}.x" for number in numbers]
    text = host_list(hosts, cells)
    assert cell_len(text) <= cells or text in (f"{len(hosts)} nodes", hosts[0])


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is what ranges are written for")
@pytest.mark.parametrize("numbers", ["{01..40}", "01 02 {04..09} {20..22} 30", "{8..12} 14 {100..103}"])
def test_bash_expands_a_range_to_the_very_names(numbers: str) -> None:
    hosts = [host for number in numbers.split() for host in expand(f"n-{number}.x")]
    cells = min(cells for cells in range(1, 400) if all_hosts(hosts, cells) is not None)
    text = all_hosts(hosts, cells)
    assert text is not None
    told = subprocess.run(
        ["bash", "-c", f"echo {text.replace(',  ', ' ')}"], capture_output=True, text=True, check=True
    )
    assert told.stdout.replace(", ", " ").split() == hosts
