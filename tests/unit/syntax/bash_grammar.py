"""Scripts out of a grammar: every construct of a serve script, put together at random.

What a script asks of the world (files, output of commands) has one answer in the sandbox, which the reader
can't know. All scripts end.
"""

from __future__ import annotations

from random import Random

NAMES = ["A", "B", "C", "KNOB", "TP"]
WORDS = [
    "1", "4", "512", "abc", "a.b/c", "x-y", "--tp", "--foo=1", '"two words"', "'$lit'", '"q\\"q"', "a\\ b", "''", '""',
    "'{\"a\": 1}'", "é", "$'t\\tn'", "0.9", "-1", "a,b", "a:b", "~", "a=b", "#x", "a#b", "010", "{a,b}", "'*'", "^", "%", "a'b'c",
]  # fmt: skip
PATTERNS = ["*", "a*", "?", "[0-9]", "*b*", "*/", "*.", "1|4", "abc", "x-?", "[!a]*"]


class Grammar:
    """One script by one source of chance."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.functions: list[str] = []
        self.in_function = False
        self.in_loop = False
        self.counter = 0

    def script(self) -> str:
        rng = self.rng
        lines = [rng.choice(["#!/bin/bash", "#!/usr/bin/env bash", "", "# a comment"])]
        if rng.random() < 0.25:
            lines.append(rng.choice(["set -e", "set -u", "set -euo pipefail", "set -a", "set -f", "set -o pipefail"]))
        lines += [self.statement(3) for _ in range(rng.randint(2, 9))]
        lines += [self.launch() for _ in range(rng.randint(1, 2))]
        return "\n".join(lines) + rng.choice(["\n", "", "\n\n"])

    def name(self) -> str:
        return self.rng.choice(NAMES)

    # --- words --------------------------------------------------------------------------------------

    def value(self) -> str:
        """What stands after the `=` of an assignment."""
        pick = self.rng.random()
        if pick < 0.45:
            return self.rng.choice(WORDS)
        if pick < 0.65:
            return self.expansion()
        if pick < 0.85:
            return '"' + self.rng.choice(["", "x ", "p/", " "]) + self.expansion() + self.rng.choice(["", " y", "/s"]) + '"'
        return self.rng.choice(WORDS) + self.expansion()

    def expansion(self) -> str:
        n = self.name()
        simple = [f"${n}", f"${{{n}}}"] * 3
        other = [
            f"${{{n}:-{self.plain()}}}", f"${{{n}-{self.plain()}}}", f"${{{n}:+{self.plain()}}}", f"${{{n}+set}}",
            f"${{{n}:={self.plain()}}}", f"${{#{n}}}", f"${{{n}%{self.rng.choice(PATTERNS)}}}",
            f"${{{n}##{self.rng.choice(PATTERNS)}}}", f"${{{n}#{self.rng.choice(PATTERNS)}}}", f"${{{n}%%{self.rng.choice(PATTERNS)}}}",
            f"${{{n}/a/z}}", f"${{{n}//[0-9]/_}}", f"${{{n}/#a/}}", f"${{{n}^^}}", f"${{{n},,}}", f"${{{n}:1:2}}",
            f"${{{n}: -2}}", "$1", "${2:-two}", "$#", "$*", "$@", f"$(({self.arithmetic()}))", "$(echo out)",
            f"$(printf '%s-%s' {self.plain()} {self.plain()})", "$(cat /etc/nothing)", "$?", "${L[0]}", "${L[@]}", "${#L[@]}",
            "${L[*]}", "${L[@]:1}", f"${{!{n}:-none}}", "$(basename /a/b.c .c)", "`echo back`", f"${{{n}:-${{{self.name()}:-deep}}}}",
            "${L[-1]:-none}",
        ]  # fmt: skip
        return self.rng.choice(simple + other)

    def plain(self) -> str:
        return self.rng.choice(["1", "abc", "x y", '"q w"', "512", "'s s'", "", "a.b"])

    def arithmetic(self) -> str:
        left = self.rng.choice(["1", "7", "I", "J", "I + 2", "(3)", "-J", "0x1f", "I++", "J"])
        right = self.rng.choice(["1", "2", "J * 2", "I", "3"])
        return f"{left} {self.rng.choice(['+', '-', '*', '<', '>', '==', '&&', '||', '%', '<<'])} {right}"

    def word(self) -> str:
        """A word of a command line."""
        pick = self.rng.random()
        if pick < 0.4:
            return self.rng.choice(WORDS)
        if pick < 0.6:
            return self.expansion()
        if pick < 0.9:
            return f'"{self.expansion()}"'
        return self.rng.choice(["--x=", "a", '"b c"']) + self.expansion()

    # --- statements ---------------------------------------------------------------------------------

    def statement(self, depth: int) -> str:
        simple = [
            self.assignment, self.assignment, self.assignment, self.export, self.export, self.array, self.set_arguments,
            self.launch, self.unset, self.misc, self.call,
        ]  # fmt: skip
        compound = [
            self.if_, self.if_, self.case, self.for_, self.while_, self.group, self.subshell, self.and_or, self.function,
            self.heredoc, self.pipeline,
        ]  # fmt: skip
        if depth <= 0 or self.rng.random() < 0.6:
            return self.rng.choice(simple)()
        return self.rng.choice(compound)(depth - 1)

    def body(self, depth: int) -> str:
        return "\n".join(self.statement(depth) for _ in range(self.rng.randint(1, 3)))

    def assignment(self) -> str:
        n = self.name()
        return self.rng.choice(
            [f"{n}={self.value()}"] * 5
            + [f"{n}+={self.value()}", f"I={self.rng.randint(0, 9)} J=$((I + 1))", f"{n}={self.value()} {self.name()}={self.value()}",
               f": ${{{n}:={self.plain()}}}", f"printf -v {n} '%s/%d' {self.plain()} 7", f"((I += {self.rng.randint(0, 3)}))",
               f"read -r {n} <<< {self.rng.choice(WORDS)}", f"let I=J+1"]
        )  # fmt: skip

    def export(self) -> str:
        n = self.name()
        return self.rng.choice(
            [f"export {n}={self.value()}"] * 4
            + [f"export {n}", f"declare -x {n}={self.value()}", f"export -n {n}", f"export {n}={self.value()} {self.name()}",
               f'export "{n}={self.rng.choice(["v", "v w", "$A"])}"', f"declare {n}={self.value()}", f"typeset +x {n}"]
        )  # fmt: skip

    def array(self) -> str:
        words = " ".join(self.word() for _ in range(self.rng.randint(0, 4)))
        return self.rng.choice([f"L=({words})", f"L=({words})", f"L+=({words})", f"L[0]={self.value()}", f'L+=("{self.expansion()}")'])

    def set_arguments(self) -> str:
        return self.rng.choice([f"set -- {self.word()} {self.word()}", "shift", "set --", f'set -- "$@" {self.word()}', "shift 2 || true"])

    def unset(self) -> str:
        return f"unset {self.name()}"

    def misc(self) -> str:
        return self.rng.choice(
            ["set +e", "set -a", "set +a", "set -e", "IFS=,", "IFS=$' \\t\\n'", "unset IFS", "true", "false", "echo hi $A", "cd /",
             f'eval "{self.name()}=evaled"', f"eval export {self.name()}=7", "set -u", "set +u", ": # nothing", "sleep 1", "wait", "set -f", "set +f",
             "umask 022", "trap 'echo x' EXIT", "exec 2>/dev/null", f"source /nonexistent/{self.name()}.sh"]
            + (["local A=l", "local B", "return", "return 1", f"local -x {self.name()}=lx"] if self.in_function else [])
            + (["break", "continue"] if self.in_loop else [])
        )  # fmt: skip

    def call(self) -> str:
        if not self.functions or self.in_function:
            return self.assignment()
        return self.rng.choice(["", f"{self.name()}=pre "]) + f"{self.rng.choice(self.functions)} {self.word()} {self.word()}"

    def launch(self) -> str:
        prefix = self.rng.choice(["", "", "", f"{self.name()}={self.value()} ", "env ", f"env {self.name()}=e ", f"env -u {self.name()} ", "nohup ",
                                  "numactl -N 0 ", "exec ", f"{self.name()}={self.value()} {self.name()}={self.value()} ", "nice -n 1 ", "time ", "! ",
                                  f"env -i {self.name()}=i PATH=\"$PATH\" "])  # fmt: skip
        words = " ".join(self.word() for _ in range(self.rng.randint(0, 4)))
        program = self.rng.choice(["server", "vllm serve", "python3 -m sglang.launch_server", '"server"', "router"])
        joint = self.rng.choice([" ", " ", " \\\n  "])
        suffix = self.rng.choice(["", "", "", " > log", " 2>&1 | tee log", " &", " || true", " # end"])
        self.counter += 1
        return f"{prefix}{program} id{self.counter}{joint}{words}{suffix}"

    # --- compounds ----------------------------------------------------------------------------------

    def condition(self) -> str:
        n = self.name()
        return self.rng.choice(
            ["true", "false", "[ -e / ]", "[ -e /nope ]", f'[ -n "${n}" ]', f'[ -z "${{{n}:-}}" ]', f'[[ "${n}" == a* ]]', f"[[ ${n} = 1 ]]",
             f'[ "${n}" = abc ]', "(( I > 3 ))", "[ $# -gt 0 ]", f"[[ -v {n} ]]", "! true", "grep -q x /nope", f"[[ -n ${{{n}:-}} && -e / ]]",
             f'[[ "${n}" =~ ^[0-9]+$ ]]', f"[ ${n} ]", f'test "${n}" != 1', "[[ $I -ge $J ]]", '[ "$I" -lt 5 ]', "[[ -d / || -z $A ]]", "test -d /nope"]
        )  # fmt: skip

    def if_(self, depth: int) -> str:
        text = f"if {self.condition()}; then\n{self.body(depth)}\n"
        if self.rng.random() < 0.3:
            text += f"elif {self.condition()}; then\n{self.body(depth)}\n"
        if self.rng.random() < 0.5:
            text += f"else\n{self.body(depth)}\n"
        return text + "fi"

    def case(self, depth: int) -> str:
        arms = "".join(f"  {self.rng.choice(PATTERNS)}) {self.body(depth)} ;;\n" for _ in range(self.rng.randint(1, 3)))
        subject = self.rng.choice([f'"${self.name()}"', f"${self.name()}", "$1", '"$(cat /nope)"', "$(cat /proc/sys/kernel/ostype)"])
        return f"case {subject} in\n{arms}esac"

    def loop_body(self, depth: int) -> str:
        was, self.in_loop = self.in_loop, True
        text = self.body(depth)
        self.in_loop = was
        return text

    def for_(self, depth: int) -> str:
        words = self.rng.choice(["1 2 3", '"$@"', "a b", '"${L[@]}"', "$A", "{1..3}", "$(cat /proc/sys/kernel/ostype) z"])
        if self.rng.random() < 0.2:
            self.counter += 1
            return f"for ((K{self.counter} = 0; K{self.counter} < 3; K{self.counter}++)); do\n{self.loop_body(depth)}\nJ=$K{self.counter}\ndone"
        return f"for {self.name()} in {words}; do\n{self.loop_body(depth)}\ndone"

    def while_(self, depth: int) -> str:
        """Loops that end: by a counter of their own, or by a condition on the world that holds at once."""
        self.counter += 1
        counter = f"N{self.counter}"
        test = self.rng.choice([f"[ ${counter} -lt 3 ]", f"(( {counter} < 2 ))", f"[[ ${counter} -lt 2 && -e / ]]", f"[ ${counter} -lt 2 ] && {self.condition()}"])
        return f"{counter}=0\nwhile {test}; do\n{counter}=$(({counter} + 1))\n{self.loop_body(depth)}\ndone"

    def group(self, depth: int) -> str:
        return f"{{ {self.body(depth)}\n}}" + self.rng.choice(["", " > out.log", " 2>/dev/null"])

    def subshell(self, depth: int) -> str:
        return f"(\n{self.body(depth)}\n)"

    def and_or(self, depth: int) -> str:
        return f"{self.condition()} {self.rng.choice(['&&', '||'])} {self.simple_statement()}"

    def simple_statement(self) -> str:
        return self.rng.choice([self.assignment, self.export, self.launch, self.array])()

    def function(self, depth: int) -> str:
        if self.in_function:
            return self.group(depth)
        self.in_function = True
        loop, self.in_loop = self.in_loop, False
        self.counter += 1
        name = f"f{self.counter}"
        text = f"{name}() {{\n{self.body(depth)}\n}}"
        self.in_function = False
        self.in_loop = loop
        self.functions.append(name)
        return text

    def heredoc(self, depth: int) -> str:
        n = self.name()
        quoted = self.rng.choice(["EOF", "'EOF'"])
        return self.rng.choice([
            f"cat <<{quoted} > file.txt\nexport {n}=no ${n} $(echo x)\nserver not\nEOF",
            f"{n}=$(cat <<{quoted}\nline ${n}\n  two \\\nthree\nEOF\n)",
            f"read -r -d '' {n} <<{quoted} || true\n  a ${n}\nb\nEOF",
        ])  # fmt: skip

    def pipeline(self, depth: int) -> str:
        return f"echo x | {{ {self.body(depth)}\n}}" if self.rng.random() < 0.7 else f"{self.simple_statement()} | cat"
