/* Answers that wait for their receipts.

   An answer gets its submission id when it is given and lies in localStorage until the server's receipt comes, across
   pages, tabs and restarts. It is sent again under the same id as often as needed, so that it is stored exactly once.
   Two tabs may send the same one; the server gives both the same receipt. Two people may use one device: each answer
   carries the device key of who gave it, and nobody else sends it. */

const PREFIX = "carebench-answer:";
const RETRY_MS = [1000, 2000, 4000, 8000, 15000, 30000];
const GIVE_UP_WAITING_MS = 20000;
const MOST_RENEWALS = 3;

const person = document.documentElement.dataset.person;
/* Storage is refused in some private windows; an answer then lives as long as its page. */
const kept = new Map();
const listeners = new Map();

let isSending = false;
let timer = null;
let nTries = 0;
let nRenewals = 0;
let trouble = null;

export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/* Calls `listen` on: receipt (entry, receipt) · refusal (entry) · trouble (state, "unsaved" or "signed-out"). */
export function on(name, listen) {
  listeners.set(name, listen);
}

/* null while all goes well, else why nothing can be sent at the moment. */
export function troubleNow() {
  return trouble;
}

/* Own entries that wait, oldest first; those that the server refused are apart. */
export function waiting() {
  return entries().filter((entry) => !entry.isRefused);
}

export function refused() {
  return entries().filter((entry) => entry.isRefused);
}

export function put(path, fields) {
  const entry = { person, path, fields, at: Date.now(), isRefused: false };
  write(entry);
  return entry;
}

export function takeOut(entry) {
  const key = PREFIX + entry.fields.submission_id;
  kept.delete(key);
  try {
    localStorage.removeItem(key);
  } catch {
    /* it was never there */
  }
}

/* Send what waits, one after the other. Calling it while it works changes nothing. */
export async function flush() {
  if (isSending) return;
  clearTimeout(timer);
  timer = null;
  isSending = true;
  try {
    for (let entry = waiting()[0]; entry; entry = waiting()[0]) {
      if (!(await send(entry))) break;
    }
  } finally {
    isSending = false;
  }
}

/* Let the plain form bring the page that explains why this one was refused. */
export function handOver(entry) {
  takeOut(entry);
  const form = document.createElement("form");
  form.method = "post";
  form.action = entry.path;
  for (const [name, value] of Object.entries({ ...entry.fields, csrfmiddlewaretoken: token() })) {
    const field = document.createElement("input");
    field.type = "hidden";
    field.name = name;
    field.value = value;
    form.append(field);
  }
  document.body.append(form);
  form.submit();
}

function entries() {
  const found = new Map(kept);
  try {
    for (const key of Object.keys(localStorage)) {
      if (key.startsWith(PREFIX)) found.set(key, JSON.parse(localStorage.getItem(key)));
    }
  } catch {
    /* what this page remembers is all there is */
  }
  return [...found.values()].filter((entry) => entry?.person === person).sort((one, other) => one.at - other.at);
}

function write(entry) {
  const key = PREFIX + entry.fields.submission_id;
  try {
    localStorage.setItem(key, JSON.stringify(entry));
    kept.delete(key);
  } catch {
    kept.set(key, entry);
  }
}

/* True when the next one may follow. */
async function send(entry) {
  let reply;
  let receipt = null;
  try {
    reply = await fetch(entry.path, {
      method: "POST",
      body: new URLSearchParams({ ...entry.fields, csrfmiddlewaretoken: token() }),
      headers: { Accept: "application/json" },
      signal: AbortSignal.timeout(GIVE_UP_WAITING_MS),
    });
    if (reply.ok && isJson(reply)) receipt = await reply.json();
  } catch {
    return later("unsaved");
  }
  if (receipt) {
    takeOut(entry);
    trouble = null;
    nTries = nRenewals = 0;
    tell("receipt", entry, receipt);
    return true;
  }
  if (reply.status === 401) return stuck("signed-out");
  if (reply.status === 403 && !isJson(reply)) return renewToken();
  if (reply.status >= 500 || reply.status === 429) return later("unsaved");
  write({ ...entry, isRefused: true });
  trouble = null;
  tell("refusal", entry);
  return true;
}

function later(state) {
  timer = setTimeout(flush, RETRY_MS[Math.min(nTries, RETRY_MS.length - 1)]);
  nTries += 1;
  return stuck(state);
}

function stuck(state) {
  trouble = state;
  tell("trouble", state);
  return false;
}

/* The token changes when somebody signs in; a fresh page has the new one. */
async function renewToken() {
  nRenewals += 1;
  if (nRenewals > MOST_RENEWALS) return later("unsaved");
  try {
    const page = await fetch(location.pathname, { headers: { Accept: "text/html" } });
    const fresh = new DOMParser().parseFromString(await page.text(), "text/html");
    const value = fresh.querySelector("[name=csrfmiddlewaretoken]")?.value;
    if (!value) return stuck("signed-out");
    for (const field of document.querySelectorAll("[name=csrfmiddlewaretoken]")) field.value = value;
  } catch {
    return later("unsaved");
  }
  return true;
}

function tell(name, ...details) {
  listeners.get(name)?.(...details);
}

function token() {
  return document.querySelector("[name=csrfmiddlewaretoken]")?.value ?? "";
}

function isJson(reply) {
  return Boolean(reply.headers.get("Content-Type")?.startsWith("application/json"));
}

addEventListener("online", () => {
  if (timer !== null) flush();
});
addEventListener("beforeunload", (event) => {
  if (kept.size) event.preventDefault();
});
