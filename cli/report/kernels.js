// Kernels are no formulas: what the model says of them was computed beforehand, at every value of
// every slider and of pairs of them.
"use strict";

const WAITING = -1;  // in place of a unit's number

class Kernels {
  constructor(data) {
    this.data = data;
    this.sliders = data.sliders;
    this.names = data.model.regions.map(({name}) => name);
  }

  movedAt(positions) {
    return this.sliders.filter((slider) =>
      slider.id in positions && positions[slider.id] !== slider.now);
  }

  pairOf(first, second) {
    return this.data.pairs.find(({of}) => of.includes(first.id) && of.includes(second.id));
  }

  // A column of the table of one or of two sliders where they stand; undefined where there is none.
  look(column, moved, positions) {
    if (moved.length === 1)
      return moved[0][column]?.[moved[0].values.indexOf(positions[moved[0].id])];
    const pair = moved.length === 2 && this.pairOf(...moved);
    if (!pair?.[column]) return undefined;
    const [first, second] = pair.of.map((id) => this.sliders.find((slider) => slider.id === id));
    return pair[column][first.values.indexOf(positions[first.id]) * second.values.length +
                        second.values.indexOf(positions[second.id])];
  }

  // Each kernel by the sliders that it depends on, null where the page does not have it there.
  at(positions) {
    const moved = this.movedAt(positions);
    const refused = moved.flatMap((first, i) => moved.slice(i + 1).map((second) =>
      this.look("points", [first, second], positions))).find((point) => typeof point === "string");
    const kernels = this.names.map((name, i) => {
      const own = moved.filter((slider) => slider.kind === "bits" || slider.touches.includes(i));
      if (own.length === 0) return this.decoded(this.data.times.now[i]);
      if (own.length === 1) return this.ofOne(own[0], i, positions);
      return this.ofTwo(own, i, positions);
    });
    return {refused: refused ?? null, kernels};
  }

  ofOne(slider, region, positions) {
    const point = this.look("times", [slider], positions);
    return point ? this.decoded(point[slider.touches.indexOf(region)]) : null;
  }

  ofTwo(moved, region, positions) {
    const point = this.look("points", moved, positions);
    if (!Array.isArray(point)) return null;
    const pair = this.pairOf(...moved);
    const entry = point[pair.regions.indexOf(region)];
    if (entry.length > 3) return this.decoded(entry);
    // A rate of the machine changes how long its unit takes, and nothing else.
    const [kept, rate] = pair.of.map((id) => this.sliders.find((slider) => slider.id === id));
    const {levels, units} = this.ofOne(kept, region, positions);
    const times = units.map((unit) => unit.figure !== rate.symbol ? unit :
      {...unit, high: unit.high * rate.now / positions[rate.id]});
    return this.named({low: entry[0], high: entry[1], levels, units: times}, entry[2] === WAITING);
  }

  decoded([low, high, binds, alone, levels = []]) {
    const units = this.data.times.units.map((name, i) =>
      ({name, high: (alone[i] ?? 0) / 1e6, figure: this.figureOf(name)}));
    return this.named({low, high, levels, units}, binds === WAITING);
  }

  // What binds: waiting, or the unit that is busy longest.
  named(kernel, isWaiting) {
    const longest = kernel.units.reduce((a, b) => (b.high > a.high ? b : a));
    return {...kernel, binds: isWaiting ? "waiting" : longest.name};
  }

  figureOf(name) {
    return this.data.model.regions.flatMap(({pipelines}) => pipelines)
      .find((pipeline) => pipeline.name === name)?.figure;
  }

  // The kernels that are known to have no time there, by name.
  timelessOf(kernels) {
    return this.names.filter((_, i) => kernels[i]?.low === null);
  }

  // All kernels one after the other, null where one is not known or has no time; the units are those
  // of the slowest.
  timeOf(kernels) {
    if (kernels.some((kernel) => kernel === null || kernel.low === null)) return null;
    const slowest = kernels.reduce((a, b) => (b.low + b.high > a.low + a.high ? b : a));
    const sum = (end) => kernels.reduce((total, kernel) => total + kernel[end], 0);
    // As units count the chunks that data may leave out, of all of them; without the model's spread.
    const seconds = slowest.high / 1e6 / (1 + (this.data.figures["model.spread"] ?? 0));
    const units = slowest.units.filter(({high}) => high > 0).map((unit) => ({...unit, low: unit.high}));
    const launch = this.data.times.launch_us / 1e6;
    return {
      low: sum("low"), high: sum("high"), units, binds: slowest.binds,
      kernel: this.names[kernels.indexOf(slowest)], seconds, launch,
      unhidden: seconds - launch - Math.max(...units.map(({high}) => high)),
    };
  }
}
