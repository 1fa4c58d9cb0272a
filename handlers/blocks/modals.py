"""The parts that all modals share: the frame, the view while they wait, and the last view."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from bot.changes.model.change import Change
from bot.changes.model.states import State
from handlers.blocks import inputs, messages
from handlers.blocks.buttons import button, run_button
from handlers.blocks.inputs import label_text
from handlers.blocks.messages import Block, Message, actions, as_sentence, code, context, esc, message, quote
from handlers.grammar.command import Command, slash
from handlers.grammar.time_fields import parse_expiry, parse_start

View = dict[str, Any]


def frame(
    title: str,
    blocks: list[Block],
    *,
    callback_id: str,
    submit: str | None = None,
    metadata: dict[str, Any] | None = None,
) -> View:
    """Return a modal of *blocks*; with *submit*, one that can be sent."""
    view: View = {
        "type": "modal",
        "callback_id": callback_id,
        "title": label_text(title),
        "close": label_text("Cancel" if submit else "Close"),
        "blocks": blocks,
    }
    if submit:
        view["submit"] = label_text(submit)
    if metadata:
        view["private_metadata"] = json.dumps(metadata, ensure_ascii=False, separators=(",", ":"))
    return view


def warning(markup: str) -> Block:
    """Return what is wrong, as a block of a modal."""
    return messages.section(f":warning: {markup}")


def note(words: str) -> Block:
    """Return what is wrong, or what to know, right above the field that it is about."""
    return warning(esc(words, 2500))


def with_notes(blocks: Sequence[Block], notes: Mapping[str, str]) -> list[Block]:
    """*blocks* with each of *notes* (block id -> words) right above its block; what belongs to none of them comes first."""
    shown = {block.get("block_id") for block in blocks}
    placed = [note(words) for block_id, words in notes.items() if block_id not in shown]
    for block in blocks:
        words = notes.get(block.get("block_id", ""))
        placed += [block] if words is None or "block_id" not in block else [note(words), block]
    return placed


def loading_view(title: str, channel: str = "") -> View:
    block = messages.section(":hourglass_flowing_sand: Loading…")
    return frame(title, [block], callback_id="v1.loading", metadata={"channel": channel})


def saving_view(form: View) -> View:
    """Return what *form* shows while it is saved, under its own title."""
    block = messages.section(":hourglass_flowing_sand: Saving… You can close this.")
    return frame(title_of(form), [block], callback_id="v1.working")


def title_of(view: View) -> str:
    return str((view.get("title") or {}).get("text") or "Gatehouse")


def done_view(title: str, words: str) -> View:
    """Return the end of a form. *words* are mrkdwn."""
    return frame(title, [messages.section(words)], callback_id="v1.done")


def unsaved_view(title: str, words: str) -> View:
    """Return the end of a form of which nothing was saved. *words* are mrkdwn."""
    return frame(title, [messages.section(words)], callback_id="v1.notice")


def changed_view() -> View:
    """Return the end of a form about something that others have changed since it opened."""
    words = "*This changed after you opened the form.* Nothing was saved. Open it again to see the current version."
    return unsaved_view("Gatehouse", f":arrows_counterclockwise: {words}")


def unsaved_words(view: View, request: str) -> Message | None:
    """Return the message for a form of which nothing was saved, as its answer *view* says; None where that says no such thing.

    If *view* is the form itself with a warning, the message has a button that opens it again. *request*: the id of the stored
    request that keeps the form.
    """
    blocks = view["blocks"]
    words = f"{title_of(view)}: nothing was saved."
    if view.get("callback_id") == "v1.notice":
        return message(words, blocks)
    sections = [block for block in blocks if block["type"] == "section"]
    notes = [block for block in sections if str(block["text"]["text"]).startswith(":warning:")]
    if not notes:
        return None
    again = actions([button("Open the form again…", "v1.form.again", request, style="primary")])
    return message(words, [messages.section(f"*{words}*"), *notes, *again])


SENT: Final = ("type", "callback_id", "title", "close", "submit", "private_metadata")
"""What Slack takes of a view that it sent, beside its blocks."""
INITIAL: Final = {
    "value": "initial_value",
    "selected_option": "initial_option",
    "selected_options": "initial_options",
    "selected_conversation": "initial_conversation",
}
"""What an input holds, by the names that Slack has for it in a view's state and in the block."""
KEPT: Final = "kept"
KEPT_HOW: Final = "kept.how"
"""The ids of the blocks that say why a form is still there, and what to do."""


MAX_BLOCKS: Final = 100
"""Of one view."""


def with_blocks_above(first: Sequence[Block], view: View) -> View:
    """Return *view* with the blocks *first* above its own, if it has room for them."""
    blocks = [*first, *view["blocks"]]
    return view | {"blocks": blocks} if len(blocks) <= MAX_BLOCKS else view


def kept_form(view: View, words: str, reference: str) -> View:
    """Return the form that was sent as *view*, with all that was typed, under *words* (mrkdwn) on why nothing came of it."""
    values = inputs.values_of(view)
    blocks = [block for block in view.get("blocks") or () if block.get("block_id") not in {KEPT, KEPT_HOW}]
    states = (state for block_values in values.values() for state in block_values.values())
    has_file = any((state or {}).get("files") for state in states)
    then = "Choose the file again, then submit the form." if has_file else "You can submit the form again."
    how = f"What you typed is kept. {then} Reference {code(reference)}"
    head = [warning(words) | {"block_id": KEPT}, context(how) | {"block_id": KEPT_HOW}]
    kept: View = {name: view[name] for name in SENT if name in view}
    return kept | {"blocks": [*head, *(_refill(block, values) for block in blocks)]}


def _refill(block: Block, values: Mapping[str, Any]) -> Block:
    """*block* of a form that was sent; an input holds what it had then, even where Slack has drawn something else since."""
    if block["type"] != "input":
        return block
    element = block["element"]
    state = values.get(block["block_id"], {}).get(element["action_id"]) or {}
    held = {initial: state[name] for name, initial in INITIAL.items() if state.get(name)}
    unfilled = {name: value for name, value in element.items() if name not in INITIAL.values()}
    if "initial_conversation" in held:
        unfilled.pop("default_to_current_conversation", None)
    return block | {"element": unfilled | held}


def fallback_view(view: View, *, passes: bool, ended: bool) -> View:
    """Return the view to show if Slack refused *view*. *passes*: only for now, as Slack was down; *ended*: the form was sent."""
    what = "Slack couldn’t show this." if passes else "This is too large for a form in Slack."
    again = "Try again in a moment." if passes else f"Change it by commands; `{slash('gatehouse help')}` lists them."
    if ended and "submit" not in view:
        again = "See the card in the channel for what was done."
    saved = " Nothing was saved." if ended and "submit" in view else ""
    return frame(title_of(view), [messages.section(f":warning: *{what}*{saved} {again}")], callback_id="v1.notice")


def notice(message: Message, channel: str = "") -> View:
    """Return an answer shown where the person looks: in the modal that is open. *channel* is where they came from."""
    return frame("Gatehouse", list(message.blocks), callback_id="v1.notice", metadata={"channel": channel})


FULL_CHANGE: Final = "v1.full"
"""The callback id of the modal that shows all of a change, with the buttons that decide about it."""
CONFIRMED: Final = "confirmed"
"""In the metadata of a form: what it stands for was shown before."""
PANELS: Final = frozenset({"v1.notice", "v1.loading", "v1.done", FULL_CHANGE})
"""Modals in which nothing is typed, so that an answer may take their place."""


def is_panel(view: View | None) -> bool:
    return view is not None and view.get("callback_id") in PANELS


def home(blocks: Sequence[Block], channel: str) -> View:
    """Return the app's home, showing *blocks*."""
    return {
        "type": "home",
        "callback_id": "v1.home",
        "blocks": list(blocks),
        "private_metadata": json.dumps({"channel": channel}),
    }


def open_form_message(command: Command) -> Message:
    """Return the message with a button that opens a form, for where Slack gave no way to open it at once."""
    words, label = "Press *{}* to go on.", "Open the form…"
    return message(
        words.format(label),
        [messages.section(words.format(label)), *actions([run_button(label, command, 0, style="primary")])],
    )


def old_form_view() -> View:
    words = (
        ":arrows_counterclockwise: *This form is from an older version of Gatehouse.* Nothing was saved. Open it again."
    )
    return done_view("Gatehouse", words)


def metadata(view: View) -> dict[str, Any]:
    """Return what `frame` put into a view to find again; empty where there is none, or where it is not ours."""
    try:
        kept = json.loads(view.get("private_metadata") or "{}")
    except ValueError:
        return {}
    return kept if isinstance(kept, dict) else {}


def time_errors(start: str, expiry: str) -> dict[str, str]:
    """Return the errors in the typed start and end, to show under their inputs."""
    wrong = {}
    if start.strip() and parse_start(start) is None:
        wrong[inputs.START] = "Enter a time such as tomorrow 9:00 or Friday 18:00."
    if expiry.strip() and parse_expiry(expiry) is None:
        wrong[inputs.EXPIRY] = "Enter a duration such as 2h or 7d, or a time such as 18:00."
    return wrong


def end_of_form(change: Change) -> View:
    """Return the last view of a form that is still open; the card in the channel says the rest."""
    about = change.edit.after or change.edit.before or {}
    name = str(about.get("name") or change.edit.target.key)
    title = esc(name) if change.edit.target.service == "members" else quote(name)
    if change.state is State.FAILED:
        why = f"*Nothing was changed.* {as_sentence(esc(change.run.refusal.words))}"
        return frame("Gatehouse", [warning(why)], callback_id="v1.notice")
    if change.state is State.STALE:
        return changed_view()
    if change.is_bulk:
        words = f":hourglass_flowing_sand: *Started.* Its card in <#{change.request.channel}> shows the progress."
    elif change.state is State.APPLIED:
        words = f":white_check_mark: *{title} saved.* See its card in <#{change.request.channel}>."
    elif change.state is State.PROPOSED:
        words = f":hourglass_flowing_sand: *{title} needs approval.* See its card in <#{change.request.channel}>."
    else:
        words = (
            ":grey_question: *Not confirmed yet: the service gave no clear answer.* Gatehouse is checking and will "
            "update the card in the channel. Don’t submit it again until then."
        )
    return done_view("Gatehouse", words)
