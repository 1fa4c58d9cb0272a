"""The modals of an import: the file first, then what would happen with its rows, and what people choose about them."""

from __future__ import annotations

import base64
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final, Self, TypeVar

from bot.members.csv import Chosen, MemberFile
from bot.members.csv_columns import Column, Mode
from bot.rules.rule_import_plan import Arrival, Choices, Differs, Entry, New, OnDiffers, OnNew
from bot.text.code_pages import TWICE, Reading
from bot.text.tables import MAX_COLUMNS, column_title
from handlers.blocks import inputs, messages, modals
from handlers.blocks.messages import Block, esc, plural, section
from handlers.blocks.modals import View, frame
from handlers.files import preview_view
from handlers.files.import_plan import ImportPlan
from handlers.grammar.command import slash

RULES_FILE: Final = "v1.import.rules-file"
RULES: Final = "v1.import.rules"
MEMBERS_FILE: Final = "v1.import.members-file"
MEMBERS: Final = "v1.import.members"
COLUMN: Final = "column"
"""Begins the ids of the menus in which the column of something is chosen."""
NO_COLUMN: Final = "none"
ENCODING: Final = "encoding"
"""The id of the menu in which the encoding of the file is chosen."""
PLACES: Final = {str(at): at for at in range(MAX_COLUMNS)}
"""Columns by the values of the menus."""
MAX_COLUMNS_OFFERED: Final = 50
"""Columns that a menu offers: five menus of more would be too long for a form."""
ASKED: Final[Mapping[Column, str]] = {
    Column.EMAIL: "Email",
    Column.NAME: "Name",
    Column.FIRST_NAME: "First name",
    Column.LAST_NAME: "Last name",
    Column.SEGMENTS: "Segments",
}

MAX_REASON: Final = 300
"""Characters of a reason: the preview keeps it in its metadata, beside a pasted text."""

E = TypeVar("E", bound=StrEnum)

NEW: Final[Mapping[str, str]] = {OnNew.CREATE: "Create them", OnNew.SKIP: "Skip them"}
DIFFERS: Final[Mapping[str, str]] = {
    OnDiffers.SKIP: "Keep the current rules",
    OnDiffers.OVERWRITE: "Overwrite the current rules",
    OnDiffers.COPY: "Create copies next to them",
}
ARRIVAL: Final[Mapping[str, str]] = {
    Arrival.INACTIVE: "New rules off, overwritten rules as they are now",
    Arrival.AS_IN_FILE: "As in the file: rules that are on match at once",
}
TABLE_ARRIVAL: Final = {**ARRIVAL, Arrival.AS_IN_FILE: "New rules on: they match at once"}
MODES: Final[Mapping[str, str]] = {
    Mode.ADD: "Add them as members",
    Mode.GRANT: "Grant them these segments",
    Mode.SET: "Replace their segments with these",
    Mode.REVOKE: "Revoke these segments",
    Mode.REMOVE: "Remove them from the site",
}


@dataclass(frozen=True, slots=True)
class Handed:
    """What somebody handed over: a file of Slack's, or a text; and what was said with it. Kept in the form's metadata."""

    channel: str
    name: str = ""
    file: str = ""
    packed: str = ""
    reason: str = ""
    start: str = ""
    """When it is to be done, as typed; empty for at once."""
    typed_at: str = ""
    """When that was typed, in ISO 8601: it means the same until the preview is sent."""
    site: str = ""
    mode: str = Mode.ADD
    encoding: str = ""
    """The encoding that somebody chose in the preview; empty before that."""
    seen: str = ""
    """Fingerprint of the plan that the form shows."""

    @classmethod
    def of(cls, view: View) -> Self:
        """Return the choices from a form's metadata and its inputs."""
        kept = modals.metadata(view)
        known = {name: str(kept[name]) for name in cls.__slots__ if kept.get(name)}
        values = inputs.values_of(view)
        typed = {
            "encoding": inputs.typed_value(values, ENCODING),
            "reason": (inputs.typed_value(values, inputs.REASON) or "")[:MAX_REASON],
        }
        return cls(**{"channel": ""} | known | {name: text for name, text in typed.items() if text})

    @classmethod
    def of_file_form(cls, view: View) -> Self:
        """Return what a first form was filled with."""
        values = inputs.values_of(view)
        return replace(
            cls.of(view),
            name=inputs.file_name(values) or "pasted text",
            file=inputs.file_id(values),
            packed=_pack(inputs.typed_value(values, "pasted") or ""),
            start=(inputs.typed_value(values, inputs.START) or "")[:MAX_START],
            mode=_read_choice(values, "mode", Mode.ADD),
        )

    def metadata(self) -> dict[str, str]:
        return {name: getattr(self, name) for name in self.__slots__ if getattr(self, name)}

    @property
    def pasted(self) -> str:
        return zlib.decompress(base64.b64decode(self.packed)).decode("utf-8", "surrogatepass") if self.packed else ""


def _pack(text: str) -> str:
    return base64.b64encode(zlib.compress(text.encode("utf-8", "surrogatepass"), 9)).decode() if text.strip() else ""


MAX_START: Final = 100
MAX_PACKED: Final = 2_000
"""Characters that a pasted text may have once it is packed: a view keeps 3,000, all told."""


def handed_errors(handed: Handed) -> dict[str, str]:
    """Return the errors found before anything is read, to show under the inputs."""
    if not handed.file and not handed.packed:
        return {inputs.FILE: "Choose a file, or paste its text below."}
    if handed.file and handed.packed:
        return {"pasted": "Use the file or the pasted text, not both."}
    if len(handed.packed) > MAX_PACKED:
        return {"pasted": "That is too long to paste. Save it as a file and choose that."}
    return modals.time_errors(handed.start, "")


@dataclass(frozen=True, slots=True)
class ImportForms:
    """The two forms of one kind of import, by their ids: of the file, and of the choices for it."""

    title: str
    file_id: str
    plan_id: str
    types: list[str]
    asked: Callable[[Handed], tuple[str, list[Block]]]
    """What the first form says of the file, and what it asks below it."""


def _rules_intro(handed: Handed) -> tuple[str, list[Block]]:
    about = (
        f"A JSON file from `{slash('rules export')}` or from the dashboard’s export, or a table (CSV) of redirects: "
        "_from_, _to_, and optionally _name_, _until_ and _group_. You see a preview before anything changes."
    )
    return about, [inputs.reason(handed.reason, loops=True, most=MAX_REASON)]


def _members_intro(handed: Handed) -> tuple[str, list[Block]]:
    about = (
        f":globe_with_meridians: Site *{esc(handed.site, 60)}*\nA CSV file with a column of emails; names and segments are "
        "optional. An _action_ column overrides the choice below. You see a preview before anything changes."
    )
    modes = inputs.radios("mode", "What to do with these people?", MODES, Mode(handed.mode))
    return about, [modes, inputs.reason(handed.reason, most=MAX_REASON)]


RULE_FORMS: Final = ImportForms("Import rules", RULES_FILE, RULES, ["json", "csv", "tsv", "txt"], _rules_intro)
MEMBER_FORMS: Final = ImportForms("Import members", MEMBERS_FILE, MEMBERS, ["csv", "tsv", "txt"], _members_intro)


def file_form(forms: ImportForms, handed: Handed, wrong: str = "") -> View:
    """Return the first form: for the file, or its text. *wrong*: what is wrong with the one that was *handed* over."""
    about, asked = forms.asked(handed)
    refused = [section(f":warning: *Nothing was imported.* {esc(wrong, 1500)}")] if wrong else []
    pasted = handed.pasted if len(handed.pasted) <= inputs.MAX_TYPED else ""
    blocks = [
        *refused,
        section(about),
        inputs.file(forms.types),
        inputs.text("pasted", "Or paste its text", pasted, optional=True, multiline=True),
        *asked,
        inputs.start(handed.start),
    ]
    kept = Handed(handed.channel, site=handed.site, mode="").metadata()
    return frame(forms.title, blocks, callback_id=forms.file_id, submit="Preview", metadata=kept)


def plan_form(forms: ImportForms, plan: ImportPlan, handed: Handed, why: str = "") -> View:
    """Return the preview, whole emails and all: a modal is private. It can be sent where something can be imported, or chosen.

    *why*: it was sent, and nothing was imported: one of MOVED, UNANSWERED, SILENT and ALL_SKIPPED.
    """
    submit = "Import" if not (plan.is_empty or plan.unanswered) else "Preview" if plan.asked else None
    blocks = [
        *([section(why)] if why else []),
        *preview_view.plan_blocks(plan, filename=handed.name),
        *([section(NOTHING)] if plan.is_empty and not plan.unanswered else []),
        *plan.asked,
        *([messages.context(f"Starts: {esc(handed.start, MAX_START)}")] if handed.start and submit else []),
    ]
    metadata = handed.metadata() if submit else None
    return frame(forms.title, blocks, callback_id=forms.plan_id, submit=submit, metadata=metadata)


MOVED: Final = (
    ":arrows_counterclockwise: *Nothing was imported yet.* The data changed since this preview. Please review it again."
)
SILENT: Final = (
    ":warning: *Nothing was imported yet: some of it loops.* Add a reason under “Why”, or import the rules off."
)
UNANSWERED: Final = ":warning: *Nothing was imported yet.* First answer what is marked :warning: below."
ALL_SKIPPED: Final = ":warning: *Nothing was imported: by your choices below, all of it is skipped.*"
NOTHING: Final = ":heavy_check_mark: *Nothing to import.*"


def choice_inputs(entries: Sequence[Entry], chosen: Choices, arrival: Mapping[str, str] = ARRIVAL) -> list[Block]:
    """Return a question for each kind of rules that something can be done with; none where there is no such rule.

    *chosen*: what is chosen in it.
    """
    counts = Counter(map(type, entries))
    asked: list[Block] = []
    if counts[New]:
        asked.append(inputs.radios("new", f"{plural(counts[New], 'new rule')}", NEW, chosen.new))
    if counts[Differs]:
        label = f"{plural(counts[Differs], 'rule')} that {'differs' if counts[Differs] == 1 else 'differ'} here"
        asked.append(inputs.radios("differs", label, DIFFERS, chosen.differs))
    return [*asked, inputs.radios("arrival", "On or off?", arrival, chosen.arrival)] if asked else []


def read_choices(view: View) -> Choices:
    """Return the choices made in a form; a question that it did not ask has its default."""
    values = inputs.values_of(view)
    default = Choices()
    return Choices(
        new=_read_choice(values, "new", default.new),
        differs=_read_choice(values, "differs", default.differs),
        arrival=_read_choice(values, "arrival", default.arrival),
    )


def encoding_input(readings: Sequence[Reading], chosen: str) -> list[Block]:
    """Return a menu of how the names of a file read, where its encoding can't be told; nothing is chosen before somebody did."""
    if not readings:
        return []
    options = {each.encoding: _reading_label(each) for each in readings}
    twice = any(each.encoding == TWICE for each in readings)
    why = "It looks as if it was encoded twice" if twice else "The file isn’t Unicode"
    words = f":warning: *Which of these is right?* {why}, so its letters can be read in several ways."
    return [section(words), inputs.menu(ENCODING, "Encoding", options, chosen, dispatch=True)]


def _reading_label(reading: Reading) -> str:
    page = f": {preview_view.ENCODINGS[reading.encoding]}"
    return messages.clip(" · ".join(reading.samples), inputs.MAX_OPTION_LENGTH - len(page)) + page


def column_inputs(file: MemberFile) -> list[Block]:
    """Return a menu of columns for each thing that is read; none where there is nothing to choose, or nothing was in doubt."""
    if not (file.unused or file.layout.in_doubt):
        return []
    words = "*Which column is which?* The preview follows what you choose."
    if claimed := file.layout.claimed:
        words = (
            f":warning: *Unclear: {', '.join(sorted(claimed))}.* Choose the right column, or _None_, before you import."
        )
    if Column.ACTION in claimed:
        words = (
            ":warning: *More than one column says what to do.* Leave only the right one in the file, and start again."
        )
    return [section(words), *(_column_menu(column, file) for column in ASKED)]


def _column_menu(column: Column, file: MemberFile) -> Block:
    used = set(file.columns.values())
    places = sorted({*range(len(file.examples))[:MAX_COLUMNS_OFFERED], *used})
    options = {str(at): _column_label(file, at) for at in places if at < len(file.examples)}
    if column is not Column.EMAIL:
        options = {NO_COLUMN: "None"} | options
    chosen = file.columns.get(column)
    default = NO_COLUMN if column is not Column.EMAIL and column not in file.layout.claimed else None
    return inputs.menu(
        f"{COLUMN}.{column}", ASKED[column], options, default if chosen is None else str(chosen), dispatch=True
    )


def _column_label(file: MemberFile, at: int) -> str:
    example = f": {file.examples[at]}" if file.examples[at] else ""
    return messages.clip(f"{' '.join(column_title(file.header, at).split())}{example}", inputs.MAX_OPTION_LENGTH)


def read_columns(view: View) -> Chosen | None:
    """Return the columns that somebody chose, None for what has none; None where the form did not ask."""
    values = inputs.values_of(view)
    chosen = {column: inputs.typed_value(values, f"{COLUMN}.{column}") for column in ASKED}
    answers = {column: PLACES.get(at) for column, at in chosen.items() if at}
    return answers if any(f"{COLUMN}.{column}" in values for column in ASKED) else None


def _read_choice(values: Mapping[str, Any], block_id: str, default: E) -> E:
    chosen = inputs.typed_value(values, block_id)
    return next((each for each in type(default) if each.value == chosen), default)
