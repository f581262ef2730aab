"use strict";
// The table of samples, and the card of the sample that is clicked in a table or on the map.
document.addEventListener("DOMContentLoaded", () => {
  const source = document.getElementById("sample-data");
  if (!source) return;
  const data = JSON.parse(source.textContent);
  const place = document.getElementById("sample-table");
  const card = document.getElementById("sample-card");
  const n = data.ids.length, STEP = 20;
  const make = (tag, properties = {}, ...content) => {
    const one = Object.assign(document.createElement(tag), properties);
    one.append(...content);
    return one;
  };
  const name = (number) => data.classes[number];
  const chance = (row) => (data.probabilities[row] / 1000).toFixed(2);
  const given = (row) => data.states[row] === "g" ? name(data.predictions[row]) : data.states[row] === "c" ? name(data.others[row]) : "";
  const truth = (row) => data.states[row] === "r" ? name(data.predictions[row]) : data.states[row] === "w" ? name(data.others[row]) : "";
  const isOdd = (row) => data.states[row] === "w" || data.states[row] === "c";

  function picture(row, size) {
    const all = data.pictures;
    const number = all && (all.places ? all.places[row] : row);
    if (number === undefined) return "";
    const shown = make("span", { className: "picture", role: "img", ariaLabel: `Picture of ${data.ids[row]}` });
    Object.assign(shown.style, {
      width: `${size}px`, height: `${size}px`, backgroundImage: `url(${all.source})`,
      backgroundSize: `${all.columns * size}px ${all.rows * size}px`,
      backgroundPosition: `${-(number % all.columns) * size}px ${-Math.floor(number / all.columns) * size}px`,
    });
    return shown;
  }

  const hasTruth = /[rw]/.test(data.states);
  const columns = [
    ["sample", (row) => data.ids[row]],
    ["prediction", (row) => name(data.predictions[row])],
    ["probability", chance, true],
    ["given", given],
    ...(hasTruth ? [["truth", truth]] : []),
  ];
  let order = Array.from({ length: n }, (_, row) => row), query = "", nShown = STEP;
  const texts = order.map((row) => columns.map(([, value]) => value(row)).join("\n").toLowerCase());
  const body = make("tbody");
  const status = make("span", { role: "status" });
  const more = make("button", { type: "button", className: "more" });

  function show() {
    const found = query ? order.filter((row) => texts[row].includes(query)) : order;
    body.replaceChildren(...found.slice(0, nShown).map((row) => {
      const button = make("button", { type: "button", className: "sample" }, data.ids[row]);
      button.dataset.row = row;
      const cells = columns.slice(1).map(([, value, isNumber], number) =>
        make("td", { className: isNumber ? "number" : number && isOdd(row) && value(row) ? "warm" : "" }, value(row)));
      return make("tr", {}, make("th", { scope: "row" }, picture(row, 24), button), ...cells);
    }));
    status.textContent = `${found.length.toLocaleString("en")} of ${n.toLocaleString("en")} samples`;
    more.hidden = found.length <= nShown;
    more.textContent = `Show ${Math.min(100, found.length - nShown)} more`;
  }

  const heads = columns.map(([title, value, isNumber]) => {
    const button = make("button", { type: "button" }, title);
    const head = make("th", { scope: "col", className: isNumber ? "number" : "" }, button);
    head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of heads) other.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const compare = new Intl.Collator(undefined, { numeric: true }).compare;
      const keys = order.map((row) => isNumber ? data.probabilities[row] : String(value(row)));
      const sign = down ? -1 : 1;
      const places = order.map((_, at) => at).sort((a, b) =>
        (keys[a] === "") - (keys[b] === "") || sign * (isNumber ? keys[a] - keys[b] : compare(keys[a], keys[b])));
      order = places.map((at) => order[at]);
      show();
    });
    return head;
  });
  const box = make("input", { type: "search", placeholder: "Find samples", ariaLabel: "Find samples" });
  box.addEventListener("input", () => { query = box.value.trim().toLowerCase(); nShown = STEP; show(); });
  more.addEventListener("click", () => { nShown += 100; show(); });
  const caption = make("caption", { className: "unseen" }, "Samples");
  const table = make("table", {}, caption, make("thead", {}, make("tr", {}, ...heads)), body);
  const frame = make("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: "Samples" }, table);
  place.replaceChildren(make("div", { className: "finder" }, box, status), frame, more);
  show();

  let opener = null;
  function close() {
    card.hidden = true;
    for (const one of document.querySelectorAll(".chosen")) one.classList.remove("chosen");
    if (opener instanceof HTMLElement) opener.focus();
    opener = null;
  }
  function open(row) {
    const shut = make("button", { type: "button", className: "shut", ariaLabel: "Close" }, "×");
    shut.addEventListener("click", close);
    const lines = [];
    const add = (words, value, kind = "") => lines.push(make("p", {}, make("span", { className: "soft" }, words), " ", make("b", { className: kind }, value)));
    add("prediction", `${name(data.predictions[row])} (${chance(row)})`);
    const second = data.seconds[row];
    if (second) add("runner-up", `${name(second[0])} (${second[1].toFixed(2)})`);
    if (given(row)) add("given", given(row), isOdd(row) ? "warm" : "");
    if (truth(row)) add("truth", truth(row), isOdd(row) ? "warm" : "");
    const facts = make("div", {}, make("h3", {}, data.ids[row]), ...lines);
    card.replaceChildren(shut, make("div", { className: "facts" }, picture(row, 88), facts));
    if (data.reasons[row]) card.append(make("p", {}, data.reasons[row]));
    if (data.command) {
      const id = data.ids[row];
      const quoted = /^[\w.:/@%+=-]+$/.test(id) ? id : `'${id.replaceAll("'", `'"'"'`)}'`;
      card.append(make("p", { className: "soft small" }, "All reasons: ", make("code", {}, `${data.command} ${quoted}`)));
    }
    for (const one of document.querySelectorAll(".chosen")) one.classList.remove("chosen");
    for (const mark of document.querySelectorAll(`.marks [data-row="${row}"]`)) { mark.classList.add("chosen"); mark.parentNode.append(mark); }
    card.hidden = false;
  }
  document.addEventListener("click", (event) => {
    const mark = event.target.closest("[data-row]");
    if (!mark) return;
    opener = mark;
    open(Number(mark.dataset.row));
  });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape" && !card.hidden) close(); });
});
