/* The words beside the answer buttons: what is saved and what is not. They stand in the page, in its language. */

const PAGE = document.documentElement.lang === "en" ? "en-GB" : `${document.documentElement.lang}-u-nu-latn`;
const CLOCK = new Intl.DateTimeFormat(PAGE, { hour: "2-digit", minute: "2-digit" });

export function word(name) {
  return document.getElementById("save-state")?.dataset[`say${name}`] ?? "";
}

export function say(state, ...content) {
  const line = document.getElementById("save-state");
  if (!line) return;
  line.dataset.state = state;
  line.replaceChildren(...content);
}

export function sayWord(state, name) {
  say(state, word(name));
}

export function saySaved(savedAt) {
  say("saved", `${word("Saved")} ${CLOCK.format(new Date(savedAt))}`);
}

export function saySignedOut(signInAddress) {
  const link = document.createElement("a");
  link.href = `${signInAddress}?next=${encodeURIComponent(location.pathname)}`;
  link.textContent = word("SignIn");
  say("unsaved", word("SignedOut"), " ", link);
}

export function sayRefused(look) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button button-plain";
  button.textContent = word("Look");
  button.addEventListener("click", look);
  say("unsaved", word("Refused"), " ", button);
}
