// The live page: asks for each section, shows how far it is, and asks again when the run went on.

const FIRST = ["summary", "importance"]; // of what takes long
const LATE = ["footprint", "method"]; // they wait for what others compute
const GROWN = 1.1; // long computations are done again when a run has so many times the trials
const RESTED = 12000; // milliseconds without news after which they are done for all trials
const NOTHING = { objectives: [], budgets: [], parameters: [], explained: [], recorded: true, models: false };
const TOGETHER = " all"; // no objective's name: it begins with a space
const MOST_TOGETHER = 4; // objectives
const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
const slots = new Map(
  [...document.querySelectorAll(".slot")].map((place) => [
    place.dataset.section,
    { section: place.dataset.section, by: place.dataset.by.split(" "), quick: "quick" in place.dataset, place, asked: 0, wish: "", html: "", key: "", version: "", trials: 0, ticket: null },
  ]),
);
const view = { run: null, part: "null", seen: null, begun: false, changed: 0, runs: [], hurry: () => {} };

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

// What the reader chose once is chosen again wherever it can be.
function fill(list, options) {
  const now = wishes.get(list.id) ?? list.value;
  list.replaceChildren(...options.map(([value, text]) => new Option(text, value)));
  list.value = options.some(([value]) => String(value) === String(now)) ? now : options[0]?.[0] ?? "";
}

const rounded = (number) => String(Number.isInteger(number) ? number : Number(number.toPrecision(4)));

const hideUnless = (name, needed) =>
  document.querySelectorAll(`[data-of="${name}"]`).forEach((part) => { part.hidden = !needed; nameEverything(); });

function fillChoices(seen) {
  const objectives = seen.objectives.map(([name, up]) => [name, `${name} (${up ? "higher" : "lower"} is better)`]);
  const several = objectives.length > 1 && objectives.length <= MOST_TOGETHER;
  fill(field("objective"), [...objectives, ...(several ? [[TOGETHER, "all at once (hypervolume)"]] : [])]);
  hideUnless("objective", seen.objectives.length > 1);
  fill(field("budget"), [["", "largest, and what others say of it"], ...seen.budgets.map((b) => [b, rounded(b)]), ["largest", "largest alone"]]);
  hideUnless("budget", seen.budgets.length > 1);
  fill(field("parameter"), [["", "the most important"], ...seen.parameters.map((name) => [name, name])]);
  fill(field("other"), [["", "none"], ...seen.parameters.map((name) => [name, name])]);
  fillProposals(seen);
  hideUnless("proposals", seen.explained.length > 0);
  hideUnless("models", seen.models);
  settleList(field("surrogate"));
}

function fillProposals({ explained, recorded }) {
  const trials = explained.map((k) => [k, `trial ${titleOfTrial(k)}`]).reverse();
  fill(field("proposal"), recorded ? trials : [["", "choose one"], ...trials]);
}

function wayToWhy(number) {
  const list = field("proposal");
  if (!Array.from(list.options).some((option) => option.value === String(number))) return null;
  return () => {
    list.value = number;
    list.dispatchEvent(new Event("change"));
    location.hash = "section-proposals";
    target = "why"; // where it comes to
  };
}

// Queries

const CHOSEN = {
  surrogate: () => field("surrogate").value || null,
  parameter: () => field("parameter").value || null,
  other: () => field("other").value || null,
  steps: () => stepsOf(wishes.get("steps")),
  trial: () => (field("proposal").value ? Number(field("proposal").value) : null),
  runs: () => boxes().filter((box) => box.checked).map((box) => Number(box.value)),
};

function query(slot) {
  const objective = field("objective").value || null;
  const asked = { run: view.run, section: slot.section, objective: objective === TOGETHER ? null : objective };
  if (objective === TOGETHER) asked.together = true;
  if (view.part !== "null") asked.part = JSON.parse(view.part);
  const budget = field("budget").value;
  if (budget) asked.budget = budget === "largest" ? budget : Number(budget);
  for (const name of slot.by) if (name in CHOSEN) asked[name] = CHOSEN[name]();
  return asked;
}

// Splits made and taken back by hand, as in "split.3,merge.0".
const stepsOf = (text) =>
  (text ?? "").split(",").filter(Boolean).map((step) => step.split(".")).map(([what, region]) => [what, Number(region)]);

const boxes = () => [...document.querySelectorAll("#compared input")];

const wanted = (section) => {
  if (slots.get(section).by.includes("runs")) return CHOSEN.runs().length > 1;
  if (section === "pairs") return field("other").value !== "" && field("other").value !== field("parameter").value;
  if (section === "proposals") return view.seen.explained.length > 0;
  if (section === "models") return view.seen.models;
  return true;
};

async function ask(slot) {
  const number = (slot.asked += 1);
  const current = () => number === slot.asked;
  if (slot.ticket) request("api/cancel", { ticket: slot.ticket, waiting: true }).catch(() => {});
  slot.ticket = null;
  const asked = query(slot);
  const key = (slot.wish = JSON.stringify(asked));
  if (!wanted(slot.section)) {
    show(slot, "", key);
    return;
  }
  slot.place.setAttribute("aria-busy", "true");
  if (slot.html) steady(() => status(slot));
  slot.version = view.seen.version;
  slot.trials = view.seen.trials;
  try {
    let answer = await request("api/ask", asked);
    for (let pause = 120; current() && ["waiting", "running"].includes(answer.state); pause = Math.min(pause * 1.4, 1000)) {
      slot.ticket = answer.ticket;
      steady(() => status(slot, answer));
      await wait(pause);
      if (current()) answer = await request(`api/job?ticket=${answer.ticket}`);
    }
    while (held && slot.place.contains(held)) await wait(100);
    if (!current()) return;
    slot.ticket = null;
    if (answer.state === "done") {
      show(slot, answer.html, key);
      if (slot.section === "data") tellTrials();
      if (slot.section === "trial") fillProposals(view.seen);
      arrive();
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

function line(slot, kind, role) {
  let place = slot.place.querySelector(`:scope > .${kind}`);
  if (!place) {
    place = element("div", { className: kind });
    if (role) place.setAttribute("role", role);
    slot.place.prepend(place);
  }
  return place;
}

const cancel = (slot) => {
  if (slot.ticket) request("api/cancel", { ticket: slot.ticket }).catch(() => {});
};

// Where there is nothing yet, how far it is; else a small sign over what is still shown.
function status(slot, answer) {
  if (slot.html) {
    slot.place.querySelector(":scope > .status")?.remove();
    const place = line(slot, "updating");
    if (!place.firstChild) place.append("updating");
    if (slot.ticket && !slot.quick && !place.querySelector("button")) {
      place.append(button("Cancel", () => cancel(slot), "plain"));
    }
    return;
  }
  const place = line(slot, "status", "status");
  if (!place.querySelector("progress")) {
    const bar = element("progress", { max: 1, ariaLabel: "How much is done" });
    place.className = "status";
    place.replaceChildren(element("span"), bar, button("Cancel", () => cancel(slot), "plain"));
  }
  place.firstChild.textContent = answer.what;
  if (answer.part > 0) place.querySelector("progress").value = answer.part;
}

const settle = (slot) => {
  slot.place.removeAttribute("aria-busy");
  slot.place.querySelectorAll(":scope > .updating, :scope > .status").forEach((sign) => sign.remove());
};

function complain(slot, sentence) {
  steady(() => {
    settle(slot);
    const place = line(slot, "status", "status");
    place.classList.add("problem");
    const text = element("span", { textContent: sentence });
    place.replaceChildren(text, button("Try again", () => ask(slot), "plain"));
  });
}

function show(slot, html, key) {
  const same = slot.key === key;
  if (same && slot.html === html) {
    steady(() => settle(slot));
    return;
  }
  Object.assign(slot, { html, key });
  steady(() => {
    const kept = remember(slot.place);
    const before = plots(slot.place);
    const made = document.createElement("template");
    made.innerHTML = html; // of our own server, which escapes every text
    slot.place.replaceChildren(made.content);
    settle(slot);
    if (same) keepPlots(before, slot.place);
    else before.forEach(forgetFigure);
    restoreChoices(slot.place, kept);
    enliven(slot.place);
    adoptHands(slot.place);
    sayOnce();
    restorePlace(slot.place, kept);
  });
}

// The table of all trials has come: figures and the card of one trial can say more.
function tellTrials() {
  redraw();
  const card = trialCard();
  if (card) showTrial(card, Number(card.querySelector("select").value));
}

// Regions are grown and shrunk by hand.

function adoptHands(place) {
  for (const hand of place.querySelectorAll(".hand")) {
    hand.addEventListener("click", () => {
      const step = `${hand.dataset.hand}.${hand.dataset.region}`;
      chosen("steps", [wishes.get("steps"), step].filter(Boolean).join(","));
      askChanged();
    });
  }
}

// Choices

const lookedAt = ({ place }) => {
  const { top, bottom, height } = place.getBoundingClientRect();
  return height > 0 && top < innerHeight && bottom > 0;
};
// What is quick, then what is looked at, then the others.
const when = (slot) =>
  slot.quick ? 0 : lookedAt(slot) ? 1 : FIRST.includes(slot.section) ? 2 : LATE.includes(slot.section) ? 4 : 3;

function askAll(some = [...slots.values()]) {
  const turns = some.filter(asks).map((slot) => [when(slot), slot]);
  for (const [, slot] of turns.sort(([a], [b]) => a - b)) ask(slot);
}

const askChanged = () => askAll([...slots.values()].filter((slot) => JSON.stringify(query(slot)) !== slot.wish));

const LISTS = ["objective", "budget", "surrogate", "parameter", "other", "proposal"];
const TEXTS = ["cost", "where", "limits"];
const UNDOES = ["objective", "budget", "surrogate", "parameter"]; // splits made by hand
const OF_ONE_RUN = ["steps", "proposal", "one", "direction", ...TEXTS];

for (const id of LISTS) {
  field(id).addEventListener("change", () => {
    if (UNDOES.includes(id)) wish("steps", null);
    chosen(id, field(id).value);
    tick();
    askChanged();
  });
}
field("run").addEventListener("change", () => goTo(view.runs.find((run) => run.key === field("run").value)));

function goTo(run) {
  OF_ONE_RUN.forEach((name) => wish(name, null));
  chosen("run", run.key);
  followAddress();
}

field("follow").addEventListener("change", () => chosen("follow", field("follow").checked ? null : "no"));

// What of the run is analysed, and how it is read; asked for when all of it is written.
function apply() {
  wish("steps", null);
  for (const id of TEXTS) wish(id, field(id).value.trim());
  chosen("direction", field("direction").value);
  followAddress();
}
field("choices").addEventListener("submit", (event) => {
  event.preventDefault();
  apply();
});
field("whole").addEventListener("click", () => {
  for (const id of [...TEXTS, "direction"]) field(id).value = "";
  apply();
});

function partWished() {
  const listed = (name, sign) => (wishes.get(name) ?? "").split(sign).map((text) => text.trim()).filter(Boolean);
  const direction = wishes.get("direction");
  const part = {
    cost: listed("cost", ","),
    maximize: direction === null ? null : direction === "max",
    where: wishes.get("where"),
    limits: listed("limits", ";"),
  };
  return part.cost.length || part.maximize !== null || part.where || part.limits.length ? part : null;
}

function showPart() {
  for (const id of TEXTS) field(id).value = wishes.get(id) ?? "";
  settleList(field("direction"));
  const said = [...TEXTS, "direction"].filter((id) => wishes.has(id)).map((id) => wishes.get(id));
  field("narrowed").textContent = said.join(" · ");
}

// Show what the address says, from the start and after every step back.
function followAddress() {
  const run = wishedRun();
  field("follow").checked = wishes.get("follow") !== "no";
  fillBoxes();
  openRooms();
  if (!run) {
    leave();
    say(wishes.has("run") ? "There is no such run here; choose another one." : `Choose one of ${view.runs.length} runs.`);
  } else if (run.id !== view.run || JSON.stringify(partWished()) !== view.part) {
    choose(run);
  } else {
    for (const id of ["run", ...LISTS]) settleList(field(id));
    chooseAsWished(document);
    new Set(controlsOf(document).map((control) => control.closest(".card"))).forEach(applyChoices);
    document.querySelectorAll(".grid").forEach((grid) => grid.look(wishedView(grid)));
    if (view.begun) askChanged();
  }
}

// A list as the address has it, or as it was at first.
function settleList(list) {
  const values = [...list.options].map((option) => option.value);
  list.value = values.includes(wishes.get(list.id)) ? wishes.get(list.id) : values[0] ?? "";
}

// Of many runs the first is as good as any: which one is asked.
function wishedRun() {
  if (wishes.has("run")) return view.runs.find((one) => one.key === wishes.get("run"));
  return view.runs.length > MOST_TICKED ? undefined : view.runs[0];
}

function clear(run, title) {
  target = location.hash.slice(1);
  Object.assign(view, { run, part: JSON.stringify(partWished()), seen: null, begun: false, changed: Date.now() });
  for (const slot of slots.values()) {
    slot.asked += 1;
    slot.wish = "";
    show(slot, "", "");
  }
  fillChoices(NOTHING);
  around.clear();
  showPart();
  entitle(title);
  field("seen").textContent = "";
  listRuns(view.runs);
}

function choose(run) {
  clear(run.id, run.title);
  field("run").value = run.key;
  field("runs").open = false;
  say("Reading …");
  view.hurry();
}

function leave() {
  clear(null, "Runs");
  field("run").selectedIndex = -1;
  field("runs").open = true;
}

// Following the run

function entitle(title) {
  field("title").textContent = title;
  document.title = `Hyperlens: ${title}`;
}

// A sentence in place of the sections, or of all but the trials as they were read.
function say(sentence, part = "none") {
  if (field("message").textContent !== sentence) field("message").textContent = sentence;
  field("message").hidden = sentence === "";
  document.body.dataset.shows = sentence === "" ? "all" : part;
}

function news(seen) {
  const changed = seen.version !== view.seen?.version;
  const starts = !view.begun && seen.analysed > 0;
  view.seen = seen;
  view.begun = seen.analysed > 0;
  entitle(seen.title);
  field("seen").textContent = `${seen.trials} ${seen.trials === 1 ? "trial" : "trials"}${seen.problem ? `; ${seen.problem}` : ""}`;
  if (changed) {
    view.changed = Date.now();
    fillChoices(seen);
  }
  if (!view.begun) {
    say(
      seen.trials
        ? "No trial of this run has succeeded yet; the page follows it."
        : "This run has no trials yet; the page follows it.",
      seen.trials ? "data" : "none",
    );
    if (seen.trials) unfold("section-trial");
    if (changed && seen.trials) askAll([slots.get("data")]);
  } else if (starts) {
    say("");
    tick();
    askAll();
    seek(decodeURIComponent(target));
  } else if (field("follow").checked) {
    followUp();
  }
}

function followUp() {
  const { version, trials } = view.seen;
  const rested = Date.now() - view.changed > RESTED;
  for (const slot of slots.values()) {
    if (slot.version === version || !asks(slot) || slot.place.hasAttribute("aria-busy")) continue;
    if (slot.quick || rested || trials >= GROWN * slot.trials) ask(slot);
  }
}

const stateOfRun = (run) => `api/state?run=${run}&part=${encodeURIComponent(view.part)}`;

async function watch() {
  for (;;) {
    let pause = document.hidden ? 10000 : 1500;
    try {
      await refreshRuns();
      const { run, part } = view;
      const current = () => run === view.run && part === view.part;
      if (run !== null) {
        const seen = await request(stateOfRun(run));
        if (current() && seen.ready) steady(() => news(seen));
        else if (current() && seen.problem) say(seen.problem);
        else pause = 250;
        await lookAround();
      } else if (!view.runs.length) {
        pause = 250;
      }
    } catch (problem) {
      field("seen").textContent = problem.said ?? "The server does not answer.";
    }
    await new Promise((done) => {
      view.hurry = done;
      setTimeout(done, pause);
    });
  }
}
watch();
