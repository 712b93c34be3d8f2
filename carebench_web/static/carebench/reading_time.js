/* How long the text of an item was read: shown, in the window in front, and the person there. Researchers see it beside
   the answers; there is no target, and the person is not shown a clock. */

const TICK_MS = 1000;
/* Somebody who reads a long text need not touch anything; after a minute without a sign they are taken to be away. */
const IDLE_AFTER_MS = 60 * 1000;
const MOST_MS = 24 * 60 * 60 * 1000;
const SIGNS = ["pointermove", "pointerdown", "keydown", "scroll", "wheel", "touchmove"];

let lastSign = performance.now();
for (const sign of SIGNS) addEventListener(sign, () => (lastSign = performance.now()), { passive: true, capture: true });

/* Counts while `isShown()`; a reload of the page goes on where it was. */
export class ReadingTime {
  constructor(isShown) {
    this.key = `carebench-read:${location.pathname}`;
    this.ms = this.remembered();
    this.last = performance.now();
    this.isShown = isShown;
    this.timer = setInterval(() => this.tick(), TICK_MS);
  }

  tick() {
    const now = performance.now();
    const isRead = this.isShown() && document.visibilityState === "visible" && now - lastSign < IDLE_AFTER_MS;
    /* A device that slept wakes with a long gap; nobody read then. */
    if (isRead) this.ms = Math.min(this.ms + Math.min(now - this.last, 2 * TICK_MS), MOST_MS);
    this.last = now;
    this.remember(String(Math.round(this.ms)));
  }

  finish() {
    this.tick();
    clearInterval(this.timer);
    this.remember(null);
    return Math.round(this.ms);
  }

  leave() {
    clearInterval(this.timer);
  }

  remembered() {
    try {
      return Number(sessionStorage.getItem(this.key)) || 0;
    } catch {
      return 0;
    }
  }

  remember(value) {
    try {
      if (value === null) sessionStorage.removeItem(this.key);
      else sessionStorage.setItem(this.key, value);
    } catch {
      /* then a reload begins anew */
    }
  }
}
