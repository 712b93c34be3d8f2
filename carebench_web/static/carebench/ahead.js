/* The page of the following item, fetched while this one is read, so that it is there at once, even offline.

   The server holds the item for the person and does not count it as shown. */

/* An item that lay here for long may have gone to someone else; asking again is better then. */
const FRESH_MS = 10 * 60 * 1000;

let held = null;
let n = 0;

export async function fetchAhead(address) {
  held = null;
  n += 1;
  const request = n;
  if (!address) return;
  try {
    const reply = await fetch(address, { headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    const isLabelPage = reply.ok && page.getElementById("label-form") !== null;
    if (isLabelPage && request === n) {
      held = { page, path: new URL(reply.url).pathname, until: performance.now() + FRESH_MS };
    }
  } catch {
    /* then the person waits for the next page as usual */
  }
}

export function takeAhead() {
  const taken = held && performance.now() < held.until ? held : null;
  held = null;
  return taken;
}

/* Put the fetched page in the place of this one. */
export function show(taken) {
  document.title = taken.page.title;
  document.body.replaceWith(document.adoptNode(taken.page.body));
  history.pushState(null, "", taken.path);
  scrollTo(0, 0);
}
