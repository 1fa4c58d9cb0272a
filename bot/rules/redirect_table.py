"""Read a table of redirects (from, to, name, until), and plan a rule for each row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.changes.model.items import ImportRow
from bot.rules.edit import problems
from bot.rules.files import MAX_RULES
from bot.rules.model import ACTIVE, Rule, RuleDraft
from bot.rules.rule_import_plan import Explain, creation
from bot.rules.url import SCHEME, NotAUrl, Url
from bot.text.encoding import file_text
from bot.text.tables import TableRow, read_table


def is_table(content: bytes) -> bool:
    """Whether *content* is a text that can't be JSON with rules; raises BadFile where it is not a text."""
    return not file_text(content).lstrip().startswith(("[", "{"))


def read_redirect_table(content: bytes) -> Sequence[TableRow]:
    """Return the table of redirects in *content*; raises BadFile."""
    return read_table(content, ("from", "to"), ("name", "until"), MAX_RULES)


def plan_redirects(table: Sequence[TableRow], live: Iterable[Rule], explain: Explain) -> Iterator[ImportRow]:
    """Yield what importing each row of *table* would do; new rules are on."""
    there = _exact_sources(live)
    redirects = [_Redirect.of(row) for row in table]
    by_source: dict[str, dict[str, _Redirect]] = {}
    for redirect in redirects:
        by_source.setdefault(redirect.source, {}).setdefault(redirect.destination, redirect)
    for redirect in redirects:
        yield redirect.plan(by_source[redirect.source], there, explain)


@dataclass(frozen=True, slots=True)
class _Redirect:
    """A parsed row: *source* as a browser sends it. *flaw*: what is wrong with the row alone, as the rest of a sentence."""

    row: TableRow
    source: str = ""
    destination: str = ""
    flaw: str = ""

    @classmethod
    def of(cls, row: TableRow) -> _Redirect:
        if row.flaw:
            return cls(row, flaw=row.flaw)
        urls: dict[str, str] = {}
        for column in ("from", "to"):
            if not (text := row.values[column]):
                return cls(row, flaw=f"the column {column} is empty")
            urls[column] = text
            if _exact_url(text) is None:
                return cls(row, flaw=f"“{text[:60]}” in {column} is not a whole URL, such as https://example.com/page")
        if "*" in urls["from"] or "#" in urls["from"]:
            return cls(row, flaw="a source with * or # matches no URL exactly; use a rule of its own")
        destination = urls["to"]
        if not SCHEME.match(destination):
            destination = f"https://{destination.removeprefix('//')}"
        return cls(row, _exact_url(urls["from"]) or "", destination)

    @property
    def title(self) -> str:
        """Return the name of the rule: the one in the table, or its source without a scheme."""
        source = self.source or self.row.values["from"]
        return self.row.values["name"] or (source.partition("://")[2] or source).rstrip("/")

    def plan(self, alike: Mapping[str, _Redirect], there: Mapping[str, tuple[str, str]], explain: Explain) -> ImportRow:
        """Return what to do.

        *alike*: the first row with this source for each destination. *there*: the name and destination of rules by source.
        """
        if self.flaw:
            return self._skip(self.flaw, is_refused=True)
        if len(alike) > 1:
            other = next(each for each in alike.values() if each.destination != self.destination)
            why = f"contradicts line {other.row.line:,}, which has another destination; neither is imported"
            return self._skip(why, is_refused=True)
        if (first := alike[self.destination]) is not self:
            return self._skip(f"the same as line {first.row.line:,}")
        if self.source in there:
            name, destination = there[self.source]
            is_same = destination == self.destination
            return self._skip(f"the rule “{name[:60]}” has this source already", is_refused=not is_same)
        source = {"key": "Url", "operator": "Equals", "value": self.source}
        pair = {"source": source, "destinationType": "url", "destination": self.destination}
        record: dict[str, Any] = {"name": self.title, "ruleType": "Redirect", "status": ACTIVE, "pairs": [pair]}
        draft = RuleDraft.model_validate(record)
        if wrong := problems(draft):
            return self._skip(explain(wrong), is_refused=True)
        return ImportRow(self.row.line, self.title, edit=creation(draft))

    def _skip(self, why: str, *, is_refused: bool = False) -> ImportRow:
        return ImportRow(self.row.line, self.title, why=why, is_refused=is_refused)


def _exact_sources(rules: Iterable[Rule]) -> dict[str, tuple[str, str]]:
    """Return each URL that a rule redirects or blocks by an exact match, with the rule's name and the destination."""
    found: dict[str, tuple[str, str]] = {}
    for rule in rules:
        for pair in (rule.pairs or ()) if rule.rule_type in {"Redirect", "Cancel"} else ():
            if pair.source and pair.source.operator == "Equals" and pair.source.key == "Url":
                url = _exact_url(pair.source.value or "") or ""
                found[url] = (rule.title, pair.destination or "")
    return found


def _exact_url(text: str) -> str | None:
    """Return *text* as the URL that a browser sends; None where it is not a URL with a host."""
    try:
        return None if " " in text else Url.from_typed(text).full
    except NotAUrl:
        return None
