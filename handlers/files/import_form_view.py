"""The modals of an import: for the file first, then with what would happen with its rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Self

from bot.members.member_import_plan import Mode
from handlers.blocks import inputs, messages, modals
from handlers.blocks.messages import Block, esc, section
from handlers.blocks.modals import View, frame
from handlers.files.preview_view import ImportPlan, plan_blocks
from handlers.grammar.command import slash

RULES_FILE: Final = "v1.import.rules-file"
RULES: Final = "v1.import.rules"
MEMBERS_FILE: Final = "v1.import.members-file"
MEMBERS: Final = "v1.import.members"
MAX_REASON: Final = 300
"""Characters of a reason: the preview keeps it in its metadata."""
MAX_START: Final = 100

MODES: Final[Mapping[str, str]] = {
    Mode.ADD: "Add them as members",
    Mode.GRANT: "Grant them these segments",
    Mode.SET: "Replace their segments with these",
    Mode.REVOKE: "Revoke these segments",
    Mode.REMOVE: "Remove them from the site",
}


@dataclass(frozen=True, slots=True)
class Handed:
    """What somebody handed over: a file of Slack's, and what was said with it. Kept in the form's metadata."""

    channel: str
    name: str = ""
    file: str = ""
    reason: str = ""
    start: str = ""
    """When it is to be done, as typed; empty for at once."""
    typed_at: str = ""
    """When that was typed, in ISO 8601: it means the same until the preview is sent."""
    site: str = ""
    mode: str = Mode.ADD
    seen: str = ""
    """Fingerprint of the plan that the form shows."""

    @classmethod
    def of(cls, view: View) -> Self:
        """Return what a form with a preview keeps, with what was typed into it."""
        kept = modals.metadata(view)
        known = {name: str(kept[name]) for name in cls.__slots__ if kept.get(name)}
        reason = (inputs.typed_value(inputs.values_of(view), inputs.REASON) or "")[:MAX_REASON]
        return cls(**{"channel": ""} | known | ({"reason": reason} if reason else {}))

    @classmethod
    def of_file_form(cls, view: View) -> Self:
        """Return what a first form was filled with."""
        values = inputs.values_of(view)
        return replace(
            cls.of(view),
            name=inputs.file_name(values),
            file=inputs.file_id(values),
            start=(inputs.typed_value(values, inputs.START) or "")[:MAX_START],
            mode=Mode(inputs.typed_value(values, "mode") or Mode.ADD),
        )

    def metadata(self) -> dict[str, str]:
        return {name: getattr(self, name) for name in self.__slots__ if getattr(self, name)}


def handed_errors(handed: Handed) -> dict[str, str]:
    """Return the errors found before anything is read, to show under the inputs."""
    return modals.time_errors(handed.start, "")


@dataclass(frozen=True, slots=True)
class ImportForms:
    """The two forms of one kind of import, by their ids: of the file, and of the preview."""

    title: str
    file_id: str
    plan_id: str
    types: list[str]
    asked: Callable[[Handed], tuple[str, list[Block]]]
    """What the first form says of the file, and what it asks below it."""


def _rules_intro(handed: Handed) -> tuple[str, list[Block]]:
    about = (
        f"A JSON file from `{slash('rules export')}` or from the dashboard’s export, or a table (CSV UTF-8) of redirects "
        "with the headings `from`, `to`, and optionally `name` and `until`. Rules that are already there stay as they are. "
        "You see a preview before anything changes."
    )
    return about, [inputs.reason(handed.reason, most=MAX_REASON)]


def _members_intro(handed: Handed) -> tuple[str, list[Block]]:
    about = (
        f":globe_with_meridians: Site *{esc(handed.site, 60)}*\nA table (CSV UTF-8) with the heading `email`, and optionally "
        "`name` (of new members), `segments` (separated by commas) and `site`. You see a preview before anything changes."
    )
    modes = inputs.radios("mode", "What to do with these people?", MODES, handed.mode)
    return about, [modes, inputs.reason(handed.reason, most=MAX_REASON)]


RULE_FORMS: Final = ImportForms("Import rules", RULES_FILE, RULES, ["json", "csv", "tsv", "txt"], _rules_intro)
MEMBER_FORMS: Final = ImportForms("Import members", MEMBERS_FILE, MEMBERS, ["csv", "tsv", "txt"], _members_intro)


def file_form(forms: ImportForms, handed: Handed, wrong: str = "") -> View:
    """Return the first form: for the file. *wrong*: what is wrong with the one that was *handed* over."""
    about, asked = forms.asked(handed)
    refused = [section(f":warning: *Nothing was imported.* {esc(wrong, 1500)}")] if wrong else []
    blocks = [
        *refused,
        section(about),
        inputs.file(forms.types),
        *asked,
        inputs.start(handed.start),
        *inputs.channel(handed.channel),
    ]
    kept = Handed(handed.channel, site=handed.site, mode="").metadata()
    return frame(forms.title, blocks, callback_id=forms.file_id, submit="Preview", metadata=kept)


def plan_form(forms: ImportForms, plan: ImportPlan, handed: Handed, why: str = "") -> View:
    """Return the preview, whole emails and all: a modal is private. It can be sent where something can be imported.

    *why*: it was sent, and nothing was imported: MOVED.
    """
    submit = None if plan.is_empty else "Import"
    blocks = [
        *([section(why)] if why else []),
        *plan_blocks(plan, filename=handed.name),
        *([section(NOTHING)] if submit is None else []),
        *([messages.context(f"Starts: {esc(handed.start, MAX_START)}")] if handed.start and submit else []),
    ]
    metadata = handed.metadata() if submit else None
    return frame(forms.title, blocks, callback_id=forms.plan_id, submit=submit, metadata=metadata)


MOVED: Final = ":arrows_counterclockwise: *Nothing was imported yet.* This preview is new. Please review it again."
NOTHING: Final = ":heavy_check_mark: *Nothing to import.*"
