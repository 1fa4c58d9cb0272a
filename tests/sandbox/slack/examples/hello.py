"""First steps with Bolt for Python, as Slack's documentation teaches them: a greeting, a button, a command, a form.

It knows nothing of Gatehouse and nothing of the local Slack but an address.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from slack_bolt import Ack, App, Say
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_sdk import WebClient

app = App(
    client=WebClient(token=os.environ["SLACK_BOT_TOKEN"], base_url=os.environ["SLACK_API_URL"]),
    signing_secret=os.environ.get("SLACK_SIGNING_SECRET"),
)

FORM = {
    "type": "modal",
    "callback_id": "ticket",
    "title": {"type": "plain_text", "text": "New ticket"},
    "submit": {"type": "plain_text", "text": "File"},
    "blocks": [
        {
            "type": "input",
            "block_id": "what",
            "label": {"type": "plain_text", "text": "What is wrong?"},
            "element": {"type": "plain_text_input", "action_id": "text"},
        }
    ],
}


@app.message("hello")
def greet(message: dict[str, Any], say: Say) -> None:
    words = f"Hey there <@{message['user']}>!"
    button = {"type": "button", "text": {"type": "plain_text", "text": "Click me"}, "action_id": "clicked"}
    say(text=words, blocks=[{"type": "section", "text": {"type": "mrkdwn", "text": words}, "accessory": button}])


@app.action("clicked")
def clicked(ack: Ack, body: Mapping[str, Any], say: Say) -> None:
    ack()
    say(f"<@{body['user']['id']}> clicked the button")


@app.command("/ticket")
def ticket(ack: Ack, body: Mapping[str, Any], client: WebClient) -> None:
    ack("One moment")
    client.views_open(trigger_id=body["trigger_id"], view=FORM)


@app.view("ticket")
def filed(ack: Ack, body: Mapping[str, Any], view: Mapping[str, Any], client: WebClient) -> None:
    text = view["state"]["values"]["what"]["text"]["value"]
    if len(text) < 5:
        ack(response_action="errors", errors={"what": "Say a little more"})
        return
    ack()
    client.chat_postMessage(channel=body["user"]["id"], text=f"Filed: {text}")


if __name__ == "__main__":
    if "SLACK_APP_TOKEN" in os.environ:
        handler = SocketModeHandler(app, os.environ["SLACK_APP_TOKEN"])
        handler.start()  # type: ignore[no-untyped-call]  # Bolt's own
    else:
        app.start(port=int(os.environ["PORT"]))
