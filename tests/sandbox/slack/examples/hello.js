// First steps with Bolt for JavaScript, as Slack's documentation teaches them: a greeting, a button, a command, a form.
// It knows nothing of Gatehouse and nothing of the local Slack but an address.
const { App } = require("@slack/bolt");

const app = new App({
  token: process.env.SLACK_BOT_TOKEN,
  signingSecret: process.env.SLACK_SIGNING_SECRET,
  appToken: process.env.SLACK_APP_TOKEN,
  socketMode: Boolean(process.env.SLACK_APP_TOKEN),
  clientOptions: { slackApiUrl: process.env.SLACK_API_URL },
});

const plain = (text) => ({ type: "plain_text", text });

const form = {
  type: "modal",
  callback_id: "ticket",
  title: plain("New ticket"),
  submit: plain("File"),
  blocks: [
    {
      type: "input",
      block_id: "what",
      label: plain("What is wrong?"),
      element: { type: "plain_text_input", action_id: "text" },
    },
  ],
};

app.message("hello", async ({ message, say }) => {
  const text = `Hey there <@${message.user}>!`;
  const accessory = { type: "button", text: plain("Click me"), action_id: "clicked" };
  await say({ text, blocks: [{ type: "section", text: { type: "mrkdwn", text }, accessory }] });
});

app.action("clicked", async ({ ack, body, say }) => {
  await ack();
  await say(`<@${body.user.id}> clicked the button`);
});

app.command("/ticket", async ({ ack, body, client }) => {
  await ack("One moment");
  await client.views.open({ trigger_id: body.trigger_id, view: form });
});

app.view("ticket", async ({ ack, body, view, client }) => {
  const text = view.state.values.what.text.value;
  if (text.length < 5) {
    await ack({ response_action: "errors", errors: { what: "Say a little more" } });
    return;
  }
  await ack();
  await client.chat.postMessage({ channel: body.user.id, text: `Filed: ${text}` });
});

(async () => {
  await app.start(Number(process.env.PORT));
  console.log("Bolt app is running!");
})();
