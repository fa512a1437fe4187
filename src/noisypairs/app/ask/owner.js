"use strict";
// The owner's page: make a link for somebody, and look again now and then.

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

async function invite() {
  try {
    const response = await fetch("/api/invite", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ name: by("name").value }),
    });
    const found = await response.json();
    if (!response.ok) {
      complain(`${found.error}.`);
      return;
    }
    by("name").value = "";
    await look();
    complain("");
  } catch {
    complain("No link was made: the server does not answer.");
  }
}

by("invite").addEventListener("click", invite);
by("name").addEventListener("keydown", (event) => { if (event.key === "Enter") invite(); });
setInterval(lookAgain, LOOK);
