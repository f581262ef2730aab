"use strict";
(() => {
  const root = document.documentElement;
  const storageKey = "manyview-theme";
  const remembered = () => { try { return localStorage.getItem(storageKey); } catch { return null; } };
  if (["light", "dark"].includes(remembered())) root.dataset.theme = remembered();

  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const make = (tag, properties) => Object.assign(document.createElement(tag), properties);

  function setUpTheme(button) {
    const system = matchMedia("(prefers-color-scheme: dark)");
    const isDark = () => (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
    const name = () => { button.textContent = isDark() ? "Light" : "Dark"; };
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      try { localStorage.setItem(storageKey, root.dataset.theme); } catch { /* private window */ }
      name();
    });
    system.addEventListener("change", name);
    button.hidden = false;
    name();
  }

  // Tables: sort by a heading, filter rows by text, and reveal rows beyond the first.
  function setUpTable(table) {
    const body = table.tBodies[0];
    const first = Number(table.dataset.first) || Infinity;
    let showsAll = false, query = "";
    const status = make("span", { role: "status" });
    const more = make("button", { type: "button", className: "more" });

    function show() {
      const rows = [...body.rows];
      let n = 0;
      for (const row of rows) {
        const fits = !query || row.textContent.toLowerCase().includes(query);
        n += fits;
        row.hidden = !fits || (!query && !showsAll && n > first);
      }
      status.textContent = query ? `${n} of ${rows.length} rows` : "";
      more.hidden = Boolean(query) || rows.length <= first;
      more.textContent = showsAll ? `Show the first ${first}` : `Show all ${rows.length}`;
    }

    function sortBy(heading) {
      const column = heading.cellIndex;
      const isNumber = heading.classList.contains("number");
      const now = heading.getAttribute("aria-sort");
      const down = now === "none" ? isNumber : now === "ascending";
      const key = (row) => {
        const cell = row.cells[column];
        return cell.dataset.value ?? cell.textContent.trim();
      };
      const compare = (a, b) => {
        const x = Number(a.replaceAll(",", "").replace("%", "")), y = Number(b.replaceAll(",", "").replace("%", ""));
        return a !== "" && b !== "" && !Number.isNaN(x) && !Number.isNaN(y) ? x - y : a.localeCompare(b, undefined, { numeric: true });
      };
      const rows = [...body.rows].map((row) => [key(row), row]);
      rows.sort(([a], [b]) => (a === "") - (b === "") || (down ? compare(b, a) : compare(a, b)));
      body.append(...rows.map(([, row]) => row));
      for (const other of all("[aria-sort]", table.tHead)) other.setAttribute("aria-sort", "none");
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      show();
    }

    if ("sortable" in table.dataset) {
      for (const heading of all("th:not([data-fixed])", table.tHead)) {
        const button = make("button", { type: "button" });
        button.append(...heading.childNodes);
        heading.append(button);
        if (!heading.hasAttribute("aria-sort")) heading.setAttribute("aria-sort", "none");
        button.addEventListener("click", () => sortBy(heading));
      }
    }
    const frame = table.closest(".scroll") ?? table;
    if ("filterable" in table.dataset) {
      const box = make("input", { type: "search", placeholder: "Find rows" });
      box.setAttribute("aria-label", `Find rows: ${table.caption.textContent}`);
      box.addEventListener("input", () => { query = box.value.trim().toLowerCase(); show(); });
      const finder = make("div", { className: "finder" });
      finder.append(box, status);
      frame.before(finder);
    }
    if (body.rows.length > first) {
      more.addEventListener("click", () => { showsAll = !showsAll; show(); });
      frame.after(more);
    }
    show();
  }

  // Tooltips: shown when a mark is pointed at, touched, or reached with the arrow keys.
  function setUpTips(tip) {
    let at = null;
    const hide = () => { at?.classList.remove("at"); at = null; tip.hidden = true; };
    function show(mark, x, y) {
      if (at !== mark) { at?.classList.remove("at"); at = mark; mark.classList.add("at"); tip.textContent = mark.dataset.tip; }
      tip.hidden = false;
      const { width, height } = tip.getBoundingClientRect();
      const left = Math.min(Math.max(x + 14, 8), innerWidth - width - 8);
      const above = y - height - 12;
      tip.style.transform = `translate(${Math.max(left, 8)}px, ${above > 8 ? above : Math.min(y + 18, innerHeight - height - 8)}px)`;
    }
    const markOf = (event) => event.target.closest?.("[data-tip]");
    for (const kind of ["pointerover", "pointermove", "pointerdown"]) {
      document.addEventListener(kind, (event) => {
        const mark = markOf(event);
        if (mark) show(mark, event.clientX, event.clientY);
        else if (kind !== "pointermove") hide();
      });
    }
    document.addEventListener("scroll", hide, { passive: true });
    for (const chart of all(".chart svg")) {
      const marks = all("[data-tip]", chart);
      let number = -1;
      const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };
      chart.addEventListener("keydown", (event) => {
        if (event.key === "Escape") return hide();
        if (event.key === "Enter" && at) return void at.dispatchEvent(new MouseEvent("click", { bubbles: true }));
        if (!(event.key in steps) || !marks.length) return;
        event.preventDefault();
        number = Math.min(Math.max(number + steps[event.key], 0), marks.length - 1);
        const box = marks[number].getBoundingClientRect();
        show(marks[number], box.x + box.width / 2, box.y + Math.min(box.height / 2, 60));
      });
      chart.addEventListener("blur", hide);
    }
  }

  // Maps: highlight one group at a time.
  function setUpGroups(map) {
    const buttons = all("[data-group]", map);
    const marks = all(".marks > *, .names > *", map);
    for (const button of buttons) {
      button.addEventListener("click", () => {
        const on = button.getAttribute("aria-pressed") !== "true";
        for (const other of buttons) other.setAttribute("aria-pressed", String(on && other === button));
        for (const mark of marks) mark.classList.toggle("dim", on && !mark.classList.contains(button.dataset.group));
      });
    }
  }

  // In the frame of a notebook, a link to a part of the page would open the notebook instead.
  function setUpLink(link) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      document.getElementById(link.getAttribute("href").slice(1))?.scrollIntoView();
    });
  }

  document.addEventListener("DOMContentLoaded", () => {
    if (location.protocol === "about:") all('a[href^="#"]').forEach(setUpLink);
    all(".theme").forEach(setUpTheme);
    all("table[data-sortable], table[data-filterable], table[data-first]").forEach(setUpTable);
    all("#tip").forEach(setUpTips);
    all(".map").forEach(setUpGroups);
  });
})();
