"""What the forms of rules and of members have in common when they come back."""

from __future__ import annotations

from bot.domain.change import Change, State
from handlers.parsers.lasts import parse_lasts
from handlers.reply import View
from handlers.views import fields, forms
from handlers.views.parts import esc

MOVED = "This changed after you opened the form, so nothing was saved. Open it again to see how it is now."


def lasts_errors(text: str) -> dict[str, str]:
    """What is wrong with the typed end, under its input."""
    if not text.strip() or parse_lasts(text):
        return {}
    return {fields.LASTS: "Write a while such as 2h or 7d, or a time of day such as 18:00."}


def ended(change: Change, title: str) -> View:
    """What the form says in the end; the card in the channel says the rest."""
    words = {
        State.APPLIED: f":white_check_mark: Saved *{esc(title)}*. Its card is in <#{change.channel}>.",
        State.STALE: f":arrows_counterclockwise: {MOVED}",
        State.PROPOSED: f":hourglass_flowing_sand: *{esc(title)}* waits for a decision. Its card is in <#{change.channel}>.",
    }
    unknown = (
        ":grey_question: The service gave no clear answer. Gatehouse keeps looking, and the card in the channel "
        "says what became of it. Do not send it again before."
    )
    return forms.done("Gatehouse", words.get(change.state, unknown))


def went_on(change: Change) -> View:
    """What a form says whose change was recorded by a process that died, and gone on with by this one."""
    if change.state is State.FAILED:
        return forms.done("Gatehouse", f":warning: The service refused: {esc(change.outcome)} *Nothing was changed.*")
    if change.is_set:
        return forms.done("Gatehouse", f":hourglass_flowing_sand: Its card in <#{change.channel}> shows how far it is.")
    about = change.after or change.before or {}
    return ended(change, str(about.get("name") or change.target.key))


def working(view: View) -> View:
    """What the form shows while it is saved, under its own title."""
    return forms.working(str((view.get("title") or {}).get("text") or "Gatehouse"))
