// Share a link with the device's share sheet, or copy it.

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
        button.textContent = "Link copied";
      }
    } catch {
      link.select(); // sharing was cancelled or refused
    }
  });
}
