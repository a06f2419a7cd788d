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

// What an address or a link names is unfolded before it is shown; a live page may have to ask for it first.
function unfold(name) {
  const id = decodeURIComponent(name);
  dispatchEvent(new CustomEvent("sought", { detail: id }));
  const part = document.getElementById(id);
  for (let fold = part?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  return part;
}
addEventListener("click", (event) => {
  const link = event.target.closest?.('a[href^="#"]');
  if (link) unfold(link.getAttribute("href").slice(1));
});
addEventListener("hashchange", () => unfold(location.hash.slice(1))?.scrollIntoView());
if (!asked) unfold(location.hash.slice(1))?.scrollIntoView();

// All rooms at once.
const everything = document.getElementById("everything");
const folded = () => [...document.querySelectorAll(".room")].filter((room) => !room.open && !room.closest("[hidden]"));
const nameEverything = () => { everything.textContent = folded().length ? "Open everything" : "Fold everything"; };
everything.hidden = false;
nameEverything();
everything.addEventListener("click", () => {
  const open = folded().length > 0;
  document.querySelectorAll(".room").forEach((room) => { room.open = open; });
});
addEventListener("toggle", nameEverything, true);

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

// The contents show where the reader is: in which section, and at which card of it.
const contents = document.querySelector("nav");
const links = new Map();
for (const link of contents.querySelectorAll("a")) {
  const part = document.getElementById(link.getAttribute("href").slice(1));
  links.set(part.matches("h2") ? part.closest("section") : part, link);
}
const here = new IntersectionObserver(
  (entries) => {
    for (const { target: part, isIntersecting } of entries) {
      const link = links.get(part);
      if (!isIntersecting) link.removeAttribute("aria-current");
      else {
        link.setAttribute("aria-current", "true");
        if (link.offsetParent) {
          const { left, top } = link.getBoundingClientRect(), frame = contents.getBoundingClientRect();
          contents.scrollBy({
            left: left - frame.left - contents.clientWidth / 3, // where it is a row
            top: top - frame.top - contents.clientHeight / 3, // where it is a column longer than the window
          });
        }
      }
    }
  },
  { rootMargin: "-15% 0px -70% 0px" },
);
links.forEach((_, part) => here.observe(part));
