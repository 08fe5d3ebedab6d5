// The figures where the sliders stand, what is not known of them and why, and bars.
"use strict";

function rowOf(name, value, form, note = "") {
  return `<tr><th scope="row">${name}</th><td class="value">${value}</td>` +
    `<td class="form">${form}</td><td class="note">${note}</td></tr>`;
}

// How a number stands to the paper's form beside it.
function formOf(amount, {ideal, leads}, values) {
  if (!ideal) return "";
  const excess = amount.values / evaluate(ideal, values) - 1;
  if (Math.abs(excess) < 1e-9) return mathElement(ideal);
  if (leads && excess > 0) return `${mathElement(ideal)} + …`;
  return (excess < 0 ? "≤ " : "≥ ") + mathElement(ideal);
}

function figuresText(now) {
  if (now.refused) return `<p class="remark">The derivation is refused here: ${escapeText(now.refused)}.</p>`;
  const region = now.largest;
  const {M, A} = data.model.regions[now.regions.indexOf(region)].levels.block;
  const values = Object.assign({}, ...now.regions.map((each) => each.values));
  const excess = now.fits.excesses.join("; ");
  // What does not fit the memory that the bound is for may move less.
  const times = now.bound ? now.H.bits / 8 / now.bound : 0;
  const ratio = times >= 1 || (times > 0 && now.fits.known && !excess) ? `${digits(times)} × bound` : "";
  const best = now.best?.ratio ? `${digits(now.best.ratio)} × best` : "";
  const fits = !now.fits.known ? "–" : excess ? "no" : "yes";
  return "<table>" +
    rowOf("H", scaled(now.H.bytes, "B"), formOf(now.H, data.model.H, values), [ratio, best].filter(Boolean).join(", ")) +
    rowOf("M", scaled(region.M.bytes, "B"), formOf(region.M, M, region.values)) +
    rowOf("A", scaled(region.A.bytes, "B"), formOf(region.A, A, region.values)) +
    rowOf("time", now.time ? intervalText(now.time) : "–", "", now.time ? `${escapeText(now.time.binds)} binds` : "") +
    rowOf("fits", fits, "", escapeText(excess)) + "</table>" + remarksText(now) + unitsText(now);
}

// Why something is not said.
function remarksText(now) {
  const remarks = [];
  const moved = model.kernels.movedAt(positions);
  if (now.timeless.length > 0)
    remarks.push(`There is no time on this machine: it has none for ${escapeText(now.timeless.join(", "))}.`);
  else if (now.time === null)
    remarks.push("Time is no formula: it is read off the kernels, which napkin makes and this page cannot. " +
      (moved.some((slider) => slider.kind === "bits") ? "None were made for values of other widths." :
      "It has what came of them with one slider of a kernel moved, and with " +
      (data.pairs.length ? "many pairs of two; what is moved here is none of these. " : "no two. ") +
      "The command below says the time."));
  if (!now.fits.known)
    remarks.push(`Whether it fits is the kernel's to say: ${now.fits.open.map(({name, A}) =>
      `A of ${escapeText(name)} is ${scaled(A.bytes, "B")}`).join(", ")}, and a kernel keeps some of that in registers ` +
      "or holds more for its warps.");
  if (now.bound === null && data.model.bound)
    remarks.push("The bound counts elements that are needed, one slider moved or two that this page has together.");
  return remarks.map((text) => `<p class="remark">${text}</p>`).join("");
}

function intervalText({low, high}) {
  const [from, to] = [timeText(low / 1e6), timeText(high / 1e6)];
  return from === to ? from : `${from} to ${to}`;
}

// A bar for each unit alone; below, where the kernel's time is known, what that is made of: the
// launch, the unit that binds, and what of the others and of waits is not hidden behind it. It is
// not made of them where the model takes a unit's work to be less in the kernel than alone.
function unitsText(now) {
  const {time} = now;
  const longest = Math.max(...now.units.map(({high}) => high));
  const most = Math.max(time?.seconds ?? 0, longest);
  const isSum = time && time.unhidden > -1e-3 * time.seconds;  // bars have four digits
  const width = (seconds) => `width:${(100 * seconds / most).toFixed(2)}%`;
  const row = (name, seconds, bar, kind = "") =>
    `<tr><th scope="row">${name}</th><td class="value">${timeText(seconds)}</td><td class="bar ${kind}">${bar}</td></tr>`;
  const units = now.units.map(({name, low, high}) => row(
    escapeText(name) + (name === time?.binds ? " <small>binds</small>" : ""), high,
    `<span style="${width(high)}"></span><span class="low" style="${width(low)}"></span>`,
    name === time?.binds ? "binding" : ""));
  const slowest = now.regions.length > 1 ? ` in the slowest kernel, ${escapeText(time?.kernel ?? "")}` : "";
  const caption = time ? `Each unit alone${slowest}, as the model counts its work` :
    "Each unit alone, at the rate of its data sheet; light: were nothing found in the cache";
  const table = (kind, title, rows) => `<table class="pipelines ${kind}"><caption>${title}</caption>${rows.join("")}</table>`;
  if (!isSum) return table("units", caption, units);
  const unhidden = Math.max(time.unhidden, 0);
  const busiest = now.units.find(({high}) => high === longest).name;
  const isWaiting = time.binds === "waiting";
  const from = (start, seconds) => `<span class="low" style="left:${(100 * start / most).toFixed(2)}%;${width(seconds)}"></span>`;
  return table("units", caption, units) + table("sum", "What the kernel's time is made of", [
    row("launch, start", time.launch, from(0, time.launch)),
    row(escapeText(busiest), longest, from(time.launch, longest), busiest === time.binds ? "binding" : ""),
    row(isWaiting ? "waiting" : "not hidden", unhidden, from(time.launch + longest, unhidden), isWaiting ? "binding" : ""),
    row("<strong>the kernel</strong>", most, from(0, most), "whole")]);
}

function rooflineCaption(now) {
  return `The roofline of the bars: how fast ${scaled(workOf(now).operations, "op")} would go if one unit alone ` +
    "took its time. The roof of a unit with little to do lies high.";
}
