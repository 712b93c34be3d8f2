/* <time data-local="moment|clock"> holds UTC; it is rewritten in the viewer's zone, and UTC stays on hover. */

const SHAPES = {
  moment: new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" }),
  clock: new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" }),
};

function localise(root) {
  for (const time of root.querySelectorAll("time[data-local]")) {
    const shape = SHAPES[time.dataset.local];
    delete time.dataset.local;
    time.title = time.textContent;
    time.textContent = shape.format(new Date(time.dateTime));
  }
}

localise(document);
document.addEventListener("htmx:load", (event) => localise(event.target.parentElement ?? document));
