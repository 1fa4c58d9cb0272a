"""The stand-ins' records, in one SQLite file that survives restarts."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

Record = dict[str, Any]

SCHEMA = """
CREATE TABLE IF NOT EXISTS rules (id TEXT PRIMARY KEY, owner TEXT NOT NULL, position INTEGER, record TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS groups (id TEXT PRIMARY KEY, record TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS members (
    site TEXT NOT NULL, email TEXT NOT NULL, position INTEGER, record TEXT NOT NULL, PRIMARY KEY (site, email));
CREATE INDEX IF NOT EXISTS rules_in_order ON rules (position);
CREATE INDEX IF NOT EXISTS members_in_order ON members (position);
CREATE INDEX IF NOT EXISTS members_in_any_case ON members (site, casefold(email));
CREATE TABLE IF NOT EXISTS sites (site TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS segments (site TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (site, name));
"""


class Database:
    """The records by key, over one connection: SQLite answers in microseconds, so nothing has to wait."""

    def __init__(self, path: str) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        # Safe against a killed process, which is all that a stand-in must survive; a sync for each write would be too slow.
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        self._connection.create_function("casefold", 1, str.casefold, deterministic=True)
        self._connection.executescript(SCHEMA)

    def close(self) -> None:
        self._connection.close()

    @property
    def empty(self) -> bool:
        return self._scalar("SELECT 1 FROM sites") is None and self._scalar("SELECT 1 FROM rules") is None

    def _scalar(self, query: str, *values: object) -> Any:
        row = self._connection.execute(query, values).fetchone()
        return None if row is None else row[0]

    def _records(self, query: str, *values: object) -> list[Record]:
        return [json.loads(text) for (text,) in self._connection.execute(query, values)]

    def rules(self, owner: str) -> list[Record]:
        return self._records("SELECT record FROM rules WHERE owner = ? ORDER BY position", owner)

    def rule(self, rule_id: str) -> tuple[str, Record] | None:
        """Return the key that the rule belongs to, and its record; None without such a rule."""
        row = self._connection.execute("SELECT owner, record FROM rules WHERE id = ?", (rule_id,)).fetchone()
        return None if row is None else (row[0], json.loads(row[1]))

    def put_rule(self, owner: str, record: Record) -> None:
        self._connection.execute(
            "INSERT INTO rules VALUES (?, ?, (SELECT coalesce(max(position), 0) + 1 FROM rules), ?) "
            "ON CONFLICT (id) DO UPDATE SET record = excluded.record",
            (record["id"], owner, json.dumps(record)),
        )

    def delete_rule(self, rule_id: str) -> bool:
        return self._connection.execute("DELETE FROM rules WHERE id = ?", (rule_id,)).rowcount == 1

    def groups(self) -> list[Record]:
        return self._records("SELECT record FROM groups")

    def put_group(self, record: Record) -> None:
        self._connection.execute("INSERT OR REPLACE INTO groups VALUES (?, ?)", (record["id"], json.dumps(record)))

    def group(self, group_id: str) -> Record | None:
        found = self._records("SELECT record FROM groups WHERE id = ?", group_id)
        return found[0] if found else None

    def delete_group(self, group_id: str) -> None:
        """Delete the group; its rules stay, without a group."""
        self._connection.execute("DELETE FROM groups WHERE id = ?", (group_id,))
        for rule_id, text in self._connection.execute("SELECT id, record FROM rules").fetchall():
            if (record := json.loads(text)).get("groupId") == group_id:
                left = json.dumps(record | {"groupId": ""})
                self._connection.execute("UPDATE rules SET record = ? WHERE id = ?", (left, rule_id))

    def sites(self) -> list[str]:
        return [site for (site,) in self._connection.execute("SELECT site FROM sites")]

    def add_site(self, site: str) -> None:
        self._connection.execute("INSERT OR IGNORE INTO sites VALUES (?)", (site,))

    def segments(self, site: str) -> list[str]:
        return [name for (name,) in self._connection.execute("SELECT name FROM segments WHERE site = ?", (site,))]

    def add_segment(self, site: str, name: str) -> None:
        self._connection.execute("INSERT OR IGNORE INTO segments VALUES (?, ?)", (site, name))

    def members(self, site: str) -> list[Record]:
        return self._records("SELECT record FROM members WHERE site = ? ORDER BY position", site)

    def member(self, site: str, email: str, *, any_case: bool) -> Record | None:
        """Return the member with this email; of several that differ in case only, the one with this spelling, else the first."""
        found = self._records(
            "SELECT record FROM members WHERE site = ? AND casefold(email) = casefold(?) ORDER BY email <> ?, position",
            *(site, email, email),
        )
        return next((record for record in found if any_case or record["email"] == email), None)

    def put_member(self, site: str, record: Record) -> None:
        self._connection.execute(
            "INSERT INTO members VALUES (?, ?, (SELECT coalesce(max(position), 0) + 1 FROM members), ?) "
            "ON CONFLICT (site, email) DO UPDATE SET record = excluded.record",
            (site, record["email"], json.dumps(record)),
        )

    def delete_member(self, site: str, email: str) -> bool:
        query = "DELETE FROM members WHERE site = ? AND email = ?"
        return self._connection.execute(query, (site, email)).rowcount == 1

    def wipe(self) -> None:
        for table in ("rules", "groups", "members", "sites", "segments"):
            self._connection.execute(f"DELETE FROM {table}")  # noqa: S608  our own table names
