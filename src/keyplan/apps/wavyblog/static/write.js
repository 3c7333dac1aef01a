// Comforts for writing; every page works without them. The scripts send the same forms as a person would, and take from
// the pages that come back what they need.

async function page(form, action, values) {
  const body = new URLSearchParams(new FormData(form));
  for (const [name, value] of Object.entries(values ?? {})) body.set(name, value);
  const answer = await fetch(action, { method: "POST", body });
  const found = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (!answer.ok) {
    const said = found.querySelector(".problems li") ?? found.querySelector("main p");
    throw new Error(said?.textContent.trim() || "That did not work.");
  }
  return found;
}

// Preview in place

for (const button of document.querySelectorAll("[data-preview]")) {
  button.addEventListener("click", async (event) => {
    event.preventDefault();
    let made;
    try {
      made = await page(button.form, button.formAction);
    } catch {
      button.form.noValidate = true;
      button.form.action = button.formAction; // let the browser show what is wrong
      button.form.submit();
      return;
    }
    const preview = document.getElementById("preview");
    preview.replaceChildren(...made.getElementById("preview").children);
    preview.hidden = false;
    preview.scrollIntoView();
  });
}

// Images into the text

const text = document.querySelector("textarea[name=content]");

function insert(markdown) {
  const at = text.selectionStart;
  text.setRangeText(markdown, at, text.selectionEnd, "end");
  const word = markdown.indexOf("[") + 1;
  text.focus();
  text.setSelectionRange(at + word, at + markdown.indexOf("]")); // the description, to be typed over
}

function offerToInsert(item) {
  const field = item.querySelector("[data-markdown]");
  if (!text || !field) return;
  const address = field.value.slice(field.value.indexOf("(") + 1, -1);
  field.parentElement.hidden = true; // no need to copy it by hand
  item.append(
    button("Insert", () => insert(field.value)),
    button("Beside the title", () => {
      text.form.elements.thumbnail_url.value = address;
    }),
  );
}

function button(label, action) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "quiet";
  made.textContent = label;
  made.addEventListener("click", action);
  return made;
}

for (const item of document.querySelectorAll("[data-gallery] > li")) offerToInsert(item);

for (const field of document.querySelectorAll("[data-markdown]")) field.addEventListener("focus", () => field.select());

// Uploads: ask, send, add

const ELSEWHERE = "Files go to another host here: use the button.";

async function upload(form, file) {
  const asked = await page(form, form.action, { content_type: file.type, size: file.size });
  const send = asked.querySelector("form[data-send]");
  if (new URL(send.action).origin !== location.origin) throw new Error(ELSEWHERE); // which only its own page may send to
  const data = new FormData(send);
  data.delete("file");
  data.append("file", file);
  const sent = await fetch(send.action, { method: "POST", body: data });
  if (!sent.ok) throw new Error((await sent.json()).detail);
  const add = asked.querySelector("form[data-add]");
  return (await page(add, add.action)).querySelector("[data-added]");
}

for (const form of document.querySelectorAll("form[data-upload]")) {
  const [scripted, plain] = [form.querySelector("[data-scripted]"), form.querySelector("[data-plain]")];
  const [input, status] = [form.querySelector("input[type=file]"), form.querySelector("[data-status]")];
  scripted.hidden = false;
  plain.hidden = true;
  input.addEventListener("change", async () => {
    const file = input.files[0];
    if (!file) return;
    input.disabled = true;
    status.textContent = `${file.name} is being sent …`;
    try {
      const added = await upload(form, file);
      status.textContent = `${file.name} is there.`;
      const item = document.createElement("li");
      item.append(...added.children);
      offerToInsert(item);
      const gallery = document.querySelector("[data-gallery]");
      if (gallery) gallery.prepend(item);
      else location.reload();
    } catch (error) {
      status.textContent = error.message;
      plain.hidden = error.message !== ELSEWHERE;
    }
    input.value = "";
    input.disabled = false;
  });
}

// A file that is sent from its own page is added as soon as it is there.

const send = document.querySelector("main form[data-send]");
send?.addEventListener("submit", async (event) => {
  event.preventDefault();
  event.stopPropagation();
  const mode = new URL(send.action).origin === location.origin ? "same-origin" : "no-cors";
  const sent = await fetch(send.action, { method: "POST", body: new FormData(send), mode });
  // What another host answers is not told; whether the file is there shows when it is added.
  if (sent.ok || sent.type === "opaque") document.querySelector("form[data-add]").requestSubmit();
  else window.alert((await sent.json()).detail);
});
