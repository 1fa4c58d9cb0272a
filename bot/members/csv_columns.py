"""Tell which column of a table of members is which: by its heading in a dozen languages, or else by its content."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from bot.text.emails import emails_in


class Column(StrEnum):
    EMAIL = "email"
    NAME = "name"
    FIRST_NAME = "first name"
    LAST_NAME = "last name"
    SEGMENTS = "segments"
    ACTION = "action"


class Mode(StrEnum):
    """What is to become of the people in a table."""

    ADD = "add"
    GRANT = "grant"
    SET = "set"
    REVOKE = "revoke"
    REMOVE = "remove"


ACTION_WORDS: Final[Mapping[Mode, str]] = {
    Mode.ADD: "add new create invite join",
    Mode.GRANT: "grant give allow",
    Mode.SET: "set update replace change edit",
    Mode.REVOKE: "revoke take deny",
    Mode.REMOVE: "remove delete rm offboard kick",
}
ACTIONS: Final = {word: mode for mode, words in ACTION_WORDS.items() for word in words.split()}
"""What people write into a column of actions, in any case of letters."""

HEADINGS: Final[Mapping[Column, str]] = {
    Column.EMAIL: "email emailaddress emails mail mailaddress useremail memberemail customeremail contactemail primaryemail "
    "workemail emailid emailadresse mailadresse courriel adressemail adresseemail adresseélectronique adressecourriel "
    "correo correoelectrónico direccióndecorreo direccióndecorreoelectrónico posta postaelettronica indirizzoemail "
    "indirizzodipostaelettronica correioeletrônico endereçodeemail emailadres mailadres adresemail "
    "epostadress epost eposta epostaadresi sähköposti sähköpostiosoite emailováadresa "
    "почта электроннаяпочта адресэлектроннойпочты емейл имейл пошта електроннапошта адресаелектронноїпошти "
    "メール メールアドレス eメール 邮箱 电子邮件 电子邮箱 電子郵件 이메일 이메일주소 ηλεκτρονικόταχυδρομείο",
    Column.NAME: "name fullname displayname membername customername vollständigername nomcomplet nometprénom "
    "nombrecompleto nombreyapellidos nomecompleto nomeecognome volledigenaam imięinazwisko полноеимя фио повнеім'я піб "
    "adsoyad adısoyadı adsoyadı isimsoyisim namn navn nimi naam celéjméno όνομα 名前 氏名 お名前 姓名 이름 성명",
    Column.FIRST_NAME: "firstname first givenname forename vorname prénom nombre nome primeironome voornaam imię имя ім'я "
    "isim ad adı förnamn fornavn etunimi jméno prenume 名 名字",
    Column.LAST_NAME: "lastname last surname familyname nachname familienname nom nomdefamille apellido apellidos cognome "
    "sobrenome apelido últimonome achternaam nazwisko фамилия прізвище soyad soyadı soyisim efternamn efternavn etternavn "
    "sukunimi příjmení 姓 苗字 성",
    Column.SEGMENTS: "allowedsegments segments segment allowedsegment segmente segmento segmentos segmenti segmenten "
    "segmenty segmenter сегмент сегменты сегменти segmentler セグメント access zugang accès acceso accesso acesso "
    "toegang dostęp доступ erişim åtkomst adgang tilgang アクセス groups group gruppen gruppe groupe groupes grupo grupos "
    "gruppo gruppi groep groepen grupa grupy группа группы група групи grup gruplar grupp grupper skupina skupiny ryhmä "
    "グループ 组 群组 그룹 tags tag étiquettes étiquette etiquetas etiqueta etichette etichetta etykiety etykieta labels label "
    "теги тег метки мітки etiketler etiket taggar タグ 标签 태그 tiers tier plans plan pläne plano planos piano piani "
    "abonnement abonnements abo abbonamento suscripción assinatura abonament tarif tariff tarife "
    "тариф подписка план планы プラン levels level niveau memberships "
    "membership mitgliedschaft adhésion membresía lidmaatschap członkostwo",
    Column.ACTION: "action actions aktion operation op todo do change",
}
"""Each word as people write it, spaces left out; the most telling first: of two columns for one thing, that one is taken.

A word that means a first name and a whole name alike is a first name: alone it names the person all the same.
"""

PERSONS: Final = (
    "buyer", "customer", "purchaser", "purchase", "member", "subscriber", "contact", "cliente", "client", "billing",
    "attendee", "kunden", "klant", "klient",
)  # fmt: skip
"""What shops write before ``email`` or ``name`` where it is a person's; ``Item name`` and ``User name`` are not."""
OF_PERSONS: Final = frozenset({Column.EMAIL, Column.NAME, Column.FIRST_NAME, Column.LAST_NAME})

MAX_HEADING: Final = 100
"""Characters of a heading: putting its accents in order takes time with the square of their number."""


def normal(heading: str) -> str:
    """*heading* as it is looked up: ``E-Mail Adresse`` -> ``emailadresse``. What is longer than any is cut off."""
    plain = unicodedata.normalize("NFKD", heading[:MAX_HEADING]).casefold()
    return "".join(character for character in plain if character.isalnum())


COLUMN_OF_WORD: Final = {
    normal(word): (column, at) for column, words in HEADINGS.items() for at, word in enumerate(words.split())
}


def column_of(heading: str) -> tuple[Column, int] | None:
    """The column that *heading* names, and how telling it is, 0 the most; None for a word that means nothing here."""
    word = normal(heading)
    if (found := COLUMN_OF_WORD.get(word)) is not None:
        return found
    person = next((each for each in PERSONS if word.startswith(each)), None)
    column, _ = COLUMN_OF_WORD.get(word.removeprefix(person or ""), (None, 0)) if person else (None, 0)
    return (column, len(COLUMN_OF_WORD)) if column in OF_PERSONS else None


SEPARATED: Final = re.compile(r"[,;|\n]")
PART: Final = re.compile(r'"[^"]*"|[^,;|\n"]+')
MAX_EMAIL_CELL: Final = 400
"""Characters of what may be an email with a name: a longer cell is none, and not worth the search."""
WORD: Final = re.compile(r"[^\s@]+")
FEW_CELLS: Final = 5
"""Cells that tell nothing by being all different: of more, those of segments come again."""

Columns = dict[Column, int]
Claims = Mapping[Column, Sequence[int]]
"""For each column the places whose headings name it equally well."""
Cells = Mapping[int, Sequence[str]]
"""What stands in each place, without blanks."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where each column is, and how sure that is."""

    columns: Columns
    guessed: frozenset[Column] = frozenset()
    """Columns told by what stands in them alone."""
    claimed: frozenset[Column] = frozenset()
    """Columns that several headings name: which one is meant, only people can tell."""
    chosen: bool = False
    """Whether somebody chose the columns."""

    @property
    def in_doubt(self) -> bool:
        """Whether people should be asked, or asked again: a column of nothing but emails is not a guess."""
        return bool(self.chosen or self.claimed or self.guessed - {Column.EMAIL})


def by_headings(cells: Sequence[str]) -> Claims:
    """The columns that their headings name; empty where *cells* are no headings."""
    found: dict[Column, tuple[int, list[int]]] = {}
    if any(is_email(cell) for cell in cells):
        return {}
    for at, cell in enumerate(cells):
        if (named := column_of(cell)) is None:
            continue
        column, rank = named
        best, places = found.get(column, (rank, []))
        if rank < best:
            best, places = rank, []
        found[column] = best, [*places, at] if rank == best else places
    return {column: places for column, (_, places) in found.items()}


def lay_out(rows: Sequence[Sequence[str]], claims: Claims) -> Layout:
    """The layout by *claims*, and by what the cells of *rows* say. Where headings named something, only the email is
    looked for: what else has a heading that says nothing to us is not ours.
    """
    cells = _texts(rows)
    likely = {column: _likely_places(column, places, cells) for column, places in claims.items()}
    found = {column: places[0] for column, places in likely.items() if len(places) == 1}
    guessed: Columns = {}
    if Column.EMAIL not in likely and (at := _of_emails(cells, found)) is not None:
        guessed[Column.EMAIL] = at
    if not claims and guessed:
        guessed |= _guess_others(cells, guessed)
    return Layout(found | guessed, frozenset(guessed), frozenset(likely) - frozenset(found))


def _texts(rows: Sequence[Sequence[str]]) -> Cells:
    width = max((len(row) for row in rows), default=0)
    return {at: [row[at].strip() for row in rows if at < len(row) and row[at].strip()] for at in range(width)}


def _likely_places(column: Column, places: Sequence[int], cells: Cells) -> Sequence[int]:
    """Those of *places* that something tells from the others; the first of those that say the same anyway."""
    if column is Column.EMAIL:
        most = max(_emails(cells.get(at, ())) for at in places)
        places = [at for at in places if _emails(cells.get(at, ())) == most]
    places = [at for at in places if cells.get(at)] or places
    same = all(cells.get(at) == cells.get(places[0]) for at in places)
    return places[:1] if same else places


def _of_emails(cells: Cells, known: Columns) -> int | None:
    free = [at for at in cells if at not in known.values()]
    best = max(free, key=lambda at: _emails(cells[at]), default=None)
    return best if best is not None and _emails(cells[best]) else None


def _guess_others(cells: Cells, known: Columns) -> Columns:
    found: Columns = {}
    for at in cells:
        if at not in known.values() and (column := _guessed(cells[at])) is not None:
            found.setdefault(column, at)
    return found


def is_heading(first: Sequence[str], columns: Columns) -> bool:
    """Whether the *first* row is one of headings, none of which we know: over the emails stands a word, and no email
    anywhere. What has an ``@`` may be an email with a slip of the pen.
    """
    at = columns.get(Column.EMAIL)
    over = first[at] if at is not None and at < len(first) else ""
    return any(map(str.isalpha, over)) and not any("@" in cell for cell in first)


def is_email(cell: str) -> bool:
    text = cell.strip()
    return len(text) <= MAX_EMAIL_CELL and "\n" not in text and bool(emails_in(text))


def parts(cell: str) -> list[str]:
    """The names in a cell of several, each of which may stand in quotes: ``"vip","gold, old"``."""
    return [part for found in PART.findall(cell) if (part := found.strip().strip('"').strip())]


def _emails(cells: Sequence[str]) -> int:
    return sum(map(is_email, cells))


def _guessed(cells: Sequence[str]) -> Column | None:
    """A column of words for actions, of people's names, or of segments, by what most of its cells look like."""
    if not cells or _emails(cells):
        return None
    if all(cell.casefold() in ACTIONS for cell in cells):
        return Column.ACTION
    names = sum(cell[:1].isupper() and not SEPARATED.search(cell) for cell in cells)
    if 2 * names > len(cells):
        return Column.NAME
    segments = sum(all(WORD.fullmatch(part) for part in parts(cell)) for cell in cells)
    come_again = len(cells) < FEW_CELLS or len(set(cells)) < len(cells)
    return Column.SEGMENTS if 2 * segments > len(cells) and come_again else None
