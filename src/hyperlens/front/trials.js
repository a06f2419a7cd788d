// One trial: reached from its point, its line or its row, or chosen by number; shown in its own card.

const trialCard = () => document.querySelector(".one");
const toldOf = (card) => (card.told ??= JSON.parse(card.querySelector("script.told").textContent));
const numberFormat = (value) => (value === null ? "–" : shown(value));

// The rows of the table of all trials, by number.
function rowsByNumber() {
  const grid = document.querySelector('.grid[data-name="data"]');
  if (!grid?.whole) return { columns: [], rows: new Map() };
  const { columns, rows } = grid.whole();
  if (grid.numbered?.of !== rows) grid.numbered = { of: rows, rows: new Map(rows.map((row) => [row[0], row])) };
  return { columns, rows: grid.numbered.rows };
}

// Which trial each point of a trace is; undefined where it is none. Lines of one trace lie between gaps.
function trialsOf(trace) {
  const { trials, lines } = trace.meta ?? {};
  if (trials === "x") return trace.x;
  if (!lines) return trials;
  let line = 0;
  return trace.x.map((x) => (x === null ? lines[line++] : lines[line]));
}

// Of a map a point is a row and a column.
const trialAt = ({ data, pointIndex }) => trialsOf(data)?.[Array.isArray(pointIndex) ? pointIndex[1] : pointIndex];

const literal = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

// A figure says the whole configuration of the trial below the pointer.
const MOST_LINES = 14;

function tellConfigurations(data) {
  const { columns, rows } = rowsByNumber();
  if (!rows.size) return;
  const texts = new Map();
  const told = (number) => {
    if (!texts.has(number)) {
      const row = rows.get(number);
      const lines = row ? columns.slice(1).map((name, k) => [name, row[k + 1]]).filter(([, value]) => value !== null) : [];
      const more = lines.length > MOST_LINES ? [`and ${lines.length - MOST_LINES} more`] : [];
      const said = lines.slice(0, MOST_LINES).map(([name, value]) => `${literal(name)}: ${literal(shown(value))}`);
      texts.set(number, [`<b>trial ${number}</b>`, ...said, ...more].join("<br>"));
    }
    return texts.get(number);
  };
  for (const trace of data) {
    const numbers = trialsOf(trace);
    if (!numbers || trace.meta.own) continue;
    trace.hovertext = numbers.map(told);
    trace.hovertemplate = "%{hovertext}<extra></extra>";
  }
}

function adoptClicks(plot) {
  plot.removeAllListeners?.("plotly_click");
  plot.on("plotly_click", ({ points }) => {
    const number = points.map(trialAt).find((found) => found !== undefined);
    if (number !== undefined) goToTrial(number);
  });
}

function goToTrial(number) {
  const card = trialCard();
  if (!card) return;
  showTrial(card, number);
  card.dispatchEvent(new CustomEvent("trial", { bubbles: true, detail: number }));
  unfold("trial").scrollIntoView();
  card.querySelector("select").focus({ preventScroll: true });
}

// A trial's number as a link to its card, if there is one.
const linkToTrial = (number) => trialCard() && {
  href: addressOfTrial(number),
  onclick: (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    goToTrial(number);
  },
};

// Rows of a table that are trials.
function adoptRows(table) {
  if (table.tHead?.rows[0]?.cells[0]?.firstChild?.textContent.trim() !== "trial") return;
  for (const { cells: [head] } of table.tBodies[0].rows) {
    const link = /^\d+$/.test(head.textContent) && linkToTrial(Number(head.textContent));
    if (link) head.replaceChildren(element("a", { textContent: head.textContent, ...link }));
  }
}

// A trial with its cost and how it ended, as lists show it.
function titleOfTrial(number) {
  const card = trialCard();
  const one = card && toldOf(card).told.find((trial) => trial.number === number);
  return one ? `${number} · ${numberFormat(one.cost)} · ${one.state}` : String(number);
}

function adoptTrials(card) {
  const { told, first } = toldOf(card);
  const label = element("label", { htmlFor: "one-trial", textContent: "Trial" });
  const list = element("select", { id: "one-trial" });
  list.append(...told.map(({ number }) => new Option(titleOfTrial(number), number)));
  list.addEventListener("change", () => goToTrial(Number(list.value)));
  const bar = element("p", { className: "control" });
  bar.append(label, list);
  card.append(bar, element("div", { className: "shown" }));
  showTrial(card, wishedTrial() ?? first);
}

function showTrial(card, number) {
  const { told } = toldOf(card);
  const one = told.find((trial) => trial.number === number);
  const place = card.querySelector(".shown");
  card.querySelector("select").value = one ? number : "";
  place.querySelectorAll(".plot").forEach(forgetFigure);
  if (!one) {
    const known = rowsByNumber().rows.has(number);
    const said = known ? `Of so many trials, this card tells the best and the latest; trial ${number} is in the table.` : `This run has no trial ${number}; choose another one.`;
    place.replaceChildren(element("p", { textContent: said }));
    return;
  }
  const parts = [element("p", { textContent: one.said })];
  if (one.thought) parts.push(element("p", { textContent: one.thought }));
  parts.push(valuesBeside(one));
  const why = wayToWhy(number);
  if (why || one.better !== null) {
    const ways = element("p", { className: "ways" });
    if (one.better !== null) ways.append(button(`Go to trial ${one.better}`, () => goToTrial(one.better), "plain"));
    if (why) ways.append(button(`Why trial ${number} was proposed`, why, "plain"));
    parts.push(ways);
  }
  place.replaceChildren(...parts.filter(Boolean));
  drawCurves(place, one, told.find((trial) => trial.number === one.better));
}

// All that is known of a trial, beside the nearest better one; what differs is strong.
function valuesBeside(one) {
  const { columns, rows } = rowsByNumber();
  const own = rows.get(one.number);
  const other = rows.get(one.better);
  if (!own) return null;
  const table = element("table");
  const heads = ["", `trial ${one.number}`, ...(other ? [`trial ${one.better}, better`] : [])];
  const head = element("tr");
  head.append(...heads.map((text) => element(text ? "th" : "td", { textContent: text, ...(text && { scope: "col" }) })));
  const lines = columns.slice(1).map((name, k) => {
    const line = element("tr");
    const values = [own, ...(other ? [other] : [])].map((row) => numberFormat(row[k + 1]));
    line.append(element("th", { scope: "row", textContent: name }), ...values.map((text) => {
      const cell = element("td");
      cell.append(other && values[0] !== values[1] ? element("strong", { textContent: text }) : text);
      return cell;
    }));
    return line;
  });
  table.append(element("thead"), element("tbody"));
  table.firstChild.append(head);
  table.lastChild.append(...lines);
  const frame = element("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: `Table: trial ${one.number}` });
  frame.append(table);
  return frame;
}

function drawCurves(place, one, other) {
  const curves = [one, other].filter((trial) => trial?.curve);
  if (!one.curve) return;
  const plot = element("div", { className: "plot", role: "img", ariaLabel: `Plot: learning curve of trial ${one.number}` });
  plot.style.height = "240px";
  place.append(plot);
  const data = curves.map(({ number, curve: [x, y] }) => ({ type: "scatter", mode: "lines", name: `trial ${number}`, x, y }));
  const axis = { zeroline: false }; // without automargin, which draws again later, when this may be gone
  const legend = { orientation: "h", x: 0, y: 1, yanchor: "bottom" }; // above, where a phone has room
  const layout = { height: 240, margin: { l: 64, r: 8, t: 32, b: 40 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", legend,
    xaxis: { ...axis, title: { text: "step" } }, yaxis: { ...axis, title: { text: literal(toldOf(trialCard()).objective) } } };
  figures.set(plot, { data, layout });
  draw(plot);
}
