// Enhancements for writing. Every page works without them.

import { sent, submitted, takeFiles, told } from "/static/upload.js";

// Preview in place

for (const button of document.querySelectorAll("[data-preview]")) {
  button.addEventListener("click", async (event) => {
    event.preventDefault();
    let made;
    try {
      made = await submitted(button.form, {}, button.formAction);
    } catch {
      button.form.noValidate = true;
      button.form.action = button.formAction; // show the page with the errors
      button.form.requestSubmit();
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
  text.setSelectionRange(at + word, at + markdown.indexOf("]")); // select the description, to be replaced
}

function offerToInsert(item) {
  const field = item.querySelector("[data-markdown]");
  if (!text || !field) return;
  const address = field.value.slice(field.value.indexOf("(") + 1, -1);
  field.parentElement.hidden = true; // the buttons replace copying by hand
  item.append(
    button("Insert image", () => insert(field.value)),
    button("Use as cover", () => {
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

// Uploads

const gallery = document.querySelector("[data-gallery]");

async function add(form, file) {
  const added = (await submitted(await sent(form, file))).querySelector("[data-added]");
  const markdown = added.querySelector("[data-markdown]").value;
  if (gallery) {
    const item = document.createElement("li");
    item.append(...added.children);
    offerToInsert(item);
    gallery.prepend(item);
  }
  return markdown;
}

for (const form of document.querySelectorAll("form[data-upload]")) {
  takeFiles(form, (file) => add(form, file), !gallery);
  text?.addEventListener("paste", (event) => {
    const images = [...event.clipboardData.files];
    if (images.length) event.preventDefault();
    for (const image of images) told(form, image, (file) => add(form, file)).then(insert, () => {}); // the error is shown beside the field
  });
}
