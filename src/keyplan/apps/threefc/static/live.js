// A game's page follows the game. It works without this, too: reload it to see what is new.

const EVERY = 1000; // one look a second, so that everybody knows within two
const live = document.querySelector("[data-live]");
let tag = live.dataset.tag;

async function look() {
  const answer = await fetch(live.dataset.live, { headers: { "If-None-Match": tag }, cache: "no-store" });
  if (answer.status === 429) return 1000 * (Number(answer.headers.get("Retry-After")) || 10);
  if (answer.redirected || answer.status === 404) {
    location.reload(); // signed out, or there is no such game any more
    return null;
  }
  if (answer.status === 200) {
    tag = answer.headers.get("ETag");
    show(await answer.text());
  }
  return EVERY;
}

function show(html) {
  const before = live.querySelector("[data-status]").dataset.status;
  const focused = live.contains(document.activeElement) ? document.activeElement.id : "";
  live.innerHTML = html;
  if (focused) document.getElementById(focused)?.focus();
  // Another status is another page: what can be done is not the same.
  if (live.querySelector("[data-status]").dataset.status !== before) location.reload();
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

setTimeout(follow, EVERY);

// The minute goes on, as long as nobody typed another.

const minute = document.querySelector("[data-clock]");
if (minute) {
  const shown = Number(minute.value);
  const began = Date.now();
  setInterval(() => {
    if (minute.value !== minute.defaultValue) return;
    minute.defaultValue = String(Math.min(999, shown + Math.floor((Date.now() - began) / 60_000)));
    minute.value = minute.defaultValue;
  }, 5000);
}
