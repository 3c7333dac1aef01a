// Files from a page to where they are kept: ask, send, confirm. The forms are those that a person sends without scripts,
// and what is needed next is taken from the pages that come back.
//
// <form data-upload data-most="bytes"> asks. In it is [data-scripted], hidden, with a file field that says what it takes
// (accept, and in words what describes it) and [data-status]; and [data-plain], for browsers without scripts, with a
// choice of the type. The page that answers has form[data-send] and form[data-confirm]. What is said beside the field is
// English, unless the form has data-sending, data-there and data-failed; {} is the file.

const SAID = { sending: "{} is being sent …", there: "{} is there.", failed: "That did not work. Try again." };

const say = (form, what, file) => (form.dataset[what] ?? SAID[what]).replace("{}", () => file?.name ?? "");

// The page that comes back when a form is sent; what it refuses is an error in its own words.
export async function submitted(form, values = {}, action = form.action) {
  const body = new URLSearchParams(new FormData(form));
  for (const [name, value] of Object.entries(values)) body.set(name, value);
  const answer = await fetch(action, { method: "POST", body, headers: { Accept: "text/html" } });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (answer.ok) return page;
  const said = page.querySelector(".problems li") ?? page.querySelector("main h1 + p");
  throw new Error(said?.textContent.trim() || say(form, "failed"));
}

// Ask for an upload and send the file; the form that confirms it.
export async function sent(form, file) {
  refuse(form, file);
  const kind = form.querySelector("[data-plain] select").name;
  const asked = await submitted(form, { [kind]: file.type, size: file.size });
  const send = asked.querySelector("form[data-send]");
  const data = new FormData(send);
  data.delete("file");
  data.append("file", file); // behind the fields that are signed
  const mode = new URL(send.action).origin === location.origin ? "same-origin" : "no-cors";
  const answer = await fetch(send.action, { method: "POST", body: data, mode });
  // What another host answers is not told; whether the file is there shows when it is confirmed.
  if (!answer.ok && answer.type !== "opaque") throw new Error((await answer.json()).detail);
  return asked.querySelector("form[data-confirm]");
}

// What is wrong with a file before it is sent anywhere: the field's own words say what it takes.
function refuse(form, file) {
  const input = form.querySelector("input[type=file]");
  const fits = input.accept.split(",").includes(file.type) && file.size > 0 && file.size <= Number(form.dataset.most);
  if (!fits) throw new Error(`${file.name}: ${document.getElementById(input.getAttribute("aria-describedby")).textContent}`);
}

// Do something with a file, and tell beside the field how it goes.
export async function told(form, file, act) {
  const status = form.querySelector("[data-status]");
  status.textContent = say(form, "sending", file);
  try {
    const result = await act(file);
    status.textContent = say(form, "there", file);
    return result;
  } catch (error) {
    const lost = error instanceof TypeError; // the line, not the file
    form.querySelector("[data-plain]").hidden = !lost;
    status.textContent = lost ? say(form, "failed", file) : error.message;
    throw error;
  }
}

// Take files as soon as they are chosen, or dropped: `take` each of them, and where all went well, `done`.
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
      // it is told
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
