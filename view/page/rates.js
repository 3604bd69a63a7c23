// What each path delivers over time, stacked: rates, or shares of the sum.
import { PERCENT, RATES, instant, told } from "./units.js";
import { palette } from "./palette.js";
import { wayEntries, waysOf } from "./ways.js";
import { averaged, clipped, drawAxes, drawNotes, plot } from "./axes.js";

/** A capacity more than so many times what is delivered is told in words: drawn to its scale, nothing else could be seen. */
const FAR = 10;

export class LinkRates {
  constructor(run) {
    this.name = "rates";
    this.title = "Delivered by each path";
    this.height = 190;
    this.run = run;
    this.hidden = new Set();
    this.back = false;
    this.show(0);
  }

  /** Turns to another flow. */
  show(flow) {
    this.ways = waysOf(this.run, flow);
  }

  legend() {
    const capacity = (ctx, colours) => dashes(ctx, colours.ink);
    return [...wayEntries(this.ways), { key: "capacity", label: "capacity", symbol: capacity }];
  }

  extent(answer, { shares, back }) {
    this.back = back;
    if (shares) return [0, 1];
    let [high, most] = [0, 0];
    for (const piece of answer.rates) {
      for (let k = 0; k < buckets(piece); k++) {
        high = Math.max(high, this.visible().reduce((all, path) => all + this.rate(piece, path, k), 0));
        most = Math.max(most, this.capacity(piece, k) ?? 0);
      }
    }
    const isFar = high > 0 && most > FAR * high;
    return [0, (isFar ? high * 1.2 : Math.max(high, most) * 1.05) || 1];
  }

  draw(ctx, width, { answer, view, range, shares }) {
    const [low, high] = range;
    this.plot = plot(width, this.height, view, low, high);
    [this.answer, this.view, this.shares] = [answer, view, shares];
    drawAxes(ctx, this.plot, view, shares ? PERCENT : RATES, shares ? "share" : "rate");
    clipped(ctx, this.plot, () => {
      answer.rates.forEach((piece) => this.drawPiece(ctx, piece));
      drawNotes(ctx, this.plot, this.run.notes);
    });
    const toward = this.back ? "toward the sender, " : "";
    const others = this.run.run.flows.length > 1 ? ", all flows together" : "";
    const middle = answer.rates[Math.floor(answer.rates.length / 2)];
    const capacity = this.capacity(middle, Math.floor(buckets(middle) / 2));
    const beyond = !shares && capacity > high ? `, capacity ${told(capacity, RATES)}` : "";
    return `${toward}${averaged(middle.width)}${others}${beyond}`;
  }

  drawPiece(ctx, piece) {
    ctx.save();
    const left = this.plot.x(piece.from);
    ctx.beginPath();
    ctx.rect(left, 0, this.plot.x(piece.to) - left, this.height);
    ctx.clip();
    const count = buckets(piece);
    const stacks = Array.from({ length: count }, (_, k) => this.scaled(this.stack(piece, k)));
    const x = (k) => this.plot.x(piece.start + k * piece.width);
    this.visible().forEach((path, layer) => {
      ctx.fillStyle = palette()[this.ways[path].colour];
      ctx.beginPath();
      for (let k = 0; k < count; k++) {
        const [bottom, top] = [layer ? stacks[k][layer - 1] : 0, stacks[k][layer]];
        if (top <= bottom) continue;
        const y = this.plot.y(top);
        // A hair of overlap: no seams between buckets.
        ctx.rect(x(k), y, x(k + 1) - x(k) + 0.4, this.plot.y(bottom) - y);
      }
      ctx.fill();
    });
    if (!this.shares && !this.hidden.has("capacity")) this.drawCapacity(ctx, piece, x, count);
    ctx.restore();
  }

  drawCapacity(ctx, piece, x, count) {
    ctx.strokeStyle = palette().ink;
    ctx.lineWidth = 1.2;
    ctx.setLineDash([5, 4]);
    ctx.beginPath();
    for (let k = 0; k < count; k++) {
      const capacity = this.capacity(piece, k);
      if (capacity === null) continue;
      const y = this.plot.y(capacity);
      ctx.lineTo(x(k), y);
      ctx.lineTo(x(k + 1), y);
    }
    ctx.stroke();
    ctx.setLineDash([]);
  }

  /** Bits per second of a path in bucket `k`, in the direction in sight. */
  rate(piece, path, k) {
    const { link, forward } = this.ways[path];
    return rateOf(piece, link, k, forward !== this.back ? "forward" : "reverse");
  }

  visible() {
    return this.ways.map((_, path) => path).filter((path) => !this.hidden.has(`path${path}`));
  }

  /** Sums of the paths' bits per second in bucket `k`, one above the other. */
  stack(piece, k) {
    let sum = 0;
    return this.visible().map((path) => (sum += this.rate(piece, path, k)));
  }

  scaled(stack) {
    const sum = stack.at(-1);
    return this.shares && sum > 0 ? stack.map((value) => value / sum) : stack;
  }

  /** What the paths in sight can carry together; null where one has no limit. */
  capacity(piece, k) {
    const rates = this.visible().map((path) => {
      const { link, forward } = this.ways[path];
      return piece[forward !== this.back ? "capacity" : "reverse_capacity"][link][k] ?? null;
    });
    return rates.includes(null) ? null : rates.reduce((a, b) => a + b, 0);
  }

  tip(x) {
    if (!this.answer) return null;
    const time = this.plot.time(x);
    const found = bucketAt(this.answer, time);
    if (!found) return null;
    const { piece, k } = found;
    const rates = this.visible().map((path) => [path, this.rate(piece, path, k)]);
    const sum = rates.reduce((all, [, rate]) => all + rate, 0);
    const lines = rates.toReversed().map(([path, rate]) => ({
      colour: palette()[this.ways[path].colour], label: this.ways[path].name,
      value: `${told(rate, RATES)}${sum > 0 ? `, ${(100 * rate / sum).toFixed(1)} %` : ""}`,
    }));
    lines.push({ label: "together", value: told(sum, RATES) });
    const capacity = this.capacity(piece, k);
    if (capacity) lines.push({ label: "capacity", value: told(capacity, RATES) });
    return { title: instant(time, this.view.to - this.view.from), lines };
  }
}

function dashes(ctx, colour) {
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1.4;
  ctx.setLineDash([4, 3]);
  ctx.beginPath(); ctx.moveTo(0, 6); ctx.lineTo(18, 6); ctx.stroke();
}

function buckets(piece) {
  return piece.forward[0]?.length ?? 0;
}

/** Bits per second that a link delivers in bucket `k`, in one direction or the other. */
export function rateOf(piece, link, k, direction = "forward") {
  return (piece[direction][link][k] ?? 0) * 8e9 / piece.width;
}

/** The bucket of the rates that holds `time`. */
export function bucketAt(answer, time) {
  const piece = answer.rates.find((piece) => time >= piece.from && time < piece.to);
  return piece ? { piece, k: Math.floor((time - piece.start) / piece.width) } : null;
}
