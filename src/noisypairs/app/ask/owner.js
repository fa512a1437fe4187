"use strict";
// The owner's page: links, who may answer and whose answers count, looked at again now and then.

const LOOK = 15000; // milliseconds between two looks
const PARTS = ["state", "everybody", "agreement", "links"]; // what changes while people answer

const by = (id) => document.getElementById(id);

function complain(text) {
  by("trouble").textContent = text;
  by("trouble").hidden = !text;
}

// Only what has changed is put in place: a reload would take focus, selection and scrolling away.
async function look() {
  const response = await fetch("/owner", { headers: { Accept: "text/html" } });
  if (!response.ok) throw new Error(response.statusText);
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
  for (const id of PARTS) {
    const part = fresh.getElementById(id);
    if (part.innerHTML !== by(id).innerHTML) by(id).replaceWith(document.adoptNode(part));
  }
}

async function lookAgain() {
  try {
    await look();
    complain("");
  } catch {
    complain("The server does not answer: this is from before. The page tries again.");
  }
}

// Send a change; return whether it was made.
async function change(path, body) {
  try {
    const response = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    const found = await response.json();
    if (!response.ok) {
      complain(`${found.error}.`);
      return false;
    }
    await look();
    complain("");
    return true;
  } catch {
    complain("Nothing was changed: the server does not answer.");
    return false;
  }
}

async function invite() {
  if (await change("/api/people", { name: by("name").value })) by("name").value = "";
}

by("invite").addEventListener("click", invite);
by("name").addEventListener("keydown", (event) => { if (event.key === "Enter") invite(); });
document.addEventListener("click", (event) => {
  const { person, do: what, link } = event.target.dataset;
  if (person) change("/api/people", { person: Number(person), do: what });
  if (link) change("/api/link", { renew: true });
});
document.addEventListener("change", (event) => {
  if (event.target.id === "most") change("/api/link", { most: Number(event.target.value) });
});
setInterval(lookAgain, LOOK);
