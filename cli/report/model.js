// The costs of the derivation at any position of the sliders, from its formulas.
"use strict";

class Model {
  constructor(data) {
    this.data = data;
    this.regions = data.model.regions;
    this.sliders = data.sliders;
    this.kernels = new Kernels(data);
  }

  // Values of symbols in a region. `positions` are values of moved sliders, by their ids.
  valuesOf(index, positions) {
    const values = {...this.regions[index].symbols};
    for (const slider of this.sliders)
      if (slider.kind === "axis" && slider.id in positions)
        values[slider.symbol] = positions[slider.id];
    for (const [name, axis] of Object.entries(this.data.axes))
      if (axis.size !== name) values[name] = evaluate(axis.size, values);
    for (const slider of this.sliders)
      for (const [region, symbol] of slider.sets)
        if (region === index && slider.id in positions) values[symbol] = positions[slider.id];
    return values;
  }

  figuresOf(positions) {
    const figures = {...this.data.figures};
    for (const slider of this.sliders)
      if (slider.kind === "figure" && slider.id in positions)
        figures[slider.symbol] = positions[slider.id];
    return figures;
  }

  at(positions) {
    const figures = this.figuresOf(positions);
    const regions = this.regions.map((region, i) =>
      this.regionAt(region, this.valuesOf(i, positions), figures));
    const sum = (part) => regions.reduce((total, region) => total + part(region), 0);
    const total = {
      regions,
      largest: regions.reduce((a, b) => (a.M.bytes >= b.M.bytes ? a : b)),
      H: {values: sum((r) => r.H.values), bytes: Math.ceil(sum((r) => r.H.bits) / 8),
          bits: sum((r) => r.H.bits)},
      operations: sum((r) => r.operations),
      pipelines: this.merged(regions),
      capacity: figures["block.capacity"],
      bound: this.boundAt(positions),
    };
    const {refused, kernels} = this.kernels.at(positions);
    total.refused = refused;
    total.time = this.kernels.timeOf(kernels);
    total.timeless = this.kernels.timelessOf(kernels);
    total.fits = this.fitsOf(regions, kernels, figures);
    // Where no time is known, at the rates of data sheets.
    total.units = total.time?.units ?? total.pipelines;
    total.best = this.bestAt(regions, figures, positions);
    return total;
  }

  regionAt(region, values, figures) {
    const amount = (tree) => {
      const bits = evaluate(tree.bits, values);
      return {values: evaluate(tree.exact, values), bits, bytes: Math.ceil(bits / 8)};
    };
    const levels = Object.fromEntries(Object.entries(region.levels).map(([name, level]) =>
      [name, {H: amount(level.H), M: amount(level.M), A: amount(level.A)}]));
    const {H, M, A} = levels.block;
    const pipelines = region.pipelines.map((pipeline) => ({
      ...pipeline,
      rate: this.isSlider(pipeline.figure) ? figures[pipeline.figure] : pipeline.rate,
      least: evaluate(pipeline.least, values), most: evaluate(pipeline.most, values),
    }));
    return {name: region.name, values, levels, H, M, A, pipelines,
            operations: evaluate(region.operations, values),
            arrays: {bytes: evaluate(region.compulsory_bits, values) / 8}};
  }

  // The work of each unit in all regions, and how long it takes at the least.
  merged(regions) {
    const all = new Map();
    for (const {name, unit, rate, least, most} of regions.flatMap((region) => region.pipelines)) {
      const one = all.get(name) ?? {name, unit, rate, least: 0, most: 0};
      all.set(name, {...one, least: one.least + least, most: one.most + most});
    }
    return [...all.values()].map((one) =>
      ({...one, low: one.least / one.rate, high: one.most / one.rate}));
  }

  isSlider(figure) {
    return this.sliders.some((slider) => slider.kind === "figure" && slider.symbol === figure);
  }

  // What is too large, in words. Where a kernel is not known, A says that it fits; one for which A
  // is too large may keep part of it in registers, and one that is shared among warps takes more. A
  // block that may have more than before may have more than a processor.
  fitsOf(regions, kernels, figures) {
    const room = this.sliders.find(({symbol}) => symbol === "block.capacity");
    const hasMore = room !== undefined && figures["block.capacity"] > room.now;
    const excesses = [];
    const open = [];
    regions.forEach((region, i) => {
      const isOver = (level, bytes) => bytes > (figures[`${level}.capacity`] ?? Infinity);
      const over = Object.keys(region.levels).filter((level) => isOver(level, region.levels[level].A.bytes));
      if (isOver("device", region.arrays.bytes)) over.push("device");
      const isOpen = !kernels[i] &&
        (hasMore || over.includes("block") || Object.keys(region.levels).length > 1);
      const levels = kernels[i]?.levels ?? over.filter((level) => level !== "block");
      excesses.push(...levels.map((level) => `${region.name} at ${level}`));
      if (isOpen) open.push(region);
    });
    return {excesses, open, known: excesses.length > 0 || open.length === 0};
  }

  // Of all that bears on it but groups and chunks, one or two may be moved.
  boundAt(positions) {
    const moved = this.kernels.movedAt(positions).filter((slider) => slider.kind !== "tile");
    if (moved.length === 0) return this.data.model.bound?.bytes ?? null;
    return this.kernels.look("bounds", moved, positions) ?? null;
  }

  // The least H of this kind of region at a capacity in bytes, as a function; null where there is
  // none.
  bestAt(regions, figures, positions) {
    const form = this.regions[0].best;
    // Of which kind a region is may depend on its sizes: another column may hold the most.
    const resized = this.sliders.some((slider) => slider.kind !== "figure" &&
      slider.id in positions && positions[slider.id] !== slider.now);
    if (this.regions.length !== 1 || !form.bits || resized) return null;
    const {values, H} = regions[0];
    const ideal = evaluate(this.regions[0].levels.block.H.ideal_bits, values);
    if (ideal > H.bits * (1 + 1e-9)) return null;
    const from = evaluate(form.from_bits, values) / 8;
    const bytes = (memory) => evaluate(form.bits, {...values, M: 8 * memory}) / 8;
    const held = regions[0].M.bytes <= figures["block.capacity"];
    const ratio = held && figures["block.capacity"] >= from ?
      H.bits / 8 / bytes(figures["block.capacity"]) : null;
    return {from, bytes, ratio};
  }
}
