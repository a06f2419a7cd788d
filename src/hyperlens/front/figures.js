// Figures: drawn when they come near the screen, in the colours of the theme; saved on demand.

const root = document.documentElement;
const touch = matchMedia("(pointer: coarse)").matches;
const figures = new Map(); // plot -> its figure, with the reader's choices applied
const drawn = new Set();

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
  for (const trace of data) {
    for (const bars of [trace.error_x, trace.error_y]) {
      if (bars) bars.color = card.color;
    }
  }
  layout.uirevision = "kept"; // what the reader hid or zoomed stays so in another theme
  if (touch) layout.dragmode = false; // a finger on a plot scrolls the page
  return { data, layout };
}

function draw(plot) {
  const { data, layout } = coloured(plot);
  drawn.add(plot);
  return Plotly.react(plot, data, layout, config);
}

const redraw = () => drawn.forEach(draw);

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
  figures.set(plot, JSON.parse(plot.nextElementSibling.textContent));
  near.observe(plot);
  const saving = figure.querySelector(".saving");
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

function download(name, address) {
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
}

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
