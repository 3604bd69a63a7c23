/* Tables with a column "verdict": a colour for each verdict, and above the table a choice of verdicts and a field whose
   words every row in sight has. */
const VERDICTS = ["holds", "differs", "not-testable", "not-yet"];

for (const table of document.querySelectorAll(".md-content table")) {
  const heads = [...table.querySelectorAll("thead th")].map((head) => head.textContent.trim());
  const column = heads.indexOf("verdict");
  if (column >= 0) withFilter(table, column);
}

function withFilter(table, column) {
  const rows = [...table.querySelectorAll("tbody tr")];
  const verdict = (row) => row.cells[column]?.textContent.trim() ?? "";
  const present = VERDICTS.filter((name) => rows.some((row) => verdict(row) === name));
  rows.forEach((row) => row.cells[column]?.classList.add("verdict", `verdict-${verdict(row)}`));
  const hidden = new Set();
  const field = Object.assign(document.createElement("input"), { type: "search", placeholder: "an id or words: PR-005, throughput" });
  field.setAttribute("aria-label", "Show the claims with these words");
  const count = document.createElement("span");
  const show = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = hidden.has(verdict(row)) || !words.every((word) => text.includes(word));
      shown += row.hidden ? 0 : 1;
    }
    count.textContent = shown < rows.length ? `${shown} of ${rows.length}` : `${rows.length}`;
  };
  const choices = present.map((name) => {
    const choice = Object.assign(document.createElement("button"), { type: "button", className: `verdict verdict-${name}` });
    choice.textContent = `${name} ${rows.filter((row) => verdict(row) === name).length}`;
    choice.setAttribute("aria-pressed", "true");
    choice.addEventListener("click", () => {
      if (!hidden.delete(name)) hidden.add(name);
      choice.setAttribute("aria-pressed", String(!hidden.has(name)));
      show();
    });
    return choice;
  });
  field.addEventListener("input", show);
  const bar = Object.assign(document.createElement("div"), { className: "claims-filter" });
  bar.append(field, ...choices, count);
  (table.closest(".md-typeset__scrollwrap") ?? table).before(bar);
  show();
}
