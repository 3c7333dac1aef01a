// Uploads files from a page: ask, send, confirm. It submits the forms that a person submits without scripts, and reads
// the next form from the page that comes back.
//
// <form data-upload data-most="bytes"> asks. In it is [data-scripted], hidden, with a file field that says what it takes
// (accept, and a description in words) and [data-status]; and [data-plain], for browsers without scripts, with a
// choice of the type. The page that comes back has form[data-send] and form[data-confirm]. Messages beside the field are
// English, unless the form has data-sending, data-there, data-failed, data-large, data-kind and data-later; {} stands for
// the file's name, {size} and {most} for its size and the limit.

const SAID = {
  sending: "Uploading {} …",
  there: "{} uploaded.",
  failed: "{} could not be uploaded. Try again.",
  large: "{} is too large ({size}). The limit is {most}.",
  kind: "{} can't be uploaded. Choose one of these:",
  later: "Save what you entered on this page. Then it shows the new files.",
};

const REMEMBERED = "upload-status";

function say(form, what, file) {
  const megabytes = (bytes) => `${(bytes / 1048576).toLocaleString(document.documentElement.lang, { maximumFractionDigits: 1 })} MB`;
  return (form.dataset[what] ?? SAID[what])
    .replace("{size}", () => megabytes(file.size))
    .replace("{most}", () => megabytes(form.dataset.most))
    .replace("{}", () => file.name);
}

// Returns the page that comes back when a form is sent. Throws an error with the page's message if it is refused.
export async function submitted(form, values = {}, action = form.action) {
  const body = new URLSearchParams(new FormData(form));
  for (const [name, value] of Object.entries(values)) body.set(name, value);
  const answer = await fetch(action, { method: "POST", body, headers: { Accept: "text/html" } });
  const page = await pageIn(answer);
  if (answer.ok) return page;
  throw refusal(page);
}

const pageIn = async (answer) => new DOMParser().parseFromString(await answer.text(), "text/html");

// An error with what the page says; without a message if it says nothing.
function refusal(page) {
  const said = page.querySelector(".problems li") ?? page.querySelector("main h1 + p");
  return new Error(said?.textContent.trim() ?? "");
}

// Asks for an upload and sends the file. Returns the form that confirms it.
export async function sent(form, file) {
  const kind = form.querySelector("[data-plain] select").name;
  // The form of the page is sent once for each file: each time with a key of its own.
  const once = crypto.getRandomValues(new Uint32Array(4)).join("-");
  const asked = await submitted(form, { [kind]: file.type, size: file.size, idempotency_key: once });
  const send = asked.querySelector("form[data-send]");
  const data = new FormData(send);
  data.delete("file");
  data.append("file", file); // after the signed fields
  const mode = new URL(send.action).origin === location.origin ? "same-origin" : "no-cors";
  try {
    const answer = await fetch(send.action, { method: "POST", body: data, mode, headers: { Accept: "text/html" } });
    // Another host's response can't be read. Whether the file arrived shows when it is confirmed.
    if (!answer.ok && answer.type !== "opaque") throw refusal(await pageIn(answer));
  } catch (error) {
    await submitted(asked.querySelector("form[data-cancel]")).catch(() => {}); // so that it doesn't count any more
    throw error;
  }
  return asked.querySelector("form[data-confirm]");
}

// The reason to refuse a file before it is sent; undefined if there is none.
function refused(form, file) {
  const input = form.querySelector("input[type=file]");
  if (file.size > Number(form.dataset.most)) return say(form, "large", file);
  if (file.size > 0 && input.accept.split(",").includes(file.type)) return undefined;
  return `${say(form, "kind", file)} ${document.getElementById(input.getAttribute("aria-describedby")).textContent}`;
}

// Does something with a file, and shows the progress beside the field, in a line of its own.
export async function told(form, file, act) {
  const line = document.createElement("span");
  form.querySelector("[data-status]").append(line);
  const fail = (message) => {
    line.className = "error";
    line.textContent = message;
  };
  line.textContent = say(form, "sending", file);
  const reason = refused(form, file);
  if (reason) {
    fail(reason);
    throw new Error(reason);
  }
  try {
    const result = await act(file);
    line.textContent = say(form, "there", file);
    return result;
  } catch (error) {
    const lost = error instanceof TypeError; // a network error, not a refusal
    if (lost) form.querySelector("[data-plain]").hidden = false;
    fail(lost || !error.message ? say(form, "failed", file) : `${file.name}: ${error.message}`);
    throw error;
  }
}

// Whether something is entered elsewhere in the page.
const isTyping = (form) =>
  [...document.querySelectorAll("form[method=post]")].some((other) => other !== form
    && [...other.querySelectorAll("input:not([type=hidden]), textarea")].some((each) => each.value !== each.defaultValue));

// Takes files as soon as they are chosen or dropped: calls `take` for each, also after one that failed. With `reload`, the
// page is loaded again to show what was uploaded; the lines beside the field are shown there, too. It isn't loaded while
// something is entered in another form of the page: then a line says so.
export function takeFiles(form, take, reload = false) {
  const [scripted, input] = [form.querySelector("[data-scripted]"), form.querySelector("input[type=file]")];
  const status = form.querySelector("[data-status]");
  status.innerHTML = sessionStorage.getItem(REMEMBERED) ?? "";
  sessionStorage.removeItem(REMEMBERED);
  scripted.hidden = false;
  form.querySelector("[data-plain]").hidden = true;

  async function all(files) {
    input.disabled = true;
    status.replaceChildren();
    let taken = 0;
    for (const file of files) {
      await told(form, file, take).then(() => (taken += 1), () => {}); // what went wrong is shown beside the field
    }
    if (taken && reload && isTyping(form)) {
      status.append(Object.assign(document.createElement("span"), { textContent: form.dataset.later ?? SAID.later }));
    } else if (taken && reload) {
      sessionStorage.setItem(REMEMBERED, status.innerHTML);
      location.reload();
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
