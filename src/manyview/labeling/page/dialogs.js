"use strict";
// Dialogs: a new class, search, batch, second look, a lasso, help and the end.

/** Open the one dialog with a title and content; `acts` are its buttons. Returns a promise of the choice. */
manyview.ask = (title, content, acts, { isWide = false } = {}) => {
  const { el } = manyview, dialog = document.getElementById("dialog");
  return new Promise((resolve) => {
    const done = (value) => { dialog.onclose = null; dialog.close(); resolve(value); };
    const menu = el("menu", {}, acts.map(({ text, value, isMain, id }) => el("button", { type: isMain ? "submit" : "button", id, className: isMain ? "main" : "", on: isMain ? {} : { click: () => done(value) } }, text)));
    const main = acts.find((act) => act.isMain);
    const form = el("form", { on: { submit: (event) => { event.preventDefault(); if (main) done(main.value); } } }, el("h1", {}, title), ...[content].flat(), menu);
    dialog.className = isWide ? "wide" : "";
    dialog.replaceChildren(form);
    if (dialog.open) dialog.close();
    dialog.onclose = () => { if (!dialog.open) resolve(null); }; // the event of one before may come late
    dialog.showModal();
    (form.querySelector("input") ?? form.querySelector(".main"))?.focus();
    manyview.closeDialog = done;
  });
};
manyview.NO = { text: "Cancel", value: null };

manyview.askNewClass = async () => {
  const { el } = manyview, field = el("input", { type: "text", id: "class-name", maxLength: 80, autocomplete: "off" });
  const choice = await manyview.ask("New class", [el("label", { htmlFor: "class-name", className: "soft small" }, "Its name"), field], [manyview.NO, { text: "Make it", value: "ok", isMain: true, id: "make" }]);
  return choice === "ok" && field.value.trim() ? field.value.trim() : null;
};

/** Let the person type a part of a class's name. */
manyview.askClass = async (title = "Which class?") => {
  const { el } = manyview, list = el("ul", { className: "classes" });
  const field = el("input", { type: "text", id: "class-search", autocomplete: "off", placeholder: "Type a part of its name" });
  const found = () => {
    const typed = field.value.trim().toLowerCase();
    const matches = manyview.state.classes.map((one) => one.name).filter((name) => name.toLowerCase().includes(typed));
    return matches.sort((one, other) => other.toLowerCase().startsWith(typed) - one.toLowerCase().startsWith(typed));
  };
  const fill = () => list.replaceChildren(...found().slice(0, 9).map((name, at) => el("li", {}, el("button", { type: "button", className: `${manyview.color(name)} ${at ? "" : "best"}`, on: { click: () => manyview.closeDialog(name) } }, el("span", { className: "dot" }), el("span", { className: "word" }, name)))));
  field.addEventListener("input", fill); fill();
  const choice = await manyview.ask(title, [field, list], [manyview.NO, { text: "Choose", value: true, isMain: true }]);
  return choice === true ? found()[0] ?? null : choice;
};

/** Show sure predictions of one class; those that are clicked away are left out. */
manyview.askBatch = async () => {
  const { el } = manyview;
  const known = manyview.state.classes.filter((one) => one.n_labeled > 0 && one.n_all > one.n_labeled);
  if (!known.length || manyview.state.learned_number === null) { manyview.toast("There is nothing to confirm yet: label a few samples of two classes first."); return; }
  let name = known[0].name, rows = [], out = new Set();
  const tabs = el("div", { className: "tabs" }), grid = el("div", { className: "grid" }), note = el("p", { className: "soft small" });
  const button = () => document.getElementById("confirm");
  const tell = () => { const n = rows.length - out.size; if (button()) { button().textContent = n ? `Label ${n} as ${name}` : "Nothing to label"; button().disabled = !n; } };
  const fill = async () => {
    tabs.replaceChildren(...known.map((one) => el("button", { type: "button", className: manyview.color(one.name), "aria-pressed": String(one.name === name), on: { click: () => { name = one.name; fill(); } } }, one.name)));
    const found = await manyview.get("api/grid", { class: name });
    rows = found.map((one) => one.row); out = new Set();
    note.textContent = rows.length ? "Outliers come first. Click those that do not belong here; they stay without a label." : "No sample is surely of this class yet (probability 90% or more).";
    grid.replaceChildren(...found.map((one) => manyview.thumb(one, (event) => {
      const thumb = event.currentTarget;
      if (out.has(one.row)) out.delete(one.row); else out.add(one.row);
      thumb.classList.toggle("out", out.has(one.row)); tell();
    })));
    tell();
  };
  const asked = manyview.ask("Confirm sure predictions", [tabs, note, grid], [{ text: "Close", value: null }, { text: "…", value: "ok", isMain: true, id: "confirm" }], { isWide: true });
  await fill();
  if ((await asked) === "ok" && rows.length > out.size) {
    const chosen = rows.filter((row) => !out.has(row));
    await manyview.acts.save("api/label", { rows: chosen, label: name, source: "batch", seen: chosen.map(() => null) }, `${chosen.length} samples are labeled ${name}.`);
    await manyview.acts.refresh();
  }
};

/** Show given labels that the model doubts; keep or change each. */
manyview.askSecondLook = async () => {
  const { el } = manyview, box = el("div", { className: "looks" });
  const fill = async () => {
    const found = await manyview.get("api/doubts");
    box.replaceChildren(...(found.length ? found.map((one) => el("div", { className: "look", "data-row": one.row },
      manyview.thumb(one, () => { manyview.closeDialog(null); manyview.acts.go(one.row); }),
      el("div", {}, el("b", {}, one.id), el("div", { className: "soft small" }, `labeled ${one.given}; probably wrong (${manyview.probability(one.wrong)})`)),
      el("div", { className: "row" },
        el("button", { type: "button", className: "keep", on: { click: async () => { await manyview.acts.save("api/keep", { row: one.row }, `${one.id} stays ${one.given}.`); fill(); } } }, `Keep ${one.given}`),
        el("button", { type: "button", className: "change main", on: { click: async () => { await manyview.acts.save("api/label", { rows: [one.row], label: one.suggested, source: "second look", seen: [one.given] }, `${one.id} is now ${one.suggested}.`); fill(); } } }, `Change to ${one.suggested}`))))
      : [el("p", { className: "soft" }, "The model doubts none of your labels. It needs about eight labels per class to tell.")]));
  };
  const asked = manyview.ask("Second look", [el("p", { className: "soft small" }, "Each label was predicted from all others."), box], [{ text: "Close", value: null, isMain: true }], { isWide: true });
  await fill();
  await asked;
  await manyview.acts.refresh();
};

/** Ask what to do with the samples in a lasso. */
manyview.askLasso = async (rows, given) => {
  const { el } = manyview, open = rows.filter((row) => !(given[row] & manyview.LABELED));
  if (!rows.length) { manyview.toast("No sample is inside."); return; }
  const buttons = el("ul", { className: "classes" }, manyview.state.classes.map(({ name }) => el("li", {}, el("button", { type: "button", className: manyview.color(name), "data-class": name, on: { click: () => manyview.closeDialog({ name }) } }, el("span", { className: "dot" }), el("span", { className: "word" }, name)))));
  const text = `${manyview.count(open.length)} of them have no label. Labels that are given already stay as they are.`;
  const choice = await manyview.ask(`${manyview.count(rows.length)} samples`, [el("p", { className: "soft" }, text), open.length ? el("h2", {}, "Label them as") : null, open.length ? buttons : null].filter(Boolean), [manyview.NO, ...(open.length ? [{ text: "Show me these next", value: "focus", id: "focus" }] : [])]);
  if (choice === "focus") { await manyview.post("api/focus", { rows: open }); manyview.toast("The next samples come from this region."); await manyview.acts.next(); return; }
  if (choice === null || !choice.name) return;
  const isSure = await manyview.ask(`Label ${manyview.count(open.length)} samples as ${choice.name}?`, el("p", { className: "soft" }, "One undo takes it back."), [manyview.NO, { text: "Label them", value: true, isMain: true, id: "sure" }]);
  if (!isSure) return;
  await manyview.acts.save("api/label", { rows: open, label: choice.name, source: "lasso", seen: open.map(() => null) }, `${open.length} samples are labeled ${choice.name}.`);
  await manyview.acts.refresh();
};

manyview.showHelp = () => {
  const { el } = manyview;
  const keys = [["1 – 9", "label the sample (the digit itself where classes are digits)"], ["Enter", "accept the prediction"], ["/", "search a class by name"], ["N", "new class"], ["S", "skip"], ["U", "undo"], ["B", "batch: confirm many sure predictions"], ["D", "second look at doubted labels"], ["F", "show only samples of one class next"], ["L", "lasso on the map (or hold Shift and drag)"], ["M", "color the map by class, sureness, labels, issues"], ["T", "light or dark"]];
  return manyview.ask("Keys", el("table", {}, keys.map(([key, text]) => el("tr", {}, el("td", {}, el("kbd", {}, key)), el("td", {}, text)))), [{ text: "Close", value: null, isMain: true }]);
};

manyview.showEnd = (title, sentence) => {
  const { el } = manyview, dialog = document.getElementById("dialog");
  dialog.onclose = null; dialog.className = "";
  dialog.addEventListener("cancel", (event) => event.preventDefault());
  dialog.replaceChildren(el("h1", {}, title), el("p", {}, sentence));
  if (!dialog.open) dialog.showModal();
};
