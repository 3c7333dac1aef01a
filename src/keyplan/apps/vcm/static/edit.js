// Comforts for editors; every page works without them. Uploads send the same forms as a person would, and take from the
// pages that come back what they need.

async function page(form, values) {
  const body = new URLSearchParams(new FormData(form));
  for (const [name, value] of Object.entries(values ?? {})) body.set(name, value);
  const answer = await fetch(form.action, { method: "POST", body });
  const found = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (!answer.ok) {
    const said = found.querySelector(".problems li") ?? found.querySelector("main p");
    throw new Error(said?.textContent.trim() || "Das ging nicht.");
  }
  return found;
}

const form = document.querySelector("form[data-upload]");
const status = form?.querySelector("[data-status]");

async function upload(file) {
  const asked = await page(form, { contentType: file.type, size: file.size });
  const send = asked.querySelector("form[data-send]");
  if (new URL(send.action).origin !== location.origin) throw new Error("Dateien liegen hier anderswo: nimm den Knopf.");
  const data = new FormData(send);
  data.delete("file");
  data.append("file", file);
  const sent = await fetch(send.action, { method: "POST", body: data });
  if (!sent.ok) throw new Error((await sent.json()).detail);
  const add = asked.querySelector("form[data-add]");
  const alt = file.name.replace(/\.[^.]*$/, "").replaceAll(/[-_]+/g, " ");
  const added = (await page(add, { alt })).querySelector("[data-added]");
  return { id: added.dataset.id, url: added.dataset.url, alt: added.dataset.alt };
}

// For the editor, too: tells how it goes beside the field.
window.keyplanUpload = async (file) => {
  status.textContent = `${file.name} wird gesendet …`;
  try {
    const media = await upload(file);
    status.textContent = `${file.name} ist da.`;
    return media;
  } catch (error) {
    status.textContent = error.message;
    throw error;
  }
};

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

async function take(files) {
  for (const file of files) {
    try {
      offer(await window.keyplanUpload(file));
    } catch {
      return; // it is told
    }
  }
  if (!document.querySelector("[data-choose]") && !document.querySelector("[data-richtext]")) location.reload();
}

// A text file that is chosen goes into a field, where one can see what is sent.
for (const input of document.querySelectorAll("[data-read-into]")) {
  input.closest("[data-scripted]").hidden = false;
  input.addEventListener("change", async () => {
    const [file] = input.files;
    if (file) document.getElementById(input.dataset.readInto).value = await file.text();
  });
}

if (form) {
  const drop = form.querySelector("[data-scripted]");
  const input = form.querySelector("input[type=file]");
  drop.hidden = false;
  form.querySelector("[data-plain]").hidden = true;
  input.addEventListener("change", async () => {
    await take([...input.files]);
    input.value = "";
  });
  for (const name of ["dragover", "dragleave", "drop"]) {
    drop.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.toggle("over", name === "dragover");
      if (name === "drop") take([...event.dataTransfer.files]);
    });
  }
}
