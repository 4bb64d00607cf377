"use strict";
// Tables sort by their column heads, show the rows that hold a text, and are saved as CSV. Without JavaScript all rows show.
(() => {
  const mostRows = 30; // until all are asked for
  const number = (text) => {
    const value = Number.parseFloat(text.replace("\u2212", "-").replace(/[<,]/g, ""));
    return Number.isNaN(value) ? null : value;
  };
  const compare = (a, b) => {
    const [x, y] = [number(a), number(b)];
    if (x !== null && y !== null) return x - y;
    return a.localeCompare(b, "en", { numeric: true });
  };
  const element = (name, properties, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };
  const csv = (table) => [...table.rows]
    .map((row) => [...row.cells].map((cell) => `"${cell.textContent.replace("\u2212", "-").replaceAll('"', '""')}"`).join(","))
    .join("\n");

  for (const region of document.querySelectorAll("div.table")) {
    const table = region.querySelector("table");
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
    let order = rows;
    let all = rows.length <= mostRows;
    const filter = element("input", { type: "search", autocomplete: "off" });
    const count = element("span", {});
    count.setAttribute("role", "status");
    const more = element("button", { type: "button", textContent: "Show all rows" });
    const save = element("button", { type: "button", textContent: "Save as CSV" });

    const show = () => {
      const wanted = filter.value.trim().toLowerCase();
      const found = order.filter((row) => !wanted || texts.get(row).includes(wanted));
      const shown = all ? found : found.slice(0, mostRows);
      body.replaceChildren(...shown);
      count.textContent = `${shown.length} of ${rows.length} rows`;
      more.hidden = all || found.length <= mostRows;
    };
    const sort = (column, head) => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const text = (row) => row.cells[column].textContent;
      const isNone = (row) => text(row) === "none";
      order = [...rows].sort((a, b) => isNone(a) - isNone(b) || (down ? -1 : 1) * compare(text(a), text(b)));
      show();
    };
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = element("button", { type: "button", textContent: head.textContent });
      button.addEventListener("click", () => sort(column, head));
      head.replaceChildren(button);
    });
    filter.addEventListener("input", show);
    more.addEventListener("click", () => { all = true; show(); });
    save.addEventListener("click", () => {
      body.replaceChildren(...order);
      const link = element("a", { download: "table.csv", href: URL.createObjectURL(new Blob([csv(table)], { type: "text/csv" })) });
      link.click();
      URL.revokeObjectURL(link.href);
      show();
    });
    if (rows.length > 3) {
      region.before(element("div", { className: "tools" }, element("label", {}, "Rows with ", filter), count, more, save));
    }
    show();
  }
})();
