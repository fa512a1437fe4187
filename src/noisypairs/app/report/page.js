"use strict";
(() => {
  const FEWEST = 3, MANY = 15, SHOWN = 25, NEAR = 28;
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
    element.append(...children);
    return element;
  };
  const first = (text) => {
    const found = /[-\u2212]?\d[\d,]*\.?\d*|[-\u2212]?\.\d+/.exec(text);
    return found ? parseFloat(found[0].replace(/,/g, "").replace("\u2212", "-")) : NaN;
  };
  const compare = (a, b, numeric) => {
    if (!numeric) return a.text.localeCompare(b.text, undefined, { numeric: true });
    if (isNaN(a.number) || isNaN(b.number)) return isNaN(a.number) - isNaN(b.number);
    return a.number - b.number;
  };

  // A list is a table or a set of cards: rows, columns, and the value of a row in a column.
  function listOfTable(table) {
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells];
    const columns = heads.map((head) => ({
      name: head.textContent, numeric: head.classList.contains("numeric"),
      choose: head.hasAttribute("data-choose"), head,
    }));
    const value = (row, k) => {
      const cell = row.cells[k], text = cell.textContent;
      return { text, number: "v" in cell.dataset ? parseFloat(cell.dataset.v) : first(text) };
    };
    const rows = [...body.rows].filter((row) => !row.classList.contains("last"));
    return { holder: body, rows, columns, value, place: table.parentElement, noun: "rows" };
  }
  function listOfCards(holder) {
    const columns = JSON.parse(holder.dataset.keys);
    const value = (row, k) => {
      const [text, number] = JSON.parse(row.dataset.keys)[k];
      return { text, number: number === null ? NaN : number };
    };
    return { holder, rows: all(":scope > article", holder), columns, value, place: holder, noun: "pairs" };
  }

  function enliven(list) {
    const { holder, rows, columns, value, place, noun } = list;
    const last = all(":scope > .last", holder);
    const texts = rows.map((row) => row.textContent.toLowerCase());
    const cells = rows.map((row) => columns.map((_, k) => value(row, k)));
    const state = { word: "", choices: {}, sort: -1, down: false, most: SHOWN };

    const word = make("input", { type: "search", placeholder: "Filter", "aria-label": `Filter the ${noun}` });
    const sort = make("select", { "aria-label": "Sort by" }, make("option", { value: -1 }, "Sort: as given"));
    columns.forEach((column, k) => {
      if (column.name) sort.append(make("option", { value: k }, `Sort: ${column.name}`));
    });
    const turn = make("button", { type: "button", "aria-label": "Turn the order round" }, "\u2191");
    const said = make("output");
    const more = make("button", { type: "button", class: "more" }, "Show all");
    const tools = make("div", { class: "tools" }, word);
    columns.forEach((column, k) => {
      if (!column.choose) return;
      const names = new Set(cells.flatMap((row) => row[k].text.split("; ")).filter(Boolean));
      if (names.size < 2) return;
      const select = make("select", { "aria-label": column.name }, make("option", { value: "" }, `${column.name}: all`));
      [...names].sort((a, b) => a.localeCompare(b, undefined, { numeric: true }))
        .forEach((name) => select.append(make("option", { value: name }, name)));
      select.addEventListener("change", () => { state.choices[k] = select.value; show(); });
      tools.append(select);
    });
    tools.append(sort, turn, said);
    if (rows.length >= MANY || columns.some((column) => column.choose)) place.before(tools);
    place.after(more);

    function show() {
      const kept = rows.map((_, i) => i).filter((i) => texts[i].includes(state.word)
        && Object.entries(state.choices).every(([k, name]) => !name || cells[i][k].text.split("; ").includes(name)));
      if (state.sort >= 0) {
        const { numeric } = columns[state.sort];
        kept.sort((i, j) => {
          const missing = numeric && isNaN(cells[i][state.sort].number) !== isNaN(cells[j][state.sort].number);
          const order = compare(cells[i][state.sort], cells[j][state.sort], numeric);
          return (state.down && !missing ? -order : order) || i - j;
        });
      } else if (state.down) kept.reverse();
      const visible = new Set(kept.slice(0, state.most));
      rows.forEach((row, i) => { row.hidden = !visible.has(i); });
      holder.append(...kept.map((i) => rows[i]), ...last);
      said.textContent = kept.length === rows.length && visible.size === rows.length
        ? `${rows.length} ${noun}` : `${visible.size} of ${kept.length === rows.length ? "" : `${kept.length} found in `}${rows.length} ${noun}`;
      more.hidden = visible.size === kept.length;
      more.textContent = `Show all ${kept.length} ${noun}`;
      turn.textContent = state.down ? "\u2193" : "\u2191";
      columns.forEach(({ head }, k) => {
        if (head) head.setAttribute("aria-sort", k !== state.sort ? "none" : state.down ? "descending" : "ascending");
      });
      sort.value = String(state.sort);
    }
    const by = (k) => {
      state.down = state.sort === k ? !state.down : Boolean(columns[k].numeric);
      state.sort = k;
      show();
    };
    columns.forEach(({ head, name }, k) => {
      if (!head || !name) return;
      const button = make("button", { type: "button" }, ...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => by(k));
    });
    word.addEventListener("input", () => { state.word = word.value.trim().toLowerCase(); show(); });
    sort.addEventListener("change", () => {
      const k = Number(sort.value);
      state.sort = -1;
      state.down = false;
      if (k >= 0) by(k); else show();
    });
    turn.addEventListener("click", () => { state.down = !state.down; show(); });
    more.addEventListener("click", () => { state.most = rows.length; show(); });
    show();
  }

  // Values under the pointer: the pictures carry them as titles, which work without this too.
  function tell(picture, tip) {
    const marks = all("title", picture).map((title) => {
      const mark = title.parentElement;
      mark.dataset.tip = title.textContent;
      title.remove();
      return mark;
    });
    const nearest = (x, y) => {
      let best = null, least = NEAR;
      marks.forEach((mark) => {
        const box = mark.getBoundingClientRect();
        const away = Math.hypot(box.x + box.width / 2 - x, box.y + box.height / 2 - y);
        if (away < least) [best, least] = [mark, away];
      });
      return best;
    };
    const follow = (event) => {
      const mark = event.target.closest("[data-tip]") || nearest(event.clientX, event.clientY);
      tip.hidden = !mark;
      if (!mark) return;
      tip.textContent = mark.dataset.tip;
      const wide = document.documentElement.clientWidth;
      tip.style.left = `${Math.max(4, Math.min(event.clientX + 12, wide - tip.offsetWidth - 4))}px`;
      tip.style.top = `${event.clientY + 16}px`;
    };
    picture.addEventListener("pointermove", follow);
    picture.addEventListener("pointerdown", follow);
    picture.addEventListener("pointerleave", () => { tip.hidden = true; });
  }

  all(".scroll > table").map(listOfTable).concat(all(".cards").map(listOfCards))
    .filter((list) => list.rows.length >= FEWEST).forEach(enliven);
  const tip = make("div", { class: "tip", role: "tooltip", hidden: "" });
  document.body.append(tip);
  all(".picture").forEach((picture) => tell(picture, tip));
  // What is folded is opened for whoever follows a link into it, and for printing.
  const open = (place) => place && place.closest("details")?.setAttribute("open", "");
  const follow = () => open(document.getElementById(location.hash.slice(1)));
  addEventListener("hashchange", follow);
  addEventListener("beforeprint", () => all("details").forEach((one) => { one.open = true; }));
  follow();
})();
