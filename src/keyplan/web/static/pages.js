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

// Going back brings back what was typed in a form, in a page that may be loaded again with a new key. The form's first key
// comes back too: sent again as it was, it is the same form, and takes effect once. If something was brought back, so is the
// version that it was typed for, and what the form showed then: what others have changed since isn't replaced unseen.
// Browsers that keep the whole page don't need this; those that can't tell one visit from another do without.
const visit = globalThis.navigation?.currentEntry?.id;
const keyed = [...document.querySelectorAll("form:has(input[name=form]) input[name=idempotency_key]")];
const formOf = (key) => `${key.form.getAttribute("action")} ${key.form.querySelector("input[name=form]").value}`;
const isBroughtBack = (field) => {
  if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
  if (field.tagName === "SELECT") return field.selectedIndex !== Math.max(0, [...field.options].findIndex((each) => each.defaultSelected));
  return "defaultValue" in field && field.type !== "hidden" && field.value !== field.defaultValue;
};
if (visit && keyed.length) {
  const known = JSON.parse(sessionStorage.getItem(`keyplan-keys ${visit}`) ?? "{}");
  const first = (key) => {
    const values = ["idempotency_key", "version", "shown"].map((name) => [name, key.form.elements[name]?.value]);
    return known[formOf(key)] ?? Object.fromEntries(values);
  };
  const shown = Object.fromEntries(keyed.map((key) => [formOf(key), first(key)]));
  const restore = (key, names) => {
    for (const name of names) if (key.form.elements[name]) key.form.elements[name].value = shown[formOf(key)][name];
  };
  for (const key of keyed) restore(key, ["idempotency_key"]);
  window.addEventListener("pageshow", () => {
    for (const key of keyed) if ([...key.form.elements].some(isBroughtBack)) restore(key, ["version", "shown"]);
  });
  sessionStorage.setItem(`keyplan-keys ${visit}`, JSON.stringify(shown));
}

// The browser asks before somebody leaves a page with a text that isn't saved: one that was changed, or refused.
const typed = (form) => new URLSearchParams(new FormData(form)).toString();
const refused = document.querySelector(".problems") !== null;
for (const form of document.querySelectorAll("form[method=post]:not([data-try]):has(textarea:not([readonly]))")) {
  const before = typed(form);
  let leaving = false;
  form.addEventListener("submit", () => (leaving = true));
  window.addEventListener("pageshow", () => (leaving = false));
  window.addEventListener("beforeunload", (event) => {
    if (!leaving && (refused || typed(form) !== before)) event.preventDefault();
  });
}
