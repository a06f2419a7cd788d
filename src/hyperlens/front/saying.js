// A page says everything once: a verdict in the words of an earlier card's refers to that card, and notes
// that an earlier card has are left out. Cards come in any order, so all are gone through again.

function sayOnce() {
  const told = new Set();
  const judged = new Map(); // the words of a verdict -> the card that says them
  for (const card of document.querySelectorAll(".slot .card")) {
    const because = card.querySelector(".because");
    if (because) {
      const words = because.textContent;
      const said = judged.get(words);
      if (!said) judged.set(words, card.id);
      because.hidden = Boolean(said);
      referTo(because.parentElement, said);
    }
    for (const list of card.querySelectorAll(".notes")) {
      for (const note of list.children) {
        note.hidden = told.has(note.textContent);
        told.add(note.textContent);
      }
      list.hidden = [...list.children].every((note) => note.hidden);
    }
  }
}

function referTo(place, card) {
  place.querySelector(".elsewhere")?.remove();
  if (card) place.append(element("a", { className: "elsewhere", href: `#${card}`, textContent: "why" }));
}
