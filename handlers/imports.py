"""What imports of rules and of members share: what was handed over, from form to form, and the end of it.

The file is read anew when the preview comes back, and what would happen is worked out anew: where that is no longer
what was shown, it is shown again.
"""

from __future__ import annotations

import asyncio
import base64
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from bot.changes.set_proposals import SetProposal
from bot.domain.essence import fingerprint
from bot.domain.member_file import Mode
from bot.gatehouse import Gatehouse
from handlers.reply import Caller, View
from handlers.views import fields, forms, import_form

MOST_PASTED: Final = 2_000
"""Characters that a pasted text may have once it is packed: a view keeps 3,000, all told."""
MOST_BYTES: Final = 10 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Handed:
    """What somebody handed over: a file of Slack's, or a text; and what was said with it. Kept in the form's metadata."""

    channel: str
    name: str
    file: str = ""
    packed: str = ""
    reason: str = ""
    site: str = ""
    mode: str = Mode.ADD
    seen: str = ""
    """Fingerprint of the plan that the form shows."""

    @classmethod
    def of(cls, view: View) -> Handed:
        """What a form's metadata keeps."""
        kept = forms.metadata(view)
        return cls(**{name: str(kept.get(name) or "") for name in cls.__slots__ if name in kept or name in NEEDED})

    @classmethod
    def typed(cls, view: View) -> Handed:
        """What a first form was filled with."""
        kept = forms.metadata(view)
        values = (view.get("state") or {}).get("values") or {}
        return cls(
            channel=str(kept.get("channel") or ""),
            name=fields.file_name(values, "file") or "what was pasted",
            file=fields.file_id(values, "file") or "",
            packed=_packed(fields.typed(values, "pasted") or ""),
            reason=(fields.typed(values, fields.REASON) or "")[:300],
            site=str(kept.get("site") or ""),
            mode=import_form.read_mode(view),
        )

    def metadata(self, **more: str) -> dict[str, str]:
        return {name: getattr(self, name) for name in self.__slots__ if getattr(self, name)} | more

    async def content(self, gatehouse: Gatehouse) -> bytes:
        """The bytes; raises the errors of `FileReader`."""
        return await gatehouse.files.read(self.file, most=MOST_BYTES) if self.file else _unpacked(self.packed).encode()

    @property
    def pasted(self) -> str:
        return _unpacked(self.packed)


NEEDED: Final = ("channel", "name")


def _packed(text: str) -> str:
    return base64.b64encode(zlib.compress(text.encode("utf-8", "surrogatepass"), 9)).decode() if text.strip() else ""


def _unpacked(packed: str) -> str:
    return zlib.decompress(base64.b64decode(packed)).decode("utf-8", "surrogatepass") if packed else ""


def handed_errors(view: View) -> dict[str, str]:
    """What is wrong before anything is read, under the inputs."""
    handed = Handed.typed(view)
    if not handed.file and not handed.packed:
        return {"file": "Choose a file, or paste its text below."}
    if handed.file and handed.packed:
        return {"pasted": "There is a file already: take one of the two out."}
    if len(handed.packed) > MOST_PASTED:
        return {"pasted": "That is too much to be pasted: save it as a file and choose that."}
    return {}


def nothing_wrong(_: View) -> dict[str, str]:
    """A preview has nothing to be filled in wrongly."""
    return {}


async def seen(entries: Iterable[Any]) -> str:
    """Return a short text that stands for the *entries* of a plan, worked out aside: there may be very many."""
    return (await asyncio.to_thread(lambda: fingerprint([fingerprint(entry) for entry in entries])))[:16]


async def submitted(proposal: SetProposal, caller: Caller, gatehouse: Gatehouse) -> View:
    """Begin with what was agreed to; what the form says in the end."""
    await gatehouse.changes.submit_set(proposal, origin=caller.request)
    words = f":hourglass_flowing_sand: It is under way. Its card in <#{caller.channel}> shows how far it is; what became of "
    return forms.done("Import", words + "each row comes to you as a file when it is done.")
