"""What people are told when something did not work, whole."""

from __future__ import annotations

from inline_snapshot import snapshot

from bot.clients.errors import ClientError
from bot.text.encoding import BadFile
from handlers.explain.table import ERROR_WORDS
from tests.texts import errors, texts


def test_services() -> None:
    assert texts(errors.services()) == snapshot(
        {
            "401": """\
(warning) The rules service rejected Gatehouse’s key: Unauthorized action.
Nothing was changed. The key is wrong, or the rule belongs to another key. Ask your Gatehouse admin to check it.
You typed `/rules off Old shop` · Reference `01234567`\
""",
            "403 of a site": """\
(warning) The members service rejected Gatehouse’s key: Forbidden.
Nothing was changed. The key is wrong, or not valid for this site (MEMBERS_API_KEYS). Ask your Gatehouse admin to check it.
You typed `/rules off Old shop` · Reference `01234567`\
""",
            "404": """\
(warning) The rules service has no such entry.
Nothing was changed. It was deleted, or the id has a typo.
You typed `/rules off Old shop` · Reference `01234567`\
""",
            "no list of rules": """\
(warning) The rules service has nothing at the URL that Gatehouse requested (404).
Nothing was changed. It answered: 404 with a web page, perhaps of a gateway or a login. RULES_BASE_URL is wrong, or a gateway in front of the service answered. Ask your Gatehouse admin to run `python -m bot check --online`.
[Check status]
You typed `/rules off Old shop` · Reference `01234567`\
""",
            "no list of members": """\
(warning) The members service has nothing at the URL that Gatehouse requested (404).
Nothing was changed. It answered: Site not found. MEMBERS_BASE_URL or the site’s id in MEMBERS_SITES is wrong, or a gateway in front of the service answered. Ask your Gatehouse admin to run `python -m bot check --online`, or to set MEMBERS_EMPTY_TEXT if the site has no members yet.
[Check status]
You typed `/rules off Old shop` · Reference `01234567`\
""",
            "429": """\
(warning) The rules service is rate-limiting Gatehouse (429).
Nothing was changed. Try again in a minute.
You typed `/rules off Old shop` · Reference `01234567`\
""",
            "503 with Retry-After": """\
(warning) The rules service is not available for a while (503).
Nothing was changed. Try again in a minute.
You typed `/rules off Old shop` · Reference `01234567`\
""",
            "another refusal": """\
(warning) The members service refused: Name is too long.
Nothing was changed.
You typed `/rules off Old shop` · Reference `01234567`\
""",
            "no answer": """\
(warning) The rules service doesn’t answer.
Nothing was changed. The service or the network to it is down. Try again in a moment.
[Check status]
You typed `/rules off Old shop` · Reference `01234567`\
""",
            "a 502": """\
(warning) The rules service answers with an error (502).
Nothing was changed. The service, or a gateway in front of it, is broken. Try again in a moment.
[Check status]
You typed `/rules off Old shop` · Reference `01234567`\
""",
            "an unreadable rule": """\
(warning) Gatehouse can’t read this rule: unexpected value in “pairs.0.source”.
Nothing was changed. Correct it where it was made.
You typed `/rules off Old shop` · Reference `01234567`\
""",
            "a proxy's page": """\
(warning) Gatehouse can’t read the answer of the rules service: 200 with a web page, perhaps of a gateway or a login.
Nothing was changed. Try again. If it keeps happening, tell the people who run the service.
You typed `/rules off Old shop` · Reference `01234567`\
""",
            "an answer too large": """\
(warning) The rules service sent a larger answer than Gatehouse accepts.
Nothing was changed. Your Gatehouse admin can raise SERVICE_MAX_BYTES.
You typed `/rules off Old shop` · Reference `01234567`\
""",
            "a write without an answer": """\
(warning) The rules service gave no clear answer (no answer in time). It may or may not have been done.
Check it before you try again.
You typed `/rules off Old shop` · Reference `01234567`\
""",
        }
    )


def test_what_was_only_asked_is_not_said_to_have_changed_nothing() -> None:
    for changing, reading in zip(
        texts(errors.services()).values(), texts(errors.read_services()).values(), strict=True
    ):
        assert reading == changing.replace("\nNothing was changed.\n", "\n").replace(
            "Nothing was changed. ", ""
        ).replace(" Nothing was changed.", "")


def test_slack() -> None:
    assert texts(errors.slack()) == snapshot(
        {
            "expired_trigger_id": """\
(warning) The form took too long to open (`expired_trigger_id`).
Try again.
Reference `01234567`\
""",
            "not_in_channel": """\
(warning) Gatehouse can’t write to this channel (`not_in_channel`).
Invite it with `/invite @Gatehouse`, or use another channel.
Reference `01234567`\
""",
            "invalid_blocks": """\
(warning) Slack couldn’t display the answer (`invalid_blocks`).
Try a narrower filter, or one thing at a time.
Reference `01234567`\
""",
            "file_uploads_disabled": """\
(warning) Slack didn’t accept the file (`file_uploads_disabled`).
It is too large, or this workspace doesn’t allow such files. Narrow it with filters, or ask a workspace admin.
Reference `01234567`\
""",
            "fatal_error": """\
(warning) Slack refused the answer (`fatal_error`).
Try again in a moment.
Reference `01234567`\
""",
            "Slack is away": """\
(warning) Slack doesn’t answer.
Try again in a moment.
Reference `01234567`\
""",
            "an old button": """\
(warning) That button is from an older version of Gatehouse.
Run the command again for new buttons.\
""",
            "an old card": """\
(warning) This card is out of date.
Use the newer one: this card\
""",
            "a form of yesterday": """\
(warning) This form is no longer kept.
Run the command again for a new one.\
""",
            "a message without a URL": """\
(warning) That message contains no URL and no email.
Type a command instead; `/gatehouse help` shows some.\
""",
        }
    )


def test_rights() -> None:
    assert texts(errors.rights()) == snapshot(
        {
            "unknown": """\
(warning) Slack couldn’t say who you are.
Nothing was changed. Ask a workspace admin to look at your account.\
""",
            "deactivated": """\
(warning) That account is deactivated.
Nothing was changed.\
""",
            "bot": """\
(warning) Apps and workflows can’t use Gatehouse.
Nothing was changed. A person has to do this.\
""",
            "guest": """\
(warning) Guests can’t use Gatehouse.
Nothing was changed. Ask a full member of the workspace.\
""",
            "stranger": """\
(warning) Only members of this workspace can use Gatehouse.
Nothing was changed. Ask one of them.\
""",
            "shared channel": """\
(warning) This channel is shared with another company, so Gatehouse can’t be used for this here.
Nothing was changed. Use a channel of your own workspace.\
""",
            "direct message": """\
(warning) Changes can’t be made in direct messages: others must be able to see them.
Nothing was changed. Use a channel that Gatehouse is in.\
""",
            "not added": """\
(warning) Gatehouse only accepts changes in channels it is in.
Nothing was changed. Invite it with `/invite @Gatehouse`, or use a channel that it is in.\
""",
            "other channel": """\
(warning) The policy doesn’t allow changes here.
Nothing was changed. Use a channel listed by `/gatehouse whoami`.\
""",
            "no role": """\
(warning) None of your roles allows this.
Nothing was changed. Ask someone with the role oncall (this needs `rule.delete`). `/gatehouse whoami` shows what you can do.\
""",
            "beyond role": """\
(warning) Your role allows this, but not for everything that this changes.
Nothing was changed. Ask someone with the role oncall (this needs `rule.delete`). A source that isn’t of one host, such as Contains, counts for all hosts.\
""",
            "own request": """\
(warning) You requested this, so someone else has to approve it.
Nothing was changed. If you changed your mind, withdraw it.\
""",
            "not here": """\
(warning) You aren’t in this channel, so you can’t make or approve changes here.
Nothing was changed. Join the channel, then try again in a minute.\
""",
            "cant tell": """\
(warning) Slack couldn’t say who is in a channel or user group that this depends on.
Nothing was changed. Try again in a moment.\
""",
            "nobody can approve": """\
(warning) This needs 2 approvals, and only one person here can give it.
Nothing was changed. Request it in a channel where people with the role oncall are, or add them to this one.\
""",
            "different approvers": """\
(warning) Parts of this need different approvers (oncall, leads), so it can’t be one request.
Nothing was changed. Request the parts one by one, or one site at a time.\
""",
            "a reason": """\
(warning) This needs a reason: a ticket such as SUP-123.
Nothing was changed. Give it after `because`, or in the field Why of a form.\
""",
            "Slack tells no emails": """\
(warning) Slack doesn’t tell Gatehouse people’s emails, so it can’t tell whether a second account is a second person.
Nothing was changed. Nobody can approve until your Gatehouse admin gives the app the scope `users:read.email`.
Reference `01234567`\
""",
            "Slack says nothing": """\
(warning) Slack couldn’t say who you are, so permissions can’t be checked.
Nothing was changed. Slack doesn’t answer. Try again in a moment.
Reference `01234567`\
""",
            "Slack is in trouble": """\
(warning) Slack couldn’t say who you are, so permissions can’t be checked.
Nothing was changed. Slack answered `service_unavailable`. Try again in a moment.
Reference `01234567`\
""",
        }
    )


def test_changes() -> None:
    assert texts(errors.changes()) == snapshot(
        {
            "already decided": """\
*This no longer waits for a decision.*
*Change the destination of “Old shop to new shop”*: `https://shop.example.com/new` → `https://shop.example.com/landing` · denied by @bob
@alice: “we test” · <!date^1795224360^{date_short_pretty} {time}|2026-11-21 01:26 UTC> · <#C0OPS0001>
(warning) This no longer waits for a decision.
Change the destination of “Old shop to new shop”: `https://shop.example.com/new` → `https://shop.example.com/landing` · denied by @bob
@alice: “we test” · 2026-11-21 01:26 UTC · #C0OPS0001\
""",
            "already overridden": """\
*This no longer waits for a decision.*
*Change the destination of “Old shop to new shop”*: `https://shop.example.com/new` → `https://shop.example.com/landing` · done
@alice: “we test” · emergency override by @bob · <!date^1795224360^{date_short_pretty} {time}|2026-11-21 01:26 UTC> · <#C0OPS0001>
(warning) This no longer waits for a decision.
Change the destination of “Old shop to new shop”: `https://shop.example.com/new` → `https://shop.example.com/landing` · done
@alice: “we test” · emergency override by @bob · 2026-11-21 01:26 UTC · #C0OPS0001\
""",
            "already requested": """\
*This was already requested.*
*Delete “Old shop to new shop”* · waiting for a decision, expires <!date^1795310640^{date_short_pretty} {time}|2026-11-22 01:24 UTC>
@alice: “we test” · needs approval from someone else in its channel · <!date^1795224240^{date_short_pretty} {time}|2026-11-21 01:24 UTC> · <#C0OPS0001>
(warning) This was already requested.
Delete “Old shop to new shop” · waiting for a decision, expires 2026-11-22 01:24 UTC
@alice: “we test” · needs approval from someone else in its channel · 2026-11-21 01:24 UTC · #C0OPS0001
Its card is further up in this channel.
[Details]\
""",
            "already requested, and done": """\
*This was already requested.*
*Change the destination of “Old shop to new shop”*: `https://shop.example.com/new` → `https://shop.example.com/landing` · done
@alice: “we test” · approved by @bob · <!date^1795224360^{date_short_pretty} {time}|2026-11-21 01:26 UTC> · <#C0OPS0001>
(warning) This was already requested.
Change the destination of “Old shop to new shop”: `https://shop.example.com/new` → `https://shop.example.com/landing` · done
@alice: “we test” · approved by @bob · 2026-11-21 01:26 UTC · #C0OPS0001
Its card is further up in this channel.
[Details]\
""",
            "already planned": """\
*This was already requested.*
*Delete “Old shop to new shop”* · planned, starts <!date^1795231800^{date_short_pretty} {time}|2026-11-21 03:30 UTC>
@alice: “we test” · <!date^1795224240^{date_short_pretty} {time}|2026-11-21 01:24 UTC> · <#C0OPS0001>
(warning) This was already requested.
Delete “Old shop to new shop” · planned, starts 2026-11-21 03:30 UTC
@alice: “we test” · 2026-11-21 01:24 UTC · #C0OPS0001
Its card is further up in this channel.
[Details]\
""",
            "already approved by you": """\
(warning) You already approved this.
Someone else has to approve it, too.\
""",
            "no longer planned": "(warning) Delete “Old shop to new shop” is under way, and no longer planned.",
            "look first": """\
(warning) The card doesn’t show all of this change.
Nothing was changed. Open Details, then decide on the card.
[Details]\
""",
            "another end, of what two approved": """\
(warning) Delete “Old shop to new shop” needs 2 approvals, so nobody can change its end alone.
Nothing was changed. Let it revert, or revert it now, and request it again with the end that you want.\
""",
            "the last approval, but U0ALICE01 lost the right": """\
(warning) Your approval counts, but @alice has no role any more that allows this.
Someone who may do it has to request it again.\
""",
            "the last approval, but U0ERIN001 lost the right": """\
Your approval counts, but <@U0ERIN001> has no role any more that allows this.
(warning) Your approval counts, but @U0ERIN001 has no role any more that allows this.
Someone else has to approve it, too.\
""",
            "busy": """\
(warning) Another change to this rule is still open: Delete “Old shop to new shop”, by @alice.
Nothing was changed. It is under way. Try again once its card says how it ended.
[Show pending]
You typed `/rules off Old shop`\
""",
            "busy, and not confirmed yet": """\
(warning) Another change to this rule is still open: Delete “Old shop to new shop”, by @alice.
Nothing was changed. Gatehouse still checks whether it took effect. Try again once its card says so.
[Show pending]
You typed `/rules off Old shop`\
""",
            "it was there for a time only": """\
(warning) Delete “Old shop to new shop” can’t be undone: what it took away was temporary, and would have ended.
Nothing was changed. To have it back, request it again with a new end.
You typed `/gatehouse undo`\
""",
            "the old email is gone": """\
(warning) Delete “Old shop to new shop” can’t be undone: the old email is gone, so the member would have neither.
Nothing was changed. Undo the removal of the old email first.
You typed `/gatehouse undo`\
""",
            "not undoable": """\
(warning) Change the destination of “Old shop to new shop” can’t be undone: it was denied.
Nothing was changed. To undo something older, press Undo on its card.
You typed `/gatehouse undo`\
""",
            "not undoable: unknown": """\
(warning) Change the destination of “Old shop to new shop” can’t be undone yet: it is not confirmed yet.
Nothing was changed.
You typed `/gatehouse undo`\
""",
            "not undoable: failed": """\
(warning) Change the destination of “Old shop to new shop” can’t be undone: it failed.
Nothing was changed. To undo something older, press Undo on its card.
You typed `/gatehouse undo`\
""",
            "not undoable: unsettled": """\
(warning) Change the destination of “Old shop to new shop” can’t be undone: it was never confirmed.
Nothing was changed. To undo something older, press Undo on its card.
You typed `/gatehouse undo`\
""",
            "nothing to undo": """\
(warning) You haven’t changed anything here.
Nothing was changed. Press Undo on its card, or use its reference: `/gatehouse undo 1a2b3c4d`.
You typed `/gatehouse undo`\
""",
            "not undone": """\
(warning) What you did last here can’t be undone: Delete “Old shop”, denied by you.
Nothing was changed. Put it right with another command, or with the buttons of its card if it has one.
You typed `/gatehouse undo`\
""",
            "no such reference": """\
(warning) No change has the reference `1a2b`.
Nothing was changed. Press Undo on its card, or use its reference: `/gatehouse undo 1a2b3c4d`.
You typed `/gatehouse undo 1a2b`\
""",
            "nothing to change": """\
(warning) “Old shop” is already off.
Nothing was changed. Last changed by @bob.
You typed `/rules off Old shop`\
""",
            "too many requests": """\
(warning) You already have 20 pending requests.
Nothing was changed. Withdraw one, or wait until one is decided.
[Show pending]\
""",
            "the database, without an answer to COMMIT": """\
(warning) Gatehouse’s database gave no clear answer, so this may still be done.
Wait for its card. If there is none after five minutes, check what is there before you try again.
[Show pending]
You typed `/rules off Old shop` · Reference `01234567`\
""",
            "the database, after the claim": """\
(warning) Under way: Delete “Old shop to new shop”.
Gatehouse’s database failed before it could record the outcome. Its card will say what became of it. Don’t request it again.
You typed `/rules off Old shop` · Reference `01234567`\
""",
            "a record that can't be read": """\
(warning) Gatehouse can’t read its record of change e5f05209.
Nothing is done about it until the record is repaired. Tell your Gatehouse admin; the log has it as unreadable_row.
You typed `/gatehouse pending` · Reference `01234567`\
""",
            "the database": """\
(warning) Gatehouse’s database rejected the request.
Nothing was changed. It may be full, locked or down. Try again in a minute. If it keeps happening, tell your Gatehouse admin.
You typed `/rules off Old shop` · Reference `01234567`\
""",
            "given up": """\
(warning) Gatehouse was interrupted every time it tried this, and has given up.
Check the card, or what is pending, before you try again.
[Show pending]
You typed `/rules off Old shop` · Reference `01234567`\
""",
            "a bug": """\
(warning) Something went wrong in Gatehouse.
This is a bug, not something you did. Tell your Gatehouse admin the reference below.
You typed `/rules list` · Reference `01234567`\
""",
        }
    )


def test_typed() -> None:
    assert texts(errors.typed()) == snapshot(
        {
            "/rules bogus": """\
(thinking_face) Unknown command “bogus”.
[Show menu]
You typed `/rules bogus`\
""",
            "/rules liist": """\
(thinking_face) Unknown command “liist”.
For example:
`/rules list checkout type:redirect`  List rules, or search all that they say; filters combine
[Show menu]
You typed `/rules liist`\
""",
            "/rules block promo": """\
(thinking_face) I don’t understand “block promo”.
[Show menu]
You typed `/rules block promo`\
""",
            "/rules off": """\
(thinking_face) Which rule? Nothing was changed.
For example:
`/rules off #1 because it loops`  Switch rules off, also for a limited time
[Open the form…]  [Show menu]
You typed `/rules off`\
""",
            "/rules list page:x": """\
(thinking_face) “x” is not a page number. Write page:2.
For example:
`/rules list checkout type:redirect`  List rules, or search all that they say; filters combine
[Show menu]
You typed `/rules list page:x`\
""",
            "/members grant anna@example.com": """\
(thinking_face) Which segment? Nothing was changed.
For example:
`/members grant anna@example.com vip`  Grant access to segments, also for a limited time
[Open the form…]  [Show menu]
You typed `/members grant anna@example.com`\
""",
            "no such number": """\
(warning) You haven’t seen row `#9`: your last list goes to `#1` so far.
Turn its page first. The numbers are yours alone.
[List rules]
You typed `/rules show #9`\
""",
            "no list yet": """\
(warning) `#9` means nothing: you haven’t seen a numbered list of members lately.
List them first. The numbers are yours alone.
[List members]
You typed `/members show #9`\
""",
            "a name that was deleted": """\
(warning) “Old shop to new shop” was deleted by @alice, 2026-11-21 01:26 UTC.
Nothing was changed.
[Undo]
You typed `/rules off Old shop`\
""",
            "not an email": """\
(warning) That is not an email. The part after the @-sign is not valid.
For example `anna@example.com`.
You typed `/members why anna@`\
""",
            "neither an email nor a name": """\
(warning) “xyz” isn’t an email, and no member is called that.
Write an email such as `anna@example.com`, or a part of a name.
[Search members]
You typed `/members why xyz`\
""",
            "no member": """\
(warning) `anna@example.com` is not a member of blog.
Check for a typo, or look for similar emails on every site.
[Find similar]
You typed `/members show anna@example.com`\
""",
            "a member of another site": """\
(warning) `anna@example.com` is not a member of blog.
They are a member of `docs`.
[Use docs]\
""",
            "no such segment": """\
(warning) blog has no segment “vpi”.
Nothing was changed. Did you mean “vip”? If it is new in the site’s dashboard and nobody has it yet, your Gatehouse admin can add it to `MEMBERS_SEGMENTS`.
[Grant vip instead]
You typed `/members grant anna@example.com vpi`\
""",
            "the email that they have": """\
(warning) `anna@example.com` is their email already.
Nothing was changed.\
""",
            "the same email in other letters": """\
(warning) `Anna@example.com` is the same email as `anna@example.com` in another spelling: that is the same person.
Nothing was changed. If the spelling matters, change it in the service itself.\
""",
            "somebody else's email": """\
(warning) `ben@example.com` is a member of blog already, so nobody else can get this email.
Nothing was changed. If both are the same person, give the one that stays the segments of the other, then remove the other.
[Show member]\
""",
            "not a time": """\
(warning) “soon” isn’t a time. Write 24h, 7d, today, yesterday or last night.
For example: `/gatehouse digest 24h`.
You typed `/gatehouse digest soon`\
""",
        }
    )


def test_limits() -> None:
    assert texts(errors.limits()) == snapshot(
        {
            "too fast": """\
(warning) You have used your 10 exports for this hour.
Nothing was changed. Try again in 90 seconds. You can still approve, deny, withdraw and undo.\
""",
            "still running": """\
(warning) Your last `/rules check` is still running.
Wait for its result.\
""",
            "a time that is past": """\
(warning) `until 9:00` is in the past, or passed while Gatehouse restarted.
Nothing was changed. Request it again with a later time.\
""",
            "an end before its start": """\
(warning) It would end before it starts.
Nothing was changed. Choose a later end, or an earlier start.\
""",
        }
    )


def test_others() -> None:
    assert texts(errors.others()) == snapshot(
        {
            "somebody else's request": """\
(warning) Only @alice can decide this: it is their request.
Nothing was changed. Ask them.\
""",
            "a stricter policy": """\
(warning) The policy has become stricter since this was requested.
Nothing was changed. The card shows who must approve it now. If nobody can, withdraw it and request it again.\
""",
            "no longer temporary": "(warning) Delete “Old shop to new shop” is no longer temporary.",
            "a change that nobody knows": """\
(warning) Gatehouse has no record of that change.
Nothing was changed. The card is from another installation, or its record was deleted.\
""",
            "frozen": """\
(warning) shop.example.com is frozen until 2026-11-23 01:24 UTC by @cara (“cutover”).
Nothing was changed.\
""",
            "no such freeze": """\
(warning) No freeze is called that, or it is over.
Nothing was changed. A freeze in the policy is lifted in the policy file.
[List freezes]\
""",
            "lifting asked for twice": """\
(warning) You already asked to lift the freeze of shop.example.com.
Someone else has to agree.\
""",
            "nothing left to do": """\
(warning) Nothing left to do.
Nothing was changed. All of it is done, or its target is gone.\
""",
            "nested too deeply": """\
(warning) “Old shop” is nested too deeply for Gatehouse to change or export.
Nothing was changed. Change it where it was made.\
""",
            "not a URL": """\
(warning) That is not a URL.
Write a URL such as `https://shop.example.com/old`.\
""",
            "no such site": """\
(warning) No site is called `shop`.
Nothing was changed. The sites are blog and docs.\
""",
            "not an id": """\
(warning) `../x` can’t be the id of a rule: it has characters that aren’t allowed there.
Nothing was changed. Use the id or the name from a list.
Reference `01234567`\
""",
            "what can't be sent": """\
(warning) Gatehouse can’t send this to the rules service: the rule is too large.
Nothing was changed.
Reference `01234567`\
""",
            "part of a list": """\
(warning) The rules service returned only part of its list. Only 30 of 350 records could be read.
Nothing was changed. The missing part could change the answer. Try again. If it keeps happening, tell the people who run the service. Naming things by id still works.
Reference `01234567`\
""",
            "a file that is gone": """\
(warning) That file is gone, or Gatehouse can’t see it.
Nothing was changed. Upload it again.\
""",
            "a login page in place of a file": """\
(warning) Slack wouldn’t hand over that file: it answered text/html.
Nothing was changed. The app may lack the scope `files:read`. If it keeps happening, ask your Gatehouse admin to reinstall the app from the current manifest.
Reference `01234567`\
""",
            "an empty file": """\
(warning) The file is empty.
Nothing was changed. Check that it was saved, and try again.\
""",
        }
    )


def test_each_error_has_a_sample() -> None:
    """Its words may read a field that it doesn't have."""
    list(errors.samples())
    ancestors = {Exception, ClientError, BadFile}

    assert {*ERROR_WORDS} - ancestors - errors.SAMPLED == set()
