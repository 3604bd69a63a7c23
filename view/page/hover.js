// The note beside the pointer.

const tip = () => document.getElementById("tip");

/** Shows `content` (title, lines of colour, label and value) beside a point of the window. */
export function showTip(content, x, y) {
  const element = tip();
  if (!content) { hideTip(); return; }
  const title = document.createElement("b");
  title.textContent = content.title;
  const table = document.createElement("table");
  for (const { colour, label, value } of content.lines) {
    const row = table.insertRow();
    const name = row.insertCell();
    if (colour) {
      const dot = document.createElement("i");
      dot.style.background = colour;
      name.append(dot);
    }
    name.append(label);
    row.insertCell().textContent = value;
  }
  element.replaceChildren(title, table);
  element.hidden = false;
  const { offsetWidth: w, offsetHeight: h } = element;
  element.style.left = `${x + 16 + w > innerWidth ? Math.max(4, x - w - 12) : x + 16}px`;
  element.style.top = `${y + 16 + h > innerHeight ? Math.max(4, y - h - 12) : y + 16}px`;
}

export function hideTip() {
  tip().hidden = true;
}
