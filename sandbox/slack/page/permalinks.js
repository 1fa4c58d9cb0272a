// Slack's own addresses: those of this workspace lead to places on the page, not out of it.

const ARCHIVE = /^\/archives\/([A-Z0-9]+)(?:\/p(\d+)(\d{6}))?\/?$/;
const FILE = /^\/files\/[A-Z0-9]+\/(F[A-Z0-9]+)(?:\/|$)/;

/** Where `url` leads in the workspace `domain`: `{channel, ts, thread}` or `{file}`; null when it leads elsewhere. */
export function placeOf(url, domain) {
  const { host, pathname, searchParams } = URL.parse(url) ?? {};
  if (host !== `${domain}.slack.com`) return null;
  const [, file] = FILE.exec(pathname) ?? [];
  if (file) return { file };
  const [, channel, seconds, fraction] = ARCHIVE.exec(pathname) ?? [];
  if (!channel) return null;
  return { channel, ts: seconds ? `${seconds}.${fraction}` : null, thread: searchParams.get("thread_ts") };
}

/** Calls `onPlace` in place of the browser for every link within `root` that leads to a place of the workspace `domain()`. */
export function followHere(root, domain, onPlace) {
  const follow = (event) => {
    const link = event.target.closest?.("a[href]");
    const place = link && placeOf(link.href, domain());
    if (!place) return;
    event.preventDefault();
    onPlace(place);
  };
  root.addEventListener("click", follow);
  root.addEventListener("auxclick", follow); // the middle button would open a tab
}
