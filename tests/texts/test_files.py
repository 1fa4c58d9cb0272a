"""What is said about files, whole."""

from __future__ import annotations

from inline_snapshot import snapshot

from tests.texts import files, texts


def test_imports() -> None:
    assert texts(files.imports()) == snapshot(
        {
            "rules: the file": """\
┌ Import rules
A JSON file from `/rules export` or from the dashboard’s export, or a table (CSV) of redirects: from, to, and optionally name, until and group. You see a preview before anything changes.
File (optional): <>
Or paste its text (optional): <>
Why (optional): <>
Start (optional): <>
[Preview]\
""",
            "rules: the file was refused": """\
┌ Import rules
(warning) Nothing was imported. The file has an empty list. Check that the export had any rules.
A JSON file from `/rules export` or from the dashboard’s export, or a table (CSV) of redirects: from, to, and optionally name, until and group. You see a preview before anything changes.
File (optional): <>
Or paste its text (optional): <>
Why (optional): <>
Start (optional): <>
[Preview]\
""",
            "rules: the preview": """\
┌ Import rules
(inbox_tray) Preview: 7 records in `rules.json`
Nothing has changed yet.
(sparkles) 2 new
(twisted_rightwards_arrows) 1 different here
(heavy_check_mark) 1 identical here
✗ 1 can’t be imported
(repeat) 1 repeated in the file
(fast_forward) 1 skipped: not rules
(sparkles) New
1. Jobs   `https://shop.example.com/jobs` → `https://shop.example.com/careers`
2. Blog readers to new shop   `https://shop.example.com/old` → `https://shop.example.com/new` · only for page domain `blog.example.com`, method `GET`
(twisted_rightwards_arrows) Different here
4. Old shop to new shop   `Redirect_x1`   pair 1 destination
✗ Can’t be imported
7. (no name): not an object
(repeat) Repeated in the file
5. Summer sale: duplicate of record 3
(fast_forward) Skipped: not rules
6. Sales: a group; groups are not imported
2 new rules: <Create them>
1 rule that differs here: <Keep the current rules>
On or off?: <New rules off, overwritten rules as they are now>
[Import]\
""",
            "rules: the preview, once more": """\
┌ Import rules
(arrows_counterclockwise) Nothing was imported yet. The data changed since this preview. Please review it again.
(inbox_tray) Preview: 7 records in `rules.json`
Nothing has changed yet.
(sparkles) 2 new
(twisted_rightwards_arrows) 1 different here
(heavy_check_mark) 1 identical here
✗ 1 can’t be imported
(repeat) 1 repeated in the file
(fast_forward) 1 skipped: not rules
(sparkles) New
1. Jobs   `https://shop.example.com/jobs` → `https://shop.example.com/careers`
2. Blog readers to new shop   `https://shop.example.com/old` → `https://shop.example.com/new` · only for page domain `blog.example.com`, method `GET`
(twisted_rightwards_arrows) Different here
4. Old shop to new shop   `Redirect_x1`   pair 1 destination
✗ Can’t be imported
7. (no name): not an object
(repeat) Repeated in the file
5. Summer sale: duplicate of record 3
(fast_forward) Skipped: not rules
6. Sales: a group; groups are not imported
2 new rules: <Create them>
1 rule that differs here: <Keep the current rules>
On or off?: <New rules off, overwritten rules as they are now>
[Import]\
""",
            "rules: nothing to import": """\
┌ Import rules
(inbox_tray) Preview: 1 record in `rules.json`
Nothing has changed yet.
(heavy_check_mark) 1 identical here
(heavy_check_mark) Nothing to import.\
""",
            "members: the file": """\
┌ Import members
(globe_with_meridians) Site blog
A CSV file with a column of emails; names and segments are optional. An action column overrides the choice below. You see a preview before anything changes.
File (optional): <>
Or paste its text (optional): <>
What to do with these people?: <Add them as members>
Why (optional): <>
Start (optional): <>
[Preview]\
""",
            "members: the preview": """\
┌ Import members
(inbox_tray) Preview: 6 rows in `m.csv`, for blog
Nothing has changed yet.
(twisted_rightwards_arrows) 1 with changed segments
(link) 1 for someone in an earlier row, merged with it
(heavy_check_mark) 1 with nothing to change
✗ 3 can’t be imported
(twisted_rightwards_arrows) With changed segments
line 2  `anna@example.com` Anna Berg   (heavy_plus_sign) `vip`
(link) For someone in an earlier row, merged with it
line 5  `ben@example.com` Ben   the same person as line 4
✗ Can’t be imported
line 4  `ben@example.com` Ben   not a member of this site
line 6  `not an email` Carl   not an email. It must have an @-sign.
line 7  `dora@example.com` Dora   “platinum” is not a segment here; segments are created in the site’s dashboard
(warning) Names stay as they are: a file can’t change them
line 3  `emil@example.com` Emil Noor   stays Emil
Read as UTF-8 with commas: email from column 1, name from column 2, segments from column 3.
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
The file is a spreadsheet. Save it as CSV, and try again.
The file is a web page. Open it in a spreadsheet, and save it as CSV.
The file is a contact card (vCard). Export the contacts as CSV, with a column of emails.
The file is JSON. Save it as CSV, with a column of emails.
The file is not text.
The file’s encoding is unknown (byte 4). Save it as UTF-8, and try again.
Line 7 is damaged: the rest of the file is UTF-8, but some of its letters are not. Correct that line, or save the file as UTF-8 again.
The row in line 3 can’t be read (unexpected end of data). Usually an unclosed quote.
The row in line 3 can’t be read (';' expected after '"'). Text follows a closing quote: put the whole cell in quotes, or each email on its own line.
No column of the table has emails. Save it as CSV, with a column of emails.
The table has more than 20,000 rows. Split it.
The row in line 3 is too long: a row has at most 500 cells. Remove columns that Gatehouse doesn’t need. Put each email on its own line.
Line 3 is too long: a line has at most 1,000,000 characters. Put each row on a line of its own, and shorten its longest cell.
Line 3, column 16: this is not JSON. Expecting value. Usually an extra comma or an unclosed quote.
Line 1, column 3: this is not JSON. Expecting property name enclosed in double quotes. “ is a typographic quote; JSON needs straight ones.
“status” comes twice in one object. Remove one of them.
The JSON is nested too deeply.
The file is JSON, but has no rules: it starts with email. Use a JSON file that Gatehouse or the dashboard exported.
The file has an empty list. Check that the export had any rules.
The file has 10,001 records; the limit is 10,000. Split it.
The file is not JSON, and no table of redirects: it needs one column of URLs to redirect from, and one to redirect to. Name them from and to.
Two columns of the table could be from. Rename one of them.\
"""
        }
    )
