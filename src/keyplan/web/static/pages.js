// Small improvements for pages that also work without JavaScript.

// Asks before something that can't be undone: <form data-confirm="Delete this post?">.
// Ignores further clicks while a form is being submitted.
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

// A page restored from the browser's cache can be submitted again.
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[aria-busy]")) form.ariaBusy = null;
});

// Screen readers announce a form's errors first.
document.querySelector("[data-focus]")?.focus();
