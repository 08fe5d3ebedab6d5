// Slides: answers are looked up among outcomes that were computed beforehand.

// A whole command as the outcomes have it: `fuse O,P,S`, `group q by 64`.
function commandIn(typed) {
  const [rule, ...words] = typed.replace(/ at l1$/, "").split(/\s+/);
  const rest = words.join(" ").replace(/ ?, ?/g, ",");
  return `${rule} ${["fuse", "recompute"].includes(rule) ? rest.split(",").sort().join(",") : rest}`;
}

function typedIn(field, kind) {
  const typed = field.value.trim();
  if (kind === "command") return typed && commandIn(typed);
  if (kind === "size") return typed.replace(/^0+(?=\d)/, "");
  const names = typed.split(",").map((name) => name.trim()).filter(Boolean);
  return (kind === "set" ? names.sort() : names).join(",");
}

function gradeOf(question, fields) {
  const parts = question.holes.map((kind, i) => typedIn(fields[i], kind));
  if (parts.includes("")) return ["", "Something is open still."];
  const known = question.outcomes[`${parts.join("|")}|`];
  if (known) return [known[0] ? "right" : "wrong", question.texts[known[1]]];
  return ["", "This answer was not tried beforehand; at the prompt any is graded: " +
    `<code>${escapeText(question.prompt)}</code>`];
}

all("form.question").forEach((form) => {
  const question = data.questions[form.dataset.question - 1];
  const grade = form.querySelector(".grade");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const [verdict, text] = gradeOf(question, all("input", form));
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
