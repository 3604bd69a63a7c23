// Colours, from the style sheet, so that light and dark differ there alone. They are told apart without red and green.

let current = null;

/** The colours of the present theme. */
export function palette() {
  if (current) return current;
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  const named = ["back", "panel", "ink", "soft", "grid", "edge", "accent", "lost", "held", "released", "acked", "node"];
  current = Object.fromEntries(named.map((name) => [name, colour(name)]));
  current.paths = Array.from({ length: 8 }, (_, k) => colour(`path${k}`));
  current.paths.forEach((value, k) => { current[`path${k}`] = value; });
  current.loads = [0, 1, 2].map((k) => channels(colour(`load${k}`)));
  return current;
}

/** The colour of path number `path`. */
export function pathColour(path) {
  const { paths } = palette();
  return paths[path % paths.length];
}

function channels(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

/** The colour of a load between 0 and 1: ever darker on light ground, ever lighter on dark. */
export function loadColour(load) {
  const { loads } = palette();
  const place = Math.min(1, Math.max(0, load)) * 2;
  const [low, high] = place < 1 ? [loads[0], loads[1]] : [loads[1], loads[2]];
  const part = place < 1 ? place : place - 1;
  return `rgb(${low.map((value, k) => Math.round(value + (high[k] - value) * part)).join(" ")})`;
}

/** Switches between light and dark; the choice is remembered where the browser lets us. */
export function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  current = null;
  try { localStorage.setItem("prismux-theme", theme); } catch { /* A page from a file may not remember. */ }
}

/** The theme chosen before, or the system's. */
export function rememberedTheme() {
  try {
    const theme = localStorage.getItem("prismux-theme");
    if (theme) return theme;
  } catch { /* As above. */ }
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}
