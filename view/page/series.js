// Amounts over time, a line for each flow or link: what flows carried side by side, what links dropped.
import { instant, told } from "./units.js";
import { palette } from "./palette.js";
import { averaged, clipped, drawAxes, drawNotes, plot } from "./axes.js";
import { bucketAt } from "./rates.js";

/** Dashes that tell lines of one colour apart, once all colours are taken. */
const DASHES = [[], [5, 3], [2, 2]];

export class Series {
  /**
   * `names` of the lines, and their `colours` where these are not in the same order; `of(piece, line, k)` is the value in
   * bucket `k`, `note` what stands beside the title.
   */
  constructor({ name, title, height, units, what, names, of, colours = names.map((_, line) => line), note = "", fill = false }) {
    Object.assign(this, { name, title, height, units, what, names, of, colours, note, fill });
    this.hidden = new Set();
  }

  legend() {
    return this.names.map((label, line) => ({ key: `line${line}`, label, symbol: (ctx) => sample(ctx, this.colours[line]) }));
  }

  shown() {
    return this.names.map((_, line) => line).filter((line) => !this.hidden.has(`line${line}`));
  }

  extent(answer, _options, view) {
    let high = 0;
    for (const piece of answer.rates) {
      for (let k = 0; k < count(piece); k++) {
        const start = piece.start + k * piece.width;
        if (start + piece.width < view.from || start > view.to) continue;
        for (const line of this.shown()) high = Math.max(high, this.of(piece, line, k));
      }
    }
    return [0, high * 1.08 || 1];
  }

  draw(ctx, width, { answer, view, range, notes }) {
    this.plot = plot(width, this.height, view, ...range);
    [this.answer, this.view] = [answer, view];
    drawAxes(ctx, this.plot, view, this.units, this.what);
    clipped(ctx, this.plot, () => {
      for (const line of this.shown()) answer.rates.forEach((piece) => this.drawLine(ctx, piece, line));
      drawNotes(ctx, this.plot, notes);
    });
    const { width: bucket } = answer.rates[Math.floor(answer.rates.length / 2)];
    return `${averaged(bucket)}${this.note}`;
  }

  drawLine(ctx, piece, line) {
    ctx.strokeStyle = ctx.fillStyle = colourOf(this.colours[line]);
    ctx.lineWidth = 1.5;
    ctx.setLineDash(dashOf(this.colours[line]));
    ctx.beginPath();
    for (let k = 0; k < count(piece); k++) {
      const [x0, x1] = [k, k + 1].map((at) => this.plot.x(piece.start + at * piece.width));
      const y = this.plot.y(this.of(piece, line, k));
      if (k) ctx.lineTo(x0, y); else ctx.moveTo(x0, y);
      ctx.lineTo(x1, y);
    }
    ctx.stroke();
    ctx.setLineDash([]);
  }

  tip(x) {
    if (!this.answer) return null;
    const time = this.plot.time(x);
    const found = bucketAt(this.answer, time);
    if (!found) return null;
    const values = this.shown().map((line) => [line, this.of(found.piece, line, found.k) ?? 0]);
    values.sort((a, b) => b[1] - a[1]);
    const lines = values.slice(0, 10).map(([line, value]) => ({
      colour: colourOf(this.colours[line]), label: this.names[line], value: told(value, this.units),
    }));
    if (values.length > lines.length) lines.push({ label: `and ${values.length - lines.length} more`, value: "" });
    return { title: instant(time, this.view.to - this.view.from), lines };
  }
}

function count(piece) {
  return (piece.forward[0] ?? piece.flows[0])?.length ?? 0;
}

function colourOf(line) {
  const { paths } = palette();
  return paths[line % paths.length];
}

function dashOf(line) {
  return DASHES[Math.floor(line / palette().paths.length) % DASHES.length];
}

function sample(ctx, line) {
  ctx.strokeStyle = colourOf(line);
  ctx.lineWidth = 2;
  ctx.setLineDash(dashOf(line));
  ctx.beginPath(); ctx.moveTo(0, 6); ctx.lineTo(18, 6); ctx.stroke();
}
