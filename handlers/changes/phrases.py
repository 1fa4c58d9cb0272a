"""A change of one thing or many as a phrase: requested, done, or undone."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from bot.changes.model.change import Change
from bot.changes.model.edits import Kind
from bot.changes.model.parts import BulkAct, Purpose
from bot.changes.proposals import UNDONE_BY
from handlers.blocks.messages import clip, code, esc, plural
from handlers.changes.subject import (
    ACCESS,
    EDITS,
    THINGS,
    VERBS,
    changed_fields,
    changed_segments,
    new_status,
    on_site,
    subject,
)

MASKED: Final = re.compile(r"(\S\*{3}@\S+)")


@dataclass(frozen=True, slots=True)
class Phrases:
    """The phrases for one change that titles are made of; mrkdwn, without a full stop."""

    request: str
    done: str
    undo: str
    """Its undo, requested."""
    undone: str


Pair = tuple[str, str]
"""What is requested, and the same once it is done."""


def phrases(change: Change) -> Phrases:
    """Return the phrases for *change*: an undo says that what it leads to is so again."""
    if change.bulk.purpose is not None:
        return _bulk_phrases(change, change.bulk.purpose)
    edit, is_undo = change.edit, change.request.undoes is not None
    inverse = replace(edit, kind=UNDONE_BY[edit.kind], before=edit.after, after=edit.before)
    undo = replace(change, edit=inverse)
    return Phrases(*_forms(change)[is_undo], *_forms(undo)[not is_undo])


def _forms(change: Change) -> tuple[Pair, Pair]:
    """Return the phrases for *change* alone, and those where it leads to what was so before."""
    name, kind = subject(change), change.edit.kind
    if (switched := new_status(change.edit)) is not None:
        back = "back on" if switched == "on" else "off again"
        the, this = ("the group ", f"The group {name}") if change.edit.target.service == "groups" else ("", name)
        plain = f"Switch {switched} {the}{name}", f"{this} is {switched}"
        return plain, (f"Switch {the}{name} {back}", f"{this} is {back}")
    if kind in ACCESS:
        to = f"access to {changed_segments(change)}{on_site(change)}"
        if kind is Kind.MEMBER_GRANT:
            return (f"Grant {name} {to}", f"{name} has {to}"), (f"Give {name} back {to}", f"{name} has {to} again")
        revoke, revoked = f"Revoke {name}’s {to}", f"{name} no longer has {to}"
        return (revoke, revoked), (f"{revoke} again", revoked)
    if kind in EDITS:
        fields = changed_fields(change)
        edit, edited = f"Change {fields} of {name}", f"{name}: {fields.removeprefix('the ')} changed"
        return (edit, edited), (f"{edit} back", f"{edited} back")
    verb, done = VERBS[kind]
    place = on_site(change, "from" if kind.destroys else "to")
    plain = f"{verb.capitalize()} {name}{place}", f"{name} {done}{place}"
    if kind.destroys:
        return plain, (f"{plain[0]} again", f"{name} was {done}{place}")
    is_member = change.edit.target.service == "members"
    restore = f"Put {name} back{on_site(change)}" if is_member else f"Restore {name}"
    return plain, (restore, f"{name} is back{on_site(change)}")


BULK: Final = {
    BulkAct.SWITCH_ON: ("Switch on {0}", "{0} switched on", "Switch {0} off again", "{0} switched off again"),
    BulkAct.SWITCH_OFF: ("Switch off {0}", "{0} switched off", "Switch {0} back on", "{0} switched back on"),
    BulkAct.CHANGE: ("Change {0}", "{0} changed", "Change {0} back", "{0} changed back"),
    BulkAct.DELETE: ("Delete {0}", "{0} deleted", "Restore {0}", "{0} restored"),
    BulkAct.REMOVE: ("Remove {0}", "{0} removed", "Put {0} back", "{0} put back"),
    BulkAct.OFFBOARD: (
        "Remove {1} from every site",
        "{1} removed from every site",
        "Put {1} back on all their sites",
        "{1} put back on all their sites",
    ),
    BulkAct.GRANT: (
        "Grant {1} to {0}",
        "{1} granted to {0}",
        "Revoke {1} from {0} again",
        "{1} revoked from {0} again",
    ),
    BulkAct.REVOKE: (
        "Revoke {1} from {0}",
        "{1} revoked from {0}",
        "Grant {1} to {0} again",
        "{1} granted to {0} again",
    ),
    BulkAct.IMPORT: (
        "Import {0} from {1}",
        "{0} imported from {1}",
        "Undo the import from {1}",
        "Import from {1} undone",
    ),
}
"""What a bulk change is called: requested, done, its undo requested, and that done; ``{0}``: how many of what, ``{1}``: what its
purpose is about.
"""


def _bulk_phrases(change: Change, purpose: Purpose) -> Phrases:
    service = change.edit.target.service
    # A row of a table of members may add, change or remove one.
    is_rows = purpose.act is BulkAct.IMPORT and service == "members"
    things = plural(change.bulk.to_do, "row" if is_rows else THINGS[service])
    texts = (_escape_title(template.format(things, purpose.about)) for template in BULK[purpose.act])
    request, done, undo, undone = texts
    return Phrases(undo, undone, request, done) if purpose.is_undo else Phrases(request, done, undo, undone)


def _escape_title(title: str) -> str:
    """Return the *title* of a bulk change as mrkdwn, with masked emails as code."""
    parts = MASKED.split(clip(title, 150))
    return "".join(code(part) if number % 2 else esc(part).replace("`", "") for number, part in enumerate(parts))
