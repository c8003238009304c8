"use strict";
// A click on a column's title sorts its table: numbers from high to low and text from A to Z at first,
// then the other way, then as it was. What has no value stays below.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const original = Array.from(body.rows);
  const titles = Array.from(table.tHead.rows[0].cells);
  titles.forEach((title, column) => {
    title.querySelector("button").addEventListener("click", () => {
      const number = title.classList.contains("number");
      const orders = number ? ["descending", "ascending"] : ["ascending", "descending"];
      const order = orders[orders.indexOf(title.getAttribute("aria-sort")) + 1];
      for (const other of titles) other.removeAttribute("aria-sort");
      table.classList.toggle("sorted", order !== undefined);
      if (order === undefined) {
        body.append(...original);
        return;
      }
      title.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      const key = (row) => {
        const cell = row.cells[column];
        if (!number) return cell.textContent;
        const value = Number((cell.dataset.value ?? "nan").replace("inf", "Infinity"));
        return Number.isNaN(value) ? null : value;
      };
      body.append(...Array.from(original).sort((one, other) => {
        const a = key(one);
        const b = key(other);
        if (a === null || b === null) return (a === null) - (b === null);
        if (a === b) return 0;  // Two infinite values, too, whose difference is no number.
        return sign * (number ? a - b : a.localeCompare(b));
      }));
    });
  });
}
// A filter keeps the rows that have all of its words.
for (const filter of document.querySelectorAll("input.filter")) {
  const rows = Array.from(document.getElementById(filter.dataset.table).tBodies[0].rows);
  filter.addEventListener("input", () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
    for (const row of rows) {
      const text = Array.from(row.cells, (cell) => cell.textContent.toLowerCase()).join(" ");
      row.hidden = !words.every((word) => text.includes(word));
    }
  });
}
// What a link leads to is shown, even where it is folded.
const unfold = () => {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let part = target || null; part !== null; part = part.parentElement) {
    if (part.tagName === "DETAILS") part.open = true;
  }
  if (target) target.scrollIntoView();
};
window.addEventListener("hashchange", unfold);
unfold();
// Paper folds no table.
let folded = [];
window.addEventListener("beforeprint", () => {
  folded = Array.from(document.querySelectorAll("details.printed:not([open])"));
  for (const part of folded) part.open = true;
});
window.addEventListener("afterprint", () => {
  for (const part of folded) part.open = false;
});
