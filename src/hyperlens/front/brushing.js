// Parallel coordinates are brushed: a box over values of some rows keeps the lines that go through it,
// a second one with the shift key the lines that go through both.

const brushable = (plot) => Boolean(figures.get(plot)?.layout.meta?.brush) && !touch;

// What is allowed in each row: ranges of places, of which one is to be met.
function rangesOf(boxes) {
  const ranges = new Map();
  for (const { x0, x1, y0, y1 } of boxes) {
    const [top, bottom] = [Math.min(y0, y1), Math.max(y0, y1)];
    const inside = bottom >= Math.ceil(top);
    const first = inside ? Math.ceil(top) : Math.round((top + bottom) / 2);
    for (let row = first; row <= (inside ? bottom : first); row += 1) {
      ranges.set(row, [...(ranges.get(row) ?? []), [Math.min(x0, x1), Math.max(x0, x1)]]);
    }
  }
  return ranges;
}

// A trace of lines with those alone that meet every row's ranges.
function keepLines(trace, ranges) {
  const kept = { x: [], y: [], lines: [] };
  let start = 0;
  for (const number of trace.meta.lines) {
    const end = trace.x.indexOf(null, start);
    const [x, y] = [trace.x.slice(start, end), trace.y.slice(start, end)];
    start = end + 1;
    const place = (row) => x[y.indexOf(row)];
    if (![...ranges].every(([row, list]) => list.some(([low, high]) => low <= place(row) && place(row) <= high))) continue;
    kept.x.push(...x, null);
    kept.y.push(...y, null);
    kept.lines.push(number);
  }
  [trace.x, trace.y, trace.meta.lines] = [kept.x, kept.y, kept.lines];
}

function brush(plot, data, layout) {
  layout.dragmode = "select";
  if (!plot.boxes?.length) return;
  layout.selections = structuredClone(plot.boxes);
  const ranges = rangesOf(plot.boxes);
  const lines = data.filter((trace) => trace.meta?.lines && trace.visible !== false);
  const count = () => lines.reduce((sum, trace) => sum + trace.meta.lines.length, 0);
  const all = count();
  lines.forEach((trace) => keepLines(trace, ranges));
  const numbers = lines.flatMap((trace) => trace.meta.lines).sort((a, b) => a - b);
  tellBrushed(plot, `${count()} of ${all} lines go through what is marked`, numbers);
}

const MOST_NAMED = 12; // trials

function tellBrushed(plot, text, numbers = []) {
  const place = plot.parentElement.querySelector(".brushed") ?? element("p", { className: "brushed", role: "status" });
  plot.after(place);
  place.hidden = !text;
  const links = numbers.length <= MOST_NAMED ? numbers : [];
  const named = links.flatMap((number, k) => [k ? ", " : ": trials ", element("a", { textContent: number, ...linkToTrial(number) })]);
  const all = button("Show all", () => adoptBoxes(plot, []), "plain");
  place.replaceChildren(...(text ? [text, ...named, ". ", all] : []));
}

function adoptBoxes(plot, boxes) {
  plot.boxes = boxes;
  plot.dispatchEvent(new CustomEvent("marked", { bubbles: true, detail: boxes }));
  if (!boxes.length) tellBrushed(plot, "");
  draw(plot);
}

function adoptBrush(plot) {
  if (!brushable(plot)) return;
  plot.removeAllListeners?.("plotly_selected");
  plot.removeAllListeners?.("plotly_deselect");
  plot.on("plotly_selected", (marked) => { if (marked?.selections) adoptBoxes(plot, marked.selections); });
  plot.on("plotly_deselect", () => adoptBoxes(plot, []));
}
