"""What is said about rules, whole."""

from __future__ import annotations

from inline_snapshot import snapshot

from tests.texts import rules, texts


def test_which() -> None:
    assert texts(rules.which()) == snapshot(
        {
            "a redirect": """\
(arrow_right_hook) `https://shop.example.com/old` redirects to `https://shop.example.com/new`
Old shop to new shop   → `https://shop.example.com/new`
[Show]  [Switch off…]
[Share in channel]\
""",
            "a redirect, and what else there is to know": """\
(arrow_right_hook) `https://shop.example.com/old` redirects to `https://shop.example.com/new`
Old shop to new shop   → `https://shop.example.com/new`
[Show]  [Switch off…]
Debug header for support   adds request header `X-Debug`: `1`  [Show]
Would match, but off: “Summer sale”; “Chat widget” (its group “Experiments” is off)
Can’t tell: “Odd expression” (its expression uses lookarounds or backreferences)
[Share in channel]\
""",
            "a loop": """\
(repeat) `https://shop.example.com/old` never arrives: it loops
`https://shop.example.com/old` → `https://shop.example.com/new` → `https://shop.example.com/old`
Old shop to new shop   → `https://shop.example.com/new`
[Show]  [Switch off…]
Back to the old shop   → `https://shop.example.com/old`
[Show]  [Switch off…]
[Share in channel]\
""",
            "a block on the way": """\
(no_entry) `https://shop.example.com/old` is blocked after 2 redirects
`https://shop.example.com/old` → `https://shop.example.com/new` → `https://shop.example.com/landing` → blocked
Old shop to new shop   → `https://shop.example.com/new`
[Show]  [Switch off…]
New shop to landing page   → `https://shop.example.com/landing`
[Show]  [Switch off…]
Block the landing page   (no_entry) blocks it
[Show]  [Switch off…]
[Share in channel]\
""",
            "two rules for one URL": """\
(twisted_rightwards_arrows) `https://shop.example.com/old` redirects to one of 2 URLs
Old shop to new shop   → `https://shop.example.com/new`
[Show]  [Switch off…]
Old shop to the archive   → `https://archive.example.com/`
[Show]  [Switch off…]
2 rules redirect or block this URL, and their order is not guaranteed.
[Share in channel]\
""",
            "a redirect with filters": """\
(arrow_right_hook) `https://shop.example.com/old` redirects to `https://shop.example.com/new`, if its filters match
Blog readers to new shop   → `https://shop.example.com/new`
Only for page domain `blog.example.com`, method `GET`
[Show]  [Switch off…]
[Share in channel]\
""",
            "something else is changed": """\
(large_green_circle) `https://shop.example.com/about` isn’t redirected; 1 rule changes something else
[Details]  [Share in channel]\
""",
            "a near miss that is off, and what matches is off": """\
(white_circle) No rule changes `https://shop.example.com/old/`, but there is a near miss
Near miss: “Winter sale” (differs only in the trailing slash; it is off)
[Details]  [Share in channel]\
""",
            "tracking parameters": """\
(white_circle) No rule changes `https://shop.example.com/old?utm_source=mail`, but there is a near miss
Near miss: “Old shop to new shop” (without ?utm_source=mail it redirects to https://shop.example.com/new)
[Share in channel]  [List rules]\
""",
            "what matches is off": """\
(white_circle) `https://shop.example.com/old` isn’t redirected: “Summer sale” is off
Summer sale   → `https://shop.example.com/sale`
[Switch on]  [Show]
Also off: “Chat widget” (its group “Experiments” is off)
[Share in channel]\
""",
            "what would block is off": """\
(white_circle) `https://shop.example.com/landing` isn’t blocked: “Block the landing page” is off
Block the landing page   (no_entry) would block it
[Switch on]  [Show]
[Share in channel]\
""",
            "the group of what would redirect is off": """\
(white_circle) `https://shop.example.com/old` isn’t redirected: “Chat widget” has no effect: its group “Experiments” is off
Chat widget   → `https://shop.example.com/chat`
[Show]
[Share in channel]\
""",
            "no rule": """\
(white_circle) No rule changes `https://shop.example.com/about`
Assumed https://.
[Share in channel]  [List rules]\
""",
            "a rule that can’t be judged": """\
(warning) Can’t tell: none of the rules that could be judged redirects or blocks `https://shop.example.com/about`
Can’t tell: “Odd expression” (its expression uses lookarounds or backreferences)
[Share in channel]  [List rules]\
""",
            "a rule that can’t be judged, and is off": """\
(white_circle) No rule changes `https://shop.example.com/about`
Can’t tell: “Odd expression” (its expression uses lookarounds or backreferences; it is off)
[Share in channel]  [List rules]\
""",
            "a rule that can’t be judged, and neither redirects nor blocks": """\
(white_circle) `https://shop.example.com/about` isn’t redirected or blocked
Can’t tell: “Odd header” (its expression uses lookarounds or backreferences)
[Share in channel]  [List rules]\
""",
            "a rule of a type that isn’t known": """\
(warning) Can’t tell: none of the rules that could be judged redirects or blocks `https://shop.example.com/t`
Of a later release   `{"beam": [1]}`  [Show]
[Share in channel]\
""",
            "a redirect whose first pair can’t be judged": """\
(arrow_right_hook) `https://shop.example.com/old` redirects to `https://shop.example.com/new`, if pair 1 doesn’t match
Odd first pair (pair 2)   → `https://shop.example.com/new`
Can’t tell whether pair 1 matches: its expression uses lookarounds or backreferences
[Show]  [Switch off…]
Can’t tell: “Odd first pair” (its expression uses lookarounds or backreferences)
[Share in channel]\
""",
            "two redirects with filters": """\
(twisted_rightwards_arrows) `https://shop.example.com/old` may redirect to one of 2 URLs
Blog readers to new shop   → `https://shop.example.com/new`
Only for page domain `blog.example.com`, method `GET`
[Show]  [Switch off…]
Blog readers to the sale   → `https://shop.example.com/sale`
Only for page domain `blog.example.com`, method `GET`
[Show]  [Switch off…]
2 rules redirect or block this URL, and their order is not guaranteed.
[Share in channel]\
""",
            "not all rules could be read": """\
(warning) Can’t tell: none of the 40 rules that could be read redirects or blocks `https://shop.example.com/about`
(warning) Only 40 of 60 rules could be read. Others may match, too.
[Share in channel]  [List rules]\
""",
            "the list ended too soon": """\
(warning) Can’t tell: none of the 40 rules that could be read redirects or blocks `https://shop.example.com/about`
(warning) Only part of the list could be read: 40 rules. Others may match, too.
[Share in channel]  [List rules]\
""",
            "several URLs": """\
(arrow_right_hook) `https://shop.example.com/old` redirects to `https://shop.example.com/new`
Old shop to new shop   → `https://shop.example.com/new`
[Show]  [Switch off…]
This is about the first of 2 URLs. The others: `https://shop.example.com/new`
[Check URL 2]  [Share in channel]\
""",
            "words that name no rule": """\
(arrow_right_hook) `https://shop.example.com/old` redirects to `https://shop.example.com/new`
Old shop to new shop   → `https://shop.example.com/new`
[Show]  [Switch off…]
No single rule is called `please`, so this covers all of them.
[Share in channel]\
""",
            "shared with the channel": """\
(arrow_right_hook) `https://shop.example.com/old` redirects to `https://shop.example.com/landing`
`https://shop.example.com/old` → `https://shop.example.com/new` → `https://shop.example.com/landing`
Old shop to new shop   → `https://shop.example.com/new`
New shop to landing page   → `https://shop.example.com/landing`\
""",
        }
    )


def test_which_url_and_rule() -> None:
    assert texts(rules.why()) == snapshot(
        {
            "it matches": """\
(large_green_circle) “Blog readers to new shop” matches, if its filters match
`https://shop.example.com/old`
→ `https://shop.example.com/new`
Only for page domain `blog.example.com`, method `GET`
[Switch off…]  [Show]  [Check all rules]\
""",
            "it would, but is off": """\
(double_vertical_bar) “Summer sale” would match, but it is off
`https://shop.example.com/old`
→ `https://shop.example.com/sale`
[Switch on]  [Show]  [Check all rules]\
""",
            "its group is off": """\
(double_vertical_bar) “Chat widget” would match, but its group “Experiments” is off
`https://shop.example.com/old`
→ `https://shop.example.com/chat`
[Edit…]  [Show]  [Check all rules]\
""",
            "it nearly matches": """\
(white_circle) “Old shop to new shop” doesn’t match
`https://shop.example.com/OLD`
Differs only in case.
Its source: `https://shop.example.com/old`
[Edit…]  [Show]  [Check all rules]\
""",
            "it nearly matches, and is off": """\
(white_circle) “Old shop to new shop” doesn’t match
`https://shop.example.com/OLD`
Differs only in case; it is off.
Its source: `https://shop.example.com/old`
[Edit…]  [Show]  [Check all rules]\
""",
            "it can’t be judged, and is off": """\
(grey_question) Can’t tell whether “Odd expression” matches
`https://shop.example.com/old`
Its expression uses lookarounds or backreferences; it is off.
Its source: URL matches `/(?<=old)$/`
[Edit…]  [Show]  [Check all rules]\
""",
            "it does not match": """\
(white_circle) “Old shop to new shop” doesn’t match
`https://shop.example.com/about`
Its source: `https://shop.example.com/old`
[Edit…]  [Show]  [Check all rules]\
""",
            "of many pairs, none matches": """\
(white_circle) “Campaign links” doesn’t match
`https://shop.example.com/about`
Its source: `https://shop.example.com/c/1` or `https://shop.example.com/c/2` or `https://shop.example.com/c/3` or `https://shop.example.com/c/4` or 10 others
[Edit…]  [Show]  [Check all rules]\
""",
            "that can't be told": """\
(grey_question) Can’t tell whether “Odd expression” matches
`https://shop.example.com/old`
Its expression uses lookarounds or backreferences.
Its source: URL matches `/(?<=old)$/`
[Edit…]  [Show]  [Check all rules]\
""",
        }
    )


def test_check() -> None:
    assert texts(rules.check()) == snapshot(
        {
            "nothing is wrong": """\
(white_check_mark) No findings in 2 rules
[Share in channel]\
""",
            "nothing is wrong with what can be judged": """\
(warning) No findings in 1 rule
(warning) Can’t judge “Odd expression”; `/rules which URL` says why.
[Share in channel]\
""",
            "one finding in one rule": """\
1 finding in 1 rule
✗ “Jobs page” never matches “https://jobs.example.com”: a browser sends https://jobs.example.com/.
Correct the source.
[Edit…]  [Switch off “Jobs page”…]
[Share in channel]\
""",
            "a loop": """\
1 finding in 2 rules
(rotating_light) “Old shop to new shop” and “Back to the old shop” loop: https://shop.example.com/old → https://shop.example.com/new → https://shop.example.com/old.
Switch one of them off, or change where it redirects.
[Switch off “Old shop to new shop”…]  [Switch off “Back to the old shop”…]
[Share in channel]\
""",
            "several findings": """\
2 findings in 5 rules
✗ “Jobs page” never matches “https://jobs.example.com”: a browser sends https://jobs.example.com/.
Correct the source.
[Edit…]  [Switch off “Jobs page”…]
(warning) “Old shop to new shop” and “Old shop to the archive” match the same URL: https://shop.example.com/old.
Keep one of them on: their order is not guaranteed.
[Switch off “Old shop to new shop”…]  [Switch off “Old shop to the archive”…]
[Share in channel]\
""",
            "not everything was read or compared": """\
(warning) No findings in 1 rule that could be read
(warning) Only 1 of 60 rules could be read.
(warning) Too many rules to compare each with all others, so some loops and blocks may be missing.
[Share in channel]\
""",
        }
    )


def test_lists() -> None:
    assert texts(rules.lists()) == snapshot(
        {
            "the menu": """\
Traffic rules: find one, ask where a URL goes, or create one
Traffic rules
Find one, to switch, edit, copy or delete it:  <>
[Check a URL…]  [List rules]  [Search rules…]  [Show history…]  [Check all rules]
[Create redirect…]  [Block a URL…]  [Create rule…]  [Switch off…]  [Switch on…]  [Edit rule…]  [Set fields…]  [Copy rule…]  [Delete rule…]
[List groups]  [Switch group…]  [Export rules…]  [Import rules…]\
""",
            "a list": """\
11 rules, page 1 of 2
11 rules
#1 Old shop to new shop · On
`https://shop.example.com/old` → `https://shop.example.com/new`  [Show]
#2 Blog readers to new shop · On
`https://shop.example.com/old` → `https://shop.example.com/new` · only for page domain `blog.example.com`, method `GET`  [Show]
#3 Debug header for support · On
URL contains `https://shop.example.com/`: adds request header `X-Debug`: `1`  [Show]
#4 Summer sale · Off
`https://shop.example.com/old` → `https://shop.example.com/sale`  [Show]
#5 Chat widget · On, but its group “Experiments” is off
`https://shop.example.com/old` → `https://shop.example.com/chat`  [Show]
#6 Campaign links · On
`https://shop.example.com/c/1` → `https://shop.example.com/campaign/1` · and 13 more pairs  [Show]
#7 Block the landing page · On
`https://shop.example.com/landing`: blocked  [Show]
#8 Back to the old shop · On
`https://shop.example.com/new` → `https://shop.example.com/old`  [Show]
#9 New shop to landing page · On
`https://shop.example.com/new` → `https://shop.example.com/landing`  [Show]
#10 Old shop to the archive · On
`https://shop.example.com/old` → `https://archive.example.com/`  [Show]
Page 1 of 2   ·   `#n` in your next command means a row of this list
[Next ›]  [Share in channel]\
""",
            "a list of a group, by last change": """\
1 rule, page 1 of 1
1 rule · group “Sales”, latest change first
#1 Campaign links · On · (file_folder) Sales campaigns · changed 2026-11-18 11:06 UTC
`https://shop.example.com/c/1` → `https://shop.example.com/campaign/1` · and 13 more pairs  [Show]
Page 1 of 1   ·   `#n` in your next command means a row of this list
[Share in channel]\
""",
            "nothing found": """\
No rules found
(mag) No rules · “checkout”
Searched: names, ids, descriptions, URLs and values.
[List all rules]  [Create rule…]\
""",
            "no rules at all": """\
No rules found
(mag) There are no rules yet
[Create rule…]\
""",
            "show Campaign links": """\
Rule “Campaign links”
(large_green_circle) “Campaign links” · On
Pair 1  `https://shop.example.com/c/1` → `https://shop.example.com/campaign/1`
Pair 2  `https://shop.example.com/c/2` → `https://shop.example.com/campaign/2`
Pair 3  `https://shop.example.com/c/3` → `https://shop.example.com/campaign/3`
Pair 4  `https://shop.example.com/c/4` → `https://shop.example.com/campaign/4`
Pair 5  `https://shop.example.com/c/5` → `https://shop.example.com/campaign/5`
Pair 6  `https://shop.example.com/c/6` → `https://shop.example.com/campaign/6`
Pair 7  `https://shop.example.com/c/7` → `https://shop.example.com/campaign/7`
Pair 8  `https://shop.example.com/c/8` → `https://shop.example.com/campaign/8`
Pair 9  `https://shop.example.com/c/9` → `https://shop.example.com/campaign/9`
Pair 10  `https://shop.example.com/c/10` → `https://shop.example.com/campaign/10`
Pair 11  `https://shop.example.com/c/11` → `https://shop.example.com/campaign/11`
Pair 12  `https://shop.example.com/c/12` → `https://shop.example.com/campaign/12`
…and 2 more pairs
Links in the newsletter
Redirect · (file_folder) Sales campaigns · changed 2026-11-18 11:06 UTC · `Redirect_x10`
[Switch off…]  [Edit…]  ⋯ [Copy…]  [Delete]  [Show history]  [Share in channel]\
""",
            "show Chat widget": """\
Rule “Chat widget”
(double_vertical_bar) “Chat widget” · On, but its group “Experiments” is off
`https://shop.example.com/old` → `https://shop.example.com/chat`
Redirect · (file_folder) Experiments · changed 2026-11-18 11:06 UTC · `Redirect_x9`
[Switch off…]  [Edit…]  ⋯ [Copy…]  [Delete]  [Show history]  [Share in channel]\
""",
            "show in the channel": """\
Rule “Old shop to new shop”
(large_green_circle) “Old shop to new shop” · On
`https://shop.example.com/old` → `https://shop.example.com/new`
Redirect · changed 2026-11-18 11:06 UTC · `Redirect_x1`
[Show to me]\
""",
            "groups": """\
2 groups
Sales campaigns · On
12 rules, 11 of them on  [Show]
Experiments · Off, and so are all its rules
1 rule  [Show]
Rules are also in groups that the service doesn’t list: `Group_lost` (2)
[Switch group…]  [Share in channel]\
""",
        }
    )


def test_forms() -> None:
    assert texts(rules.forms()) == snapshot(
        {
            "new": """\
┌ New rule
Type: <Redirect>
From: <https://shop.example.com/old>
To: <>
[Add pair]
Name: <>
Why (optional): <>
[More options]
[Create]\
""",
            "new, with a warning": """\
┌ New rule
(warning) Not saved yet. Press Create anyway if that is what you want.
(warning) “Jobs” never matches “https://jobs.example”: a browser sends https://jobs.example/.
Type: <Redirect>
From: <https://shop.example.com/old>
To: <>
[Add pair]
Name: <>
Why (optional): <>
[More options]
[Create anyway]\
""",
            "new, Cancel": """\
┌ New rule
Type: <Block>
URL: <>
[Add pair]
Name: <>
Why (optional): <>
[More options]
[Create]\
""",
            "new, Replace": """\
┌ New rule
Type: <Replace>
URL (optional): <>
Find: <>
Replace with (optional): <>
[Add pair]
Name: <>
Why (optional): <>
[More options]
[Create]\
""",
            "new, Headers": """\
┌ New rule
Type: <Headers>
URL (optional): <>
A header: `{"type": "Add", "header": "X-Debug", "value": "1"}`. Types: Add, Modify, Remove. `Request` is what the browser sends, `Response` what it gets.
Everything else, as JSON: <{
 "modifications": {
  "Request": [
   {
    "header": "X-Debug",
    "type": "Add",
    "value": "1"
   }
  ],
  "Response": []
 }
}>
[Add pair]
Name: <>
Why (optional): <>
[More options]
[Create]\
""",
            "new, QueryParam": """\
┌ New rule
Type: <Query parameter>
URL (optional): <>
A parameter: `{"type": "Add", "param": "lang", "value": "en"}`. Types: Add, Remove, Remove All.
Everything else, as JSON: <{
 "modifications": [
  {
   "param": "utm_source",
   "type": "Remove",
   "value": ""
  }
 ]
}>
[Add pair]
Name: <>
Why (optional): <>
[More options]
[Create]\
""",
            "edit, with all options": """\
┌ Edit rule
Response `Response_x14`
URL: <https://shop.example.com/api>
Everything else, as JSON: <{
 "response": {
  "type": "static",
  "value": "{\\"a\\": 1}",
  "statusCode": "503"
 },
 "isCompressed": true
}>
How: <is exactly>
Compare: <the whole URL>
[Add pair]  [Edit as JSON]
Name: <Maintenance answer>
Why (optional): <>
Description (optional): <>
Status: <On>
Start (optional): <>
[Save]\
""",
            "edit, two scripts": """\
┌ Edit rule
Script `Script_x15`
URL (optional): <https://shop.example.com/>
Everything else, as JSON  is too long for a form (3,209 characters) and is kept unchanged.
[Add pair]
Name: <Two scripts>
Why (optional): <>
[More options]
[Save]\
""",
            "edit, as JSON": """\
┌ Edit rule
Redirect `Redirect_x6`
Pair, as JSON: <{
 "source": {
  "key": "Url",
  "operator": "Equals",
  "value": "https://shop.example.com/old",
  "filters": [
   {
    "pageDomains": [
     "blog.example.com"
    ],
    "requestMethod": [
     "GET"
    ]
   }
  ]
 },
 "destinationType": "url",
 "destination": "https://shop.example.com/new"
}>
[Add pair]
Name: <Blog readers to new shop>
Why (optional): <>
Description (optional): <>
Status: <On>
Start (optional): <>
[Save]\
""",
            "edit, a destination in two lines": """\
┌ Edit rule
Redirect `Redirect_x17`
From: <https://shop.example.com/>
To  can’t be shown as a field here, and is kept unchanged. To change it, open More options.
[Add pair]
Name: <Two lines>
Why (optional): <>
[More options]
[Save]\
""",
            "edit": """\
┌ Edit rule
Redirect `Redirect_x6`
From: <https://shop.example.com/old>
To: <https://shop.example.com/new>
Also holds `filters`, kept unchanged. To change it, open More options.
[Add pair]
Name: <Blog readers to new shop>
Why (optional): <>
[More options]
[Save]\
""",
            "edit, two pairs": """\
┌ Edit rule
Redirect `Redirect_x13`
Pair 1  [Remove pair]
From: <https://shop.example.com/a>
To: <https://shop.example.com/b>
Pair 2  [Remove pair]
From: <https://shop.example.com/c>
To: <https://shop.example.com/d>
[Add pair]
Name: <Two pairs>
Why (optional): <>
[More options]
[Save]\
""",
            "copy": """\
┌ Copy rule
Redirect `Redirect_x1`
From: <https://shop.example.com/old>
To: <https://shop.example.com/new>
How: <is exactly>
Compare: <the whole URL>
Kind of destination: <a URL>
[Add pair]  [Edit as JSON]
Name: <Old shop to new shop (copy)>
Why (optional): <>
Description (optional): <>
Status: <Off>
Start (optional): <>
Until (optional): <>
[Create]\
""",
        }
    )
