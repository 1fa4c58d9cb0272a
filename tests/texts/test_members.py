"""What members look like in Slack, whole."""

from __future__ import annotations

from inline_snapshot import snapshot

from tests.texts import members, texts


def test_lists() -> None:
    assert texts(members.lists()) == snapshot(
        {
            "the menu": """\
Members: find, list, or add one
Members
Find one, to see why they get in, grant, revoke or remove:  <>
[Check access…]  [List members]  [Search members…]  [List segments]
[Add member…]  [Grant access…]  [Revoke access…]  [Edit member…]  [Change email…]  [Remove member…]  [Offboard…]
[Import members…]  [Export members…]
Sites: blog, docs\
""",
            "a list with filters": """\
3 members of blog, page 1 of 1
3 members of blog · “anna” · segment “vip” · without “free”
#1 Anna Berg `anna.berg@example.com`
`newsletter`  [Show]
#2 Chloe Diaz `chloe.diaz@example.com`
`default` `staff`  [Show]
#3 (no name) `zed@example.com`
no segments  [Show]
Page 1 of 1   ·   `#n` in your next command means a row of this list · Not searched: `site:docs`
[Share in channel]\
""",
            "a list in a channel": """\
3 members of blog, page 1 of 1
3 members of blog
Anna Berg `a***@example.com`
`newsletter`
Chloe Diaz `c***@example.com`
`default` `staff`
(no name) `z***@example.com`
no segments
Page 1 of 1\
""",
            "nobody found": """\
No members found
(mag) No members found on blog · “x”
[List all members]\
""",
            "segments": """\
Segments of blog: 3
Segments of blog · 3 members
`vip`   2 members  [Show]
`free`   1 member  [Show]
`beta`   nobody yet (from the settings)
1 member without any segment. A new segment that nobody has yet: your Gatehouse admin can add it to `MEMBERS_SEGMENTS`.\
""",
        }
    )


def test_cards() -> None:
    assert texts(members.cards()) == snapshot(
        {
            "show anna.berg@example.com": """\
Anna Berg on blog
Anna Berg · blog
`anna.berg@example.com`
Segments: `newsletter`
[Edit…]  [Check access]  ⋯ [Remove]  [Remove from every site]  [Share in channel]\
""",
            "show zed@example.com": """\
(no name) on blog
(no name) · blog
`zed@example.com`
Segments: none
[Edit…]  [Check access]  ⋯ [Remove]  [Remove from every site]  [Share in channel]\
""",
            "show in a channel": """\
Anna Berg on blog
Anna Berg · blog
`a***@example.com`
Segments: `newsletter`\
""",
        }
    )


def test_access() -> None:
    assert texts(members.access()) == snapshot(
        {
            "has the segment": """\
(white_check_mark) Yes: Anna Berg has “newsletter” on blog.
`anna.berg@example.com`
blog · segments: `newsletter`
docs: not a member
[Add on docs…]  [Share in channel]\
""",
            "lacks the segment": """\
No: Anna Berg is on blog but lacks “staff”.
✗ No: Anna Berg is on blog but lacks “staff”.
`anna.berg@example.com`
blog · segments: `newsletter`
[Grant staff on blog…]
docs: not a member
[Add on docs…]  [Share in channel]\
""",
            "no such segment": """\
No: Anna Berg is on blog but lacks “stfa”.
✗ No: Anna Berg is on blog but lacks “stfa”.
`anna.berg@example.com`
blog · segments: `newsletter`
No member here has a segment “stfa”, and it isn’t in the settings. Did you mean “staff”?
docs: not a member
[Add on docs…]  [Share in channel]\
""",
            "a member": """\
(bust_in_silhouette) Anna Berg is a member of blog. Which segment is this about?
`anna.berg@example.com`
blog · segments: `newsletter`
docs: not a member
[Add on docs…]  [Check default]  [Share in channel]\
""",
            "a typo in the email": """\
No: nobody on blog or docs has exactly this email.
✗ No: nobody on blog or docs has exactly this email.
`ana.berg@example.com`
blog · not a member
Similar emails there:
• `anna.berg@example.com` Anna Berg · `newsletter`
[Add on blog…]  [Show anna.berg@example.com]
docs: not a member
[Add on docs…]  [Share in channel]\
""",
            "nobody": """\
Nobody on blog or docs has exactly this email.
✗ Nobody on blog or docs has exactly this email.
`nobody@example.com`
blog: not a member   docs: not a member
[Add on blog…]  [Add on docs…]  [Share in channel]\
""",
            "has it on one of two sites": """\
(white_check_mark) Yes: Anna Berg has “staff” on docs.
`anna.berg@example.com`
blog · segments: `newsletter`
Lacks “staff”.
[Grant staff on blog…]
docs · segments: `staff`
[Share in channel]\
""",
            "a site is away": """\
No: Anna Berg is on blog but lacks “staff”. docs couldn’t be asked.
✗ No: Anna Berg is on blog but lacks “staff”. docs couldn’t be asked.
`anna.berg@example.com`
blog · segments: `newsletter`
[Grant staff on blog…]
docs couldn’t be asked. The members service doesn’t answer.
[Share in channel]\
""",
            "in a channel": """\
No: Anna Berg is on blog but lacks “staff”. docs couldn’t be asked.
✗ No: Anna Berg is on blog but lacks “staff”. docs couldn’t be asked.
`a***@example.com`
blog · segments: `newsletter`
docs couldn’t be asked. The members service doesn’t answer.\
""",
            "suspended": """\
(warning) Anna Berg is a member of blog, but the record on blog has `status: suspended` and `blocked: true`.
`anna.berg@example.com`
blog · segments: `staff`
Other fields: `status: suspended`, `blocked: true` and `plan: pro`
[Check default]  [Share in channel]\
""",
            "suspended, and lacks the segment": """\
No: Anna Berg is on blog but lacks “vip”, and the record on blog has `status: suspended` and `blocked: true`.
✗ No: Anna Berg is on blog but lacks “vip”, and the record on blog has `status: suspended` and `blocked: true`.
`anna.berg@example.com`
blog · segments: `staff`
Other fields: `status: suspended`, `blocked: true` and `plan: pro`
No member here has a segment “vip”, and it isn’t in the settings.
[Share in channel]\
""",
        }
    )


def test_forms() -> None:
    assert texts(members.forms()) == snapshot(
        {
            "add": """\
┌ Add member
(globe_with_meridians) Site blog
Email: <>
Name (optional): <>
Segments (optional): <>
Start (optional): <>
Until (optional): <>
Why (optional): <>
[Add]\
""",
            "add, unknown segment": """\
┌ Add member
(globe_with_meridians) Site blog
Email: <>
Name (optional): <>
(warning) Unknown segment: vpi (like vip). If it is new and nobody has it yet, your Gatehouse admin can add it to MEMBERS_SEGMENTS.
Segments (optional): <>
Start (optional): <>
Until (optional): <>
Why (optional): <>
[Add]\
""",
            "edit": """\
┌ Edit member
(globe_with_meridians) Site blog
Email  `anna.berg@example.com`
To change it, use `/members move`.
Name (optional): <Anna Berg>
Segments (optional): <newsletter>
Start (optional): <>
Why (optional): <>
[Save]\
""",
        }
    )
