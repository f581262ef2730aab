"use strict";
// The sample, what the model thinks of it, and the progress.

manyview.REASONS = {
  covers: ["stands for many", "It is similar to many samples that have no label near them."],
  uncertain: ["uncertain", "The model is uncertain here, and so it is about similar samples."],
  new: ["unlike any label", "It is unlike anything that has a label; it may belong to a new class."],
  again: ["second look", "Labels of similar samples contradict this label. Give it again to keep it, or give another one."],
};
manyview.FAR = 2; // standard deviations from which on a value is marked

manyview.showSample = (sample, go) => {
  const { el } = manyview, box = document.getElementById("sample");
  if (sample.row === null) {
    const [title, text] = sample.is_waiting ? ["Preparing the data …", "The first samples are chosen so that they cover all of it."]
      : ["All samples are labeled", "Take a second look at doubtful labels, or finish."];
    box.replaceChildren(el("div", { className: "name" }, el("h1", {}, title)), el("p", { className: "soft" }, text));
    return;
  }
  const [word, why] = manyview.REASONS[sample.reason] ?? [];
  const heading = el("div", { className: "name" }, el("h1", {}, /^\d+$/.test(sample.id) ? el("span", { className: "soft" }, "Sample ") : null, sample.id),
    sample.reason === "again" ? el("span", { className: "reason again", title: why }, `${word}: labeled ${sample.given}`)
      : sample.given !== null ? el("span", { className: "reason" }, `labeled ${sample.given}`)
      : sample.is_skipped ? el("span", { className: "reason" }, "skipped")
        : word ? el("span", { className: `reason ${sample.reason}`, title: why }, word) : null);
  const picture = sample.has_image
    ? el("img", { className: `picture ${manyview.pixels() || "large"}`, src: manyview.url("api/image", { row: sample.row }), alt: `Picture of ${sample.id}` }) : null;
  const texts = sample.views.flatMap((view) => view.columns.filter((column) => column.kind === "text").map((column) => el("div", { className: "text" }, el("b", {}, column.name), column.value)));
  const isOpen = manyview.areColumnsOpen ?? !matchMedia("(max-width: 44rem)").matches;
  const columns = el("details", { open: isOpen }, el("summary", { on: { click: () => { manyview.areColumnsOpen = !isOpen; } } }, "Columns, the unusual ones first"), sample.views.flatMap((view) => manyview.viewParts(view, sample)));
  const views = el("div", { className: "views" }, texts, columns);
  box.replaceChildren(...[picture, heading, views].filter(Boolean));
};

manyview.viewParts = (view, sample) => {
  const { el } = manyview;
  if (!view.is_present) return [el("h2", {}, view.name), el("p", { className: "soft small" }, "This sample has no such view.")];
  const far = (column) => Math.max(Math.abs(column.from_class ?? 0), Math.abs(column.from_neighbors ?? 0)) >= (column.kind === "number" ? manyview.FAR : 0.8);
  const told = (column) => {
    if (column.kind === "text") return "";
    const say = (value, what) => (value === null ? null : column.kind === "number"
      ? `${Math.abs(value).toFixed(1)} standard deviations ${value < 0 ? "below" : "above"} ${what}` : `${manyview.percent(value)} of ${what} have another value`);
    return [say(column.from_class, `class ${sample.compared_with}`), say(column.from_neighbors, "its neighbors")].filter(Boolean).join("; ");
  };
  const cells = view.columns.filter((column) => column.kind !== "text").map((column) => el("div", { className: far(column) ? "far" : "", title: told(column) },
    el("span", { className: "soft" }, column.name),
    el("span", { className: `value ${column.kind === "word" ? "word" : ""}` }, column.value || "–"),
    column.kind === "word" ? null : el("span", { className: "strip" }, column.at === null ? null : el("i", { style: { left: manyview.percent(column.at) } }))));
  return [
    cells.length ? el("h2", {}, view.name) : null,
    cells.length ? el("div", { className: "columns" }, cells) : null,
    view.n_more ? el("p", { className: "soft more" }, `and ${manyview.count(view.n_more)} more`) : null,
  ].filter(Boolean);
};

manyview.showAnswer = (sample, acts) => {
  const { el } = manyview, box = document.getElementById("answer");
  const byName = new Map([...manyview.keys()].map(([key, name]) => [name, key]));
  if (sample.row === null) { box.replaceChildren(); return; }
  const likely = sample.probabilities.toSorted((one, other) => (other.p ?? -1) - (one.p ?? -1));
  const isLong = sample.probabilities.length > 12, shown = isLong ? likely.slice(0, 9) : sample.probabilities;
  const isShort = shown.length > 5 && shown.every(({ name }) => name.length <= 9);
  const best = sample.prediction === null ? null : likely[0];
  const buttons = shown.map(({ name, p }) => el("li", {}, el("button", {
    type: "button", className: `${manyview.color(name)} ${sample.prediction === name ? "best" : ""} ${sample.given === name ? "given" : ""}`,
    on: { click: () => acts.label(name) }, "data-class": name,
  }, el("span", { className: "bar", style: { width: manyview.percent(p ?? 0, 1) } }), byName.has(name) ? el("kbd", {}, byName.get(name)) : el("span", { className: "dot" }),
  el("span", { className: "word" }, name), el("span", { className: "p" }, p === null || p < 0.005 ? "" : manyview.probability(p)))));
  const speak = (isFor) => sample.neighbors.filter(({ margin }) => (isFor ? margin >= 0 : margin < 0)).slice(0, 6);
  const group = (title, list) => (list.length ? [el("h2", {}, title), el("div", { className: "neighbors" }, list.map((one) => manyview.thumb(one, () => acts.go(one.row))))] : []);
  const others = likely[1]?.name;
  const fors = best ? group(`Neighbors that speak for ${best.name}`, speak(true)) : group("Its nearest neighbors", speak(true));
  const against = best && others !== undefined ? group(`and for ${others} instead`, speak(false)) : [];
  box.replaceChildren(...[
    el("h2", {}, best ? "What the model thinks" : manyview.state.classes.length ? "Which class is it?" : "Name the first class"),
    el("ul", { className: `classes ${isShort ? "two" : ""}` }, buttons),
    el("div", { className: "row" },
      best && sample.given === null ? el("button", { type: "button", className: "accept", id: "accept", on: { click: () => acts.label(best.name, "accept") } }, el("kbd", {}, "Enter"), ` It is ${best.name}`) : null,
      sample.reason === "again" ? el("button", { type: "button", className: "accept", id: "keep", on: { click: () => acts.label(sample.given) } }, el("kbd", {}, "Enter"), ` It is ${sample.given}`) : null,
      el("button", { type: "button", id: "new", on: { click: acts.newClass } }, el("kbd", {}, "N"), " New class"),
      el("button", { type: "button", id: "skip", on: { click: acts.skip } }, el("kbd", {}, "S"), " Skip"),
      el("button", { type: "button", id: "undo", on: { click: acts.undo } }, el("kbd", {}, "U"), " Undo"),
      sample.probabilities.length > byName.size ? el("button", { type: "button", id: "search", on: { click: acts.search } }, el("kbd", {}, "/"), " Search") : null,
      sample.given !== null ? el("button", { type: "button", id: "remove", on: { click: () => acts.label(null) } }, "Remove label") : null),
    ...fors, ...against,
  ]);
};

manyview.showProgress = (state) => {
  const { el, percent, count } = manyview, { estimate } = state;
  const figure = (value, text, isWaiting = false) => el("div", { className: "figure" }, el("b", { className: isWaiting ? "wait" : "" }, value), el("span", {}, text));
  document.getElementById("progress").replaceChildren(...[
    figure(count(state.n_labeled), `label${state.n_labeled === 1 ? "" : "s"} given`),
    estimate ? figure(percent(estimate.value, 1), `estimated accuracy, ${percent(estimate.low)} to ${percent(estimate.high)}`)
      : state.is_estimate_due ? figure("not yet", "the accuracy is estimated after the predictions", true) : figure("too few labels", "to estimate the accuracy", true),
    state.measured ? figure(percent(state.measured.accuracy, 1), "accuracy on the hidden labels")
      : state.expected_gain !== null ? figure(`+${(100 * state.expected_gain).toFixed(1)}`, "points by ten more labels") : null,
    manyview.curve(state),
    el("p", { className: `advice ${state.is_time_to_stop ? "stop" : ""}` }, state.advice),
  ].filter(Boolean));
};

/** Draw the accuracy over the number of labels: estimates with their interval, and the measured one. */
manyview.curve = (state) => {
  const { svg, el } = manyview, measured = state.measured_curve ?? [];
  const all = [...state.curve.map((one) => one.n_labels), ...measured.map(([n]) => n)];
  if (new Set(all).size < 2) return null;
  const wide = 230, high = 74, most = Math.max(...all), least = Math.min(...all);
  const lowest = Math.min(...state.curve.map((one) => one.low), ...measured.map(([, value]) => value));
  const bottom = Math.max(0, Math.floor(lowest * 10 - 0.5) / 10);
  const x = (n) => 30 + ((n - least) / (most - least)) * (wide - 34), y = (value) => 6 + ((1 - value) / (1 - bottom)) * (high - 22);
  const path = (points) => points.map(([n, value], at) => `${at ? "L" : "M"}${x(n).toFixed(1)} ${y(value).toFixed(1)}`).join("");
  const picture = svg("svg", { viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": "Accuracy over the number of labels" });
  for (const value of [bottom, 1]) {
    picture.append(svg("line", { x1: 30, x2: wide, y1: y(value), y2: y(value), class: "axis" }), svg("text", { x: 26, y: y(value) + 4, "text-anchor": "end" }, manyview.percent(value)));
  }
  picture.append(svg("text", { x: x(least), y: high - 1 }, String(least)), svg("text", { x: x(most), y: high - 1, "text-anchor": "end" }, `${most} labels`));
  if (measured.length > 1) picture.append(svg("path", { d: path(measured), class: "hidden" }));
  if (state.curve.length > 1) {
    const top = state.curve.map((one) => [one.n_labels, one.high]), low = state.curve.map((one) => [one.n_labels, one.low]).reverse();
    picture.append(svg("path", { d: `${path(top)}L${path(low).slice(1)}Z`, class: "band" }), svg("path", { d: path(state.curve.map((one) => [one.n_labels, one.value])), class: "line" }));
  }
  return el("figure", {}, picture);
};
