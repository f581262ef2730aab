"use strict";
// What all parts of the page share: requests, elements, colors and numbers.

const manyview = {
  token: new URLSearchParams(location.search).get("token"),
  window: crypto.getRandomValues(new Uint32Array(2)).join("-"), // acts are undone per window
  state: null,
};

/** Return the address of a part of the server, with the token. */
manyview.url = (path, query = {}) => {
  const all = new URLSearchParams({ ...query, window: manyview.window, token: manyview.token });
  return `${path}?${all}`;
};

/** Ask the server; the answer is JSON, and an error is thrown as its sentence. */
manyview.get = async (path, query) => manyview.read(await fetch(manyview.url(path, query)));

manyview.post = async (path, body) => {
  const request = {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ ...body, window: manyview.window }),
  };
  return manyview.read(await fetch(manyview.url(path), request));
};

manyview.read = async (answer) => {
  if (answer.ok) return answer.json();
  const text = await answer.text();
  let sentence = text;
  try { sentence = JSON.parse(text).error; } catch { /* it was plain text */ }
  throw new Error(sentence);
};

/** Make an element; texts are never read as markup. */
manyview.el = (tag, properties = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [kind, act] of Object.entries(value)) made.addEventListener(kind, act);
    else if (name === "style") Object.assign(made.style, value);
    else if (name in made && name !== "list") made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
};

manyview.svg = (tag, attributes = {}, ...children) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
};

manyview.N_COLORS = 10;
/** Return the CSS class of the color of a class. */
manyview.color = (name) => {
  const at = manyview.state.classes.findIndex((one) => one.name === name);
  return at < 0 ? "" : `c${(at % manyview.N_COLORS) + 1}`;
};

/** Return the red, green and blue of a CSS color, light or dark as it is now. */
manyview.rgb = (name) => {
  const probe = manyview.el("span", { style: { color: `var(--${name})` } });
  document.body.append(probe);
  const found = getComputedStyle(probe).color.match(/[\d.]+/g).slice(0, 3).map(Number);
  probe.remove();
  return found;
};

/** Write a probability; nearly certain ones are never 0% or 100%. */
manyview.probability = (value) => (value > 0.995 ? "> 99%" : value < 0.005 ? "< 1%" : manyview.percent(value));
manyview.percent = (value, digits = 0) => `${(100 * value).toFixed(digits)}%`;
manyview.count = (number) => number.toLocaleString("en-US");

/** Show a sentence for a while. */
manyview.toast = (sentence, isBad = false) => {
  const toast = manyview.el("div", { className: `toast${isBad ? " bad" : ""}` }, sentence);
  document.getElementById("toasts").replaceChildren(toast);
  setTimeout(() => toast.remove(), isBad ? 8000 : 2600);
};

/** Return the key of each class: its own name where that is a digit, else its number. */
manyview.keys = () => {
  const names = manyview.state.classes.map((one) => one.name);
  const areDigits = names.length > 0 && names.every((name) => /^\d$/.test(name));
  return new Map(names.flatMap((name, at) => {
    if (areDigits) return [[name, name]];
    return at < 9 ? [[String(at + 1), name]] : [];
  }));
};

/** Return a small button with a sample's picture, its id and its label or prediction. */
manyview.thumb = (sample, act, extra = "") => {
  const shown = sample.given ?? sample.prediction;
  const { el } = manyview;
  return el(
    "button",
    {
      className: `thumb ${manyview.color(shown)} ${extra}`,
      type: "button",
      title: `${sample.id}: ${sample.given === null ? `predicted ${shown ?? "nothing yet"}` : `labeled ${shown}`}`,
      on: { click: act },
      "data-row": sample.row,
    },
    sample.has_image
      ? el("img", { src: manyview.url("api/image", { row: sample.row }), alt: "", loading: "lazy", className: manyview.pixels() })
      : el("span", {}, sample.id),
    el("span", { className: `c${sample.given === null ? "" : " given"}` }, shown ?? "–"),
  );
};
manyview.pixels = () => (manyview.state.has_pixels ? "pixels" : "");
