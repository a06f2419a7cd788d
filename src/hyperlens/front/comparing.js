// The list of runs, and which of them are compared: until the reader chooses, those that can be.

const MOST_TICKED = 6; // runs that are compared without being asked
const MOST_BOXES = 24; // runs that have a box each
const AROUND = 10000; // milliseconds between two looks at other runs
const around = new Map(); // run -> what was last seen of it, and when

// Sections of several runs.
const ofRuns = () => [...slots.values()].filter((slot) => slot.by.includes("runs"));

function fillRuns(runs) {
  const names = (list) => list.map((run) => [run.key, run.title]);
  const same = JSON.stringify(names(runs)) === JSON.stringify(names(view.runs));
  view.runs = runs;
  if (same) return;
  fill(field("run"), names(runs));
  hideUnless("comparison", runs.length > 1);
  field("adding").hidden = runs.length <= MOST_BOXES;
  if (runs.length > MOST_BOXES) field("titles").replaceChildren(...runs.map((run) => new Option(run.title)));
  fillBoxes();
  if (view.run === null) followAddress();
  else if (view.begun) askAll(ofRuns());
}

// A box for every run, or, of very many, for those that are compared.
function fillBoxes() {
  const keys = (wishes.get("compare") ?? "").split(",");
  const few = view.runs.length <= MOST_BOXES;
  const known = new Map(boxes().map((box) => [Number(box.value), box]));
  for (const run of view.runs) {
    if (known.has(run.id)) known.get(run.id).nextSibling.textContent = ` ${run.title}`;
    else if (few || keys.includes(run.key)) field("compared").append(boxOf(run));
  }
  tickAsWished();
}

field("add").addEventListener("change", () => {
  const run = view.runs.find((one) => one.title === field("add").value);
  if (!run) return;
  field("add").value = "";
  const keys = touched() ? wishes.get("compare").split(",").filter((key) => key !== "none") : [wishedRun()?.key];
  chosen("compare", [...new Set([...keys, run.key])].join(","));
  fillBoxes();
  askChanged();
});

function boxOf(run) {
  const label = element("label");
  const box = element("input", { type: "checkbox", value: run.id });
  box.addEventListener("change", () => {
    const ticked = view.runs.filter((one) => CHOSEN.runs().includes(one.id)).map((one) => one.key);
    chosen("compare", ticked.join(",") || "none");
    askChanged();
  });
  label.append(box, ` ${run.title}`);
  return label;
}

// The objective by which a run is compared: the one of this name, else the only one there is.
function goalOf(seen, name) {
  const same = seen.objectives.filter(([own]) => own === name);
  const found = same.length ? same : seen.objectives;
  return found.length === 1 ? found[0] : null;
}

function comparable(run) {
  const seen = run === view.run ? view.seen : around.get(run)?.seen;
  const goal = goalOf(view.seen, field("objective").value);
  return Boolean(goal && seen?.analysed) && goalOf(seen, goal[0])?.[1] === goal[1];
}

const touched = () => wishes.has("compare");

function tickAsWished() {
  if (!touched()) return;
  const keys = wishes.get("compare").split(",");
  for (const box of boxes()) box.checked = keys.includes(view.runs.find((run) => run.id === Number(box.value)).key);
}

// Until the reader chooses, the runs are ticked that can be compared with the one shown.
function tick() {
  if (touched() || view.runs.length > MOST_TICKED || !view.begun) return;
  const changed = boxes().filter((box) => box.checked !== comparable(Number(box.value)));
  for (const box of changed) box.checked = !box.checked;
  if (changed.length) askAll(ofRuns());
}

async function lookAround() {
  if (view.runs.length > MOST_TICKED || touched()) return;
  for (const { id } of view.runs) {
    if (id === view.run || Date.now() - (around.get(id)?.at ?? 0) < AROUND) continue;
    const seen = await request(stateOfRun(id));
    if (seen.ready || seen.problem) around.set(id, { seen: seen.ready ? seen : null, at: Date.now() });
  }
  if (view.seen) tick();
}
