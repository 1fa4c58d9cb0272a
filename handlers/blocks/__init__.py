"""Block Kit, once: safe text, messages, modals, inputs and menus."""
