"""Rules as messages: one rule, a list of rules, and groups of rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final

from bot.clients.lists import Gap
from bot.rules.model import BOOKKEEPING, INACTIVE, SERVER_FIELDS, Group, Groups, Pair, Rule
from bot.rules.pair_fields import PAIR_FIELDS
from bot.rules.secrets import without_secrets
from handlers.blocks import menus, messages
from handlers.blocks.buttons import (
    ask_button,
    ask_buttons,
    run_button,
    share_button,
    turn_button,
    turn_buttons,
    with_menu,
)
from handlers.blocks.messages import ROWS_PER_PAGE, Block, ListPage, Message, code, esc, first_few, join_words, quote
from handlers.grammar.command import slash
from handlers.grammar.fields import filters_of
from handlers.rules.commands import (
    RulesCheck,
    RulesCopy,
    RulesDelete,
    RulesEdit,
    RulesExport,
    RulesGroup,
    RulesGroups,
    RulesHistory,
    RulesImport,
    RulesList,
    RulesNew,
    RulesOff,
    RulesOn,
    RulesSet,
    RulesShow,
    RulesWhich,
)
from handlers.rules.pairs_view import (
    describe,
    filters_words,
    first_pair_line,
    group_name,
    pair_line,
    source_line,
    status_mark,
    status_words,
)
from handlers.rules.reasons import type_word

SHOWN_PAIRS: Final = 12
SHOWN_LINES: Final = 8
"""Lines that are shown of one pair that does many things, such as changing ten headers."""
SECTION: Final = 1500
"""Characters after which a section is full, well below Slack's limit of 3,000."""


def menu() -> Message:
    """Return the menu of what can be done with rules: for one that is found there, its card has the rest."""
    rows = (
        [
            ask_button("Check a URL…", RulesWhich, "which", style="primary"),
            run_button("List rules", RulesList(), "list"),
            *ask_buttons(RulesList, RulesHistory),
            run_button("Check all rules", RulesCheck(), "check"),
        ],
        [
            run_button("Create redirect…", RulesNew("Redirect"), "redirect"),
            run_button("Block a URL…", RulesNew("Cancel"), "block"),
            run_button("Create rule…", RulesNew(), "new"),
            *ask_buttons(RulesOff, RulesOn, RulesEdit, RulesSet, RulesCopy, RulesDelete),
        ],
        [
            run_button("List groups", RulesGroups(), "groups"),
            *ask_buttons(RulesGroup, RulesExport),
            run_button("Import rules…", RulesImport(), "import"),
        ],
    )
    find = "*Traffic rules*\nFind one, to switch, edit, copy or delete it:"
    blocks = [messages.section(find, menus.rule_menu()), *chain.from_iterable(map(messages.actions, rows))]
    return messages.message("Traffic rules: find one, ask where a URL goes, or create one", blocks)


def rule_card(rule: Rule, *, public: bool, groups: Groups | None = None, more: Sequence[Block] = ()) -> Message:
    """Return the card of one rule, as far as a message holds it; *public*: secrets are hidden, and a button shows them privately.

    *more*: further blocks, such as planned changes of it.
    """
    if public:
        rule = without_secrets(rule, range(1, SHOWN_PAIRS + 1))
    blocks = [
        messages.section(f"{status_mark(rule, groups)} *{quote(rule.title, 200)}* · {status_words(rule, groups)}"),
        *pair_blocks(rule),
        *([messages.section(esc(rule.description or "", 600))] if (rule.description or "").strip() else []),
        *_other_fields(rule, groups),
        *more,
    ]
    privately = run_button("Show to me", RulesShow(ref=rule.id), "privately")
    blocks += messages.actions([privately] if public else _rule_buttons(rule))
    return messages.message(f"Rule {quote(rule.title)}", blocks)


def pair_blocks(rule: Rule) -> list[Block]:
    """Return every pair; of a long rule the first ones, and how many more there are."""
    pairs = rule.pairs or ()
    alone = len(pairs) == 1
    told = [_pair_text(rule, pair, 0 if alone else number) for number, pair in enumerate(pairs[:SHOWN_PAIRS], 1)]
    blocks = [messages.section(text) for text in messages.pack_lines(told, SECTION)]
    if more := messages.and_more(len(pairs) - SHOWN_PAIRS, "pair"):
        blocks.append(messages.context(more))
    return blocks or [messages.section("_No pairs, so it does nothing._")]


def _pair_text(rule: Rule, pair: Pair, number: int) -> str:
    """Return one pair: its condition, its effect (a list where that is more than a line), and its filters."""
    head = f"*Pair {number}*  " if number else ""
    lines = [] if rule.rule_type in PAIR_FIELDS else describe(rule.rule_type, pair.document())
    if len(lines) < 2:
        return head + pair_line(rule.rule_type, pair)
    filters = filters_words(pair)
    source = source_line(pair) + (f" · {filters}" if filters else "")
    return "\n".join([head + source, *(f"• {line}" for line in first_few(lines, SHOWN_LINES))])


def _other_fields(rule: Rule, groups: Groups | None) -> list[Block]:
    """Return the type, group, last change and id of *rule*, and the fields that Gatehouse doesn't know."""
    texts = [esc(type_word(rule.rule_type), 40)]
    if rule.group_id:
        texts.append(f"{group_name(rule, groups)}" + (UNKNOWN_GROUP if groups is None else ""))
    if rule.modified:
        texts.append(f"changed {messages.moment(rule.modified)}")
    texts.append(code(rule.id, 100))
    unknown = [name for name in rule.model_extra or {} if name not in KNOWN_EXTRA]
    if unknown:
        texts.append(f"also has {join_words([code(name, 40) for name in unknown], most=8)}")
    return [messages.context(" · ".join(texts))]


UNKNOWN_GROUP: Final = " (on or off: couldn’t be read)"

KNOWN_EXTRA: Final = SERVER_FIELDS | BOOKKEEPING | {"objectType", "version", "preserveCookie", "removeCSPHeader"}


def _rule_buttons(rule: Rule) -> list[Block | None]:
    off, on = RulesOff(refs=(rule.id,)), RulesOn(refs=(rule.id,))
    return with_menu(
        [
            ask_button("Switch off…", off, "off") if rule.active else run_button("Switch on", on, "on"),
            run_button("Edit…", RulesEdit(ref=rule.id), "edit"),
            run_button("Copy…", RulesCopy(ref=rule.id), "copy"),
            run_button("Delete", RulesDelete(refs=(rule.id,)), "delete"),
            run_button("Show history", RulesHistory(ref=rule.id), "history"),
            share_button(RulesShow(ref=rule.id)),
        ]
    )


GROUPS_NOT_READ: Final = "Which groups are off couldn’t be read: a rule that is on may be off with its group."
ORDERS: Final = {"type": ", by type", "changed": ", latest change first"}
"""The suffix of the title for an order other than the default."""


def rule_list(
    page: ListPage[Rule],
    *,
    command: RulesList,
    gap: Gap | None,
    groups: Groups | None,
    public: bool,
) -> Message:
    """Return one page of a list. Each row has a button and, unless it is *public*, its number for ``#n``."""
    if not page.items:
        return _empty_list(command, gap, groups)
    count = messages.plural(page.total, "rule")
    title = f"*{count}*{_filters(command)}{ORDERS.get(command.sort or '', '')}"
    rows = [
        (
            _row(rule, command, groups, public=public),
            run_button("Show", RulesShow(ref=rule.id), number, spoken=f"Show {rule.title}"),
        )
        for number, rule in enumerate(page.items, start=page.first)
    ]
    blocks = [messages.section(title), *messages.gap_lines(gap, "rules")]
    blocks += messages.list_rows(rows, first=None if public else page.first)
    blocks.append(messages.context(f"{page.label}{messages.row_hint(public=public)}"))
    if groups is None and any(rule.group_id for rule in page.items):
        blocks.append(messages.context(GROUPS_NOT_READ))
    if command.group and groups is None:
        blocks.append(messages.context(ONLY_IDS))
    share = share_button(replace(command, page=page.number))
    buttons = messages.actions([*turn_buttons(page, command), share])
    return messages.message(f"{count}, {page.label.lower()}", [*blocks, *buttons])


def _row(rule: Rule, command: RulesList, groups: Groups | None, *, public: bool) -> str:
    """Return the name of *rule* and how it stands, and below it what it does."""
    if public:
        rule = without_secrets(rule, {1})
    facts = [f"*{esc(rule.title, 120)}*", status_words(rule, groups)]
    if command.group:
        facts.append(group_name(rule, groups))
    if command.sort == "changed":
        facts.append(f"changed {messages.moment(rule.modified)}" if rule.modified else "no date")
    return " · ".join(facts) + "\n" + first_pair_line(rule, 70)


def _filters(command: RulesList) -> str:
    filters = filters_of(command)
    status = filters.get("status", "")
    return messages.filters_line(command.text, filters | ({"status": SWITCHES.get(status, status)} if status else {}))


SWITCHES: Final = {"active": "on", "inactive": "off"}


ONLY_IDS: Final = "The names of the groups couldn’t be read, so only their ids were searched."
SEARCHED: Final = "Searched: names, ids, descriptions, URLs and values."


def _empty_list(command: RulesList, gap: Gap | None, groups: Groups | None) -> Message:
    filtered = _filters(command)
    read = " among those that could be read" if gap else ""
    text = f":mag: *No rules*{filtered}{read}" if filtered or gap else ":mag: *There are no rules yet*"
    buttons = (
        turn_button("List all rules", RulesList(), "all") if filtered else None,
        run_button("Create rule…", RulesNew(), 0),
    )
    notes = {ONLY_IDS: command.group and groups is None, SEARCHED: command.text}
    told = [messages.context(note) for note, holds in notes.items() if holds]
    blocks = [messages.section(text), *messages.gap_lines(gap, "rules"), *told, *messages.actions(buttons)]
    return messages.message(f"No rules found{read}", blocks)


def group_list(
    groups: Sequence[Group],
    rules: Mapping[str, int],
    on: Mapping[str, int],
    gaps: Mapping[str, Gap | None],
    *,
    public: bool,
) -> Message:
    """Return the list of *groups*. *rules* and *on*: group id -> how many rules it has, and how many of those are on.

    *gaps*: what was not read of which list.
    """
    title = f"{messages.plural(len(groups), 'group')}"
    blocks: list[Block] = [messages.section(f"*{title}*")]
    blocks += [line for plural, gap in gaps.items() for line in messages.gap_lines(gap, plural)]
    for number, group in enumerate(groups[:ROWS_PER_PAGE]):
        show = run_button("Show", RulesList(group=group.id), number, spoken=f"Show the rules of {group.title}")
        blocks.append(messages.section(_group_line(group, rules.get(group.id, 0), on.get(group.id, 0)), show))
    buttons = [*ask_buttons(RulesGroup), share_button(RulesGroups())]
    blocks += [*_left_out_groups(groups, rules), *messages.actions(buttons)]
    return messages.message(title, messages.without_buttons(blocks) if public else blocks)


def _group_line(group: Group, rules: int, on: int) -> str:
    count = "no rules" if not rules else messages.plural(rules, "rule")
    if group.active:
        return f"*{esc(group.title, 120)}* · On\n{count}{f', {on:,} of them on' if on < rules else ''}"
    other = "" if group.status == INACTIVE else f" ({esc(group.status or 'no status', 40)})"
    return f"*{esc(group.title, 120)}* · Off{other}, and so are all its rules\n{count}"


def _left_out_groups(groups: Sequence[Group], rules: Mapping[str, int]) -> list[Block]:
    known = {group.id for group in groups}
    lost = [f"{code(group_id, 60)} ({count})" for group_id, count in rules.items() if group_id not in known]
    texts = []
    if len(groups) > ROWS_PER_PAGE:
        texts.append(
            f"…and {len(groups) - ROWS_PER_PAGE:,} more. To see the rules of one: `{slash('rules list group:NAME')}`"
        )
    if lost:
        texts.append(f"Rules are also in groups that the service doesn’t list: {join_words(lost, most=8)}")
    return [messages.context(*texts)] if texts else []
