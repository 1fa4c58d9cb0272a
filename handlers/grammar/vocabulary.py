"""The words that the reader of sentences knows: one table of verbs, and the words that say nothing. No other is understood."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from bot.rules.pair_fields import KNOWN_TYPES
from handlers.grammar.known import word_set
from handlers.grammar.tokens import DASHED

T = TypeVar("T")


class Phrases(dict[str, T]):
    """What phrases mean: ``turn…off``, where other words stand between its two, ``get_rid_of``, where none does."""

    def __init__(self, meanings: Mapping[str, T]) -> None:
        super().__init__(meanings)
        self._starting: dict[str, list[tuple[list[str], bool, T]]] = {}
        for phrase, meaning in sorted(meanings.items(), key=lambda each: -len(re.split("[_…]", each[0]))):
            words = re.split("[_…]", phrase)
            self._starting.setdefault(words[0], []).append((words, "…" in phrase, meaning))

    def find_at(self, words: Sequence[str], at: int) -> tuple[T, list[int]] | None:
        """Return what the longest phrase means that begins at ``words[at]``, and where its words stand; None where none does."""
        phrases = self._starting.get(words[at], ())
        after = words[at + 1 :]
        parted = [
            (at + 1 + after.index(each[1]), to) for each, is_parted, to in phrases if is_parted and each[1] in after
        ]
        for phrase, is_parted, meaning in phrases:
            if is_parted and parted:  # “turn on …, and off at 10”
                end, nearest = min(parted)
                return nearest, [at, end]
            if words[at : at + len(phrase)] == phrase:
                return meaning, [*range(at, at + len(phrase))]
        return None

    def find(self, words: Sequence[str]) -> list[tuple[T, list[int]]]:
        """Return the same for each place in *words* where a phrase begins."""
        return [found for at in range(len(words)) if (found := self.find_at(words, at))]


def map_words(meanings: Mapping[str, str]) -> Phrases[str]:
    """Return what each word or phrase means: *meanings* has those of each meaning."""
    return Phrases({word: meaning for meaning, words in meanings.items() for word in words.split()})


VERBS_OF: Final = map_words(
    {
        "off": "off turn…off turn_of switch…off put…off make…off shut_off shut_down take…down take…offline disable deactivate "
        "desactivate pause stop suspend kill mute unplug",
        "on": "on turn…on switch…on put…on put…live make…on go_live enable activate resume start bring…back put…back restore",
        "delete": "delete remove rm del drop destroy erase nuke bin trash get_rid_of wants…deleted wants…gone",
        "block": "block cancel nobody_should nobody_must",
        "redirect": "redirect forward point reroute send -> => → should_go_to should_point_to to_go_to make…go",
        "make": "make create new add register set_up",
        "set": "change update set rename",
        "edit": "edit modify correct",
        "copy": "copy clone make_a_copy",
        "grant": "grant give upgrade allow let",
        "revoke": "revoke take pull strip withdraw should_not_be shouldn't_be should_lose",
        "offboard": "offboard ban kick left_the_company has_left is_gone leaves leaving remove…everywhere delete…everywhere",
        "move": "move put…in put…into is_now new_mail new_email new_address new_adress moved_to changed…mail changed…email "
        "changed…address has…address",
        "unfreeze": "unfreeze lift lift…freeze cancel…freeze",
        "freeze": "freeze lock no_changes nobody_touch nobody_touches nobody_should_touch nobody_must_touch nobody_should_change",
        "undo": "undo undone revert rollback roll_back take_back take_it_back take_that_back put_it_back bring_it_back",
        "export": "export download as_csv as_excel csv_of",
        "import": "import upload",
        "show": "show send_me get view info find search list see open look ls grep going_on",
        "why": "why explain trace test check match log…in log_in log_into sign…in sign_in",
        "history": "history log changed edited touched last_change latest_change",
    }
)
"""What each verb asks for."""
LOOKING: Final = word_set("show why history export import")
"""What changes nothing."""
OFTEN_NOUNS: Final = word_set(
    "on off new log get look start stop check test match open help info view list block point change set update let make left "
    "send drop bin copy pause see find search history redirect move is_now"
)
"""Verbs only at the beginning of a text, or at its end, since elsewhere they may be a part of a name."""
IDLE: Final = word_set(
    "a an the please pls kindly thanks thank thx cheers hey hi hello oops gatehouse i i'm i've i'd we me you my our need "
    "needs want wants should is are be of and rule url urls link links page pages site segment group member user customer "
    "account access address host also too maybe thing things now right asap again immediately just + &"
)
"""Words that can't make a change another one."""
ASKING: Final = word_set(
    "can could would will should may do does did has have had was were is are am isn't aren't doesn't didn't hasn't can't cannot "
    "what what's whats whos which who who's whom whose when anything where where's how why if whether"
)
"""Words that make a sentence a question, where it begins with one."""
FILLERS: Final = (
    IDLE
    | ASKING
    | word_set(
        "to from at into in on for with by its here there then just so still currently getting going goes go gets got happens "
        "happen wrong point points leads end ends up looping loops working longer any anything some many much count stuff rules "
        "members users customers accounts people about tell through able access reach enter get see log content name that own "
        "say says said writes wrote thats match matches moment under still -"
    )
)
"""Words that the answer to a question may leave out."""
SAYING: Final = word_set("on by my also too wrong looping loops longer working points leads end ends still name log")
"""Those of them that a card of one thing answers, and that say something elsewhere: “my rules”, “sorted by name”."""
BEING: Final = word_set("is are be that that's thats they're still currently isn't aren't isnt arent not what's whats")
"""Words before “on” and “off” as what something is."""
NEGATIONS: Final = word_set(
    "not no never don't dont cannot can't cant isn't aren't isnt arent wasn't doesn't doesnt didn't didnt hasn't haven't "
    "couldn't wont unable"
)
"""Words that make a question another, but not what answers it, where that shows all of a thing."""
REVERSING: Final = NEGATIONS | word_set(
    "without except unless only but if instead unblock excluding shouldn't mustn't nor or wait keep keeps stay stays = / |"
)
"""Words that may reverse a sentence: what it names is shown, and no change is said to be meant."""
EXCEPT: Final = word_set("without except excluding minus but unless apart besides")
"""Words before what is to be left out of a list."""
SPARING: Final = EXCEPT | word_set("keep keeps don't dont never not")
"""Words before what is to stay as it is."""
LACKING: Final = EXCEPT | NEGATIONS | word_set("lack lacks lacking neither nor w/o")
"""Words before a segment that somebody hasn't."""
SEVERAL: Final = word_set("all both every each everyone everybody everything")
PRONOUNS: Final = word_set("it it's this them him her he she they these those")
"""Words for what was named elsewhere. They are never followed there."""
STATUSES: Final = map_words({"off": "off inactive disabled deactivated stopped paused", "on": "on active enabled live"})
TYPES: Final = map_words(
    {name: f"{name.casefold().removesuffix('s')} {name.casefold().removesuffix('s')}s" for name in KNOWN_TYPES}
    | {
        "Script": "script scripts javascript js",
        "Redirect": "redirect redirects redirected redirecting redirection",
        "Cancel": "cancel cancels block blocks blocked blocking",
    }
)
TOPICS: Final = map_words(
    {
        "check": "dead_rules loop loops looping too_many_redirects duplicates do_the_same doing_the_same shadowed twice",
        "segments": "segments each_segment per_segment plan tier",
        "groups": "groups folders",
        "digest": "handover digest summary overview overnight",
        "freezes": "frozen freeze freezes locked",
        "pending": "pending approved waiting approve approval approvals request requests",
        "planned": "timers expire expires expiring temporary ends ending planned plans scheduled starts reverts "
        "live running_out runs_out run_out going_to will by_itself gonna automatically",
        "audit": "change changes changed happened miss",
        "status": "services healthy status broken everything_ok down hangs is_it_you outage",
        "whoami": "permissions rights allowed whoami can_i_do need…approval approvals…need second_person",
    }
)
"""Words for what Gatehouse has a view of."""
PAST: Final = word_set(
    "changed edited touched turned switched deleted removed created made gave granted revoked took did doing done "
    "added approved denied broke messed expired ended ran become renamed ever"
)
"""Words in a question about what was done."""
MEMBERS: Final = word_set("member members user users customer customers account accounts people ppl folks")
SITES_AFTER: Final = word_set("on in at from site")
"""Words before the name of a site."""
TO: Final = word_set("to into -> => → >")
"""Words before the new of two URLs."""
LISTED: Final = frozenset({"rules", "ones"} | {word for word in TYPES if word.endswith("s")}) - TOPICS.keys()
"""Words for the rules of a list."""
NO_NAMES: Final = frozenset().union(
    *(FILLERS, REVERSING, LACKING, PRONOUNS, SEVERAL, PAST, TYPES, STATUSES, TOPICS),
    *(re.split("[_…]", verb) for verb in VERBS_OF),
    word_set(
        ", and or plus types must as because lost lose loses asks tries tried pays paid left keeps more again first second "
        "last one newest oldest other same next permanent ones touching touch called named someone somebody anyone anybody "
        "since until till"
    ),
)
"""Words beside a part of a name that don't belong to it."""
AFTER_ALL: Final = ".,;:!?…"
"""Punctuation that may follow a word and means nothing."""


def bare(text: str) -> str:
    """Return a word as these tables have it: in lower case, without punctuation or dashes and without a possessive ’s."""
    word = DASHED.sub("", text.strip(f"{AFTER_ALL}\ufe0f")).casefold()
    return word if word in FILLERS | REVERSING | PRONOUNS else word.removesuffix("'s")


@dataclass(frozen=True, slots=True)
class Impossible:
    """What people ask for and neither service can do. *nearest*: the command that comes nearest, if there is one; *words*: those
    of the text that ask for it.
    """

    says: str
    nearest: str
    words: tuple[str, ...] = ()


def _read_impossible(table: str) -> Phrases[Impossible]:
    """Return what each phrase asks for; a row of *table* has a sentence, the nearest command, and phrases."""
    rows = [[part.strip() for part in row.split(">")] for row in re.split(r"\n(?=\S)", table.strip())]
    return Phrases({phrase: Impossible(says, nearest) for says, nearest, phrases in rows for phrase in phrases.split()})


IMPOSSIBLE: Final = _read_impossible(
    """
Gatehouse knows no IP addresses: rules match URLs. > rules new block > ip ips vpn firewall
Gatehouse can’t tell countries, browsers or visitors apart: rules match URLs. > > visitors country countries geo europe germany
    russia chrome safari googlebot bots crawlers iphone android device devices my_browser mobile_users cookie cookies
No rule asks for the browser: a UserAgent rule changes what is sent. > rules list type:useragent > user_agent user_agents
Rules have no order: a block wins; of two redirects either may act. > rules check > priority what_order win_over above_the wins
A rule acts for everybody: it can’t be for a share of the visitors. > > percent half_of half_the split 50/50 ab_test rollout
Redirects and blocks have no status code: only a Response rule has one. > rules new response > 301 302 307 404 410 status_code
Gatehouse sends no emails or invitations to members. > > invite email_all mail_all send…email send…mail
Gatehouse can’t see passwords, unlock a login, or sign anybody in or out. > > password passwords pw 2fa credentials unlock
    unlocked logout log_out sign_out sign…out sessions
The members service doesn’t say when somebody signed in. > > last_login last_log logins last_seen last_active didn't_log_in
    logged_in when…log when…login inactive_members
Gatehouse can remove a member, but not erase their personal data. > > gdpr personal_data her_data his_data erasure
Gatehouse reminds nobody, watches nothing, and can’t tell what else a change does. > gatehouse planned > remind reminder alert
    notify_me ping_me let_me_know if…switch if…turn if…off in_case when_somebody when_someone
Gatehouse sees no visits, sales or speed of your site. > > how_often how_many_requests how_many_times hits clicks visits
    stats how_many_visitors how_many_people how_many_ppl much_traffic sell slowing takes_ages conversion revenue billing latency
A change has one start and one end: it can’t repeat. > > daily weekly every_day every_night every_week every_monday cron
The policy says who may do what: ask about one person, with `whoami who:@name`. > gatehouse whoami > who_can_approve
    who_can_delete who_can_change who_can_edit who_may who_approves can…approve let…approve allow…approve give…rights admin
Gatehouse can’t tell what is still needed; a list can be sorted by the last change. > rules list sort:changed > still_need
    still_needed unused stale long_time longest oldest ages nobody…touched haven't…touched
    nobody…changed haven't…changed not_changed
Gatehouse knows no rota, and can’t call or page anybody. > > on_call oncall on_duty rota pager call_me you_page please_page ping
Gatehouse knows no orders, payments or courses. > > orders parcel invoice invoices refund did…pay
Gatehouse undoes one change of its own at a time, on its card. > gatehouse audit > how_it_was how_they_were as_it_was
    way_it_was way_they_were everything…did
Lists can’t show what has no segment or group. > > no_segment no_segments no_group not_in_any_group without_any
One sentence is one change: take away one thing, then give the other. > > swap
Gatehouse can’t compare two things, or do “the same” for another. > > difference_between diff_between compare same_as
Gatehouse lists and changes the members of one site at a time. > members list > not_on_site
Members are changed by name, or as `#1-20` of a list. > > give…everyone grant…everyone take…everyone revoke…everyone
"""
)
"""What can't be done, by the words that ask for it. It is told where a text isn't understood as a whole."""
SPELLED: Final = NO_NAMES.union(*(re.split("[_…]", phrase) for phrase in IMPOSSIBLE))
"""The words that are known although they are misspelled."""


def may_filter(text: str) -> bool:
    """Whether *text*, which is searched for, has a word that may be a filter, or leave something out."""
    words = text.casefold().split()
    return not EXCEPT.isdisjoint(words) or not STATUSES.keys().isdisjoint([*words[:1], *words[-1:]])
