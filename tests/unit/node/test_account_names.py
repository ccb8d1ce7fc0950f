"""Names of users and groups, and the number where there is no name."""

from __future__ import annotations

import grp
import os
import pwd

from knowngood.node.names import group_name, user_name


def test_names_are_those_of_the_system() -> None:
    assert user_name(os.getuid()) == pwd.getpwuid(os.getuid()).pw_name
    assert group_name(os.getgid()) == grp.getgrgid(os.getgid()).gr_name


def test_who_has_no_name_is_told_by_number() -> None:
    assert (user_name(3_999_999_999), group_name(3_999_999_998)) == ("3999999999", "3999999998")
