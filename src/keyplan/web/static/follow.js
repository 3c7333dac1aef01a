// Keeps a part of a page up to date: `data-live` is the address it is loaded from, `data-tag` the version that is shown,
// if known. When its `data-status` changes, the whole page is loaded again, because other actions are possible then.
// It isn't loaded while something is entered in a form: then a message says what has changed. Without a connection, another
// one says since when. They are in English unless the part has data-said-ended, -gone, -changed and -lost.
// Its `data-version` is that of what the page's buttons act on: they send the version that is shown now.
// Without this script, people reload the page to see what is new.

const EVERY = 1000; // once a second, so that everybody sees a change within two seconds
const SAID = {
  ended: "You are signed out. Send the form anyway: it comes back as you filled it in when you have signed in again.",
  gone: "This page isn't available anymore. Copy what you entered before you leave it.",
  changed: "This has changed in the meantime. Reload the page when you no longer need what you entered.",
  lost: "No connection. Last updated at {}.",
};
const LOST = 5000; // so long after the last answer, people are told
const live = document.querySelector("[data-live]");
let tag = live?.dataset.tag ?? "";
// A form that was refused, or that is back after its session had ended, already has something in it.
let entered = document.querySelector(".problems, [data-restored]") !== null;
document.addEventListener("input", () => (entered = true));

const said = (what) => live.dataset[`said${what[0].toUpperCase()}${what.slice(1)}`] ?? SAID[what];

// Shows a message on top of the page, and returns its element.
function warn(mark, text) {
  const main = document.querySelector("main");
  const shown = main.querySelector(`[data-${mark}]`) ?? main.insertBefore(document.createElement("p"), main.firstChild);
  shown.className = "warning";
  shown.dataset[mark] = "";
  if (shown.textContent !== text) shown.textContent = text;
  return shown;
}

// Loads the page again, or says why it should be: once something is entered, nobody but the person may drop it.
function reload(why) {
  if (!entered) return location.reload();
  const shown = warn("outdated", said(why));
  shown.role = "alert";
  shown.dataset.outdated = why;
}

let answered = Date.now();

// Says that the page may be out of date, or no longer says it.
function connection(works) {
  if (works) answered = Date.now();
  live.classList.toggle("lost", !works);
  if (works) document.querySelector("[data-lost]")?.remove();
  else if (Date.now() - answered > LOST) {
    const time = new Date(answered).toLocaleTimeString(document.documentElement.lang, { hour: "2-digit", minute: "2-digit" });
    warn("lost", said("lost").replace("{}", time)).role = "status";
  }
}

async function look() {
  const headers = tag ? { "If-None-Match": tag } : {};
  const answer = await fetch(live.dataset.live, { headers, cache: "no-store", signal: AbortSignal.timeout(10 * EVERY) });
  if (answer.status === 429) return 1000 * (Number(answer.headers.get("Retry-After")) || 10);
  if (answer.status >= 500) throw new Error(answer.statusText);
  if (answer.redirected || answer.status === 401 || answer.status === 404) {
    reload(answer.status === 404 ? "gone" : "ended");
    return null;
  }
  if (answer.status === 200) show(await answer.text(), answer.headers.get("ETag") ?? "");
  return EVERY;
}

function show(html, newTag) {
  const known = tag !== "";
  tag = newTag;
  if (!known && html.trim() === live.innerHTML.trim()) return;
  const before = live.querySelector("[data-status]").dataset.status;
  const focused = live.contains(document.activeElement) ? document.activeElement.id : "";
  live.innerHTML = html; // our own server made it, and escaped what people wrote
  if (focused) document.getElementById(focused)?.focus();
  if (live.querySelector("[data-status]").dataset.status !== before) reload("changed");
  else live.dispatchEvent(new CustomEvent("followed"));
  const version = live.querySelector("[data-version]")?.dataset.version;
  if (version) for (const input of document.querySelectorAll("input[name=version]")) input.value = version;
}

async function follow() {
  let wait = EVERY;
  if (!document.hidden) {
    try {
      wait = await look();
      connection(true);
    } catch {
      connection(false);
      wait = 3 * EVERY;
    }
  }
  if (wait !== null) setTimeout(follow, wait);
}

if (live) setTimeout(follow, tag ? EVERY : 300);
