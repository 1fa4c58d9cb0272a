"""The changes of members that a text may ask for, by what it names: access, people who come and go, another email."""

from __future__ import annotations

from typing import Final

from handlers.grammar.command import Command
from handlers.grammar.lookups import for_people, show_people, show_urls
from handlers.grammar.recognised import Recognised
from handlers.grammar.vocabulary import ACTS, MAIL, MOVED, SAYS
from handlers.members.commands import (
    MembersAdd,
    MembersGrant,
    MembersMove,
    MembersOffboard,
    MembersRemove,
    MembersRevoke,
    MembersWhy,
)

DOWN_TO: Final = frozenset({"to", "only", "just"})
"""Words before what somebody is to keep: “downgrade ben to free”."""
MOVING: Final = frozenset({"rename", "set", "edit", "redirect"})
"""Acts that give somebody another email, where two are named."""


def grant(found: Recognised) -> list[Command]:
    """Return the grant of the segments that are named, or why somebody gets in, where none is."""
    if not found.segments:
        return for_people(found, lambda emails: MembersWhy(emails, site=found.site))
    segments = tuple(found.segments)
    return for_people(
        found, lambda emails: MembersGrant(emails, segments, found.site, expiry=found.expiry, because=found.reason)
    )


def give(found: Recognised) -> list[Command]:
    """Return the grant that is asked for; for a URL, which can't be granted, where it goes."""
    if found.urls:
        return show_urls(found)
    if found.people():
        found.take_as_theirs()
    return grant(found)


def take(found: Recognised) -> list[Command]:
    """Return the revocation that is asked for; the members alone where a text says only what they are to keep."""
    if not found.segments or found.plain & DOWN_TO:
        return show_people(found)
    segments = tuple(found.segments)
    return for_people(found, lambda emails: MembersRevoke(emails, segments, found.site, because=found.reason))


def add(found: Recognised) -> list[Command]:
    """Return the form of each new member; a grant where all of them are known already."""
    found.take_as_theirs()
    if found.segments and all(email in found.known.sites_of for email in found.emails):
        return give(found)
    return [
        MembersAdd(
            email,
            found.new_name or found.names.get(email),
            tuple(found.segments),
            found.site,
            expiry=found.expiry,
            because=found.reason,
        )
        for email in found.emails
    ]


def remove(found: Recognised) -> list[Command]:
    """Return the removal of those who are named, or of what they have, where the text is about members."""
    if found.people() and (found.segments or "access" in found.words):
        return take(found)
    if found.emails or (found.root == "members" and found.people()):
        if "everywhere" in found.words and not found.site:
            return offboard(found)
        return for_people(found, lambda emails: MembersRemove(emails, found.site, because=found.reason))
    return []


def offboard(found: Recognised) -> list[Command]:
    """Return the removal of people from every site and from this one, or of what they have."""
    if found.segments:
        return take(found)
    people = found.people(anywhere=not found.site)
    everywhere = for_people(found, lambda emails: MembersOffboard(emails, because=found.reason), people)
    if "offboard" in found.text.casefold() or "everywhere" in found.words:
        found.used.add("everywhere")
        return everywhere
    here = for_people(found, lambda emails: MembersRemove(emails, found.site, because=found.reason), people)
    return here if found.site else [*everywhere, *here]


def move(found: Recognised) -> list[Command]:
    """Return the change of a member's email: “anna@example.com is now anna.berg@example.com”, “change anna's email to …”."""
    if not found.emails or found.urls or found.segments or found.is_question or found.question not in {"", *SAYS}:
        return []
    act = ACTS.get(found.verb, found.act)
    says_move = act in MOVING and found.verb != "send"
    says_now = act in {"", "history"} and found.plain & MOVED
    has_new_email = found.verb == "new" and found.plain & MAIL
    if not (says_move or says_now or has_new_email):
        return []
    emails = list(dict.fromkeys(found.emails))
    old = [email for email in emails if email in found.known.sites_of] or emails[:-1]
    new = [email for email in emails if email not in old]
    typed, found.words = found.words, [word for word in found.words if word not in MOVED]
    if not old and found.plain & MAIL:
        old = [email for email in found.people(anywhere=not found.site) if email not in new]
    if len(new) != 1 or not old or (len(emails) > 1 and len(old) > 1):
        found.words = typed
        return []
    return [MembersMove(email, new[0], found.site, because=found.reason) for email in old]
