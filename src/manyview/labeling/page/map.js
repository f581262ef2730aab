"use strict";
// The map: all samples on a canvas, drawn pixel by pixel so that 100,000 points stay fluent.

manyview.LABELED = 1; manyview.SKIPPED = 2; manyview.DOUBTED = 4;

manyview.SampleMap = class {
  constructor(canvas, { onPick, onHover, onLasso }) {
    Object.assign(this, { canvas, onPick, onHover, onLasso });
    this.context = canvas.getContext("2d", { alpha: false });
    this.n = 0; this.mode = "class"; this.isLasso = false; this.loop = [];
    this.scale = 1; this.shift = [0, 0]; this.pointers = new Map(); this.shown = null; this.links = [];
    new ResizeObserver(() => this.resize()).observe(canvas);
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.moved(event));
    for (const kind of ["pointerup", "pointercancel"]) canvas.addEventListener(kind, (event) => this.up(event));
    canvas.addEventListener("pointerleave", () => this.onHover(null));
    canvas.addEventListener("dblclick", () => { this.scale = 1; this.shift = [0, 0]; this.draw(); });
  }

  /** Read the server's arrays; points that moved glide to their new places. */
  read(buffer) {
    const n = new Int32Array(buffer, 0, 1)[0];
    if (!n) return;
    const places = new Float32Array(buffer, 4, 2 * n);
    const at = 4 + 8 * n;
    this.classes = new Int16Array(buffer, at, n);
    this.sureness = new Uint8Array(buffer, at + 2 * n, n);
    this.flags = new Uint8Array(buffer, at + 3 * n, n);
    const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches || n > 30000;
    const before = this.n === n && !isCalm ? this.places.slice() : null;
    this.n = n; this.target = places;
    if (!before) { this.places = places.slice(); this.fit(); this.draw(); return; }
    const start = performance.now();
    this.gliding = start;
    const step = (now) => {
      if (this.gliding !== start) return;
      const part = Math.min((now - start) / 600, 1), ease = part * (2 - part);
      for (let i = 0; i < 2 * n; i++) this.places[i] = before[i] + ease * (places[i] - before[i]);
      this.fit(); this.draw();
      if (part < 1) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  fit() {
    let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let i = 0; i < this.n; i++) {
      const x = this.places[2 * i], y = this.places[2 * i + 1];
      if (x < left) left = x; if (x > right) right = x; if (y < low) low = y; if (y > high) high = y;
    }
    this.bounds = [left, right, low, high];
  }

  resize() {
    const ratio = Math.min(devicePixelRatio || 1, 2), { clientWidth, clientHeight } = this.canvas;
    if (!clientWidth || !clientHeight) return;
    this.canvas.width = Math.round(clientWidth * ratio); this.canvas.height = Math.round(clientHeight * ratio);
    this.ratio = ratio; this.image = null; this.draw();
  }

  /** Return the pixel of a place: [x * a + c, y * b + d]. */
  transform() {
    const [left, right, low, high] = this.bounds, { width, height } = this.canvas;
    const edge = 30 * this.ratio, top = 64 * this.ratio;
    const unit = Math.min((width - 2 * edge) / (right - left || 1), (height - top - 2 * edge) / (high - low || 1)) * this.scale;
    const x = width / 2 - (unit * (left + right)) / 2 + this.shift[0] * this.ratio;
    const y = (height + top - edge) / 2 + (unit * (low + high)) / 2 + this.shift[1] * this.ratio;
    return [unit, -unit, x, y];
  }

  pixel(row) {
    const [a, b, c, d] = this.transform();
    return [a * this.places[2 * row] + c, b * this.places[2 * row + 1] + d];
  }

  colors() {
    const { rgb } = manyview, key = getComputedStyle(document.documentElement).colorScheme + document.documentElement.dataset.theme + matchMedia("(prefers-color-scheme: dark)").matches;
    if (this.colorKey !== key) {
      this.colorKey = key;
      this.palette = Array.from({ length: manyview.N_COLORS }, (_, at) => rgb(`c${at + 1}`));
      [this.page, this.none, this.ink, this.unsure, this.sure, this.warm, this.accent] = ["card", "none", "ink", "unsure", "sure", "warm", "accent"].map(rgb);
    }
    return this.palette;
  }

  colorOf(row) {
    const isLabeled = this.flags[row] & manyview.LABELED, number = this.classes[row];
    const own = number < 0 ? this.none : this.palette[number % manyview.N_COLORS];
    if (this.mode === "class") return own;
    if (this.mode === "labels") return isLabeled ? own : this.none;
    if (this.mode === "issues") return this.flags[row] & manyview.DOUBTED ? this.warm : this.none;
    const part = this.sureness[row] / 255, sharp = number < 0 ? null : Math.max(0, (part - 0.35) / 0.65);
    return sharp === null ? this.none : this.unsure.map((value, at) => value + sharp * (this.sure[at] - value));
  }

  draw() {
    if (this.isWaiting) return;
    this.isWaiting = true;
    requestAnimationFrame(() => { this.isWaiting = false; this.paint(); });
  }

  paint() {
    const { canvas, context } = this, { width, height } = canvas;
    if (!width || !this.ratio) return;
    this.colors();
    const started = performance.now();
    if (!this.image || this.image.width !== width || this.image.height !== height) this.image = context.createImageData(width, height);
    const pixels = new Uint32Array(this.image.data.buffer);
    const [r, g, b] = this.page;
    pixels.fill((255 << 24) | (b << 16) | (g << 8) | r);
    if (this.n) this.stamp(this.image.data, width, height);
    context.putImageData(this.image, 0, 0);
    if (this.n) { this.marks(); this.names(); }
    this.paintMs = performance.now() - started;
    canvas.dataset.paintMs = this.paintMs.toFixed(1);
  }

  /** Blend a small disc per sample into the picture; unlabeled ones first. */
  stamp(data, width, height) {
    const [a, b, c, d] = this.transform();
    const size = (this.n > 20000 ? 1.5 : this.n > 5000 ? 2.2 : 3.1) * this.ratio * Math.min(Math.sqrt(this.scale), 2.2);
    const half = Math.ceil(size), mask = [];
    for (let y = -half; y <= half; y++) for (let x = -half; x <= half; x++) {
      const cover = Math.max(0, Math.min(1, size + 0.5 - Math.hypot(x, y)));
      if (cover > 0) mask.push([x, y, cover * 0.85]);
    }
    const { places, flags } = this;
    for (let i = 0; i < this.n; i++) {
      if (flags[i] & manyview.LABELED) continue;
      const x = Math.round(a * places[2 * i] + c), y = Math.round(b * places[2 * i + 1] + d);
      if (x < half || y < half || x >= width - half || y >= height - half) continue;
      const color = this.colorOf(i);
      for (const [dx, dy, cover] of mask) {
        const at = 4 * ((y + dy) * width + x + dx);
        data[at] += cover * (color[0] - data[at]);
        data[at + 1] += cover * (color[1] - data[at + 1]);
        data[at + 2] += cover * (color[2] - data[at + 2]);
      }
    }
  }

  /** Draw given labels with a ring, links to neighbors, the sample that is shown, and the lasso. */
  marks() {
    const { context, ratio } = this, [a, b, c, d] = this.transform();
    const disc = (row, radius, fill, line, wide) => {
      context.beginPath();
      context.arc(a * this.places[2 * row] + c, b * this.places[2 * row + 1] + d, radius * ratio, 0, 7);
      if (fill) { context.fillStyle = `rgb(${fill})`; context.fill(); }
      if (line) { context.strokeStyle = `rgb(${line})`; context.lineWidth = wide * ratio; context.stroke(); }
    };
    for (let row = 0; row < this.n; row++) if (this.flags[row] & manyview.LABELED) disc(row, 4.6, this.colorOf(row), this.ink, 1.6);
    if (this.shown !== null) {
      const [x, y] = this.pixel(this.shown);
      for (const { row, margin } of this.links) {
        context.beginPath(); context.moveTo(x, y); context.lineTo(...this.pixel(row));
        context.strokeStyle = `rgb(${margin < 0 ? this.warm : this.ink})`; context.globalAlpha = 0.35; context.lineWidth = 1.2 * ratio; context.stroke();
        context.globalAlpha = 1;
      }
      disc(this.shown, 6, this.colorOf(this.shown), this.page, 2);
      disc(this.shown, 10, null, this.accent, 3);
    }
    if (this.loop.length > 1) {
      context.beginPath(); this.loop.forEach(([x, y], at) => (at ? context.lineTo(x * ratio, y * ratio) : context.moveTo(x * ratio, y * ratio))); context.closePath();
      context.fillStyle = `rgb(${this.accent} / .14)`; context.fill(); context.strokeStyle = `rgb(${this.accent})`; context.lineWidth = 1.5 * ratio; context.stroke();
    }
  }

  /** Write the name of each class at the middle of its samples. */
  names() {
    const classes = manyview.state?.classes ?? [];
    if (classes.length > 24 || this.mode === "issues") return;
    const { context, ratio } = this, groups = classes.map(() => [[], []]);
    const step = Math.max(1, Math.floor(this.n / 20000));
    for (let i = 0; i < this.n; i += step) if (this.classes[i] >= 0) { groups[this.classes[i]]?.[0].push(this.places[2 * i]); groups[this.classes[i]]?.[1].push(this.places[2 * i + 1]); }
    const [a, b, c, d] = this.transform(), middle = (list) => list.sort((p, q) => p - q)[list.length >> 1];
    context.font = `650 ${13 * ratio}px system-ui, sans-serif`; context.textAlign = "center"; context.textBaseline = "middle"; context.lineJoin = "round";
    classes.forEach(({ name }, at) => {
      if (!groups[at][0].length) return;
      const x = a * middle(groups[at][0]) + c, y = b * middle(groups[at][1]) + d, text = name.length > 18 ? `${name.slice(0, 17)}…` : name;
      context.strokeStyle = `rgb(${this.page})`; context.lineWidth = 4 * ratio; context.strokeText(text, x, y);
      context.fillStyle = `rgb(${this.ink})`; context.fillText(text, x, y);
    });
  }

  near(event) {
    if (!this.n) return null;
    const [x, y] = this.at(event).map((value) => value * this.ratio), [a, b, c, d] = this.transform();
    let best = null, least = (12 * this.ratio) ** 2;
    for (let i = 0; i < this.n; i++) {
      const dx = a * this.places[2 * i] + c - x, dy = b * this.places[2 * i + 1] + d - y, far = dx * dx + dy * dy;
      if (far < least) { least = far; best = i; }
    }
    return best;
  }

  at(event) { const box = this.canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; }

  zoom(factor, [x, y]) {
    const scale = Math.min(Math.max(this.scale * factor, 0.7), 60), real = scale / this.scale;
    const { clientWidth, clientHeight } = this.canvas, middle = [clientWidth / 2, (clientHeight + 64 - 30) / 2];
    this.shift = this.shift.map((value, axis) => [x, y][axis] - middle[axis] - real * ([x, y][axis] - middle[axis] - value));
    this.scale = scale; this.draw();
  }

  wheel(event) { event.preventDefault(); this.zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0016)), this.at(event)); }

  down(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, this.at(event)); this.travel = 0;
    if (this.isLasso || event.shiftKey) { this.loop = [this.at(event)]; this.onHover(null); }
  }

  moved(event) {
    const point = this.at(event), before = this.pointers.get(event.pointerId);
    if (!before) { const row = this.near(event); this.onHover(row, row === null ? null : this.pixel(row).map((value) => value / this.ratio)); return; }
    if (this.pointers.size === 2) {
      const [other] = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
      const apart = (one) => Math.hypot(one[0] - other[0], one[1] - other[1]) || 1;
      this.zoom(apart(point) / apart(before), [(point[0] + other[0]) / 2, (point[1] + other[1]) / 2]);
    } else if (this.loop.length) { this.loop.push(point); this.draw(); }
    else { this.shift = [this.shift[0] + point[0] - before[0], this.shift[1] + point[1] - before[1]]; this.draw(); }
    this.travel += Math.hypot(point[0] - before[0], point[1] - before[1]);
    this.pointers.set(event.pointerId, point);
  }

  up(event) {
    if (!this.pointers.delete(event.pointerId)) return;
    const { loop } = this;
    this.loop = [];
    if (loop.length > 2 && this.travel > 20) this.onLasso(this.inside(loop));
    else if (this.travel < 4 && event.type === "pointerup") { const row = this.near(event); if (row !== null) this.onPick(row); }
    this.draw();
  }

  inside(loop) {
    const [a, b, c, d] = this.transform(), rows = [], corners = loop.map(([x, y]) => [x * this.ratio, y * this.ratio]);
    for (let i = 0; i < this.n; i++) {
      const x = a * this.places[2 * i] + c, y = b * this.places[2 * i + 1] + d;
      let isIn = false;
      for (let p = 0, q = corners.length - 1; p < corners.length; q = p++) {
        const [px, py] = corners[p], [qx, qy] = corners[q];
        if (py > y !== qy > y && x < ((qx - px) * (y - py)) / (qy - py) + px) isIn = !isIn;
      }
      if (isIn) rows.push(i);
    }
    return rows;
  }
};
