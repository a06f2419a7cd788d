// The live page: asks for each card, shows how far it is, and asks again when the run went on.

const QUICK = ["overview", "search", "data", "beside"];
const OF_EFFECT = ["effect", "pair", "regions"];
const GROWN = 1.1; // long computations are done again when a run has so many times the trials
const RESTED = 12000; // milliseconds without news after which they are done for all trials
const field = (id) => document.getElementById(id);
const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
const slots = new Map(
  [...document.querySelectorAll(".slot")].map((place) => [
    place.dataset.card,
    { card: place.dataset.card, place, asked: 0, key: "", version: "", trials: 0, ticket: null },
  ]),
);
const view = { run: null, seen: null, steps: [], changed: 0, offline: false };

async function request(path, body) {
  const answer = await fetch(path, body && {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  const content = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(content.problem), { said: content.problem });
  return content;
}

// Lists

function fill(list, options, chosen) {
  const now = chosen ?? list.value;
  list.replaceChildren(...options.map(([value, text]) => new Option(text, value)));
  list.value = options.some(([value]) => String(value) === String(now)) ? now : options[0]?.[0] ?? "";
}

const hideUnless = (name, needed) =>
  document.querySelectorAll(`[data-of="${name}"]`).forEach((part) => { part.hidden = !needed; });

function fillChoices(seen) {
  fill(field("objective"), seen.objectives.map((name) => [name, name]));
  hideUnless("objective", seen.objectives.length > 1);
  fill(field("budget"), [["", "largest"], ...seen.budgets.map((b) => [b, String(b)])]);
  hideUnless("budget", seen.budgets.length > 1);
  fill(field("parameter"), [["", "the most important"], ...seen.parameters.map((name) => [name, name])]);
  fill(field("other"), [["", "none"], ...seen.parameters.map((name) => [name, name])]);
  const trials = seen.explained.map((k) => [k, `trial ${k}`]).reverse();
  fill(field("trial"), seen.recorded ? trials : [["", "choose one"], ...trials]);
  hideUnless("proposals", trials.length > 0);
}

// Questions

function question(card) {
  const asked = { run: view.run, card, objective: field("objective").value || null };
  const budget = field("budget").value;
  if (budget) asked.budget = Number(budget);
  if (card === "beside") {
    asked.beside = [...document.querySelectorAll("#beside input:checked")].map((box) => Number(box.value));
    return asked;
  }
  if (!QUICK.includes(card)) asked.surrogate = field("surrogate").value || null;
  if (OF_EFFECT.includes(card)) asked.parameter = field("parameter").value || null;
  if (card === "pair") asked.other = field("other").value || null;
  if (card === "regions") asked.steps = view.steps;
  if (card === "proposals") asked.trial = field("trial").value ? Number(field("trial").value) : null;
  return asked;
}

const wanted = (card) => {
  if (card === "beside") return document.querySelectorAll("#beside input:checked").length > 1;
  if (card === "pair") return field("other").value !== "" && field("other").value !== field("parameter").value;
  if (card === "proposals") return field("trial").value !== "";
  return true;
};

async function ask(slot) {
  const number = (slot.asked += 1);
  const current = () => number === slot.asked;
  if (slot.ticket) request("/api/cancel", { ticket: slot.ticket, waiting: true }).catch(() => {});
  slot.ticket = null;
  if (!wanted(slot.card)) {
    show(slot, "");
    return;
  }
  slot.place.setAttribute("aria-busy", "true");
  slot.version = view.seen.version;
  slot.trials = view.seen.trials;
  try {
    let answer = await request("/api/ask", question(slot.card));
    for (let pause = 120; current() && ["waiting", "running"].includes(answer.state); pause = Math.min(pause * 1.4, 1000)) {
      slot.ticket = answer.ticket;
      status(slot, answer);
      await wait(pause);
      if (current()) answer = await request(`/api/job?ticket=${answer.ticket}`);
    }
    if (!current()) return;
    slot.ticket = null;
    if (answer.state === "done") {
      show(slot, answer.html);
      slot.version = answer.version;
      slot.trials = answer.trials;
    } else {
      complain(slot, answer.problem);
    }
  } catch (problem) {
    if (current()) complain(slot, problem.said ?? "The page has lost its server; start hyperlens serve again.");
  }
}

// What a slot shows

function line(slot) {
  let place = slot.place.querySelector(":scope > .status");
  if (!place) {
    place = document.createElement("div");
    place.className = "status";
    place.setAttribute("role", "status");
    slot.place.prepend(place);
  }
  return place;
}

function button(text, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "plain";
  made.textContent = text;
  made.addEventListener("click", act);
  return made;
}

function status(slot, answer) {
  const place = line(slot);
  if (!place.querySelector("progress")) {
    const text = document.createElement("span");
    const bar = document.createElement("progress");
    bar.max = 1;
    bar.setAttribute("aria-label", "How much is done");
    place.className = "status";
    place.replaceChildren(text, bar, button("Cancel", () => {
      if (slot.ticket) request("/api/cancel", { ticket: slot.ticket }).catch(() => {});
    }));
  }
  place.firstChild.textContent = answer.what;
  if (answer.part > 0) place.querySelector("progress").value = answer.part;
}

function complain(slot, sentence) {
  slot.place.removeAttribute("aria-busy");
  const place = line(slot);
  const text = document.createElement("span");
  text.textContent = sentence;
  place.className = "status problem";
  place.replaceChildren(text, button("Try again", () => ask(slot)));
}

function show(slot, html) {
  const kept = new Map(controlsOf(slot.place).filter((c) => c.id).map((c) => [c.id, c]));
  const open = new Set([...slot.place.querySelectorAll("details[open]")].map(nameOf));
  slot.place.style.minHeight = `${slot.place.offsetHeight}px`;
  slot.place.querySelectorAll(".plot").forEach(forgetFigure);
  const made = document.createElement("template");
  made.innerHTML = html; // of our own server, which escapes every text
  slot.place.replaceChildren(made.content);
  slot.place.removeAttribute("aria-busy");
  for (const control of controlsOf(slot.place)) {
    const before = kept.get(control.id);
    if (!before || control.type === "radio") continue;
    if (control.type === "checkbox") control.checked = before.checked;
    else if (control.type !== "range") control.value = before.value;
  }
  for (const fold of slot.place.querySelectorAll("details")) fold.open = open.has(nameOf(fold));
  enliven(slot.place);
  adoptHands(slot.place);
  slot.place.style.minHeight = "";
}

const nameOf = (fold) => `${fold.closest(".card")?.id} ${fold.className}`;

// Regions are grown and shrunk by hand.

function adoptHands(place) {
  for (const hand of place.querySelectorAll(".hand")) {
    hand.addEventListener("click", () => {
      view.steps = [...view.steps, [hand.dataset.hand, Number(hand.dataset.region)]];
      ask(slots.get("regions"));
    });
  }
}

// Choices

function askAll(cards) {
  for (const card of cards ?? ["overview", "data", "search", "beside", "importance", "effect", "pair", "regions", "summary", "method", "proposals"]) {
    if (slots.has(card)) ask(slots.get(card));
  }
}

field("run").addEventListener("change", () => choose(Number(field("run").value)));
for (const id of ["objective", "budget"]) {
  field(id).addEventListener("change", () => { view.steps = []; askAll(); });
}
field("surrogate").addEventListener("change", () => {
  view.steps = [];
  askAll(["importance", ...OF_EFFECT]);
});
field("parameter").addEventListener("change", () => { view.steps = []; askAll(OF_EFFECT); });
field("other").addEventListener("change", () => askAll(["pair"]));
field("trial").addEventListener("change", () => askAll(["proposals"]));
field("choices").addEventListener("submit", (event) => event.preventDefault());

function choose(run) {
  Object.assign(view, { run, seen: null, steps: [], changed: Date.now() });
  for (const slot of slots.values()) {
    slot.asked += 1;
    slot.place.replaceChildren();
  }
}

function fillRuns(runs) {
  if (runs.length === field("run").options.length) return;
  const first = view.run === null;
  fill(field("run"), runs.map((run) => [run.id, run.title]));
  hideUnless("comparison", runs.length > 1);
  const place = field("beside");
  const known = new Set([...place.querySelectorAll("input")].map((box) => Number(box.value)));
  for (const run of runs.filter((one) => !known.has(one.id))) {
    const label = document.createElement("label");
    const box = document.createElement("input");
    Object.assign(box, { type: "checkbox", value: run.id, checked: known.size === 0 && runs.length <= 6 });
    box.addEventListener("change", () => askAll(["beside"]));
    label.append(box, ` ${run.title}`);
    place.append(label);
  }
  if (first) choose(runs[0].id);
}

// Following the run

function news(seen) {
  const first = view.seen === null;
  const changed = first || seen.version !== view.seen.version;
  view.seen = seen;
  field("title").textContent = seen.title;
  document.title = `Hyperlens: ${seen.title}`;
  field("seen").textContent = `${seen.trials} trials${seen.problem ? `; ${seen.problem}` : ""}`;
  if (changed) {
    view.changed = Date.now();
    fillChoices(seen);
  }
  if (first) askAll();
  else if (field("follow").checked) followUp();
}

function followUp() {
  const { version, trials } = view.seen;
  const rested = Date.now() - view.changed > RESTED;
  for (const slot of slots.values()) {
    if (slot.version === version || slot.place.hasAttribute("aria-busy")) continue;
    if (QUICK.includes(slot.card) || rested || trials >= GROWN * slot.trials) ask(slot);
  }
}

async function watch() {
  for (;;) {
    try {
      const listed = await request("/api/runs");
      fillRuns(listed.runs);
      if (view.run !== null) {
        const run = view.run;
        const seen = await request(`/api/state?run=${run}`);
        if (run === view.run && seen.ready) news(seen);
        else if (run === view.run && seen.problem) field("seen").textContent = seen.problem;
      }
      view.offline = false;
    } catch (problem) {
      view.offline = true;
      field("seen").textContent = problem.said ?? "The server does not answer.";
    }
    await wait(view.seen === null ? 250 : document.hidden ? 10000 : 1500);
  }
}
watch();
