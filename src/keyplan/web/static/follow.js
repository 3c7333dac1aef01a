// Keeps a part of a page up to date: `data-live` is the address it is loaded from, `data-tag` the version that is shown,
// if known. When its `data-status` changes, the whole page is loaded again, because other actions are possible then.
// It isn't loaded while something is entered in a form: then a message says what has changed, in English unless the part
// has data-said-ended, data-said-gone and data-said-changed.
// Its `data-version` is that of what the page's buttons act on: they send the version that is shown now.
// Without this script, people reload the page to see what is new.

const EVERY = 1000; // once a second, so that everybody sees a change within two seconds
const SAID = {
  ended: "You are signed out. Send the form anyway: it comes back as you filled it in when you have signed in again.",
  gone: "This page isn't available anymore. Copy what you entered before you leave it.",
  changed: "This has changed in the meantime. Reload the page when you no longer need what you entered.",
};
const live = document.querySelector("[data-live]");
let tag = live?.dataset.tag ?? "";
// A form that was refused, or that is back after its session had ended, already has something in it.
let entered = document.querySelector(".problems, [data-restored]") !== null;
document.addEventListener("input", () => (entered = true));

// Loads the page again, or says why it should be: once something is entered, nobody but the person may drop it.
function reload(why) {
  if (!entered) return location.reload();
  const main = document.querySelector("main");
  const said = main.querySelector("[data-outdated]") ?? main.insertBefore(document.createElement("p"), main.firstChild);
  Object.assign(said, { className: "warning", role: "alert" }).dataset.outdated = why;
  said.textContent = live.dataset[`said${why[0].toUpperCase()}${why.slice(1)}`] ?? SAID[why];
}

async function look() {
  const answer = await fetch(live.dataset.live, { headers: tag ? { "If-None-Match": tag } : {}, cache: "no-store" });
  if (answer.status === 429) return 1000 * (Number(answer.headers.get("Retry-After")) || 10);
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
      live.classList.remove("lost");
    } catch {
      live.classList.add("lost"); // no network: what is shown may be out of date
      wait = 3 * EVERY;
    }
  }
  if (wait !== null) setTimeout(follow, wait);
}

if (live) setTimeout(follow, tag ? EVERY : 300);
