"""One spelling for each value, whatever it comes from: a unit, `systemctl show`, or the kernel."""

from __future__ import annotations

import random

import pytest
from systemd_grammar import _SERVICE

from knowngood.model import ABSENT, Known, Unknown
from knowngood.syntax.systemd import (
    TRACES,
    canonical,
    canonical_lines,
    default_of,
    loaded_environment,
    loaded_value,
    properties_for,
    running_value,
)
from knowngood.syntax.systemd.directives import KIND_OF


@pytest.mark.parametrize(
    ("directive", "texts", "wanted"),
    [
        ("LimitNOFILE", ["65536", "65536:65536", "0x10000", " 65536 "], "65536"),
        ("LimitNOFILE", ["infinity", "infinity:infinity"], "infinity"),
        ("LimitNOFILE", ["1024:524288"], "1024:524288"),
        ("LimitMEMLOCK", ["64G", "65536M", "68719476736"], "64G"),
        ("LimitCPU", ["90", "1min 30s", "89.5s"], "1min 30s"),
        ("LimitRTTIME", ["5000000", "5s"], "5s"),
        ("LimitNICE", ["+5", "15"], "15"),
        ("RestartSec", ["10min", "600", "600s", "9min 60s", ".1h 4min"], "10min"),
        ("RestartSec", ["1.5", "1500ms"], "1s 500ms"),
        ("RestartSec", ["1h 30", "1h30s", "3630"], "1h 30s"),
        ("TimeoutStopSec", ["0", "infinity"], "infinity"),
        ("MemoryMax", ["64G", "65536M", "68719476736"], "64G"),
        ("MemoryMax", ["1.5G", "1536M", "1G 512M"], "1536M"),
        ("CPUQuota", ["150%", "1500‰", "150.00%"], "150%"),
        ("TasksMax", ["4096", "0x1000"], "4096"),
        ("RemainAfterExit", ["yes", "1", "TRUE", "on"], "yes"),
        ("UMask", ["22", "022", "0022"], "0022"),
        ("Nice", ["-5", "-05"], "-5"),
        ("CPUAffinity", ["0-3 8", "0,1,2,3,8", "8 3-3 0-2"], "0-3 8"),
        ("KillSignal", ["SIGTERM", "TERM", "15"], "SIGTERM"),
        ("WorkingDirectory", ["/srv//x/", "/srv/./x"], "/srv/x"),
        ("User", ["root", "0"], "root"),
        ("EnvironmentFile", ["-/etc//x", "-/etc/x/"], "-/etc/x"),
        ("ExecStart", ["/bin/a  b 'c d'", '/bin/a b "c d"', r"/bin/a \x62 c\x20d"], '/bin/a b "c d"'),
        ("Environment", ["A=1 B='x y'", 'A=1 "B=x y"', "A=0 B='x y' A=1"], 'A=1 "B=x y"'),
    ],
)
def test_many_texts_are_one_value(directive: str, texts: list[str], wanted: str) -> None:
    assert {canonical(f"Service.{directive}", text) for text in texts} == {wanted}


@pytest.mark.parametrize(
    ("directive", "text"),
    [
        ("LimitNOFILE", "64K"),
        ("LimitNOFILE", "2:1"),
        ("LimitNOFILE", ""),
        ("RestartSec", "3x"),
        ("MemoryMax", "64g"),
        ("Nice", "50"),
        ("UMask", "rwx"),
        ("Restart", "maybe"),
        ("CPUQuota", "150"),
        ("User", "a:b"),
        ("WorkingDirectory", "srv"),
        ("ExecStart", '/bin/a "open'),
        ("CPUAffinity", "x"),
        ("KillSignal", "SIGNOTHING"),
    ],
)
def test_a_refused_text_is_told_in_a_sentence(directive: str, text: str) -> None:
    with pytest.raises(ValueError, match=r"[.]$"):
        canonical(f"Service.{directive}", text)


def test_what_is_spelled_stays_as_it_is() -> None:
    spelled = []
    for name, texts in _SERVICE:
        for text in texts:
            try:
                spelled.append((f"Service.{name}", canonical(f"Service.{name}", text)))
            except ValueError:
                continue
    assert [pair for pair in spelled if canonical(*pair) != pair[1]] == []
    assert len(spelled) > 150


def test_specifiers_stay_without_a_unit_and_go_with_one() -> None:
    assert canonical("Service.WorkingDirectory", "/srv/%i") == "/srv/%i"
    assert canonical("Service.WorkingDirectory", "/srv/%i", unit="a@7.service") == "/srv/7"
    assert canonical("Service.WorkingDirectory", "/srv/100%%") == "/srv/100%%"


def test_lines_add_up_as_systemd_has_it() -> None:
    assert canonical_lines("Service.ExecStartPre", ["/bin/a", "", "/bin/b", "-/bin/c"]) == "/bin/b\n-/bin/c"
    assert canonical_lines("Service.LimitNOFILE", ["1024", "2048"]) == "2048"
    assert canonical_lines("Service.CPUAffinity", ["0", "2-3"]) == "0 2-3"
    assert canonical_lines("Service.Nice", ["nonsense "]) == "nonsense"
    assert canonical_lines("Service.NotOfSystemd", [" x "]) == "x"


@pytest.mark.parametrize(
    ("directive", "properties", "wanted"),
    [
        ("LimitNOFILE", {"LimitNOFILE": "65536", "LimitNOFILESoft": "65536"}, Known("65536")),
        ("LimitNOFILE", {"LimitNOFILE": "524288", "LimitNOFILESoft": "1024"}, Known("1024:524288")),
        ("LimitMEMLOCK", {"LimitMEMLOCK": "infinity", "LimitMEMLOCKSoft": "8388608"}, Known("8M:infinity")),
        ("LimitCPU", {"LimitCPU": "90", "LimitCPUSoft": "90"}, Known("1min 30s")),
        ("LimitNOFILE", {}, Unknown("systemd does not show LimitNOFILE")),
        ("RestartSec", {"RestartUSec": "1.500000s"}, Known("1s 500ms")),
        ("TimeoutStopSec", {"TimeoutStopUSec": "1min 30s"}, Known("1min 30s")),
        ("CPUQuota", {"CPUQuotaPerSecUSec": "333.300ms"}, Known("33.33%")),
        ("CPUQuota", {"CPUQuotaPerSecUSec": "infinity"}, Known("infinity")),
        ("MemoryMax", {"MemoryMax": "1073741824"}, Known("1G")),
        ("MemoryMax", {"MemoryMax": "infinity"}, Known("infinity")),
        ("MemoryMax", {"MemoryMax": "18446744073709551615"}, Known("infinity")),
        ("TasksMax", {"TasksMax": "4915"}, Known("4915")),
        ("UMask", {"UMask": "0022"}, Known("0022")),
        ("User", {"User": ""}, Known("root")),
        ("Group", {"Group": ""}, ABSENT),
        ("WorkingDirectory", {"WorkingDirectory": "!/tmp"}, Known("-/tmp")),
        ("WorkingDirectory", {"WorkingDirectory": ""}, Known("/")),
        ("CPUAffinity", {"CPUAffinity": "0-3 8"}, Known("0-3 8")),
        ("KillSignal", {"KillSignal": "2"}, Known("SIGINT")),
        ("CPUWeight", {"CPUWeight": "[not set]"}, ABSENT),
        ("EnvironmentFile", {"EnvironmentFiles": "/etc/a b (ignore_errors=yes)"}, Known("-/etc/a b")),
        ("PassEnvironment", {"PassEnvironment": "A B"}, Known("A B")),
        ("Environment", {"Environment": r'A=1 "B=x \"y\" \$z"'}, Known(r'A=1 "B=x \"y\" $z"')),
    ],
)
def test_loaded_values(directive: str, properties: dict[str, str], wanted: object) -> None:
    assert loaded_value(f"Service.{directive}", properties) == wanted


def test_loaded_commands_are_compared_with_what_they_may_be() -> None:
    shown = "{ path=/bin/sh ; argv[]=/bin/sh -c exec a b ; ignore_errors=no ; start_time=[n/a] ; pid=0 }"
    quoted = '/bin/sh -c "exec a b"'
    assert loaded_value("Service.ExecStart", {"ExecStart": shown}, [quoted]) == Known(quoted)
    assert isinstance(loaded_value("Service.ExecStart", {"ExecStart": shown}, ["/bin/sh -c other"]), Unknown)
    assert isinstance(loaded_value("Service.ExecStart", {"ExecStart": shown}), Unknown)
    assert loaded_value("Service.ExecStartPre", {"ExecStartPre": ""}) == ABSENT


def test_loaded_lists_may_be_in_another_order_or_have_more() -> None:
    shown = {"After": "basic.target b.service a.service", "RuntimeDirectory": "b a"}
    assert loaded_value("Unit.After", shown, ["a.service b.service"]) == Known("a.service b.service")
    assert loaded_value("Service.RuntimeDirectory", shown, ["a b"]) == Known("a b")
    assert loaded_value("Service.RuntimeDirectory", shown, ["a"]) == Known("b a")


def test_the_loaded_environment() -> None:
    shown = r'A=1 "B=two words" "C=l1\nl2\ttab \"q\" \$x \\" D= "E=\001\303" F=é'
    assert loaded_environment({"Environment": shown}) == {
        "A": "1",
        "B": "two words",
        "C": 'l1\nl2\ttab "q" $x \\',
        "D": "",
        "E": "\x01\udcc3",
        "F": "é",
    }
    assert loaded_environment({}) == {}


def test_the_properties_to_ask_for() -> None:
    asked = properties_for(["Service.LimitNOFILE", "Service.RestartSec", "Service.CPUQuota", "Service.User"])
    assert asked == ["CPUQuotaPerSecUSec", "LimitNOFILE", "LimitNOFILESoft", "RestartUSec", "User"]
    assert properties_for(["Unit.StartLimitIntervalSec", "Service.EnvironmentFile"]) == [
        "EnvironmentFiles",
        "StartLimitIntervalUSec",
    ]


@pytest.mark.parametrize(
    ("directive", "trait", "wanted"),
    [
        ("LimitNOFILE", "65536:65536", Known("65536")),
        ("LimitNOFILE", "1024:524288", Known("1024:524288")),
        ("LimitMEMLOCK", "8388608:infinity", Known("8M:infinity")),
        ("LimitCPU", "infinity:infinity", Known("infinity")),
        ("MemoryMax", "max", Known("infinity")),
        ("MemoryMax", "infinity", Known("infinity")),
        ("MemoryMax", "68719476736", Known("64G")),
        ("CPUQuota", "max 100000", Known("infinity")),
        ("CPUQuota", "150000 100000", Known("150%")),
        ("CPUQuota", "33330 100000", Known("33.33%")),
        ("TasksMax", "4096", Known("4096")),
        ("TasksMax", "max", Known("infinity")),
        ("UMask", "0022", Known("0022")),
        ("Nice", "-5", Known("-5")),
        ("CPUAffinity", "0-3,8", Known("0-3 8")),
        ("User", "root", Known("root")),
        ("WorkingDirectory", "/srv", Known("/srv")),
    ],
)
def test_running_values(directive: str, trait: str, wanted: object) -> None:
    assert running_value(f"Service.{directive}", trait) == wanted


def test_running_values_that_may_be_the_declared_ones() -> None:
    assert running_value("Service.WorkingDirectory", "/srv", ["-/srv"]) == Known("-/srv")
    assert isinstance(running_value("Service.WorkingDirectory", "/home/a", ["~"]), Unknown)
    assert isinstance(running_value("Service.MemoryMax", "1024", ["50%"]), Unknown)
    assert isinstance(running_value("Service.LimitNOFILE", "what", []), Unknown)


def test_every_trace_is_of_a_directive_that_exists() -> None:
    assert set(TRACES) <= set(KIND_OF)
    assert {"Service.LimitNOFILE", "Service.User", "Service.CPUQuota", "Service.MemoryMax"} <= set(TRACES)


def test_every_default_is_spelled_canonically() -> None:
    defaults = {directive: default_of(directive) for directive in KIND_OF}
    told = {directive: text for directive, text in defaults.items() if text is not None}
    free = {"Service.CPUQuota"}  # "no quota" is spelled by an empty assignment alone
    assert {d for d, text in told.items() if d not in free and canonical(d, text) != text} == set()
    assert default_of("Service.LimitNOFILE") is None
    assert default_of("Service.Restart") == "no"


def test_spelling_never_fails_otherwise_than_it_says() -> None:
    source = random.Random(7)
    letters = "0123456789 .:-+%‰infyKMGT\"'\\;$/xeé\n"
    for _ in range(3000):
        directive = source.choice(list(KIND_OF))
        text = "".join(source.choices(letters, k=source.randint(0, 8)))
        try:
            once = canonical(directive, text)
        except ValueError:
            continue
        assert canonical(directive, once) == once, (directive, text)
