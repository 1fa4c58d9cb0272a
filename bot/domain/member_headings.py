"""What people write above the columns of a table of members, in the languages of the programs that export such tables."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class Column(StrEnum):
    EMAIL = "email"
    NAME = "name"
    FIRST_NAME = "first name"
    LAST_NAME = "last name"
    SEGMENTS = "segments"
    ACTION = "action"


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

LONGEST_HEADING: Final = 100
"""Characters of a heading: putting its accents in order takes time with the square of their number."""


def normal(heading: str) -> str:
    """*heading* as it is looked up: ``E-Mail Adresse`` -> ``emailadresse``. What is longer than any is cut off."""
    plain = unicodedata.normalize("NFKD", heading[:LONGEST_HEADING]).casefold()
    return "".join(character for character in plain if character.isalnum())


WORDS: Final = {
    normal(word): (column, at) for column, words in HEADINGS.items() for at, word in enumerate(words.split())
}


def column_of(heading: str) -> tuple[Column, int] | None:
    """The column that *heading* names, and how telling it is, 0 the most; None for a word that means nothing here."""
    word = normal(heading)
    if (found := WORDS.get(word)) is not None:
        return found
    person = next((each for each in PERSONS if word.startswith(each)), None)
    column, _ = WORDS.get(word.removeprefix(person or ""), (None, 0)) if person else (None, 0)
    return (column, len(WORDS)) if column in OF_PERSONS else None
