"""The policy file: what is wrong is told by key, and a broken file never takes the place of a good one."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.changes.model.edits import Kind
from bot.changes.model.parts import Guard
from bot.policy.file import BadPolicy, CurrentPolicy, read_policy
from bot.policy.model import Policy

GOOD = """\
# Who may do what.
[channels]
act = ["C0OPS0001"]

[roles.team]
groups = ["S0TEAM001"]
may = ["read", "rule.*"]

[roles."the leads"]
users = ["U0CARA001"]
may = ["*"]

[[guards]]
operation = "rule.delete"
guard = "approve"
approvals = 2
approvers = ["the leads"]
expires = "2h"

[[guards]]
operation = "rule.*"
guard = "confirm"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "policy.toml"
    path.write_text(GOOD)
    return path


def test_a_right_file_is_read(file: Path) -> None:
    policy = read_policy(str(file))

    assert policy.guard_for(Kind.RULE_DELETE).approvals == 2
    assert policy.guard_for(Kind.RULE_UPDATE).guard is Guard.CONFIRM
    assert set(policy.roles) == {"team", "the leads"}


@pytest.mark.parametrize(
    ("right", "wrong", "key", "words"),
    [
        ('act = ["C0OPS0001"]', 'act = ["C0OPS0001"', "", "is not TOML"),
        ("[roles.team]", "[roles.team", "", "is not TOML"),
        ("approvals = 2", "approvals = 2\napprovals = 3", "", "is not TOML"),
        ('act = ["C0OPS0001"]', 'act = "C0OPS0001"', "channels.act", "list"),
        ('act = ["C0OPS0001"]', 'act = ["#ops"]', "channels.act.1", "“#ops” is not the id of a channel"),
        ("act =", "acts =", "channels.acts", "is not a setting"),
        ("[channels]", "[chanels]", "chanels", "is not a setting"),
        ('groups = ["S0TEAM001"]', 'groups = ["U0TEAM001"]', "roles.team.groups.1", "is not the id of a user group"),
        ('"read", "rule.*"', '"read", "rules.*"', "roles.team.may.2", "fits no operation"),
        (
            'users = ["U0CARA001"]',
            'users = ["cara"]',
            "roles.the leads.users.1",
            "“cara” is not the id of a person",
        ),
        ('users = ["U0CARA001"]', "users = [7]", "roles.the leads.users.1", "text in quotes"),
        ('operation = "rule.delete"', 'operation = "rule.remove"', "guards.1.operation", "fits no operation"),
        ('guard = "approve"', 'guard = "aprove"', "guards.1.guard", "approve"),
        ("approvals = 2", "approvals = 0", "guards.1.approvals", "1 or more"),
        ("approvals = 2", 'approvals = "two"', "guards.1.approvals", "whole number"),
        ("approvals = 2", "approvers_needed = 2", "guards.1.approvers_needed", "is not a setting"),
        (
            'approvers = ["the leads"]',
            'approvers = ["leads"]',
            "guards.1.approvers.1",
            "there is no role “leads”; there are team, the leads",
        ),
        *(
            ("approvals = 2", f"{key} = {value}", f"guards.1.{key}.{place}", words)
            for key, value, place, words in (
                ("host", '"shop.*.com"', 1, "write *.example.com"),
                ("host", '["a.example", "shop.example.com:8443"]', 2, "without a port"),
                ("host", '"https://shop.example.com"', 1, "is not a host"),
                ("host", '""', 1, "is not a host"),
                ("group", '"Sales campaigns"', 1, "/rules groups"),
                ("segment", "[1]", 1, "text in quotes"),
            )
        ),
        *(
            ("approvals = 2", f"{lines}\n", f"guards.1{key}", words)
            for lines, key, words in (
                ('reason = "wanted"', ".reason", "write 'required'"),
                ('reason = "required"\npattern = "(SUP"', ".pattern", "can't be evaluated"),
                ('reason = "required"\npattern = "(?=a)"', ".pattern", "can't be evaluated"),
                ('pattern = "SUP-[0-9]+"', "", "need reason"),
                ('url = "https://t.example/{}"', "", "need reason"),
                ('reason = "required"\npattern = "a"\nurl = "https://t.example/"', ".url", "with {} in it"),
                ('reason = "required"\npattern = "a"\nurl = "t.example/{}"', ".url", "with {} in it"),
                ('notify = ["S0LEADS01", "leads"]', ".notify.2", "there is no role “leads”"),
                ('notify = "S0LEADS01"', ".notify", "write a list"),
            )
        ),
        ('expires = "2h"', 'expires = "2 hours or so"', "guards.1.expires", "duration"),
        ('expires = "2h"', "expires = 7200", "guards.1.expires", "such as 30m"),
        ('expires = "2h"', "expires = true", "guards.1.expires", "such as 30m"),
        ('expires = "2h"', 'expires = "31d"', "guards.1.expires", "at most 30d"),
        ('guard = "confirm"', "guard = 1", "guards.2.guard", "approve"),
        ('guard = "confirm"', 'reason = "none"', "guards.2.guard", "is not set"),
    ],
)
def test_what_is_wrong_is_told_by_key(file: Path, right: str, wrong: str, key: str, words: str) -> None:
    assert right in GOOD
    file.write_text(GOOD.replace(right, wrong))

    with pytest.raises(BadPolicy) as caught:
        read_policy(str(file))

    found = [each.key for each in caught.value.wrong if words in each.words]
    assert found == [key], [*map(str, caught.value.wrong)]


def test_everything_that_is_wrong_is_told_at_once(file: Path) -> None:
    wrong = GOOD.replace("rule.*", "rulez.*").replace("[channels]", "[chanels]")
    file.write_text(wrong.replace('approvers = ["the leads"]', 'break_glass = ["the leads", "team", "leads"]'))

    with pytest.raises(BadPolicy) as caught:
        read_policy(str(file))

    assert [each.key for each in caught.value.wrong] == [
        "roles.team.may.2",
        "guards.2.operation",
        "chanels",
        "guards.1.break_glass.3",
    ]


@pytest.mark.parametrize(
    ("break_it", "words"),
    [
        (lambda file: file.unlink(), "the file is not there"),
        (lambda file: file.write_bytes(b"# \n\xff\xfe"), "line 2: is not UTF-8 text"),
        (lambda file: file.write_text("x = " + "[" * 5000 + "]" * 5000), "too long to be read"),
        (lambda file: file.write_text("x = " + "9" * 5000), "too long to be read"),
    ],
)
def test_what_cannot_be_read_is_told(file: Path, break_it: Callable[[Path], None], words: str) -> None:
    break_it(file)

    with pytest.raises(BadPolicy, match=words):
        read_policy(str(file))


def changed(file: Path, text: str, second: int) -> None:
    """Write *text* as somebody would in the so manieth second after."""
    file.write_text(text)
    os.utime(file, (1_800_000_000 + second, 1_800_000_000 + second))


def settled(current: CurrentPolicy) -> None:
    """Look as often as it takes for a file that nobody writes any more."""
    current.look()
    current.look()


def test_a_broken_file_leaves_the_old_policy_in_force_and_says_so_until_it_is_right(file: Path) -> None:
    current = CurrentPolicy(str(file))
    before = current()

    changed(file, GOOD.replace("rule.delete", "rule.destroy"), 1)
    settled(current)
    assert current() is before
    assert current.trouble is not None
    assert "guards.1.operation" in current.trouble

    file.unlink()
    settled(current)
    assert current() is before
    assert "the file is not there" in str(current.trouble)

    changed(file, GOOD.replace("approvals = 2", "approvals = 3"), 2)
    settled(current)
    assert current.trouble is None
    assert current().guard_for(Kind.RULE_DELETE).approvals == 3


def test_without_a_file_the_policy_is_the_one_without_roles() -> None:
    current = CurrentPolicy(None)
    current.look()

    assert current() == Policy()
    assert current.trouble is None


@pytest.mark.parametrize("text", ["", "\n", "# Who may do what.\n"], ids=repr)
def test_an_empty_file_is_no_policy(file: Path, text: str) -> None:
    file.write_text(text)

    with pytest.raises(BadPolicy, match="the file is empty"):
        CurrentPolicy(str(file))


@pytest.mark.parametrize("length", range(0, len(GOOD), 7))
def test_a_file_that_is_still_being_written_takes_nothing_away(file: Path, length: int) -> None:
    file.write_text(GOOD)
    current = CurrentPolicy(str(file))
    before = current()

    changed(file, GOOD[:length], 1)
    current.look()
    assert current() is before
    assert current.trouble is None
    changed(file, GOOD + "# Seen by Cara.\n", 2)
    settled(current)

    assert (current(), current.trouble) == (before, None)


@pytest.mark.parametrize("length", range(0, len(GOOD), 7))
def test_a_file_that_was_cut_never_takes_the_roles_or_the_guards_away(file: Path, length: int) -> None:
    file.write_text(GOOD)
    current = CurrentPolicy(str(file))

    changed(file, GOOD[:length], 1)
    settled(current)

    assert current().roles
    assert current().guards
