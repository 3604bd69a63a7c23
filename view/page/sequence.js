// The time-sequence diagram: which path sent, lost and delivered which bytes, which ACKs were held and let go.
import { BYTES, COUNTS, SPANS, instant, told } from "./units.js";
import { palette } from "./palette.js";
import { segmentWaysOf, wayEntries } from "./ways.js";
import { clipped, drawAxes, drawNotes, plot } from "./axes.js";

const KINDS = ["sent", "again", "lost", "arrived"];
const SAID = { sent: "sent", again: "sent again", lost: "lost", arrived: "arrived" };
/** Pixels around the pointer in which marks are told. */
const REACH = 9;

export class Sequence {
  constructor(run) {
    this.name = "sequence";
    this.title = "Time–sequence";
    this.height = 320;
    this.run = run;
    this.hidden = new Set(["arrived"]);
    this.show(0);
  }

  /** Turns to another flow. */
  show(flow) {
    [this.ways, this.totals] = [segmentWaysOf(this.run, flow), this.run.flows[flow]];
  }

  colourOf(path) {
    return palette()[this.ways[path]?.colour ?? "ink"];
  }

  legend() {
    const paths = wayEntries(this.ways);
    const { sent_again: again, lost, acks_held: held } = this.totals;
    // What did not happen needs no sign.
    const kinds = [
      ["sent", "sent"], ["again", "sent again", again], ["lost", "lost", lost], ["arrived", "arrived"],
      ["held", "ACK held", held], ["released", "ACKs released", held], ["acked", "acknowledged"],
    ].filter(([, , count = 1]) => count > 0).map(([key, label]) => ({ key, label, symbol: (ctx, colours) => swatch(ctx, colours, key) }));
    return [...paths, ...kinds];
  }

  extent(answer, _options, view) {
    let [low, high] = [Infinity, -Infinity];
    for (const { cells: { t, d, y, h } } of this.groups(answer)) {
      for (let k = 0; k < t.length; k++) {
        if (answer.from + t[k] + d[k] < view.from || answer.from + t[k] > view.to) continue;
        low = Math.min(low, y[k]);
        high = Math.max(high, y[k] + h[k]);
      }
    }
    return low <= high ? [low, high] : null;
  }

  draw(ctx, width, { answer, view, range }) {
    const [low, high] = padded(range ?? [0, 1]);
    this.plot = plot(width, this.height, view, low, high);
    this.answer = answer;
    this.view = view;
    drawAxes(ctx, this.plot, view, BYTES, "position in the stream");
    clipped(ctx, this.plot, () => {
      const turns = turnsOf(this.plot, answer, (path) => !this.hidden.has("sent") && !this.hidden.has(`path${path}`));
      for (const { key, path, cells } of this.groups(answer)) {
        drawCells(ctx, this.plot, answer.from, cells, key, path, this.colourOf(path), key === "sent" ? turns : null);
      }
      if (!this.hidden.has("acked")) drawAcknowledged(ctx, this.plot, answer);
      drawNotes(ctx, this.plot, this.run.notes);
    });
    if (!range) return "no TCP segments of this flow in sight";
    return answer.sequence.paths.length > 1 ? "one colour for each path" : "";
  }

  /** What is shown, in the order in which it is drawn. */
  groups({ sequence }) {
    const shown = (key) => !this.hidden.has(key);
    const groups = [];
    if (shown("held")) groups.push({ key: "held", path: null, cells: sequence.held });
    if (shown("released")) groups.push({ key: "released", path: null, cells: sequence.released });
    // The busiest path first, or it would hide the others.
    const marks = (path) => sequence.paths[path][0].n.reduce((sum, n) => sum + n, 0);
    const order = sequence.paths.map((_, path) => path).sort((a, b) => marks(b) - marks(a));
    for (const kind of ["arrived", "sent", "again"]) {
      for (const path of order) {
        const cells = sequence.paths[path][KINDS.indexOf(kind)];
        if (shown(kind) && shown(`path${path}`)) groups.push({ key: kind, path, cells });
      }
    }
    if (shown("lost")) {
      sequence.paths.forEach((cells, path) => {
        if (shown(`path${path}`)) groups.push({ key: "lost", path, cells: cells[2] });
      });
      groups.push({ key: "lost", path: null, cells: sequence.lost_elsewhere });
    }
    return groups;
  }

  /** What lies under the pointer, nearest first. */
  tip(x, y) {
    if (!this.answer) return null;
    const span = this.view.to - this.view.from;
    const found = [];
    for (const { key, path, cells } of this.groups(this.answer)) {
      const near = nearest(this.plot, this.answer.from, cells, x, y);
      if (near && near.distance <= REACH) found.push({ ...near, key, path });
    }
    found.sort((a, b) => a.distance - b.distance);
    const lines = found.slice(0, 4).map((mark) => this.lineOf(mark, span));
    return lines.length ? { title: instant(this.plot.time(x), span), lines } : null;
  }

  lineOf({ key, path, t, d, y, h, n }, span) {
    const where = path === null ? "" : ` over ${this.ways[path].name}`;
    const colour = path === null ? palette()[key] ?? palette().ink : this.colourOf(path);
    const when = d > 0 ? `${instant(t, span)} + ${told(d, SPANS)}` : instant(t, span);
    if (key === "held" || key === "released") {
      const what = key === "held" ? "ACK held" : "ACKs released";
      return { colour, label: n > 1 ? `${n} × ${what}` : what, value: `up to ${exact(y + h)}, ${when}` };
    }
    const label = `${n > 1 ? `${told(n, COUNTS)} segments` : "segment"} ${SAID[key]}${where}`;
    return { colour, label, value: `bytes ${exact(y)} to ${exact(y + h)}, ${when}` };
  }
}

function exact(bytes) {
  return Math.round(bytes).toLocaleString("en");
}

/** Some room above and below. */
function padded([low, high]) {
  const room = Math.max(1, (high - low) * 0.04);
  return [Math.max(0, low - room), high + room];
}

/** Pixels that a path keeps where several lie on each other. */
const STRIPE = 3;

/** By stripe of the plot: the paths that have more segments there than could be drawn singly. They take turns. */
function turnsOf(plot, answer, shown) {
  const turns = new Map();
  answer.sequence.paths.forEach(([{ t, d, n }], path) => {
    if (!shown(path)) return;
    for (let k = 0; k < t.length; k++) {
      if (n[k] < 2) continue;
      const [first, last] = [t[k], t[k] + d[k]].map((time) => Math.floor(plot.x(answer.from + time) / STRIPE));
      for (let stripe = first; stripe <= last; stripe++) {
        const paths = turns.get(stripe) ?? [];
        if (paths.at(-1) !== path) paths.push(path);
        turns.set(stripe, paths);
      }
    }
  });
  return turns;
}

/** Whether it is the turn of `path` at `x`. */
function hasTurn(turns, x, path) {
  const stripe = Math.floor(x / STRIPE);
  const paths = turns.get(stripe) ?? [path];
  return paths[stripe % paths.length] === path;
}

/** Draws cells: rectangles at once, symbols as one path, which is many times quicker than one path for each. */
function drawCells(ctx, plot, from, { t, d, y, h, n }, key, path, ofPath, turns) {
  const colours = palette();
  const colour = path === null ? colours[key] : ofPath;
  ctx.fillStyle = ctx.strokeStyle = key === "lost" ? colours.lost : colour;
  ctx.lineWidth = key === "lost" ? 1.6 : 1.2;
  ctx.globalAlpha = key === "arrived" ? 0.35 : 1;
  ctx.beginPath();
  for (let k = 0; k < t.length; k++) {
    const x = plot.x(from + t[k]);
    const w = plot.x(from + t[k] + d[k]) - x;
    if (x + w < plot.left - 8 || x > plot.right + 8) continue;
    if (turns && n[k] > 1 && !hasTurn(turns, x, path)) continue;
    const top = plot.y(y[k] + h[k]);
    stamp(ctx, key, x, top, w, Math.max(1.5, plot.y(y[k]) - top), n[k]);
  }
  finish(ctx, key);
  ctx.globalAlpha = 1;
}

/** One mark, or one cell of several: a rectangle, or a symbol added to the path that is open. */
function stamp(ctx, key, x, top, w, tall, count) {
  const middle = top + tall / 2;
  if (key === "sent") ctx.fillRect(x - 1, top, Math.max(2, w), Math.max(2, tall));
  else if (key === "arrived") ctx.fillRect(x - 0.75, top, Math.max(1.5, w), Math.max(1.5, tall));
  else if (key === "again") ctx.rect(x - 2, middle - Math.max(2, tall / 2), Math.max(4, w), Math.max(4, tall));
  else if (key === "lost") cross(ctx, x + w / 2, middle, 3.5, tall);
  else if (count > 1) ctx.fillRect(x - 0.5, top, Math.max(1, w), Math.max(1.5, tall));
  else if (key === "held") ring(ctx, x + w / 2, middle, 2.4);
  else triangle(ctx, x + w / 2, middle, 3.4);
}

/** Draws the symbols of the path that is open. */
function finish(ctx, key) {
  if (key === "released") ctx.fill(); else ctx.stroke();
}

function cross(ctx, x, y, r, tall) {
  ctx.moveTo(x - r, y - r); ctx.lineTo(x + r, y + r);
  ctx.moveTo(x - r, y + r); ctx.lineTo(x + r, y - r);
  if (tall > 4 * r) { ctx.moveTo(x, y - tall / 2); ctx.lineTo(x, y + tall / 2); }
}

function ring(ctx, x, y, r) {
  ctx.moveTo(x + r, y);
  ctx.arc(x, y, r, 0, 7);
}

function triangle(ctx, x, y, r) {
  ctx.moveTo(x - r, y + r); ctx.lineTo(x, y - r); ctx.lineTo(x + r, y + r); ctx.closePath();
}

function swatch(ctx, colours, key) {
  ctx.fillStyle = ctx.strokeStyle = { lost: colours.lost, held: colours.held, released: colours.released }[key] ?? colours.ink;
  ctx.lineWidth = 1.4;
  if (key === "sent") ctx.fillRect(7, 2, 3, 8);
  else if (key === "arrived") { ctx.globalAlpha = 0.35; ctx.fillRect(7, 2, 3, 8); }
  else if (key === "again") ctx.strokeRect(5.5, 2.5, 7, 7);
  else if (key === "acked") { ctx.beginPath(); ctx.moveTo(1, 10); ctx.lineTo(9, 10); ctx.lineTo(9, 3); ctx.lineTo(17, 3); ctx.stroke(); }
  else {
    ctx.beginPath();
    stamp(ctx, key, 9, 5, 0, 2, 1);
    finish(ctx, key);
  }
}

function drawAcknowledged(ctx, plot, answer) {
  const { last } = answer.sequence.acknowledged;
  const width = (answer.to - answer.from) / Math.max(1, last.length);
  ctx.strokeStyle = palette().acked;
  ctx.lineWidth = 1;
  ctx.beginPath();
  let open = false;
  last.forEach((value, k) => {
    if (value === null) { open = false; return; }
    const x = plot.x(answer.from + (k + 1) * width);
    if (open) { ctx.lineTo(x, plot.y(value)); } else ctx.moveTo(x, plot.y(value));
    open = true;
  });
  ctx.stroke();
}

/** The cell nearest to a point, by the distance in pixels to its box. */
function nearest(plot, from, { t, d, y, h, n }, px, py) {
  let best = null;
  for (let k = 0; k < t.length; k++) {
    const [x0, x1] = [plot.x(from + t[k]), plot.x(from + t[k] + d[k])];
    const dx = Math.max(x0 - px, 0, px - x1);
    if (dx > REACH) continue;
    const dy = Math.max(plot.y(y[k] + h[k]) - py, 0, py - plot.y(y[k]));
    const distance = Math.hypot(dx, dy);
    if (!best || distance < best.distance) best = { distance, t: from + t[k], d: d[k], y: y[k], h: h[k], n: n[k] };
  }
  return best;
}
