/* The keys of the label page. In fields they only write; while the list of keys is open they do nothing. */

const FOLDS = { n: "note-fold", s: "skip-fold" };

/* Acts on a key that means something on `page`; `noteKey` is called before an answer. */
export function pressed(event, page, noteKey) {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  if (document.querySelector("dialog[open]")) return;
  const key = letterOf(event);
  const button = page.buttons.find((candidate) => candidate.getAttribute("aria-keyshortcuts").toLowerCase() === key);
  const radio = page.severities.find((candidate) => candidate.value === key);
  if (button) {
    noteKey();
    page.answer(button.value);
  } else if (radio && !page.given) {
    radio.checked = true;
    radio.focus();
    radio.dispatchEvent(new Event("change", { bubbles: true }));
  } else if (key === "t") {
    page.reveal.open = !page.reveal.open;
  } else if (key === "z" && !page.undoForm.hidden) {
    noteKey();
    page.undoForm.requestSubmit();
  } else if (key === "?") {
    document.getElementById("keys").showModal();
  } else if (key in FOLDS && !page.given) {
    const fold = document.getElementById(FOLDS[key]);
    fold.open = true;
    fold.querySelector("textarea, .reasons button").focus();
  } else {
    return;
  }
  event.preventDefault();
}

function isTyping(target) {
  return target.closest("textarea, select, [contenteditable], input:not([type=radio])") !== null;
}

/* Where the keyboard writes another script, the letter that is printed at the same place. */
function letterOf(event) {
  if (event.key === "؟") return "?";
  return /^[ -~]$/.test(event.key) ? event.key.toLowerCase() : event.code.replace(/^(Key|Digit)/, "").toLowerCase();
}
