// A picture is sent as soon as it is chosen; the page that confirms it shows it.

import { sent, takeFiles } from "/static/upload.js";

const form = document.querySelector("form[data-upload]");

takeFiles(form, async (file) => {
  const confirm = document.importNode(await sent(form, file), true);
  confirm.hidden = true;
  document.body.append(confirm);
  confirm.submit();
});
