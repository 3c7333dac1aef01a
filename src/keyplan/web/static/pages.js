// Small comforts for pages that work without them.

// What can not be taken back is asked for again: <form data-confirm="Delete this post?">.
// A form that is on its way is not sent twice by an impatient finger.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.dataset.try !== undefined) return; // the API's pages send these themselves
  const question = event.submitter?.dataset.confirm ?? form.dataset.confirm;
  if (form.ariaBusy === "true" || (question && !window.confirm(question))) {
    event.preventDefault();
    return;
  }
  if (form.method === "post") form.ariaBusy = "true";
});

// A page that comes back from the browser's memory can be sent again.
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[aria-busy]")) form.ariaBusy = null;
});

// What is wrong with a form is read out first.
document.querySelector("[data-focus]")?.focus();
