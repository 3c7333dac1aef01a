// Comforts for editors; every page works without them.

import { sent, submitted, takeFiles, told } from "/static/upload.js";

const form = document.querySelector("form[data-upload]");

async function upload(file) {
  const alt = file.name.replace(/\.[^.]*$/, "").replaceAll(/[-_]+/g, " ");
  const added = (await submitted(await sent(form, file), { alt })).querySelector("[data-added]");
  return { id: added.dataset.id, url: added.dataset.url, alt: added.dataset.alt };
}

// For the editor, too: tells how it goes beside the field.
window.keyplanUpload = (file) => told(form, file, upload);

function offer(media) {
  for (const place of document.querySelectorAll("[data-choose]")) {
    const label = document.createElement("label");
    const [input, image] = [document.createElement("input"), document.createElement("img")];
    input.type = place.dataset.kind === "image" ? "radio" : "checkbox";
    input.name = place.dataset.choose;
    input.value = media.id;
    input.checked = true;
    image.src = media.url;
    image.alt = media.alt;
    label.append(input, " ", image);
    place.querySelector("legend").after(label);
  }
}

// Pictures can be dropped on the field for Markdown, too: they are uploaded, and stand where the text goes on.
function takePictures(text) {
  const brings = (event) => [...(event.dataTransfer?.items ?? [])].some((item) => item.kind === "file");
  text.addEventListener("dragover", (event) => brings(event) && event.preventDefault());
  text.addEventListener("drop", async (event) => {
    if (!brings(event)) return;
    event.preventDefault();
    for (const file of [...event.dataTransfer.files]) {
      try {
        const media = await window.keyplanUpload(file);
        const alt = media.alt.replaceAll(/[\\`*_[\]<>&~!]/g, "\\$&");
        text.setRangeText(`\n\n![${alt}](media:${media.id})\n\n`, text.selectionEnd, text.selectionEnd, "end");
      } catch {
        // shown beside the field for uploads; the others may succeed
      }
    }
  });
}

for (const text of document.querySelectorAll("[data-richtext] textarea")) takePictures(text);

// A text file that is chosen goes into a field, where one can see what is sent.
for (const input of document.querySelectorAll("[data-read-into]")) {
  input.closest("[data-scripted]").hidden = false;
  input.addEventListener("change", async () => {
    const [file] = input.files;
    if (file) document.getElementById(input.dataset.readInto).value = await file.text();
  });
}

if (form) {
  const stays = document.querySelector("[data-choose], [data-richtext]");
  takeFiles(form, async (file) => offer(await upload(file)), !stays);
}
