"""What a person can ask about members and their segments."""

from __future__ import annotations

from dataclasses import dataclass

from handlers.commands.command import Command, Lasts


class MembersCommand(Command):
    service = "members"
    needs = "member.read"


@dataclass(frozen=True)
class MembersMenu(MembersCommand):
    summary = "What you can do with members, with buttons"


@dataclass(frozen=True)
class MembersList(MembersCommand):
    verb, synonyms = "list", ("ls", "find", "search")
    usage = "list [TEXT] [segment:vip] [no:SEGMENT] [site:blog] [page:N]"
    summary = "Find members by any part of name or address"
    example = "list anna segment:vip"
    text: str | None = None
    segment: str | None = None
    without_segment: str | None = None
    site: str | None = None
    page: int | None = None


@dataclass(frozen=True)
class MembersShow(MembersCommand):
    verb, synonyms = "show", ("get", "view", "info")
    usage, summary = "show [EMAIL] [site:blog]", "One member, whole; without EMAIL, a search as you type"
    example = "show anna@example.com"
    email: str = ""
    site: str | None = None


@dataclass(frozen=True)
class MembersSegments(MembersCommand):
    verb = "segments"
    usage, summary = "segments [site:blog]", "The segments of a site, and how many members have each"
    example = "segments"
    site: str | None = None


@dataclass(frozen=True)
class MembersWhy(MembersCommand):
    verb = "why"
    usage, summary = "why EMAIL [SEGMENT] [site:blog]", "Why somebody gets in, or does not, on every site"
    example = "why anna@example.com vip"
    email: str = ""
    segment: str | None = None
    site: str | None = None


@dataclass(frozen=True)
class MembersAdd(MembersCommand):
    needs = "member.add"
    verb, synonyms = "add", ("new", "create", "invite")
    usage = 'add EMAIL [named "NAME"] [to SEG,SEG] [site:blog] [for DUR]'
    summary = "Add a member, in a form"
    example = 'add anna@example.com named "Anna Berg" to vip'
    email: str | None = None
    name: str | None = None
    segments: tuple[str, ...] = ()
    site: str | None = None
    lasts: Lasts | None = None
    because: str | None = None


@dataclass(frozen=True)
class MembersEdit(MembersCommand):
    needs, or_needs = "member.update", ("member.grant", "member.revoke")
    verb, synonyms = "edit", ("change", "update")
    usage, summary = "edit EMAIL [site:blog]", "Edit name and segments, in a form"
    example = "edit anna@example.com"
    email: str = ""
    site: str | None = None


@dataclass(frozen=True)
class MembersGrant(MembersCommand):
    needs = "member.grant"
    verb, synonyms = "grant", ("give",)
    usage, summary = "grant EMAIL SEG,… [site:blog] [for DUR] [because TEXT]", "Give access to segments"
    example = "grant anna@example.com vip"
    writes = True
    email: str = ""
    segments: tuple[str, ...] = ()
    site: str | None = None
    lasts: Lasts | None = None
    because: str | None = None


@dataclass(frozen=True)
class MembersRevoke(MembersCommand):
    needs = "member.revoke"
    verb, synonyms = "revoke", ("take",)
    usage, summary = "revoke EMAIL SEG,… [site:blog] [because TEXT]", "Take access to segments away"
    example = "revoke anna@example.com vip because the plan ended"
    writes = True
    destroys = True
    email: str = ""
    segments: tuple[str, ...] = ()
    site: str | None = None
    because: str | None = None


@dataclass(frozen=True)
class MembersRemove(MembersCommand):
    needs = "member.remove"
    verb, synonyms = "remove", ("delete", "rm", "del")
    usage, summary = (
        "remove EMAIL [site:blog] [because TEXT]",
        "Remove a member; shows them first and waits for a click",
    )
    example = "remove anna@example.com because she asked for it"
    writes = True
    destroys = True
    email: str = ""
    site: str | None = None
    because: str | None = None


@dataclass(frozen=True)
class MembersOffboard(MembersCommand):
    needs = "member.remove"
    verb = "offboard"
    usage, summary = "offboard EMAIL [because TEXT]", "Remove somebody from every site"
    example = "offboard anna@example.com"
    writes = True
    destroys = True
    email: str = ""
    because: str | None = None


@dataclass(frozen=True)
class MembersExport(MembersCommand):
    verb = "export"
    usage, summary = "export [TEXT] [segment:vip] [no:SEGMENT] [site:blog]", "Members as a table, to you alone"
    example = "export segment:vip"
    text: str | None = None
    segment: str | None = None
    without_segment: str | None = None
    site: str | None = None


@dataclass(frozen=True)
class MembersImport(MembersCommand):
    needs, or_needs = "member.add", ("member.grant", "member.revoke", "member.remove")
    verb, usage, summary = "import", "import [site:blog]", "Members from a file"
    example = "import"
    site: str | None = None
