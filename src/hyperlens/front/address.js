// The address says what is shown: every choice is in it, so that a page can be reloaded, gone back to,
// kept and sent. Choices of the page have their own names, those of a card the card's before them.

const field = (id) => document.getElementById(id);
let wishes = new URLSearchParams(location.search);
let target = location.hash.slice(1); // a card that has yet to come

function writeAddress(way) {
  const text = String(wishes);
  const address = location.pathname + (text && `?${text}`) + location.hash;
  if (address !== location.pathname + location.search + location.hash) history[way](null, "", address);
}

// What the reader wishes; null where it is left to the page.
function wish(name, value) {
  if (value === null || value === "") wishes.delete(name);
  else wishes.set(name, value);
}

// A choice of the page is a step that one can go back from, one within a card is not.
function chosen(name, value) {
  wish(name, value);
  writeAddress("pushState");
}

addEventListener("popstate", () => {
  wishes = new URLSearchParams(location.search);
  followAddress();
});

// Choices within a card

const nameIn = (part, name) => `${cardOf(part)}.${name}`;

addEventListener("change", (event) => {
  const control = event.target.closest?.("[data-control]");
  if (!control) return;
  wish(nameIn(control, control.dataset.control), chosenOf(control));
  writeAddress("replaceState");
});

// Sorted tables say so themselves.
addEventListener("looked", ({ target: grid }) => {
  const { wanted, by, way, page } = grid.view();
  wish(nameIn(grid, "search"), wanted);
  wish(nameIn(grid, "sort"), by === undefined ? null : (way < 0 ? "-" : "") + by);
  wish(nameIn(grid, "page"), page ? String(page + 1) : null);
  writeAddress("replaceState");
});

// Boxes that are marked in a plot
addEventListener("marked", ({ target: plot, detail: boxes }) => {
  const texts = boxes.map(({ x0, x1, y0, y1 }) => [x0, x1, y0, y1].map((at) => Number(at.toPrecision(6))).join("_"));
  wish(nameIn(plot, "marked"), texts.join(","));
  writeAddress("replaceState");
});

function markAsWished(plot) {
  const texts = (wishes.get(nameIn(plot, "marked")) ?? "").split(",").map((text) => text.split("_").map(Number));
  const whole = texts.filter((box) => box.length === 4 && box.every(Number.isFinite));
  const boxes = whole.map(([x0, x1, y0, y1]) => ({ type: "rect", xref: "x", yref: "y", x0, x1, y0, y1 }));
  if (plot.boxes?.length && !boxes.length) tellBrushed(plot, "");
  plot.boxes = boxes;
}

// The trial that is looked at
addEventListener("trial", ({ detail }) => {
  wish("one", String(detail));
  writeAddress("replaceState");
});
function wishedTrial() {
  return wishes.has("one") ? Number(wishes.get("one")) : undefined;
}

function addressOfTrial(number) {
  const kept = new URLSearchParams(wishes);
  kept.set("one", String(number));
  return `?${kept}#trial`;
}

function wishedView(grid) {
  const of = (name) => wishes.get(nameIn(grid, name)) ?? "";
  const [way, by] = of("sort").startsWith("-") ? [-1, of("sort").slice(1)] : [1, of("sort")];
  return { wanted: of("search"), by, way, page: (Number.parseInt(of("page"), 10) || 1) - 1 };
}

function chooseAsWished(place) {
  for (const control of controlsOf(place)) {
    const wished = wishes.get(nameIn(control, control.dataset.control));
    if (wished === null) chooseAtFirst(control);
    else chooseAgain(control, wished);
  }
  place.querySelectorAll(".plot").forEach(markAsWished);
}

// A card that was linked to is shown when it comes, unless the reader has gone elsewhere by then.
function arrive() {
  const part = document.getElementById(decodeURIComponent(target));
  if (part?.checkVisibility()) part.scrollIntoView({ behavior: "instant" });
  if (view.begun && !document.querySelector(".slot[aria-busy]")) target = "";
}
for (const moved of ["wheel", "touchmove", "keydown", "pointerdown"]) {
  addEventListener(moved, () => { target = ""; }, { passive: true });
}
