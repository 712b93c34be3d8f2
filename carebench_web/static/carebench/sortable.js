/* Sorting of <table data-sortable> by a click on a column's header.
   A cell sorts by data-value, else by its first <data value> or <time datetime>, else by its text. Cells without a value stay last. */

const words = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

function valueOf(cell) {
  const exact = cell.dataset.value ?? cell.querySelector("data")?.value ?? cell.querySelector("time")?.dateTime;
  if (exact === undefined && cell.querySelector(".absent")) return null;
  const text = exact ?? cell.textContent.trim();
  if (text === "") return null;
  const number = Number(text);
  return Number.isNaN(number) ? text : number;
}

function compare(a, b) {
  return typeof a === "number" && typeof b === "number" ? a - b : words.compare(String(a), String(b));
}

function sortBy(table, header) {
  const column = header.cellIndex;
  const isNumeric = header.classList.contains("number");
  const current = header.getAttribute("aria-sort");
  const direction = current ? (current === "ascending" ? "descending" : "ascending") : isNumeric ? "descending" : "ascending";
  const sign = direction === "ascending" ? 1 : -1;
  for (const body of table.tBodies) {
    const rows = [...body.rows].map((row) => ({ row, value: valueOf(row.cells[column]) }));
    rows.sort((a, b) => {
      if (a.value === null || b.value === null) return (a.value === null) - (b.value === null);
      return sign * compare(a.value, b.value);
    });
    body.append(...rows.map(({ row }) => row));
  }
  for (const other of header.parentElement.cells) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", direction);
}

function prepare(root) {
  for (const table of root.querySelectorAll("table[data-sortable]:not([data-sortable=ready])")) {
    for (const header of table.tHead.rows[table.tHead.rows.length - 1].cells) {
      if (header.hasAttribute("data-unsortable") || !header.textContent.trim()) continue;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...header.childNodes);
      header.append(button);
      button.addEventListener("click", () => sortBy(table, header));
    }
    table.dataset.sortable = "ready";
  }
}

prepare(document);
document.addEventListener("htmx:load", (event) => prepare(event.target.parentElement ?? document));
