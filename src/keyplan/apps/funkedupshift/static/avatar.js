// A picture is sent as soon as it is chosen. The same forms are sent as without this script, where it takes a page more.

const form = document.querySelector("form[data-upload]");
const [scripted, plain] = [form.querySelector("[data-scripted]"), form.querySelector("[data-plain]")];
const [input, status] = [form.querySelector("input[type=file]"), form.querySelector("[data-status]")];
const most = Number(form.dataset.most);

async function ask(file) {
  const body = new URLSearchParams(new FormData(form));
  body.set("content_type", file.type);
  body.set("size", file.size);
  const answer = await fetch(form.action, { method: "POST", body });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (answer.ok) return page;
  const said = page.querySelector(".problems li") ?? page.querySelector("main p");
  throw new Error(said?.textContent.trim() || "That did not work.");
}

async function send(file) {
  if (!input.accept.split(",").includes(file.type)) throw new Error("This is no JPEG, PNG, GIF or WebP.");
  if (file.size > most) throw new Error(`This picture is too large: ${most / 2 ** 20} MB are the most.`);
  const page = await ask(file);
  const to = page.querySelector("form[data-send]");
  if (new URL(to.action).origin !== location.origin) {
    plain.hidden = false; // only the page that asks may send to another host
    throw new Error("Files go to another host here: use the button.");
  }
  const data = new FormData(to);
  data.set("file", file);
  const sent = await fetch(to.action, { method: "POST", body: data });
  if (!sent.ok) throw new Error((await sent.json()).detail);
  const take = document.importNode(page.querySelector("form[data-take]"), true);
  take.hidden = true;
  document.body.append(take);
  take.submit();
}

scripted.hidden = false;
plain.hidden = true;
input.addEventListener("change", async () => {
  const file = input.files[0];
  if (!file) return;
  input.disabled = true;
  status.textContent = `${file.name} is being sent …`;
  try {
    await send(file);
  } catch (error) {
    status.textContent = error.message;
    input.value = "";
    input.disabled = false;
  }
});
