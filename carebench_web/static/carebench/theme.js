/* Light, dark or automatic, remembered on this device.
   A classic script in <head>, not a module: it must run before the first paint, or a dark page flashes white. */
(() => {
  const KEY = "carebench-theme";
  const ORDER = ["auto", "light", "dark"];
  const root = document.documentElement;

  function read() {
    try {
      const stored = localStorage.getItem(KEY);
      return ORDER.includes(stored) ? stored : "auto";
    } catch {
      return "auto"; // storage is refused in some private windows
    }
  }

  function remember(theme) {
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      /* the choice then lasts for this page only */
    }
  }

  function apply(theme) {
    if (theme === "auto") delete root.dataset.theme;
    else root.dataset.theme = theme;
    for (const word of document.querySelectorAll("[data-theme-word]")) word.textContent = theme;
  }

  apply(read());

  document.addEventListener("DOMContentLoaded", () => {
    for (const button of document.querySelectorAll("[data-theme-button]")) {
      button.hidden = false;
      button.addEventListener("click", () => {
        const next = ORDER[(ORDER.indexOf(root.dataset.theme ?? "auto") + 1) % ORDER.length];
        remember(next);
        apply(next);
      });
    }
    apply(read());
  });

  addEventListener("storage", (event) => {
    if (event.key === KEY) apply(read());
  });
})();
