// Formulas are trees: a number, a symbol's name, or an operation with its trees.
"use strict";

function evaluate(tree, values) {
  if (typeof tree === "number") return tree;
  if (typeof tree === "string") {
    if (!(tree in values)) throw new Error(`nothing is known of ${tree}`);
    return values[tree];
  }
  const [op, ...parts] = tree;
  if (op === "sum") return evaluateSum(parts, values);
  const numbers = parts.map((part) => evaluate(part, values));
  const [a, b] = numbers;
  switch (op) {
    case "+": return numbers.reduce((sum, x) => sum + x, 0);
    case "*": return numbers.reduce((product, x) => product * x, 1);
    case "/": return a / b;
    case "^": return a ** b;
    case "floor": return Math.floor(a / b);
    case "ceil": return Math.ceil(a / b);
    case "mod": return a - b * Math.floor(a / b);
    case "min": return Math.min(...numbers);
    case "max": return Math.max(...numbers);
    case "<=": return a <= b ? 1 : 0;
  }
  throw new Error(`no operation ${op}`);
}

function evaluateSum([index, from, to, term], values) {
  const inner = Object.create(values);
  const last = evaluate(to, values);
  let total = 0;
  for (let i = evaluate(from, values); i <= last; ++i) {
    inner[index] = i;
    total += evaluate(term, inner);
  }
  return total;
}

// The paper's forms as MathML: sums, products, quotients and powers of symbols.
const escapeText = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

function mathOfSymbol(name) {
  const at = name.indexOf("_");
  const [head, foot] = at > 0 ? [name.slice(0, at), name.slice(at + 1)] : [name, ""];
  const letter = `<mi>${escapeText(head)}</mi>`;
  return foot ? `<msub>${letter}<mi>${escapeText(foot)}</mi></msub>` : letter;
}

function mathOfSum(parts) {
  return parts.map((part, i) => {
    const isNegative = typeof part === "number" ? part < 0 :
      part[0] === "*" && typeof part[1] === "number" && part[1] < 0;
    const size = !isNegative ? part :
      typeof part === "number" ? -part : ["*", -part[1], ...part.slice(2)];
    const form = i > 0 ? "infix" : "prefix";
    const sign = isNegative ? `<mo form="${form}">−</mo>` : i > 0 ? "<mo form=\"infix\">+</mo>" : "";
    return sign + mathOf(size);
  }).join("");
}

function mathOfProduct(parts) {
  const factors = parts.length > 1 && parts[0] === 1 ? parts.slice(1) : parts;
  const isLong = (part) => typeof part === "string" && part.indexOf("_") < 0 && part.length > 1;
  return factors.map((part, i) => {
    const text = Array.isArray(part) && part[0] === "+" ?
      `<mrow><mo>(</mo>${mathOf(part)}<mo>)</mo></mrow>` : mathOf(part);
    const dot = i > 0 && (isLong(part) || isLong(factors[i - 1]));
    return (i === 0 ? "" : dot ? "<mo>·</mo>" : "<mo>&#x2062;</mo>") + text;
  }).join("");
}

function mathOf(tree) {
  if (typeof tree === "number") return `<mn>${tree}</mn>`;
  if (typeof tree === "string") return mathOfSymbol(tree);
  const [op, ...parts] = tree;
  const row = (part) => `<mrow>${mathOf(part)}</mrow>`;
  switch (op) {
    case "+": return mathOfSum(parts);
    case "*": return mathOfProduct(parts);
    case "/": return `<mfrac>${row(parts[0])}${row(parts[1])}</mfrac>`;
    case "^": return `<msup>${row(parts[0])}${row(parts[1])}</msup>`;
    default:
      return `<mi>${op}</mi><mo>(</mo>${parts.map(mathOf).join("<mo>,</mo>")}<mo>)</mo>`;
  }
}

// Terms are elements of their own, so that a long sum can be broken into lines.
function mathElement(tree) {
  const terms = tree[0] === "+" ? tree.slice(1) : [tree];
  return terms.map((term, i) => i === 0 ? `<math>${mathOf(term)}</math>` :
    `<math>${mathOfSum([0, term]).replace(/^<mn>0<\/mn>/, "")}</math>`).join(" ");
}

// Numbers as people read them.
function digits(value) {
  return value === 0 ? "0" : Number(value.toPrecision(3)).toString();
}

function scaled(value, unit) {
  const prefixes = ["", "k", "M", "G", "T", "P", "E"];
  let prefix = 0;
  while (Math.abs(value) >= 999.5 && prefix + 1 < prefixes.length) {
    value /= 1000;
    ++prefix;
  }
  return `${digits(value)} ${prefixes[prefix]}${unit}`;
}

function timeText(seconds) {
  if (seconds >= 1) return `${digits(seconds)} s`;
  return seconds >= 1e-3 ? `${digits(seconds * 1e3)} ms` : `${digits(seconds * 1e6)} µs`;
}
