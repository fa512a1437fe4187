"use strict";
// The page that asks. Everything from the items is set as text, never as markup.

const SHOWN_AT_ONCE = 12; // columns; the others are behind "more"
const RETRY = 2000; // milliseconds until an answer that could not be kept is sent again
const LOOK = 10000; // milliseconds until somebody who has answered everything is asked for anew
const PAGE = 20; // own answers listed at once, as the server sends them
const TITLES = {
  same: "Same", different: "Different", unsure: "Unsure", skip: "Skip", undo: "Undo the last answer",
  left: "Play or stop the first sound", right: "Play or stop the second sound",
};
let USUAL = { same: "s", different: "d", unsure: "u", skip: "k", undo: "z", left: "1", right: "2" };
const LEVELS = [...document.querySelectorAll("#buttons [data-level]")]; // on a scale: 1, 2, … from low to high
if (LEVELS.length) {
  USUAL = { unsure: "u", skip: "k", undo: "z", left: ",", right: "." };
  for (const one of LEVELS) {
    USUAL[one.dataset.said] = one.dataset.level;
    TITLES[one.dataset.said] = one.firstChild.textContent.trim();
  }
}
const KEYS = LEVELS.length ? `noisypairs-keys-${LEVELS.map((one) => one.dataset.said).join("<")}` : "noisypairs-keys";

const by = (id) => document.getElementById(id);
const show = (id, visible) => { by(id).hidden = !visible; };

let pair = null; // what is shown now
let shownAt = 0;
let busy = false;
let keys = { ...USUAL, ...stored(KEYS, {}) };
let showModel = stored("noisypairs-show-model", false);
let listed = []; // own answers, the last first
let room = PAGE; // how many of them are listed
let looking = 0; // the timer of somebody who has answered everything

function stored(name, otherwise) {
  try { return JSON.parse(localStorage.getItem(name)) ?? otherwise; } catch { return otherwise; }
}
function store(name, value) {
  try { localStorage.setItem(name, JSON.stringify(value)); } catch { /* a private window */ }
}

async function call(path, body) {
  const settings = body === undefined ? {} : {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  const response = await fetch(path, settings);
  let found = {};
  try { found = await response.json(); } catch { /* no JSON: the status says enough */ }
  if (!response.ok) throw Object.assign(new Error(found.error || response.statusText), { status: response.status });
  return found;
}

// What went wrong, in words: a request that never arrived has a message of the browser only.
const reason = (error) => (error.status ? error.message : "the server does not answer");

const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);

const next = (found) => (found ? `Next: ${found.left.id} and ${found.right.id}.` : "No pair is left.");

function tell(text) { by("status").textContent = text; }
function complain(text) {
  by("trouble").textContent = text;
  show("trouble", Boolean(text));
  if (text) by("trouble").scrollIntoView({ block: "nearest" });
}

// ---------------------------------------------------------------- the pair

function element(name, text, label) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (label) made.className = label;
  return made;
}

function media(item, place) {
  if (!item.media) return [];
  if (item.media.kind === "audio") {
    const sound = element("audio");
    Object.assign(sound, { src: item.media.url, controls: true, preload: "metadata" });
    sound.setAttribute("aria-label", `Sound of the ${place} item, ${item.id}`);
    sound.addEventListener("error", () => sound.replaceWith(element("p", "This sound cannot be played.")));
    sound.addEventListener("play", () => {
      for (const other of document.querySelectorAll("audio")) if (other !== sound) other.pause();
    });
    for (const name of ["play", "pause", "seeked", "volumechange"]) sound.addEventListener(name, () => giveBackKeys(sound));
    return [sound];
  }
  const picture = element("img");
  picture.alt = `Picture of the ${place} item, ${item.id}`;
  picture.addEventListener("load", () => picture.classList.toggle("tiny", picture.naturalWidth < 33));
  picture.addEventListener("error", () => picture.replaceWith(element("p", "This picture cannot be shown.")));
  picture.src = item.media.url;
  return [picture];
}

// Chromium's controls keep all keys to themselves once they were clicked: the next one is an answer.
function giveBackKeys(sound) {
  if (document.activeElement === sound && !sound.matches(":focus-visible")) sound.blur();
}

function play(place) {
  const sound = by(`${place}-media`).querySelector("audio");
  if (!sound) return;
  if (!sound.paused) { sound.pause(); return; }
  sound.currentTime = 0;
  sound.play().catch(() => { /* the element says so itself */ });
}

const differ = (column) => column.left !== column.right;

function row(column) {
  const differs = differ(column);
  const line = element("tr", undefined, differs ? "differs" : "");
  const head = element("th");
  head.scope = "row";
  if (differs) {
    const mark = element("span", "≠ ");
    mark.setAttribute("aria-hidden", "true");
    head.append(mark, element("span", "differs: ", "unseen"));
  }
  head.append(column.name);
  line.append(head);
  for (const text of [column.left, column.right]) line.append(element("td", text || "–", column.kind));
  return line;
}

function showPair(found) {
  const fresh = found && (!pair || pair.question !== found.question);
  pair = found;
  clearTimeout(looking);
  if (!pair) looking = setTimeout(look, LOOK);
  show("pair", Boolean(pair));
  show("buttons", Boolean(pair));
  show("nothing", !pair);
  if (!pair) return;
  for (const place of ["left", "right"]) {
    by(`${place}-id`).textContent = pair[place].id;
    by(`${place}-media`).replaceChildren(...media(pair[place], place === "left" ? "first" : "second"));
    show(`${place}-key`, pair[place].media?.kind === "audio");
  }
  const first = pair.columns.slice(0, SHOWN_AT_ONCE);
  const others = pair.columns.slice(SHOWN_AT_ONCE);
  show("columns", first.length > 0);
  by("rows").replaceChildren(...first.map(row));
  show("more", others.length > 0);
  const differing = others.filter(differ).length;
  by("more-title").textContent = `${others.length} more columns, ${differing || "none"} of them marked as different`;
  by("more-rows").replaceChildren(...others.map(row));
  showChance();
  if (!fresh) return;
  shownAt = performance.now();
  // Whoever has read to the end of a long text begins the next one at its top.
  if (by("question").getBoundingClientRect().top < 0) by("question").scrollIntoView({ block: "start" });
}

function showChance() {
  const known = pair && typeof pair.chance === "number";
  show("chance", showModel && known);
  if (known) by("chance").textContent = `The model: same with a chance of ${percent(pair.chance)}.`;
}

// Never 0 or 100 in whole percents: the model is never that sure.
function percent(share) {
  const whole = Math.round(100 * share);
  return whole < 1 ? "less than 1%" : whole > 99 ? "more than 99%" : `${whole}%`;
}

// ---------------------------------------------------------------- what the server says

function showState(found) {
  const joined = "progress" in found;
  show("owner", Boolean(found.owner) || !by("owner").hidden);
  for (const id of ["progress", "own", "settings"]) show(id, joined);
  show("join", !joined && found.join);
  show("closed", !joined && !found.join);
  if (found.closed) by("closed").textContent = `${sentence(found.closed)}.`;
  if (!joined) {
    for (const id of ["pair", "buttons", "nothing", "enough"]) show(id, false);
    pair = null;
    clearTimeout(looking);
    if (found.join) by("name").focus();
    return;
  }
  by("question").textContent = found.question;
  by("who").textContent = found.name;
  show("blindness", !found.blind);
  showPair(found.pair);
  const progress = found.progress;
  by("yours").textContent = progress.yours;
  by("all").textContent = progress.all;
  by("target").textContent = progress.target;
  by("accuracy").textContent = progress.accuracy || "–";
  by("left").textContent = progress.left || "–";
  by("note").textContent = progress.accuracy
    ? `In brackets: intervals at ${progress.level} confidence. ${progress.enough ? "" : progress.note}`
    : progress.note;
  if (progress.enough !== !by("enough").hidden) {
    by("enough").textContent = progress.enough ? `${progress.note} You can stop here, or go on.` : "";
  }
  show("enough", progress.enough);
}

async function refresh() {
  try {
    showState(await call("/api/now"));
    await showHistory();
    complain("");
  } catch (error) {
    complain(`${sentence(reason(error))}. The page tries again.`);
    setTimeout(refresh, RETRY);
  }
}

async function look() {
  try {
    const found = await call("/api/now");
    showState(found);
    if (found.pair) tell(next(found.pair));
  } catch {
    looking = setTimeout(look, LOOK);
  }
}

// ---------------------------------------------------------------- answering

function act(name) {
  if (name === "left" || name === "right") play(name);
  else if (name !== "undo") answer(name);
  else if (listed.length) undo(listed[0].answer);
}

async function answer(said) {
  if (busy || !pair) return;
  busy = true;
  setButtons(true);
  const given = pair;
  const body = {
    question: given.question, said,
    seconds: (performance.now() - shownAt) / 1000,
    shown: showModel && typeof given.chance === "number",
  };
  while (busy) {
    try {
      const found = await call("/api/answer", body);
      complain("");
      remember({ answer: found.answered, said, left: given.left, right: given.right });
      showState(found);
      tell(`Kept: ${said}. ${next(found.pair)}`);
      busy = false;
    } catch (error) {
      if (error.status && error.status < 500) {
        complain(`This answer was not kept: ${error.message}.`);
        busy = false;
        await refresh();
        complain(`The last answer was not kept: ${error.message}.`);
      } else {
        complain(`Not kept yet: “${said}”, as ${reason(error)}. The page tries again.`);
        await new Promise((done) => setTimeout(done, RETRY));
      }
    }
  }
  setButtons(false);
}

function setButtons(off) {
  for (const button of document.querySelectorAll("#buttons button")) {
    const useless = button.dataset.said === "undo" && !listed.length;
    button.setAttribute("aria-disabled", String(off || useless));
  }
}

async function undo(number) {
  if (busy) return;
  busy = true;
  try {
    const found = await call("/api/undo", { answer: number });
    listed = listed.filter((one) => one.answer !== number);
    const inList = by("history").contains(document.activeElement);
    listHistory();
    showState(found);
    complain("");
    tell("Undone. Its pair is asked again.");
    if (inList) document.querySelector("#buttons button").focus({ preventScroll: true });
  } catch (error) {
    complain(`Not undone: ${reason(error)}.`);
  }
  busy = false;
  setButtons(false);
}

// ---------------------------------------------------------------- own answers

function remember(one) {
  if (listed.some((other) => other.answer === one.answer)) return;
  listed.unshift(one);
  if (listed.length > room) {
    listed.length = room;
    show("older", true);
  }
  listHistory();
}

function thumbs(one) {
  return [one.left, one.right].filter((end) => end.media?.kind === "image").map((end) => {
    const picture = element("img", undefined, "thumb");
    picture.alt = ""; // the ids beside it say the same
    picture.addEventListener("error", () => picture.remove());
    picture.src = end.media.url;
    return picture;
  });
}

function listHistory() {
  by("history").replaceChildren(...listed.map((one) => {
    const line = element("li");
    const said = element("span");
    said.append(element("b", one.said), ` · ${one.left.id} and ${one.right.id}`);
    const button = element("button", "Undo", "minor");
    button.type = "button";
    button.setAttribute("aria-label", `Undo ${one.said} for ${one.left.id} and ${one.right.id}`);
    button.addEventListener("click", () => undo(one.answer));
    line.append(...thumbs(one), said, button);
    return line;
  }));
  setButtons(busy);
}

async function showHistory(before) {
  if (by("own").hidden) return;
  const found = await call(before === undefined ? "/api/history" : `/api/history?before=${before}`);
  listed = before === undefined ? found.answers : [...listed, ...found.answers];
  room = Math.max(PAGE, listed.length);
  listHistory();
  show("older", found.answers.length >= PAGE);
}

// ---------------------------------------------------------------- keys and settings

function nameOf(key) { return key === " " ? "Space" : key.length === 1 ? key.toUpperCase() : key; }

function showKeys() {
  for (const place of ["left", "right"]) by(`${place}-key`).textContent = nameOf(keys[place]);
  for (const button of document.querySelectorAll("#buttons button")) {
    const key = keys[button.dataset.said];
    button.querySelector("kbd").textContent = nameOf(key);
    button.setAttribute("aria-keyshortcuts", nameOf(key));
  }
  by("keys").replaceChildren(...Object.keys(USUAL).map((name) => {
    const line = element("div");
    const label = element("label", TITLES[name]);
    const field = element("input");
    field.id = `key-${name}`;
    field.readOnly = true;
    field.value = nameOf(keys[name]);
    label.htmlFor = field.id;
    field.addEventListener("keydown", (event) => changeKey(event, name));
    line.append(label, field);
    return line;
  }));
}

function changeKey(event, name) {
  if (["Tab", "Shift", "Control", "Alt", "Meta", "Escape"].includes(event.key)) return;
  event.preventDefault();
  event.stopPropagation();
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const taken = Object.keys(keys).find((other) => other !== name && keys[other] === key);
  if (taken) {
    tell(`The key ${nameOf(key)} is taken by “${TITLES[taken]}”.`);
    return;
  }
  keys[name] = key;
  store(KEYS, keys);
  showKeys();
  by(`key-${name}`).focus();
  tell(`${TITLES[name]}: ${nameOf(key)}.`);
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.target.closest("input:not([type=checkbox])")) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const said = Object.keys(keys).find((name) => keys[name] === key);
  if (!said) return;
  // What has the focus keeps the keys by which it is used itself; letters and digits are ours.
  if ((key === "Enter" || key === " ") && event.target.closest("button, summary, a, input")) return;
  if ((key.length > 1 || key === " ") && event.target.closest("audio")) return;
  event.preventDefault();
  act(said);
});

// ---------------------------------------------------------------- begin

async function join() {
  try {
    showState(await call("/api/join", { name: by("name").value }));
    complain("");
    await showHistory();
    document.querySelector("#buttons button").focus();
  } catch (error) {
    complain(`${reason(error)}.`);
    by("name").focus();
  }
}

for (const button of document.querySelectorAll("#buttons button")) {
  button.addEventListener("click", () => act(button.dataset.said));
}
by("join-go").addEventListener("click", join);
by("name").addEventListener("keydown", (event) => { if (event.key === "Enter") join(); });
by("older").addEventListener("click", async () => {
  try { await showHistory(listed[listed.length - 1].answer); } catch (error) { complain(`${reason(error)}.`); }
});
by("reset").addEventListener("click", () => { keys = { ...USUAL }; store(KEYS, keys); showKeys(); });
by("show").checked = showModel;
by("show").addEventListener("change", () => {
  showModel = by("show").checked;
  store("noisypairs-show-model", showModel);
  showChance();
});
by("leave").addEventListener("click", async () => {
  try {
    showState(await call("/api/leave", {}));
    listed = [];
    listHistory();
    tell("");
    complain("");
  } catch (error) {
    complain(`You still answer as ${by("who").textContent}: ${reason(error)}.`);
  }
});
showKeys();
refresh();
