// Uploads files from a page: ask, send, confirm. It submits the forms that a person submits without scripts, and reads
// the next form from the page that comes back.
//
// <form data-upload data-most="bytes"> asks. In it is [data-scripted], hidden, with a file field that says what it takes
// (accept, and a description in words) and [data-status]; and [data-plain], for browsers without scripts, with a
// choice of the type. The page that comes back has form[data-send] and form[data-confirm]. Messages beside the field are
// English, unless the form has data-sending, data-there and data-failed; {} stands for the file's name.

const SAID = { sending: "Uploading {} …", there: "{} uploaded.", failed: "Upload failed. Try again." };

const say = (form, what, file) => (form.dataset[what] ?? SAID[what]).replace("{}", () => file?.name ?? "");

// Returns the page that comes back when a form is sent. Throws an error with the page's message if it is refused.
export async function submitted(form, values = {}, action = form.action) {
  const body = new URLSearchParams(new FormData(form));
  for (const [name, value] of Object.entries(values)) body.set(name, value);
  // The form of the page is sent once for each file: each time with a key of its own.
  if (body.has("idempotency_key")) body.set("idempotency_key", crypto.getRandomValues(new Uint32Array(4)).join("-"));
  const answer = await fetch(action, { method: "POST", body, headers: { Accept: "text/html" } });
  const page = await pageIn(answer);
  if (answer.ok) return page;
  throw refusal(form, page);
}

const pageIn = async (answer) => new DOMParser().parseFromString(await answer.text(), "text/html");

function refusal(form, page) {
  const said = page.querySelector(".problems li") ?? page.querySelector("main h1 + p");
  return new Error(said?.textContent.trim() || say(form, "failed"));
}

// Asks for an upload and sends the file. Returns the form that confirms it.
export async function sent(form, file) {
  refuse(form, file);
  const kind = form.querySelector("[data-plain] select").name;
  const asked = await submitted(form, { [kind]: file.type, size: file.size });
  const send = asked.querySelector("form[data-send]");
  const data = new FormData(send);
  data.delete("file");
  data.append("file", file); // after the signed fields
  const mode = new URL(send.action).origin === location.origin ? "same-origin" : "no-cors";
  const answer = await fetch(send.action, { method: "POST", body: data, mode, headers: { Accept: "text/html" } });
  // Another host's response can't be read. Whether the file arrived shows when it is confirmed.
  if (!answer.ok && answer.type !== "opaque") throw refusal(form, await pageIn(answer));
  return asked.querySelector("form[data-confirm]");
}

// Refuses a file before it is sent, with the description of what the field accepts.
function refuse(form, file) {
  const input = form.querySelector("input[type=file]");
  const fits = input.accept.split(",").includes(file.type) && file.size > 0 && file.size <= Number(form.dataset.most);
  if (!fits) throw new Error(`${file.name}: ${document.getElementById(input.getAttribute("aria-describedby")).textContent}`);
}

// Does something with a file, and shows the progress beside the field.
export async function told(form, file, act) {
  const status = form.querySelector("[data-status]");
  status.textContent = say(form, "sending", file);
  try {
    const result = await act(file);
    status.textContent = say(form, "there", file);
    return result;
  } catch (error) {
    const lost = error instanceof TypeError; // a network error, not a refusal
    form.querySelector("[data-plain]").hidden = !lost;
    status.textContent = lost ? say(form, "failed", file) : error.message;
    throw error;
  }
}

// Takes files as soon as they are chosen or dropped: calls `take` for each, and `done` if all succeeded.
export function takeFiles(form, take, done = () => {}) {
  const [scripted, input] = [form.querySelector("[data-scripted]"), form.querySelector("input[type=file]")];
  scripted.hidden = false;
  form.querySelector("[data-plain]").hidden = true;

  async function all(files) {
    input.disabled = true;
    try {
      for (const file of files) await told(form, file, take);
      if (files.length) done();
    } catch {
      // shown beside the field
    }
    input.value = "";
    input.disabled = false;
  }

  input.addEventListener("change", () => all([...input.files]));
  for (const name of ["dragover", "dragleave", "drop"]) {
    scripted.addEventListener(name, (event) => {
      event.preventDefault();
      scripted.classList.toggle("over", name === "dragover");
      if (name === "drop" && !input.disabled) all([...event.dataTransfer.files].slice(0, input.multiple ? undefined : 1));
    });
  }
}
