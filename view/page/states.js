// What waits at hosts on the air and what energy they have, over time: a line for each of those that stand out.
import { ONES, instant, told } from "./units.js";
import { pathColour } from "./palette.js";
import { clipped, drawAxes, drawNotes, plot } from "./axes.js";
import { symbols } from "./panel.js";

/** Lines that can be told apart. */
const MOST_HOSTS = 6;
const JOULES = [[1e-3, "mJ"], [1, "J"], [1e3, "kJ"]];

export class AirStates {
  /**
   * `of(states)` is the column that is shown, `scale` turns its numbers into units, steps or straight lines join them;
   * hosts stand out by the `rank` of their values, in words `which`.
   */
  constructor(run, { name, title, of, scale, units, what, steps, rank, which }) {
    Object.assign(this, { name, title, scale, units, what, steps, height: 130, hidden: new Set() });
    const host = ([node, states]) => ({ node: Number(node), ...toldOnly(states.t, of(states)) });
    const all = Object.entries(run.states ?? {}).map(host).filter(({ values }) => values.length);
    const ranks = new Map(all.map((one) => [one, rank(one.values)]));
    this.hosts = all.sort((a, b) => ranks.get(b) - ranks.get(a)).slice(0, MOST_HOSTS);
    // Colours in the order of the scenario: in two runs a host has one colour where the same hosts stand out.
    [...this.hosts].sort((a, b) => a.node - b.node).forEach((one, colour) => { one.colour = colour; });
    this.note = all.length > MOST_HOSTS ? `${which} of ${all.length} hosts` : "";
    this.hosts.forEach((one) => { one.label = run.run.nodes[one.node].name; });
  }

  legend() {
    return this.hosts.map(({ label, colour }, line) => ({ key: `host${line}`, label, symbol: symbols.line(() => pathColour(colour)) }));
  }

  shown() {
    return this.hosts.map((host, line) => ({ ...host, line })).filter(({ line }) => !this.hidden.has(`host${line}`));
  }

  /** The value at `time`, in units. */
  at({ t, values }, time) {
    const k = t.findLastIndex((since) => since <= time);
    return k < 0 ? null : values[k] * this.scale;
  }

  extent(_answer, _options, view) {
    const seen = this.shown().flatMap((host) => {
      const inside = host.values.filter((_, k) => host.t[k] >= view.from && host.t[k] <= view.to);
      return [this.at(host, view.from) ?? 0, ...inside.map((value) => value * this.scale)];
    });
    return [0, seen.reduce((high, value) => Math.max(high, value), 0) * 1.08 || 1];
  }

  draw(ctx, width, { view, range, notes }) {
    this.plot = plot(width, this.height, view, ...range);
    this.view = view;
    drawAxes(ctx, this.plot, view, this.units, this.what);
    clipped(ctx, this.plot, () => {
      this.shown().forEach((host) => this.drawLine(ctx, host));
      drawNotes(ctx, this.plot, notes);
    });
    return this.note;
  }

  drawLine(ctx, { t, values, colour }) {
    const first = Math.max(0, t.findLastIndex((since) => since <= this.view.from));
    ctx.strokeStyle = pathColour(colour);
    ctx.lineWidth = 1.5;
    ctx.beginPath();
    let y = null;
    for (let k = first; k < t.length && (k === first || t[k - 1] <= this.view.to); k++) {
      const [x, before] = [this.plot.x(t[k]), y];
      y = this.plot.y(values[k] * this.scale);
      if (before === null) ctx.moveTo(x, y);
      else if (this.steps) ctx.lineTo(x, before);
      ctx.lineTo(x, y);
    }
    // What holds until something else is told.
    if (y !== null && this.steps) ctx.lineTo(this.plot.right, y);
    ctx.stroke();
  }

  tip(x) {
    if (!this.plot) return null;
    const time = this.plot.time(x);
    const values = this.shown().map((host) => ({ ...host, value: this.at(host, time) }));
    values.sort((a, b) => b.value - a.value);
    const lines = values.map(({ label, colour, value }) => ({ colour: pathColour(colour), label, value: told(value, this.units) }));
    return { title: instant(time, this.view.to - this.view.from), lines };
  }
}

/** The values that differ from those before them. */
function toldOnly(times, column) {
  const differs = (_, k) => column[k] !== null && (k === 0 || column[k] !== column[k - 1]);
  return { t: times.filter(differs), values: column.filter(differs) };
}

/** The panels of hosts' queues and energy. */
export function statePanels(run) {
  const hasBatteries = Object.values(run.states ?? {}).some(({ battery_uj: left }) => left.some((value) => value !== null));
  const energy = hasBatteries
    ? { title: "Batteries hold", of: (states) => states.battery_uj, rank: (values) => -values.at(-1), which: "the six emptiest" }
    : { title: "Energy drawn by hosts", of: (states) => states.drawn_uj, rank: (values) => values.at(-1), which: "the six that draw most" };
  const longest = (values) => values.reduce((high, value) => Math.max(high, value), 0);
  return [
    new AirStates(run, {
      name: "waiting", title: "Packets that wait at hosts", of: ({ waiting }) => waiting, scale: 1, units: ONES, what: "packets", steps: true,
      rank: longest, which: "the six longest queues",
    }),
    new AirStates(run, { name: "energy", ...energy, scale: 1e-6, units: JOULES, what: "energy", steps: false }),
  ];
}
