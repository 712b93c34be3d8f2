/* <time data-local="moment|clock"> holds UTC; it is rewritten in the viewer's zone and the page's language, and UTC
   stays on hover. Digits are those of the rest of the page. */

const PAGE = document.documentElement.lang === "en" ? "en-GB" : `${document.documentElement.lang}-u-nu-latn`;
const SHAPES = {
  moment: new Intl.DateTimeFormat(PAGE, { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" }),
  clock: new Intl.DateTimeFormat(PAGE, { hour: "2-digit", minute: "2-digit" }),
};

export function localise(root) {
  for (const time of root.querySelectorAll("time[data-local]")) {
    const shape = SHAPES[time.dataset.local];
    delete time.dataset.local;
    time.title = time.textContent;
    time.textContent = shape.format(new Date(time.dateTime));
  }
}

localise(document);
document.addEventListener("htmx:load", (event) => localise(event.target.parentElement ?? document));
