// Rooms of the live page are folded, and a folded room asks for nothing. The address says which are open
// (open=importance,effects or open=all); a link to a card opens the room that the card will stand in.

const rooms = [...document.querySelectorAll(".room:has(.slot)")];
const nameOfRoom = (room) => room.querySelector(".slot").dataset.section;
const opened = ({ place }) => place.closest(".room")?.open ?? true;
const ALWAYS = ["trial", "data"]; // figures everywhere say of a trial what these know
const asks = (slot) => opened(slot) || ALWAYS.includes(slot.section);

function noteRooms() {
  const open = rooms.filter((room) => room.open);
  wish("open", open.length === rooms.length ? "all" : open.map(nameOfRoom).join(","));
  writeAddress("replaceState");
}

function openRooms() {
  const wished = (wishes.get("open") ?? "").split(",");
  for (const room of rooms) if (wished.includes("all") || wished.includes(nameOfRoom(room))) room.open = true;
}

addEventListener("toggle", ({ target: room }) => {
  if (!rooms.includes(room)) return;
  noteRooms();
  if (room.open && view.begun) askChanged();
}, true);

// A card by its id, as "pair-1-4": its kind says the section, its numbers the parameters.
const ofParameters = { effect: ["parameter"], regions: ["parameter"], pair: ["parameter", "other"] };

function seek(id) {
  if (!id || document.getElementById(id)?.checkVisibility()) return;
  const [kind, ...numbers] = id.split(/-(?=\d)/);
  const found = [...slots.values()].filter(({ place }) => place.dataset.holds.split(" ").includes(kind));
  if (!found.length) return;
  target = id;
  for (const { place } of found) if (place.closest(".room")) place.closest(".room").open = true;
  if (!document.getElementById(id)) (ofParameters[kind] ?? []).forEach((name, k) => chooseNumber(field(name), Number(numbers[k])));
}

function chooseNumber(list, number) {
  const option = list.options[number];
  if (!option || list.value === option.value) return;
  list.value = option.value;
  list.dispatchEvent(new Event("change"));
}

addEventListener("sought", ({ detail }) => seek(detail));
