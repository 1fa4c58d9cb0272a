"""A change of one thing or many as a phrase: requested, under way, done, not done, or undone."""

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

COUNTED: Final = re.compile(
    r"((?:Undo: )?(?:Switch on|Switch off|Delete|Remove|Grant .+ to|Revoke .+ from)) [\d,]+ (rule|member)s?", re.DOTALL
)
MASKED: Final = re.compile(r"(\S\*{3}@\S+)")


@dataclass(frozen=True, slots=True)
class Phrases:
    """The phrases for one change that titles are made of; mrkdwn, without a full stop."""

    request: str
    done: str
    under_way: str
    not_done: str
    """Empty for a bulk change, of which some items may be done: the word for its state says more."""
    undone: str


def phrases(change: Change) -> Phrases:
    """Return the phrases for *change*, in each of its states."""
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
    """Return the phrases for a change that creates or deletes its target."""
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
"""For each form of the title of a bulk change: how it begins, its middle part, and templates for the change once done, for
its undo, and for the undo once done."""


def _bulk_phrases(change: Change) -> Phrases:
    title = _title_with_count(change)
    plain = title.removeprefix(UNDO)
    undo, done, undone = f"{UNDO}{plain}", f"{plain}: done", f"Undone: {plain}"
    # The first row that fits counts: a removal “from every site” is listed before one without.
    for begins, middle, *templates in BULK:
        if plain.startswith(begins) and middle in plain:
            rest = plain.removeprefix(begins)
            # Split at the last one, since a name before it may contain the words of the middle part, too.
            what, _, of = rest.rpartition(middle) if middle else (rest, "", "")
            done, undo, undone = (template.format(what, of) for template in templates)
            break
    request, done, undone = (undo, undone, done) if title.startswith(UNDO) else (plain, done, undone)
    request, done, undone = map(_escape_title, (request, done, undone))
    return Phrases(request, done, under_way=request, not_done="", undone=undone)


def _title_with_count(change: Change) -> str:
    """Return the title of a bulk change, with the number of its items: a retry or an undo may have fewer than the first."""
    found = COUNTED.fullmatch(change.bulk.title)
    return f"{found[1]} {plural(change.bulk.size, found[2])}" if found else change.bulk.title


def _escape_title(title: str) -> str:
    """Return the *title* of a bulk change as mrkdwn, with masked emails as code."""
    parts = MASKED.split(clip(title, 150))
    return "".join(code(part) if number % 2 else esc(part).replace("`", "") for number, part in enumerate(parts))
