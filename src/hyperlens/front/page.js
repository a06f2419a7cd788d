// The page: cards come to life, the theme, printing, and where the reader is.

function enliven(part) {
  part.querySelectorAll("figure").forEach(adoptFigure);
  const cards = part.matches?.(".card") ? [part] : part.querySelectorAll(".card");
  cards.forEach(adoptControls);
  part.querySelectorAll(".grid").forEach(adoptGrid);
  part.querySelectorAll(".one").forEach(adoptTrials);
  part.querySelectorAll("table").forEach(adoptRows);
}

// Theme: the address (#dark, #light), else what was chosen before, else the system's.
const wishesDark = matchMedia("(prefers-color-scheme: dark)");
const remembered = {
  get: () => { try { return localStorage.getItem("hyperlens-theme"); } catch { return null; } },
  set: (theme) => { try { localStorage.setItem("hyperlens-theme", theme); } catch { /* refused */ } },
};
const themeButton = document.getElementById("theme");
const asked = /^#(dark|light)$/.exec(location.hash)?.[1];
const chosenTheme = asked ?? remembered.get();
if (chosenTheme === "dark" || chosenTheme === "light") root.dataset.theme = chosenTheme;
const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : wishesDark.matches);

function nameTheme() {
  themeButton.textContent = isDark() ? "Light theme" : "Dark theme";
}
themeButton.hidden = false;
nameTheme();
themeButton.addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  remembered.set(root.dataset.theme);
  nameTheme();
  redraw();
});
wishesDark.addEventListener("change", () => { nameTheme(); redraw(); });

enliven(document);

// What an address or a link names is unfolded before it is shown.
function unfold(id) {
  const part = document.getElementById(decodeURIComponent(id));
  for (let fold = part?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  return part;
}
addEventListener("click", (event) => {
  const link = event.target.closest?.('a[href^="#"]');
  if (link) unfold(link.getAttribute("href").slice(1));
});
addEventListener("hashchange", () => unfold(location.hash.slice(1))?.scrollIntoView());
if (!asked) unfold(location.hash.slice(1))?.scrollIntoView();

// Paper is white and shows everything.
addEventListener("beforeprint", () => {
  document.querySelectorAll("details").forEach((fold) => { fold.open = true; });
  root.dataset.printing = "";
  figures.forEach((_, plot) => draw(plot));
});
addEventListener("afterprint", () => {
  delete root.dataset.printing;
  redraw();
});

// The contents show where the reader is.
const links = new Map(
  [...document.querySelectorAll("nav a")].map((a) => [a.getAttribute("href").slice(1), a]),
);
const here = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      const link = links.get(entry.target.id);
      if (entry.isIntersecting) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  },
  { rootMargin: "-15% 0px -70% 0px" },
);
document.querySelectorAll("[id]").forEach((part) => links.has(part.id) && here.observe(part));
