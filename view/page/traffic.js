// What goes over the air in time: packets of flows, and messages of routing protocols.
import { ONES, instant, told } from "./units.js";
import { palette } from "./palette.js";
import { clipped, drawAxes, drawNotes, plot } from "./axes.js";
import { symbols } from "./panel.js";

export class AirTraffic {
  constructor() {
    this.name = "traffic";
    this.title = "Frames with packets";
    this.height = 130;
    this.hidden = new Set();
  }

  legend() {
    return [
      { key: "data", label: "of flows, each hop counted", symbol: symbols.box("accent") },
      { key: "messages", label: "of routing", symbol: symbols.box("held") },
    ];
  }

  extent(answer, _options, view) {
    const seen = this.pieces(answer).filter(({ from, to }) => to > view.from && from < view.to);
    return [0, Math.max(0, ...seen.map(({ data, messages }) => data + messages)) * 1.08 || 1];
  }

  draw(ctx, width, { answer, view, range, notes }) {
    this.plot = plot(width, this.height, view, ...range);
    [this.shown, this.view] = [this.pieces(answer), view];
    drawAxes(ctx, this.plot, view, ONES, "frames/s");
    const { accent, held } = palette();
    clipped(ctx, this.plot, () => {
      for (const { from, to, data, messages } of this.shown) {
        this.box(ctx, from, to, 0, data, accent);
        this.box(ctx, from, to, data, data + messages, held);
      }
      drawNotes(ctx, this.plot, notes);
    });
    return "";
  }

  box(ctx, from, to, low, high, colour) {
    const [x, y] = [this.plot.x(from), this.plot.y(high)];
    ctx.fillStyle = colour;
    ctx.fillRect(x, y, Math.max(1, this.plot.x(to) - x - 0.5), this.plot.y(low) - y);
  }

  tip(x) {
    const time = this.plot?.time(x);
    const found = this.shown?.find(({ from, to }) => time >= from && time < to);
    if (!found) return null;
    const rate = (value) => `${told(value, ONES)} frames/s`;
    return {
      title: instant(time, this.view.to - this.view.from),
      lines: [{ label: "of flows", value: rate(found.data) }, { label: "of routing", value: rate(found.messages) }],
    };
  }

  /** Frames per second of both kinds, in the pieces that the answer has. */
  pieces(answer) {
    return answer.air.flatMap(({ from, to, hops }) => {
      const width = (to - from) / hops.count;
      const start = (k) => from + k * width;
      const piece = (k) => ({ from: start(k), to: start(k + 1), data: 0, messages: 0 });
      const pieces = Array.from({ length: hops.count }, (_, k) => piece(k));
      hops.k.forEach((k, at) => {
        const kind = hops.flow[at] === null ? "messages" : "data";
        if (!this.hidden.has(kind)) pieces[k][kind] += hops.n[at] * 1e9 / width;
      });
      return pieces;
    });
  }
}
