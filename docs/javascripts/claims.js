/* Tables with a column "verdict": a colour for each verdict, and above the table a choice of verdicts, one of kinds where
   there is such a column, and a field whose words every row in sight has. */
const VERDICTS = ["holds", "differs", "not-testable", "not-yet"];
const KINDS = ["measured", "arithmetic", "read-back"];

for (const table of document.querySelectorAll(".md-content table")) {
  const heads = [...table.querySelectorAll("thead th")].map((head) => head.textContent.trim());
  const column = heads.indexOf("verdict");
  if (column >= 0) withFilter(table, column, heads.indexOf("kind"));
}

function withFilter(table, column, kinds) {
  const rows = [...table.querySelectorAll("tbody tr")];
  const verdict = (row) => row.cells[column]?.textContent.trim() ?? "";
  const kind = (row) => row.cells[kinds]?.textContent.trim().replace(" ", "-") ?? "";
  const present = VERDICTS.filter((name) => rows.some((row) => verdict(row) === name));
  const presentKinds = KINDS.filter((name) => rows.some((row) => kind(row) === name));
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
      row.hidden = hidden.has(verdict(row)) || hidden.has(kind(row)) || !words.every((word) => text.includes(word));
      shown += row.hidden ? 0 : 1;
    }
    count.textContent = shown < rows.length ? `${shown} of ${rows.length}` : `${rows.length}`;
  };
  const choose = (name, of, className) => {
    const choice = Object.assign(document.createElement("button"), { type: "button", className });
    choice.textContent = `${name.replace("read-", "read ")} ${rows.filter((row) => of(row) === name).length}`;
    choice.setAttribute("aria-pressed", "true");
    choice.addEventListener("click", () => {
      if (!hidden.delete(name)) hidden.add(name);
      choice.setAttribute("aria-pressed", String(!hidden.has(name)));
      show();
    });
    return choice;
  };
  const choices = present.map((name) => choose(name, verdict, `verdict verdict-${name}`));
  choices.push(...presentKinds.map((name) => choose(name, kind, `kind-${name}`)));
  field.addEventListener("input", show);
  const bar = Object.assign(document.createElement("div"), { className: "claims-filter" });
  bar.append(field, ...choices, count);
  (table.closest(".md-typeset__scrollwrap") ?? table).before(bar);
  show();
}
