// A panel: title, legend, canvas. What is drawn on it is up to its `content`.
import { palette } from "./palette.js";

/** The canvas's size on the screen changes its grain, not its coordinates. */
function fit(canvas, height) {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth || canvas.parentElement.clientWidth - 22;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) {
    [canvas.width, canvas.height] = [w, h];
    canvas.style.height = `${height}px`;
  }
  const ctx = canvas.getContext("2d");
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, width, height);
  return [ctx, width];
}

/** One panel of a run. */
export class Panel {
  /** `content` has: name, title, height, legend(), extent(answer, options), draw(ctx, width, context), tip(x, y). */
  constructor(parent, content, onToggle) {
    this.content = content;
    this.element = document.createElement("section");
    this.element.className = "panel";
    this.element.dataset.panel = content.name;
    const header = document.createElement("header");
    this.heading = document.createElement("h2");
    this.legend = document.createElement("span");
    this.legend.className = "legend";
    this.canvas = document.createElement("canvas");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", content.title);
    this.canvas.style.height = `${content.height}px`;
    header.append(this.heading, this.legend);
    this.line = document.createElement("div");
    this.line.className = "cursor";
    this.line.hidden = true;
    this.element.append(header, this.canvas, this.line);
    parent.append(this.element);
    this.onToggle = onToggle;
    this.fillLegend();
  }

  /** Entries: [key, label, draw(ctx)], clickable where the key is one that can be hidden. */
  fillLegend() {
    this.legend.replaceChildren();
    for (const { key, label, symbol } of this.content.legend()) {
      const button = document.createElement("button");
      const swatch = document.createElement("canvas");
      [swatch.width, swatch.height] = [36, 24];
      const ctx = swatch.getContext("2d");
      ctx.scale(2, 2);
      symbol(ctx, palette());
      button.append(swatch, label);
      button.setAttribute("aria-pressed", String(!this.content.hidden.has(key)));
      button.title = "Show or hide";
      button.addEventListener("click", () => this.toggle(key));
      this.legend.append(button);
    }
  }

  toggle(key) {
    const { hidden } = this.content;
    if (!hidden.delete(key)) hidden.add(key);
    this.fillLegend();
    this.onToggle();
  }

  /** Whether any of it can be seen, or soon will. */
  inSight() {
    const { top, bottom } = this.element.getBoundingClientRect();
    return bottom > -200 && top < innerHeight + 200;
  }

  /** Moves the line at the instant that is looked at; null takes it away. */
  showCursor(time) {
    const { plot } = this.content;
    const x = time === null || !plot ? -1 : plot.x(time);
    this.line.hidden = !plot || x < plot.left || x > plot.right;
    if (this.line.hidden) return;
    this.line.style.height = `${plot.height}px`;
    this.line.style.transform = `translate(${this.canvas.offsetLeft + x}px, ${this.canvas.offsetTop + plot.top}px)`;
  }

  /** Draws with `context`: view, answer, range of values, cursor, options. */
  draw(context) {
    const { title, height } = this.content;
    const [ctx, width] = fit(this.canvas, height);
    const remark = this.content.draw(ctx, width, context) ?? "";
    const small = document.createElement("small");
    small.textContent = remark;
    this.heading.replaceChildren(title, small);
  }
}

/** Symbols of legends. */
export const symbols = {
  box: (colour) => (ctx, colours) => { ctx.fillStyle = colours[colour] ?? colour(); ctx.fillRect(2, 2, 14, 8); },
  line: (colour, dash = []) => (ctx, colours) => {
    ctx.strokeStyle = colours[colour] ?? colour();
    ctx.lineWidth = 2;
    ctx.setLineDash(dash);
    ctx.beginPath(); ctx.moveTo(0, 6); ctx.lineTo(18, 6); ctx.stroke();
  },
};
