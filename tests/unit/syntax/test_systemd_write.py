"""What we write for systemd: it comes back as it was meant, or is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from systemd_oracle import FOLDER, WHY_NOT, ask

from knowngood.model import Known
from knowngood.syntax.systemd import (
    CannotCarry,
    parse_environment_file,
    read_unit,
    write_dropin,
    write_environment_file,
)

VALUES = st.text(st.characters(blacklist_categories=["Cs"]))
ANY_VALUES = st.text()  # lone surrogates and NUL too


@given(ANY_VALUES)
def test_a_variable_comes_back_or_is_refused(value: str) -> None:
    try:
        dropin = write_dropin({}, {"NAME": value})
    except CannotCarry as refused:
        assert value not in str(refused) or len(value) < 3
        return
    unit = read_unit("u.service", ("/u", b"[Service]\nExecStart=/x\n"), [("/d", dropin)])
    assert unit.environment({}, base={"PATH": Known("/bin")})["NAME"].value == Known(value)


@given(st.dictionaries(st.sampled_from("ABCDE"), ANY_VALUES))
def test_an_environment_file_comes_back_or_is_refused(environment: dict[str, str]) -> None:
    try:
        data = write_environment_file(environment, header="what \\ it is\nfor")
    except CannotCarry:
        return
    entries, lint = parse_environment_file(data)
    assert {name: value for name, value, _ in entries} == environment
    assert [remark.code for remark in lint if remark.code != "crlf"] == []


@given(st.lists(VALUES, min_size=1, max_size=3))
def test_a_directives_lines_come_back_or_are_refused(lines: list[str]) -> None:
    try:
        dropin = write_dropin({"Service.LogExtraFields": lines}, {})
    except CannotCarry:
        return
    unit = read_unit(
        "u.service", ("/u", b"[Service]\nExecStart=/x\nLogExtraFields=A=old\n"), [("/d", dropin)]
    )
    read = [reading.value for reading in unit.lines("Service", "LogExtraFields")]
    assert read == [Known(line.strip(" \t")) for line in lines if line.strip(" \t")]


def test_a_whole_dropin() -> None:
    dropin = write_dropin(
        {
            "Service.LimitNOFILE": ["16384"],
            "Service.ExecStartPre": ["/bin/a", "-/bin/b c\\"],
            "Unit.After": ["x.service"],
            "Service.User": [],
        },
        {"A": "1 %"},
        environment_file="/var/lib/knowngood/secrets/x.env",
        header="Written by knowngood.\nDo not edit.",
    )
    assert dropin.decode() == (
        "# Written by knowngood.\n"
        "# Do not edit.\n"
        "\n"
        "[Unit]\n"
        "After=x.service\n"
        "\n"
        "[Service]\n"
        "LimitNOFILE=16384\n"
        "ExecStartPre=\n"
        "ExecStartPre=/bin/a\n"
        "ExecStartPre=-/bin/b c\\ \n"
        "User=\n"
        'Environment="A=1 %%"\n'
        "EnvironmentFile=/var/lib/knowngood/secrets/x.env\n"
    )


@pytest.mark.parametrize(
    ("directives", "environment", "file"),
    [
        ({"Service.LimitNOFILE": ["many"]}, {}, None),
        ({"Service.LimitNOFILE": []}, {}, None),
        ({"Service.Restart": ["always\nExecStart=/bin/evil"]}, {}, None),
        ({"Service.Restart\n[X]": ["always"]}, {}, None),
        ({"Restart": ["always"]}, {}, None),
        ({"Service.SyslogIdentifier": ["\udcff"]}, {}, None),
        ({"Service.SyslogIdentifier": ["x" * (1 << 20)]}, {}, None),
        ({}, {"A B": "x"}, None),
        ({}, {"A": "\0"}, None),
        ({}, {"A": "\x07"}, None),
        ({}, {"A": "\ufffe"}, None),
        ({}, {"A": "x" * (1 << 17)}, None),
        ({}, {}, "relative"),
        ({}, {}, "/etc/*"),
        ({}, {}, "/etc/x\ny"),
        ({}, {}, "/etc/../x"),
    ],
)
def test_what_systemd_cannot_carry(
    directives: dict[str, list[str]], environment: dict[str, str], file: str | None
) -> None:
    with pytest.raises(CannotCarry, match=r"[.]$"):
        write_dropin(directives, environment, environment_file=file)


@pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
def test_systemd_reads_what_we_write(tmp_path: Path) -> None:
    letters = [chr(code) for code in range(32, 127)] + [
        "\n",
        "\t",
        "é",
        "€",
        "😀",
        "\\n",
        "\\x41",
        "%i",
        "${A}",
    ]
    environment = {
        f"V{number}": f"{one}{two}x{one}"
        for number, (one, two) in enumerate(zip(letters, letters[7:], strict=False))
    }
    dropin = write_dropin({"Service.LimitNOFILE": ["1024:4096"]}, environment)
    own = f"{FOLDER}/u.service"
    verdict = ask(
        tmp_path, {"u.service": [(own, b"[Service]\nExecStart=/bin/true\n"), (f"{own}.d/z.conf", dropin)]}
    )
    loaded = verdict.loaded["u.service"].dump
    assert dict(pair.partition("=")[::2] for pair in loaded["Environment"]) == environment
    assert (loaded["LimitNOFILESoft"], loaded["LimitNOFILE"]) == (["1024"], ["4096"])
    assert verdict.complaints == {}
