"""The words that the reader of sentences knows, English and the commonest German and Spanish ones.

Each word is here because a sentence of the corpus needs it. A word in no table is not understood, and the answer says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bot.rules.pair_fields import KNOWN_TYPES
from handlers.grammar.known import word_set


def map_words(meanings: Mapping[str, str]) -> Mapping[str, str]:
    """Return what each word means: *meanings* has the words of each meaning."""
    return {word: meaning for meaning, words in meanings.items() for word in words.split()}


def map_phrases(meanings: Mapping[str, str]) -> Mapping[str, str]:
    """Return the same for phrases, which are separated by commas."""
    return {phrase: meaning for meaning, phrases in meanings.items() for phrase in phrases.split(", ")}


LOOSE: Final = word_set(
    "add edit new why check which list show set copy make on off delete remove grant revoke move rename offboard "
    "group groups help undo history export import "
)
"""Verbs of commands after which a sentence may mean something else: it is read by what it names, not by position."""
EMPTY: Final = word_set(
    "a an the i we me us you my our need needs want is are be should must get gets goes of and rule url urls link page "
    "pages site segment group member user customer account access address host also too again back "
    "die der das den dem ein eine mir und ist sind soll braucht regel gruppe wieder mal "
    "el la los las un una de y se "
)
"""Fillers that can't make a change another one: only these may be ignored in a change, wherever they stand."""
COURTESY: Final = word_set("please pls kindly thanks thank thx cheers hey hi hello oops also too again bitte por favor")
LEADING: Final = word_set("to from at into in on for im auf für en")
"""Fillers that give a role to what follows them; `roles.py` says which changes have which roles."""
PRONOUNS: Final = word_set("it it's that this him her them he she they")
"""Fillers that refer to what was named before."""
PERSONS: Final = word_set("him her he she")
"""Pronouns for somebody, not for a thing."""
ORDINALS: Final[Mapping[str, int]] = {
    word: number
    for number, words in enumerate(("first 1st", "second 2nd", "third 3rd", "fourth 4th", "fifth 5th"), start=1)
    for word in words.split()
}
"""Words for a row of a list, before “one”."""
COUNTS: Final = word_set(
    "all every both everyone everybody everything any anything some many much count stuff one rules members users "
    "customers accounts people regeln reglas mitglieder kunden miembros usuarios clientes "
)
"""Fillers that say how many are meant."""
MEMBERS: Final = word_set(
    "member members user users customer customers account accounts people mitglieder kunden miembros usuarios clientes"
)
"""Words for members, all or some of them."""
EACH: Final = word_set("alle alles jede todos todas all every everything each both")
"""Words that mean all of what follows them."""
AWAY: Final = word_set("away out up instead open redirecting named name")
"""Words that belong to a verb, or introduce a name."""
LATELY: Final = word_set("last change changes")
"""Fillers that say which change is meant."""
FILLERS: Final = (EMPTY | COURTESY | LEADING | PRONOUNS | COUNTS | LATELY) | word_set(
    "can could would during with w/ its now just so then by as there getting going go does do did doing has have had was "
    "were which what who whom whose when where how why called right here currently still cant can't temporarily destination "
    "target able asap touching about that's tell what's where's who's whos segments content become becomes hat temporal "
    "jetzt del wer welche wo wohin quién quien cuáles qué están estan "
)
"""Words that name nothing on their own."""
IDLE: Final = word_set(
    "happens happen wrong points end up away out looping loops redirecting approval open name longer mehr geht funktioniert"
)
"""Words that mean nothing, unless they are part of a name."""
COMPLAINTS: Final = word_set("can't cant cannot couldn't unable")
"""Words in a complaint, such as “can't log in”, which is read as the question why."""
NEGATIONS: Final = word_set(
    "nicht kein keine keinen not don't dont never no cannot isn't aren't wasn't doesn't didn't hasn't haven't"
)
"""Words that make a question another, but not what answers it, where that shows all of a thing."""
CAUTIOUS: Final = NEGATIONS | word_set(
    "außer ausgenommen nur aber wenn falls sino si excepto salvo menos solo sólo "
    "without except unless only but if unblock undelete instead shouldn't mustn't "
    "excluding excluded exempt exempted unaffected untouched "
    "❌ 🚫 ⛔ 👎 🙅 🛑 ✋ ❓ ❔ 🤔 ✅ ✔ ☑ ≠ ¬ = / | "
)
"""Words that may reverse a sentence: what it names is shown, and no change is offered."""
LACKING: Final = word_set(
    "ohne sin without no not but except lacks lack lacking isn't doesn't don't hasn't haven't nor w/o"
)
HAVING: Final = word_set("w/ mit con tiene tienen with have has having who")
"""Words before a segment that say which members are meant."""
QUESTIONS: Final = word_set(
    "wer welche warum wieso wo wohin hat quién quien cuáles qué why what what's whats where where's which who who's "
    "whos whom whose when how is are am does do did can was were has isn't aren't doesn't hasn't"
)
ACTS: Final = map_words(
    {
        "off": "aus ausschalten apaga desactivar off disable deactivate pause stop suspend kill mute unplug",
        "on": "ein an einschalten aktivieren on enable activate resume unpause reactivate start",
        "restore": "restore",
        "delete": "lösch borra elimina delete remove rm del drop destroy erase nuke bin trash",
        "block": "bloquea block cancel",
        "redirect": "redirection redirect send point forward reroute move 301",
        "make": "anlegen eintragen make create new add register",
        "rename": "rename",
        "set": "change update set",
        "edit": "edit modify correct",
        "copy": "copy clone replicate",
        "why": "warum wieso why explain trace debug which test check match",
        "export": "export download",
        "import": "import upload",
        "show": "grep zeig show get view info find search list see open look ls",
        "history": "history log changed edited touched",
        "give": "gib geben freischalten dale dar da give grant upgrade allow let",
        "take": "nimm fuera entziehen quita quitar take revoke downgrade strip",
        "offboard": "raus offboard kick ban",
        "undo": "deshaz undo revert rollback",
        "pending": "freigabe pending waiting approve approval approvals withdraw requests",
        "timers": "timers extend keep",
        "status": "status health broken ok okay up",
        "whoami": "whoami perms permissions",
        "help": "help",
    }
)
PHRASES: Final = map_phrases(
    {
        "off": "turn off, switch off, shut off",
        "down": "shut down, take down",
        "on": "turn on, switch on, go live",
        "block": "nobody should, nobody must",
        "delete": "get rid of",
        "show": "send me",
        "undo": "take back, roll back",
        "make": "set up, dar de alta",
        "restore": "bring back, put back",
        "timers": "running out, runs out",
        "offboard": "dar de baja, de baja, left the company, has left, has quit, has resigned, was fired",
        "redirect": "should go to, should point to, should lead to, should redirect to, should be redirected to, "
        "should end up at",
    }
)
PARTED: Final[Mapping[str, Mapping[str, str]]] = {
    "turn": {"on": "on", "off": "off", "of": "off"},
    "switch": {"on": "on", "off": "off", "of": "off"},
    "log": {"in": "why", "on": "why"},
    "sign": {"in": "why"},
    "put": {"on": "on", "off": "off", "live": "on", "back": "restore"},
    "bring": {"back": "restore"},
    "make": {"live": "on", "on": "on", "off": "off"},
    "mach": {"an": "on", "aus": "off"},
    "schalte": {"ein": "on", "an": "on", "aus": "off", "ab": "off"},
    "take": {"down": "down"},
}
"""Verbs of two words, of which the second may follow the object: “turn old shop off”."""
ONLY: Final = word_set("only just but nur aber solo sólo pero")
"""Words that reverse nothing before the name of a site: “but only on docs”."""
NAMED: Final = word_set("named called name")
SAYS: Final = word_set(
    "is are was were has have had says said will asked wanted works does did it's he's she's they're "
    "ist hat will tiene dice"
)
"""Words that make a clause a statement."""
MAIL: Final = word_set("email e-mail mail emails address adresse emailadresse correo")
"""Words for an email."""
MOVED: Final = MAIL | word_set("now new changed changes jetzt neue ahora nuevo nueva old")
"""Words in a request to change an email; next to two emails they add nothing."""
HARMLESS: Final = word_set("status why show history pending timers whoami help export import")
CHANGING: Final = frozenset(word for word, act in ACTS.items() if act not in HARMLESS)
"""Verbs that ask for a change."""
FILES: Final = word_set("file csv excel spreadsheet tabelle")
"""Words that say that a list is wanted as a file, whatever the verb."""
ENDS: Final = word_set("on off an ein aus")
"""Verbs that may end a sentence."""
OFTEN_NOUNS: Final = word_set(
    "an ein aus da on off ok okay up waiting new log match get look start stop check test keep requests open help"
)
"""Words that are verbs only at the beginning of the text."""
PAST: Final = word_set(
    "turned switched changed deleted removed made created edited touched blocked blocking disabled enabled off "
    "on inactive active live working broken redirecting redirected added happened "
)
"""Words in a question about what was done; they name nothing."""
GIVEN: Final = word_set("gave granted revoked took invited offboarded")
"""Words in a question about what was done to somebody."""
STATUSES: Final = map_words(
    {
        "off": "off inactive deactivated stopped disabled paused deaktiviert deaktivierte deaktivierten "
        "apagadas desactivada desactivadas",
        "on": "on active enabled live",
    }
)
TYPES: Final = map_words(
    {name: f"{name.casefold()} {name.casefold()}s" for name in KNOWN_TYPES}
    | {
        "Redirect": "redirect redirects umleitung umleitungen weiterleitungen",
        "Cancel": "cancel cancels blocks blocked blocking",
    }
)
TOPICS: Final = map_words(
    {
        "check": "loop loops bucle bucles circles duplicate duplicates shadowed conflict conflicts fighting",
        "segments": "segments plan plans tier tiers segmento segmentos",
        "groups": "groups folders",
        "freezes": "frozen freeze freezes froze",
        "pending": "approve approval approvals",
        "timers": "timers expire expires expiring temporary ends ending planned scheduled",
        "changed": "change changes changed changing happened summary pasó passiert cambios",
        "status": "services hangs",
        "settings": "notify notifications settings",
        "whoami": "permissions allowed",
    }
)
"""Words for the topics that Gatehouse has a view of; a view is shown where a text names no thing."""
BECAUSE: Final = frozenset({"weil", "wegen", "porque", "because", "cause", "cuz", "bc", "coz", "since"})
ARROWS: Final = frozenset({"->", "-->", "=>", "→", ">"})
GREETINGS: Final = word_set("hey hi hello please gatehouse @gatehouse so ok and")
CAN: Final = word_set("can could would will puede puedes podrías kannst können könnt")
WHO_CAN: Final = word_set("you u we somebody someone anybody anyone du ihr sie")
CONTRACTED: Final[Mapping[str, str]] = {
    word.replace("'", ""): word
    for words in (FILLERS, QUESTIONS, CAUTIOUS, LACKING, SAYS)
    for word in words
    if "'" in word and word != "it's"
}
"""Words that are often typed without their apostrophe."""
AFTER_ALL: Final = ".,;:!?…"
"""Punctuation that may follow a word and means nothing."""


def bare(text: str) -> str:
    """Return a word as these tables have it: in lower case, without punctuation around it and without a possessive ’s."""
    word = text.strip(f"{AFTER_ALL}\ufe0f").casefold()  # the sign that shows a character as an emoji
    word = CONTRACTED.get(word, word)
    # “who's” and “that's” are words of their own, not possessives.
    return word if word in QUESTIONS or word in FILLERS else word.removesuffix("'s")


def points(text: str) -> bool:
    """Whether *text* names nothing, and refers to what was shown before: “it”, “the second one”."""
    words = {bare(word) for word in text.split()}
    return not words.isdisjoint(PRONOUNS | ORDINALS.keys()) and words <= FILLERS | ORDINALS.keys()
