"use strict";
// Draws each figure when it comes near the screen, in the colours of the current theme.
(() => {
  const root = document.documentElement;
  const plots = [...document.querySelectorAll(".plot")];
  const figures = new Map(
    plots.map((plot) => [plot, JSON.parse(plot.nextElementSibling.textContent)]),
  );
  const drawn = new Set();
  const touch = matchMedia("(pointer: coarse)").matches;
  const wishesDark = matchMedia("(prefers-color-scheme: dark)");

  const config = (plot) => ({
    responsive: true,
    displaylogo: false,
    displayModeBar: touch || plot.clientWidth < 520 ? false : "hover",
    modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]],
  });

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
        layout[key] = { ...layout[key], gridcolor: line, linecolor: line, tickcolor: line };
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
    return Plotly.react(plot, data, layout, config(plot));
  }

  const redraw = () => drawn.forEach(draw);

  // A list beside a figure of regions chooses the one that is highlighted.
  function highlight(plot, region) {
    for (const trace of figures.get(plot).data) {
      const looks = trace.meta?.[trace.meta.region === region ? "on" : "off"];
      if (looks) Object.assign(trace, structuredClone(looks));
    }
    draw(plot);
  }
  for (const choice of document.querySelectorAll(".choice")) {
    const list = choice.querySelector("select");
    const plot = choice.parentElement.querySelector(".plot");
    choice.hidden = false;
    list.addEventListener("change", () => highlight(plot, Number(list.value)));
  }

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
  plots.forEach((plot) => near.observe(plot));

  // Theme: the address (#dark, #light), else what was chosen before, else the system's.
  const remembered = {
    get: () => { try { return localStorage.getItem("hyperlens-theme"); } catch { return null; } },
    set: (theme) => { try { localStorage.setItem("hyperlens-theme", theme); } catch { /* refused */ } },
  };
  const button = document.getElementById("theme");
  const asked = /^#(dark|light)$/.exec(location.hash)?.[1];
  const chosen = asked ?? remembered.get();
  if (chosen === "dark" || chosen === "light") root.dataset.theme = chosen;
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : wishesDark.matches);

  function name() {
    button.textContent = isDark() ? "Light theme" : "Dark theme";
  }
  button.hidden = false;
  name();
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    remembered.set(root.dataset.theme);
    name();
    redraw();
  });
  wishesDark.addEventListener("change", () => { name(); redraw(); });

  // Paper is white and shows everything.
  addEventListener("beforeprint", () => {
    document.querySelectorAll("details").forEach((fold) => { fold.open = true; });
    root.dataset.printing = "";
    plots.forEach(draw);
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
  document.querySelectorAll(".card").forEach((card) => links.has(card.id) && here.observe(card));
})();
