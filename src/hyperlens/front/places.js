// The address of a report says which trial is looked at: #trial=12.

function addressOfTrial(number) {
  return `#trial=${number}`;
}

function wishedTrial() {
  const number = /^#trial=(\d+)$/.exec(location.hash)?.[1];
  return number === undefined ? undefined : Number(number);
}

addEventListener("trial", ({ detail }) => {
  if (location.hash !== addressOfTrial(detail)) history.pushState(null, "", addressOfTrial(detail));
});

// After a step back or forward, and at first.
function arriveAtTrial() {
  const [card, number] = [trialCard(), wishedTrial()];
  if (!card || number === undefined) return;
  showTrial(card, number);
  unfold("trial").scrollIntoView();
}
addEventListener("hashchange", arriveAtTrial);
arriveAtTrial();

// The reasons of a trial stand at its place of a slider.
function wayToWhy(number) {
  const slider = document.querySelector('#reasons [data-control="trial"]');
  const place = slider ? JSON.parse(slider.dataset.texts).findIndex((text) => nameOfText(text) === `trial ${number}`) : -1;
  return place < 0 ? null : () => {
    slider.value = Number(slider.min) + place;
    slider.dispatchEvent(new Event("input"));
    location.hash = "reasons";
  };
}
