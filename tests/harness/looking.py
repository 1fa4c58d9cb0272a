"""People of stories who look at all of a change before they decide about it."""

from __future__ import annotations

from sandbox.slack.message import Message
from sandbox.slack.story import Person
from tests.harness.channels import buttons

BUTTON = "v1.run.full"


async def open_details(person: Person, card: Message) -> str:
    """Press the button that shows everything; what the modal says."""
    await person.clicks(card, BUTTON, opens="This is everything")
    return person.form


async def open_details_file(person: Person, card: Message) -> None:
    """Press the button that shows everything, where that is too much for a modal; the file that comes is of this change."""
    (change,) = {str(one["value"]).split()[-1] for one in buttons(card.blocks) if one["action_id"] == BUTTON}
    await person.clicks(card, BUTTON)
    await person.sees_file(change[:8])


async def approve_card(person: Person, card: Message, button: str = "v1.decide.approve") -> None:
    """Look at everything where the card doesn't show it, then approve what takes something away."""
    if BUTTON in str(card.blocks):
        await open_details(person, card)
    await person.clicks(card, button, confirm=button == "v1.decide.approve")
