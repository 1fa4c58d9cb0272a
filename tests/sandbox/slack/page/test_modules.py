"""The page's modules that only compute, run where they live: in the browser."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Page
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from sandbox import slack
from sandbox.slack.serving import serving
from tests.harness.browsers import chromium

PAGE = Path(slack.__file__).parent / "page"

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="module"),  # one browser for all of them: starting it takes longer than the tests
    pytest.mark.xdist_group("page modules"),
]

NAMES = """{
  user: (id) => ({U1: {real_name: "Alice Ng"}})[id],
  channel: (id) => ({C1: {name: "ops"}})[id],
  me: "U1", zone: "Europe/Berlin",
}"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def page() -> AsyncIterator[Page]:
    """An empty document beside the modules; no test leaves anything in it."""
    index = Route("/", lambda _: HTMLResponse("<!doctype html>"))
    app = Starlette(routes=[index, Mount("/page", StaticFiles(directory=PAGE))])
    async with serving(app) as address, chromium() as browser:
        page = await browser.new_page()
        await page.goto(address)
        yield page


async def mrkdwn(page: Page, text: str) -> str:
    script = f"""async (text) => {{
      const {{ mrkdwn }} = await import("/page/mrkdwn.js");
      const box = document.createElement("div");
      box.append(...mrkdwn(text, {NAMES}));
      return box.innerHTML;
    }}"""
    return str(await page.evaluate(script, text))


async def values(page: Page, blocks: list[dict[str, Any]], then: str) -> Any:
    """The outcome of the JavaScript expression *then* about the answers to *blocks*."""
    script = f"""async (blocks) => {{
      const {{ Answers }} = await import("/page/answers.js");
      const answers = new Answers(blocks);
      return {then};
    }}"""
    return await page.evaluate(script, blocks)


def input_block(block_id: str, element: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "input", "block_id": block_id, "element": {"action_id": "a", **element}, **more}


MARKED = [
    ("*bold* _italic_ ~gone~", "<strong>bold</strong> <em>italic</em> <s>gone</s>"),
    ("*_both_*", "<strong><em>both</em></strong>"),
    ("snake_case_word 2*3*4 * not * _ nor _", "snake_case_word 2*3*4 * not * _ nor _"),
    ("`*plain* &lt;b&gt;`", "<code>*plain* &lt;b&gt;</code>"),
    ("*a `b* c` d*", "<strong>a <code>b* c</code> d</strong>"),
    ("&amp;lt; &lt;b&gt; &amp;", "&amp;lt; &lt;b&gt; &amp;"),
    ("one\n&gt; two\n&gt; *three*\nfour", "one<blockquote>two\n<strong>three</strong></blockquote>four"),
    ("a\n```x *y*\nz```\nb", "a<pre>x *y*\nz</pre>b"),
    ("<!channel> <@U1> <@U9|zoe> <#C1>", None),
    ("*open", "*open"),
    ("**", "**"),
]


@pytest.mark.parametrize(("text", "html"), MARKED)
async def test_mrkdwn_becomes_what_slack_shows(page: Page, text: str, html: str | None) -> None:
    shown = await mrkdwn(page, text)
    if html is None:
        assert [word in shown for word in ("@channel", "@Alice Ng", "@zoe", "#ops")] == [True] * 4
        assert 'class="mention me"' in shown
    else:
        assert shown == html


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<javascript:alert(1)|click>",
        "<img src=x onerror=alert(1)>",
        '<https://x.example/"onclick="alert(1)|"><b>>',
        "<data:text/html,hi|hi>",
        "```<script>alert(1)</script>```",
    ],
)
async def test_no_text_becomes_markup(page: Page, text: str) -> None:
    script = f"""async (text) => {{
      const {{ mrkdwn }} = await import("/page/mrkdwn.js");
      document.body.replaceChildren(...mrkdwn(text, {NAMES}));
      const all = [...document.body.querySelectorAll("*")];
      const hrefs = all.filter((node) => node.href).map((node) => new URL(node.href).protocol);
      const handlers = all.flatMap((node) => node.getAttributeNames()).filter((name) => name.startsWith("on"));
      return [all.map((node) => node.localName), hrefs, handlers];
    }}"""
    tags, protocols, handlers = await page.evaluate(script, text)
    assert not {"script", "img", "b"} & set(tags)
    assert set(protocols) <= {"https:"}
    assert handlers == []


@pytest.mark.parametrize("unclosed", ["*", "_a ", "`\n", "<", "*a _b ~c ", "https://", "&lt;", ":a"])
async def test_marks_that_are_never_closed_are_read_once(page: Page, unclosed: str) -> None:
    text = unclosed * 50_000 + "."  # where each mark looked for its end through all the rest, this took over a minute
    shown = await page.evaluate(
        f"""async (text) => {{
      const {{ mrkdwn }} = await import("/page/mrkdwn.js");
      const box = document.createElement("div");
      box.append(...mrkdwn(text, {NAMES}));
      return box.textContent;
    }}""",
        text,
    )
    assert shown == text.replace("&lt;", "<")


async def test_bare_and_labelled_links(page: Page) -> None:
    shown = await mrkdwn(page, "See https://shop.example/a?b=1&amp;c=2, or <https://x.example|*here*>.")
    assert 'href="https://shop.example/a?b=1&amp;c=2"' in shown
    assert "</a>, or " in shown
    assert '<a href="https://x.example" target="_blank" rel="noopener noreferrer"><strong>here</strong></a>.' in shown


async def test_a_long_address_may_break_at_its_slashes(page: Page) -> None:
    shown = await mrkdwn(page, "`https://shop.example/a/checkout` `/rules list checkout`")
    assert shown == "<code>https://shop.example/<wbr>a/<wbr>checkout</code> <code>/rules list checkout</code>"


async def test_dates_are_told_in_the_readers_zone(page: Page) -> None:
    shown = await mrkdwn(page, "<!date^1392734382^{date_num} at {time}|then> <!date^x^{time}|then>")
    assert "2014-02-18 at 3:39" in shown
    assert shown.endswith(">then</time>")


async def test_empty_answers_have_slacks_shape(page: Page) -> None:
    blocks = [
        input_block("text", {"type": "plain_text_input"}),
        input_block("many", {"type": "multi_static_select", "options": []}),
        input_block("one", {"type": "static_select", "options": []}),
        {
            "type": "actions",
            "block_id": "acts",
            "elements": [{"type": "button", "action_id": "b"}, {"type": "external_select", "action_id": "d"}],
        },
    ]
    assert await values(page, blocks, "answers.values") == {
        "text": {"a": {"type": "plain_text_input", "value": None}},
        "many": {"a": {"type": "multi_static_select", "selected_options": []}},
        "one": {"a": {"type": "static_select", "selected_option": None}},
        "acts": {"d": {"type": "external_select", "selected_option": None}},
    }


async def test_what_was_typed_survives_where_the_ids_are_the_same(page: Page) -> None:
    before = [input_block("keep", {"type": "plain_text_input"}), input_block("kind", {"type": "plain_text_input"})]
    after = [
        input_block("keep", {"type": "plain_text_input", "initial_value": "not this"}),
        input_block("kind", {"type": "external_select"}),
        input_block("new", {"type": "plain_text_input", "initial_value": "given"}),
    ]
    then = f"""(() => {{
      for (const block of blocks) answers.set(block, block.element, "typed");
      answers.adopt({json.dumps(after)});
      return Object.values(answers.values).map((entry) => entry.a.value ?? null);
    }})()"""
    assert await values(page, before, then) == ["typed", None, "given"]


PROBLEMS = [
    ({"type": "plain_text_input"}, None, "Please complete this required field."),
    ({"type": "plain_text_input", "min_length": 3}, "🚦🚦", "Please enter at least 3 characters (now 2)."),
    ({"type": "plain_text_input", "max_length": 2}, "abc", "Please enter at most 2 characters (now 3)."),
    ({"type": "plain_text_input", "max_length": 3}, "abc", None),
]


@pytest.mark.parametrize(("element", "typed", "problem"), PROBLEMS)
async def test_slack_refuses_before_the_app_hears(
    page: Page, element: dict[str, Any], typed: str | None, problem: str | None
) -> None:
    then = f"(answers.set(blocks[0], blocks[0].element, {json.dumps(typed)}), answers.problems(blocks))"
    found = await values(page, [input_block("field", element)], then)
    assert found == ({} if problem is None else {"field": problem})


async def test_an_optional_field_may_stay_empty(page: Page) -> None:
    blocks = [input_block("field", {"type": "plain_text_input", "min_length": 3}, optional=True)]
    assert await values(page, blocks, "answers.problems(blocks)") == {}
