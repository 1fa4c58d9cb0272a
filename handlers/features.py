# ruff: noqa: F401  importing them is what fills the table
"""What Gatehouse does: the modules that fill the table of `handlers.slack.registry` when they are imported."""

from __future__ import annotations

import handlers.changes.decisions
import handlers.files.exports
import handlers.files.imports
import handlers.gatehouse.answers
import handlers.gatehouse.home
import handlers.gatehouse.settings
import handlers.members.edit
import handlers.members.form
import handlers.members.segments
import handlers.rules.edit
import handlers.rules.form
import handlers.rules.lookup
import handlers.slack.shortcuts
import handlers.slack.type_ahead
