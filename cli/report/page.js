// The page: steps, links between picture and texts, sliders.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const all = (query, root = document) => [...root.querySelectorAll(query)];
const byId = (id) => document.getElementById(id);

// Steps.
const steps = all("section.step");
let shown = -1;
let furthest = -1;

function show(index) {
  shown = Math.min(Math.max(index, 0), steps.length - 1);
  steps.forEach((step, i) => { step.hidden = i !== shown; });
  furthest = Math.max(furthest, shown);
  all("#scrubber button").forEach((button, i) => {
    button.setAttribute("aria-current", i === shown ? "step" : "false");
    button.classList.toggle("ahead", i > furthest);
  });
  byId("back").disabled = byId("before").disabled = shown === 0;
  byId("forth").disabled = shown === steps.length - 1;
  document.body.classList.toggle("at-last", shown === steps.length - 1);
  follow();
  showPicture();
  moveTexts(steps[shown]);
  history.replaceState(null, "", `#step-${shown}`);
}

// The strip of steps scrolls to the one that is shown.
function follow() {
  const strip = byId("scrubber");
  const chip = strip.children[shown];
  strip.scrollLeft = chip.offsetLeft - (strip.clientWidth - chip.offsetWidth) / 2;
}

// The diagram and the kernels are of all steps: they follow into the one that is shown.
function moveTexts(step) {
  const code = step.querySelector(".code");
  all(".text.shared").forEach((text) => code.append(text));
  chooseText(document.body.dataset.text ?? "tile");
}

function chooseText(name) {
  document.body.dataset.text = name;
  all(".text").forEach((text) => { text.hidden = text.dataset.text !== name; });
  all(".tabs button").forEach((tab) =>
    tab.setAttribute("aria-pressed", String(tab.dataset.text === name)));
}

const marks = ["new", "gone", "lit"];
const pictureOf = (step) => step.querySelector(".picture:not(.old)");

// What a shape says, itself or as one of groups.
function saidBy(shape) {
  const said = [];
  for (let at = shape; at.tagName !== "svg"; at = at.parentElement)
    said.push(...[...at.classList].filter((name) => !marks.includes(name)),
      ...["axis", "array", "level"].filter((kind) => at.dataset[kind]).map((kind) => `${kind}=${at.dataset[kind]}`));
  return [shape.tagName, ...said.sort(), shape.textContent].join("|");
}

// Marks the shapes of a picture of which another has none that says the same.
function markOwn(picture, other, mark) {
  const shapes = (of) => all("path, polygon, text", of);
  const known = new Set(shapes(other).map(saidBy));
  for (const shape of shapes(picture))
    if (!known.has(saidBy(shape))) shape.classList.add(mark);
}

function markNew() {
  steps.forEach((step, i) => i > 0 && markOwn(pictureOf(step), pictureOf(steps[i - 1]), "new"));
}

// Scrolls to the first kernel that another picture shows otherwise.
function scrollToOwn(picture, other) {
  const number = (kernel) => kernel.id || kernel.dataset.same;
  const known = [...other.children].map(number);
  const own = [...picture.children].find((kernel) => !known.includes(number(kernel)));
  if (own) picture.scrollTop = own.offsetTop;
}

// The step's picture, or in its place a copy of the one before, where what goes away is marked.
function showPicture() {
  all(".picture.old").forEach((old) => old.remove());
  all(".picture").forEach((picture) => { picture.hidden = false; });
  if (shown === 0) return;
  const own = pictureOf(steps[shown]);
  const before = pictureOf(steps[shown - 1]);
  scrollToOwn(own, before);
  if (byId("before").getAttribute("aria-pressed") === "false") return;
  const old = before.cloneNode(true);
  old.classList.add("old");
  old.style.height = `${own.getBoundingClientRect().height}px`;
  old.setAttribute("aria-label", `the picture before step ${shown}`);
  all(".new, .stood", old).forEach((part) => part.classList.remove("new", "stood"));
  markOwn(old, own, "gone");
  own.before(old);
  own.hidden = true;
  scrollToOwn(old, own);
  all("[id]", old).forEach((part) => part.removeAttribute("id"));
}

function toggleBefore() {
  const button = byId("before");
  button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") === "false"));
  showPicture();
}

// Links: whatever stands for the same array or axis lights up together.
const kinds = ["array", "axis"];

function keysOf(element) {
  const keys = {};
  for (let at = element; at && at !== document.body; at = at.parentElement)
    for (const kind of kinds)
      if (!(kind in keys) && at.dataset && at.dataset[kind]) keys[kind] = at.dataset[kind];
  return keys;
}

function light(element) {
  all(".lit").forEach((other) => other.classList.remove("lit"));
  const keys = keysOf(element);
  // A token within a line means itself, not the line.
  const own = element.closest("b[data-axis], b[data-array]");
  const wanted = own ? kinds.filter((kind) => own.dataset[kind]) : kinds;
  for (const kind of wanted)
    if (keys[kind])
      for (const other of all(`[data-${kind}="${CSS.escape(keys[kind])}"]`))
        other.classList.add("lit");
}

function listenToLinks() {
  for (const event of ["pointerover", "focusin"])
    document.addEventListener(event, ({target}) => light(target));
  document.addEventListener("pointerleave", () => light(document.body));
}

function listenToKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches?.("input")) return;
    if (event.key === "b" && !byId("before").disabled) toggleBefore();
    const by = {j: 1, ArrowRight: 1, k: -1, ArrowLeft: -1}[event.key];
    if (by === undefined) return;
    event.preventDefault();
    show(shown + by);
  });
}

function listenToTheme() {
  byId("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" :
      matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
}

// Sliders.
const model = new Model(data);
const positions = {};
let touched = null;

function valueText(slider, value) {
  if (slider.kind === "figure") return scaled(value, slider.unit);
  return slider.kind === "bits" ? `${value} bits` : value.toLocaleString("en");
}

function addSlider(slider, form) {
  const row = document.createElement("label");
  row.className = "slider";
  if (slider.kind !== "figure" && slider.kind !== "bits") row.dataset.axis = slider.axis;
  const name = slider.title && slider.kind !== "tile" ? escapeText(slider.title) :
    `<math>${mathOfSymbol(slider.symbol)}</math>`;
  const kernels = slider.kind === "tile" && data.model.regions.length > 1 ?
    [...new Set(slider.sets.map(([region]) => data.model.regions[region].name))] : [];
  const where = kernels.length ? ` <small>in ${escapeText(kernels.join(", "))}</small>` : "";
  row.innerHTML = `<span class="name">${name}${where}</span>`;
  if (slider.off) {
    row.classList.add("off");
    row.insertAdjacentHTML("beforeend", `<span class="why">${escapeText(slider.off)}</span>` +
      `<output>${valueText(slider, slider.now)}</output>`);
    form.append(row);
    return;
  }
  const input = document.createElement("input");
  Object.assign(input, {type: "range", min: 0, max: slider.values.length - 1, step: 1,
                        value: slider.values.indexOf(slider.now), name: slider.id});
  const output = document.createElement("output");
  input.addEventListener("input", () => {
    positions[slider.id] = slider.values[input.value];
    touched = slider;
    update();
  });
  slider.update = () => {
    const value = positions[slider.id] ?? slider.now;
    input.value = slider.values.indexOf(value);
    output.textContent = valueText(slider, value);
    input.setAttribute("aria-valuetext", output.textContent);
    input.setAttribute("aria-label", `${slider.symbol} = ${output.textContent}`);
    row.classList.toggle("moved", value !== slider.now);
  };
  row.append(input, output);
  form.append(row);
}

function addSliders() {
  const form = byId("sliders");
  const titles = {axis: "Sizes", tile: "Groups and chunks", bits: "Bits of a value",
                  figure: `The machine, ${data.machine}`};
  for (const [kind, title] of Object.entries(titles)) {
    const those = data.sliders.filter((slider) => slider.kind === kind);
    if (those.length === 0) continue;
    const group = document.createElement("fieldset");
    group.innerHTML = `<legend>${escapeText(title)}</legend>`;
    those.forEach((slider) => addSlider(slider, group));
    form.append(group);
  }
  const reset = document.createElement("button");
  reset.type = "button";
  reset.textContent = "as derived";
  reset.addEventListener("click", () => {
    Object.keys(positions).forEach((id) => delete positions[id]);
    touched = null;
    update();
  });
  form.append(reset);
}

// The command that gives the same figures.
function commandText() {
  const moved = data.sliders.filter((slider) =>
    slider.id in positions && positions[slider.id] !== slider.now);
  const of = (kind) => moved.filter((slider) => slider.kind === kind);
  const sets = of("axis").map((slider) => `${slider.symbol}=${positions[slider.id]}`);
  const machine = [data.machine, ...of("figure").map((slider) =>
    `${slider.symbol}=${positions[slider.id]}${slider.typed}`)].join(",");
  const lines = data.commands.map((command, i) => {
    const slider = of("tile").find((each) => each.command === i);
    return slider ? command.replace(/ by \d+/, ` by ${positions[slider.id]}`) : command;
  });
  const retyped = of("bits").map((slider) => `${slider.symbol} of ${positions[slider.id]} bits`);
  return {sets: sets.join(","), machine, derivation: lines.join("\n"), retyped: retyped.join(", ")};
}

function update() {
  const now = model.at(positions);
  data.sliders.forEach((slider) => slider.update?.());
  byId("figures").innerHTML = figuresText(now);
  const told = data.steps.map((step) => step.figures);
  const sweep = touched ? touched.values.map((value) => {
    const at = model.at({...positions, [touched.id]: value});
    return [at.largest.M.bytes, at.H.bytes];
  }) : [];
  byId("plots").innerHTML =
    `<figure>${plotTransfers(model, now, told, sweep)}<figcaption>Each step of the derivation, ` +
    `and where the sliders stand.</figcaption></figure><figure>${plotRoofline(now)}` +
    `<figcaption>${rooflineCaption(now)}</figcaption></figure>`;
  const command = commandText();
  byId("command").textContent = `napkin cost ${data.file}` +
    (data.commands.length ? " --drv " + data.derivation_file : "") +
    (command.sets ? ` --set ${command.sets}` : "") + ` --machine ${command.machine}` +
    (command.derivation !== data.commands.join("\n") ? `\n# ${data.derivation_file}\n` +
      command.derivation : "") + (command.retyped ? `\n# ${command.retyped}` : "");
  return now;
}

// Words of the texts that name an axis or an array.
function linkWords(pre) {
  const {arrays, axes} = data.words;
  const attribute = (word) =>
    Object.hasOwn(arrays, word) ? `data-array="${escapeText(arrays[word])}"` :
    Object.hasOwn(axes, word) ? `data-axis="${escapeText(axes[word])}"` : null;
  const texts = document.createTreeWalker(pre, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (texts.nextNode()) nodes.push(texts.currentNode);
  for (const node of nodes) {
    const html = node.data.split(/([A-Za-z_][\w.']*)/).map((part) => {
      const link = attribute(part);
      return link ? `<b ${link}>${escapeText(part)}</b>` : escapeText(part);
    }).join("");
    if (html.includes("<b ")) node.replaceWith(document.createRange().createContextualFragment(html));
  }
}

// What an array in a picture is in the texts: one within a box stands for the box, and a part of an
// expression that has a box of its own, `Y.3`, for the array that is computed.
function arrayOf(name) {
  const {arrays} = data.words;
  return arrays[name] ?? arrays[name.replace(/\.\d+$/, "")] ?? name;
}

// What stands as it did at an earlier step is copied.
function completeSteps() {
  for (const place of all("[data-same]"))
    place.innerHTML = byId(place.dataset.same).innerHTML;
  for (const shape of all(".picture [data-array]"))
    shape.dataset.array = arrayOf(shape.dataset.array);
  for (const box of all(".picture .handle[data-array]")) box.setAttribute("tabindex", "0");
}

function typesetFormulas() {
  for (const place of all("[data-tree]"))
    place.innerHTML = mathElement(JSON.parse(place.dataset.tree));
}

document.body.classList.add("live");
completeSteps();
all("pre.tile, #texts pre").forEach(linkWords);
typesetFormulas();
markNew();
addSliders();
update();
byId("back").addEventListener("click", () => show(shown - 1));
byId("forth").addEventListener("click", () => show(shown + 1));
byId("before").addEventListener("click", toggleBefore);
window.addEventListener("resize", follow);
all("#scrubber button").forEach((button, i) => button.addEventListener("click", () => show(i)));
document.addEventListener("click", ({target}) => {
  if (target.matches?.(".tabs button")) chooseText(target.dataset.text);
});
listenToLinks();
listenToKeys();
listenToTheme();
show(Number(location.hash.match(/^#step-(\d+)$/)?.[1] ??
  (document.body.classList.contains("slides") ? 0 : steps.length - 1)));
