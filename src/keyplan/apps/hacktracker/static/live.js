// A game that is being played: what others score is shown within two seconds.

const EVERY = 1_200;
const live = document.querySelector("[data-live]");
let tag = "";

async function look() {
  const answer = await fetch(live.dataset.live, { headers: tag ? { "If-None-Match": tag } : {}, cache: "no-store" });
  if (answer.status === 429) return 1000 * (Number(answer.headers.get("Retry-After")) || 10);
  if (answer.redirected || answer.status === 401 || answer.status === 404) {
    location.reload(); // signed out, or there is no such game any more
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
  live.innerHTML = html; // made by our own server, which escapes what people wrote
  // Another status is another page: what can be done is not the same.
  if (live.querySelector("[data-status]").dataset.status !== before) location.reload();
  else live.dispatchEvent(new CustomEvent("scored"));
}

async function follow() {
  let wait = EVERY;
  if (!document.hidden) {
    try {
      wait = await look();
    } catch {
      // No network on the field just now: the next look may have more luck.
    }
  }
  if (wait !== null) setTimeout(follow, wait);
}

if (live) setTimeout(follow, 300);
