// A part of a page that follows what it shows: `data-live` says where it comes from, `data-tag` which state is shown, if
// that is known. Its `data-status` says what can be done: with another, the page is another. Without this script, it
// takes a reload to see what is new.

const EVERY = 1000; // one look a second, so that everybody knows within two
const live = document.querySelector("[data-live]");
let tag = live?.dataset.tag ?? "";

async function look() {
  const answer = await fetch(live.dataset.live, { headers: tag ? { "If-None-Match": tag } : {}, cache: "no-store" });
  if (answer.status === 429) return 1000 * (Number(answer.headers.get("Retry-After")) || 10);
  if (answer.redirected || answer.status === 401 || answer.status === 404) {
    location.reload(); // signed out, or it is no longer there
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
  live.innerHTML = html; // made by our own server, which escapes what people wrote
  if (focused) document.getElementById(focused)?.focus();
  if (live.querySelector("[data-status]").dataset.status !== before) location.reload();
  else live.dispatchEvent(new CustomEvent("followed"));
}

async function follow() {
  let wait = EVERY;
  if (!document.hidden) {
    try {
      wait = await look();
      live.classList.remove("lost");
    } catch {
      live.classList.add("lost"); // no network: what is shown may be old
      wait = 3 * EVERY;
    }
  }
  if (wait !== null) setTimeout(follow, wait);
}

if (live) setTimeout(follow, tag ? EVERY : 300);
