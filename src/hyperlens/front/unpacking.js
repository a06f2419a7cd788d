// A report carries its largest script packed; both scripts run only as they were when it was written.
"use strict";
(async () => {
  const held = (id) => document.getElementById(id).textContent;
  const run = (text) => document.head.append(Object.assign(document.createElement("script"), { textContent: text }));
  try {
    const bytes = Uint8Array.from(atob(held("plotly")), (letter) => letter.charCodeAt(0));
    const whole = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    run(await new Response(whole).text());
    run(held("front"));
  } catch {
    const told = Object.assign(document.createElement("p"), {
      className: "problem",
      textContent: "This browser cannot unpack the plots; open the report in one of 2023 or newer. Texts and tables are complete.",
    });
    document.getElementById("content").prepend(told);
  }
})();
