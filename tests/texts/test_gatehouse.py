"""What Gatehouse says of itself, whole."""

from __future__ import annotations

from inline_snapshot import snapshot

from tests.texts import gatehouse, texts


def test_answers() -> None:
    assert texts(gatehouse.answers()) == snapshot(
        {
            "the menu": """\
Gatehouse
What do you want to do?
[Rules]  [Members]
[Waiting for you]  [Planned]  [What changed]  [Search the record…]  [Handover]
[Undo my last change…]  [Freeze…]  [What is frozen]  [What may I do?]  [Check guards…]  [Status]
Or type
`/rules which https://shop.example.com/old`  where a URL goes, and why
`/rules off Old shop for 2h`  switch a rule off; it turns back on automatically
`/members why anna vip`  why someone has access or doesn’t
`/members grant anna vip for 7d`  grant access for a week
Or use your own words. Gatehouse shows what would change, and waits for your click.\
""",
            "status, all well": """\
(large_green_circle) Everything works.
✓ Slack
✓ Clock
✓ Database
✓ Policy file
✓ Cards and messages: 2 on the way
✓ Rules: 25 records · `rules.example.com`
✓ Members of blog: 8 records
Changes: 12,000 done, 2 failed, 1 waiting for a decision  Gatehouse 1.0.0\
""",
            "status, two problems": """\
(red_circle) 2 problems. Everything else works, with 1 warning.
✗ Rules: The rules service doesn’t answer · `rules.example.com`
✗ Members of blog: The members service rejected Gatehouse’s key: Unauthorized
! Socket Mode: 1 of 2 connections
✓ Slack
✓ Clock
✓ Database
✓ Policy file
✓ Cards and messages: 2 on the way
Changes: none yet  Gatehouse 1.0.0\
""",
            "status, Slack rejected cards": """\
(red_circle) Cards and messages: Slack rejected 2, 1 late; Gatehouse keeps trying. Everything else works.
✗ Cards and messages: Slack rejected 2, 1 late; Gatehouse keeps trying
✓ Slack
✓ Clock
✓ Database
✓ Policy file
✓ Rules: 25 records · `rules.example.com`
✓ Members of blog: 8 records
Changes: none yet  Gatehouse 1.0.0\
""",
        }
    )


def test_people() -> None:
    assert texts(gatehouse.people()) == snapshot(
        {
            "may do everything": """\
What you can do with Gatehouse here
You can do everything in #C0OPS0001.
You need a second person’s approval to delete rules and remove members.
@alice · Sites: blog, docs · Your time zone: Europe/Berlin\
""",
            "may do some": """\
What you can do with Gatehouse here
In #C0OPS0001 you can read rules, read members, read the audit, create rules, change rules, add members, rename members, grant access, revoke access and freeze hosts and sites.
You need 2 other people’s approval to change rules.
You need to confirm once more to revoke access.
You can’t delete rules or remove members. None of your roles allows this.
You can’t approve requests. You aren’t in this channel, so you can’t make or approve changes here.
@alice · Sites: blog · Your time zone: Europe/Berlin · Changes are allowed in #C0OPS0001\
""",
            "may do nothing": """\
What you can do with Gatehouse here
You can’t use Gatehouse in #C0OPS0001.
Guests can’t use Gatehouse.
@alice · No sites are set up · Your time zone: Europe/Berlin\
""",
        }
    )


def test_waiting() -> None:
    assert texts(gatehouse.waiting()) == snapshot(
        {
            "nothing pending": """\
(white_check_mark) Nothing is pending.
Requests that wait for a decision appear here.
[Refresh]\
""",
            "pending, and none that the reader may read": """\
(white_check_mark) Nothing that you can read is pending.
Requests that wait for a decision appear here.
Changes that your roles don’t let you read aren’t shown.
[Refresh]\
""",
            "pending": """\
1 pending change
[Decide…]
Delete “Sale 2026” `https://shop.example.com/sale` → `https://shop.example.com/landing2` · only for page domain `blog.example.com` or `shop.example.com`, method `GET` · and 2 more pairs
@alice: “we test” · 2026-11-21 01:24 UTC · card
[Refresh]  [Share in channel]\
""",
            "nothing temporary": """\
(alarm_clock) Nothing is planned right now.
Add `tomorrow 9:00` to a change, and Gatehouse makes it then. Add `for 2h` or `until 18:00`, and Gatehouse reverts it then.
[Refresh]\
""",
            "planned and temporary": """\
1 planned change, 1 temporary change
Change the destination of “Old shop to new shop”: `https://shop.example.com/new` → `https://shop.example.com/landing` · planned, starts 2026-11-21 02:24 UTC
@alice: “the landing page moved” · 2026-11-21 01:26 UTC · #C0OPS0001 · card
“Sale 2026” is off until 2026-11-21 03:24 UTC
@alice: “we test” · 2026-11-21 01:26 UTC · #C0OPS0001 · card
[Refresh]  [Share in channel]\
""",
            "temporary, and some that the reader may not read": """\
1 temporary change
Changes that your roles don’t let you read aren’t shown.
“Sale 2026” is off until 2026-11-21 03:24 UTC
@alice: “we test” · 2026-11-21 01:26 UTC · #C0OPS0001 · card
[Refresh]  [Share in channel]\
""",
        }
    )


def test_records() -> None:
    assert texts(gatehouse.records()) == snapshot(
        {
            "audit": """\
On record
Change the destination of “Old shop to new shop”: `https://shop.example.com/new` → `https://shop.example.com/landing` · done
@alice: “the landing page moved” · 2026-11-21 01:26 UTC · #C0OPS0001 · card
“Sale 2026” is off until 2026-11-21 03:24 UTC
@alice: “we test” · 2026-11-21 01:26 UTC · #C0OPS0001 · card
Delete “Sale 2026” · waiting for a decision, expires 2026-11-22 01:24 UTC
@alice: “we test” · needs approval from someone else in its channel · 2026-11-21 01:24 UTC · #C0OPS0001 · card
Grant Anna Berg access to “vip” on blog `anna.berg@example.com` · denied by @cara
@alice: “she upgraded” · 2026-11-21 01:26 UTC · #C0OPS0001 · card
Delete “Old shop to new shop” · done
@alice: “we test” · emergency override by @bob · 2026-11-21 01:26 UTC · #C0OPS0001 · card
Switch “Sale 2026” back on · done
Gatehouse, automatically, as planned · 2026-11-21 01:26 UTC · #C0OPS0001 · card
Change the destination of “Old shop to new shop” back: `https://shop.example.com/landing` → `https://shop.example.com/new` · done
@cara, undid @alice’s change · 2026-11-21 01:26 UTC · #C0OPS0001 · card
Switch off “Sale 2026” · reverted
@alice: “we test” · 2026-11-21 01:26 UTC · #C0OPS0001 · card
@alice tried to delete rules 3 times, refused: no role allows it · 2026-11-21 01:24 UTC
@alice exported 25 rules (into the channel) · 2026-11-21 01:24 UTC
@alice exported 4 members of blog (sent only to @alice) · 2026-11-21 01:24 UTC
@alice asked to lift the freeze of shop.example.com · 2026-11-21 01:24 UTC
@alice lifted the freeze of shop.example.com · 2026-11-21 01:24 UTC
[Refresh]  [Share in channel]\
""",
            "audit of an approver": """\
On record
On record by @cara
Change the destination of “Old shop to new shop”: `https://shop.example.com/new` → `https://shop.example.com/landing` · done
@alice: “the landing page moved” · 2026-11-21 01:26 UTC · #C0OPS0001 · card
Grant Anna Berg access to “vip” on blog `anna.berg@example.com` · denied by @cara
@alice: “she upgraded” · 2026-11-21 01:26 UTC · #C0OPS0001 · card
[Refresh]  [Share in channel]\
""",
            "audit, nothing": "(mag) Nothing is on record by @alice since 2026-11-21 01:24 UTC about “Old shop”.\nOnly what Gatehouse did is.",
            "history": """\
History of “Old shop to new shop”
Change the destination of “Old shop to new shop”: `https://shop.example.com/new` → `https://shop.example.com/landing` · done
@alice: “the landing page moved” · 2026-11-21 01:26 UTC · #C0OPS0001 · card
“Sale 2026” is off until 2026-11-21 03:24 UTC
@alice: “we test” · 2026-11-21 01:26 UTC · #C0OPS0001 · card
Delete “Sale 2026” · waiting for a decision, expires 2026-11-22 01:24 UTC
@alice: “we test” · needs approval from someone else in its channel · 2026-11-21 01:24 UTC · #C0OPS0001 · card
[Refresh]  [Share in channel]\
""",
            "history, changed since": """\
History of “Old shop to new shop”
The last change, 2026-11-21 01:24 UTC, wasn’t made through Gatehouse.
Change the destination of “Old shop to new shop”: `https://shop.example.com/new` → `https://shop.example.com/landing` · done
@alice: “the landing page moved” · 2026-11-21 01:26 UTC · #C0OPS0001 · card
[Refresh]  [Share in channel]\
""",
            "no history": """\
(mag) No history.
Gatehouse hasn’t changed this rule.\
""",
            "no history, changed by others": """\
(mag) No history.
Gatehouse hasn’t changed this rule. The last change, 2026-11-21 01:24 UTC, wasn’t made through Gatehouse.\
""",
            "no history, but of its group": """\
(mag) No history.
Gatehouse hasn’t changed this rule.
Last change of its group:
Change the destination of “Old shop to new shop”: `https://shop.example.com/new` → `https://shop.example.com/landing` · done
@alice: “the landing page moved” · 2026-11-21 01:26 UTC · #C0OPS0001 · card\
""",
            "the end of a history that is cut": """\
History of “Old shop to new shop”
Change the destination of “Old shop to new shop”: `https://shop.example.com/new` → `https://shop.example.com/landing` · done
@alice: “the landing page moved” · 2026-11-21 01:26 UTC · #C0OPS0001 · card
Older changes aren’t listed here. `/gatehouse audit` has all of them.
[Refresh]  [Share in channel]\
""",
            "digest": """\
What changed, what is waiting, and what is next
(newspaper) Since 2026-11-21 01:24 UTC
3* done · *1 denied · 1* refused · *2 exported · 1* wants to lift · *1 lifted
• Delete “Old shop to new shop” · done
@alice: “we test” · emergency override by @bob · 2026-11-21 01:26 UTC · #C0OPS0001 · card
• Change the destination of “Old shop to new shop”: `https://shop.example.com/new` → `https://shop.example.com/landing` · done
@alice: “the landing page moved” · 2026-11-21 01:26 UTC · #C0OPS0001 · card
• “Sale 2026” is off until 2026-11-21 03:24 UTC
@alice: “we test” · 2026-11-21 01:26 UTC · #C0OPS0001 · card
• Grant Anna Berg access to “vip” on blog `anna.berg@example.com` · denied by @cara
@alice: “she upgraded” · 2026-11-21 01:26 UTC · #C0OPS0001 · card
3 pending changes
• Delete “Sale 2026” · waiting for a decision, expires 2026-11-22 01:24 UTC
@alice: “we test” · needs approval from someone else in its channel · 2026-11-21 01:24 UTC · #C0OPS0001 · card
…and 2 more
In the next 24 hours
• “Sale 2026” is off until 2026-11-21 03:24 UTC
@alice: “we test” · 2026-11-21 01:26 UTC · #C0OPS0001 · card
[Show pending]  [Show what is planned]  [Details]  [Share in channel]\
""",
            "digest of a quiet day": """\
What changed, what is waiting, and what is next
(newspaper) Since 2026-11-21 01:24 UTC: nothing happened through Gatehouse, nothing is waiting, and nothing is planned for the next 24 hours.
[Share in channel]\
""",
        }
    )


def test_homes() -> None:
    assert texts(gatehouse.homes()) == snapshot(
        {
            "Home, new": """\
┌ \n\
Gatehouse
(white_check_mark) Nothing is waiting for you. Requests that you can decide appear here.
Find
A rule  <>
A member  <>
Do
[Create rule…]  [Switch off…]  [Rules]  [Grant access…]  [Members]  [Show more]  [Refresh]
As of 2026-11-21 01:24 UTC\
""",
            "Home, busy": """\
┌ \n\
Gatehouse
Waiting for you
Delete “Sale 2026” `https://shop.example.com/sale` → `https://shop.example.com/landing2` · only for page domain `blog.example.com` or `shop.example.com`, method `GET` · and 2 more pairs
@alice: “we test” · 2026-11-21 01:24 UTC · card
[Decide…]
Yours, planned and temporary
Delete “Sale 2026” · waiting for a decision, expires 2026-11-22 01:24 UTC
@alice: “we test” · needs approval from someone else in its channel · 2026-11-21 01:24 UTC · #C0OPS0001 · card
“Sale 2026” is off until 2026-11-21 03:24 UTC
@alice: “we test” · 2026-11-21 01:26 UTC · #C0OPS0001 · card
Find
A rule  <>
A member  <>
Do
[Create rule…]  [Switch off…]  [Rules]  [Grant access…]  [Members]  [Show more]  [Refresh]
As of 2026-11-21 01:24 UTC\
""",
            "Home, where more is open than is looked through": """\
┌ \n\
Gatehouse
1,200 more changes are open, and may wait for you: `/gatehouse pending`
Find
A rule  <>
A member  <>
Do
[Create rule…]  [Switch off…]  [Rules]  [Grant access…]  [Members]  [Show more]  [Refresh]
As of 2026-11-21 01:24 UTC\
""",
        }
    )


def test_freezes() -> None:
    assert texts(gatehouse.freezes()) == snapshot(
        {
            "before a freeze": """\
:snowflake: It covers 29 rules, 2 sites and 1 planned change.
It holds for you, too. You can lift it alone; anyone else needs a second person.\
""",
            "frozen": """\
shop.example.com is frozen
(snowflake) shop.example.com is frozen until 2026-11-23 01:24 UTC by @cara (“cutover”).
Nobody can change it. @cara, or two others, can lift it.
1 planned change won’t start, planned by @alice.
Temporary changes still revert, and what is under way goes on. Emergency overrides still pass.
[Lift]\
""",
            "lifted": """\
The freeze of shop.example.com was lifted
(unlock) The freeze of shop.example.com was lifted by @bob.\
""",
            "everything lifted": """\
The freeze of everything was lifted
(unlock) The freeze of everything was lifted by @cara.\
""",
            "freezes": """\
3 freezes
(snowflake) shop.example.com is frozen until 2026-11-23 01:24 UTC by @cara (“cutover”)  [Lift]
(snowflake) Everything is frozen from 2026-11-21 02:24 UTC until 2026-11-23 01:24 UTC by @cara  [Lift]
(snowflake) *.example.com (except status.example.com) is frozen from 2026-11-21 01:24 UTC until 2026-11-23 01:24 UTC by the policy (“Christmas”)
[Refresh]  [Share in channel]\
""",
            "no freezes": """\
(snowflake) Nothing is frozen.
Freeze a host with `/gatehouse freeze shop.example.com until Monday 9:00 because cutover`.\
""",
        }
    )
