"""A change as a phrase: what is asked, what is under way, what is done, or not, or undone; of one thing or many."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from bot.changes.model.change import Change
from bot.changes.model.edits import Kind
from handlers.blocks.messages import clip, code, esc, plural
from handlers.changes.subject import (
    ACCESS,
    EDITS,
    VERBS,
    changed_fields,
    changed_segments,
    new_status,
    on_site,
    subject,
)

COUNTED: Final = re.compile(r"((?:Undo: )?(?:Switch on|Switch off|Delete)) [\d,]+ rules?")
MASKED: Final = re.compile(r"(\S\*{3}@\S+)")


@dataclass(frozen=True, slots=True)
class Phrases:
    """A change of one thing or many, said in each of the ways that a title needs; mrkdwn, without a full stop."""

    request: str
    done: str
    under_way: str
    not_done: str
    """Empty for a bulk change, of which some may be done: the word for its state says more."""
    undone: str


def phrases(change: Change) -> Phrases:
    """What *change* is called while it is asked for, and once all of it is done, or not."""
    if change.is_bulk:
        return _bulk_phrases(change)
    name = subject(change)
    if (switched := new_status(change.edit)) is not None:
        back = "back on" if switched == "off" else "off again"
        the, this = ("the group ", f"The group {name}") if change.edit.target.service == "groups" else ("", name)
        return Phrases(
            f"Switch {switched} {the}{name}",
            f"{this} is {switched}",
            f"Switching {switched} {the}{name}",
            f"{this} was not switched {switched}",
            f"{this} is {back}",
        )
    if change.edit.kind in ACCESS:
        return _access_phrases(change, name)
    if change.edit.kind in EDITS:
        the_fields = changed_fields(change)
        fields = the_fields.removeprefix("the ")
        return Phrases(
            f"Change {the_fields} of {name}",
            f"{name}: {fields} changed",
            f"Changing {the_fields} of {name}",
            f"{name}: {fields} not changed",
            f"{name}: {fields} changed back",
        )
    return _whole_phrases(change, name)


def _whole_phrases(change: Change, name: str) -> Phrases:
    """What is said where the whole thing comes or goes."""
    kind, request = change.edit.kind, change.request
    verb, done = VERBS[kind]
    place, gone = on_site(change, "from" if kind.destroys else "to"), on_site(change, "from")
    is_back = f"{name} is back{on_site(change)}"
    was = f"was {'removed' if change.edit.target.service == 'members' else 'deleted'}"
    return Phrases(
        f"{verb.capitalize()} {name}{place}",
        is_back if request.undoes and kind.creates else f"{name} {done}{place}",
        f"{verb.capitalize().removesuffix('e')}ing {name}{place}",
        f"{name} was not {done}{place}",
        is_back if kind.destroys else f"{name} {was}{gone}",
    )


def _access_phrases(change: Change, name: str) -> Phrases:
    to = f"access to {changed_segments(change)}{on_site(change)}"
    has, has_not = f"{name} has {to}", f"{name} no longer has {to}"
    if change.edit.kind is Kind.MEMBER_GRANT:
        return Phrases(f"Grant {name} {to}", has, f"Granting {name} {to}", f"{name} was not granted {to}", has_not)
    name_of = f"{name}’s"
    return Phrases(
        f"Revoke {name_of} {to}", has_not, f"Revoking {name_of} {to}", f"{name_of} {to} was not revoked", f"{has} again"
    )


UNDO: Final = "Undo: "
BULK: Final = (
    ("Switch on ", "", "{0} switched on", "Switch {0} off again", "{0} switched off again"),
    ("Switch off ", "", "{0} switched off", "Switch {0} back on", "{0} switched back on"),
    ("Delete ", "", "{0} deleted", "Restore {0}", "{0} restored"),
    (
        "Remove ",
        " from every site",
        "{0} removed from every site",
        "Put {0} back on all their sites",
        "{0} put back on all their sites",
    ),
    ("Remove ", "", "{0} removed", "Put {0} back", "{0} put back"),
    ("Change the email of ", "", "Email of {0} changed", "Change the email of {0} back", "Email of {0} changed back"),
    ("Import ", " from ", "{0} imported from {1}", "Undo the import from {1}", "Import from {1} undone"),
    ("Grant ", " to ", "{0} granted to {1}", "Revoke {0} from {1} again", "{0} revoked from {1} again"),
    ("Revoke ", " from ", "{0} revoked from {1}", "Grant {0} to {1} again", "{0} granted to {1} again"),
)
"""How the title of a bulk change begins, what is in the middle of it, and then: what it is called once done, what its undo is
called, and what that is once done."""


def _bulk_phrases(change: Change) -> Phrases:
    title = _title_with_count(change)
    plain = title.removeprefix(UNDO)
    undo, done, undone = f"{UNDO}{plain}", f"{plain}: done", f"Undone: {plain}"
    for begins, middle, *templates in BULK:
        if plain.startswith(begins) and middle in plain:
            rest = plain.removeprefix(begins)
            what, _, of = rest.rpartition(middle) if middle else (rest, "", "")
            done, undo, undone = (template.format(what, of) for template in templates)
            break
    request, done, undone = (undo, undone, done) if title.startswith(UNDO) else (plain, done, undone)
    request, done, undone = map(_escape_title, (request, done, undone))
    return Phrases(request, done, under_way=request, not_done="", undone=undone)


def _title_with_count(change: Change) -> str:
    """The title of a bulk change, with how many things it has: another try of it may have fewer."""
    found = COUNTED.fullmatch(change.bulk.title)
    return f"{found[1]} {plural(change.bulk.size, 'rule')}" if found else change.bulk.title


def _escape_title(title: str) -> str:
    """The *title* of a bulk change as mrkdwn, with a masked email in it as code."""
    parts = MASKED.split(clip(title, 150))
    return "".join(code(part) if number % 2 else esc(part).replace("`", "") for number, part in enumerate(parts))
