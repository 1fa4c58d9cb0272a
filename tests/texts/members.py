"""Lists and cards of members, why somebody has access, and the form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from bot.members.access_check import explain_access
from bot.members.model import Member
from handlers.blocks.messages import ListPage
from handlers.members import member_form_view, views
from handlers.members.commands import MembersList, MembersWhy
from handlers.members.member_form_view import MemberForm
from tests.texts import Sample

ANNA: Final = Member(email="anna.berg@example.com", name="Anna Berg", allowedSegments=["newsletter"])
CHLOE: Final = Member(email="chloe.diaz@example.com", name="Chloe Diaz", allowedSegments=["default", "staff"])
NAMELESS: Final = Member(email="zed@example.com", name=None, allowedSegments=[])
ALL: Final = (ANNA, CHLOE, NAMELESS)


def lists() -> Iterator[Sample]:
    """What finds members."""
    yield "the menu", views.menu(sites=["blog", "docs"])
    page = ListPage.of(ALL, 1, 10)
    filtered = MembersList(text="anna", segment="vip", without_segment="free")
    yield "a list with filters", views.member_list(page, site="blog", command=filtered, public=False, others=["docs"])
    yield (
        "a list in a channel",
        views.member_list(page, site="blog", command=MembersList(), public=True),
    )
    none: ListPage[Member] = ListPage.of((), 1, 10)
    yield (
        "nobody found",
        views.member_list(none, site="blog", command=MembersList(text="x"), public=False),
    )
    counts = {"vip": 2, "free": 1, "beta": 0}
    yield "segments", views.segment_counts(counts, total=3, without=1, site="blog")


def cards() -> Iterator[Sample]:
    """One member."""
    for one in (ANNA, NAMELESS):
        yield f"show {one.email}", views.member_card(one, site="blog", public=False)
    yield "show in a channel", views.member_card(ANNA, site="blog", public=True)


def access() -> Iterator[Sample]:
    """Why somebody has access, or doesn't."""
    for title, email, segment in (
        ("has the segment", ANNA.email, "newsletter"),
        ("lacks the segment", ANNA.email, "staff"),
        ("no such segment", ANNA.email, "stfa"),
        ("a member", ANNA.email, None),
        ("a typo in the email", "ana.berg@example.com", "staff"),
        ("nobody", "nobody@example.com", None),
    ):
        sites = {"blog": ALL, "docs": (CHLOE,)}
        said = [explain_access(email, segment, site=site, members=them, extra=()) for site, them in sites.items()]
        yield (
            title,
            views.access_message(email, said, command=MembersWhy(emails=(email,), segment=segment), public=False),
        )
    there = ANNA.model_copy(update={"segments": ("staff",)})
    said = [
        explain_access(ANNA.email, "staff", site=site, members=them, extra=())
        for site, them in (("blog", ALL), ("docs", (there, CHLOE)))
    ]
    command = MembersWhy(emails=(ANNA.email,), segment="staff")
    yield "has it on one of two sites", views.access_message(ANNA.email, said, command=command, public=False)
    said = said[:1]
    unasked = views.Unasked("docs", "The members service doesn’t answer.")
    command = MembersWhy(emails=(ANNA.email,), segment="staff")
    yield "a site is away", views.access_message(ANNA.email, [*said, unasked], command=command, public=False)
    yield "in a channel", views.access_message(ANNA.email, [*said, unasked], command=command, public=True)
    barred = Member.model_validate(there.document() | {"status": "suspended", "blocked": True, "plan": "pro"})
    for title, segment in (("suspended", None), ("suspended, and lacks the segment", "vip")):
        said = [explain_access(ANNA.email, segment, site="blog", members=(barred, CHLOE))]
        command = MembersWhy(emails=(ANNA.email,), segment=segment)
        yield title, views.access_message(ANNA.email, said, command=command, public=False)


def forms() -> Iterator[Sample]:
    """The form, new, with a refusal, and on a member."""
    blank = MemberForm("add", site="blog", known=("vip", "staff"), channel="C0SUPPORT")
    yield "add", blank.view()
    notes = member_form_view.segment_notes(blank, ["vpi"])
    yield "add, unknown segment", blank.with_notes(notes).view()
    yield "edit", MemberForm.of(ANNA, site="blog", known=("vip", "newsletter"), channel="C0SUPPORT").view()


def samples() -> Iterator[Sample]:
    yield from (*lists(), *cards(), *access(), *forms())
