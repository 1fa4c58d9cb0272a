"""What to do with each kind of record of an imported file of rules, and the changes that this comes to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from bot.domain.change import Kind
from bot.domain.essence import essence
from bot.domain.intended import Document, Intended
from bot.domain.rule import INACTIVE, RuleDraft
from bot.domain.rule_import import Differs, New, RulePlan


class OnNew(StrEnum):
    CREATE = "create"
    SKIP = "skip"


class OnDiffers(StrEnum):
    OVERWRITE = "overwrite"
    COPY = "copy"
    SKIP = "skip"


class Arrival(StrEnum):
    """The status that imported rules have."""

    INACTIVE = "inactive"
    """What is created arrives Inactive; what is overwritten keeps the status that it has."""
    AS_IN_FILE = "file"


@dataclass(frozen=True, slots=True)
class Choices:
    """What somebody chose; what is the same already is always left alone. The defaults overwrite nothing."""

    new: OnNew = OnNew.CREATE
    differs: OnDiffers = OnDiffers.SKIP
    arrival: Arrival = Arrival.INACTIVE


def proposals(plan: RulePlan, choices: Choices) -> tuple[Intended, ...]:
    """The changes to propose, in the order of the file; an overwrite that would change nothing is none."""
    return tuple(_intended(plan, choices))


def _intended(plan: RulePlan, choices: Choices) -> Iterator[Intended]:
    for entry in plan.entries:
        match entry:
            case New(number=number, draft=draft) if choices.new is OnNew.CREATE:
                yield Intended(number, Kind.RULE_CREATE, None, None, _created(draft, choices.arrival))
            case Differs(number=number, live=live, draft=draft) if choices.differs is OnDiffers.COPY:
                name = f"{draft.title} (copy)" if draft.title == live.title else draft.title
                after = _created(draft, choices.arrival) | {"name": name}
                yield Intended(number, Kind.RULE_CREATE, None, None, after)
            case Differs() if choices.differs is OnDiffers.OVERWRITE:
                yield from _overwritten(entry, choices.arrival)


def _created(draft: RuleDraft, arrival: Arrival) -> Document:
    """The body of a new rule: the ids of the pairs are for the service to give, and the status is always said."""
    status = draft.status if arrival is Arrival.AS_IN_FILE else None
    return draft.content() | {"description": draft.description or "", "status": status or INACTIVE}


def _overwritten(entry: Differs, arrival: Arrival) -> Iterator[Intended]:
    before, after = entry.live.document(), entry.merged()
    if arrival is Arrival.INACTIVE:
        after["status"] = entry.live.status or INACTIVE
    if essence(after) != essence(entry.live.body()):
        yield Intended(entry.number, Kind.RULE_UPDATE, entry.live.id, before, after)
