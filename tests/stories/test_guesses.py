"""People type what they think: it is answered where it only asks, and offered, never done, where it would change something."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from bot.changes.model.states import State
from handlers.gatehouse.commands import GatehouseHelp
from handlers.grammar.command import Command
from handlers.slack.registry import COMMANDS
from sandbox.demo import Sandbox
from sandbox.slack import rendering
from sandbox.slack.message import Message
from tests.conftest import OPS, SUPPORT
from tests.harness.colleague import Colleague

PROMO = "https://shop.example.com/promo"
OLD = "https://shop.example.com/old"
ROOT = Path(__file__).parents[2]
README = {
    "/rules which https://shop.example.com/old": "redirects to `https://shop.example.com/new`",
    "/rules off Old shop for 2h because checkout loops": "[Switch on now]",
    "/gatehouse undo": "“Old shop to new shop” is back on",
    "/rules block https://shop.example.com/promo": "Nothing was changed yet",
    "/rules on Black Friday landing page on Friday 9:00 until Monday 9:00": "[Do it now]",
    "/rules check": "loop: https://shop.example.com/gift-cards",
    "/rules delete Old shop": "[Approve deletion]",
    "/members why anna.berg@example.com vip": "lacks “vip”",
    "/members grant anna.berg@example.com vip for 7d": "[Revert now]",
}
"""What comes of each example of the README, in its order."""


def rows(page: str) -> list[tuple[str, str]]:
    """What a page says that people type, and what they get."""
    return re.findall(r"^\| `([^`]+)` \| (.+) \|$", page, re.MULTILINE)


SAID = rows((ROOT / "docs" / "commands.md").read_text().partition("## How things are named")[0])
WRITES = ("POST", "PUT", "DELETE", "PATCH")


def writes(workspace: Sandbox) -> int:
    services = workspace.services
    return sum(len(each.calls(method)) for each in (services.rules, services.members) for method in WRITES)


def tomorrow(form: str) -> str:
    """The next day where alice is."""
    return f"{datetime.now(UTC).astimezone(ZoneInfo('Europe/Berlin')) + timedelta(days=1):{form}}"


def made(workspace: Sandbox) -> list[dict[str, object]]:
    return [rule for rule in workspace.services.rules.all() if "promo" in str(rule) or "/a1" in str(rule)]


@pytest.mark.parametrize(
    ("text", "so"),
    [
        ("give david vip", "already has access to “vip” on blog"),
        ("give david evans and nils olsen vip for 2 weeks", "already have access to “vip” on blog"),
        ("take vip from anna", "doesn’t have access to “vip” on blog"),
    ],
)
async def test_what_members_have_or_lack_already_is_told_by_the_click(
    workspace: Sandbox, alice: Colleague, text: str, so: str
) -> None:
    await alice.clicks(await alice.says(f"/members {text}", SUPPORT), "Do it")

    await alice.sees(so)
    assert writes(workspace) == 0


@pytest.mark.parametrize("verb", ["grant", "revoke", "edit", "remove", "offboard", "show", "why"])
async def test_a_name_that_nobody_has_is_not_answered_with_others(alice: Colleague, verb: str) -> None:
    assert "no member is called that" in alice.slack_text(await alice.is_refused(f"/members {verb} Zora vip", SUPPORT))


async def test_a_block_is_offered_and_its_reach_is_asked(workspace: Sandbox, alice: Colleague) -> None:
    reply = await alice.says(f"/rules block {PROMO}")

    shown = alice.slack_text(reply)
    assert reply.visible_to == alice.id
    assert "Block `shop.example.com/promo` for everyone, until you switch it off." in shown
    assert "Nothing was changed" in shown
    assert writes(workspace) == 0

    await alice.clicks(reply, "All below")

    card = await alice.sees_change(of="shop.example.com/promo")
    assert card.channel == OPS
    (rule,) = made(workspace)
    assert rule["ruleType"] == "Cancel"
    assert rule["pairs"][0]["source"] == {  # type: ignore[index]
        "key": "Url",
        "operator": "Matches",
        "value": r"/^https:\/\/shop\.example\.com\/promo([\/?].*)?$/",
    }


async def test_a_preview_says_what_it_would_do_until_when_and_why(workspace: Sandbox, alice: Colleague) -> None:
    reply = await alice.says("/rules pause Old shop until tomorrow 9:30 because incident")

    assert alice.slack_text(reply).splitlines() == [
        f"Switch off “Old shop to new shop”, until {tomorrow('%Y-%m-%d')} 08:30 UTC (09:30 Europe/Berlin).",
        "Reason: incident",
        "[Do it]",
        "Nothing was changed yet. You typed `/rules pause Old shop until tomorrow 9:30 because incident`",
    ]
    assert writes(workspace) == 0

    await alice.clicks(reply, "Do it")

    card = await alice.sees_change(of="Old shop")
    assert "09:30 Europe/Berlin" in alice.slack_text(card)
    assert "incident" in alice.slack_text(card)
    assert "Switch off “Old shop to new shop”. See" in alice.slack_text(await alice.sees("See its card in"))


@pytest.mark.parametrize("text", ["/rules turn it off", "/rules switch off for 2h", "@gatehouse delete the rule"])
async def test_what_lacks_a_rule_is_asked_for_it(workspace: Sandbox, alice: Colleague, text: str) -> None:
    assert "Which rule?" in alice.slack_text(await alice.says(text))
    assert writes(workspace) == 0


async def test_a_part_of_many_names_keeps_the_verb_and_the_reason(workspace: Sandbox, alice: Colleague) -> None:
    reply = await alice.says("/rules off checkout because incident")

    shown = alice.slack_text(reply)
    assert shown.count("[Switch off]") == 2, "those that are on"
    assert shown.count("Reason: incident") == 2
    assert writes(workspace) == 0


async def test_how_a_text_was_read_shows_no_email_to_a_channel(workspace: Sandbox, alice: Colleague) -> None:
    reply = await alice.says("@gatehouse why can't Anna Berg get in")

    shown = alice.slack_text(reply)
    assert reply.visible_to is None
    assert "Read as `/members why a***@example.com`" in shown
    assert "anna.berg@" not in shown
    assert (await alice.says("@gatehouse why can't Anna Berg get in with zonk")).visible_to == alice.id, (
        "not all is read"
    )


async def test_rows_of_an_offer_stay_those_of_the_list_that_was_seen(workspace: Sandbox, alice: Colleague) -> None:
    await alice.says("/rules list checkout")
    reply = await alice.says("/rules pause #1-2")
    assert "Switch off “Checkout on mobile” and “Checkout to the new payment page”." in alice.slack_text(reply)
    await alice.says("/rules list block")

    await alice.clicks(reply, "Do it")

    await alice.sees_set(applied=2)
    off = {rule["id"] for rule in workspace.services.rules.all() if rule["status"] == "Inactive"}
    assert {"Redirect_chk01", "Redirect_chk02"} <= off


async def test_the_table_of_the_readme_works_from_top_to_bottom(alice: Colleague) -> None:
    assert [text for text, _ in rows((ROOT / "README.md").read_text()) if text[0] == "/"] == [*README]

    for text, shown in README.items():
        assert shown in alice.slack_text(await alice.says(text)), text


@pytest.mark.parametrize(("text", "shown"), SAID, ids=[text for text, _ in SAID])
async def test_what_the_docs_say_that_people_type_gets_what_they_promise(
    workspace: Sandbox, alice: Colleague, text: str, shown: str
) -> None:
    answer = alice.slack_text(await alice.says(text))

    assert not answer.startswith("!")
    assert "Unknown command" not in answer
    for words in re.findall(r'"([^"]+)"', shown):
        assert words in answer
    assert writes(workspace) == 0


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/rules off Old shop until the sale ends", "I’m not sure what to do with “until”, “sale ends”."),
        ("/rules turn off everything except checkout", "I’m not sure what to do with “turn off”, “everything except”."),
        ("/rules block the IP 203.0.113.9", "Gatehouse knows no IP addresses: rules match URLs."),
        ("/rules off Old shop because it loops until Friday", "I’m not sure what to do with “it loops until Friday”."),
        ("/members grant anna.berg@example.com from premium", "I’m not sure what to do with “from”."),
    ],
)
async def test_what_was_not_understood_is_said_and_nothing_is_offered_that_leaves_it_out(
    workspace: Sandbox, alice: Colleague, text: str, shown: str
) -> None:
    answer = alice.slack_text(await alice.says(text))

    assert shown in answer
    assert "Do it" not in answer
    assert "[Request" not in answer
    assert writes(workspace) == 0


async def test_things_to_look_at_are_offered_by_name(alice: Colleague) -> None:
    answer = alice.slack_text(await alice.says("/rules checkout zebra pls"))
    assert answer.startswith("I don’t know “checkout zebra”.\nDid you mean one of these?\n")
    assert "[Rules: checkout]" in answer
    assert "Nothing was changed" not in answer

    answer = alice.slack_text(await alice.says("/rules show me the old shop rule"))
    assert 'Read as `/rules show "Old shop to new shop"`' in answer


async def test_a_typo_in_a_search_offers_what_is_nearly_called_so(alice: Colleague) -> None:
    answer = alice.slack_text(await alice.says("/rules list chekout"))

    assert answer.startswith("No rule matches `chekout`.\nDid you mean one of these?")
    assert "Checkout on mobile" in answer
    assert "Nothing was changed" not in answer


@pytest.mark.parametrize(
    ("text", "read", "count"),
    [
        ("/rules list inactive type:redirect", "`/rules list type:redirect status:off`", "2 rules"),
        ("/rules list redirects status:off", "`/rules list type:redirect status:off`", "2 rules"),
        ("/rules list blocks status:off", "`/rules list type:block status:off`", "1 rule ·"),
        ("/rules list sales status:off", '`/rules list status:off group:"Sales campaigns"`', "1 rule ·"),
        ("/rules list inactive page:2", "`/rules list status:off page:2`", "9 rules"),
        ("/rules list on", "`/rules list status:on`", "20 rules"),
        ('/rules list "on"', "", "6 rules · “on”"),
        ("/rules list checkout on mobile", "", "1 rule · “checkout on mobile”"),
        ("/rules list inactive status:on", "", "No rules · “inactive” · status “on”"),
        ("/members list vip no:beta site:docs", "`/members list segment:vip no:beta site:docs`", "4 members of docs"),
        ("/members list anna segment:vip site:docs", "", "No members found on docs · “anna” · segment “vip”"),
    ],
)
async def test_a_filter_holds_however_the_text_beside_it_is_read(
    alice: Colleague, text: str, read: str, count: str
) -> None:
    answer = alice.slack_text(await alice.says(text, channel=SUPPORT if text.startswith("/members") else OPS))

    assert answer.startswith(f"Read as {read}\n{count}" if read else count)


@pytest.mark.parametrize("kind", sorted({*COMMANDS} - {GatehouseHelp}, key=str))  # which helps, whatever is asked
async def test_every_answer_tells_the_words_that_it_ignores(workspace: Sandbox, kind: type[Command]) -> None:
    """Whatever a command answers with: a form and a file can't tell, and are offered."""
    root, channel = ("members", SUPPORT) if kind.service == "members" else ("rules", OPS)
    alice = Colleague(workspace, "U0ALICE01", channel)

    example = kind.example.replace("#1", "Old shop").replace("anna@example.com", "anna.berg@example.com")
    answer = await alice.replied(f"/{root} zebra {example}")

    assert isinstance(answer, Message)
    assert "“zebra" in alice.slack_text(answer)


async def test_the_button_of_a_request_says_that_it_only_asks(workspace: Sandbox, alice: Colleague) -> None:
    offer = await alice.says("/gatehouse please remove Liam Meyer from blog")
    await alice.clicks(offer, "Request it")

    await alice.sees_change(of="liam.meyer", state=State.PROPOSED)
    assert writes(workspace) == 0


async def test_no_second_rule_is_offered_for_what_a_rule_does_already(workspace: Sandbox, alice: Colleague) -> None:
    answer = alice.slack_text(await alice.says("/rules redirect /old to /new"))

    assert "In “Old shop to new shop”, change the destination" in answer
    assert "Redirect `shop.example.com/old`" not in answer
    assert "Redirect `api.example.com/old`" in answer

    offer = await alice.says(f"/rules redirect {OLD} to https://shop.example.com/new")
    await alice.clicks(offer, "Do it")
    await alice.sees("“Old shop to new shop” is already as you want it")
    assert writes(workspace) == 0


@pytest.mark.parametrize("text", ["/rules please switch off the old shop", "/members give anna vip"])
async def test_names_that_could_not_be_read_are_said(workspace: Sandbox, alice: Colleague, text: str) -> None:
    for service in (workspace.services.rules, workspace.services.members):
        service.stage.faults.add("500", method="GET", times=99)

    answer = alice.slack_text(await alice.says(text))

    assert "I’m not sure" in answer
    assert "The names of rules, blog and docs couldn’t be read just now" in answer
    assert writes(workspace) == 0


async def test_what_was_understood_is_in_the_form(workspace: Sandbox, alice: Colleague) -> None:
    """Of what was left out, the form asks for the end."""
    answer = await alice.says("/rules off Old shop until the sale ends")
    await alice.clicks(answer, "Switch off: Old shop to new shop…", opens="How long?")

    assert "Switch off “Old shop to new shop”" in alice.form


@pytest.mark.threat("A14")
@pytest.mark.parametrize(
    ("url", "warning"),
    [
        (f"https://shop.example.com-{'-'.join(['secure'] * 25)}.evil.example/x", ""),
        (f"https://shop.example.com{'%2F' * 70}@evil.example/x", "the URL leads to evil.example"),
        ("https://xn--exmple-4nf.com/x", "is displayed as"),
    ],
)
async def test_an_offer_shows_the_host_that_a_url_leads_to(alice: Colleague, url: str, warning: str) -> None:
    offer = alice.slack_text(await alice.says(f"/gatehouse please redirect https://shop.example.com/aa to {url}"))

    what = offer.partition("You typed")[0]
    assert (url.split("/")[2].rpartition("@")[2]) in what
    assert warning in what


@pytest.mark.threat("A14")
async def test_an_offer_tells_two_people_apart_whose_emails_look_alike(workspace: Sandbox, bob: Colleague) -> None:
    other = "anna.berg@\u0435xample.com"
    workspace.services.members.put("site_1", {"name": "Anna Berg", "email": other, "allowedSegments": ["free"]})

    offer = bob.slack_text(await bob.says("/gatehouse please give Anna Berg the segment beta"))

    assert offer.count("[Grant access]") == 2
    assert offer.count("Warning:") == 1


async def test_a_form_opens_for_who_is_called_so_and_more_than_a_form_is_offered(
    workspace: Sandbox, alice: Colleague
) -> None:
    assert "Anna Berg" in str(await alice.opens("/members edit Anna Berg", SUPPORT))

    for text, offer in (
        ("/members change the email of Quinn Rossi to quinn@new.example", "to `quinn@new.example`"),
        ("/members change anna.berg@example.com to anna@new.example", "to `anna@new.example`"),
    ):
        assert offer in alice.slack_text(await alice.says(text)), text
    assert "no member is called that" in alice.slack_text(await alice.is_refused("/members edit nobody"))
    assert writes(workspace) == 0


async def test_beside_what_is_not_understood_stands_the_form_of_what_people_ask_for_so(
    workspace: Sandbox, alice: Colleague
) -> None:
    answer = await alice.says("/members get Tara Unger out of beta, her trial flopped", SUPPORT)
    await alice.clicks(answer, "Revoke access: tara.unger, beta…", opens="Revoke access")

    assert "beta" in alice.form
    assert writes(workspace) == 0


async def test_a_new_member_is_added_to_the_site_that_is_named(alice: Colleague) -> None:
    assert "Site docs" in rendering.view(await alice.opens("/members add lena.kurz@example.com to docs"))
