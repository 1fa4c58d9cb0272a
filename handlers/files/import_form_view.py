"""The modals of an import: what is to happen with a table of members, and what with each kind of rule of a file."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, TypeVar

from bot.members.csv import MAX_COLUMNS, MemberFile
from bot.members.csv_columns import Column, Columns, Mode
from bot.members.import_entries import MemberPlan, edits
from bot.rules.rule_import_plan import Arrival, Choices, Differs, New, OnDiffers, OnNew, RulePlan
from handlers.blocks import inputs, messages
from handlers.blocks.messages import Block, esc, plural
from handlers.blocks.modals import View, frame, section
from handlers.files import preview_view
from handlers.grammar.command import slash

RULES_FILE: Final = "v1.import.rules-file"
RULES: Final = "v1.import.rules"
MEMBERS_FILE: Final = "v1.import.members-file"
MEMBERS: Final = "v1.import.members"
COLUMN: Final = "column"
"""Begins the ids of the menus in which the column of something is chosen."""
NO_COLUMN: Final = "none"
PLACES: Final = {str(at): at for at in range(MAX_COLUMNS)}
"""Columns by the values of the menus."""
MOST_COLUMNS: Final = 50
"""Columns that a menu offers: five menus of more would be too long for a form."""
ASKED: Final[Mapping[Column, str]] = {
    Column.EMAIL: "Email",
    Column.NAME: "Name",
    Column.FIRST_NAME: "First name",
    Column.LAST_NAME: "Last name",
    Column.SEGMENTS: "Segments",
}

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
MODES: Final[Mapping[str, str]] = {
    Mode.ADD: "Add them as members",
    Mode.GRANT: "Grant them these segments",
    Mode.SET: "Replace their segments with these",
    Mode.REVOKE: "Revoke these segments",
    Mode.REMOVE: "Remove them from the site",
}


def rule_form(plan: RulePlan, *, filename: str, metadata: dict[str, Any], moved: bool = False) -> View:
    """The preview, and a question for each kind that there is; without a way to go on where there is nothing to do."""
    counts = plan.counts()
    asked: list[Block] = []
    if counts[New]:
        asked.append(inputs.radios("new", f"{plural(counts[New], 'new rule')}", NEW))
    if counts[Differs]:
        label = f"{plural(counts[Differs], 'rule')} that {'differs' if counts[Differs] == 1 else 'differ'} here"
        asked.append(inputs.radios("differs", label, DIFFERS))
    if asked:
        asked.append(inputs.radios("arrival", "On or off?", ARRIVAL))
    blocks = [*_moved(moved), *preview_view.rule_blocks(plan, filename=filename), *(asked or [section(NOTHING)])]
    return frame(
        "Import rules",
        blocks,
        callback_id=RULES,
        submit="Import" if asked else None,
        metadata=metadata if asked else None,
    )


NOTHING: Final = ":heavy_check_mark: *Nothing to import.*"


def read_choices(view: View) -> Choices:
    """What somebody chose; what was not asked has its default."""
    values = inputs.values_of(view)
    default = Choices()
    return Choices(
        new=_chosen(values, "new", default.new),
        differs=_chosen(values, "differs", default.differs),
        arrival=_chosen(values, "arrival", default.arrival),
    )


def rules_file(*, pasted: str = "", reason: str = "", wrong: str = "", metadata: dict[str, Any]) -> View:
    """What is asked first: the file, or its text. *wrong*: what is the matter with the one that was sent."""
    about = (
        f"A JSON file from `{slash('rules export')}` or from the dashboard’s export. "
        "You see a preview before anything changes."
    )
    blocks = [*_wrong(wrong), section(about), *_handed_over(["json", "txt"], pasted)]
    blocks.append(inputs.reason(reason, loops=True))
    return frame("Import rules", blocks, callback_id=RULES_FILE, submit="Preview", metadata=metadata)


def members_file(
    *, site: str, pasted: str = "", reason: str = "", mode: Mode = Mode.ADD, wrong: str = "", metadata: dict[str, Any]
) -> View:
    """The same for a table of members of *site*, and what is to become of them."""
    about = (
        f":globe_with_meridians: Site *{esc(site, 60)}*\nA CSV file with a column of emails; names and segments are "
        "optional. An _action_ column overrides the choice below. You see a preview before anything changes."
    )
    blocks = [
        *_wrong(wrong),
        section(about),
        *_handed_over(["csv", "tsv", "txt"], pasted),
        inputs.radios("mode", "What to do with these people?", MODES, mode),
        inputs.reason(reason),
    ]
    return frame("Import members", blocks, callback_id=MEMBERS_FILE, submit="Preview", metadata=metadata)


def _moved(moved: bool) -> list[Block]:
    words = ":arrows_counterclockwise: *Nothing was imported yet.* The data changed since this preview. Please review it again."
    return [section(words)] if moved else []


def _wrong(words: str) -> list[Block]:
    return [section(f":warning: *Nothing was imported.* {esc(words, 1500)}")] if words else []


def _handed_over(types: list[str], pasted: str) -> list[Block]:
    if len(pasted) > inputs.MOST_TYPED:
        pasted = ""
    return [
        inputs.file("file", "File", types, optional=True),
        inputs.text("pasted", "Or paste its text", pasted, optional=True, multiline=True),
    ]


def read_mode(view: View) -> Mode:
    return _chosen(inputs.values_of(view), "mode", Mode.ADD)


def member_form(plan: MemberPlan, *, filename: str, site: str, metadata: dict[str, Any], moved: bool = False) -> View:
    """The dry run, whole addresses and all: a modal is private. It can be sent where there is something to do, or a
    column to choose.
    """
    shown = preview_view.member_blocks(plan, filename=filename, site=site)
    asked = _columns(plan.file)
    if edits(plan, site):
        submit = "Import"
    else:
        shown.append(section(NOTHING))
        submit = "Preview"
    if submit != "Import" and not asked:
        return frame("Import members", [*_moved(moved), *shown], callback_id=MEMBERS)
    blocks = [*_moved(moved), *shown, *asked]
    return frame("Import members", blocks, callback_id=MEMBERS, submit=submit, metadata=metadata)


def _columns(file: MemberFile) -> list[Block]:
    """A menu of columns for each thing that is read; none where there is nothing to choose, or nothing was in doubt."""
    if not (file.ignored or file.layout.in_doubt):
        return []
    words = "*Which column is which?* The preview follows what you choose."
    if file.layout.claimed:
        names = ", ".join(sorted(file.layout.claimed))
        words = f":warning: *More than one column could be {names}.* Choose the right one."
    return [section(words), *(_column(column, file) for column in ASKED)]


def _column(column: Column, file: MemberFile) -> Block:
    used = set(file.columns.values())
    places = sorted({*range(len(file.examples))[:MOST_COLUMNS], *used})
    options = {str(at): _option(file, at) for at in places if at < len(file.examples)}
    if column is not Column.EMAIL:
        options = {NO_COLUMN: "None"} | options
    chosen = file.columns.get(column)
    default = NO_COLUMN if column is not Column.EMAIL and column not in file.layout.claimed else None
    return inputs.menu(
        f"{COLUMN}.{column}", ASKED[column], options, default if chosen is None else str(chosen), dispatch=True
    )


def _option(file: MemberFile, at: int) -> str:
    example = f": {file.examples[at]}" if file.examples[at] else ""
    return messages.clip(f"{' '.join(file.title(at).split())}{example}", inputs.LONGEST_OPTION)


def read_columns(view: View) -> Columns | None:
    """The columns that somebody chose; None where the form did not ask."""
    values = inputs.values_of(view)
    if not any(f"{COLUMN}.{column}" in values for column in ASKED):
        return None
    chosen = {column: inputs.typed(values, f"{COLUMN}.{column}") or "" for column in ASKED}
    return {column: PLACES[at] for column, at in chosen.items() if at in PLACES}


def _chosen(values: Mapping[str, Any], block_id: str, default: E) -> E:
    chosen = inputs.typed(values, block_id)
    return next((each for each in type(default) if each.value == chosen), default)
