/* The label page: keys, saving without a reload, and patience when the network or the session is gone.

   An answer belongs to the item whose page was showing when it was given. It gets its submission id then, waits in
   sessionStorage until the server's receipt comes, and is sent again under the same id as often as needed, so that it is
   stored exactly once. Whatever this script cannot settle is handed to the plain form, whose pages explain it. */

const RETRY_MS = [1000, 2000, 4000, 8000, 15000, 30000];
const BY_KEY = "carebench-answered-by-key";

const form = document.getElementById("label-form");
const reveal = document.getElementById("reveal");
const saveState = document.getElementById("save-state");
const severities = form.querySelectorAll("[name=severity]");
const buttons = [...form.querySelectorAll("button[name=value]")];
const slot = `carebench-pending:${location.pathname}`;

let pending = null;
let nTries = 0;
let timer = null;
let hasBeenShown = reveal.open;

function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

function store(key, value) {
  try {
    if (value === null) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, JSON.stringify(value));
  } catch {
    /* storage is refused in some private windows; the answer then lives as long as this page */
  }
}

function stored(key) {
  try {
    return JSON.parse(sessionStorage.getItem(key));
  } catch {
    return null;
  }
}

function say(state, ...content) {
  saveState.dataset.state = state;
  saveState.replaceChildren(...content);
}

function show(answer) {
  for (const button of buttons) {
    if (button.value === answer.value) button.setAttribute("aria-pressed", "true");
    else button.removeAttribute("aria-pressed");
  }
  for (const radio of severities) radio.checked = radio.value === answer.severity;
  form.elements.note.value = answer.note;
  if (answer.note) form.elements.note.closest("details").open = true;
}

function giveAnswer(value) {
  if (pending) return;
  hasBeenShown ||= reveal.open;
  if (!hasBeenShown) {
    say("asks", "Read the text first: “Show the text” is above.");
    reveal.querySelector("summary").focus();
    return;
  }
  const severity = form.querySelector("[name=severity]:checked");
  if (severities.length && !severity) {
    say("asks", "Choose how severe it is first.");
    severities[0].focus();
    return;
  }
  pending = {
    submission_id: newId(),
    revises: form.elements.revises.value,
    value,
    severity: severity ? severity.value : "",
    note: form.elements.note.value,
  };
  store(slot, pending);
  show(pending);
  send();
}

async function send() {
  clearTimeout(timer);
  timer = null;
  for (const button of buttons) button.disabled = true;
  if (saveState.dataset.state !== "unsaved") say("saving", "saving");
  let reply;
  try {
    reply = await fetch(form.action, {
      method: "POST",
      body: new URLSearchParams({ ...pending, csrfmiddlewaretoken: form.elements.csrfmiddlewaretoken.value }),
      headers: { Accept: "application/json" },
    });
  } catch {
    return sendLater();
  }
  const isOurs = reply.headers.get("Content-Type")?.startsWith("application/json");
  if (reply.ok && isOurs) return finish(await reply.json());
  if (reply.status === 401) return askToSignIn();
  if (reply.status === 403 && !isOurs) return renewToken();
  if (reply.status >= 500 || reply.status === 429) return sendLater();
  handOver();
}

function sendLater() {
  say("unsaved", "not saved, retrying");
  timer = setTimeout(send, RETRY_MS[Math.min(nTries, RETRY_MS.length - 1)]);
  nTries += 1;
}

function finish(receipt) {
  store(slot, null);
  pending = null;
  location.assign(receipt.next);
}

function askToSignIn() {
  const link = document.createElement("a");
  link.href = `${form.dataset.signIn}?next=${encodeURIComponent(location.pathname)}`;
  link.textContent = "sign in to save it";
  say("unsaved", "You are signed out. Your answer is kept on this page: ", link);
}

/* The token changes when somebody signs in; a fresh page has the new one. */
async function renewToken() {
  if (nTries > 2) return handOver();
  nTries += 1;
  try {
    const page = await fetch(location.pathname, { headers: { Accept: "text/html" } });
    const fresh = new DOMParser().parseFromString(await page.text(), "text/html").getElementById("label-form");
    if (!fresh) return askToSignIn();
    form.elements.csrfmiddlewaretoken.value = fresh.elements.csrfmiddlewaretoken.value;
  } catch {
    return sendLater();
  }
  send();
}

/* Let the plain form bring the page that explains what is wrong. */
function handOver() {
  store(slot, null);
  form.elements.submission_id.value = pending.submission_id;
  const value = document.createElement("input");
  value.type = "hidden";
  value.name = "value";
  value.value = pending.value;
  form.append(value);
  pending = null;
  form.submit();
}

function isTyping(target) {
  return target.closest("textarea, select, [contenteditable], input:not([type=radio])") !== null;
}

function onKey(event) {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  const key = event.key.toLowerCase();
  const button = buttons.find((candidate) => candidate.getAttribute("aria-keyshortcuts").toLowerCase() === key);
  const radio = form.querySelector(`[name=severity][value="${CSS.escape(key)}"]`);
  if (button) {
    store(BY_KEY, true);
    giveAnswer(button.value);
  } else if (radio && !pending) {
    radio.checked = true;
    radio.focus();
  } else {
    return;
  }
  event.preventDefault();
}

/* Said in our words, beside the buttons; the browser's own bubble is gone at the next tap. */
form.noValidate = true;
reveal.addEventListener("toggle", () => (hasBeenShown ||= reveal.open));
form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (event.submitter?.name !== "value") return say("asks", "Press Acceptable or Unacceptable to answer.");
  store(BY_KEY, null);
  giveAnswer(event.submitter.value);
});
document.addEventListener("keydown", onKey);
addEventListener("online", () => {
  if (timer !== null) send();
});
addEventListener("beforeunload", (event) => {
  if (timer !== null) event.preventDefault();
});
/* A page out of the back-forward cache shows what was true when it was left. */
addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});

const waiting = stored(slot);
if (waiting) {
  pending = waiting;
  hasBeenShown = reveal.open = true;
  show(pending);
  send();
} else if (stored(BY_KEY) && !form.querySelector("[autofocus]")) {
  reveal.querySelector("summary").focus();
}
