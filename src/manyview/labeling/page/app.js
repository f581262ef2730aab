"use strict";
// The page as a whole: state, events of the server, keys and acts.

{
  const { el, get, post, toast, count } = manyview;
  const MODES = [["class", "Class"], ["sureness", "Sureness"], ["labels", "Given labels"], ["issues", "Issues"]];
  let sample = null, isBusy = false, ids = [], map = null, isEnding = false, savedAt = 0, nMoves = 0;
  const $ = (id) => document.getElementById(id);

  const showStatus = () => {
    const { state } = manyview, box = $("status");
    const isFresh = performance.now() - savedAt < 1500;
    const kind = state.status === "failed" ? "failed" : state.status === "learning" ? "learning" : "saved";
    box.className = `status ${isFresh && kind !== "failed" ? "saved" : kind}`;
    box.textContent = isFresh && kind !== "failed" ? "Saved" : kind === "failed" ? state.message
      : state.status === "starting" ? "Preparing the data …" : kind === "learning" ? "Learning …" : state.learned_number === null ? "All saved" : "All saved, up to date";
  };

  const showNotice = () => {
    const { conflicts, problem } = manyview.state, box = $("notice");
    box.hidden = !conflicts.length && !problem;
    if (problem) box.replaceChildren(problem);
    else if (conflicts.length) {
      const [one] = conflicts, name = (label) => label ?? "no label";
      const choose = (label) => () => acts.save("api/resolve", { sample: one.sample, label }, "");
      box.replaceChildren(`${one.sentence} labels.csv stays as it is until you choose.`, el("span", { className: "row" },
        el("button", { on: { click: choose(one.in_page) } }, `Keep ${name(one.in_page)}`), el("button", { on: { click: choose(one.in_file) } }, `Take ${name(one.in_file)} from the file`)));
    }
  };

  const showState = () => {
    const { state } = manyview;
    $("counts").replaceChildren(el("b", {}, count(state.n_labeled)), ` of ${count(state.n_samples)} labeled`, state.n_skipped ? `, ${count(state.n_skipped)} skipped` : "");
    $("doubts").textContent = state.n_doubts || "";
    showStatus(); showNotice(); manyview.showProgress(state); showLegend();
  };

  const showLegend = () => {
    const part = (color, text) => el("span", {}, el("i", { className: "dot", style: { background: `var(--${color})` } }), text);
    const parts = { class: [], sureness: [part("unsure", "unsure"), part("sure", "sure")], labels: [part("none", "no label")], issues: [part("warm", "doubted label"), part("none", "others")] }[map.mode];
    const last = map.mode === "issues" || !manyview.state.n_labeled ? [] : [el("span", {}, "ring: given label")];
    $("legend").replaceChildren(...parts, ...last);
  };

  const loadState = async () => { manyview.state = await get("api/state"); showState(); };
  /** The same after an act; where the server is gone just then, the next event tries again. */
  const reloadState = () => loadState().catch(() => null);
  const loadMap = async () => { map.read(await (await fetch(manyview.url("api/map"))).arrayBuffer()); };

  const show = (found) => {
    sample = found;
    manyview.showSample(sample, acts.go); manyview.showAnswer(sample, acts);
    map.shown = sample.row; map.links = sample.row === null ? [] : sample.neighbors; map.draw();
    document.documentElement.dataset.row = sample.row ?? "";
  };

  /** Show what the server answers; until then no key labels the sample that is on its way out. */
  const move = async (path, query) => {
    nMoves += 1;
    try { show(await get(path, query)); } catch (error) { toast(error.message, true); } finally { nMoves -= 1; }
  };

  const idle = async () => { while (isBusy || nMoves) await new Promise((done) => setTimeout(done, 20)); };

  const acts = manyview.acts = {
    next: () => move("api/next"),
    go: (row) => move("api/sample", { row }),
    /** Show the sample again with what was learned, unless another one is shown by then. */
    refresh: async () => {
      const row = sample?.row ?? null;
      if (row === null) return;
      const found = await get("api/sample", { row }).catch(() => null); // the next event tries again
      if (found && sample.row === row && !nMoves) show({ ...found, reason: found.reason ?? sample.reason });
    },

    /** Send an act; it is saved when the server answers. Returns whether it was. */
    save: async (path, body, sentence = "") => {
      if (isBusy || nMoves || isEnding) return false;
      isBusy = true;
      const started = performance.now();
      try {
        const answer = await post(path, body);
        savedAt = performance.now();
        document.documentElement.dataset.savedMs = (savedAt - started).toFixed(1);
        if (sentence) toast(sentence);
        return answer ?? true;
      } catch (error) {
        toast(error instanceof TypeError ? "Not saved: the server does not answer. Start `manyview label` again; every saved label is kept." : error.message, true);
        return false;
      } finally { isBusy = false; }
    },

    label: async (name, source = "key") => {
      if (!sample || sample.row === null) return;
      const wasIdle = !isBusy && !nMoves, isAgain = sample.reason === "again";
      const [path, body] = isAgain && name === sample.given ? ["api/keep", { row: sample.row }]
        : ["api/label", { rows: [sample.row], label: name, source: isAgain ? "second look" : source, seen: [sample.given] }];
      if (!(await acts.save(path, body))) { if (wasIdle) await acts.refresh(); return; }
      await acts.next(); await reloadState();
    },
    skip: async () => { if (sample && sample.row !== null && (await acts.save("api/skip", { row: sample.row }))) await acts.next(); },
    /** Undo also what is just being saved: the key waits for it, and is never lost. */
    undo: async () => {
      await idle();
      const undone = await acts.save("api/undo", {});
      if (!undone) return;
      await reloadState();
      toast(undone.kind === "class" ? `The class ${undone.name} is gone.` : undone.rows.length > 1 ? `${undone.rows.length} labels are taken back.` : "Taken back.");
      if (undone.rows.length) await acts.go(undone.rows[0]); else await acts.refresh();
    },
    newClass: async () => {
      const name = await manyview.askNewClass();
      if (name === null) return;
      if (!(await acts.save("api/class", { name }))) return;
      await reloadState();
      await acts.label(name);
    },
    search: async () => { const name = await manyview.askClass(); if (name !== null) await acts.label(name); },
    focus: async () => {
      const name = await manyview.askClass("Show samples of which class next?");
      if (name === null) return;
      try { const { n } = await post("api/focus", { class: name }); toast(`${count(n)} samples, those that may be ${name} first.`); await acts.next(); } catch (error) { toast(error.message, true); }
    },
    finish: async () => {
      if (!(await manyview.ask("Finish?", el("p", { className: "soft" }, `The model is fitted once more, and the run is written to ${manyview.state.folder}. The same command continues later.`), [manyview.NO, { text: "Finish", value: true, isMain: true, id: "really" }]))) return;
      await acts.save("api/finish", {});
    },
  };

  const setMode = (mode) => {
    map.mode = mode;
    for (const button of $("tools").querySelectorAll("[data-mode]")) button.setAttribute("aria-pressed", String(button.dataset.mode === mode));
    map.draw(); showLegend();
  };
  const setLasso = (isOn) => { map.isLasso = isOn; map.canvas.classList.toggle("lasso", isOn); $("lasso").setAttribute("aria-pressed", String(isOn)); };
  const setTheme = () => {
    const isDark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    document.documentElement.dataset.theme = isDark ? "light" : "dark";
    map.draw();
  };

  const hover = (row, at) => {
    const tip = $("tip");
    tip.hidden = row === null;
    if (row === null) return;
    tip.style.left = `${at[0]}px`; tip.style.top = `${at[1]}px`;
    const name = manyview.state.classes[map.classes[row]]?.name;
    tip.textContent = `${ids[row]}: ${name === undefined ? "no prediction yet" : map.flags[row] & manyview.LABELED ? `labeled ${name}` : `${name}, ${manyview.probability(map.sureness[row] / 255)}`}`;
  };

  const KEYS = {
    enter: () => {
      if (sample?.reason === "again") acts.label(sample.given);
      else if (sample?.prediction && sample.given === null) acts.label(sample.prediction, "accept");
    },
    s: () => acts.skip(), u: () => acts.undo(), n: () => acts.newClass(), "/": () => acts.search(), f: () => acts.focus(),
    b: () => manyview.askBatch(), d: () => manyview.askSecondLook(), t: setTheme, "?": manyview.showHelp, l: () => setLasso(!map.isLasso),
    m: () => setMode(MODES[(MODES.findIndex(([mode]) => mode === map.mode) + 1) % MODES.length][0]),
  };
  document.addEventListener("keydown", (event) => {
    if ($("dialog").open || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input")) return;
    const key = event.key.toLowerCase(), name = manyview.keys().get(key);
    const act = name !== undefined ? () => acts.label(name) : KEYS[key];
    if (!act || (key === "enter" && event.target.matches("button"))) return;
    event.preventDefault();
    if (!event.repeat) act();
  });

  const listen = () => {
    const source = new EventSource(manyview.url("api/events"));
    let wasGone = false;
    source.onmessage = async (message) => {
      const { kind } = JSON.parse(message.data);
      if (kind === "still here") return;
      if (kind === "closing") { isEnding = true; manyview.showEnd("Writing the run …", "The model is fitted once more. Your labels are saved."); return; }
      if (kind === "closed") { isEnding = true; source.close(); manyview.showEnd("Done", `The run is in ${manyview.state.folder}: report.html, predictions.csv, labels.csv and the model. You can close this page; the same command continues.`); return; }
      if (kind === "hello" && wasGone) { wasGone = false; toast("The server answers again."); }
      try {
        await loadState();
        if (kind === "learned") { await loadMap(); await acts.refresh(); }
        if (["ready", "moved", "labels", "hello"].includes(kind)) await loadMap();
        if (["learned", "failed", "hello"].includes(kind) && sample?.row === null) await acts.next();
      } catch { /* the next event tries again */ }
    };
    source.onerror = () => {
      if (isEnding || wasGone) return;
      wasGone = true;
      $("status").className = "status failed"; $("status").textContent = "The server does not answer. Saved labels are safe.";
    };
  };

  const start = async () => {
    map = new manyview.SampleMap($("map"), { onPick: acts.go, onHover: hover, onLasso: (rows) => { setLasso(false); manyview.askLasso(rows, map.flags); } });
    manyview.map = map;
    $("tools").append(el("div", { className: "modes", role: "group", "aria-label": "Color" }, MODES.map(([mode, text]) => el("button", { type: "button", "data-mode": mode, "aria-pressed": String(mode === "class"), on: { click: () => setMode(mode) } }, text))),
      el("button", { type: "button", id: "lasso", "aria-pressed": "false", on: { click: () => setLasso(!map.isLasso) } }, "Lasso"));
    for (const [id, act] of [["batch", manyview.askBatch], ["second", manyview.askSecondLook], ["help", manyview.showHelp], ["theme", setTheme], ["finish", acts.finish]]) $(id).addEventListener("click", act);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => map.draw());
    setInterval(() => { if (manyview.state) showStatus(); }, 700);
    manyview.state = await get("api/state");
    ids = await get("api/ids");
    showState();
    await loadMap();
    await acts.next();
    listen();
    document.documentElement.dataset.ready = "yes";
  };
  start().catch((error) => toast(error.message, true));
}
