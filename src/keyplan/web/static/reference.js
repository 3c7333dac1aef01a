// Lets readers try operations: each has a form that is sent with fetch, and the response is shown under it.

const KEPT = "keyplan-token";
const bearer = document.querySelector("[data-bearer]");

for (const part of document.querySelectorAll("[data-needs-script]")) part.hidden = false;
for (const part of document.querySelectorAll("[data-without-script]")) part.hidden = true;
if (matchMedia("(max-width: 62rem)").matches) document.querySelector("[data-contents]").open = false;

// The token, for as long as the tab is open. Each system has its own.
const kept = `${KEPT} ${location.pathname}`;
bearer.value = sessionStorage.getItem(kept) ?? "";
bearer.addEventListener("input", () => sessionStorage.setItem(kept, bearer.value.trim()));

document.querySelector("[data-token]")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  const told = document.querySelector("[data-token-status]");
  const whom = { sub: form.elements.sub.value.trim(), groups: form.elements.groups.value.trim() };
  try {
    const response = await fetch(form.dataset.token, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(whom),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.detail);
    bearer.value = answer.token;
    sessionStorage.setItem(kept, answer.token);
    told.textContent = `Token for ${whom.sub}, valid for one hour.`;
  } catch (error) {
    told.textContent = `Couldn't get a token: ${error.message}`;
  }
});

// An operation's form as a request.
function requestOf(form) {
  let path = form.dataset.path;
  const query = new URLSearchParams();
  const headers = {};
  let body;
  for (const input of form.querySelectorAll("[data-in]")) {
    const value = input.value;
    if (input.dataset.in === "body") {
      body = value;
      headers["Content-Type"] = "application/json";
    } else if (input.dataset.in === "path") {
      path = path.replace(`{${input.name}}`, encodeURIComponent(value));
    } else if (value !== "") {
      if (input.dataset.in === "query") query.append(input.name, value);
      if (input.dataset.in === "header") headers[input.name] = value;
    }
  }
  if (bearer.value.trim()) headers.Authorization = `Bearer ${bearer.value.trim()}`;
  const address = query.size ? `${path}?${query}` : path;
  return [address, { method: form.dataset.method, headers, body }];
}

function element(name, text, className) {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

async function answerTo(form) {
  const [address, options] = requestOf(form);
  const began = performance.now();
  try {
    const response = await fetch(address, options);
    const text = await response.text();
    const spent = Math.round(performance.now() - began);
    const line = element("p", "", "address");
    const status = element("span", `${response.status} ${response.statusText}`, response.ok ? "status status-good" : "status status-bad");
    line.append(status, element("span", `${options.method} ${address}`, "soft"), element("span", `${spent} ms`, "soft"));
    const headers = element("details", "");
    headers.append(element("summary", "Headers"), element("pre", [...response.headers].map((each) => each.join(": ")).join("\n")));
    return [line, ...(text ? [element("pre", pretty(text))] : []), headers];
  } catch (error) {
    return [element("p", `Request failed: ${error.message}`, "status status-bad")];
  }
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (form.dataset.path === undefined) return;
  event.preventDefault();
  if (form.ariaBusy === "true") return;
  form.ariaBusy = "true";
  const parts = await answerTo(form);
  form.ariaBusy = null;
  const place = form.querySelector("[data-answer]");
  place.replaceChildren(...parts);
  place.hidden = false;
});

// Filters operations by a part of their name or path.
document.querySelector("[data-filter]")?.addEventListener("input", (event) => {
  const wanted = event.target.value.trim().toLowerCase();
  for (const group of document.querySelectorAll("[data-group]")) {
    const entries = [...group.querySelectorAll("[data-entry]")];
    for (const entry of entries) entry.hidden = !entry.dataset.entry.toLowerCase().includes(wanted);
    group.hidden = entries.every((entry) => entry.hidden);
  }
});
