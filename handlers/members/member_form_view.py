"""The modal that adds and edits a member of a site."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Self

from bot.changes.model.documents import canonical_form, fingerprint
from bot.members.model import Member, nearest_segments
from handlers.blocks import inputs
from handlers.blocks.messages import code, context, esc, plural, section
from handlers.blocks.modals import View, frame, metadata, with_notes
from handlers.grammar.command import slash

CALLBACK: Final = "v1.member.form"
SEGMENTS: Final = "segments"
SEGMENTS_HINT: Final = "Segments are created in the site’s dashboard; this lists those that members have."


@dataclass(frozen=True, slots=True)
class MemberForm:
    """The content of the modal. *known*: the segments to offer."""

    mode: str
    site: str
    email: str = ""
    name: str = ""
    segments: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    channel: str = ""
    seen: str | None = None
    """Fingerprint of the member as it was when the form opened."""
    reason: str = ""
    start: str = ""
    """``tomorrow 9:00``, as typed."""
    expiry: str = ""
    """``2h`` or ``18:00``, as typed."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """Block id -> what is wrong with its input; the empty id is the whole form."""

    @classmethod
    def of(cls, member: Member, *, site: str, known: tuple[str, ...], channel: str) -> Self:
        """Return the form that edits *member*."""
        seen = fingerprint(canonical_form(member.document()))
        return cls("edit", site, member.email, member.name or "", member.segments, known, channel, seen)

    def with_notes(self, notes: Mapping[str, str]) -> Self:
        return replace(self, notes=notes)

    def document(self, base: Member | None = None) -> dict[str, Any]:
        """Return the member as the form has it, with what it does not show of *base*, such as the end of a long name."""
        kept = base.document() if base is not None else {"email": self.email}
        is_as_shown = base is not None and self.name == inputs.fit_to_input(base.name or "")
        segments = dict.fromkeys([*self.segments, *(_hidden_segments(base.segments) if base is not None else ())])
        return kept | ({} if is_as_shown else {"name": self.name}) | {"allowedSegments": list(segments)}

    def view(self) -> View:
        """Return the modal, ready for views.open or views.update."""
        kept = {"mode": self.mode, "site": self.site, "channel": self.channel, "seen": self.seen}
        about = {"email": self.email if self.mode == "edit" else None}
        titles = {"add": ("Add member", "Add"), "edit": ("Edit member", "Save")}
        title, submit = titles[self.mode]
        blocks = with_notes([section(f":globe_with_meridians: Site *{esc(self.site)}*"), *self._inputs()], self.notes)
        return frame(title, blocks, callback_id=CALLBACK, submit=submit, metadata=kept | about)

    def _inputs(self) -> list[View]:
        email = (
            inputs.text("email", "Email", inputs.fit_to_input(self.email), placeholder="anna@example.com")
            if self.mode == "add"
            else section(f"*Email*  {code(self.email)}\nTo change it, use `{slash('members move')}`.")
        )
        name = inputs.text("name", "Name", inputs.fit_to_input(self.name), optional=True)
        until = [inputs.expiry(self.expiry)] if self.mode == "add" else []
        times = [inputs.start(self.start), *until]
        end = [inputs.reason(self.reason), *inputs.channel(self.channel)]
        return [email, name, self._segments(), *self._kept_blocks(), *times, *end]

    def _segments(self) -> View:
        if not inputs.choice_names(self.known, self.segments):
            return context(f"*Segments*  None is known here. {SEGMENTS_HINT}")
        return inputs.choices(SEGMENTS, "Segments", self.known, self.segments, hint=SEGMENTS_HINT)

    def _kept_blocks(self) -> list[View]:
        hidden = len({*_hidden_segments(self.segments)})
        if not hidden or self.mode == "add":
            return []
        words = "don’t fit into the menu and stay" if hidden > 1 else "doesn’t fit into the menu and stays"
        how = f"Change them with `{slash('members grant')}` and `{slash('members revoke')}`."
        return [section(f":lock: {plural(hidden, 'more segment')} {words}. {how}")]


def _hidden_segments(segments: Sequence[str]) -> list[str]:
    """Return the segments that the menu can't hold, being too many or too long: the form never revokes those."""
    shown = set(inputs.choice_names((), segments))
    return [name for name in segments if name not in shown]


def segment_notes(form: MemberForm, unknown: Sequence[str]) -> dict[str, str]:
    """Return the note for the input of the segments about names that the site does not have."""
    if not unknown:
        return {}
    known = form.known
    near = [
        f"{name} (like {' or '.join(alike)})" if (alike := nearest_segments(name, known)) else name
        for name in unknown[:5]
    ]
    made = "If it is new and nobody has it yet, your Gatehouse admin can add it to MEMBERS_SEGMENTS."
    return {SEGMENTS: f"Unknown segment: {', '.join(near)}. {made}"}


def read_form(view: View) -> MemberForm:
    """Return the form as it was submitted: *view* with its state."""
    about = metadata(view)
    values = inputs.values_of(view)
    return MemberForm(
        mode=about.get("mode", "add"),
        site=str(about.get("site") or ""),
        email=str(about.get("email") or inputs.typed_value(values, "email") or ""),
        name=inputs.typed_value(values, "name") or "",
        segments=inputs.picked_values(values, SEGMENTS),
        channel=str(about.get("channel") or ""),
        seen=about.get("seen"),
        reason=inputs.typed_value(values, inputs.REASON) or "",
        start=inputs.typed_value(values, inputs.START) or "",
        expiry=inputs.typed_value(values, inputs.EXPIRY) or "",
    )
