// Figures: drawn when they come near the screen, in the colours of the theme; saved on demand.

const root = document.documentElement;
const touch = matchMedia("(pointer: coarse)").matches;
const figures = new Map(); // plot -> its figure, with the reader's choices applied
const drawn = new Map(); // plot -> how wide it was drawn

// No bar of buttons: a plot is one picture to a screen reader, and dragging zooms.
const config = { responsive: true, displayModeBar: false };

// The stylesheet owns all colours; a plot reads its own computed ones.
function coloured(plot) {
  const style = getComputedStyle(plot);
  const ink = style.color;
  const line = style.borderTopColor;
  const card = getComputedStyle(plot.closest(".card"));
  const { data, layout } = structuredClone(figures.get(plot));
  layout.font = { ...layout.font, color: ink };
  layout.hoverlabel = { bgcolor: card.backgroundColor, bordercolor: line, font: { color: card.color } };
  for (const key of new Set([...Object.keys(layout), "xaxis", "yaxis"])) {
    if (/^[xy]axis\d*$/.test(key)) {
      layout[key] = { ...layout[key], gridcolor: line, linecolor: layout[key]?.showline ? ink : line, tickcolor: line };
    }
  }
  const neutral = layout.template?.layout?.font?.color; // marks of this grey are as strong as text
  for (const trace of data) {
    for (const bars of [trace.error_x, trace.error_y]) {
      if (bars) bars.color = card.color;
    }
    for (const looks of [trace.marker, trace.marker?.line, trace.line]) {
      if (looks && looks.color === neutral) looks.color = card.color;
    }
  }
  for (const { textfont } of data) {
    if (Array.isArray(textfont?.color)) textfont.color = textfont.color.map((own) => (own === neutral ? card.color : own));
  }
  for (const trace of data) {
    if (!trace.texttemplate || !Array.isArray(trace.colorscale)) continue; // numbers in cells stand out from what is seen
    trace.colorscale = trace.colorscale.map(([at, own]) => [at, /, ?0(\.0*)?\)$/.test(own) ? card.backgroundColor : own]);
  }
  for (const note of layout.annotations ?? []) {
    if (note.bgcolor) note.bgcolor = card.backgroundColor;
  }
  fit(layout, plot.clientWidth, data);
  layout.uirevision = "kept"; // what the reader hid or zoomed stays so in another theme
  if (touch) layout.dragmode = false; // a finger on a plot scrolls the page
  if (brushable(plot)) brush(plot, data, layout);
  return { data, layout };
}

// On a narrow page titles are broken into lines that fit beside the labels of the other axis, which take
// two lines where they would take too much of the room; panels side by side have few ticks.
const NARROW = 560, BESIDE = 60, MARGINS = 28; // pixels: a figure, numbers of an axis, left and right
const STACKED = 0.9, TITLE = 70; // part of its height that a panel keeps above others, pixels of its title
const LABELS = 0.4, PANEL = 0.6; // parts of a width: most that labels take in one line, a panel beside others
const CHARACTER = 7, SMALL = 6.3; // pixels of a character of a title and of a value

const lengthOf = (text) => text.replace(/<[^>]*>/g, "").replace(/&#?\w+;/g, "x").length;

function broken(text, most) {
  return text.split("<br>").map((line) => {
    let length = 0;
    return line.split(/ +(?![^<]*>)/).reduce((whole, word) => {
      const more = lengthOf(word);
      const joined = !whole || length + 1 + more <= most;
      length = joined ? length + (whole ? 1 : 0) + more : more;
      return whole + (whole ? (joined ? " " : "<br>") : "") + word;
    }, "");
  }).join("<br>");
}

// Panels side by side, each with a titled axis of its own, one above the other; what is below them stays.
function stacked(layout) {
  const panels = Object.keys(layout).filter((key) => /^xaxis\d*$/.test(key) && layout[key].domain)
    .map((key) => [layout[key], layout[key.replace("x", "y")]])
    .filter(([{ domain: [from, to] }, up]) => to - from < PANEL && up?.title?.text && up.domain);
  if (panels.length < 2 || !layout.height) return;
  const [bottom, top] = panels[0][1].domain;
  const each = (top - bottom) * layout.height * STACKED;
  const taller = layout.height * (1 - top + bottom) + each * panels.length;
  for (const [key, axis] of Object.entries(layout)) {
    if (/^yaxis\d*$/.test(key) && axis.domain?.[1] <= bottom) axis.domain = axis.domain.map((y) => (y * layout.height) / taller);
  }
  panels.forEach(([across, up], k) => {
    across.domain = [0, 1];
    const low = (bottom * layout.height + each * (panels.length - 1 - k)) / taller;
    up.domain = [low + (k < panels.length - 1 ? TITLE / taller : 0), Math.min(low + each / taller, 1)];
  });
  layout.height = taller;
}

function fit(layout, width, data) {
  if (!width || width > NARROW) return;
  for (const trace of data) {
    if (!trace.texttemplate) continue; // numbers in cells say what the bar of colours would, which takes their room
    trace.showscale = false;
    layout.xaxis = { ...layout.xaxis, tickangle: -90 };
  }
  stacked(layout);
  const labelled = [layout.yaxis, layout.yaxis2].filter((axis) => axis?.ticktext);
  const widest = () => CHARACTER * Math.max(0,
    ...labelled.flatMap((axis) => axis.ticktext).flatMap((label) => String(label).split("<br>")).map(lengthOf));
  if (widest() > width * LABELS) {
    for (const axis of labelled) axis.ticktext = axis.ticktext.map((label) => String(label).replace("</b>  ", "</b><br>"));
  }
  const room = width - Math.max(widest(), BESIDE);
  const most = Math.max(Math.floor(room / CHARACTER), 12);
  for (const [key, axis] of Object.entries(layout)) {
    if (!/^xaxis\d*$/.test(key)) continue;
    const [from, to] = axis.domain ?? [0, 1];
    const own = Math.max(Math.floor((to - from) * most), 9);
    if (axis.title?.text) axis.title = { ...axis.title, text: broken(axis.title.text, own) };
    if (to - from < PANEL && !axis.ticktext) Object.assign(axis, { nticks: 3, tickangle: 0, tickfont: { size: 10 } });
  }
  layout.legend = { ...layout.legend, font: { ...layout.legend?.font, size: 11 } };
  if (layout.annotations) layout.annotations = apart(layout.annotations, most * CHARACTER - MARGINS, layout.xaxis?.range);
}

// Values written along rows, without those that would touch the one before; the last one stays.
function apart(notes, width, [low, high] = [0, 1]) {
  const rows = Map.groupBy(notes.filter((note) => note.bgcolor), (note) => note.y);
  const kept = new Set(notes.filter((note) => !note.bgcolor));
  const touching = (a, b) =>
    ((b.x - a.x) / (high - low)) * width < ((lengthOf(a.text) + lengthOf(b.text)) / 2 + 0.5) * SMALL;
  for (const row of rows.values()) {
    const last = row.sort((a, b) => a.x - b.x).pop();
    let before;
    for (const note of row) {
      if ((before && touching(before, note)) || touching(note, last)) continue;
      kept.add((before = note));
    }
    kept.add(last);
  }
  return notes.filter((note) => kept.has(note));
}

function draw(plot) {
  const { data, layout } = coloured(plot);
  const first = !drawn.has(plot);
  drawn.set(plot, plot.clientWidth);
  if (layout.height) plot.style.height = `${layout.height}px`;
  tellConfigurations(data);
  const done = Plotly.react(plot, data, layout, config).catch((problem) => {
    if (drawn.has(plot)) throw problem; // else it was taken from the page while it was drawn
  });
  if (first) {
    adoptClicks(plot);
    adoptBrush(plot);
  }
  return done;
}

const redraw = () => [...drawn.keys()].forEach(draw);

let resizing;
addEventListener("resize", () => {
  clearTimeout(resizing);
  resizing = setTimeout(() => {
    for (const [plot, width] of drawn) {
      if (plot.clientWidth !== width) draw(plot);
    }
  }, 200);
});

const near = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting) {
        near.unobserve(entry.target);
        draw(entry.target);
      }
    }
  },
  { rootMargin: "400px 0px" },
);

function adoptFigure(figure) {
  const plot = figure.querySelector(".plot");
  if (!plot) return; // a panel of words
  figures.set(plot, JSON.parse(plot.nextElementSibling.textContent));
  near.observe(plot);
  const saving = figure.querySelector(".saving");
  if (!saving) return; // a small picture
  saving.hidden = false;
  for (const button of saving.querySelectorAll("button")) {
    button.addEventListener("click", () => save(figure, button.dataset.save));
  }
}

function forgetFigure(plot) {
  near.unobserve(plot);
  figures.delete(plot);
  if (drawn.delete(plot)) Plotly.purge(plot);
}

const element = (kind, looks = {}) => Object.assign(document.createElement(kind), looks);
const button = (text, onclick, className = "") =>
  element("button", { type: "button", textContent: text, onclick, className });
const download = (name, address) => element("a", { href: address, download: name }).click();

function saveText(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  download(name, address);
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

async function save(figure, kind) {
  const name = `hyperlens-${figure.dataset.name}.${kind}`;
  if (kind === "csv") {
    const other = figure.dataset.csvOf;
    const grid = other && document.getElementById(other)?.querySelector(".grid");
    saveText(name, grid ? csvOf(grid) : JSON.parse(figure.querySelector("script.csv").textContent));
    return;
  }
  const plot = figure.querySelector(".plot");
  const { data, layout } = coloured(plot);
  layout.paper_bgcolor = getComputedStyle(plot.closest(".card")).backgroundColor;
  const size = { width: plot.clientWidth, height: plot.clientHeight, scale: kind === "png" ? 2 : 1 };
  download(name, await Plotly.toImage({ data, layout }, { format: kind, ...size }));
}
