// Moments as people read them, in the time zone of the person who acts.

const FORMATS = new Map();

function format(zone, options) {
  const key = zone + JSON.stringify(options);
  if (!FORMATS.has(key)) FORMATS.set(key, new Intl.DateTimeFormat("en", { ...options, timeZone: zone }));
  return FORMATS.get(key);
}

/** `zone` if the browser knows it, else the browser's own. */
export function knownZone(zone) {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: zone || undefined }).resolvedOptions().timeZone;
  } catch {
    return Intl.DateTimeFormat().resolvedOptions().timeZone;
  }
}

/** "10:32 AM" */
export function clockTime(seconds, zone) {
  return format(zone, { hour: "numeric", minute: "2-digit" }).format(seconds * 1000);
}

/** "Tuesday, November 21, 2026 at 10:32:05 AM", for a tooltip */
export function fullTime(seconds, zone) {
  return format(zone, { dateStyle: "full", timeStyle: "medium" }).format(seconds * 1000);
}

/** "2026-11-21" of the moment in that zone: what tells one day from the next */
export function dayKey(seconds, zone) {
  const key = `${zone} ${Math.floor(seconds / 900)}`; // every zone begins its days on a quarter of an hour
  if (!DAYS.has(key)) DAYS.set(key, fieldTime(seconds, zone).slice(0, 10));
  return DAYS.get(key);
}

const DAYS = new Map();

/** "Today", "Yesterday" or "Tuesday, November 17" */
export function dayName(seconds, zone, now = Date.now() / 1000) {
  const key = dayKey(seconds, zone);
  if (key === dayKey(now, zone)) return "Today";
  if (key === dayKey(now - 86_400, zone)) return "Yesterday";
  return format(zone, { weekday: "long", month: "long", day: "numeric" }).format(seconds * 1000);
}

function partsOf(seconds, zone) {
  const options = {
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  };
  const parts = format(zone, options).formatToParts(seconds * 1000);
  return Object.fromEntries(parts.map(({ type, value }) => [type, value]));
}

function fieldTime(seconds, zone) {
  const part = partsOf(seconds, zone);
  return `${part.year}-${part.month}-${part.day}T${part.hour}:${part.minute}`;
}

const LONG = { month: "long", day: "numeric", year: "numeric" };
const SHORT = { month: "short", day: "numeric", year: "numeric" };
const NUMBERS = { year: "numeric", month: "2-digit", day: "2-digit" };

const TOKENS = {
  date: (at, zone) => format(zone, LONG).format(at * 1000),
  date_num: (at, zone) => dayKey(at, zone),
  date_slash: (at, zone) => format(zone, NUMBERS).format(at * 1000),
  date_short: (at, zone) => format(zone, SHORT).format(at * 1000),
  date_long: (at, zone) => format(zone, { weekday: "long", ...LONG }).format(at * 1000),
  date_pretty: (at, zone) => near(at, zone) ?? TOKENS.date(at, zone),
  date_short_pretty: (at, zone) => near(at, zone) ?? TOKENS.date_short(at, zone),
  date_long_pretty: (at, zone) => near(at, zone) ?? TOKENS.date_long(at, zone),
  time: (at, zone) => clockTime(at, zone),
  time_secs: (at, zone) => format(zone, { timeStyle: "medium" }).format(at * 1000),
  ago: (at) => ago(at),
};

function near(at, zone) {
  const name = dayName(at, zone);
  if (name === "Today" || name === "Yesterday") return name.toLowerCase();
  return dayKey(at - 86_400, zone) === dayKey(Date.now() / 1000, zone) ? "tomorrow" : null;
}

function ago(at) {
  const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  const seconds = Math.round(at - Date.now() / 1000);
  const steps = [
    ["day", 86_400],
    ["hour", 3600],
    ["minute", 60],
  ];
  const [unit, length] = steps.find(([, size]) => Math.abs(seconds) >= size) ?? ["second", 1];
  return relative.format(Math.round(seconds / length), unit);
}

/** A `<!date^seconds^{tokens}|fallback>`: the text with its tokens filled in, or the fallback when one is unknown. */
export function dateText(seconds, pattern, fallback, zone) {
  if (!Number.isFinite(seconds)) return fallback;
  let unknown = false;
  const text = pattern.replace(/\{(\w+)\}/g, (token, name) => {
    unknown ||= !(name in TOKENS);
    return TOKENS[name]?.(seconds, zone) ?? token;
  });
  if (unknown && fallback) return fallback;
  return text.charAt(0).toUpperCase() + text.slice(1);
}
