"""Times in sentences, in English and German: what is read, as what, and which words are no time."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.text.time_words import AFTER_LENGTH, PHRASES, TERMS
from bot.text.times import MAX_WORDS, Kind, moment_since, parse_since, parse_time
from bot.text.wall_times import WallTime, end_time, next_time
from handlers.grammar.time_fields import expiry_in

BERLIN = ZoneInfo("Europe/Berlin")
MONDAY = datetime(2026, 11, 23, 10, 0, tzinfo=UTC)
"""11:00 in Berlin."""
FRIDAY = datetime(2026, 11, 27, 8, 0, tzinfo=UTC)
"""9:00 in Berlin."""


def shown(moment: datetime | None) -> str:
    return f"{moment.astimezone(BERLIN):%m-%d %H:%M}" if moment else "never"


def read(text: str, now: datetime = MONDAY) -> str:
    """Return what the words of *text* say from the first to the last; empty where they say no time, or go on after it."""
    words = text.split()
    found = parse_time(words, 0)
    if found is None or found.count < len(words):
        return ""
    if found.kind is Kind.SINCE:
        return f"since {shown(moment_since(found, BERLIN, now))}"
    if found.seconds is not None:
        return f"{found.kind} {found.seconds // 60} min"
    if found.wall is None:
        return str(found.kind)
    start = next_time(found.wall, BERLIN, now)
    if found.end is None:
        return f"{found.kind} {shown(start)}"
    return f"{found.kind} {shown(start)} to {shown(end_time(found.end, BERLIN, now, start) if start else None)}"


LENGTHS = {
    "for 2h30": 150,
    "for the next 2 hours": 120,
    "for the next hour": 60,
    "the next 2 hours": 120,
    "for half an hour": 30,
    "for an hour and a half": 90,
    "for 2 and a half hours": 150,
    "for 2 days, ": 2880,
    "for a month": 43_200,
    "2 hours": 120,
    "2h": 120,
    "30 min": 30,
}


@pytest.mark.parametrize(("text", "minutes"), LENGTHS.items())
def test_a_length_in_a_sentence(text: str, minutes: int) -> None:
    assert read(text) == f"length {minutes} min"


ENDS = {
    "until tonight": "11-23 20:00",
    "till Monday 9": "11-30 09:00",
    "til eod": "11-24 00:00",
    "'til 6pm": "11-23 18:00",
    "by friday 17:00": "11-27 17:00",
    "until friday": "11-27 09:00",
    "until friday noon.": "11-27 12:00",
    "until friday next week": "12-04 09:00",
    "until end of month": "12-01 00:00",
    "until the end of next week": "12-05 00:00",
    "until the end of the year": "01-01 00:00",
    "until 24 December": "12-24 09:00",
    "until the 24th of December 18:00": "12-24 18:00",
    "until 24.12.": "12-24 09:00",
    "until the 31st": "12-31 09:00",
    "until the 23rd at 18:00": "11-23 18:00",
    "until 24/12": "12-24 09:00",
    "until thursday, 24 december": "12-24 09:00",
    "until tonight at midnight": "11-24 00:00",
    "until 2026-12-24 18:00": "12-24 18:00",
    "until 2026-12-24T18:00Z": "12-24 19:00",
    "until 8 in the morning": "11-24 08:00",
    "until tomorrow morning": "11-24 09:00",
    "until 18:00 UTC": "11-23 19:00",
    "until 6pm CET": "11-23 18:00",
    "until 18:00 Europe/Berlin": "11-23 18:00",
    "until 18:00 america/new_york": "11-24 00:00",
    "until 18h": "11-23 18:00",
    "until 18.30": "11-23 18:30",
    "until 24:00": "11-24 00:00",
    "(until 18:00)": "11-23 18:00",
    "for today": "11-24 00:00",
    "for the rest of the week": "11-28 00:00",
}


@pytest.mark.parametrize(("text", "there"), ENDS.items())
def test_an_end_in_a_sentence(text: str, there: str) -> None:
    assert read(text) == f"end {there}"


COUNTED_FROM_NOW = re.compile(r"tomorrow|today|tonight|this|next week|morgen|heute|nächste Woche|mañana")


@pytest.mark.parametrize("text", ENDS)
def test_an_end_that_names_a_day_is_that_day_whenever_it_starts(text: str) -> None:
    end = parse_time(text.split(), 0)
    assert end is not None
    assert end.wall is not None
    for hours in (1, 10, 20, 30, 60, 200):
        starts = MONDAY + timedelta(hours=hours)
        now = MONDAY if COUNTED_FROM_NOW.search(text) else starts
        assert end_time(end.wall, BERLIN, MONDAY, starts) == next_time(end.wall, BERLIN, now), starts


STARTS = {
    "on friday at 9:00": "11-27 09:00",
    "on friday": "11-27 09:00",
    "24 december": "12-24 09:00",
    "friday 18h": "11-27 18:00",
    "monday 9": "11-30 09:00",
    "next monday": "11-30 09:00",
    "next week": "11-30 09:00",
    "tomorrow": "11-24 09:00",
    "tomorrow at 8": "11-24 08:00",
    "tomorrow at 2h": "11-24 02:00",
    "tomorrow at 9 o'clock": "11-24 09:00",
    "tomorrow 24": "11-25 00:00",
    "the day after tomorrow": "11-25 09:00",
    "this evening": "11-23 18:00",
    "tonight at 9": "11-23 21:00",
    "at 02:10": "11-24 02:10",
    "at 18:00,": "11-23 18:00",
    "at noon": "11-23 12:00",
    "from monday": "11-30 09:00",
    "starting friday": "11-27 09:00",
    "as of 24 December": "12-24 09:00",
    "2026-12-24 18:00": "12-24 18:00",
}


@pytest.mark.parametrize(("text", "there"), STARTS.items())
def test_a_start_in_a_sentence(text: str, there: str) -> None:
    assert read(text) == f"start {there}"


@pytest.mark.parametrize(("text", "minutes"), {"in 10 minutes": 10, "in 1h": 60, "in half an hour": 30}.items())
def test_a_start_in_so_long(text: str, minutes: int) -> None:
    assert read(text) == f"start {minutes} min"


WINDOWS = {
    "from 9 to 17:00": "11-24 09:00 to 11-24 17:00",
    "from 2 to 4pm": "11-23 14:00 to 11-23 16:00",
    "from 2 to 4 this afternoon": "11-23 14:00 to 11-23 16:00",
    "from 9 to 5pm": "11-24 09:00 to 11-24 17:00",
    "from 22:00 to 6:00": "11-23 22:00 to 11-24 06:00",
    "from monday until friday": "11-30 09:00 to 12-04 09:00",
    "from 18:00 until friday 9:00": "11-23 18:00 to 11-27 09:00",
    "from 9 to 17:00 on friday": "11-27 09:00 to 11-27 17:00",
    "tomorrow 9:00-17:00": "11-24 09:00 to 11-24 17:00",
    "on friday 9:00 to 10:00 UTC": "11-27 10:00 to 11-27 11:00",
    "tomorrow 9:00 until tomorrow 18:00": "11-24 09:00 to 11-24 18:00",
    "from tomorrow until tonight": "11-24 09:00 to 11-23 20:00",
}


@pytest.mark.parametrize(("text", "there"), WINDOWS.items())
def test_a_window_in_a_sentence(text: str, there: str) -> None:
    assert read(text) == f"window {there}"


SINCES = {
    "since 22:00": "11-22 22:00",
    "since 2 hours": "11-23 09:00",
    "in november": "11-01 00:00",
    "since a month": "10-24 12:00",  # 30 days, and an hour when the clocks were set back
    "since monday 8:00": "11-23 08:00",
    "since monday": "11-16 00:00",
    "since last friday": "11-20 00:00",
    "since yesterday evening": "11-22 18:00",
    "since midnight": "11-23 00:00",
    "since 1 November": "11-01 00:00",
    "since today 20:00": "never",
    "last night": "11-22 18:00",
    "yesterday": "11-22 00:00",
    "yesterday at 22:00": "11-22 22:00",
    "today": "11-23 00:00",
    "this morning": "11-23 06:00",
    "this week": "11-23 00:00",
    "in the last hour": "11-23 10:00",
    "last week": "11-16 11:00",
    "2 hours ago": "11-23 09:00",
}


@pytest.mark.parametrize(("text", "there"), SINCES.items())
def test_a_past_time_in_a_sentence(text: str, there: str) -> None:
    assert read(text) == f"since {there}"


@pytest.mark.parametrize(
    "text",
    [
        *(
            "over the weekend",
            "for the weekend",
            "for a while",
            "for a couple of hours",
            "soon",
            "later",
        ),
        *("for now", "until further notice"),
    ],
)
def test_words_about_time_that_name_none(text: str) -> None:
    assert read(text) == "vague"


ON_FRIDAY = {
    "until friday 18:00": "end 11-27 18:00",
    "until friday 8:00": "end 12-04 08:00",
    "until friday": "end 12-04 09:00",
    "until next friday 18:00": "end 12-04 18:00",
    "until the end of the week": "end 11-28 00:00",
    "friday evening": "start 11-27 18:00",
    "since friday 8:00": "since 11-27 08:00",
    "since friday": "since 11-20 00:00",
}


@pytest.mark.parametrize(("text", "meant"), ON_FRIDAY.items())
def test_a_weekday_is_today_where_its_hour_is_still_to_come(text: str, meant: str) -> None:
    assert read(text, FRIDAY) == meant


@pytest.mark.parametrize(
    "text",
    [
        *(
            "until 8",
            "at 9",
            "until 25:00",
            "until 2h",
            "2h tomorrow",
            "tomorrow 2h30",
            "on friday 5h",
            "until tomorrow 2h",
            "from 2h until 4h tomorrow",
            "until 2 hours",
            "until 10.12",
            "until 30 february",
            "until 12/24",
        ),
        *("from 9 to 5", "9 to 5", "from 9:00 to 17", "for 30", "for 30 more minutes", "for 2h%", "until now", "now"),
        *("on", "may", "march", "second", "a second", "sun", "a day", "friday", "18:00", "at friday"),
        *(
            "until",
            "for",
            "for friday",
            "until next month",
            "on yesterday",
            "until monday tuesday",
            "18:00 UTC",
            "noon",
        ),
    ],
)
def test_what_names_no_time_or_several_is_none(text: str) -> None:
    assert read(text) == ""


@pytest.mark.parametrize(
    "sentence",
    [
        "turn off the Black Friday landing page",
        "delete Summer sale",
        "switch the 24h shop off",
        "in the 24h shop",
        "greetings from the 3rd floor",
        "look at Monday deals",
        "disable 9 to 5",
        "list page 2",
        "block sun 50 lotion",
        "show sun 20% off",
        "you may march on",
        "find Cyber Monday 2026",
        "show 2026 and Dec 24 campaign",
    ],
)
def test_no_word_of_a_name_is_a_time(sentence: str) -> None:
    words = sentence.split()

    assert [found for at in range(len(words)) if (found := parse_time(words, at))] == []


@pytest.mark.parametrize(
    ("sentence", "typed"),
    [
        ("pause old shop 30 min because it loops", ["30 min"]),
        ("turn it off tomorrow 9:00, for 2h.", ["tomorrow 9:00,", "for 2h."]),
        ("off until friday. 9 people wait", ["until friday."]),
        ("off for 2 days, ticket 4", ["for 2 days,"]),
        ("off until Mon. 9:00 please", ["until Mon. 9:00"]),
        ("off until friday the shop", ["until friday"]),
        ("off on friday for 2 hours on blog", ["on friday", "for 2 hours"]),
    ],
)
def test_the_longest_time_is_taken_and_no_word_more(sentence: str, typed: list[str]) -> None:
    words, at, found = sentence.split(), 0, []
    while at < len(words):
        if time := parse_time(words, at):
            found.append(time.text)
        at += time.count if time else 1

    assert found == typed


WORDS = st.one_of(
    st.sampled_from(sorted({*TERMS, *AFTER_LENGTH, *" ".join(PHRASES).split()})),
    st.sampled_from(
        ["8", "24", "18:00", "24.12.", "31/12", "2026-02-29", "0", "99999", "2h", "Europe/", "Asia/Foo", "../x"]
    ),
    st.text(max_size=8),
)


@given(st.lists(WORDS, max_size=20))
def test_any_words_are_read_or_are_not(words: list[str]) -> None:
    for at in range(len(words) + 1):
        found = parse_time(words, at)
        if found:
            assert 0 < found.count <= min(len(words) - at, MAX_WORDS)
            assert found.text == " ".join(words[at : at + found.count])
            for wall in filter(None, (found.wall, found.end)):
                next_time(wall, BERLIN, MONDAY)
            moment = moment_since(found, BERLIN, MONDAY)
            assert moment is None or moment <= MONDAY


def test_a_long_text_is_read_in_time_that_grows_with_it() -> None:
    class Counted(list[str]):
        asked = 0

        def __getitem__(self, key: object) -> object:  # type: ignore[override]
            cut = super().__getitem__(key)  # type: ignore[call-overload]
            Counted.asked += len(cut) if isinstance(key, slice) else 1
            return cut

    words = Counted(["until"] + ["monday", "and"] * 1000)
    for at in range(len(words)):
        parse_time(words, at)

    assert Counted.asked <= len(words) * MAX_WORDS * 3


def test_a_zone_that_is_typed_is_the_one_whose_clocks_are_meant() -> None:
    found = parse_time(["until", "18:00", "new", "York"], 0), parse_time(["until", "18:00", "PST"], 0)

    assert [each.wall for each in found if each] == [WallTime(18, 0), WallTime(18, 0, zone="America/Los_Angeles")]


def test_the_hour_that_clocks_show_twice_is_looked_for_since_the_first() -> None:
    since = parse_since("2:30")
    later = datetime(2026, 10, 25, 6, 0, tzinfo=UTC)

    assert since
    assert moment_since(since, BERLIN, later) == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)


@pytest.mark.parametrize("text", ["24h", "monday", "last night", "since friday 8:00", "7d", "TODAY"])
def test_a_since_needs_no_word_before_it(text: str) -> None:
    assert parse_since(text)


@pytest.mark.parametrize("text", ["", "someday", "until friday", "page 2", "8"])
def test_what_is_no_since(text: str) -> None:
    assert parse_since(text) is None


@pytest.mark.parametrize("text", [text for text in (*LENGTHS, *ENDS) if text.startswith(("for ", "until "))])
def test_the_exact_grammar_reads_the_same_and_writes_it_so_that_it_reads_it_back(text: str) -> None:
    keyword, _, rest = text.partition(" ")
    found = expiry_in(keyword, rest)

    assert found
    again = expiry_in(*found.as_typed.split(" ", 1))
    assert again == found
