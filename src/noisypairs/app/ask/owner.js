"use strict";
// The owner's page: make a link for somebody, and look again now and then.

const field = document.getElementById("name");
const trouble = document.getElementById("trouble");

async function invite() {
  const response = await fetch("/api/invite", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ name: field.value }),
  });
  if (response.ok) {
    location.reload();
    return;
  }
  trouble.textContent = (await response.json()).error;
  trouble.hidden = false;
}

document.getElementById("invite").addEventListener("click", invite);
field.addEventListener("keydown", (event) => { if (event.key === "Enter") invite(); });
setInterval(() => { if (!field.value) location.reload(); }, 15000);
