// Small improvements for pages that also work without JavaScript.

// Ignores further clicks while a form is being submitted.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.dataset.try !== undefined) return; // the API's pages send these themselves
  if (form.ariaBusy === "true") {
    event.preventDefault();
    return;
  }
  if (form.method === "post") form.ariaBusy = "true";
});

// Tells the server this device's time zone, unless people chose another one, and loads a page with times again in it.
const zone = document.querySelector("meta[name=time-zone]");
const mine = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (zone && mine && mine !== zone.content) {
  const told = `${zone.dataset.cookie}=${encodeURIComponent(mine)}`;
  const isKnown = () => document.cookie.split("; ").includes(told);
  if (!isKnown()) {
    const secure = location.protocol === "https:" ? "; secure" : "";
    document.cookie = `${told}; path=${zone.dataset.path}; max-age=31536000; samesite=lax${secure}`;
    const shows = document.querySelector("time, [type=datetime-local]");
    if (isKnown() && shows && zone.dataset.again !== undefined) location.reload();
  }
}

// A page restored from the browser's cache can be submitted again.
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[aria-busy]")) form.ariaBusy = null;
});

// Screen readers announce a form's errors first.
document.querySelector("[data-focus]")?.focus();
