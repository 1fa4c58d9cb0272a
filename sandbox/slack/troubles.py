"""The faults that the page's "Break it" panel can switch on and off: a table of rows, each with its normal choice first."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sandbox.slack.delivery import Delivery
from sandbox.slack.faults import KINDS, SlackFaults
from sandbox.slack.ratelimits import RateLimits
from sandbox.slack.sockets import Sockets
from sandbox.slack.state import State
from sandbox.slack.tickets import RESPONSE_LIFE, RESPONSE_USES, TRIGGER_LIFE

Choices = Mapping[str, str]
"""The words for each value; the first is the normal one."""

ALWAYS: Final = 1_000_000
TIMES: Final = {"1": "the next call", "3": "the next 3 calls", str(ALWAYS): "every call"}
METHODS: Final = {
    "": "any method",
    **{name: name for name in ("chat.postMessage", "chat.update", "views.open", "views.update", "users.info")},
}


@dataclass(slots=True)
class Trouble:
    """One row of the panel: *now* returns its choice, *choose* changes it."""

    name: str
    group: str
    label: str
    about: str
    choices: Choices
    now: Callable[[], str]
    choose: Callable[[str], None]

    @property
    def normal(self) -> str:
        return next(iter(self.choices))

    def apply(self, asked: Mapping[str, str]) -> None:
        """Choose as *asked*; raises ValueError where there is no such choice."""
        self.choose(_require_choice(self.choices, asked.get("choice", self.normal)))

    def page_data(self) -> dict[str, Any]:
        now = self.now()
        return {
            "name": self.name,
            "group": self.group,
            "label": self.label,
            "about": self.about,
            "choice": now,
            "choices": _choice_list(self.choices),
            "is_on": now != self.normal,
        }


@dataclass(slots=True)
class Faulty(Trouble):
    """A row of faults that are used up: which calls meet one, and how many."""

    which: Choices = field(default_factory=dict)
    waiting: list[Any] = field(default_factory=list)
    """The faults themselves, each with its ``times`` left."""
    add: Callable[[str, str, int], None] = lambda _kind, _which, _times: None
    chosen: dict[str, str] = field(default_factory=dict)

    def apply(self, asked: Mapping[str, str]) -> None:
        kind = _require_choice(self.choices, asked.get("choice", ""))
        which = _require_choice(self.which, asked.get("which") or next(iter(self.which)))
        times = _require_choice(TIMES, asked.get("times") or next(iter(TIMES)))
        self.choose(kind)
        self.chosen = {"which": which, "times": times}
        if kind:
            self.add(kind, which, int(times))

    def page_data(self) -> dict[str, Any]:
        left = sum(one.times for one in self.waiting)
        return {
            **Trouble.page_data(self),
            "which": _choice_list(self.which),
            "times": _choice_list(TIMES),
            "chosen": self.chosen,
            "left": left if 0 < left < ALWAYS / 2 else None,
        }


def fault_row(
    name: str, group: str, about: str, kinds: Choices, which: Choices, waiting: list[Any], add: Callable[..., None]
) -> Faulty:
    """Return a row for scripted faults; *add* takes kind, which calls, how many; *waiting* is where they wait."""

    def now() -> str:
        return next((str(one.kind) for one in waiting if one.times > 0), "")

    choices = {"": "as they should", **kinds}
    return Faulty(
        name,
        group,
        "Calls are answered",
        about,
        choices,
        now,
        lambda _: waiting.clear(),
        which=which,
        waiting=waiting,
        add=add,
    )


@dataclass(frozen=True, slots=True)
class Scene:
    """Several rows at once, as in real life; *hint* says what to try then. *choices*: what is asked of each row."""

    name: str
    label: str
    hint: str
    choices: Mapping[str, Mapping[str, str]]


@dataclass(slots=True)
class Troubles:
    """All rows, and their routes for the page."""

    state: State
    rows: list[Trouble] = field(default_factory=list)
    scenes: list[Scene] = field(default_factory=list)

    def page_data(self) -> dict[str, Any]:
        scenes = [
            {"name": one.name, "label": one.label, "hint": one.hint, "is_on": self._is_on(one)} for one in self.scenes
        ]
        return {"troubles": [row.page_data() for row in self.rows], "scenes": scenes}

    def _is_on(self, scene: Scene) -> bool:
        return all(self._row(name).now() == asked["choice"] for name, asked in scene.choices.items())

    def _row(self, name: str) -> Trouble:
        row = next((one for one in self.rows if one.name == name), None)
        if row is None:
            raise ValueError(f"there is no {name!r} to break")
        return row

    def apply(self, name: str, asked: Mapping[str, str]) -> None:
        """Make a choice in the row *name*; raises ValueError if there is no such row or choice."""
        self._row(name).apply(asked)
        self._notify_page()

    def play(self, name: str) -> None:
        """Break what the scene *name* breaks, and nothing else; raises ValueError if there is no such scene."""
        scene = next((one for one in self.scenes if one.name == name), None)
        if scene is None:
            raise ValueError(f"there is no scene {name!r}")
        self._reset_rows()
        for row, asked in scene.choices.items():
            self._row(row).apply(asked)
        self._notify_page()

    def mend(self) -> None:
        """Set every row back to its normal choice."""
        self._reset_rows()
        self._notify_page()

    def _reset_rows(self) -> None:
        for row in self.rows:
            row.apply({"choice": row.normal})

    def _notify_page(self) -> None:
        self.state.notify({"type": "troubles", **self.page_data()})

    def routes(self, guarded: Callable[[Any], Any], posted: Callable[[Any], Any]) -> list[Route]:
        """Return the routes for the page; *guarded* and *posted*: the wrappers of its other endpoints."""
        posts = {"break": self._break, "scene": self._play_scene, "mend": self._mend}
        return [
            Route("/_local/troubles", guarded(self._list)),
            *(Route(f"/_local/{name}", guarded(posted(act)), methods=["POST"]) for name, act in posts.items()),
        ]

    async def _list(self, _: Request) -> Response:
        return JSONResponse(self.page_data())

    async def _break(self, asked: dict[str, Any]) -> dict[str, Any]:
        self.apply(str(asked["name"]), {name: str(value) for name, value in asked.items()})
        return {"ok": True, **self.page_data()}

    async def _play_scene(self, asked: dict[str, Any]) -> dict[str, Any]:
        self.play(str(asked["name"]))
        return {"ok": True, **self.page_data()}

    async def _mend(self, _: dict[str, Any]) -> dict[str, Any]:
        self.mend()
        return {"ok": True, **self.page_data()}


def setting_row(
    name: str, group: str, label: str, about: str, owner: object, attribute: str, values: Mapping[str, tuple[str, Any]]
) -> Trouble:
    """Return a row that sets *attribute* of *owner*; *values*: words and meaning by choice, the normal one first."""

    def now() -> str:
        held = getattr(owner, attribute)
        return next((choice for choice, (_, meant) in values.items() if meant == held), next(iter(values)))

    def choose(choice: str) -> None:
        setattr(owner, attribute, values[choice][1])

    return Trouble(name, group, label, about, {choice: words for choice, (words, _) in values.items()}, now, choose)


TO_BOT: Final = "Slack calls the bot"
FROM_BOT: Final = "The bot calls Slack"


def slack_troubles(
    state: State, delivery: Delivery, faults: SlackFaults, limits: RateLimits, sockets: Sockets
) -> list[Trouble]:
    """Return the rows for faults on Slack's side; those of Socket Mode only where the app uses it."""
    lags = {"prompt": ("in time", 0.0), "slow": ("a second late", 1.0), "lost": ("lost, Slack gives up", math.inf)}
    copies = {"once": ("once", False), "twice": ("twice", True)}
    skews = {"right": ("right", 0.0), "slow": ("6 minutes slow", -360.0), "fast": ("6 minutes fast", 360.0)}
    lives = {"fresh": ("good for 3 seconds", TRIGGER_LIFE), "expired": ("expired on arrival", -1.0)}
    urls = {
        "fresh": ("good for half an hour", (RESPONSE_LIFE, 0)),
        "expired": ("expired on arrival", (-1.0, 0)),
        "used": ("used up on arrival", (RESPONSE_LIFE, RESPONSE_USES)),
    }
    uploads = {"on": ("allowed", False), "off": ("switched off by an admin", True)}
    tiers = {"off": ("not enforced", False), "on": ("enforced, as by Slack", True)}
    cuts = {"stays": ("stays up", 0), "cut": ("cut with the next envelope", 1)}

    def make_row(name: str, group: str, label: str, about: str, place: tuple[object, str], values: Any) -> Trouble:
        return setting_row(name, group, label, about, *place, values)

    socket = make_row("socket", TO_BOT, "Socket Mode", "The connection breaks in the middle.", (sockets, "cuts"), cuts)
    return [
        make_row("ack", TO_BOT, "Acknowledgement", "The bot works; Slack hears of it late.", (delivery, "lag"), lags),
        make_row("copies", TO_BOT, "Deliveries come", "As after a lost answer.", (delivery, "twice"), copies),
        make_row("clock", TO_BOT, "Slack's clock is", "Five minutes off is refused.", (delivery, "skew"), skews),
        make_row("triggers", TO_BOT, "Triggers are", "Without one no form opens.", (state, "trigger_life"), lives),
        make_row(
            "urls", TO_BOT, "Response URLs are", "An answer needs another way.", (state, "new_response_urls"), urls
        ),
        *([socket] if sockets.is_enabled else []),
        make_row("uploads", FROM_BOT, "File uploads are", "No file gets in.", (state.files, "is_disabled"), uploads),
        make_row("limits", FROM_BOT, "Rate limits are", "Per method and channel.", (limits, "is_on"), tiers),
        fault_row(
            *("slack", FROM_BOT, "The Web API refuses, fails, or its answer is lost."),
            *(KINDS, METHODS, faults.waiting),
            lambda kind, method, times: faults.add(kind, method=method, times=times, seconds=2),
        ),
    ]


def _require_choice(choices: Choices, value: str) -> str:
    if value not in choices:
        raise ValueError(f"{value!r} is none of {', '.join(choices)}")
    return value


def _choice_list(choices: Choices) -> list[dict[str, str]]:
    return [{"value": value, "words": words} for value, words in choices.items()]
