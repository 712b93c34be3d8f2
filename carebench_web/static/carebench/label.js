/* The label page: keys, answers that are saved without a reload, the next item at once, and patience when the network
   or the session is gone. An answer belongs to the item that was showing when it was given. Whatever this script cannot
   settle is handed to the plain form, whose pages explain it. */

import { fetchAhead, show, takeAhead } from "./ahead.js";
import { Draft } from "./draft.js";
import { pressed } from "./label_keys.js";
import * as outbox from "./outbox.js";
import { ReadingTime } from "./reading_time.js";
import * as state from "./save_state.js";
import { localise } from "./times.js";

/* So long a person waits for a receipt before the next item is shown without it. */
const PATIENCE_MS = 700;
/* A second tap so soon after the next item appeared was meant for the one before. */
const BOUNCE_MS = 400;
const BY_KEY = "carebench-answered-by-key";

let lastReceipt = null;
let page = null;

class LabelPage {
  constructor({ isByKey }) {
    this.decision = document.getElementById("decision");
    this.form = document.getElementById("label-form");
    this.reveal = document.getElementById("reveal");
    this.undoForm = document.getElementById("undo-form");
    this.severities = [...this.form.querySelectorAll("[name=severity]")];
    this.buttons = [...this.form.querySelectorAll("button[name=value]")];
    this.hasBeenShown = this.reveal.open;
    this.ignoresUntil = this.reveal.open ? performance.now() + BOUNCE_MS : 0;
    this.given = null;
    this.isLeaving = false;
    this.reading = new ReadingTime(() => this.reveal.open);
    this.draft = new Draft(this.form, this.decision);
    /* Said in our words, beside the buttons; the browser's own bubble is gone at the next tap. */
    this.form.noValidate = true;
    this.reveal.addEventListener("toggle", () => (this.hasBeenShown ||= this.reveal.open));
    this.form.addEventListener("submit", (event) => this.onSubmit(event));
    const keys = document.getElementById("keys-button");
    keys.hidden = false;
    keys.addEventListener("click", () => document.getElementById("keys").showModal());
    this.resume();
    if (!this.given) fetchAhead(this.decision.dataset.ahead);
    if (isByKey && !this.form.querySelector("[autofocus]")) this.reveal.querySelector("summary").focus();
  }

  /* An answer to this very item may wait from before a reload or a signing in. */
  resume() {
    const entry = outbox.waiting().find((one) => one.path === location.pathname);
    if (!entry) return;
    this.given = entry;
    this.hasBeenShown = this.reveal.open = true;
    this.showChoice(entry.fields);
    this.lock(true);
  }

  onSubmit(event) {
    event.preventDefault();
    if (event.submitter?.name !== "value") return state.say("asks", this.decision.dataset.sayPress);
    remember(BY_KEY, null);
    this.answer(event.submitter.value);
  }

  answer(value) {
    if (this.given || performance.now() < this.ignoresUntil) return;
    this.hasBeenShown ||= this.reveal.open;
    if (!this.hasBeenShown) {
      state.say("asks", this.decision.dataset.sayReadFirst);
      this.reveal.querySelector("summary").focus();
      return;
    }
    const severity = this.severities.find((radio) => radio.checked);
    if (this.severities.length && !severity) {
      state.say("asks", this.decision.dataset.saySeverityFirst);
      this.severities[0].focus();
      return;
    }
    this.draft.finish();
    this.given = outbox.put(new URL(this.form.action).pathname, {
      submission_id: outbox.newId(),
      revises: this.form.elements.revises.value,
      value,
      severity: severity ? severity.value : "",
      note: this.form.elements.note.value,
      text_view: this.form.elements.text_view.value,
      active_ms: String(this.reading.finish()),
    });
    this.showChoice(this.given.fields);
    this.lock(true);
    tellState();
    const answered = this;
    setTimeout(() => page === answered && !outbox.troubleNow() && answered.goAhead(), PATIENCE_MS);
    outbox.flush();
  }

  showChoice(answer) {
    for (const button of this.buttons) {
      if (button.value === answer.value) button.setAttribute("aria-pressed", "true");
      else button.removeAttribute("aria-pressed");
    }
    for (const radio of this.severities) radio.checked = radio.value === answer.severity;
    this.form.elements.note.value = answer.note;
    if (answer.note) document.getElementById("note-fold").open = true;
  }

  lock(isLocked) {
    for (const button of this.buttons) button.disabled = isLocked;
  }

  isOf(entry) {
    return this.given?.fields.submission_id === entry.fields.submission_id;
  }

  /* To the item that was fetched ahead; false when there is none and only the server knows what comes. */
  goAhead() {
    const taken = this.isLeaving ? null : takeAhead();
    if (!taken) return false;
    const isByKey = Boolean(remembered(BY_KEY));
    this.reading.leave();
    show(taken);
    localise(document);
    page = new LabelPage({ isByKey });
    if (!isByKey) document.querySelector("h1").focus({ preventScroll: true });
    tellState();
    return true;
  }
}

/* What is saved and what is not, and what undo would take back. */
function tellState() {
  const nWaiting = outbox.waiting().length;
  const [refused] = outbox.refused();
  page.undoForm.hidden = nWaiting > 0 || !page.undoForm.elements.label.value;
  if (refused) return state.sayRefused(() => outbox.handOver(refused));
  if (nWaiting && outbox.troubleNow() === "signed-out") return state.saySignedOut(page.decision.dataset.signIn);
  if (nWaiting && outbox.troubleNow()) return state.sayWord("unsaved", "Unsaved");
  if (nWaiting) return state.sayWord("saving", "Saving");
  if (lastReceipt) {
    page.undoForm.elements.label.value = lastReceipt.label;
    page.undoForm.hidden = false;
    state.saySaved(lastReceipt.saved_at);
  }
}

function remember(key, value) {
  try {
    if (value === null) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, value);
  } catch {
    /* then the focus is where the browser puts it */
  }
}

function remembered(key) {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return null;
  }
}

outbox.on("receipt", (entry, receipt) => {
  lastReceipt = receipt;
  const isOnScreen = page.isOf(entry);
  tellState();
  if (!isOnScreen) return;
  if (receipt.next.endsWith("/next/") && page.goAhead()) return;
  page.isLeaving = true;
  location.assign(receipt.next);
});
outbox.on("refusal", (entry) => {
  if (page.isOf(entry)) outbox.handOver(entry);
  else tellState();
});
outbox.on("trouble", (kind) => {
  if (kind !== "unsaved" || !page.given || !page.goAhead()) tellState();
});

document.addEventListener("keydown", (event) => {
  pressed(event, page, () => remember(BY_KEY, "yes"));
});
document.addEventListener("submit", (event) => {
  if (event.target.closest(".look")) page.draft.keepNow();
});
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "hidden") page.draft.keepNow();
});
/* Going back to an item shows what is true of it now, and so does a page out of the back-forward cache. */
addEventListener("popstate", () => location.reload());
addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});

page = new LabelPage({ isByKey: Boolean(remembered(BY_KEY)) });
if (outbox.waiting().length || outbox.refused().length) tellState();
outbox.flush();
