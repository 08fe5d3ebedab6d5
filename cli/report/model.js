// The costs of the derivation at any position of the sliders, from its formulas.
"use strict";

class Model {
  constructor(data) {
    this.data = data;
    this.regions = data.model.regions;
    this.sliders = data.sliders;
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
      time: this.tableAt("times", positions, this.data.model.time_us),
      bound: this.boundAt(positions),
    };
    // Where no time is known, at the rates of data sheets.
    total.units = total.time?.units.map(({name, us}) => ({name, low: us / 1e6, high: us / 1e6})) ??
      total.pipelines;
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
            operations: evaluate(region.operations, values)};
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

  // What is no formula stands in a table of each slider: it is known while one of them is moved.
  tableAt(name, positions, otherwise, matters = () => true) {
    const moved = this.sliders.filter((slider) =>
      slider.id in positions && positions[slider.id] !== slider.now && matters(slider));
    if (moved.length === 0) return otherwise;
    if (moved.length > 1 || !moved[0][name]) return null;
    return moved[0][name][moved[0].values.indexOf(positions[moved[0].id])];
  }

  boundAt(positions) {
    return this.tableAt("bounds", positions, this.data.model.bound?.bytes ?? null,
                        (slider) => slider.kind !== "tile");
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
