// A link to pass on: by whatever the device shares with, or else copied.

const button = document.querySelector("[data-share]");
const link = document.querySelector("#link");

link.addEventListener("focus", () => link.select());
if (navigator.share || navigator.clipboard) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      if (navigator.share) await navigator.share({ url: link.value });
      else {
        await navigator.clipboard.writeText(link.value);
        button.textContent = "Copied";
      }
    } catch {
      link.select(); // they changed their mind, or the browser did
    }
  });
}
