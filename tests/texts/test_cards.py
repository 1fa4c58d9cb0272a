"""What cards, notes, direct messages and forms of changes say, whole."""

from __future__ import annotations

from inline_snapshot import snapshot

from tests.texts import cards, texts


def test_requests() -> None:
    assert texts(cards.requests()) == snapshot(
        {
            "delete a rule, anyone else may approve": """\
@alice: Delete “Sale 2026”? “not needed”
(wastebasket) Delete “Sale 2026”?
Requested by @alice · “not needed”
Needs approval from someone else in this channel by 2026-11-22 01:24 UTC.
Description: “Ends with the year”
On · Redirect
1. `https://shop.example.com/sale` → `https://shop.example.com/landing2` · only for page domain `blog.example.com` or `shop.example.com`, method `GET`
2. `https://shop.example.com/deals` → `https://shop.example.com/landing2`
3. `https://shop.example.com/black-friday` → `https://shop.example.com/landing2`
This card doesn’t show everything. Press Details before you decide.
[Details]  [Approve deletion]  [Deny…]  ⋯ [Withdraw]  [Switch off instead]
  [Approve deletion] asks: Delete “Sale 2026”? / All 3 pairs are deleted. It stops working at once. Undo creates it again, under a new id. [Cancel] [Approve deletion]\
""",
            "delete a rule that is off, others are named, one of two has approved": """\
@alice: Delete “Old shop to new shop”? “we test”
(wastebasket) Delete “Old shop to new shop”?
Requested by @alice · “we test”
Needs 2 approvals from @oncall or @bob by 2026-11-22 01:24 UTC. 1 of 2: approved by @cara.
Off · Redirect
`https://shop.example.com/old` → `https://shop.example.com/new`
[Approve deletion]  [Deny…]  ⋯ [Withdraw]  [Emergency override…]  [Details]
  [Approve deletion] asks: Delete “Old shop to new shop”? / Undo creates it again, under a new id. [Cancel] [Approve deletion]\
""",
            "delete a rule of 40 pairs, own click": """\
@alice: Delete “Campaign links”? “we test”
(wastebasket) Delete “Campaign links”?
Requested by @alice · “we test”
Only @alice can confirm it until 2026-11-22 01:24 UTC.
On · Redirect
1. `https://shop.example.com/c/0` → `https://shop.example.com/campaign/0`
2. `https://shop.example.com/c/1` → `https://shop.example.com/campaign/1`
3. `https://shop.example.com/c/2` → `https://shop.example.com/campaign/2`
4. `https://shop.example.com/c/3` → `https://shop.example.com/campaign/3`
5. `https://shop.example.com/c/4` → `https://shop.example.com/campaign/4`
6. `https://shop.example.com/c/5` → `https://shop.example.com/campaign/5`
7. `https://shop.example.com/c/6` → `https://shop.example.com/campaign/6`
8. `https://shop.example.com/c/7` → `https://shop.example.com/campaign/7`
9. `https://shop.example.com/c/8` → `https://shop.example.com/campaign/8`
10. `https://shop.example.com/c/9` → `https://shop.example.com/campaign/9`
11. `https://shop.example.com/c/10` → `https://shop.example.com/campaign/10`
12. `https://shop.example.com/c/11` → `https://shop.example.com/campaign/11`
…and 28 more pairs
This card doesn’t show everything. Press Details before you decide.
[Details]  [Delete rule]  [Keep rule]
  [Delete rule] asks: Delete “Campaign links”? / All 40 pairs are deleted. It stops working at once. Undo creates it again, under a new id. [Cancel] [Delete rule]\
""",
            "delete a rule with a secret header": """\
@alice: Delete “Debug header for support”? “we test”
(wastebasket) Delete “Debug header for support”?
Requested by @alice · “we test”
Needs approval from someone else in this channel by 2026-11-22 01:24 UTC.
On · Headers
URL contains `https://shop.example.com`: adds request header `Authorization`: `[hidden]`
This card doesn’t show everything. Press Details before you decide.
[Details]  [Approve deletion]  [Deny…]  ⋯ [Withdraw]  [Switch off instead]
  [Approve deletion] asks: Delete “Debug header for support”? / It stops working at once. Undo creates it again, under a new id. [Cancel] [Approve deletion]\
""",
            "switch off a rule for two hours": """\
@alice: Switch off “Old shop to new shop” for 2 h? “we test”
(raising_hand) Switch off “Old shop to new shop” for 2 h?
Requested by @alice · “we test”
Needs approval from someone else in this channel by 2026-11-22 01:24 UTC.
`https://shop.example.com/old` → `https://shop.example.com/new`
[Approve]  [Deny…]  ⋯ [Withdraw]  [Details]\
""",
            "change a destination, with a warning": """\
@alice: Change the destination of “Old shop to new shop”? “we test”
(raising_hand) Change the destination of “Old shop to new shop”?
Requested by @alice · “we test”
Needs approval from someone else in this channel by 2026-11-22 01:24 UTC.
Warning: It loops with “Back to the old shop”.
destination  `https://shop.example.com/new` → `https://shop.example.com/landing`
[Approve]  [Deny…]  ⋯ [Withdraw]  [Details]\
""",
            "create a rule": """\
@alice: Create “Sale 2026”?
(raising_hand) Create “Sale 2026”?
Requested by @alice
Needs approval from someone else in this channel by 2026-11-22 01:24 UTC.
Description: “Ends with the year”
On · Redirect
1. `https://shop.example.com/sale` → `https://shop.example.com/landing2` · only for page domain `blog.example.com` or `shop.example.com`, method `GET`
2. `https://shop.example.com/deals` → `https://shop.example.com/landing2`
3. `https://shop.example.com/black-friday` → `https://shop.example.com/landing2`
This card doesn’t show everything. Press Details before you decide.
[Details]  [Emergency override…]  [Approve]  ⋯ [Deny…]  [Withdraw]\
""",
            "switch off a group": """\
@alice: Switch off the group “Experiments”? “we test”
(raising_hand) Switch off the group “Experiments”?
Requested by @alice · “we test”
Needs approval from someone else in this channel by 2026-11-22 01:24 UTC.
All rules in this group stop working.
[Approve]  [Deny…]  ⋯ [Withdraw]  [Details]\
""",
            "remove a member": """\
@alice: Remove Chloe Diaz from blog? “she left”
(wastebasket) Remove Chloe Diaz from blog?
`c***@example.com` · Requested by @alice · “she left”
Needs approval from someone else in this channel by 2026-11-22 01:24 UTC.
Segments  `default` `staff`
Emails are masked in channels. Press Details before you decide.
[Details]  [Approve removal]  [Deny…]  ⋯ [Withdraw]
  [Approve removal] asks: Remove Chloe Diaz from blog? / c***@example.com loses all access to blog. Undo restores name and segments. [Cancel] [Approve removal]\
""",
            "remove a member, own click": """\
@alice: Remove Chloe Diaz from blog? “she left”
(wastebasket) Remove Chloe Diaz from blog?
`c***@example.com` · Requested by @alice · “she left”
Only @alice can confirm it until 2026-11-22 01:24 UTC.
Segments  `default` `staff`
Emails are masked in channels. Press Details before you decide.
[Details]  [Remove member]  [Keep member]
  [Remove member] asks: Remove Chloe Diaz from blog? / c***@example.com loses all access to blog. Undo restores name and segments. [Cancel] [Remove member]\
""",
            "grant until a time that was typed": """\
@alice: Grant Anna Berg access to “vip” on blog until <!date^1795231440^{date_short_pretty} {time}|2026-11-21 03:24 UTC> (03:24 Europe/Berlin)? “we test”
(raising_hand) Grant Anna Berg access to “vip” on blog until 2026-11-21 03:24 UTC (03:24 Europe/Berlin)?
`a***@example.com` · Requested by @alice · “we test”
Needs approval from someone else in this channel by 2026-11-22 01:24 UTC.
Emails are masked in channels. Press Details before you decide.
[Details]  [Approve]  [Deny…]  ⋯ [Withdraw]\
""",
            "revoke": """\
@alice: Revoke Anna Berg’s access to “vip” on blog? “we test”
(raising_hand) Revoke Anna Berg’s access to “vip” on blog?
`a***@example.com` · Requested by @alice · “we test”
Needs approval from someone else in this channel by 2026-11-22 01:24 UTC.
Emails are masked in channels. Press Details before you decide.
[Details]  [Approve]  [Deny…]  ⋯ [Withdraw]\
""",
        }
    )


def test_outcomes() -> None:
    assert texts(cards.outcomes()) == snapshot(
        {
            "create a rule: done": """\
(white_check_mark) “Old shop to new shop” created
@alice · “we test” · 2026-11-21 01:26 UTC
On · Redirect
`https://shop.example.com/old` → `https://shop.example.com/new`
[Undo]  [Details]
  [Undo] asks: Delete “Old shop to new shop” again? / The rule is deleted again. [Cancel] [Undo]\
""",
            "create a rule: applying": """\
(hourglass_flowing_sand) Create “Old shop to new shop”: under way
Requested by @alice · “we test”
On · Redirect
`https://shop.example.com/old` → `https://shop.example.com/new`
[Details]\
""",
            "switch off a rule: done": """\
(double_vertical_bar) “Old shop to new shop” is off
@alice · “we test” · 2026-11-21 01:26 UTC
`https://shop.example.com/old` → `https://shop.example.com/new`
[Undo]  [Details]\
""",
            "switch off a rule: applying": """\
(hourglass_flowing_sand) Switch off “Old shop to new shop”: under way
Requested by @alice · “we test”
`https://shop.example.com/old` → `https://shop.example.com/new`
[Details]\
""",
            "change a destination: done": """\
(white_check_mark) “Old shop to new shop”: destination changed
@alice · “we test” · 2026-11-21 01:26 UTC
destination  `https://shop.example.com/new` → `https://shop.example.com/landing`
[Undo]  [Details]\
""",
            "change a destination: applying": """\
(hourglass_flowing_sand) Change the destination of “Old shop to new shop”: under way
Requested by @alice · “we test”
destination  `https://shop.example.com/new` → `https://shop.example.com/landing`
[Details]\
""",
            "delete a rule: done": """\
(white_check_mark) “Old shop to new shop” deleted
@alice · “we test” · 2026-11-21 01:26 UTC
Before:
On · Redirect
`https://shop.example.com/old` → `https://shop.example.com/new`
[Undo]  [Details]\
""",
            "delete a rule: done, approved": """\
(white_check_mark) “Old shop to new shop” deleted
Requested by @alice · “we test” · approved by @cara · 2026-11-21 01:26 UTC
Before:
On · Redirect
`https://shop.example.com/old` → `https://shop.example.com/new`
[Undo]  [Details]\
""",
            "delete a rule: applying": """\
(hourglass_flowing_sand) Delete “Old shop to new shop”: under way
Requested by @alice · “we test”
On · Redirect
`https://shop.example.com/old` → `https://shop.example.com/new`
[Details]\
""",
            "delete a rule: unknown": """\
(grey_question) Delete “Old shop to new shop”: not confirmed yet
The service gave no clear answer. Gatehouse keeps checking and updates this card.
Requested by @alice · “we test”
On · Redirect
`https://shop.example.com/old` → `https://shop.example.com/new`
[Details]\
""",
            "delete a rule: denied": """\
(no_entry_sign) Delete “Old shop to new shop”: denied
Denied by @cara: “not tonight” · 2026-11-21 01:26 UTC
Requested by @alice · “we test”
[Details]\
""",
            "switch on a group: done": """\
(white_check_mark) The group “Experiments” is on
@alice · “we test” · 2026-11-21 01:26 UTC
Rules in this group that are on work again.
[Undo]  [Details]\
""",
            "switch on a group: applying": """\
(hourglass_flowing_sand) Switch on the group “Experiments”: under way
Requested by @alice · “we test”
[Details]\
""",
            "add a member: done": """\
(white_check_mark) Anna Berg added to blog
`a***@example.com` · @alice · “we test” · 2026-11-21 01:26 UTC
Segments  `newsletter`
[Undo]  [Details]
  [Undo] asks: Remove Anna Berg from blog again? / The member is removed again. [Cancel] [Undo]\
""",
            "add a member: applying": """\
(hourglass_flowing_sand) Add Anna Berg to blog: under way
`a***@example.com` · Requested by @alice · “we test”
Segments  `newsletter`
[Details]\
""",
            "rename a member: done": """\
(white_check_mark) Anna Berg: name changed
`a***@example.com` · @alice · “we test” · 2026-11-21 01:26 UTC
name  `Anna Berg` → `Anna Berg-Diaz`
[Undo]  [Details]\
""",
            "rename a member: applying": """\
(hourglass_flowing_sand) Change the name of Anna Berg: under way
`a***@example.com` · Requested by @alice · “we test”
name  `Anna Berg` → `Anna Berg-Diaz`
[Details]\
""",
            "rename a member: unknown": """\
(grey_question) Change the name of Anna Berg: not confirmed yet
The service gave no clear answer. Gatehouse keeps checking and updates this card.
`a***@example.com` · Requested by @alice · “we test”
name  `Anna Berg` → `Anna Berg-Diaz`
[Details]\
""",
            "rename a member: denied": """\
(no_entry_sign) Change the name of Anna Berg: denied
Denied by @cara: “not tonight” · 2026-11-21 01:26 UTC
`a***@example.com` · Requested by @alice · “we test”
[Details]\
""",
            "grant: done": """\
(white_check_mark) Anna Berg has access to “vip” on blog
`a***@example.com` · @alice · “we test” · 2026-11-21 01:26 UTC
[Undo]  [Details]\
""",
            "grant: applying": """\
(hourglass_flowing_sand) Grant Anna Berg access to “vip” on blog: under way
`a***@example.com` · Requested by @alice · “we test”
[Details]\
""",
            "revoke: done": """\
(white_check_mark) Anna Berg no longer has access to “vip” on blog
`a***@example.com` · @alice · “we test” · 2026-11-21 01:26 UTC
[Undo]  [Details]\
""",
            "revoke: applying": """\
(hourglass_flowing_sand) Revoke Anna Berg’s access to “vip” on blog: under way
`a***@example.com` · Requested by @alice · “we test”
[Details]\
""",
            "remove a member: done": """\
(white_check_mark) Chloe Diaz removed from blog
`c***@example.com` · @alice · “we test” · 2026-11-21 01:26 UTC
Before:
Segments  `default` `staff`
[Undo]  [Details]\
""",
            "remove a member: done, approved": """\
(white_check_mark) Chloe Diaz removed from blog
`c***@example.com` · Requested by @alice · “we test” · approved by @cara · 2026-11-21 01:26 UTC
Before:
Segments  `default` `staff`
[Undo]  [Details]\
""",
            "remove a member: applying": """\
(hourglass_flowing_sand) Remove Chloe Diaz from blog: under way
`c***@example.com` · Requested by @alice · “we test”
Segments  `default` `staff`
[Details]\
""",
        }
    )


def test_endings() -> None:
    assert texts(cards.endings()) == snapshot(
        {
            "withdrawn": """\
(leftwards_arrow_with_hook) Delete “Old shop to new shop”: withdrawn
Withdrawn by @alice · 2026-11-21 01:26 UTC
Requested by @alice · “we test”
[Details]\
""",
            "expired": """\
(zzz) Delete “Old shop to new shop”: expired
Nobody decided in time.
Requested by @alice · “we test”
[Details]\
""",
            "expired, one of two approvals": """\
(zzz) Delete “Old shop to new shop”: expired
Only 1 of 2 approvals came in time.
Requested by @alice · “we test” · approved by @bob
[Details]\
""",
            "out of date": """\
(arrows_counterclockwise) Switch off “Old shop to new shop”: out of date
Someone edited the rule after the request, so Gatehouse left it alone.
Requested by @alice · “we test”
Then → now
pair 1 destination  `https://shop.example.com/new` → `https://shop.example.com/landing`
[Request again]  [Details]\
""",
            "out of date, switched off instead": """\
(arrows_counterclockwise) Delete “Old shop to new shop”: out of date
@bob edited the rule after the request, so Gatehouse left it alone.
Requested by @alice · “we test”
Then → now
status  on → off
[Request again]  [Details]\
""",
            "out of date, a temporary change ended": """\
(arrows_counterclockwise) Delete “Old shop to new shop”: out of date
A temporary change of the rule ended after the request, so Gatehouse left it alone.
Requested by @alice · “we test”
Then → now
status  off → on
[Request again]  [Details]\
""",
            "out of date, created by another undo": """\
(arrows_counterclockwise) Restore “Old shop to new shop”: out of date
@bob created the rule after the request, so Gatehouse left it alone.
Requested by @alice · “we test”
[Details]\
""",
            "out of date, gone": """\
(arrows_counterclockwise) Delete “Old shop to new shop”: out of date
The rule no longer exists. Nothing was changed.
Requested by @alice · “we test”
[Details]\
""",
            "failed": """\
Delete “Old shop to new shop”: failed
✗ Delete “Old shop to new shop”: failed
The service says: “503: down”. Nothing was changed.
Requested by @alice · “we test”
On · Redirect
`https://shop.example.com/old` → `https://shop.example.com/new`
[Details]\
""",
            "failed, OutcomeUnknown": """\
Delete “Old shop to new shop”: failed
✗ Delete “Old shop to new shop”: failed
The service gave no clear answer (our own words), and shows no sign of it. Nothing was changed.
Requested by @alice · “we test”
On · Redirect
`https://shop.example.com/old` → `https://shop.example.com/new`
[Try again]  [Details]\
""",
            "failed, Unreachable": """\
Delete “Old shop to new shop”: failed
✗ Delete “Old shop to new shop”: failed
The service isn’t available (our own words). Nothing was changed.
Requested by @alice · “we test”
On · Redirect
`https://shop.example.com/old` → `https://shop.example.com/new`
[Try again]  [Details]\
""",
            "failed, Unsendable": """\
Delete “Old shop to new shop”: failed
✗ Delete “Old shop to new shop”: failed
It couldn’t be sent: our own words. Nothing was changed.
Requested by @alice · “we test”
On · Redirect
`https://shop.example.com/old` → `https://shop.example.com/new`
[Details]\
""",
            "failed, its end passed": """\
Switch off “Old shop to new shop”: failed
✗ Switch off “Old shop to new shop”: failed
It was to last until 2026-11-21 01:24 UTC, which passed before it could be done. Request it again with a later end. Nothing was changed.
Requested by @alice · “we test” · approved by @cara
`https://shop.example.com/old` → `https://shop.example.com/new`
[Details]\
""",
            "failed, approval too old": """\
Delete “Old shop to new shop”: failed
✗ Delete “Old shop to new shop”: failed
The approval was more than an hour old. Request it again. Nothing was changed.
Requested by @alice · “we test” · approved by @cara
On · Redirect
`https://shop.example.com/old` → `https://shop.example.com/new`
[Try again]  [Details]\
""",
            "failed, too late": """\
Switch off “Old shop to new shop”: failed
✗ Switch off “Old shop to new shop”: failed
It couldn’t be done within an hour. Request it again. Nothing was changed.
Requested by @alice · “we test”
`https://shop.example.com/old` → `https://shop.example.com/new`
[Try again]  [Details]\
""",
            "failed, frozen by then": """\
Delete “Old shop to new shop”: failed
✗ Delete “Old shop to new shop”: failed
It was frozen before it could be done, until 2026-11-23 01:24 UTC. Nothing was changed.
Requested by @alice · “we test” · approved by @cara
On · Redirect
`https://shop.example.com/old` → `https://shop.example.com/new`
[Try again]  [Details]\
""",
            "failed, right lost": """\
Delete “Old shop to new shop”: failed
✗ Delete “Old shop to new shop”: failed
The account of @alice is deactivated. Nothing was changed.
Requested by @alice · “we test” · approved by @cara
On · Redirect
`https://shop.example.com/old` → `https://shop.example.com/new`
[Try again]  [Details]\
""",
            "unsettled": """\
(grey_question) Switch off “Old shop to new shop”: never confirmed
Check it yourself: the service gave no clear answer, and Gatehouse has stopped checking. What the service shows is neither the old state nor the new one.
Requested by @alice · “we test”
`https://shop.example.com/old` → `https://shop.example.com/new`
[Details]\
""",
            "unsettled, temporary": """\
(grey_question) Switch off “Old shop to new shop”: never confirmed
Check it yourself: the service gave no clear answer, and Gatehouse has stopped checking. What the service shows is neither the old state nor the new one. At its end, 2026-11-21 03:24 UTC, Gatehouse looks again and reverts what it finds.
Requested by @alice · “we test”
`https://shop.example.com/old` → `https://shop.example.com/new`
[Details]\
""",
            "service down, waits": """\
(hourglass_flowing_sand) Delete “Old shop to new shop”: waiting for the service
Requested by @alice · “we test” · approved by @cara
Nothing was changed yet: the service doesn’t answer. Gatehouse tries again until 2026-11-21 02:26 UTC.
On · Redirect
`https://shop.example.com/old` → `https://shop.example.com/new`
[Withdraw]  [Details]\
""",
            "off for two hours": """\
(double_vertical_bar) “Old shop to new shop” is off until 2026-11-21 03:24 UTC
@alice · “we test” · 2026-11-21 01:26 UTC
`https://shop.example.com/old` → `https://shop.example.com/new`
[Switch on now]  [Change end…]  ⋯ [Details]\
""",
            "granted until a time that was typed": """\
(white_check_mark) Anna Berg has access to “vip” on blog until 2026-11-21 03:24 UTC (03:24 Europe/Berlin)
`a***@example.com` · Requested by @alice · “we test” · approved by @cara · 2026-11-21 01:26 UTC
[Revert now]  [Change end…]  ⋯ [Details]\
""",
            "destination changed for two hours": """\
(white_check_mark) “Old shop to new shop”: destination changed until 2026-11-21 03:24 UTC
@alice · “we test” · 2026-11-21 01:26 UTC
destination  `https://shop.example.com/new` → `https://shop.example.com/landing`
[Revert now]  [Change end…]  ⋯ [Details]\
""",
            "not reverted: changed": """\
(warning) Switch off “Old shop to new shop”: not reverted
@alice · “we test” · 2026-11-21 01:26 UTC
Not reverted at 2026-11-21 03:24 UTC: someone edited it first, so Gatehouse left it alone.
`https://shop.example.com/old` → `https://shop.example.com/new`
[Undo]  [Details]\
""",
            "not reverted: gone": """\
(warning) Switch off “Old shop to new shop”: nothing to revert
@alice · “we test” · 2026-11-21 01:26 UTC
Nothing is left to revert. Its end was at 2026-11-21 03:24 UTC.
`https://shop.example.com/old` → `https://shop.example.com/new`
[Undo]  [Details]\
""",
            "not reverted: refused": """\
(warning) “Old shop to new shop” is off: not reverted
@alice · “we test” · 2026-11-21 01:26 UTC
Not reverted at 2026-11-21 03:24 UTC: it was refused. Undo it to try again, or to see why.
`https://shop.example.com/old` → `https://shop.example.com/new`
[Undo]  [Details]\
""",
            "not reverted: unconfirmed": """\
(warning) Switch off “Old shop to new shop”: its end is not confirmed
@alice · “we test” · 2026-11-21 01:26 UTC
Check it yourself: it was to be reverted at 2026-11-21 03:24 UTC, and the service gave no clear answer.
`https://shop.example.com/old` → `https://shop.example.com/new`
[Undo]  [Details]\
""",
            "not reverted: partly": """\
(warning) Change the destination and description of “Old shop to new shop”: not all reverted
@alice · “we test” · 2026-11-21 01:26 UTC
Not all of it was reverted at 2026-11-21 03:24 UTC: someone edited the description first, so Gatehouse left that alone.
destination  `https://shop.example.com/new` → `https://shop.example.com/landing`
description  not set → `For a sale`
[Undo]  [Details]\
""",
            "for two hours, and deleted since": """\
(wastebasket) “Old shop to new shop” was deleted
Deleted by @cara · 2026-11-21 01:26 UTC
Its end 2026-11-21 03:24 UTC changes nothing unless the deletion is undone first.
@alice · “we test” · 2026-11-21 01:26 UTC
[Details]\
""",
            "for two hours, and switched on since": """\
(arrows_counterclockwise) Switch off “Old shop to new shop”: changed since
“Old shop to new shop” is on, by @cara · 2026-11-21 01:24 UTC
Its end 2026-11-21 03:24 UTC changes nothing unless that is undone first.
@alice · “we test” · 2026-11-21 01:26 UTC
[Show rule]  [Details]\
""",
            "ended, the change": """\
(white_check_mark) “Old shop to new shop” is back on
Automatically, as planned · 2026-11-21 03:24 UTC
Requested by @alice · “we test” · 2026-11-21 01:26 UTC
`https://shop.example.com/old` → `https://shop.example.com/new`
[Switch off again…]  [Details]\
""",
            "ended, what did it": """\
(white_check_mark) “Old shop to new shop” is back on
Requested by @alice · automatically, as planned · 2026-11-21 01:26 UTC
`https://shop.example.com/old` → `https://shop.example.com/new`
[Details]\
""",
            "ended late, the change": """\
(white_check_mark) “Old shop to new shop” is back on
Automatically, 25 min late: Gatehouse was down · 2026-11-21 03:24 UTC
Requested by @alice · “we test” · 2026-11-21 01:26 UTC
`https://shop.example.com/old` → `https://shop.example.com/new`
[Switch off again…]  [Details]\
""",
            "ended late, what did it": """\
(white_check_mark) “Old shop to new shop” is back on
Requested by @alice · automatically, 25 min late: Gatehouse was down · 2026-11-21 01:26 UTC
`https://shop.example.com/old` → `https://shop.example.com/new`
[Details]\
""",
            "ended late, after tries in vain, the change": """\
(white_check_mark) “Old shop to new shop” is back on
Automatically, 4 min late: it didn’t work at first · 2026-11-21 03:24 UTC
Requested by @alice · “we test” · 2026-11-21 01:26 UTC
`https://shop.example.com/old` → `https://shop.example.com/new`
[Switch off again…]  [Details]\
""",
            "ended late, after tries in vain, what did it": """\
(white_check_mark) “Old shop to new shop” is back on
Requested by @alice · automatically, 4 min late: it didn’t work at first · 2026-11-21 01:26 UTC
`https://shop.example.com/old` → `https://shop.example.com/new`
[Details]\
""",
            "reverted early, the change": """\
(leftwards_arrow_with_hook) “Old shop to new shop” is back on
Reverted early by @cara · 2026-11-21 03:24 UTC
Requested by @alice · “we test” · 2026-11-21 01:26 UTC
`https://shop.example.com/old` → `https://shop.example.com/new`
[Request again]  [Details]\
""",
            "reverted early, what did it": """\
(white_check_mark) “Old shop to new shop” is back on
@cara · reverted early · 2026-11-21 01:26 UTC
`https://shop.example.com/old` → `https://shop.example.com/new`
[Details]\
""",
            "undone by somebody else, the change": """\
(leftwards_arrow_with_hook) “Old shop to new shop” is back on
Undone by @cara · 2026-11-21 03:24 UTC
Requested by @alice · “we test” · 2026-11-21 01:26 UTC
`https://shop.example.com/old` → `https://shop.example.com/new`
[Request again]  [Details]\
""",
            "undone by somebody else, what did it": """\
(white_check_mark) “Old shop to new shop” is back on
@cara · undid @alice’s change · 2026-11-21 01:26 UTC
`https://shop.example.com/old` → `https://shop.example.com/new`
[Details]\
""",
            "undone by its requester, the change": """\
(leftwards_arrow_with_hook) “Old shop to new shop” is back on
Undone by @cara · 2026-11-21 03:24 UTC
Requested by @alice · “we test” · 2026-11-21 01:26 UTC
`https://shop.example.com/old` → `https://shop.example.com/new`
[Request again]  [Details]\
""",
            "undone by its requester, what did it": """\
(white_check_mark) “Old shop to new shop” is back on
@cara · undid their own change · 2026-11-21 01:26 UTC
`https://shop.example.com/old` → `https://shop.example.com/new`
[Details]\
""",
            "a rule made for two hours, deleted": """\
(white_check_mark) “Old shop to new shop” was deleted
Automatically, as planned · 2026-11-21 03:24 UTC
Requested by @alice · “we test” · 2026-11-21 01:26 UTC
On · Redirect
`https://shop.example.com/old` → `https://shop.example.com/new`
[Details]\
""",
            "undone": """\
(leftwards_arrow_with_hook) “Old shop to new shop” is back
Undone by @cara · 2026-11-21 03:24 UTC
Requested by @alice · “we test” · 2026-11-21 01:26 UTC
On · Redirect
`https://shop.example.com/old` → `https://shop.example.com/new`
It has a new id and creation date. Commands still find it by its old id.
[Request again]  [Details]\
""",
            "can’t be drawn": """\
(wastebasket) Delete rule `Redirect_x1`
Requested by @alice · waiting for a decision
Gatehouse can’t show what this changes, so nobody can decide about it. Withdraw it, and request it in smaller parts.
[Withdraw]
change `0343eab7`\
""",
            "can’t be drawn, a member": """\
(white_check_mark) Remove member `c***@example.com`
Requested by @alice · done
Gatehouse can’t show what this changes.
change `0343eab7`\
""",
            "another email": """\
(white_check_mark) Chloe Diaz added to blog
`c***@new.example` · @alice · “we test” · 2026-11-21 01:26 UTC
`c***@example.com` keeps its access until somebody removes it.
Segments  `default` `staff`
[Remove the old one]  [Undo]  ⋯ [Details]
  [Undo] asks: Remove Chloe Diaz from blog again? / The member is removed again. [Cancel] [Undo]\
""",
            "an undo of a deletion": """\
(white_check_mark) “Old shop to new shop” is back
@alice · “we test” · 2026-11-21 01:26 UTC
On · Redirect
`https://shop.example.com/old` → `https://shop.example.com/new`
It has a new id and creation date. Commands still find it by its old id.
[Details]\
""",
            "emergency override": """\
(rotating_light) “Old shop to new shop” deleted
Emergency override by @alice: “checkout is down, nobody answers” · 2026-11-21 01:26 UTC
Requested by @alice · “we test”
Before:
On · Redirect
`https://shop.example.com/old` → `https://shop.example.com/new`
[Undo]  [Details]\
""",
            "an undo of a removal": """\
(white_check_mark) Chloe Diaz is back on blog
`c***@example.com` · @alice · “we test” · 2026-11-21 01:26 UTC
Segments  `default` `staff`
Name and segments are restored; the join date is not.
[Details]\
""",
            "on, but its group is off": """\
(white_check_mark) “Old shop to new shop” is on
@alice · “we test” · 2026-11-21 01:26 UTC
`https://shop.example.com/old` → `https://shop.example.com/new`
On, but not active: its group “Experiments” is off.
[Undo]  [Details]\
""",
            "created, with a warning": """\
(warning) “Back to the old shop” created
@alice · “we test” · 2026-11-21 01:26 UTC
Warning: It loops with “Old shop to new shop”.
On · Redirect
`https://shop.example.com/new` → `https://shop.example.com/old`
[Undo]  [Details]
  [Undo] asks: Delete “Back to the old shop” again? / The rule is deleted again. [Cancel] [Undo]\
""",
            "stored otherwise": """\
(warning) Change the destination of “Old shop to new shop”: not stored as requested
@alice · “we test” · 2026-11-21 01:26 UTC
Requested → stored
pair 1 destination  `https://shop.example.com/landing` → `https://shop.example.com/new`
[Undo]  [Details]\
""",
            "not in its channel": """\
(white_check_mark) “Old shop to new shop” deleted
@alice · “we test” · 2026-11-21 01:26 UTC
Before:
On · Redirect
`https://shop.example.com/old` → `https://shop.example.com/new`
[Undo]  [Details]
You get this here because Gatehouse can’t post in #C0OPS0001. Add it there with `/invite @Gatehouse`.\
""",
            "channel shared since": """\
(white_check_mark) “Old shop to new shop” deleted
@alice · “we test” · 2026-11-21 01:26 UTC
Before:
On · Redirect
`https://shop.example.com/old` → `https://shop.example.com/new`
[Undo]  [Details]
You get this here because #C0OPS0001 is shared with another company now.\
""",
        }
    )


def test_bulk_changes() -> None:
    assert texts(cards.bulk_changes()) == snapshot(
        {
            "switch off two rules, own click": """\
@alice: Switch off 2 rules? “we test”
(raising_hand) Switch off 2 rules?
Requested by @alice · “we test”
Only @alice can confirm it until 2026-11-22 01:24 UTC.
• Old shop to new shop: off (`https://shop.example.com/old` → `https://shop.example.com/new`)
• Sale 2026: off (`https://shop.example.com/sale` → `https://shop.example.com/landing2` · only for page domain `blog.example.com` or `shop.example.com`, method `GET` · and 2 more pairs)
[Switch off 2 rules]  [Withdraw]  ⋯ [Details]
  [Switch off 2 rules] asks: Switch off 2 rules? / It takes effect at once. You can undo it. [Cancel] [Switch off 2 rules]\
""",
            "switch off three rules, under way": """\
(hourglass_flowing_sand) Switch off 3 rules: under way
Requested by @alice · “we test”
1 of 3
1 done
✓ Old shop to new shop: off (`https://shop.example.com/old` → `https://shop.example.com/new`)
… Sale 2026: under way
◦ Campaign links: waiting
[Stop]  [Details]\
""",
            "being stopped": """\
(hourglass_flowing_sand) Switch off 3 rules: stopping
Requested by @alice · “we test”
1 of 3
1 done
✓ Old shop to new shop: off (`https://shop.example.com/old` → `https://shop.example.com/new`)
… Sale 2026: under way
◦ Campaign links: waiting
[Details]\
""",
            "two rules switched off for two hours": """\
(white_check_mark) 2 rules switched off until 2026-11-21 03:24 UTC
@alice · “we test” · 2026-11-21 01:26 UTC
✓ Old shop to new shop: off (`https://shop.example.com/old` → `https://shop.example.com/new`)
✓ Sale 2026: off (`https://shop.example.com/sale` → `https://shop.example.com/landing2` · only for page domain `blog.example.com` or `shop.example.com`, method `GET` · and 2 more pairs)
[Revert now]  [Change end…]  ⋯ [Details]\
""",
            "two of three done": """\
(warning) 2 of 3 rules switched off
@alice · “we test” · 2026-11-21 01:26 UTC
2 done · 1 changed since the request, left alone
✓ Old shop to new shop: off (`https://shop.example.com/old` → `https://shop.example.com/new`)
✓ Sale 2026: off (`https://shop.example.com/sale` → `https://shop.example.com/landing2` · only for page domain `blog.example.com` or `shop.example.com`, method `GET` · and 2 more pairs)
✗ Campaign links: changed since the request, left alone
[Retry the other one]  [Undo]  ⋯ [Details]\
""",
            "stopped": """\
(warning) 1 of 3 rules switched off
@alice · “we test” · 2026-11-21 01:26 UTC
Stopped by @bob.
1 done · 2 not started
✓ Old shop to new shop: off (`https://shop.example.com/old` → `https://shop.example.com/new`)
✗ Sale 2026: not started
✗ Campaign links: not started
[Retry the other 2]  [Undo]  ⋯ [Details]\
""",
            "one not confirmed": """\
(warning) 1 of 2 rules switched off, 1 not confirmed yet
@alice · “we test” · 2026-11-21 01:26 UTC
Gatehouse keeps checking what is not confirmed yet, and updates this card.
1 done · 1 not confirmed yet
✓ Old shop to new shop: off (`https://shop.example.com/old` → `https://shop.example.com/new`)
? Sale 2026: not confirmed yet
[Undo]  [Details]\
""",
            "none done": """\
Switch off 2 rules: failed
✗ Switch off 2 rules: failed
Nothing was changed.
Requested by @alice · “we test”
1 failed · 1 left alone because another change is under way
✗ Old shop to new shop: failed
✗ Sale 2026: left alone because another change is under way
[Try again]  [Details]\
""",
            "undone": """\
(leftwards_arrow_with_hook) 2 rules switched back on
Undone by @alice · 2026-11-21 01:24 UTC
Requested by @alice · “we test” · 2026-11-21 01:26 UTC
2 undone
• Old shop to new shop: undone
• Sale 2026: undone
[Request again]  [Details]\
""",
            "offboarding": """\
@alice: Remove Chloe Diaz from every site? “she left”
(wastebasket) Remove Chloe Diaz from every site?
Requested by @alice · “she left”
Needs approval from someone else in this channel by 2026-11-22 01:24 UTC.
• Chloe Diaz `c***@example.com` on blog: remove, segments `default` `staff`
• Chloe Diaz `c***@example.com` on docs: remove, segments `default` `staff`
Emails are masked in channels. Press Details before you decide.
[Details]  [Approve removal]  [Deny…]  ⋯ [Withdraw]
  [Approve removal] asks: Remove Chloe Diaz from every site? / Access ends at once. Undo restores name and segments on each site. [Cancel] [Approve removal]\
""",
            "offboarding of two people": """\
@alice: Remove 2 people from every site? “we test”
(wastebasket) Remove 2 people from every site?
Requested by @alice · “we test”
Needs approval from someone else in this channel by 2026-11-22 01:24 UTC.
• Chloe Diaz `c***@example.com` on blog: remove, segments `default` `staff`
• Chloe Diaz `c***@example.com` on docs: remove, segments `default` `staff`
• Paul Quist `p***@example.com` on blog: remove, segments `default` `staff`
Emails are masked in channels. Press Details before you decide.
[Details]  [Approve removal]  [Deny…]  ⋯ [Withdraw]
  [Approve removal] asks: Remove 2 people from every site? / Access ends at once. Undo restores name and segments on each site. [Cancel] [Approve removal]\
""",
            "offboarded from one site of two": """\
(warning) Remove Chloe Diaz from every site: 1 of 2 done
@alice · “we test” · 2026-11-21 01:26 UTC
1 done · 1 failed
✓ Chloe Diaz `c***@example.com` on blog: removed, segments `default` `staff`
✗ Chloe Diaz `c***@example.com` on docs: failed
[Retry the one that failed]  [Undo]  ⋯ [Details]\
""",
            "undo of an offboarding, own click": """\
@alice: Put Chloe Diaz back on all their sites? “we test”
(raising_hand) Put Chloe Diaz back on all their sites?
Requested by @alice · “we test”
Only @alice can confirm it until 2026-11-22 01:24 UTC.
• Chloe Diaz `c***@example.com` on docs: add, segments `default` `staff`
• Chloe Diaz `c***@example.com` on blog: add, segments `default` `staff`
Emails are masked in channels. Press Details before you decide.
[Details]  [Put back on all sites]  [Withdraw]
  [Put back on all sites] asks: Put Chloe Diaz back on all their sites? / Restores name and segments at once. You can undo it. [Cancel] [Put back on all sites]\
""",
            "offboarded": """\
(white_check_mark) Chloe Diaz removed from every site
Requested by @alice · “she left” · approved by @cara · 2026-11-21 01:26 UTC
✓ Chloe Diaz `c***@example.com` on blog: removed, segments `default` `staff`
✓ Chloe Diaz `c***@example.com` on docs: removed, segments `default` `staff`
[Undo]  [Details]\
""",
            "import of 2 rules": """\
@alice: Import 2 rules from “campaign.json”?
(raising_hand) Import 2 rules from “campaign.json”?
Requested by @alice
Needs approval from someone else in this channel by 2026-11-22 01:24 UTC.
• Sale 2026: create, off, Redirect, `https://shop.example.com/sale` → `https://shop.example.com/landing2` · only for page domain `blog.example.com` or `shop.example.com`, method `GET` · and 2 more pairs
• Old shop to new shop: destination  `https://shop.example.com/new` → `https://shop.example.com/landing`
• Campaign links: skipped (already there and identical)
This card doesn’t show everything. Press Details before you decide.
[Details]  [Approve]  [Deny…]  ⋯ [Withdraw]
  [Approve] asks: Import 2 rules from “campaign.json”? / It takes effect at once. You can undo it. [Cancel] [Approve]\
""",
            "imported": """\
(white_check_mark) 2 rules imported from “campaign.json”
Requested by @alice · approved by @cara · 2026-11-21 01:26 UTC
2 done · 1 skipped
✓ Sale 2026: created, off, Redirect, `https://shop.example.com/sale` → `https://shop.example.com/landing2` · only for page domain `blog.example.com` or `shop.example.com`, method `GET` · and 2 more pairs
✓ Old shop to new shop: destination  `https://shop.example.com/new` → `https://shop.example.com/landing`
• Campaign links: skipped (already there and identical)
[Undo]  [Details]
  [Undo] asks: Undo the import from “campaign.json”? / All of it is deleted again. [Cancel] [Undo]\
""",
            "delete 12,000 rules": """\
@alice: Delete 12,000 rules? “we test”
(wastebasket) Delete 12,000 rules?
Requested by @alice · “we test”
Needs approval from someone else in this channel by 2026-11-22 01:24 UTC.
• Old shop to new shop: delete, `https://shop.example.com/old` → `https://shop.example.com/new`
…and 11,999 more.
This card doesn’t show everything. Press Details before you decide.
[Details]  [Approve deletion]  [Deny…]  ⋯ [Withdraw]
  [Approve deletion] asks: Delete 12,000 rules? / 12,000 rules stop working at once. Undo creates them again, under new ids. [Cancel] [Approve deletion]\
""",
        }
    )


def test_planned() -> None:
    assert texts(cards.planned()) == snapshot(
        {
            "asked for, for a time": """\
@alice: Delete “Sale 2026”, planned for <!date^1795569840^{date_short_pretty} {time}|2026-11-25 01:24 UTC>? “we test”
(wastebasket) Delete “Sale 2026”, planned for 2026-11-25 01:24 UTC?
Requested by @alice · “we test” · 09:00 Europe/Berlin
Needs approval from someone else in this channel by 2026-11-22 01:24 UTC.
Description: “Ends with the year”
On · Redirect
1. `https://shop.example.com/sale` → `https://shop.example.com/landing2` · only for page domain `blog.example.com` or `shop.example.com`, method `GET`
2. `https://shop.example.com/deals` → `https://shop.example.com/landing2`
3. `https://shop.example.com/black-friday` → `https://shop.example.com/landing2`
This card doesn’t show everything. Press Details before you decide.
[Details]  [Approve deletion]  [Deny…]  ⋯ [Withdraw]  [Switch off instead]
  [Approve deletion] asks: Delete “Sale 2026”? / All 3 pairs are deleted. It stops working on 2026-11-25 01:24 UTC. Undo creates it again, under a new id. [Cancel] [Approve deletion]\
""",
            "switch off at a time, for two hours": """\
(alarm_clock) Switch off “Old shop to new shop”: planned for 2026-11-25 01:24 UTC, for 2 h
Requested by @alice · “we test” · 09:00 Europe/Berlin
`https://shop.example.com/old` → `https://shop.example.com/new`
[Do it now]  [Change time…]  ⋯ [Withdraw]  [Details]\
""",
            "switch off from one time to another, approved": """\
(alarm_clock) Switch off “Old shop to new shop”: planned for 2026-11-25 01:24 UTC, until 2026-11-28 01:24 UTC
Requested by @alice · “we test” · approved by @cara · 09:00 – 09:00 Europe/Berlin
`https://shop.example.com/old` → `https://shop.example.com/new`
[Ask to do it now]  [Change time…]  ⋯ [Withdraw]  [Details]\
""",
            "nobody could begin it": """\
(warning) Switch off “Old shop to new shop”: not started
It couldn’t start 2026-11-25 01:24 UTC: Gatehouse, Slack or the service was away then, or another change came first. Choose what to do. Expires 2026-11-28 01:24 UTC.
Requested by @alice · “we test”
`https://shop.example.com/old` → `https://shop.example.com/new`
[Do it now]  [Change time…]  ⋯ [Withdraw]  [Details]\
""",
            "out of date by then": """\
(arrows_counterclockwise) Switch off “Old shop to new shop”: out of date
The rule isn’t what this was planned for, so Gatehouse left it alone.
Requested by @alice · “we test”
Then → now
status  on → off
[Request again]  [Details]\
""",
            "frozen then": """\
(warning) Switch off “Old shop to new shop”: not started
It couldn’t start 2026-11-25 01:24 UTC: it was frozen then. Choose a time after the freeze. Expires 2026-11-28 01:24 UTC.
Requested by @alice · “we test”
`https://shop.example.com/old` → `https://shop.example.com/new`
[Do it now]  [Change time…]  ⋯ [Withdraw]  [Details]\
""",
            "asked for, in a freeze": """\
@alice: Switch off “Old shop to new shop”, planned for <!date^1795569840^{date_short_pretty} {time}|2026-11-25 01:24 UTC>? “we test”
(raising_hand) Switch off “Old shop to new shop”, planned for 2026-11-25 01:24 UTC?
Requested by @alice · “we test” · 09:00 Europe/Berlin
Only @alice can confirm it until 2026-11-22 01:24 UTC.
(snowflake) Everything is frozen from 2026-11-21 01:24 UTC until 2026-11-26 01:24 UTC by the policy (“Christmas”). Until then, only an emergency override gets through.
`https://shop.example.com/old` → `https://shop.example.com/new`
[Emergency override…]  [Switch off]  ⋯ [Withdraw]  [Details]\
""",
            "overridden for a time": """\
(alarm_clock) Switch off “Old shop to new shop”: planned for 2026-11-25 01:24 UTC
Requested by @alice · “we test” · emergency override by @cara: “the on-call lead sleeps then” · 09:00 Europe/Berlin
`https://shop.example.com/old` → `https://shop.example.com/new`
[Do it now]  [Change time…]  ⋯ [Withdraw]  [Details]\
""",
            "withdrawn": """\
(leftwards_arrow_with_hook) Switch off “Old shop to new shop”: plan withdrawn
Withdrawn by @alice · 2026-11-21 01:26 UTC
Requested by @alice · “we test”
[Details]\
""",
            "note: overridden for a time": """\
Switch off “Old shop to new shop”: emergency override
(rotating_light) Emergency override: Switch off “Old shop to new shop”
@cara will go ahead 2026-11-25 01:24 UTC without an approval: “the on-call lead sleeps then”\
""",
            "who approved may not any more": """\
(warning) Switch off “Old shop to new shop”: not started
It couldn’t start 2026-11-25 01:24 UTC: @bob has no role any more that allows this. Expires 2026-11-28 01:24 UTC.
Requested by @alice · “we test” · approved by @cara
`https://shop.example.com/old` → `https://shop.example.com/new`
[Request again]  [Withdraw]  ⋯ [Details]\
""",
            "the policy asks for more": """\
(warning) Switch off “Old shop to new shop”: not started
It couldn’t start 2026-11-25 01:24 UTC: the policy asks for more than it did when this was planned. Expires 2026-11-28 01:24 UTC.
Requested by @alice · “we test”
`https://shop.example.com/old` → `https://shop.example.com/new`
[Request again]  [Withdraw]  ⋯ [Details]\
""",
            "note: starts-1": """\
Switch off “Old shop to new shop”: starts soon
(alarm_clock) @alice Switch off “Old shop to new shop”: starts 2026-11-25 01:24 UTC.\
""",
            "note: held-1": """\
Switch off “Old shop to new shop”: not started
(warning) @alice Switch off “Old shop to new shop”: not started
It couldn’t start 2026-11-25 01:24 UTC: Gatehouse, Slack or the service was away then, or another change came first. Choose what to do. Expires 2026-11-28 01:24 UTC.\
""",
            "note: started": """\
Switch off “Old shop to new shop”: started
(double_vertical_bar) “Old shop to new shop” is off @alice\
""",
            "note: started, of which one failed": """\
Switch off 3 rules: started
(warning) 2 of 3 rules switched off @alice\
""",
        }
    )


def test_notes() -> None:
    assert texts(cards.notes()) == snapshot(
        {
            "note: moved-1": """\
Switch off “Old shop to new shop”: other time
(alarm_clock) @alice Switch off “Old shop to new shop”: moved to 2026-11-22 01:24 UTC.\
""",
            "note: remind-1": """\
Delete “Sale 2026”: needs approval
(bell) @oncall Delete “Sale 2026”? @alice needs approval by 2026-11-22 01:24 UTC.\
""",
            "note: offer-1": """\
Switch off “Old shop to new shop”: reverts soon
(bell) @alice “Old shop to new shop” is off until 2026-11-21 01:34 UTC
[Change end…]\
""",
            "note: break_glass": """\
Delete “Sale 2026”: emergency override
(rotating_light) Emergency override: Delete “Sale 2026”
@alice went ahead without an approval: “checkout is down, nobody answers” @oncall\
""",
            "note: left changed": """\
Switch off “Old shop to new shop”: not reverted
(warning) @alice Switch off “Old shop to new shop”: not reverted
Not reverted at 2026-11-21 01:34 UTC: someone edited it first, so Gatehouse left it alone.\
""",
            "note: left refused": """\
Switch off “Old shop to new shop”: not reverted
(warning) @alice “Old shop to new shop” is off: not reverted
Not reverted at 2026-11-21 01:34 UTC: it was refused. Undo it to try again, or to see why.\
""",
        }
    )


def test_direct_messages() -> None:
    assert texts(cards.direct_messages()) == snapshot(
        {
            "direct message: approved, done": """\
(white_check_mark) “Sale 2026” deleted
Approved by @cara. Open the card\
""",
            "direct message: approved, under way": """\
(hourglass_flowing_sand) Delete “Sale 2026”: under way
Approved by @cara. Open the card\
""",
            "direct message: someone went ahead alone": """\
(rotating_light) “Sale 2026” deleted
Emergency override by @bob. Open the card\
""",
            "direct message: denied": """\
(no_entry_sign) Delete “Sale 2026”: denied
Denied by @cara: “not tonight” Open the card\
""",
            "direct message: plan withdrawn": """\
(leftwards_arrow_with_hook) Delete “Sale 2026”: plan withdrawn
Withdrawn by @bob. Open the card\
""",
            "direct message: expired": """\
(zzz) Delete “Sale 2026”: expired
Nobody approved your request in time. Open the card\
""",
            "direct message: expired, not confirmed": """\
(zzz) Delete “Sale 2026”: expired
You didn’t confirm it in time. Open the card\
""",
            "direct message: expired, one of two approvals": """\
(zzz) Delete “Sale 2026”: expired
Only 1 of 2 approvals came in time. Open the card\
""",
            "direct message: failed": """\
Delete “Sale 2026”: failed
✗ Delete “Sale 2026”: failed
The service says: “503: down”. Nothing was changed. Open the card\
""",
            "direct message: out of date": """\
(arrows_counterclockwise) Delete “Sale 2026”: out of date
Someone edited the rule after the request, so Gatehouse left it alone. Open the card\
""",
            "direct message: outcome unknown": """\
(grey_question) Delete “Sale 2026”: never confirmed
Check it yourself: the service gave no clear answer, and Gatehouse has stopped checking. It couldn’t be read, or is gone. Open the card\
""",
            "direct message: reverted early": """\
(leftwards_arrow_with_hook) “Old shop to new shop” is back on
Your temporary change was reverted early by @bob. Open the card\
""",
            "direct message: reverted after its end": """\
(leftwards_arrow_with_hook) “Old shop to new shop” is back on
Your temporary change was reverted by @bob. Open the card\
""",
        }
    )


def test_forms() -> None:
    assert texts(cards.forms()) == snapshot(
        {
            "how long is it off": """\
┌ Switch off
Switch off “Old shop”.
Start (optional): <>
How long?: <Until I switch it on>
Or until (optional): <>
Why (optional): <>
[Switch off]\
""",
            "how long has she access": """\
┌ Grant access
Grant `anna@example.com` access to “vip” on blog.
Start (optional): <>
How long?: <Until someone revokes it>
Or until (optional): <>
Why (optional): <>
[Grant access]\
""",
            "what is granted to her": """\
┌ Grant access
`/members grant anna@example.com`
Which segment?: <>
Start (optional): <>
How long?: <Until someone revokes it>
Or until (optional): <>
Why (optional): <>
[Grant access]\
""",
            "what is to be frozen": """\
┌ Freeze
Freeze what?: <>
Start (optional): <>
Until: <>
Why (optional): <>
[Freeze]\
""",
            "form: deny": """\
┌ Deny
Delete “Sale 2026”?
Requested by @alice
Reason: <>
[Deny]\
""",
            "form: deny, empty": "Enter a reason. It is shown on the card, in the channel.",
            "form: replan, empty": "Enter a time such as tomorrow 9:00 or Friday 18:00.",
            "form: until, empty": "Enter a time such as 18:00 or Friday 9:00, or how long from now, such as 3h.",
            "form: replan": """\
┌ Change time
Delete “Sale 2026”?
Requested by @alice
Another time has to be approved again.
When?: <>
[Change time]\
""",
            "form: break_glass, empty": "Give a reason of at least ten characters. It is shown in the channel, and kept in the audit log.",
            "form: until": """\
┌ Change end
“Sale 2026” is off until 2026-11-21 03:24 UTC
Requested by @alice
New end: <1 hour more>
Or until (optional): <>
[Change end]\
""",
            "form: break_glass": """\
┌ Override now
Delete “Sale 2026”?
Requested by @alice
(rotating_light) It takes effect at once, without an approval. Those who could have approved are notified.
Why can’t this wait for an approval?: <>
[Override now]\
""",
            "full view: a deletion": """\
┌ Details
Delete “Sale 2026”?
Requested by @alice
Needs approval from someone else in #C0OPS0001 by 2026-11-22 01:24 UTC.
Reason `not needed`
Delete rule `Sale 2026` `Redirect_x1`
• status  on
• type  `Redirect`
• pair 1 part of the URL  the whole URL
• pair 1 operator  is exactly
• pair 1 source  `https://shop.example.com/sale`
• pair 1 only for page domain  `blog.example.com` `shop.example.com`
• pair 1 only for method  `GET`
• pair 1 destination type  a URL
• pair 1 destination  `https://shop.example.com/landing2`
• pair 2  the whole URL is exactly `https://shop.example.com/deals` → `https://shop.example.com/landing2`
• pair 3  the whole URL is exactly `https://shop.example.com/black-friday` → `https://shop.example.com/landing2`
• description  `Ends with the year`
This is everything. Decide on the card in the channel.
rules at rules.example.com · `Redirect_x1` · change `0343eab7`\
""",
            "full view: a new destination": """\
┌ Details
Change the destination of “Old shop to new shop”?
Requested by @alice
Needs approval from someone else in #C0OPS0001 by 2026-11-22 01:24 UTC.
Reason `we test`
Change rule `Old shop to new shop` `Redirect_x1`
• pair 1 destination  `https://shop.example.com/new` → `https://shop.example.com/landing`
This is everything. Decide on the card in the channel.
rules at rules.example.com · `Redirect_x1` · change `0343eab7`\
""",
            "full view: a member": """\
┌ Details
Remove Chloe Diaz from blog?
Requested by @alice
Needs approval from someone else in #C0OPS0001 by 2026-11-22 01:24 UTC.
Reason `she left`
Remove member `Chloe Diaz` `chloe.diaz@example.com` on `blog`
• segments  `default` `staff`
This is everything. Decide on the card in the channel.
members at members.example.com · change `0343eab7`\
""",
            "full view: for a person who can decide": """\
┌ Details
Switch off “Old shop to new shop” for 2 h?
Requested by @alice
Needs approval from someone else in #C0OPS0001 by 2026-11-22 01:24 UTC.
Reason `we test`
Change rule `Old shop to new shop` `Redirect_x1`
• status  on → off
Unchanged:
• type  `Redirect`
• pair 1  the whole URL is exactly `https://shop.example.com/old` → `https://shop.example.com/new`
This is everything.
[Approve]  [Deny…]
rules at rules.example.com · `Redirect_x1` · change `0343eab7`\
""",
            "full view: after a decision": """\
Delete “Sale 2026”
(no_entry_sign) Delete “Sale 2026”: denied
Denied by @cara
Requested by @alice · “not needed”
See its card in #C0OPS0001.\
""",
            "full view: an offboarding": """\
┌ Details
Remove Chloe Diaz from every site
Requested by @alice
Needs approval from someone else in #C0OPS0001 by 2026-11-22 01:24 UTC.
Reason `she left`
1. Remove member `Chloe Diaz` `chloe.diaz@example.com` on `blog`
• segments  `default` `staff`
2. Remove member `Chloe Diaz` `chloe.diaz@example.com` on `docs`
• segments  `default` `staff`
This is everything. Decide on the card in the channel.
members at members.example.com · change `0343eab7`\
""",
            "full view: a file": """\
Remove Chloe Diaz from every site
Change 0343eab70343eab70343eab70343eab7
Reason: she left

1. Remove member Chloe Diaz
    id: chloe.diaz@example.com
    site: blog
    segments: default, staff

2. Remove member Chloe Diaz
    id: chloe.diaz@example.com
    site: docs
    segments: default, staff
""",
        }
    )
