"""The words that the reader of sentences knows: one table of verbs, and the words that say nothing. No other is understood."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bot.rules.pair_fields import KNOWN_TYPES
from handlers.grammar.known import word_set


def map_words(meanings: Mapping[str, str]) -> Mapping[str, str]:
    """Return what each word means: *meanings* has the words of each meaning."""
    return {word: meaning for meaning, words in meanings.items() for word in words.split()}


VERBS_OF: Final = map_words(
    {
        "off": "off turn…off turn_off turn…of turn_of switch…off switch_off put…off put_off make…off shut_off shut_down "
        "take…down take_down disable deactivate pause stop suspend kill mute unplug",
        "on": "on turn…on turn_on switch…on switch_on put…on put_on put…live make…live make…on go_live enable activate "
        "resume unpause reactivate start bring…back bring_back put…back put_back restore",
        "delete": "delete remove rm del drop destroy erase nuke bin trash get_rid_of",
        "block": "block cancel nobody_should nobody_must",
        "redirect": "redirect forward point reroute send 301 -> --> => → should_go_to should_point_to should_lead_to "
        "should_redirect_to should_be_redirected_to should_end_up_at",
        "make": "make create new add register set_up",
        "set": "change update set rename",
        "edit": "edit modify correct",
        "copy": "copy clone replicate",
        "grant": "grant give upgrade allow let",
        "revoke": "revoke take strip downgrade",
        "offboard": "offboard ban kick kick_out left_the_company has_left has_quit has_resigned was_fired",
        "move": "move is_now",
        "undo": "undo revert rollback roll_back take_back",
        "export": "export download",
        "import": "import upload",
        "show": "show send_me get view info find search list see open look ls grep",
        "why": "why explain trace debug test check match log…in log_in sign…in sign_in",
        "history": "history log changed edited touched",
        "pending": "pending waiting approve approval approvals requests",
        "planned": "planned timers extend running_out runs_out",
        "status": "status health broken",
        "whoami": "whoami can_i_do who_am_i perms permissions",
        "help": "help",
    }
)
"""What each verb asks for. ``turn…off``: other words stand between its two; ``get_rid_of``: none does."""
LOOKING: Final = word_set("show why history pending planned status whoami help export import")
"""What changes nothing."""
OFTEN_NOUNS: Final = word_set(
    "on off new log get look start stop check test match open help info view list block point change set update let make left "
    "send drop bin copy pause see find search waiting requests broken status history redirect move is_now"
)
"""Verbs only at the beginning of a text, or at its end, since elsewhere they may be a part of a name."""
IDLE: Final = word_set(
    "a an the please pls kindly thanks thank thx cheers hey hi hello oops gatehouse @gatehouse i we me us you my our need "
    "needs want wants is are be of and rule url urls link page site segment group member user customer account access "
    "address host also too"
)
"""Words that can't make a change another one."""
AT_ONCE: Final = word_set("now right asap again")
"""Words that can't either, where the change has no start."""
ASKING: Final = word_set(
    "can could would will should may do does did has have had was were is are am isn't aren't doesn't didn't hasn't "
    "can't cannot what what's which who who's whom whose when where where's how why if whether"
)
"""Words that make a sentence a question, where it begins with one."""
FILLERS: Final = (
    IDLE
    | AT_ONCE
    | ASKING
    | word_set(
        "to from at into in on for with by its here there then just so still currently getting going goes go gets got "
        "happens happen wrong points leads end ends up out looping loops working longer any anything some many much count stuff "
        "rules members users customers accounts people about tell through able access reach enter get see log content name that"
    )
)
"""Words that the answer to a question may leave out."""
NEGATIONS: Final = word_set(
    "not no never don't dont cannot can't cant isn't aren't wasn't doesn't doesnt didn't didnt hasn't haven't couldn't unable"
)
"""Words that make a question another, but not what answers it, where that shows all of a thing."""
REVERSING: Final = NEGATIONS | word_set(
    "without except unless only but if instead unblock undelete excluding excluded exempt exempted unaffected untouched "
    "shouldn't mustn't nor ❌ 🚫 ⛔ 👎 🙅 🛑 ✋ ❓ ❔ 🤔 ≠ ¬ = / |"
)
"""Words that may reverse a sentence: what it names is shown, and no change is said to be meant."""
LACKING: Final = word_set(
    "without no not but except lack lacks lacking doesn't doesnt don't dont hasn't haven't isn't w/o"
)
"""Words before a segment that somebody hasn't."""
SEVERAL: Final = word_set("all both every each everyone everybody everything")
PRONOUNS: Final = word_set("it it's this them him her he she they these those")
"""Words for what was named elsewhere. They are never followed there."""
STATUSES: Final = map_words({"off": "off inactive disabled deactivated stopped paused", "on": "on active enabled live"})
TYPES: Final = map_words(
    {name: f"{name.casefold()} {name.casefold()}s" for name in KNOWN_TYPES}
    | {
        "Redirect": "redirect redirects redirected redirecting redirection",
        "Cancel": "cancel cancels block blocks blocked blocking",
    }
)
TOPICS: Final = map_words(
    {
        "check": "loop loops circles duplicate duplicates shadowed conflict conflicts fighting",
        "segments": "segments plan plans tier tiers",
        "groups": "groups folders",
        "freezes": "frozen freeze freezes",
        "pending": "pending waiting approve approval approvals requests",
        "planned": "timers expire expires expiring temporary ends ending planned scheduled",
        "changed": "change changes changed changing happened",
        "status": "services health status broken",
        "settings": "notify notifications settings",
        "whoami": "permissions allowed whoami",
    }
)
"""Words for what Gatehouse has a view of."""
PAST: Final = word_set(
    "changed edited touched turned switched deleted removed created disabled enabled gave granted revoked took did"
)
"""Words in a question about what was done."""
FILES: Final = word_set("file csv excel spreadsheet")
"""Words that say that a list is wanted as a file, whatever the verb."""
MEMBERS: Final = word_set("member members user users customer customers account accounts people")
SITES_AFTER: Final = word_set("on in at from site")
"""Words before the name of a site."""
TO: Final = word_set("to into -> --> => → >")
"""Words before the new of two URLs."""
BECAUSE: Final = word_set("because cause cuz bc coz since")
AFTER_ALL: Final = ".,;:!?…"
"""Punctuation that may follow a word and means nothing."""


def bare(text: str) -> str:
    """Return a word as these tables have it: in lower case, without punctuation around it and without a possessive ’s."""
    word = text.strip(f"{AFTER_ALL}\ufe0f").casefold()
    return word if word in FILLERS | REVERSING | PRONOUNS else word.removesuffix("'s")
