// Quantities that keep their value until the next change: windows, round-trip time, buffers.
import { BYTES, COUNTS, SPANS, instant, told } from "./units.js";
import { palette } from "./palette.js";
import { clipped, drawAxes, drawNotes, plot } from "./axes.js";

export class Lines {
  /** `lines`: key, label, colour (a name of the palette), dash, fill, bound (counts for the height of the panel). */
  constructor({ name, title, height, units, what, group, lines, linesOf = null, remark = "" }) {
    Object.assign(this, { name, title, height, units, what, group, lines, linesOf, remark });
    this.hidden = new Set();
  }

  /** Turns to another flow. */
  show(flow) {
    if (this.linesOf) this.lines = this.linesOf(flow);
  }

  legend() {
    return this.lines.length < 2 && !this.linesOf ? [] : this.lines.map((line) => ({
      key: line.key, label: line.label, symbol: (ctx, colours) => legendLine(ctx, colours, line),
    }));
  }

  shown() {
    return this.lines.filter(({ key }) => !this.hidden.has(key));
  }

  extent(answer, _options, view) {
    let high = 0;
    for (const { key, bound } of this.shown()) {
      if (bound === false) continue;
      const { max } = answer[this.group][key];
      const width = (answer.to - answer.from) / Math.max(1, max.length);
      max.forEach((value, k) => {
        const time = answer.from + k * width;
        if (value !== null && time + width >= view.from && time <= view.to) high = Math.max(high, value);
      });
    }
    return [0, high * 1.08 || 1];
  }

  draw(ctx, width, { answer, view, range, notes }) {
    this.plot = plot(width, this.height, view, ...range);
    [this.answer, this.view] = [answer, view];
    drawAxes(ctx, this.plot, view, this.units, this.what);
    clipped(ctx, this.plot, () => {
      for (const line of this.shown()) drawSteps(ctx, this.plot, answer, answer[this.group][line.key], line);
      drawNotes(ctx, this.plot, notes);
    });
    const empty = this.lines.every(({ key }) => answer[this.group][key].last.every((value) => value === null));
    return empty ? "not in this record" : this.remark;
  }

  tip(x) {
    if (!this.answer) return null;
    const time = this.plot.time(x);
    const { from, to } = this.answer;
    const lines = [];
    for (const line of this.shown()) {
      const { min, max, last } = this.answer[this.group][line.key];
      const k = Math.floor((time - from) / (to - from) * last.length);
      if (last[k] === null || last[k] === undefined) continue;
      const value = min[k] === max[k] ? told(last[k], this.units) : `${told(min[k], this.units)} to ${told(max[k], this.units)}`;
      lines.push({ colour: palette()[line.colour], label: line.label, value });
    }
    return lines.length ? { title: instant(time, this.view.to - this.view.from), lines } : null;
  }
}

/** A step function from its least, greatest and last values: a stroke over each pixel's extent. */
function drawSteps(ctx, plot, answer, { min, max, last }, { colour, dash = [], fill, thick = 1.5 }) {
  const width = (answer.to - answer.from) / Math.max(1, last.length);
  ctx.strokeStyle = ctx.fillStyle = palette()[colour];
  ctx.lineWidth = thick;
  ctx.setLineDash(dash);
  ctx.beginPath();
  let before = null;
  const area = new Path2D();
  for (let k = 0; k < last.length; k++) {
    if (last[k] === null) { before = null; continue; }
    const [x0, x1] = [plot.x(answer.from + k * width), plot.x(answer.from + (k + 1) * width)];
    if (x1 < plot.left - 1 || x0 > plot.right + 1) { before = last[k]; continue; }
    if (before === null) ctx.moveTo(x0, plot.y(last[k])); else ctx.lineTo(x0, plot.y(before));
    if (min[k] < max[k]) { ctx.lineTo(x0, plot.y(min[k])); ctx.lineTo(x0, plot.y(max[k])); }
    ctx.lineTo(x0, plot.y(last[k]));
    ctx.lineTo(x1, plot.y(last[k]));
    if (fill) area.rect(x0, plot.y(max[k]), x1 - x0 + 0.4, plot.bottom - plot.y(max[k]));
    before = last[k];
  }
  if (fill) {
    ctx.globalAlpha = 0.22;
    ctx.fill(area);
    ctx.globalAlpha = 1;
  }
  ctx.stroke();
  ctx.setLineDash([]);
}

function legendLine(ctx, colours, { colour, dash = [] }) {
  ctx.strokeStyle = colours[colour];
  ctx.lineWidth = 2;
  ctx.setLineDash(dash);
  ctx.beginPath(); ctx.moveTo(0, 6); ctx.lineTo(18, 6); ctx.stroke();
}

/** The queues that filled on a flow's way, there and back. */
function queueLines({ run, flows, paths }, flow) {
  return flows[Math.min(flow, flows.length - 1)].queues.map(([link, way], key) => {
    const { name, ends } = run.links[link];
    const path = paths.length <= 8 ? paths.indexOf(link) : -1;
    return {
      key: String(key), label: way ? `${name} (to ${ends[0]})` : name, thick: 1.3,
      colour: path < 0 ? `path${(key + 5) % 8}` : `path${path}`, dash: way ? [5, 3] : [],
    };
  });
}

/** The panels of this kind, from the top down. */
export function linePanels(summary) {
  return [
    new Lines({
      name: "windows", title: "Sender's window", height: 170, units: BYTES, what: "bytes", group: "windows",
      lines: [
        { key: "in_flight", label: "in flight", colour: "soft", thick: 1 },
        { key: "ssthresh", label: "slow-start threshold", colour: "held", dash: [6, 4], bound: false },
        { key: "cwnd", label: "congestion window", colour: "accent", thick: 1.8 },
      ],
    }),
    new Lines({
      name: "rtt", title: "Round-trip time", remark: "smoothed, as the sender sees it", height: 110, units: SPANS,
      what: "time", group: "windows",
      lines: [{ key: "srtt", label: "smoothed round-trip time", colour: "accent" }],
    }),
    new Lines({
      name: "queues", title: "Queues", remark: "bytes that wait before the links of this flow, of all flows", height: 130,
      units: BYTES, what: "bytes", group: "queues", lines: [], linesOf: (flow) => queueLines(summary, flow),
    }),
    new Lines({
      name: "buffer", title: "Re-sequencing buffer", remark: "bytes at the receiver that wait for others before them",
      height: 120, units: BYTES, what: "bytes", group: "buffers",
      lines: [{ key: "waiting", label: "waiting", colour: "released", fill: true }],
    }),
    new Lines({
      name: "held", title: "ACKs held back", remark: "by proxies, until those before them have come", height: 110,
      units: COUNTS, what: "ACKs", group: "buffers",
      lines: [{ key: "held", label: "held", colour: "held", fill: true }],
    }),
  ];
}
