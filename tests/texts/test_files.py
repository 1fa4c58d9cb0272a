"""What is said about files, whole."""

from __future__ import annotations

from inline_snapshot import snapshot

from tests.texts import files, texts


def test_imports() -> None:
    assert texts(files.imports()) == snapshot(
        {
            "rules: the file": """\
┌ Import rules
A JSON file from `/rules export` or from the dashboard’s export, or a table (CSV UTF-8) of redirects with the headings `from`, `to`, and optionally `name` and `until`. Rules that are already there stay as they are. You see a preview before anything changes.
File: <>
Why (optional): <>
Start (optional): <>
[Preview]\
""",
            "rules: the file was refused": """\
┌ Import rules
(warning) Nothing was imported. The file has an empty list. Check that the export had any rules.
A JSON file from `/rules export` or from the dashboard’s export, or a table (CSV UTF-8) of redirects with the headings `from`, `to`, and optionally `name` and `until`. Rules that are already there stay as they are. You see a preview before anything changes.
File: <>
Why (optional): <>
Start (optional): <>
[Preview]\
""",
            "rules: the preview": """\
┌ Import rules
(inbox_tray) Preview: 8 records in `rules.json`
Nothing has changed yet.
(sparkles) 3 new
(fast_forward) 4 skipped
✗ 1 can’t be imported
3 of the new rules are on, and match at once.
(sparkles) New
record 1  Jobs   `https://shop.example.com/jobs` → `https://shop.example.com/careers`
record 2  Blog readers to new shop   `https://shop.example.com/old` → `https://shop.example.com/new` · only for page domain `blog.example.com`, method `GET`
record 7  Sales   `https://shop.example.com/sales` → `https://shop.example.com/sale`
(fast_forward) Skipped
record 3  `Summer sale`   already there, with this id
record 4  `Old shop to new shop`   already there, with this id
record 5  `Summer sale`   the same as record 3
record 6  `Sales`   a group; groups are not imported
✗ Can’t be imported
record 8  `(no name)`   not an object
(warning) 1 new rule without a group. Not found: `Group_gone`. Set one afterwards with `/rules set`.
[Import]\
""",
            "rules: nothing to import by now": """\
┌ Import rules
(arrows_counterclockwise) Nothing was imported yet. This preview is new. Please review it again.
(inbox_tray) Preview: 1 record in `rules.json`
Nothing has changed yet.
(fast_forward) 1 skipped
(fast_forward) Skipped
record 1  `Summer sale`   already there, with this id
(heavy_check_mark) Nothing to import.\
""",
            "redirects: the preview": """\
┌ Import rules
(inbox_tray) Preview: 1 row in `paths.csv`
Nothing has changed yet.
(warning) Line 2 loops.
✗ 1 can’t be imported
✗ Can’t be imported
line 2  `/a`   “/a” in from is not a whole URL, such as https://example.com/page
(heavy_check_mark) Nothing to import.\
""",
            "members: the file": """\
┌ Import members
(globe_with_meridians) Site blog
A table (CSV UTF-8) with the heading `email`, and optionally `name` (of new members), `segments` (separated by commas) and `site`. You see a preview before anything changes.
File: <>
What to do with these people?: <Add them as members>
Why (optional): <>
Start (optional): <>
[Preview]\
""",
            "members: the preview (grant)": """\
┌ Import members
(inbox_tray) Preview: 7 rows in `m.csv`, for blog
Nothing has changed yet.
(twisted_rightwards_arrows) 1 with changed segments
(fast_forward) 1 skipped
✗ 5 can’t be imported
(twisted_rightwards_arrows) With changed segments
line 2  `anna@example.com`   (heavy_plus_sign) `vip`
(fast_forward) Skipped
line 3  `emil@example.com`   nothing to change
✗ Can’t be imported
line 4  `ben@example.com`   contradicts line 5; neither is applied
line 5  `ben@example.com`   contradicts line 4; neither is applied
line 6  `not an email`   not an email. It must have an @-sign.
line 7  `dora@example.com`   the site has no segment “platinum”
line 8  `nia@example.com`   not a member of this site
[Import]\
""",
            "members: the preview (add)": """\
┌ Import members
(inbox_tray) Preview: 7 rows in `m.csv`, for blog
Nothing has changed yet.
(sparkles) 1 new
✗ 6 can’t be imported
(sparkles) New
line 8  `nia@example.com`   Nia New   `vip` `free`
✗ Can’t be imported
line 2  `anna@example.com`   already a member, with another name or other segments
line 3  `emil@example.com`   already a member, with another name or other segments
line 4  `ben@example.com`   contradicts line 5; neither is applied
line 5  `ben@example.com`   contradicts line 4; neither is applied
line 6  `not an email`   not an email. It must have an @-sign.
line 7  `dora@example.com`   the site has no segment “platinum”
[Import]\
""",
        }
    )


def test_introductions() -> None:
    assert texts(files.introductions()) == snapshot(
        {
            "all rules": """\
:outbox_tray: *25 rules*, with all their filters and values, but without groups.
`/rules import` and the dashboard’s import read this file. From `rules.example.com`.\
""",
            "some rules": """\
:outbox_tray: *1 of 25 rules*, with all their filters and values, but without groups.
`/rules import` and the dashboard’s import read this file. From `rules.example.com`.\
""",
            "not all could be read": """\
:outbox_tray: *25 rules*, with all their filters and values, but without groups.
`/rules import` and the dashboard’s import read this file. From `rules.example.com`.
:warning: Only 25 of 40 rules could be read. The others are not in this file.\
""",
            "members": ":outbox_tray: *3 of 20 members* of *blog*, with names and segments. It contains full emails, so share it with care.",
        }
    )


def test_refusals() -> None:
    assert texts(files.refusals()) == snapshot(
        {
            "files": """\
The file is empty. Check that it was saved, and try again.
The file is too large: 100 MB. The limit is 10 MB. Split it, and import the parts one by one.
The file is not text in UTF-8. In a spreadsheet, save it as CSV UTF-8, and try again.
The row in line 3 can’t be read (unexpected end of data). Usually an unclosed quote, or text after a closing one: put the whole cell in quotes.
No column is called “email”. Remove: “plan”. The first row has the headings email, and optionally name, segments, site, each once.
Rename the column “E-mail 1 - Value” to “email”. Remove: “First Name”. The first row has the headings email, and optionally name, segments, site, each once.
The table has more than 20,000 rows. Split it.
Line 3 is too long: a line has at most 1,000,000 characters.
Line 3, column 16: this is not JSON. Expecting value. Usually an extra comma, or an unclosed or typographic quote.
Line 1, column 3: this is not JSON. Expecting property name enclosed in double quotes. Usually an extra comma, or an unclosed or typographic quote.
“status” comes twice in one object. Remove one of them.
The JSON is nested too deeply.
The file is JSON, but not a list of rules. Use a JSON file that Gatehouse or the dashboard exported.
The file has an empty list. Check that the export had any rules.
The file has 10,001 records; the limit is 10,000. Split it.
No column is called “from”. No column is called “to”. Remove: “age”. The first row has the headings from and to, and optionally name, until, each once.
Remove: “group”. The first row has the headings from and to, and optionally name, until, each once.\
"""
        }
    )
