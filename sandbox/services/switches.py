"""The switches for what the specifications leave open: one table, from which the command line and the docs are made."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Final


@dataclass(frozen=True, slots=True)
class Switches:
    """How the stand-ins behave where the specifications say "not shown". The default of each is its first choice."""

    paging: str = "off"
    error_codes: str = "real"
    member_list: str = "array"
    patch_segments: str = "replace"
    duplicate_email: str = "error"
    delete_answer: str = "body"
    delete_missing: str = "error"
    delete_nothing: str = "error"
    email_case: str = "sensitive"
    groups: str = "on"
    unknown_group: str = "refused"
    object_type: str = "optional"
    unknown_keys: str = "taken"
    revoke_unknown: str = "ok"

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value not in CHOICES[field.name][0]:
                raise ValueError(f"{field.name}={value}: write one of {', '.join(CHOICES[field.name][0])}")

    @classmethod
    def of(cls, chosen: Iterable[str]) -> Switches:
        """Return the switches that are set by texts such as ``paging=pages``; raises ValueError with what is wrong with one."""
        pairs = [one.partition("=") for one in chosen]
        for name, equals, choice in pairs:
            if name not in CHOICES:
                raise ValueError(f"{name}{equals}{choice}: no switch is called so")
        return cls(**{name: choice for name, _, choice in pairs})


CHOICES: Final[dict[str, tuple[tuple[str, ...], str]]] = {
    "paging": (
        ("off", "pages", "sizeless"),
        "the list of rules: whole, or 30 a page with `total` and `nextOffset`, where `pageSize` may be refused",
    ),
    "error_codes": (("real", "always_200"), "status of errors: 400, 401, 404, 405, 409 as they fit, or always 200"),
    "member_list": (
        ("array", "data", "members", "success_data", "pages", "cursor", "link"),
        "the list of members: bare, in a field, or 8 a page: by `page` and `totalPages`, `next_cursor`, or `Link`",
    ),
    "patch_segments": (("replace", "merge"), "`allowedSegments` in a PATCH: replace the list, or add to it"),
    "duplicate_email": (("error", "upsert"), "adding an email that is there: an error, or an update"),
    "delete_answer": (("body", "empty"), "a delete answers with a text, or with nothing"),
    "delete_missing": (("error", "ok"), "deleting what is not there: an error, or a success"),
    "delete_nothing": (
        ("error", "ok", "all"),
        "taking segments away without naming any: an error, a success, or all of them go",
    ),
    "email_case": (("sensitive", "insensitive"), "whether Anna@ and anna@ are two members or one"),
    "groups": (
        ("on", "mixed", "off"),
        "`/v1/groups`, as the real service has it: there, with a rule listed too, or 404",
    ),
    "unknown_group": (("refused", "taken"), "a rule in a group that does not exist: an error, or stored"),
    "object_type": (
        ("optional", "required"),
        "a rule without `objectType`, which only the vendor documents: as it is, or an error",
    ),
    "unknown_keys": (("taken", "refused"), "fields of a rule that nobody documents: stored, or an error"),
    "revoke_unknown": (("ok", "error"), "taking a segment away that the site no longer has: done, or an error"),
}
