// Plots as SVG text: logarithmic axes, a few lines and points.
"use strict";

class Plot {
  // `x` and `y`: {from, to, unit, title}.
  constructor(x, y, title) {
    Object.assign(this, {x, y, title, width: 460, height: 300, shapes: []});
    this.frame = {left: 58, right: 14, top: 14, bottom: 44};
  }
  atX(value) {
    const {left, right} = this.frame;
    return left + (this.width - left - right) * Plot.part(this.x, value);
  }
  atY(value) {
    const {top, bottom} = this.frame;
    return this.height - bottom - (this.height - top - bottom) * Plot.part(this.y, value);
  }
  static part({from, to}, value) {
    const part = Math.log(value / from) / Math.log(to / from);
    return Math.min(Math.max(part, -0.02), 1.02);
  }
  static point(x, y) {
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  }
  line(kind, points) {
    const path = points.map(([x, y]) => Plot.point(this.atX(x), this.atY(y))).join(" ");
    this.shapes.push(`<polyline class="${kind}" points="${path}"/>`);
  }
  dot(kind, x, y, radius, title) {
    const text = title ? `<title>${escapeText(title)}</title>` : "";
    this.shapes.push(`<circle class="${kind}" cx="${this.atX(x).toFixed(1)}" ` +
      `cy="${this.atY(y).toFixed(1)}" r="${radius}">${text}</circle>`);
  }
  label(kind, x, y, text, anchor = "start", dx = 0, dy = 0) {
    this.shapes.push(`<text class="${kind}" x="${(this.atX(x) + dx).toFixed(1)}" ` +
      `y="${(this.atY(y) + dy).toFixed(1)}" text-anchor="${anchor}">${escapeText(text)}</text>`);
  }
  ticks(axis) {
    const first = Math.ceil(Math.log10(axis.from) - 1e-9);
    const last = Math.floor(Math.log10(axis.to) + 1e-9);
    const step = Math.max(1, Math.ceil((last - first) / 5));
    const values = [];
    for (let power = first; power <= last; power += step) values.push(10 ** power);
    return values;
  }
  svg() {
    const {left, right, top, bottom} = this.frame;
    const [w, h] = [this.width, this.height];
    const grid = this.ticks(this.x).map((value) => {
      const x = this.atX(value).toFixed(1);
      return `<line class="grid" x1="${x}" x2="${x}" y1="${top}" y2="${h - bottom}"/>` +
        `<text class="tick" x="${x}" y="${h - bottom + 15}" text-anchor="middle">` +
        `${scaled(value, this.x.unit)}</text>`;
    }).concat(this.ticks(this.y).map((value) => {
      const y = this.atY(value).toFixed(1);
      return `<line class="grid" x1="${left}" x2="${w - right}" y1="${y}" y2="${y}"/>` +
        `<text class="tick" x="${left - 6}" y="${+y + 3.5}" text-anchor="end">` +
        `${scaled(value, this.y.unit)}</text>`;
    }));
    return `<svg viewBox="0 0 ${w} ${h}" role="img" aria-label="${escapeText(this.title)}">` +
      grid.join("") +
      `<path class="axes" d="M${left},${top}V${h - bottom}H${w - right}"/>` +
      `<text class="axis-title" x="${w - right}" y="${h - 8}" text-anchor="end">` +
      `${escapeText(this.x.title)}</text>` +
      `<text class="axis-title" x="${left + 6}" y="${top + 10}">${escapeText(this.y.title)}` +
      `</text>${this.shapes.join("")}</svg>`;
  }
}

const decade = (value, up) => 10 ** (up ? Math.ceil : Math.floor)(Math.log10(value));

// H against M: where each step stood, where the sliders stand, the best of its kind, the bound.
function plotTransfers(model, now, steps, sweep) {
  const memory = steps.map((step) => step.M_bytes).concat(now.largest.M.bytes,
    now.capacity ?? [], sweep.map(([x]) => x)).filter((x) => x > 0);
  const moved = steps.map((step) => step.H_bytes).concat(now.H.bytes, now.bound ?? [],
    sweep.map(([, y]) => y)).filter((y) => y > 0);
  const x = {from: decade(Math.min(...memory) / 1.5, false),
             to: decade(Math.max(...memory) * 1.5, true), unit: "B", title: "M, held by a block"};
  const y = {from: decade(Math.min(...moved) / 1.5, false),
             to: decade(Math.max(...moved) * 1.5, true), unit: "B", title: "H, transferred"};
  const plot = new Plot(x, y, "transfers H against memory M");
  if (now.bound) {
    plot.line("bound", [[x.from, now.bound], [x.to, now.bound]]);
    plot.label("note", x.to, now.bound, "bound", "end", -4, -5);
  }
  if (now.capacity) {
    plot.line("capacity", [[now.capacity, y.from], [now.capacity, y.to]]);
    plot.label("note", now.capacity, y.from, "capacity", "start", 4, -6);
  }
  if (now.best) {
    const curve = [];
    for (let i = 0; i <= 80; ++i) {
      const at = x.from * (x.to / x.from) ** (i / 80);
      if (at >= now.best.from) curve.push([at, now.best.bytes(at)]);
    }
    if (curve.length > 1) {
      plot.line("best", curve);
      plot.label("note", ...curve[0], "best of its kind", "start", 6, 12);
    }
  }
  plot.line("trail", steps.map((step) => [step.M_bytes, step.H_bytes]));
  steps.forEach((step, i) => {
    plot.dot("step", step.M_bytes, step.H_bytes, 3, `after step ${i}`);
    if (steps.length < 8) plot.label("note", step.M_bytes, step.H_bytes, `${i}`, "middle", 0, -7);
  });
  for (const [m, h] of sweep) plot.dot("sweep", m, h, 2);
  plot.dot("now", now.largest.M.bytes, now.H.bytes, 5, "the sliders");
  return plot.svg();
}

// Operations a second against operations a byte, under what each unit could do alone.
function plotRoofline(now) {
  const intensity = now.operations / now.H.bytes;
  const memory = now.pipelines.filter((p) => p.unit === "B" && p.name !== "shared memory");
  const flat = now.pipelines.filter((p) => p.unit === "op" && p.most > 0)
    .map((p) => ({name: p.name, rate: now.operations / p.high}));
  const reached = now.time ? 2e6 * now.operations / (now.time.low + now.time.high) : null;
  const rates = flat.map((p) => p.rate).concat(reached ?? []);
  const x = {from: decade(Math.min(intensity, 10) / 2, false),
             to: decade(Math.max(intensity, 100) * 4, true), unit: "", title: "op/B of H"};
  const y = {from: decade(Math.min(...rates) / 10, false), to: decade(Math.max(...rates) * 2, true),
             unit: "op/s", title: "operations a second"};
  const plot = new Plot(x, y, "roofline");
  const kind = (name) => (name === now.time?.binds ? "roof binding" : "roof");
  for (const {name, rate} of flat) {
    plot.line(kind(name), [[x.from, rate], [x.to, rate]]);
    plot.label("note", x.from, rate, name, "start", 4, -4);
  }
  memory.forEach(({name, rate}, i) => {
    const end = Math.min(x.to, Math.max(y.from, ...flat.map((p) => p.rate)) / rate);
    const start = Math.max(x.from, y.from / rate);
    if (end <= start) return;
    plot.line(kind(name), [[start, start * rate], [end, end * rate]]);
    const at = start * (end / start) ** (0.5 - 0.18 * i);
    plot.label("note", at, at * rate, name, i % 2 ? "start" : "end", i % 2 ? 8 : -8, 4);
  });
  if (reached) plot.dot("now", intensity, reached, 5, scaled(reached, "op/s"));
  return plot.svg();
}
