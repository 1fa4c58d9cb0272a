"""What handlers refuse is logged by its kind alone."""

from __future__ import annotations

from handlers.errors import NoMember, Refusal
from handlers.slack import registry

registry.load()


def test_a_refusal_holds_emails_where_no_log_shows_them() -> None:
    error = NoMember("anna@example.com", "blog")

    assert error.email == "anna@example.com"
    assert "anna" not in f"{error} {error!r}"
    assert [kind for kind in Refusal.__subclasses__() if kind.__repr__ is not Exception.__repr__] == []


def test_each_refusal_has_words_of_its_own() -> None:
    kinds = Refusal.__subclasses__()

    assert {kind.__name__ for kind in kinds} >= {"NoMember", "NotOne"}, "those of other modules are among them"
    assert [kind.__name__ for kind in kinds if kind.words is Refusal.words] == []
