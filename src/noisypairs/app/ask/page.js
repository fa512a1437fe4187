"use strict";
// The page that asks. Everything from the items is set as text, never as markup.

const SHOWN_AT_ONCE = 12; // columns; the others are behind "more"
const RETRY = 2000; // milliseconds until an answer that could not be kept is sent again
const USUAL = { same: "s", different: "d", unsure: "u", skip: "k", undo: "z" };
const TITLES = { same: "Same", different: "Different", unsure: "Unsure", skip: "Skip", undo: "Undo the last answer" };

const by = (id) => document.getElementById(id);
const show = (id, visible) => { by(id).hidden = !visible; };

let pair = null; // what is shown now
let shownAt = 0;
let busy = false;
let keys = { ...USUAL, ...stored("noisypairs-keys", {}) };
let showModel = stored("noisypairs-show-model", false);
let listed = []; // own answers, the last first

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

function tell(text) { by("status").textContent = text; }
function complain(text) { by("trouble").textContent = text; show("trouble", Boolean(text)); }

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
    return [sound];
  }
  const picture = element("img");
  picture.alt = `Picture of the ${place} item, ${item.id}`;
  picture.addEventListener("load", () => picture.classList.toggle("tiny", picture.naturalWidth < 33));
  picture.addEventListener("error", () => picture.replaceWith(element("p", "This picture cannot be shown.")));
  picture.src = item.media.url;
  return [picture];
}

function row(column) {
  const differs = column.left !== column.right;
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
  pair = found;
  show("pair", Boolean(pair));
  show("buttons", Boolean(pair));
  show("nothing", !pair);
  if (!pair) return;
  for (const place of ["left", "right"]) {
    by(`${place}-id`).textContent = pair[place].id;
    by(`${place}-media`).replaceChildren(...media(pair[place], place === "left" ? "first" : "second"));
  }
  const first = pair.columns.slice(0, SHOWN_AT_ONCE);
  const others = pair.columns.slice(SHOWN_AT_ONCE);
  show("columns", first.length > 0);
  by("rows").replaceChildren(...first.map(row));
  show("more", others.length > 0);
  by("more-title").textContent = `${others.length} more columns`;
  by("more-rows").replaceChildren(...others.map(row));
  showChance();
  shownAt = performance.now();
}

function showChance() {
  const known = pair && typeof pair.chance === "number";
  show("chance", showModel && known);
  if (known) by("chance").textContent = `The model: same with a chance of ${Math.round(100 * pair.chance)} %.`;
}

// ---------------------------------------------------------------- what the server says

function showState(found) {
  const joined = "progress" in found;
  show("owner", Boolean(found.owner) || !by("owner").hidden);
  for (const id of ["progress", "own", "settings"]) show(id, joined);
  show("join", !joined && found.join);
  show("closed", !joined && !found.join);
  if (!joined) {
    for (const id of ["pair", "buttons", "nothing", "enough"]) show(id, false);
    pair = null;
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
    complain("The server does not answer. The page tries again.");
    setTimeout(refresh, RETRY);
  }
}

// ---------------------------------------------------------------- answering

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
      remember({ answer: found.answered, said, left: given.left.id, right: given.right.id });
      showState(found);
      tell(`Kept: ${said}. ${found.pair ? `Next: ${found.pair.left.id} and ${found.pair.right.id}.` : "No pair is left."}`);
      busy = false;
    } catch (error) {
      if (error.status) {
        complain(`This answer was not kept: ${error.message}.`);
        busy = false;
        await refresh();
        complain(`The last answer was not kept: ${error.message}.`);
      } else {
        complain(`Not kept yet: “${said}”. The server does not answer; the page tries again.`);
        await new Promise((done) => setTimeout(done, RETRY));
      }
    }
  }
  setButtons(false);
}

function setButtons(off) {
  for (const button of document.querySelectorAll("#buttons button")) button.setAttribute("aria-disabled", String(off));
}

async function undo(number) {
  if (busy) return;
  busy = true;
  try {
    const found = await call("/api/undo", { answer: number });
    listed = listed.filter((one) => one.answer !== number);
    listHistory();
    showState(found);
    complain("");
    tell("Undone. Its pair is asked again.");
    by("question").scrollIntoView({ block: "start" });
  } catch (error) {
    complain(`Not undone: ${error.message}.`);
  }
  busy = false;
}

// ---------------------------------------------------------------- own answers

function remember(one) {
  if (listed.some((other) => other.answer === one.answer)) return;
  listed.unshift(one);
  listHistory();
}

function listHistory() {
  by("history").replaceChildren(...listed.map((one) => {
    const line = element("li");
    const said = element("span");
    said.append(element("b", one.said), ` · ${one.left} and ${one.right}`);
    const button = element("button", "Undo", "minor");
    button.type = "button";
    button.setAttribute("aria-label", `Undo ${one.said} for ${one.left} and ${one.right}`);
    button.addEventListener("click", () => undo(one.answer));
    line.append(said, button);
    return line;
  }));
}

async function showHistory(before) {
  if (by("own").hidden) return;
  const found = await call(before === undefined ? "/api/history" : `/api/history?before=${before}`);
  listed = before === undefined ? found.answers : [...listed, ...found.answers];
  listHistory();
  show("older", found.answers.length >= 20);
}

// ---------------------------------------------------------------- keys and settings

function nameOf(key) { return key === " " ? "Space" : key.length === 1 ? key.toUpperCase() : key; }

function showKeys() {
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
  store("noisypairs-keys", keys);
  showKeys();
  by(`key-${name}`).focus();
  tell(`${TITLES[name]}: ${nameOf(key)}.`);
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.target.closest("input, textarea, select, audio")) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const said = Object.keys(keys).find((name) => keys[name] === key);
  if (!said) return;
  // A button that has the focus keeps Enter and Space for itself.
  if ((key === "Enter" || key === " ") && event.target.closest("button, summary, a")) return;
  event.preventDefault();
  if (said === "undo") { if (listed.length) undo(listed[0].answer); } else { answer(said); }
});

// ---------------------------------------------------------------- begin

async function join() {
  try {
    showState(await call("/api/join", { name: by("name").value }));
    complain("");
    await showHistory();
    document.querySelector("#buttons button").focus();
  } catch (error) {
    complain(`${error.message}.`);
    by("name").focus();
  }
}

for (const button of document.querySelectorAll("#buttons button")) {
  button.addEventListener("click", () => answer(button.dataset.said));
}
by("join-go").addEventListener("click", join);
by("name").addEventListener("keydown", (event) => { if (event.key === "Enter") join(); });
by("older").addEventListener("click", () => showHistory(listed[listed.length - 1].answer));
by("reset").addEventListener("click", () => { keys = { ...USUAL }; store("noisypairs-keys", keys); showKeys(); });
by("show").checked = showModel;
by("show").addEventListener("change", () => {
  showModel = by("show").checked;
  store("noisypairs-show-model", showModel);
  showChance();
});
by("leave").addEventListener("click", async () => {
  showState(await call("/api/leave", {}));
  listed = [];
  tell("");
});
showKeys();
refresh();
