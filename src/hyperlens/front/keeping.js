// A card that is replaced keeps what its reader chose, opened, wrote and zoomed, and where they are.

const FOCUSABLE = "a[href], button, input, select, summary, [tabindex]";
const cardOf = (part) => part.closest(".card")?.id ?? "";

// Parts of a kind, by a name that is the same before and after.
function named(place, selector, nameOf = () => "") {
  const times = new Map();
  const found = new Map();
  for (const part of place.querySelectorAll(selector)) {
    const name = `${cardOf(part)} ${nameOf(part)}`;
    times.set(name, (times.get(name) ?? 0) + 1);
    found.set(`${name} ${times.get(name)}`, part);
  }
  return found;
}

const folds = (place) => named(place, "details", (fold) => fold.className);
const frames = (place) => named(place, ".scroll");
const grids = (place) => named(place, ".grid");
const plots = (place) => named(place, ".plot");
const reachable = (place) => named(place, FOCUSABLE, (part) => [
  part.tagName, part.id, part.type, part.getAttribute("aria-label"), part.dataset.control,
  part.type === "radio" ? part.value : "",
  ["BUTTON", "SUMMARY", "A"].includes(part.tagName) ? part.textContent : "",
].join(" "));

// A choice is known by its words, for its number may mean something else in the next card; null is the
// card's own.
function chosenOf(control) {
  if (control.type === "radio") {
    return control.checked && !control.defaultChecked ? ruleOf(control) : null;
  }
  if (control.type === "checkbox") {
    return control.checked === control.defaultChecked ? null : control.checked ? "on" : "off";
  }
  if (control.type === "range") return control.value === control.defaultValue ? null : nameOfText(saidOf(control));
  const option = control.selectedOptions[0];
  return !option || option.defaultSelected ? null : option.text;
}

const ruleOf = (radio) => radio.closest("label").querySelector(".rule").textContent;

function chooseAgain(control, chosen) {
  if (control.type === "radio") {
    if (ruleOf(control) === chosen) control.checked = true;
  } else if (control.type === "checkbox") {
    control.checked = chosen === "on";
  } else if (control.type === "range") {
    const at = JSON.parse(control.dataset.texts).map(nameOfText).indexOf(chosen);
    if (at >= 0) control.value = Number(control.min) + at;
    tellRange(control);
  } else {
    const option = [...control.options].find((one) => one.text === chosen);
    if (option) option.selected = true;
  }
}

function chooseAtFirst(control) {
  if (control.type === "radio" || control.type === "checkbox") control.checked = control.defaultChecked;
  else if (control.type === "range") {
    control.value = control.defaultValue;
    tellRange(control);
  } else for (const option of control.options) option.selected = option.defaultSelected;
}

function remember(place) {
  const at = document.activeElement;
  return {
    folds: new Map([...folds(place)].map(([name, fold]) => [name, fold.open])),
    frames: new Map([...frames(place)].map(([name, frame]) => [name, [frame.scrollLeft, frame.scrollTop]])),
    aside: place.querySelector(":popover-open")?.id,
    focus: place.contains(at) ? [...reachable(place)].find(([, part]) => part === at)?.[0] : undefined,
    selection: [at?.selectionStart, at?.selectionEnd],
  };
}

// Choices before the card comes to life, so that it is drawn once.
function restoreChoices(place, kept) {
  chooseAsWished(place);
  for (const [name, fold] of folds(place)) fold.open = kept.folds.get(name) ?? fold.open;
}

function restorePlace(place, kept) {
  for (const grid of grids(place).values()) grid.look(wishedView(grid));
  for (const [name, frame] of frames(place)) [frame.scrollLeft, frame.scrollTop] = kept.frames.get(name) ?? [0, 0];
  const aside = kept.aside && document.getElementById(kept.aside);
  if (aside) aside.showPopover();
  const focus = reachable(place).get(kept.focus);
  if (focus) {
    focus.focus({ preventScroll: true });
    if (Number.isInteger(kept.selection[0]) && focus.setSelectionRange) focus.setSelectionRange(...kept.selection);
  }
}

// A plot of the same lines is drawn anew in its own place, so that it keeps what was zoomed or hidden.
function keepPlots(before, place) {
  const lines = (figure) => JSON.stringify(figure.data.map((trace) => [trace.name, trace.type]));
  for (const [name, fresh] of plots(place)) {
    const plot = before.get(name);
    if (!plot || !drawn.has(plot)) continue;
    if (lines(figures.get(plot)) !== lines(JSON.parse(fresh.nextElementSibling.textContent))) continue;
    plot.setAttribute("aria-label", fresh.getAttribute("aria-label"));
    plot.style.height = fresh.style.height;
    delete plot.firstTitle;
    fresh.replaceWith(plot);
    before.delete(name);
  }
  before.forEach(forgetFigure);
}

// The part that is being read, or the last before it that is still there, stays where it is,
// whatever changes above it.
function steady(change) {
  const line = 120; // pixels: below what covers the top of the page
  const before = scrollY > 0 ? [...spots()].filter(([, top]) => top <= line) : [];
  change();
  const after = spots();
  const spot = before.findLast(([name]) => after.has(name));
  const moved = spot ? after.get(spot[0]) - spot[1] : 0;
  if (!moved) return;
  const from = scrollY;
  scrollBy({ top: moved + owed, behavior: "instant" });
  owed = (moved + owed - (scrollY - from)) % 1;
}
let owed = 0; // part of a pixel that a browser does not scroll; many of them would add up

// How far from the top of the window each part that shows begins.
function spots() {
  const parts = named(document, "main h2, .card, .card > *", (part) => part.id || part.tagName);
  const seen = [...parts].filter(([, part]) => part.checkVisibility()); // not within what is folded
  const places = seen.map(([name, part]) => [name, part.getBoundingClientRect()]);
  return new Map(places.filter(([, at]) => at.height > 0).map(([name, at]) => [name, at.top]));
}

// A card is not taken out of the hand that is moving something in it.
let held = null;
addEventListener("pointerdown", (event) => { held = event.target.closest?.('input[type="range"], .plot'); }, true);
for (const end of ["pointerup", "pointercancel", "blur"]) addEventListener(end, () => { held = null; }, true);
