// The list of all runs: how many trials, the best, whether trials are running; searched and sorted.

const runsGrid = document.querySelector('.grid[data-name="runs"]');
const runOfRow = new Map();
let edition = null;

const stateOf = ({ trials, running }) =>
  trials === 0 ? "no trials" : running === undefined ? "" : running ? `${running} running` : "at rest";

function rowOf(run) {
  const { trials = null, best = null, objectives = 1, changed = null } = run.size ?? {};
  const shownBest = objectives > 1 ? `${objectives} objectives` : best;
  const row = [run.title, trials, shownBest, run.size ? stateOf(run.size) : "", changed ?? ""];
  runOfRow.set(row, run);
  return row;
}

function listRuns(runs) {
  runOfRow.clear();
  runsGrid.renew(runs.map(rowOf));
  runsGrid.look(wishedView(runsGrid));
  hideUnless("runs", runs.length > 1);
  field("many").textContent = `${runs.length} runs: trials, best, state`;
}

runsGrid.link = (row) => {
  const run = runOfRow.get(row);
  const kept = new URLSearchParams(wishes);
  OF_ONE_RUN.forEach((name) => kept.delete(name));
  kept.set("run", run.key);
  const link = { href: `?${kept}`, title: run.title, ariaCurrent: String(run.id === view.run) };
  return { ...link, onclick: (event) => openHere(event, run) };
};

// In this window without loading the page again; otherwise as any link.
function openHere(event, run) {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  goTo(run);
}

async function refreshRuns() {
  const listed = await request(`api/runs?known=${edition ?? ""}`);
  if (!listed.runs) return;
  edition = listed.edition;
  steady(() => {
    fillRuns(listed.runs);
    listRuns(listed.runs);
  });
}
