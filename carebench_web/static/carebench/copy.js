/* <button data-copy="#id" hidden>: copies that element's text (or a field's value) and says so. Shown only where copying works. */

const SHOWN_FOR_MS = 2000;

async function copy(button) {
  const source = document.querySelector(button.dataset.copy);
  const words = button.textContent;
  try {
    await navigator.clipboard.writeText(source.value ?? source.textContent.trim());
    button.textContent = "Copied";
  } catch {
    const range = document.createRange();
    range.selectNodeContents(source);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    button.textContent = "Selected: press Ctrl+C";
  }
  setTimeout(() => (button.textContent = words), SHOWN_FOR_MS);
}

function prepare(root) {
  for (const button of root.querySelectorAll("[data-copy][hidden]")) {
    button.hidden = false;
    button.setAttribute("aria-live", "polite");
    button.addEventListener("click", () => copy(button));
  }
}

prepare(document);
document.addEventListener("htmx:load", (event) => prepare(event.target.parentElement ?? document));
