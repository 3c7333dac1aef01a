// Scoring: tap the field where the ball went. The next batter is updated while others score.

const form = document.querySelector("[data-play]");
const live = document.querySelector("[data-live]");

function mark(field, event) {
  const box = field.getBoundingClientRect();
  const left = ((event.clientX - box.left) / box.width) * 200;
  const top = ((event.clientY - box.top) / box.height) * 200;
  const between = (value) => Math.min(1, Math.max(0, value)).toFixed(3);
  form.querySelector("[data-x]").value = between(left / 200);
  form.querySelector("[data-y]").value = between((190 - top) / 180);
  form.elements.place.value = "";
  showMark(field);
  form.dispatchEvent(new Event("input", { bubbles: true })); // as typing would: scripts don't change or drop the form
}

// Shows the place that the form has: tapped, or entered before the form was refused or the session ended.
function showMark(field) {
  const [x, y] = ["x", "y"].map((name) => form.querySelector(`[data-${name}]`).value);
  const marker = field.querySelector("[data-marker]");
  marker.setAttribute("cx", x === "" ? -20 : 200 * x);
  marker.setAttribute("cy", y === "" ? -20 : 190 - 180 * y);
}

if (form) {
  // Going back restores what was entered. What the page had shown then is restored, too: sent again, it is the same form.
  const visit = `keyplan-after ${globalThis.navigation?.currentEntry?.id}`;
  const before = sessionStorage.getItem(visit);
  if (before !== null) form.elements.after.value = before;
  form.addEventListener("submit", () => sessionStorage.setItem(visit, form.elements.after.value));
  let touched = before !== null;
  form.addEventListener("input", () => (touched = true));
  const field = form.querySelector("[data-field]");
  field.toggleAttribute("hidden", false);
  field.addEventListener("click", (event) => mark(field, event));
  showMark(field);
  form.elements.place.addEventListener("input", () => {
    for (const name of ["x", "y"]) form.querySelector(`[data-${name}]`).value = "";
    showMark(field);
  });
  // The buttons act on what is shown: undo removes this play, and no other. A form that somebody is filling in knows what
  // was shown before, so that the server asks.
  const shown = () => {
    const { last, opponent } = live.querySelector("[data-last]").dataset;
    document.querySelector("input[name=at_bat_id]").value = last;
    for (const seen of document.querySelectorAll("input[name=seen]")) seen.value = opponent;
    if (!touched && !document.querySelector("[data-restored]")) form.elements.after.value = last;
  };
  shown(); // a browser may restore an older value when the page is reloaded
  live.addEventListener("followed", () => {
    shown();
    const next = live.querySelector("[data-next-player]")?.dataset;
    if (!next || touched) return; // don't change a form that somebody is filling in
    form.elements.player_id.value = next.nextPlayer;
    form.elements.inning.value = next.nextInning;
    form.elements.outs.value = next.nextOuts;
  });
}
