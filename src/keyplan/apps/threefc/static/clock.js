// Advance the minute until somebody types another one.

const minute = document.querySelector("[data-clock]");
if (minute) {
  const shown = Number(minute.value);
  const began = Date.now();
  setInterval(() => {
    if (minute.value !== minute.defaultValue) return;
    minute.defaultValue = String(Math.min(999, shown + Math.floor((Date.now() - began) / 60_000)));
    minute.value = minute.defaultValue;
  }, 5000);
}
