/* Keeps what is typed and chosen, a moment after the person pauses, and tries again when that fails. */

const PAUSE_MS = 800;
const RETRY_MS = 5000;

export class Draft {
  constructor(form, decision) {
    this.form = form;
    this.address = decision.dataset.draft;
    this.words = { kept: decision.dataset.sayDraftKept, unsaved: decision.dataset.sayDraftUnsaved };
    this.line = decision.querySelector("#draft-state");
    this.timer = null;
    this.isOver = false;
    form.elements.note.addEventListener("input", () => this.keepSoon(PAUSE_MS));
    for (const radio of form.querySelectorAll("[name=severity]")) {
      radio.addEventListener("change", () => this.keepSoon(PAUSE_MS));
    }
  }

  keepSoon(wait) {
    if (this.isOver) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.keep(), wait);
  }

  /* At once, also while the page is being left. */
  async keep() {
    clearTimeout(this.timer);
    this.timer = null;
    const { note, revises, csrfmiddlewaretoken } = this.form.elements;
    const severity = this.form.querySelector("[name=severity]:checked")?.value ?? "";
    try {
      const reply = await fetch(this.address, {
        method: "POST",
        body: new URLSearchParams({
          note: note.value,
          severity,
          revises: revises.value,
          csrfmiddlewaretoken: csrfmiddlewaretoken.value,
        }),
        headers: { Accept: "application/json" },
        keepalive: true,
      });
      this.line.textContent = reply.ok ? this.words.kept : this.words.unsaved;
      if (reply.status >= 500) this.keepSoon(RETRY_MS);
    } catch {
      this.line.textContent = this.words.unsaved;
      this.keepSoon(RETRY_MS);
    }
  }

  keepNow() {
    if (this.timer !== null) this.keep();
  }

  finish() {
    this.isOver = true;
    clearTimeout(this.timer);
    this.timer = null;
  }
}
