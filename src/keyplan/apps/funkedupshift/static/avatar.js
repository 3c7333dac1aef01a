// A picture is sent as soon as it is chosen, and shown in its place. The rest of the page stays as it is: somebody may be
// changing the profile.

import { sent, submitted, takeFiles } from "/static/upload.js";

const section = document.querySelector("[aria-labelledby=picture]");
const form = section.querySelector("form[data-upload]");

takeFiles(form, async (file) => {
  const page = await submitted(await sent(form, file));
  const shown = page.querySelector("[aria-labelledby=picture]");
  while (form.previousElementSibling.tagName !== "H2") form.previousElementSibling.remove();
  while (shown.querySelector("h2").nextElementSibling.matches(":not([data-upload])")) {
    form.before(shown.querySelector("h2").nextElementSibling);
  }
  // The picture is a part of the profile, so there is a new version of it.
  const version = "form input[name=version]";
  document.querySelector(version).value = page.querySelector(version).value;
});
