/* Header menus are <details class="menu">; Escape, a click elsewhere or focus moving on closes them. */

function close(menu, { refocus = false } = {}) {
  menu.open = false;
  if (refocus) menu.querySelector("summary").focus();
}

function openMenus() {
  return document.querySelectorAll("details.menu[open]");
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of openMenus()) close(menu, { refocus: menu.contains(document.activeElement) });
});

for (const kind of ["click", "focusin"]) {
  document.addEventListener(kind, (event) => {
    for (const menu of openMenus()) if (!menu.contains(event.target)) close(menu);
  });
}
