// Emoji by Slack's short names: those that an operations bot and its readers use.

const KNOWN = `
+1 👍|thumbsup 👍|-1 👎|thumbsdown 👎|wave 👋|clap 👏|pray 🙏|raised_hands 🙌|ok_hand 👌|point_right 👉|point_left 👈|point_up 👆|point_down 👇|muscle 💪|eyes 👀|raising_hand 🙋
smile 😄|slightly_smiling_face 🙂|grinning 😀|joy 😂|sweat_smile 😅|wink 😉|thinking_face 🤔|neutral_face 😐|confused 😕|disappointed 😞|cry 😢|sob 😭|scream 😱|sunglasses 😎|tada 🎉|robot_face 🤖|see_no_evil 🙈
heart ❤️|star ⭐|star2 🌟|sparkles ✨|fire 🔥|100 💯|rocket 🚀|zap ⚡|boom 💥|zzz 💤|bulb 💡|gem 💎|trophy 🏆
white_check_mark ✅|heavy_check_mark ✔️|ballot_box_with_check ☑️|x ❌|negative_squared_cross_mark ❎|heavy_multiplication_x ✖️|heavy_plus_sign ➕|heavy_minus_sign ➖|heavy_exclamation_mark ❗|exclamation ❗|question ❓|grey_question ❔|grey_exclamation ❕|bangbang ‼️|no_entry ⛔|no_entry_sign 🚫|octagonal_sign 🛑|stop_sign 🛑|warning ⚠️|rotating_light 🚨|construction 🚧|information_source ℹ️|sos 🆘|new 🆕|ok 🆗|up 🆙|free 🆓|cool 🆒
red_circle 🔴|large_orange_circle 🟠|large_yellow_circle 🟡|large_green_circle 🟢|large_blue_circle 🔵|large_purple_circle 🟣|black_circle ⚫|white_circle ⚪|large_red_square 🟥|large_green_square 🟩|large_yellow_square 🟨|large_blue_square 🟦|white_large_square ⬜|black_large_square ⬛|large_blue_diamond 🔷|white_small_square ▫️|black_small_square ▪️|small_blue_diamond 🔹|small_orange_diamond 🔸
mag 🔍|mag_right 🔎|lock 🔒|unlock 🔓|closed_lock_with_key 🔐|key 🔑|hourglass ⌛|hourglass_flowing_sand ⏳|stopwatch ⏱️|timer_clock ⏲️|alarm_clock ⏰|clock1 🕐|clock3 🕒|calendar 📆|date 📅|spiral_calendar_pad 🗓️|bell 🔔|no_bell 🔕|mute 🔇|speech_balloon 💬|thought_balloon 💭|mega 📣|loudspeaker 📢
arrow_right ➡️|arrow_left ⬅️|arrow_up ⬆️|arrow_down ⬇️|arrow_upper_right ↗️|arrow_lower_right ↘️|arrow_right_hook ↪️|leftwards_arrow_with_hook ↩️|arrows_counterclockwise 🔄|arrows_clockwise 🔃|twisted_rightwards_arrows 🔀|repeat 🔁|left_right_arrow ↔️|fast_forward ⏩|rewind ⏪|black_right_pointing_double_triangle_with_vertical_bar ⏭️|arrow_forward ▶️|double_vertical_bar ⏸️|black_square_for_stop ⏹️|back 🔙|soon 🔜|top 🔝
bust_in_silhouette 👤|busts_in_silhouette 👥|id 🆔|technologist 🧑‍💻|cop 👮|guardsman 💂|shield 🛡️|handshake 🤝|card_index 📇|name_badge 📛|ticket 🎫|admission_tickets 🎟️|crown 👑|door 🚪|house 🏠|office 🏢|european_castle 🏰|classical_building 🏛️
wastebasket 🗑️|pencil2 ✏️|pencil 📝|memo 📝|scissors ✂️|paperclip 📎|link 🔗|clipboard 📋|page_facing_up 📄|page_with_curl 📃|books 📚|book 📖|bookmark 🔖|label 🏷️|pushpin 📌|round_pushpin 📍|file_folder 📁|open_file_folder 📂|package 📦|mailbox 📫|inbox_tray 📥|outbox_tray 📤|incoming_envelope 📨|email 📧|envelope ✉️|scroll 📜|receipt 🧾
wrench 🔧|hammer 🔨|hammer_and_wrench 🛠️|gear ⚙️|toolbox 🧰|nut_and_bolt 🔩|electric_plug 🔌|battery 🔋|bug 🐛|test_tube 🧪|computer 💻|desktop_computer 🖥️|globe_with_meridians 🌐|satellite_antenna 📡|chart_with_upwards_trend 📈|chart_with_downwards_trend 📉|bar_chart 📊|traffic_light 🚦|vertical_traffic_light 🚦|motorway 🛣️|railway_track 🛤️|ghost 👻|skull 💀|bomb 💣|fire_extinguisher 🧯|ambulance 🚑|seedling 🌱|snowflake ❄️|sunny ☀️|cloud ☁️|rainbow 🌈|coffee ☕|cake 🍰
one 1️⃣|two 2️⃣|three 3️⃣|four 4️⃣|five 5️⃣|six 6️⃣|seven 7️⃣|eight 8️⃣|nine 9️⃣|keycap_ten 🔟|zero 0️⃣|hash #️⃣|copyright ©️|registered ®️|tm ™️|shopping_trolley 🛒|moneybag 💰|credit_card 💳|newspaper 📰|checkered_flag 🏁|triangular_flag_on_post 🚩|white_flag 🏳️`;

const EMOJI = new Map(
  KNOWN.split(/[|\n]/)
    .filter(Boolean)
    .map((entry) => entry.split(" ")),
);

const SHORTCODE = /:([a-z0-9_+-]+):(?::skin-tone-[2-6]:)?/g;

/** The character of a short name, or null when it is not known here. */
export function emojiOf(name) {
  return EMOJI.get(name) ?? null;
}

/** `text` with every known `:name:` made a character. */
export function withEmoji(text) {
  return text.replace(SHORTCODE, (code, name) => EMOJI.get(name) ?? code);
}

/** Up to `limit` pairs `[name, character]` whose names begin with, or hold, `part`. */
export function emojiLike(part, limit = 8) {
  const names = [...EMOJI.keys()];
  const found = [...names.filter((name) => name.startsWith(part)), ...names.filter((name) => name.indexOf(part) > 0)];
  return found.slice(0, limit).map((name) => [name, EMOJI.get(name)]);
}
