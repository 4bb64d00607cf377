"use strict";
// Tables sort by their column heads, show the rows that hold a text, and are saved as CSV. Rows of tables and cells of heat
// maps show the sentences behind them. Without JavaScript all rows show.
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

  // What lies behind rows and cells (reports/evidence.py): texts are numbers of `evidence.texts`.
  let evidence = null;
  const shows = []; // of all tables, again when the evidence is there
  const dialog = element("dialog", {});
  const text = (place) => evidence.texts[place];
  const answersOf = (answers) => answers.map(([answer, status, reading]) => element("div", {},
    `\u201c${text(answer)}\u201d `, element("b", {}, [text(status), text(reading)].filter(Boolean).join(": "))));
  const cellTable = (rows) => {
    const columns = ["wording", "sentence", "score", "status", "answers, and how they were read"];
    const cells = rows.map(([wording, sentence, score, status, answers]) =>
      [[text(wording)], [text(sentence)], [text(score)], [text(status)], answersOf(answers)]);
    const shown = columns.map((_, place) => cells.some((row) => row[place].length && row[place][0] !== ""));
    const line = (name, parts) => element("tr", {}, ...parts.flatMap((part, place) => shown[place]
      ? [element(name, name === "th" ? { scope: "col" } : { className: place === 2 ? "number" : "" }, ...part)] : []));
    return element("table", {}, element("thead", {}, line("th", columns.map((title) => [title]))),
      element("tbody", {}, ...cells.map((row) => line("td", row))));
  };
  const open = (places, title) => {
    const parts = places.flatMap((place) => {
      const [run, subject, item, mean, wordings, rows, sentences] = evidence.cells[place];
      const table = element("div", { className: "table", tabIndex: 0, role: "group", ariaLabel: `${text(subject)}: ${text(item)}` }, cellTable(rows));
      return [
        element("h3", {}, `${text(subject)}: ${text(item)}`),
        element("p", { className: "note" }, `${text(run)}. ${evidence.measures[text(run)]}${text(mean) ? `: mean ${text(mean)}` : ""}. ` +
          `${rows.length} of ${wordings} wordings, from the lowest to the highest score.`),
        ...(rows.length ? [table] : []),
        ...(sentences.length ? [element("p", {}, "Some of the sentences that hold the word:"),
          element("ul", {}, ...sentences.map((sentence) => element("li", {}, text(sentence))))] : []),
      ];
    });
    const used = new Set(places.flatMap((place) => evidence.cells[place][5].flatMap((row) =>
      [text(row[3]).split(",")[0], ...row[4].map((answer) => text(answer[1]))])));
    const meanings = Object.entries(evidence.statuses).filter(([name]) => used.has(name)).map(([name, meaning]) => `${name}: ${meaning}`);
    const close = element("button", { type: "button", textContent: "Close" });
    close.addEventListener("click", () => dialog.close());
    dialog.replaceChildren(close, element("h2", { id: "behind-title" }, `Behind ${title}`), ...parts,
      element("p", { className: "note" }, meanings.join(" ")));
    dialog.setAttribute("aria-labelledby", "behind-title");
    dialog.showModal();
    dialog.scrollTop = 0;
  };
  // One button over the cells of a heat map: the pointer or the arrow keys choose a cell.
  const overlay = (box) => {
    const grid = evidence.pictures[box.dataset.name];
    if (!grid || !grid.length) return;
    const [left, top, width, height] = box.dataset.box.split(" ").map(Number);
    const [rows, columns] = [grid.length, grid[0].length];
    const marker = element("i", {});
    const button = element("button", { type: "button", className: "cells" }, marker);
    Object.assign(button.style, { left: `${left}%`, top: `${top}%`, width: `${width}%`, height: `${height}%` });
    let [row, column] = [0, 0];
    const choose = (down, right) => {
      [row, column] = [Math.min(Math.max(down, 0), rows - 1), Math.min(Math.max(right, 0), columns - 1)];
      const cell = evidence.cells[grid[row][column][0]];
      const name = cell ? `${text(cell[1])}: ${text(cell[2])}, ${text(cell[3])}` : "no sentences kept";
      button.ariaLabel = `Cell in row ${row + 1}, column ${column + 1}: ${name}. Arrow keys move, Enter shows the sentences.`;
      button.title = name;
      Object.assign(marker.style, { left: `${(100 * column) / columns}%`, top: `${(100 * row) / rows}%`, width: `${100 / columns}%`, height: `${100 / rows}%` });
    };
    const follow = (event) => {
      const area = button.getBoundingClientRect();
      choose(Math.floor(((event.clientY - area.top) / area.height) * rows), Math.floor(((event.clientX - area.left) / area.width) * columns));
    };
    button.addEventListener("pointermove", follow);
    button.addEventListener("keydown", (event) => {
      const move = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      if (!move) return;
      event.preventDefault();
      choose(row + move[0], column + move[1]);
    });
    button.addEventListener("click", (event) => {
      if (event.detail) follow(event); // not of a key
      const places = grid[row][column];
      if (places.length) open(places, button.title);
    });
    choose(0, 0);
    box.append(button);
  };
  const unpack = async (packed) => {
    const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
    const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    evidence = JSON.parse(await new Response(plain).text());
    for (const show of shows) show();
    document.querySelectorAll("[data-box]").forEach(overlay);
  };

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

    const behind = (row) => evidence?.tables[region.dataset.name]?.[rows.indexOf(row)] ?? [];
    const mark = (row) => { // its first cell opens what lies behind it
      if (row.classList.contains("behind") || !behind(row).length) return;
      row.classList.add("behind");
      const button = element("button", { type: "button", ariaHasPopup: "dialog" }, row.cells[0].textContent || "show");
      row.cells[0].replaceChildren(button);
    };
    body.addEventListener("click", (event) => {
      const row = event.target.closest("tr");
      const labels = () => [...row.cells].slice(0, 3).map((cell) => cell.textContent).filter((label) => number(label) === null);
      if (row && behind(row).length && !String(getSelection())) open(behind(row), labels().join(", "));
    });
    const show = () => {
      const wanted = filter.value.trim().toLowerCase();
      const found = order.filter((row) => !wanted || texts.get(row).includes(wanted));
      const shown = all ? found : found.slice(0, mostRows);
      body.replaceChildren(...shown);
      shown.forEach(mark);
      count.textContent = `${shown.length} of ${rows.length.toLocaleString("en")} rows`;
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
    shows.push(show);
    show();
  }

  document.body.append(dialog);
  const packed = document.getElementById("evidence");
  if (packed) unpack(packed.content.textContent.trim());
  const reveal = () => { // a link into a section that is folded
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let part = target?.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
    target?.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  if (location.hash) reveal();
  let closed = [];
  addEventListener("beforeprint", () => {
    (closed = [...document.querySelectorAll("details:not([open])")]).forEach((part) => { part.open = true; });
  });
  addEventListener("afterprint", () => { for (const part of closed) part.open = false; });
})();
