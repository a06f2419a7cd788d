// What a reader may choose. Traces say in meta.when, elements in data-when, for which values they show.

const controlsOf = (card) => [...card.querySelectorAll("[data-control]")];

function valuesOf(card) {
  const values = {};
  for (const control of controlsOf(card)) {
    const name = control.dataset.control;
    if (control.type === "radio") {
      if (control.checked) values[name] = Number(control.value);
    } else {
      values[name] = control.type === "checkbox" ? Number(control.checked) : Number(control.value);
    }
  }
  return values;
}

const shows = (when, values) =>
  Object.entries(when ?? {}).every(([name, list]) => !(name in values) || list.includes(values[name]));

function applyChoices(card) {
  let values = valuesOf(card);
  for (const element of card.querySelectorAll("[data-when]")) {
    element.hidden = !shows(JSON.parse(element.dataset.when), values);
  }
  const radios = [...card.querySelectorAll('input[type="radio"][data-control]')];
  const able = radios.filter((radio) => !radio.closest("[hidden]"));
  if (able.length && !able.some((radio) => radio.checked)) {
    (able.find((radio) => "best" in radio.dataset) ?? able[0]).checked = true;
    values = valuesOf(card);
  }
  for (const plot of card.querySelectorAll(".plot")) {
    const figure = figures.get(plot);
    for (const trace of figure.data) applyToTrace(trace, values);
    retitle(plot, figure);
    if (drawn.has(plot)) draw(plot);
  }
}

function applyToTrace(trace, values) {
  const { when, region, on, off } = trace.meta ?? {};
  if (!when) return;
  const looks = region === undefined ? undefined : values.region === region ? on : off;
  if (looks) Object.assign(trace, structuredClone(looks));
  trace.visible = shows(when, values) && (looks?.visible ?? true);
}

// An axis may have another title while certain traces show.
function retitle(plot, figure) {
  const other = figure.data.find((trace) => trace.meta?.xtitle && trace.visible)?.meta.xtitle;
  plot.firstTitle ??= figure.layout.xaxis?.title?.text;
  if (other || plot.firstTitle) figure.layout.xaxis.title.text = other ?? plot.firstTitle;
}

const nameOfText = (text) => text.split(" · ")[0]; // what follows may change

const saidOf = (range) => JSON.parse(range.dataset.texts)[range.value - range.min];

function tellRange(range) {
  range.setAttribute("aria-valuetext", saidOf(range));
  range.parentElement.querySelector("output").textContent = saidOf(range);
}

function adoptControls(card) {
  const all = controlsOf(card);
  for (const group of card.querySelectorAll(".controls")) group.hidden = false;
  for (const control of all) {
    const kind = control.type === "range" ? "input" : "change";
    control.addEventListener(kind, () => {
      if (control.type === "range") tellRange(control);
      applyChoices(card);
    });
  }
  if (all.length) applyChoices(card);
}
