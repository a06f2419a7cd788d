// Long tables: sorted by a click on a column, searched, shown a page at a time.

const PAGE_ROWS = 25;

const shown = (value) => {
  if (value === null) return "";
  if (typeof value !== "number" || Number.isInteger(value)) return String(value);
  const short = Number(value.toPrecision(6));
  return Math.abs(short) < 1e-4 && short ? short.toExponential().replace(/e-(\d)$/, "e-0$1") : String(short);
};

// Numbers before texts, what is missing last, whichever way it is sorted.
function compare(a, b, way) {
  if (a === null || b === null) return (a === null) - (b === null);
  if (typeof a === typeof b) return (a < b ? -1 : a > b ? 1 : 0) * way;
  return typeof a === "number" ? -1 : 1;
}

const cell = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

function csvOf(grid) {
  const { columns, rows } = grid.whole();
  const lines = [columns, ...rows].map((row) => row.map((v) => cell(v === null ? "" : String(v))).join(","));
  return `${lines.join("\n")}\n`;
}

function adoptGrid(grid) {
  const { columns, numeric, rows: first } = JSON.parse(grid.querySelector("script.rows").textContent);
  let rows = first;
  const body = grid.querySelector("tbody");
  const heads = [...grid.querySelectorAll("thead th")];
  const state = { by: -1, way: 1, page: 0, rows };

  const bar = element("div", { className: "gridbar" });
  const search = element("input", { type: "search", placeholder: "Search", ariaLabel: grid.dataset.search ?? "Search in the table" });
  const said = element("output");
  const back = button("Previous", () => { state.page -= 1; show(); tell(); });
  const on = button("Next", () => { state.page += 1; show(); tell(); });
  const csv = button("CSV", () => saveText(`hyperlens-${grid.dataset.name}.csv`, csvOf(grid)));
  csv.ariaLabel = "Save the table as CSV";
  bar.append(search, back, on, said, csv);
  grid.prepend(bar);

  const tell = () => grid.dispatchEvent(new Event("looked", { bubbles: true }));

  function show() {
    const last = Math.max(Math.ceil(state.rows.length / PAGE_ROWS) - 1, 0);
    state.page = Math.min(Math.max(state.page, 0), last);
    const start = state.page * PAGE_ROWS;
    body.replaceChildren(...state.rows.slice(start, start + PAGE_ROWS).map((row) => {
      const line = element("tr");
      line.append(...row.map((value, k) => {
        const looks = { className: numeric[k] ? "number" : "text", textContent: shown(value) };
        if (k) return element("td", looks);
        const head = element("th", { scope: "row", ...looks });
        const link = grid.link ? grid.link(row) : grid.dataset.name === "data" ? linkToTrial(row[0]) : null;
        if (link) head.replaceChildren(element("a", { textContent: shown(value), ...link }));
        return head;
      }));
      return line;
    }));
    const end = Math.min(start + PAGE_ROWS, state.rows.length);
    said.textContent = state.rows.length ? `${start + 1} to ${end} of ${state.rows.length}` : "nothing found";
    back.disabled = state.page === 0;
    on.disabled = state.page === last;
  }

  function refresh() {
    const wanted = search.value.trim().toLowerCase();
    const found = wanted
      ? rows.filter((row) => row.some((v) => v !== null && String(v).toLowerCase().includes(wanted)))
      : [...rows];
    state.rows = state.by < 0 ? found : found.sort((a, b) => compare(a[state.by], b[state.by], state.way));
    state.page = 0;
    show();
  }

  function sortBy(k, way) {
    Object.assign(state, { by: k, way });
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    heads[k]?.setAttribute("aria-sort", way > 0 ? "ascending" : "descending");
    refresh();
  }

  heads.forEach((head, k) => {
    const name = head.firstChild;
    name.replaceWith(button(name.textContent, () => { sortBy(k, state.by === k ? -state.way : 1); tell(); }, "sort"));
  });
  search.addEventListener("input", () => { refresh(); tell(); });
  refresh();

  grid.whole = () => ({ columns, rows });
  grid.renew = (newer) => {
    rows = newer;
    refresh();
  };

  // What the reader looks at, and the same in a newer table.
  grid.view = () => ({ wanted: search.value, by: columns[state.by], way: state.way, page: state.page });
  grid.look = ({ wanted, by, way, page }) => {
    search.value = wanted;
    sortBy(columns.indexOf(by), way);
    state.page = page;
    show();
  };
}
