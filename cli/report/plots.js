// Plots as SVG text: logarithmic axes, a few lines and points.
"use strict";

class Plot {
  // `x` and `y`: {from, to, unit, title}.
  constructor(x, y, title) {
    Object.assign(this, {x, y, title, width: 460, height: 300, shapes: [], segments: [], words: []});
    this.frame = {left: 58, right: 22, top: 24, bottom: 44};
    this.taken = [];
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
    const pixels = points.map(([x, y]) => [this.atX(x), this.atY(y)]);
    pixels.slice(1).forEach((end, i) => this.segments.push([pixels[i], end]));
    const path = pixels.map(([x, y]) => Plot.point(x, y)).join(" ");
    this.shapes.push(`<polyline class="${kind}" points="${path}"/>`);
  }
  dot(kind, x, y, radius, title) {
    const text = title ? `<title>${escapeText(title)}</title>` : "";
    const [atX, atY] = [this.atX(x), this.atY(y)];
    this.taken.push({left: atX - radius, right: atX + radius, top: atY - radius, bottom: atY + radius});
    this.shapes.push(`<circle class="${kind}" cx="${atX.toFixed(1)}" cy="${atY.toFixed(1)}" ` +
      `r="${radius}">${text}</circle>`);
  }
  // A note at one of `points`, beside it as one of `sides` says: `[anchor, dx, dy]`; as the next
  // choice of sides says where that leaves it clearer.
  label(text, points, ...choices) {
    this.words.push(choices.flatMap((sides) => points.flatMap(([x, y]) => sides.map(([anchor, dx, dy]) =>
      ({text, anchor, x: this.atX(x) + dx, y: this.atY(y) + dy})))));
  }
  boxOf({text, x, y, anchor = "start"}) {
    const width = 6 * text.length;
    const left = x - width * {start: 0, middle: 0.5, end: 1}[anchor];
    return {left, right: left + width, top: y - 10, bottom: y + 3};
  }
  // Notes stand where they cover no other, no dot, and as few lines as can be; those with the fewest
  // places choose first.
  placedWords() {
    const {left, right, top, bottom} = this.frame;
    const price = (box) => {
      const outside = box.left < left || box.right > this.width - right || box.top < top ||
        box.bottom > this.height - bottom;
      return 1000 * outside + 100 * this.taken.filter((other) => meet(box, other)).length +
        this.segments.filter((segment) => crosses(segment, box)).length;
    };
    return this.words.sort((a, b) => a.length - b.length).map((spots) => {
      const prices = spots.map((spot) => price(this.boxOf(spot)));
      const {text, anchor, x, y} = spots[prices.indexOf(Math.min(...prices))];
      this.taken.push(this.boxOf({text, anchor, x, y}));
      return `<text class="note" x="${x.toFixed(1)}" y="${y.toFixed(1)}" ` +
        `text-anchor="${anchor}">${escapeText(text)}</text>`;
    });
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
        `<text class="tick" x="${x}" y="${h - bottom + 18}" text-anchor="middle">` +
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
      `<text class="axis-title" x="${left}" y="${top - 10}">${escapeText(this.y.title)}` +
      `</text>${this.shapes.join("")}${this.placedWords().join("")}</svg>`;
  }
}

const meet = (a, b) =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

// A segment misses a box that lies beside it or whole on one side of it.
function crosses([[ax, ay], [bx, by]], box) {
  const around = {left: Math.min(ax, bx) - 1, right: Math.max(ax, bx) + 1,
                  top: Math.min(ay, by) - 1, bottom: Math.max(ay, by) + 1};
  const sides = [[box.left, box.top], [box.left, box.bottom], [box.right, box.top],
                 [box.right, box.bottom]].map(([x, y]) =>
    Math.sign((bx - ax) * (y - ay) - (by - ay) * (x - ax)));
  return meet(around, box) && new Set(sides).size > 1;
}

// Points between two of a logarithmic plot, the ends left out.
const between = ([ax, ay], [bx, by]) => [0.5, 0.35, 0.65, 0.2, 0.8, 0.1].map((part) =>
  [ax * (bx / ax) ** part, ay * (by / ay) ** part]);

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
    plot.label("bound", [[x.to, now.bound], ...between([x.from, now.bound], [x.to, now.bound])],
               [["end", -4, -5], ["end", -4, 13]]);
  }
  if (now.capacity) {
    plot.line("capacity", [[now.capacity, y.from], [now.capacity, y.to]]);
    plot.label("capacity", [[now.capacity, y.from], ...between([now.capacity, y.from], [now.capacity, y.to])],
               [["start", 5, -6], ["end", -5, -6]]);
  }
  if (now.best) {
    const curve = [];
    for (let i = 0; i <= 80; ++i) {
      const at = x.from * (x.to / x.from) ** (i / 80);
      if (at >= now.best.from) curve.push([at, now.best.bytes(at)]);
    }
    if (curve.length > 1) {
      plot.line("best", curve);
      plot.label("best of its kind", curve, [["start", 7, -1], ["end", -7, 9]]);
    }
  }
  plot.line("trail", steps.map((step) => [step.M_bytes, step.H_bytes]));
  steps.forEach((step, i) => {
    plot.dot("step", step.M_bytes, step.H_bytes, 3, `after step ${i}`);
    if (steps.length < 8)
      plot.label(`${i}`, [[step.M_bytes, step.H_bytes]],
                 [["middle", 0, -8], ["middle", 0, 16], ["start", 8, 4], ["end", -8, 4], ["start", 8, -8],
                  ["end", -8, -8], ["start", 8, 16], ["end", -8, 16], ["middle", 0, -20]]);
  });
  for (const [m, h] of sweep) plot.dot("sweep", m, h, 2);
  plot.dot("now", now.largest.M.bytes, now.H.bytes, 5, "the sliders");
  return plot.svg();
}

// What the units are busy with: in the slowest kernel where a time is known, else in all.
function workOf(now) {
  const kernel = now.time && now.regions.find((region) => region.name === now.time.kernel);
  const pipelines = kernel ? kernel.pipelines : now.pipelines;
  const operations = pipelines.filter((p) => p.unit === "op" && p.name !== "exponentials")
    .reduce((sum, p) => sum + p.most, 0);
  return {operations, bytes: (kernel ?? now).H.bytes, seconds: now.time?.seconds ?? null};
}

// Operations a second against operations a byte, under what each unit could do alone: over the
// kernel's own intensity a roof is as high as its bar is short.
function plotRoofline(now) {
  const {operations, bytes, seconds} = workOf(now);
  if (operations === 0) return "";
  const intensity = operations / bytes;
  const roofs = now.units.filter(({high}) => high > 0).map(({name, high}) =>
    ({name, height: operations / high, isSlope: ["device memory", "cache"].includes(name)}));
  const reached = seconds && operations / seconds;
  const heights = roofs.map((roof) => roof.height).concat(reached ?? []);
  const x = {from: decade(Math.min(intensity, 10) / 2, false),
             to: decade(Math.max(intensity, 100) * 4, true), unit: "", title: "op/B of H"};
  const y = {from: decade(Math.min(...heights) / 10, false),
             to: decade(Math.max(...heights) * 2, true), unit: "op/s", title: "operations a second"};
  const plot = new Plot(x, y, "roofline");
  const kind = (name) => (name === now.time?.binds ? "roof binding" : "roof");
  for (const {name, height} of roofs.filter((roof) => !roof.isSlope)) {
    plot.line(kind(name), [[x.from, height], [x.to, height]]);
    plot.label(name, [[x.from, height], ...between([x.from, height], [x.to, height])],
               [["start", 4, -5], ["start", 4, 12]]);
  }
  roofs.filter((roof) => roof.isSlope).sort((a, b) => a.height - b.height).forEach(({name, height}, i) => {
    const rate = height / intensity;
    const end = Math.min(x.to, y.to / rate);
    const start = Math.max(x.from, y.from / rate);
    if (end <= start) return;
    plot.line(kind(name), [[start, start * rate], [end, end * rate]]);
    // Outside the others' slopes: below the lowest, above the rest.
    const [below, above] = [[["start", 9, 9]], [["end", -9, -1]]];
    plot.label(name, between([start, start * rate], [end, end * rate]),
               ...(i === 0 ? [below, above] : [above, below]));
  });
  if (reached) plot.dot("now", intensity, reached, 5, scaled(reached, "op/s"));
  return plot.svg();
}
