// Slides: answers are looked up among outcomes that were computed beforehand.

// A whole command as the outcomes have it: `fuse O,P,S`, `group q by 64`.
function commandIn(typed) {
  const [rule, ...words] = typed.replace(/ at l1$/, "").split(/\s+/);
  const rest = words.join(" ").replace(/ ?, ?/g, ",");
  return `${rule} ${["fuse", "recompute"].includes(rule) ? rest.split(",").sort().join(",") : rest}`;
}

function partIn(typed, kind) {
  if (kind === "command") return typed && commandIn(typed);
  if (kind === "size") return typed.replace(/^0+(?=\d)/, "");
  const names = typed.split(",").map((name) => name.trim()).filter(Boolean);
  return (kind === "set" ? names.sort() : names).join(",");
}

// What stands in the fields of an open command, one of which may hold all of it: `group q by 64`,
// or `q by 64`.
function typedIn({command, kinds}, values) {
  const form = command.replace(/ at l1$/, "");
  if (form === "?") return values;
  const holes = form.slice(form.indexOf("?"), form.lastIndexOf("?") + 1);
  const whole = [form, holes].map((text) => new RegExp(
    `^${text.replace(/ /g, "\\s+").replaceAll("?", "([^?]+?)")}$`));
  for (const value of values.filter((each) => each.includes(" ")))
    for (const pattern of kinds.length > 1 ? whole : [whole[0]]) {
      const found = value.replace(/\s+at l1$/, "").match(pattern);
      if (found) return found.slice(1);
    }
  return values;
}

// Why a part can be no answer.
function strangeIn(question, part, kind) {
  if (kind === "size" && !/^[1-9]\d*$/.test(part))
    return `<code>${escapeText(part)}</code> is no size: a size is a whole number from 1.`;
  const strange = ["names", "set"].includes(kind) ?
    part.split(",").find((name) => !question.names.includes(name)) : undefined;
  return strange && `There is no axis and no array <code>${escapeText(strange)}</code>.`;
}

// What formulas say of sizes that were not tried: that something needed is not reached, or all is.
function gradeBySizes({sizes}, parts) {
  if (!sizes || parts.some((part) => part > Number.MAX_SAFE_INTEGER)) return null;
  const regions = sizes.regions.map(({symbols, H, M}, i) => {
    const values = {...symbols};
    sizes.sets.forEach((set, hole) => set.forEach(([region, symbol]) => {
      if (region === i) values[symbol] = Number(parts[hole]);
    }));
    return {H: evaluate(H, values), M: evaluate(M, values)};
  });
  const reached = {H: Math.ceil(regions.reduce((sum, {H}) => sum + H, 0) / 8),
                   M: Math.ceil(Math.max(...regions.map(({M}) => M)) / 8)};
  const missed = sizes.needs.filter(({of, most}) => reached[of] > most).map(({of, text}) =>
    `${of} is ${scaled(reached[of], "B")}, and needed is ${text}`);
  if (missed.length > 0) return ["wrong", missed.join("; ")];
  return sizes.whole ? ["right", `H ${scaled(reached.H, "B")}, M ${scaled(reached.M, "B")}`] : null;
}

// The answer at the prompt: what was not tried beforehand is graded there.
function gradedAtPrompt({open, prompt}, parts, number) {
  const rest = [...parts];
  const answer = open.map(({command, kinds}) => kinds[0] === "command" ? rest.shift() :
    command.replaceAll("?", () => rest.shift().replaceAll(",", ", "))).join("; ");
  const lines = [...Array(number - 1).fill("skip"), answer];
  const quoted = (line) => /^\w+$/.test(line) ? line : `'${line.replaceAll("'", "'\\''")}'`;
  return "Neither right nor wrong: this page holds what comes of likely answers, and this is none of " +
    "them. In a shell, napkin grades it: " +
    `<code>${escapeText(`printf '%s\\n' ${lines.map(quoted).join(" ")} | ${prompt}`)}</code>`;
}

function gradeOf(question, fields, number) {
  const kinds = question.open.flatMap((open) => open.kinds);
  const values = fields.map((field) => field.value.trim());
  const typed = question.open.flatMap((open) => typedIn(open, values.splice(0, open.kinds.length)));
  const parts = kinds.map((kind, i) => partIn(typed[i], kind));
  if (parts.includes("")) return ["", "Something is open still."];
  const strange = parts.map((part, i) => strangeIn(question, part, kinds[i])).find(Boolean);
  if (strange) return ["", strange];
  const known = question.outcomes[`${parts.join("|")}|`];
  if (known) return [known[0] ? "right" : "wrong", question.texts[known[1]]];
  return gradeBySizes(question, parts) ?? ["", gradedAtPrompt(question, parts, number)];
}

all("form.question").forEach((form) => {
  const number = Number(form.dataset.question);
  const question = data.questions[number - 1];
  const grade = form.querySelector(".grade");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const [verdict, text] = gradeOf(question, all("input", form), number);
    grade.className = `grade ${verdict}`;
    grade.innerHTML = verdict ? `<strong>${verdict}</strong> ${text}` : text;
  });
  form.addEventListener("input", () => { grade.textContent = ""; });
});

// Programs are out of the way until they are wanted.
const programs = document.createElement("button");
Object.assign(programs, {type: "button", id: "programs", textContent: "code", title: "c"});
programs.addEventListener("click", () => {
  programs.setAttribute("aria-pressed", String(document.body.classList.toggle("with-code")));
});
byId("forth").after(programs);
document.addEventListener("keydown", (event) => {
  if (event.key === "c" && !event.ctrlKey && !event.metaKey && !event.altKey &&
      !event.target.matches?.("input")) programs.click();
});
