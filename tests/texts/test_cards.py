"""What cards, notes, direct messages and forms of changes say, whole."""

from __future__ import annotations

from inline_snapshot import snapshot

from tests.texts import cards, texts


def test_requests() -> None:
    assert texts(cards.requests()) == snapshot(
        {
            "delete a rule, anyone else may approve": """\
Delete Sale 2026: waits for a decision
(wastebasket) Delete Sale 2026?
@alice asks; somebody else of this channel must approve. Open until 2026-11-22 01:24 UTC. This is what goes:
(large_green_circle) On   (arrow_right_hook) Redirect   `Redirect_x1`
Ends with the year
Pair 1  `https://shop.example.com/sale` → `https://shop.example.com/landing2` · only for page domain `blog.example.com` or `shop.example.com`, method `GET`
Pair 2  `https://shop.example.com/deals` → `https://shop.example.com/landing2`
Pair 3  `https://shop.example.com/black-friday` → `https://shop.example.com/landing2`
(speech_balloon) not needed
[Approve]  [Deny…]  [Ask…]  [Withdraw]  [Switch off instead]  [Show full change]
rules at rules.example.com · `Redirect_x1` · change `0343eab7`
  [Approve] asks: Delete it? / Delete Sale 2026 (Redirect_x1)? What goes is on the card. [Not yet] [Approve]\
""",
            "delete a rule that is off, others are named, one of two has approved": """\
Delete Old shop to new shop: waits for a decision
(wastebasket) Delete Old shop to new shop?
@alice asks; 2 of @oncall @bob must approve. 1 of 2: approved by @cara. Open until 2026-11-22 01:24 UTC. This is what goes:
(white_circle) Off   (arrow_right_hook) Redirect   `Redirect_x1`
`https://shop.example.com/old` → `https://shop.example.com/new`
(speech_balloon) we test
[Approve]  [Deny…]  [Ask…]  [Withdraw]  [Break the glass…]  [Show full change]
rules at rules.example.com · `Redirect_x1` · change `0343eab7`
  [Approve] asks: Delete it? / Delete Old shop to new shop (Redirect_x1)? What goes is on the card. [Not yet] [Approve]\
""",
            "delete a rule of 40 pairs, own click": """\
Delete Campaign links: waits for a decision
(wastebasket) Delete Campaign links?
@alice asks. Only @alice can confirm it. Open until 2026-11-22 01:24 UTC. This is what goes:
(large_green_circle) On   (arrow_right_hook) Redirect   `Redirect_x1`
Pair 1  `https://shop.example.com/c/0` → `https://shop.example.com/campaign/0`
Pair 2  `https://shop.example.com/c/1` → `https://shop.example.com/campaign/1`
Pair 3  `https://shop.example.com/c/2` → `https://shop.example.com/campaign/2`
Pair 4  `https://shop.example.com/c/3` → `https://shop.example.com/campaign/3`
Pair 5  `https://shop.example.com/c/4` → `https://shop.example.com/campaign/4`
Pair 6  `https://shop.example.com/c/5` → `https://shop.example.com/campaign/5`
Pair 7  `https://shop.example.com/c/6` → `https://shop.example.com/campaign/6`
Pair 8  `https://shop.example.com/c/7` → `https://shop.example.com/campaign/7`
Pair 9  `https://shop.example.com/c/8` → `https://shop.example.com/campaign/8`
Pair 10  `https://shop.example.com/c/9` → `https://shop.example.com/campaign/9`
Pair 11  `https://shop.example.com/c/10` → `https://shop.example.com/campaign/10`
Pair 12  `https://shop.example.com/c/11` → `https://shop.example.com/campaign/11`
…and 28 more pairs
(speech_balloon) we test
(mag) This card doesn’t show everything. Press Show full change before you decide.
[Show full change]  [Delete]  [Keep]
rules at rules.example.com · `Redirect_x1` · change `0343eab7`
  [Delete] asks: Delete it? / Delete Campaign links (Redirect_x1)? What goes is on the card. [Not yet] [Delete]\
""",
            "delete a rule with a secret header": """\
Delete Debug header for support: waits for a decision
(wastebasket) Delete Debug header for support?
@alice asks; somebody else of this channel must approve. Open until 2026-11-22 01:24 UTC. This is what goes:
(large_green_circle) On   (label) Headers   `Redirect_x1`
URL contains `https://shop.example.com`: adds request header `Authorization`: `[hidden]`
(mag) 1 of 4 test URLs changes
• /old stays
(speech_balloon) we test
(mag) This card doesn’t show everything. Press Show full change before you decide.
[Show full change]  [Approve]  [Deny…]  [Ask…]  [Withdraw]  [Switch off instead]
rules at rules.example.com · `Redirect_x1` · change `0343eab7`
  [Approve] asks: Delete it? / Delete Debug header for support (Redirect_x1)? What goes is on the card. [Not yet] [Approve]\
""",
            "switch off a rule for two hours": """\
Switch off Sale 2026: waits for a decision
(raising_hand) Switch off Sale 2026?
@alice asks; somebody else of this channel must approve. Open until 2026-11-22 01:24 UTC. This is what changes:
status  `Active`  →  `Inactive`
(speech_balloon) we test
(stopwatch) To end by itself 2 h after it was done
[Approve]  [Deny…]  [Ask…]  [Withdraw]  [Show full change]
rules at rules.example.com · `Redirect_x1` · change `0343eab7`\
""",
            "change a destination, with a warning": """\
Change destination of Old shop to new shop: waits for a decision
(raising_hand) Change destination of Old shop to new shop?
@alice asks; somebody else of this channel must approve. Open until 2026-11-22 01:24 UTC. This is what changes:
pair 1 destination  `https://shop.example.com/new`  →  `https://shop.example.com/landing`
(warning) It loops with “Back to the old shop”.
(speech_balloon) we test
[Approve]  [Deny…]  [Ask…]  [Withdraw]  [Show full change]
rules at rules.example.com · `Redirect_x1` · change `0343eab7`\
""",
            "create a rule": """\
Create Sale 2026: waits for a decision
(raising_hand) Create Sale 2026?
@alice asks; somebody else of this channel must approve. Open until 2026-11-22 01:24 UTC. This is what changes:
(large_green_circle) On   (arrow_right_hook) Redirect
Ends with the year
Pair 1  `https://shop.example.com/sale` → `https://shop.example.com/landing2` · only for page domain `blog.example.com` or `shop.example.com`, method `GET`
Pair 2  `https://shop.example.com/deals` → `https://shop.example.com/landing2`
Pair 3  `https://shop.example.com/black-friday` → `https://shop.example.com/landing2`
(mag) This card doesn’t show everything. Press Show full change before you decide.
[Show full change]  [Approve]  [Deny…]  [Ask…]  [Withdraw]  [Break the glass…]
rules at rules.example.com · change `0343eab7`\
""",
            "switch off a group": """\
Switch off Group Experiments: waits for a decision
(raising_hand) Switch off Group Experiments?
@alice asks; somebody else of this channel must approve. Open until 2026-11-22 01:24 UTC. This is what changes:
status  `Active`  →  `Inactive`
(file_folder) A rule of this group is in force while both are Active, rule and group.
(speech_balloon) we test
[Approve]  [Deny…]  [Ask…]  [Withdraw]  [Show full change]
groups · `Group_1` · change `0343eab7`\
""",
            "remove a member": """\
Remove Chloe Diaz c***@example.com: waits for a decision
(wastebasket) Remove Chloe Diaz `c***@example.com`?
@alice asks; somebody else of this channel must approve. Open until 2026-11-22 01:24 UTC. This is what goes:
Segments
`default` `staff`
(speech_balloon) she left
(mag) This card doesn’t show everything. Press Show full change before you decide.
[Show full change]  [Approve]  [Deny…]  [Ask…]  [Withdraw]
members at members.example.com · site blog · change `0343eab7`
  [Approve] asks: Remove it? / Remove c***@example.com? What goes is on the card. [Not yet] [Approve]\
""",
            "remove a member, own click": """\
Remove Chloe Diaz c***@example.com: waits for a decision
(wastebasket) Remove Chloe Diaz `c***@example.com`?
@alice asks. Only @alice can confirm it. Open until 2026-11-22 01:24 UTC. This is what goes:
Segments
`default` `staff`
(speech_balloon) she left
(mag) This card doesn’t show everything. Press Show full change before you decide.
[Show full change]  [Remove]  [Keep]
members at members.example.com · site blog · change `0343eab7`
  [Remove] asks: Remove it? / Remove c***@example.com? What goes is on the card. [Not yet] [Remove]\
""",
            "grant until a time that was typed": """\
Give access to Anna Berg a***@example.com: waits for a decision
(raising_hand) Give access to Anna Berg `a***@example.com`?
@alice asks; somebody else of this channel must approve. Open until 2026-11-22 01:24 UTC. This is what changes:
segments  (heavy_plus_sign) `vip`
(speech_balloon) we test
(stopwatch) To end by itself 2026-11-21 03:24 UTC (03:24 Europe/Berlin)
(mag) This card doesn’t show everything. Press Show full change before you decide.
[Show full change]  [Approve]  [Deny…]  [Ask…]  [Withdraw]
members at members.example.com · site blog · change `0343eab7`\
""",
            "revoke": """\
Take access from Anna Berg a***@example.com: waits for a decision
(raising_hand) Take access from Anna Berg `a***@example.com`?
@alice asks; somebody else of this channel must approve. Open until 2026-11-22 01:24 UTC. This is what changes:
segments    (heavy_minus_sign) `vip`
(speech_balloon) we test
(mag) This card doesn’t show everything. Press Show full change before you decide.
[Show full change]  [Approve]  [Deny…]  [Ask…]  [Withdraw]
members at members.example.com · site blog · change `0343eab7`\
""",
        }
    )


def test_outcomes() -> None:
    assert texts(cards.outcomes()) == snapshot(
        {
            "create a rule: done": """\
Create Old shop to new shop: done
(white_check_mark) Old shop to new shop created
by @alice, 2026-11-21 01:26 UTC
(large_green_circle) On   (arrow_right_hook) Redirect
`https://shop.example.com/old` → `https://shop.example.com/new`
(speech_balloon) we test
[Undo]
rules at rules.example.com · change `0343eab7`\
""",
            "create a rule: applying": """\
Create Old shop to new shop: under way
(hourglass_flowing_sand) Old shop to new shop: under way…
asked by @alice; the service is being asked.
(large_green_circle) On   (arrow_right_hook) Redirect
`https://shop.example.com/old` → `https://shop.example.com/new`
(speech_balloon) we test
rules at rules.example.com · change `0343eab7`\
""",
            "create a rule: unknown": """\
Create Old shop to new shop: outcome not known yet
(grey_question) Old shop to new shop: not known yet
asked by @alice. The service gave no clear answer, so this may or may not have happened. Gatehouse keeps looking and will say here.
(large_green_circle) On   (arrow_right_hook) Redirect
`https://shop.example.com/old` → `https://shop.example.com/new`
(speech_balloon) we test
rules at rules.example.com · change `0343eab7`\
""",
            "create a rule: denied": """\
Create Old shop to new shop: denied
(no_entry_sign) Old shop to new shop: not created
@cara said no to @alice, 2026-11-21 01:26 UTC. Nothing was changed.
Why: not tonight
(speech_balloon) we test
rules at rules.example.com · change `0343eab7`\
""",
            "switch off a rule: done": """\
Switch off Old shop to new shop: done
(white_check_mark) Old shop to new shop switched off
by @alice, 2026-11-21 01:26 UTC
status  `Active`  →  `Inactive`
(speech_balloon) we test
[Undo]
rules at rules.example.com · `Redirect_x1` · change `0343eab7`\
""",
            "switch off a rule: applying": """\
Switch off Old shop to new shop: under way
(hourglass_flowing_sand) Old shop to new shop: under way…
asked by @alice; the service is being asked.
status  `Active`  →  `Inactive`
(speech_balloon) we test
rules at rules.example.com · `Redirect_x1` · change `0343eab7`\
""",
            "switch off a rule: unknown": """\
Switch off Old shop to new shop: outcome not known yet
(grey_question) Old shop to new shop: not known yet
asked by @alice. The service gave no clear answer, so this may or may not have happened. Gatehouse keeps looking and will say here.
status  `Active`  →  `Inactive`
(speech_balloon) we test
rules at rules.example.com · `Redirect_x1` · change `0343eab7`\
""",
            "switch off a rule: denied": """\
Switch off Old shop to new shop: denied
(no_entry_sign) Old shop to new shop: not changed
@cara said no to @alice, 2026-11-21 01:26 UTC. Nothing was changed.
Why: not tonight
(speech_balloon) we test
rules at rules.example.com · `Redirect_x1` · change `0343eab7`\
""",
            "change a destination: done": """\
Change destination of Old shop to new shop: done
(white_check_mark) Old shop to new shop changed: destination
by @alice, 2026-11-21 01:26 UTC
pair 1 destination  `https://shop.example.com/new`  →  `https://shop.example.com/landing`
(speech_balloon) we test
[Undo]
rules at rules.example.com · `Redirect_x1` · change `0343eab7`\
""",
            "change a destination: applying": """\
Change destination of Old shop to new shop: under way
(hourglass_flowing_sand) Old shop to new shop: under way…
asked by @alice; the service is being asked.
pair 1 destination  `https://shop.example.com/new`  →  `https://shop.example.com/landing`
(speech_balloon) we test
rules at rules.example.com · `Redirect_x1` · change `0343eab7`\
""",
            "change a destination: unknown": """\
Change destination of Old shop to new shop: outcome not known yet
(grey_question) Old shop to new shop: not known yet
asked by @alice. The service gave no clear answer, so this may or may not have happened. Gatehouse keeps looking and will say here.
pair 1 destination  `https://shop.example.com/new`  →  `https://shop.example.com/landing`
(speech_balloon) we test
rules at rules.example.com · `Redirect_x1` · change `0343eab7`\
""",
            "change a destination: denied": """\
Change destination of Old shop to new shop: denied
(no_entry_sign) Old shop to new shop: not changed
@cara said no to @alice, 2026-11-21 01:26 UTC. Nothing was changed.
Why: not tonight
(speech_balloon) we test
rules at rules.example.com · `Redirect_x1` · change `0343eab7`\
""",
            "delete a rule: done": """\
Delete Old shop to new shop: done
(white_check_mark) Old shop to new shop deleted
by @alice, 2026-11-21 01:26 UTC
This is what it was:
(large_green_circle) On   (arrow_right_hook) Redirect   `Redirect_x1`
`https://shop.example.com/old` → `https://shop.example.com/new`
(speech_balloon) we test
[Undo]
rules at rules.example.com · `Redirect_x1` · change `0343eab7`\
""",
            "delete a rule: done, approved": """\
Delete Old shop to new shop: done
(white_check_mark) Old shop to new shop deleted
asked by @alice, approved by @cara, 2026-11-21 01:26 UTC
This is what it was:
(large_green_circle) On   (arrow_right_hook) Redirect   `Redirect_x1`
`https://shop.example.com/old` → `https://shop.example.com/new`
(speech_balloon) we test
[Undo]
rules at rules.example.com · `Redirect_x1` · change `0343eab7`\
""",
            "delete a rule: applying": """\
Delete Old shop to new shop: under way
(hourglass_flowing_sand) Old shop to new shop: under way…
asked by @alice; the service is being asked.
(large_green_circle) On   (arrow_right_hook) Redirect   `Redirect_x1`
`https://shop.example.com/old` → `https://shop.example.com/new`
(speech_balloon) we test
rules at rules.example.com · `Redirect_x1` · change `0343eab7`\
""",
            "delete a rule: unknown": """\
Delete Old shop to new shop: outcome not known yet
(grey_question) Old shop to new shop: not known yet
asked by @alice. The service gave no clear answer, so this may or may not have happened. Gatehouse keeps looking and will say here.
(large_green_circle) On   (arrow_right_hook) Redirect   `Redirect_x1`
`https://shop.example.com/old` → `https://shop.example.com/new`
(speech_balloon) we test
rules at rules.example.com · `Redirect_x1` · change `0343eab7`\
""",
            "delete a rule: denied": """\
Delete Old shop to new shop: denied
(no_entry_sign) Old shop to new shop: not deleted
@cara said no to @alice, 2026-11-21 01:26 UTC. Nothing was changed.
Why: not tonight
(speech_balloon) we test
rules at rules.example.com · `Redirect_x1` · change `0343eab7`\
""",
            "switch on a group: done": """\
Switch on Group Experiments: done
(white_check_mark) Group Experiments switched on
by @alice, 2026-11-21 01:26 UTC
status  `Inactive`  →  `Active`
(file_folder) A rule of this group is in force while both are Active, rule and group.
(speech_balloon) we test
[Undo]
groups · `Group_1` · change `0343eab7`\
""",
            "switch on a group: applying": """\
Switch on Group Experiments: under way
(hourglass_flowing_sand) Group Experiments: under way…
asked by @alice; the service is being asked.
status  `Inactive`  →  `Active`
(speech_balloon) we test
groups · `Group_1` · change `0343eab7`\
""",
            "switch on a group: unknown": """\
Switch on Group Experiments: outcome not known yet
(grey_question) Group Experiments: not known yet
asked by @alice. The service gave no clear answer, so this may or may not have happened. Gatehouse keeps looking and will say here.
status  `Inactive`  →  `Active`
(speech_balloon) we test
groups · `Group_1` · change `0343eab7`\
""",
            "switch on a group: denied": """\
Switch on Group Experiments: denied
(no_entry_sign) Group Experiments: not changed
@cara said no to @alice, 2026-11-21 01:26 UTC. Nothing was changed.
Why: not tonight
(speech_balloon) we test
groups · `Group_1` · change `0343eab7`\
""",
            "add a member: done": """\
Add Anna Berg a***@example.com: done
(white_check_mark) Anna Berg `a***@example.com` added
by @alice, 2026-11-21 01:26 UTC
Segments
`newsletter`
(speech_balloon) we test
[Undo]
members at members.example.com · site blog · change `0343eab7`\
""",
            "add a member: applying": """\
Add Anna Berg a***@example.com: under way
(hourglass_flowing_sand) Anna Berg `a***@example.com`: under way…
asked by @alice; the service is being asked.
Segments
`newsletter`
(speech_balloon) we test
members at members.example.com · site blog · change `0343eab7`\
""",
            "add a member: unknown": """\
Add Anna Berg a***@example.com: outcome not known yet
(grey_question) Anna Berg `a***@example.com`: not known yet
asked by @alice. The service gave no clear answer, so this may or may not have happened. Gatehouse keeps looking and will say here.
Segments
`newsletter`
(speech_balloon) we test
members at members.example.com · site blog · change `0343eab7`\
""",
            "add a member: denied": """\
Add Anna Berg a***@example.com: denied
(no_entry_sign) Anna Berg `a***@example.com`: not added
@cara said no to @alice, 2026-11-21 01:26 UTC. Nothing was changed.
Why: not tonight
(speech_balloon) we test
members at members.example.com · site blog · change `0343eab7`\
""",
            "rename a member: done": """\
Change name of Anna Berg a***@example.com: done
(white_check_mark) Anna Berg `a***@example.com` changed: name
by @alice, 2026-11-21 01:26 UTC
name  `Anna Berg`  →  `Anna Berg-Diaz`
(speech_balloon) we test
[Undo]
members at members.example.com · site blog · change `0343eab7`\
""",
            "rename a member: applying": """\
Change name of Anna Berg a***@example.com: under way
(hourglass_flowing_sand) Anna Berg `a***@example.com`: under way…
asked by @alice; the service is being asked.
name  `Anna Berg`  →  `Anna Berg-Diaz`
(speech_balloon) we test
members at members.example.com · site blog · change `0343eab7`\
""",
            "rename a member: unknown": """\
Change name of Anna Berg a***@example.com: outcome not known yet
(grey_question) Anna Berg `a***@example.com`: not known yet
asked by @alice. The service gave no clear answer, so this may or may not have happened. Gatehouse keeps looking and will say here.
name  `Anna Berg`  →  `Anna Berg-Diaz`
(speech_balloon) we test
members at members.example.com · site blog · change `0343eab7`\
""",
            "rename a member: denied": """\
Change name of Anna Berg a***@example.com: denied
(no_entry_sign) Anna Berg `a***@example.com`: not changed
@cara said no to @alice, 2026-11-21 01:26 UTC. Nothing was changed.
Why: not tonight
(speech_balloon) we test
members at members.example.com · site blog · change `0343eab7`\
""",
            "grant: done": """\
Give access to Anna Berg a***@example.com: done
(white_check_mark) Anna Berg `a***@example.com` was given access
by @alice, 2026-11-21 01:26 UTC
segments  (heavy_plus_sign) `vip`
(speech_balloon) we test
[Undo]
members at members.example.com · site blog · change `0343eab7`\
""",
            "grant: applying": """\
Give access to Anna Berg a***@example.com: under way
(hourglass_flowing_sand) Anna Berg `a***@example.com`: under way…
asked by @alice; the service is being asked.
segments  (heavy_plus_sign) `vip`
(speech_balloon) we test
members at members.example.com · site blog · change `0343eab7`\
""",
            "grant: unknown": """\
Give access to Anna Berg a***@example.com: outcome not known yet
(grey_question) Anna Berg `a***@example.com`: not known yet
asked by @alice. The service gave no clear answer, so this may or may not have happened. Gatehouse keeps looking and will say here.
segments  (heavy_plus_sign) `vip`
(speech_balloon) we test
members at members.example.com · site blog · change `0343eab7`\
""",
            "grant: denied": """\
Give access to Anna Berg a***@example.com: denied
(no_entry_sign) Anna Berg `a***@example.com`: access not given
@cara said no to @alice, 2026-11-21 01:26 UTC. Nothing was changed.
Why: not tonight
(speech_balloon) we test
members at members.example.com · site blog · change `0343eab7`\
""",
            "revoke: done": """\
Take access from Anna Berg a***@example.com: done
(white_check_mark) Anna Berg `a***@example.com` lost access
by @alice, 2026-11-21 01:26 UTC
segments    (heavy_minus_sign) `vip`
(speech_balloon) we test
[Undo]
members at members.example.com · site blog · change `0343eab7`\
""",
            "revoke: applying": """\
Take access from Anna Berg a***@example.com: under way
(hourglass_flowing_sand) Anna Berg `a***@example.com`: under way…
asked by @alice; the service is being asked.
segments    (heavy_minus_sign) `vip`
(speech_balloon) we test
members at members.example.com · site blog · change `0343eab7`\
""",
            "revoke: unknown": """\
Take access from Anna Berg a***@example.com: outcome not known yet
(grey_question) Anna Berg `a***@example.com`: not known yet
asked by @alice. The service gave no clear answer, so this may or may not have happened. Gatehouse keeps looking and will say here.
segments    (heavy_minus_sign) `vip`
(speech_balloon) we test
members at members.example.com · site blog · change `0343eab7`\
""",
            "revoke: denied": """\
Take access from Anna Berg a***@example.com: denied
(no_entry_sign) Anna Berg `a***@example.com`: access not taken away
@cara said no to @alice, 2026-11-21 01:26 UTC. Nothing was changed.
Why: not tonight
(speech_balloon) we test
members at members.example.com · site blog · change `0343eab7`\
""",
            "remove a member: done": """\
Remove Chloe Diaz c***@example.com: done
(white_check_mark) Chloe Diaz `c***@example.com` removed
by @alice, 2026-11-21 01:26 UTC
This is what it was:
Segments
`default` `staff`
(speech_balloon) we test
[Undo]
members at members.example.com · site blog · change `0343eab7`\
""",
            "remove a member: done, approved": """\
Remove Chloe Diaz c***@example.com: done
(white_check_mark) Chloe Diaz `c***@example.com` removed
asked by @alice, approved by @cara, 2026-11-21 01:26 UTC
This is what it was:
Segments
`default` `staff`
(speech_balloon) we test
[Undo]
members at members.example.com · site blog · change `0343eab7`\
""",
            "remove a member: applying": """\
Remove Chloe Diaz c***@example.com: under way
(hourglass_flowing_sand) Chloe Diaz `c***@example.com`: under way…
asked by @alice; the service is being asked.
Segments
`default` `staff`
(speech_balloon) we test
members at members.example.com · site blog · change `0343eab7`\
""",
            "remove a member: unknown": """\
Remove Chloe Diaz c***@example.com: outcome not known yet
(grey_question) Chloe Diaz `c***@example.com`: not known yet
asked by @alice. The service gave no clear answer, so this may or may not have happened. Gatehouse keeps looking and will say here.
Segments
`default` `staff`
(speech_balloon) we test
members at members.example.com · site blog · change `0343eab7`\
""",
            "remove a member: denied": """\
Remove Chloe Diaz c***@example.com: denied
(no_entry_sign) Chloe Diaz `c***@example.com`: not removed
@cara said no to @alice, 2026-11-21 01:26 UTC. Nothing was changed.
Why: not tonight
(speech_balloon) we test
members at members.example.com · site blog · change `0343eab7`\
""",
        }
    )


def test_endings() -> None:
    assert texts(cards.endings()) == snapshot(
        {
            "withdrawn": """\
Delete Old shop to new shop: withdrawn
(leftwards_arrow_with_hook) Old shop to new shop is kept
@alice decided to keep it, 2026-11-21 01:26 UTC. Nothing was changed.
(speech_balloon) we test
rules at rules.example.com · `Redirect_x1` · change `0343eab7`\
""",
            "not confirmed, kept": """\
Delete Old shop to new shop: withdrawn
(leftwards_arrow_with_hook) Old shop to new shop is kept
@alice decided to keep it, 2026-11-21 01:26 UTC. Nothing was changed.
(speech_balloon) we test
rules at rules.example.com · `Redirect_x1` · change `0343eab7`\
""",
            "expired": """\
Delete Old shop to new shop: not done: the request expired
(zzz) Old shop to new shop: not deleted
asked by @alice. Nobody decided in time. Nothing was changed.
(speech_balloon) we test
rules at rules.example.com · `Redirect_x1` · change `0343eab7`\
""",
            "out of date": """\
Switch off Old shop to new shop: not done: it changed meanwhile
(arrows_counterclockwise) Old shop to new shop: could not be changed
asked by @alice. It is no longer what was shown, so nothing was changed. Ask again to see it as it is.
Shown then → now
pair 1 destination  `https://shop.example.com/new`  →  `https://shop.example.com/landing`
What was asked
status  `Active`  →  `Inactive`
(speech_balloon) we test
[Ask again, as it is now]
rules at rules.example.com · `Redirect_x1` · change `0343eab7`\
""",
            "out of date, gone": """\
Delete Old shop to new shop: not done: it changed meanwhile
(arrows_counterclockwise) Old shop to new shop: could not be deleted
asked by @alice. It is no longer what was shown, so nothing was changed. Ask again to see it as it is.
Now: it does not exist any more.
(speech_balloon) we test
rules at rules.example.com · `Redirect_x1` · change `0343eab7`\
""",
            "failed": """\
Delete Old shop to new shop: failed, nothing changed
✗ Old shop to new shop: could not be deleted
asked by @alice. Nothing was changed.
The service says: 503: down for maintenance
(large_green_circle) On   (arrow_right_hook) Redirect   `Redirect_x1`
`https://shop.example.com/old` → `https://shop.example.com/new`
(speech_balloon) we test
rules at rules.example.com · `Redirect_x1` · change `0343eab7`\
""",
            "failed, approval too old": """\
Delete Old shop to new shop: failed, nothing changed
✗ Old shop to new shop: could not be deleted
asked by @alice. Nothing was changed: the approval is more than an hour old. Ask again.
(large_green_circle) On   (arrow_right_hook) Redirect   `Redirect_x1`
`https://shop.example.com/old` → `https://shop.example.com/new`
(speech_balloon) we test
rules at rules.example.com · `Redirect_x1` · change `0343eab7`\
""",
            "failed, right lost": """\
Delete Old shop to new shop: failed, nothing changed
✗ Old shop to new shop: could not be deleted
asked by @alice. Nothing was changed: the account of @alice is deactivated.
(large_green_circle) On   (arrow_right_hook) Redirect   `Redirect_x1`
`https://shop.example.com/old` → `https://shop.example.com/new`
(speech_balloon) we test
rules at rules.example.com · `Redirect_x1` · change `0343eab7`\
""",
            "unsettled": """\
Switch off Old shop to new shop: outcome not known, look at it yourself
(grey_question) Old shop to new shop: not known
asked by @alice. The service gave no clear answer, and what it shows now is neither the old nor the new. Look at it yourself: Gatehouse will not touch it.
status  `Active`  →  `Inactive`
(speech_balloon) we test
rules at rules.example.com · `Redirect_x1` · change `0343eab7`\
""",
            "service down, waits": """\
Delete Old shop to new shop: under way
(hourglass_flowing_sand) Old shop to new shop: under way…
asked by @alice, approved by @cara, but the rules service is down. Nothing was sent yet. Gatehouse tries again until 2026-11-21 02:26 UTC.
(large_green_circle) On   (arrow_right_hook) Redirect   `Redirect_x1`
`https://shop.example.com/old` → `https://shop.example.com/new`
(speech_balloon) we test
[Withdraw]
rules at rules.example.com · `Redirect_x1` · change `0343eab7`\
""",
            "off for two hours": """\
Switch off Old shop to new shop: done
(white_check_mark) Old shop to new shop switched off
by @alice, 2026-11-21 01:26 UTC
status  `Active`  →  `Inactive`
(speech_balloon) we test
(stopwatch) Ends by itself 2026-11-21 03:24 UTC
[Extend 1 h]  [Make it stay]  [End now]
rules at rules.example.com · `Redirect_x1` · change `0343eab7`\
""",
            "granted until a time that was typed": """\
Give access to Anna Berg a***@example.com: done
(white_check_mark) Anna Berg `a***@example.com` was given access
asked by @alice, approved by @cara, 2026-11-21 01:26 UTC
segments  (heavy_plus_sign) `vip`
(speech_balloon) we test
(stopwatch) Ends by itself 2026-11-21 03:24 UTC (03:24 Europe/Berlin)
[Extend 1 h]  [Make it stay]  [End now]
members at members.example.com · site blog · change `0343eab7`\
""",
            "destination changed for two hours": """\
Change destination of Old shop to new shop: done
(white_check_mark) Old shop to new shop changed: destination
by @alice, 2026-11-21 01:26 UTC
pair 1 destination  `https://shop.example.com/new`  →  `https://shop.example.com/landing`
(speech_balloon) we test
(stopwatch) Ends by itself 2026-11-21 03:24 UTC
[Extend 1 h]  [Make it stay]  [End now]
rules at rules.example.com · `Redirect_x1` · change `0343eab7`\
""",
            "not reverted: changed": """\
Switch off Old shop to new shop: done
(white_check_mark) Old shop to new shop switched off
by @alice, 2026-11-21 01:26 UTC
status  `Active`  →  `Inactive`
(speech_balloon) we test
(warning) This was to end 2026-11-21 03:24 UTC, but somebody changed it since. Gatehouse left it as it is.
[Take back anyway…]  [Leave it]
rules at rules.example.com · `Redirect_x1` · change `0343eab7`\
""",
            "not reverted: gone": """\
Switch off Old shop to new shop: done
(white_check_mark) Old shop to new shop switched off
by @alice, 2026-11-21 01:26 UTC
status  `Active`  →  `Inactive`
(speech_balloon) we test
(information_source) This was to end 2026-11-21 03:24 UTC; what it made is gone already.
[Undo]
rules at rules.example.com · `Redirect_x1` · change `0343eab7`\
""",
            "not reverted: refused": """\
Switch off Old shop to new shop: done
(white_check_mark) Old shop to new shop switched off
by @alice, 2026-11-21 01:26 UTC
status  `Active`  →  `Inactive`
(speech_balloon) we test
(warning) This was to end 2026-11-21 03:24 UTC, but the service refused. It is still in force. Undo tries again.
[Undo]
rules at rules.example.com · `Redirect_x1` · change `0343eab7`\
""",
            "reverted": """\
Switch off Old shop to new shop: done
(white_check_mark) Old shop to new shop switched off
by @alice, 2026-11-21 01:26 UTC
status  `Active`  →  `Inactive`
(speech_balloon) we test
(leftwards_arrow_with_hook) Taken back by change `b06889c4`
rules at rules.example.com · `Redirect_x1` · change `0343eab7`\
""",
            "undone": """\
Delete Old shop to new shop: done
(white_check_mark) Old shop to new shop deleted
by @alice, 2026-11-21 01:26 UTC
This is what it was:
(large_green_circle) On   (arrow_right_hook) Redirect   `Redirect_x1`
`https://shop.example.com/old` → `https://shop.example.com/new`
(speech_balloon) we test
(leftwards_arrow_with_hook) Taken back by change `b06889c4`
rules at rules.example.com · `Redirect_x1` · change `0343eab7`\
""",
            "an undo of a deletion": """\
Create Old shop to new shop: done
(white_check_mark) Old shop to new shop is back
by @alice, 2026-11-21 01:26 UTC
(large_green_circle) On   (arrow_right_hook) Redirect
`https://shop.example.com/old` → `https://shop.example.com/new`
Back under a new id; the old one keeps meaning it here. Its creation date is new.
(speech_balloon) we test
[Undo]
rules at rules.example.com · change `0343eab7`\
""",
            "an undo of a removal": """\
Add Chloe Diaz c***@example.com: done
(white_check_mark) Chloe Diaz `c***@example.com` is back
by @alice, 2026-11-21 01:26 UTC
Segments
`default` `staff`
Back with name and segments. When they first joined, and where else, is not restored.
(speech_balloon) we test
[Undo]
members at members.example.com · site blog · change `0343eab7`\
""",
            "emergency override, review due": """\
Delete Old shop to new shop: done
(white_check_mark) Old shop to new shop deleted
(rotating_light) @alice did this alone, 2026-11-21 01:26 UTC.
Why: checkout is down, nobody answers
This is what it was:
(large_green_circle) On   (arrow_right_hook) Redirect   `Redirect_x1`
`https://shop.example.com/old` → `https://shop.example.com/new`
(speech_balloon) we test
(eyes) Review due. Someone other than @alice has to review and sign this.
[Sign]  [Undo]  [Show full change]
rules at rules.example.com · `Redirect_x1` · change `0343eab7`\
""",
            "emergency override, reviewed": """\
Delete Old shop to new shop: done
(white_check_mark) Old shop to new shop deleted
(rotating_light) @alice did this alone, 2026-11-21 01:26 UTC. Signed by @cara.
Why: checkout is down, nobody answers
This is what it was:
(large_green_circle) On   (arrow_right_hook) Redirect   `Redirect_x1`
`https://shop.example.com/old` → `https://shop.example.com/new`
(speech_balloon) we test
[Undo]
rules at rules.example.com · `Redirect_x1` · change `0343eab7`\
""",
            "on, but its group is off": """\
Switch on Old shop to new shop: done
(white_check_mark) Old shop to new shop switched on
by @alice, 2026-11-21 01:26 UTC
status  `Inactive`  →  `Active`
(speech_balloon) we test
[Undo]
rules at rules.example.com · `Redirect_x1` · change `0343eab7`\
""",
            "created, with a warning": """\
Create Back to the old shop: done
(white_check_mark) Back to the old shop created
by @alice, 2026-11-21 01:26 UTC
(large_green_circle) On   (arrow_right_hook) Redirect
`https://shop.example.com/new` → `https://shop.example.com/old`
(warning) It loops with “Old shop to new shop”.
(speech_balloon) we test
[Undo]
rules at rules.example.com · change `0343eab7`\
""",
            "stored otherwise": """\
Change destination of Old shop to new shop: done
(white_check_mark) Old shop to new shop changed: destination
by @alice, 2026-11-21 01:26 UTC
(warning) The service stored something else than was asked for.
Asked for → stored
pair 1 destination  `https://shop.example.com/landing`  →  `https://shop.example.com/new`
(speech_balloon) we test
[Undo]
rules at rules.example.com · `Redirect_x1` · change `0343eab7`\
""",
            "not in its channel": """\
Delete Old shop to new shop: done
(white_check_mark) Old shop to new shop deleted
by @alice, 2026-11-21 01:26 UTC
This is what it was:
(large_green_circle) On   (arrow_right_hook) Redirect   `Redirect_x1`
`https://shop.example.com/old` → `https://shop.example.com/new`
(speech_balloon) we test
[Undo]
rules at rules.example.com · `Redirect_x1` · change `0343eab7`
(mailbox) This is here because Gatehouse cannot post in #C0OPS0001. Add it there with `/invite @Gatehouse`.\
""",
            "channel shared since": """\
Delete Old shop to new shop: done
(white_check_mark) Old shop to new shop deleted
by @alice, 2026-11-21 01:26 UTC
This is what it was:
(large_green_circle) On   (arrow_right_hook) Redirect   `Redirect_x1`
`https://shop.example.com/old` → `https://shop.example.com/new`
(speech_balloon) we test
[Undo]
rules at rules.example.com · `Redirect_x1` · change `0343eab7`
(mailbox) This is here because #C0OPS0001 is shared with another company now.\
""",
        }
    )


def test_bulk_changes() -> None:
    assert texts(cards.bulk_changes()) == snapshot(
        {
            "switch off two rules, own click": """\
Switch off 2 rules: waits for a decision
(raising_hand) Switch off 2 rules?
@alice asks. Only @alice can confirm it. Open until 2026-11-22 01:24 UTC. This is what changes:
(small_blue_diamond) Old shop to new shop `Redirect_x1`   switch off   at `shop.example.com`
(small_blue_diamond) Sale 2026 `Redirect_x2`   switch off   at `shop.example.com`
(speech_balloon) we test
[Do it]  [Leave it]  [Show all 2 rules]
rules at rules.example.com · 2 parts · change `0343eab7`
  [Do it] asks: All of it? / Switch off 2 rules? What it does to each is on the card, or in the full view. [Not yet] [Do it]\
""",
            "switch off two rules, someone else's click": """\
Switch off 2 rules: waits for a decision
(raising_hand) Switch off 2 rules?
@alice asks; somebody else of this channel must approve. Open until 2026-11-22 01:24 UTC. This is what changes:
(small_blue_diamond) Old shop to new shop `Redirect_x1`   switch off   at `shop.example.com`
(small_blue_diamond) Sale 2026 `Redirect_x2`   switch off   at `shop.example.com`
(speech_balloon) we test
[Approve]  [Deny…]  [Ask…]  [Withdraw]  [Show all 2 rules]
rules at rules.example.com · 2 parts · change `0343eab7`
  [Approve] asks: All of it? / Switch off 2 rules? What it does to each is on the card, or in the full view. [Not yet] [Approve]\
""",
            "switch off three rules, under way": """\
Switch off 3 rules: under way
(hourglass_flowing_sand) Switch off 3 rules: under way
asked by @alice; the service is being asked.
██████░░░░░░░░░░░░░░  1 of 3
(white_check_mark) 1 done
(white_check_mark) Old shop to new shop `Redirect_x1`   switch off   at `shop.example.com`
(hourglass_flowing_sand) Sale 2026 `Redirect_x2`   under way
(small_blue_diamond) Campaign links `Redirect_x3`   switch off   at `shop.example.com`
(speech_balloon) we test
[Stop]
rules at rules.example.com · 3 parts · change `0343eab7`\
""",
            "being stopped": """\
Switch off 3 rules: being stopped
(hourglass_flowing_sand) Switch off 3 rules: being stopped
asked by @alice; the service is being asked. Stopped by @bob.
██████░░░░░░░░░░░░░░  1 of 3
(white_check_mark) 1 done
(white_check_mark) Old shop to new shop `Redirect_x1`   switch off   at `shop.example.com`
(hourglass_flowing_sand) Sale 2026 `Redirect_x2`   under way
(small_blue_diamond) Campaign links `Redirect_x3`   switch off   at `shop.example.com`
(speech_balloon) we test
rules at rules.example.com · 3 parts · change `0343eab7`\
""",
            "two rules switched off": """\
Switch off 2 rules: done
(white_check_mark) Switch off 2 rules: done
by @alice, 2026-11-21 01:26 UTC
████████████████████  2 of 2
(white_check_mark) 2 done
(white_check_mark) Old shop to new shop `Redirect_x1`   switch off   at `shop.example.com`
(white_check_mark) Sale 2026 `Redirect_x2`   switch off   at `shop.example.com`
(speech_balloon) we test
[Undo]
rules at rules.example.com · 2 parts · change `0343eab7`\
""",
            "two rules switched off for two hours": """\
Switch off 2 rules: done
(white_check_mark) Switch off 2 rules: done
by @alice, 2026-11-21 01:26 UTC
████████████████████  2 of 2
(white_check_mark) 2 done
(white_check_mark) Old shop to new shop `Redirect_x1`   switch off   at `shop.example.com`
(white_check_mark) Sale 2026 `Redirect_x2`   switch off   at `shop.example.com`
(speech_balloon) we test
(stopwatch) Ends by itself 2026-11-21 03:24 UTC
[Extend 1 h]  [Make it stay]  [End now]
rules at rules.example.com · 2 parts · change `0343eab7`\
""",
            "two of three done": """\
Switch off 3 rules: 2 of 3 done
(warning) Switch off 3 rules: 2 of 3 done
by @alice, 2026-11-21 01:26 UTC
████████████████████  3 of 3
(white_check_mark) 2 done   (arrows_counterclockwise) 1 changed meanwhile, left alone
(white_check_mark) Old shop to new shop `Redirect_x1`   switch off   at `shop.example.com`
(white_check_mark) Sale 2026 `Redirect_x2`   switch off   at `shop.example.com`
(arrows_counterclockwise) Campaign links `Redirect_x3`   changed meanwhile, left alone
(speech_balloon) we test
[Try the other 1 again]  [Undo]
rules at rules.example.com · 3 parts · change `0343eab7`\
""",
            "stopped": """\
Switch off 3 rules: 1 of 3 done
(warning) Switch off 3 rules: 1 of 3 done
by @alice, 2026-11-21 01:26 UTC Stopped by @bob.
████████████████████  3 of 3
(white_check_mark) 1 done   (octagonal_sign) 2 not begun
(white_check_mark) Old shop to new shop `Redirect_x1`   switch off   at `shop.example.com`
(octagonal_sign) Sale 2026 `Redirect_x2`   not begun
(octagonal_sign) Campaign links `Redirect_x3`   not begun
(speech_balloon) we test
[Try the other 2 again]  [Undo]
rules at rules.example.com · 3 parts · change `0343eab7`\
""",
            "one not confirmed": """\
Switch off 2 rules: 1 of 2 done
(warning) Switch off 2 rules: 1 of 2 done
by @alice, 2026-11-21 01:26 UTC Gatehouse keeps looking at what is not known.
████████████████████  2 of 2
(white_check_mark) 1 done   (grey_question) 1 not known yet
(white_check_mark) Old shop to new shop `Redirect_x1`   switch off   at `shop.example.com`
(grey_question) Sale 2026 `Redirect_x2`   not known yet
(speech_balloon) we test
[Undo]
rules at rules.example.com · 2 parts · change `0343eab7`\
""",
            "none done": """\
Switch off 2 rules: failed, nothing changed
✗ Switch off 2 rules: failed, nothing changed
asked by @alice. Nothing was changed.
████████████████████  2 of 2
✗ 1 failed   (lock) 1 held by another change, left alone
✗ Old shop to new shop `Redirect_x1`   failed
(lock) Sale 2026 `Redirect_x2`   held by another change, left alone
(speech_balloon) we test
[Try the other 2 again]
rules at rules.example.com · 2 parts · change `0343eab7`\
""",
            "undone": """\
Switch off 2 rules: done
(white_check_mark) Switch off 2 rules: done
by @alice, 2026-11-21 01:26 UTC
████████████████████  2 of 2
(leftwards_arrow_with_hook) 2 taken back
(leftwards_arrow_with_hook) Old shop to new shop `Redirect_x1`   taken back
(leftwards_arrow_with_hook) Sale 2026 `Redirect_x2`   taken back
(speech_balloon) we test
(leftwards_arrow_with_hook) Taken back by change `b06889c4`
rules at rules.example.com · 2 parts · change `0343eab7`\
""",
            "denied": """\
Switch off 2 rules: denied
(no_entry_sign) Switch off 2 rules: denied
@cara said no to @alice, 2026-11-21 01:26 UTC. Nothing was changed.
Why: not tonight
(speech_balloon) we test
rules at rules.example.com · 2 parts · change `0343eab7`\
""",
            "offboarding": """\
Remove Chloe Diaz c***@example.com from every site: waits for a decision
(wastebasket) Remove Chloe Diaz c***@example.com from every site?
@alice asks; somebody else of this channel must approve. Open until 2026-11-22 01:24 UTC. This is what goes:
(small_blue_diamond) `c***@example.com` at blog   remove   segments `default` `staff`
(small_blue_diamond) `c***@example.com` at docs   remove   segments `default` `staff`
(speech_balloon) she left
(mag) This card doesn’t show everything. Press Show all 2 members before you decide.
[Show all 2 members]  [Approve]  [Deny…]  [Ask…]  [Withdraw]
members at members.example.com · 2 parts · change `0343eab7`
  [Approve] asks: All of it? / Remove Chloe Diaz c***@example.com from every site? What it does to each is on the card, or in the full view. [Not yet] [Approve]\
""",
            "offboarded": """\
Remove Chloe Diaz c***@example.com from every site: done
(white_check_mark) Remove Chloe Diaz c***@example.com from every site: done
asked by @alice, approved by @cara, 2026-11-21 01:26 UTC
████████████████████  2 of 2
(white_check_mark) 2 done
(white_check_mark) `c***@example.com` at blog   remove   segments `default` `staff`
(white_check_mark) `c***@example.com` at docs   remove   segments `default` `staff`
(speech_balloon) she left
[Undo]  [Undo at blog]  [Undo at docs]
members at members.example.com · 2 parts · change `0343eab7`\
""",
            "import of 3 rules": """\
Import 3 rules from campaign.json: waits for a decision
(raising_hand) Import 3 rules from campaign.json?
@alice asks; somebody else of this channel must approve. Open until 2026-11-22 01:24 UTC. This is what changes:
(small_blue_diamond) Sale 2026   create Inactive Redirect   `https://shop.example.com/sale` → `https://shop.example.com/landing2`   …and 2 more pairs
(small_blue_diamond) Old shop to new shop `Redirect_x2`   pair 1 destination  `https://shop.example.com/new`  →  `https://shop.example.com/landing`   at `shop.example.com`
(heavy_minus_sign) Campaign links `Redirect_x3`   is the same already
(mag) This card doesn’t show everything. Press Show all 3 rules before you decide.
[Show all 3 rules]  [Approve]  [Deny…]  [Ask…]  [Withdraw]
rules at rules.example.com · 3 parts · change `0343eab7`
  [Approve] asks: All of it? / Import 3 rules from campaign.json? What it does to each is on the card, or in the full view. [Not yet] [Approve]\
""",
            "imported": """\
Import 3 rules from campaign.json: done
(white_check_mark) Import 3 rules from campaign.json: done
asked by @alice, approved by @cara, 2026-11-21 01:26 UTC
████████████████████  2 of 2
(white_check_mark) 2 done   (heavy_minus_sign) 1 left out
(white_check_mark) Sale 2026   create Inactive Redirect   `https://shop.example.com/sale` → `https://shop.example.com/landing2`   …and 2 more pairs
(white_check_mark) Old shop to new shop `Redirect_x2`   pair 1 destination  `https://shop.example.com/new`  →  `https://shop.example.com/landing`   at `shop.example.com`
(heavy_minus_sign) Campaign links `Redirect_x3`   is the same already
[Undo]
rules at rules.example.com · 3 parts · change `0343eab7`\
""",
            "delete 12,000 rules": """\
Delete 12,000 rules: waits for a decision
(wastebasket) Delete 12,000 rules?
@alice asks; somebody else of this channel must approve. Open until 2026-11-22 01:24 UTC. This is what goes:
(small_blue_diamond) Old shop to new shop `Redirect_x1`   delete   `https://shop.example.com/old` → `https://shop.example.com/new`
(small_blue_diamond) Old shop to new shop `Redirect_x2`   delete   `https://shop.example.com/old` → `https://shop.example.com/new`
(small_blue_diamond) Old shop to new shop `Redirect_x3`   delete   `https://shop.example.com/old` → `https://shop.example.com/new`
(small_blue_diamond) Old shop to new shop `Redirect_x4`   delete   `https://shop.example.com/old` → `https://shop.example.com/new`
(small_blue_diamond) Old shop to new shop `Redirect_x5`   delete   `https://shop.example.com/old` → `https://shop.example.com/new`
(small_blue_diamond) Old shop to new shop `Redirect_x6`   delete   `https://shop.example.com/old` → `https://shop.example.com/new`
(small_blue_diamond) Old shop to new shop `Redirect_x7`   delete   `https://shop.example.com/old` → `https://shop.example.com/new`
(small_blue_diamond) Old shop to new shop `Redirect_x8`   delete   `https://shop.example.com/old` → `https://shop.example.com/new`
(small_blue_diamond) Old shop to new shop `Redirect_x9`   delete   `https://shop.example.com/old` → `https://shop.example.com/new`
(small_blue_diamond) Old shop to new shop `Redirect_x10`   delete   `https://shop.example.com/old` → `https://shop.example.com/new`
(small_blue_diamond) Old shop to new shop `Redirect_x11`   delete   `https://shop.example.com/old` → `https://shop.example.com/new`
(small_blue_diamond) Old shop to new shop `Redirect_x12`   delete   `https://shop.example.com/old` → `https://shop.example.com/new`
…and 11,988 more.
(speech_balloon) we test
(mag) This card doesn’t show everything. Press Show all 12,000 rules before you decide.
[Show all 12,000 rules]  [Approve]  [Deny…]  [Ask…]  [Withdraw]
rules at rules.example.com · 12,000 parts · change `0343eab7`
  [Approve] asks: All of it? / Delete 12,000 rules? What it does to each is on the card, or in the full view. [Not yet] [Approve]\
""",
            "what goes with the table of results": "*Import 3 rules from campaign.json*: 1 of 2 done. 1 more were left out; the file says why. Change `0343eab7`",
        }
    )


def test_notes() -> None:
    assert texts(cards.notes()) == snapshot(
        {
            "note: remind-1": """\
Delete Sale 2026: still waits for an approval
(bell) @oncall @alice still waits for an approval, open until 2026-11-22 01:24 UTC.\
""",
            "note: ask-1": """\
Delete Sale 2026: somebody asks
(speech_balloon) @cara asks @alice: Is the campaign over?\
""",
            "note: offer-1": """\
Switch off Old shop to new shop: ends soon
(bell) @alice (stopwatch) Ends by itself 2026-11-21 01:34 UTC The card has the buttons.\
""",
            "note: review-1": """\
Delete Sale 2026: review due
(eyes) Review due. Someone other than @alice has to review and sign this. @oncall\
""",
            "note: glass": """\
Delete Sale 2026: somebody goes ahead alone
(rotating_light) @oncall: @alice goes ahead alone. checkout is down, nobody answers\
""",
            "note: left changed": """\
Switch off Old shop to new shop: was left as it is
@alice (warning) This was to end 2026-11-21 01:34 UTC, but somebody changed it since. Gatehouse left it as it is.\
""",
            "note: left refused": """\
Switch off Old shop to new shop: was left as it is
@alice (warning) This was to end 2026-11-21 01:34 UTC, but the service refused. It is still in force. Undo tries again.\
""",
        }
    )


def test_direct_messages() -> None:
    assert texts(cards.direct_messages()) == snapshot(
        {
            "direct message: approved, done": """\
Delete Sale 2026: approved
(white_check_mark) Approved: Delete Sale 2026. Approved by @cara. It is done. Open the card\
""",
            "direct message: approved, under way": """\
Delete Sale 2026: approved
(white_check_mark) Approved: Delete Sale 2026. Approved by @cara. Open the card\
""",
            "direct message: someone went ahead alone": """\
Delete Sale 2026: approved
(white_check_mark) Approved: Delete Sale 2026. @bob went ahead with your request alone. It is done. Open the card\
""",
            "direct message: denied": """\
Delete Sale 2026: denied
(no_entry_sign) Denied: Delete Sale 2026. Denied by @cara: not tonight Open the card\
""",
            "direct message: expired": """\
Delete Sale 2026: expired
(zzz) Expired: Delete Sale 2026. Nobody approved your request in time. Nothing was changed. Open the card\
""",
            "direct message: failed": """\
Delete Sale 2026: failed
✗ Not done: Delete Sale 2026. asked by @alice. Nothing was changed.
The service says: 503: down Open the card\
""",
            "direct message: out of date": """\
Delete Sale 2026: failed
✗ Not done: Delete Sale 2026. asked by @alice. It is no longer what was shown, so nothing was changed. Ask again to see it as it is. Open the card\
""",
            "direct message: outcome unknown": """\
Delete Sale 2026: failed
✗ Outcome unknown: Delete Sale 2026. asked by @alice. The service gave no clear answer, and what it shows now is neither the old nor the new. Look at it yourself: Gatehouse will not touch it. Open the card\
""",
            "direct message: reverted early": """\
Switch off Old shop to new shop: reverted
(leftwards_arrow_with_hook) Reverted early: Switch off Old shop to new shop. Your temporary change was reverted by @bob. Open the card\
""",
        }
    )


def test_forms() -> None:
    assert texts(cards.forms()) == snapshot(
        {
            "form: deny": """\
┌ Deny
Delete Sale 2026
asked by @alice
(no_entry_sign) Nothing will be changed.
Why not?: <>
[Deny]\
""",
            "form: deny, 0 characters": "Some words, please.",
            "form: deny, 1,001 characters": "At most 1,000 characters, please.",
            "form: ask": """\
┌ Ask
Delete Sale 2026
asked by @alice
(speech_balloon) The request stays open.
Your question: <>
[Ask]\
""",
            "form: ask, 0 characters": "Some words, please.",
            "form: ask, 1,001 characters": "At most 1,000 characters, please.",
            "form: glass": """\
┌ Break the glass
Delete Sale 2026
asked by @alice
(rotating_light) You act alone. It is done at once, those who could have approved are told, and somebody else has to sign it afterwards.
Why can nobody be asked?: <>
[Do it now]\
""",
            "form: glass, 0 characters": "A reason of at least ten characters, please.",
            "form: glass, 1,001 characters": "At most 1,000 characters, please.",
            "full view: a deletion": """\
┌ Full change
Requested by @alice
(speech_balloon) `not needed`
Delete rule `Sale 2026` `Redirect_x1`
• status  `Active` · type  `Redirect` · pair 1 part of the URL  `Url` · pair 1 operator  `Equals`
• pair 1 source  `https://shop.example.com/sale`
• pair 1 source filters 1 pageDomains  `blog.example.com` `shop.example.com`
• pair 1 source filters 1 requestMethod  `GET` · pair 1 destination type  `url`
• pair 1 destination  `https://shop.example.com/landing2`
• pair 2 part of the URL  `Url` · pair 2 operator  `Equals`
• pair 2 source  `https://shop.example.com/deals`
• pair 2 destination type  `url`
• pair 2 destination  `https://shop.example.com/landing2`
• pair 3 part of the URL  `Url` · pair 3 operator  `Equals`
• pair 3 source  `https://shop.example.com/black-friday`
• pair 3 destination type  `url`
• pair 3 destination  `https://shop.example.com/landing2`
• description  `Ends with the year`
This is everything. Decide on the card in the channel.\
""",
            "full view: a new destination": """\
┌ Full change
Requested by @alice
(speech_balloon) `we test`
Change rule `Old shop to new shop` `Redirect_x1`
• pair 1 destination  `https://shop.example.com/new` → `https://shop.example.com/landing`
This is everything. Decide on the card in the channel.\
""",
            "full view: a member": """\
┌ Full change
Requested by @alice
(speech_balloon) `she left`
Remove member `Chloe Diaz` `chloe.diaz@example.com` at `blog`
• segments  `default` `staff`
This is everything. Decide on the card in the channel.\
""",
            "full view: an offboarding": """\
┌ Full change
Remove Chloe Diaz c*@example.com from every site
Requested by @alice
(speech_balloon) `she left`
1. Remove member `Chloe Diaz` `chloe.diaz@example.com` at `blog`
• segments  `default` `staff`
2. Remove member `Chloe Diaz` `chloe.diaz@example.com` at `docs`
• segments  `default` `staff`
This is everything. Decide on the card in the channel.\
""",
            "full view: a file": """\
Remove Chloe Diaz c***@example.com from every site
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
