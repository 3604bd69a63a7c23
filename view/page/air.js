// The air: hosts on their way, who reaches whom, and who sends to whom.
import { COUNTS, instant, told } from "./units.js";
import { palette, pathColour } from "./palette.js";
import { symbols } from "./panel.js";
import { drawNames } from "./labels.js";

const HOST = 6;
const EDGE = 26;
/** Nanoseconds of the way behind a host that are drawn. */
const TRAIL = 10e9;
/** Packets that fill the bar beside a host, and its pixels. */
const FULL_QUEUE = 50;
const BAR = 22;

export class AirMap {
  constructor(run) {
    this.name = "air";
    this.title = "On the air";
    this.height = 520;
    this.follows = true;
    this.run = run;
    this.hidden = new Set();
    this.tracks = Object.entries(run.tracks).map(([node, track]) => ({ node: Number(node), ...track }));
    this.states = new Map(Object.entries(run.states ?? {}).map(([node, states]) => [Number(node), states]));
    this.attachments = new Map(Object.entries(run.attachments ?? {}).map(([node, attachments]) => [Number(node), attachments]));
    this.reach = new Map();
    this.sides = new Map();
    (run.run.radios ?? []).forEach(({ hosts, channels = [], further = [], range_m: range, ranges_m: ranges = [] }) => {
      hosts.forEach((name, k) => {
        const others = further.filter(([host]) => host === k).map(([, channel]) => channel);
        this.reach.set(name, { range, ranges: new Map(ranges), first: channels[k] ?? 1, others });
      });
    });
    const all = (axis) => this.tracks.flatMap((track) => track[axis]);
    const wider = ([low, high], value) => [Math.min(low, value), Math.max(high, value)];
    const bounds = (values) => values.reduce(wider, [Infinity, -Infinity]);
    this.bounds = { x: bounds(all("x")), y: bounds(all("y")) };
  }

  legend() {
    return [
      { key: "reach", label: "in range", symbol: symbols.line("soft") },
      { key: "trails", label: "way of the last 10 s", symbol: symbols.line("edge") },
      { key: "data", label: "packets of flows", symbol: symbols.line(() => pathColour(0)) },
      { key: "messages", label: "messages of routing", symbol: symbols.line("soft", [2, 3]) },
      ...(this.attachments.size ? [{ key: "attachments", label: "belongs to, goes over", symbol: symbols.line("ink", [5, 3]) }] : []),
      { key: "states", label: "packets that wait; battery", symbol: symbols.line("accent") },
    ];
  }

  extent() {
    return null;
  }

  draw(ctx, width, { answer, view, cursor }) {
    if (!this.tracks.length) return "";
    [this.answer, this.view] = [answer, view];
    // Who points at a host on the map has no pointer in time: the latest instant stays.
    const stays = this.time >= view.from && this.time <= view.to;
    this.time = cursor ?? (stays ? this.time : (view.from + view.to) / 2);
    this.fit(width);
    this.places = new Map(this.tracks.map((track) => [track.node, placeAt(track, this.time)]));
    this.now = new Map([...this.attachments].map(([node, attachments]) => [node, attachmentAt(attachments, this.time)]));
    this.hops = hopsAt(answer, this.time);
    if (!this.hidden.has("reach")) this.drawReach(ctx);
    if (!this.hidden.has("attachments")) this.drawAttachments(ctx);
    if (!this.hidden.has("trails")) this.tracks.forEach((track) => this.drawTrail(ctx, track));
    this.hops.forEach((hop) => this.drawHop(ctx, hop));
    this.drawEnds(ctx, answer.flow);
    if (this.way) this.drawWay(ctx);
    this.tracks.forEach(({ node }) => this.drawHost(ctx, node));
    if (!this.hidden.has("states")) this.tracks.forEach(({ node }) => this.drawState(ctx, node));
    this.drawNames(ctx);
    this.drawScale(ctx, width);
    this.shown?.(this.time);
    const hint = this.offersToFollow && !this.way ? " · click on an arrow to follow its packet" : "";
    return `at ${instant(this.time, view.to - view.from)}${hint}`;
  }

  /** One scale for both directions. */
  fit(width) {
    this.width = width;
    const { x: [west, east], y: [south, north] } = this.bounds;
    const room = [width - 2 * EDGE, this.height - 2 * EDGE];
    this.scale = Math.min(room[0] / Math.max(1, east - west), room[1] / Math.max(1, north - south));
    const left = (width - (east - west) * this.scale) / 2;
    const bottom = (this.height + (north - south) * this.scale) / 2;
    this.pixel = ([x, y]) => [left + (x - west) * this.scale, bottom - (y - south) * this.scale];
  }

  reachOf(node) {
    return this.reach.get(this.run.run.nodes[node].name) ?? { range: 0, ranges: new Map(), first: 0, others: [] };
  }

  /** How far `node` reaches on a channel. */
  rangeOn(node, channel) {
    const { range, ranges } = this.reachOf(node);
    return ranges.get(channel) ?? range;
  }

  /** The channels of a host's radios; the first is that of its base station. */
  channels(node) {
    const { first, others } = this.reachOf(node);
    const { cell = null, channel = null } = this.now.get(node) ?? {};
    return [cell === null ? first : channel ?? this.reachOf(cell).first, ...others];
  }

  /** Who is within reach of `node`. */
  neighbours(node) {
    const [x, y] = this.places.get(node);
    const own = this.channels(node);
    const near = ([other, [u, v]]) => {
      const away = Math.hypot(u - x, v - y);
      return other !== node && this.channels(other).some((channel) => own.includes(channel) && away <= this.rangeOn(node, channel));
    };
    return [...this.places].filter(near).map(([other]) => other);
  }

  drawReach(ctx) {
    ctx.strokeStyle = palette().soft;
    ctx.globalAlpha = 0.3;
    ctx.lineWidth = 1;
    ctx.beginPath();
    for (const node of this.places.keys()) {
      for (const other of this.neighbours(node).filter((other) => other > node)) {
        ctx.moveTo(...this.pixel(this.places.get(node)));
        ctx.lineTo(...this.pixel(this.places.get(other)));
      }
    }
    ctx.stroke();
    ctx.globalAlpha = 1;
  }

  /** Which base station each station belongs to, and whom it goes over where it hears none. */
  drawAttachments(ctx) {
    ctx.strokeStyle = palette().ink;
    ctx.lineWidth = 1;
    ctx.setLineDash([5, 3]);
    ctx.beginPath();
    for (const [node, { cell, gateway }] of this.now) {
      const to = this.places.get(cell ?? gateway);
      if (!to || !this.places.has(node)) continue;
      ctx.moveTo(...this.pixel(this.places.get(node)));
      ctx.lineTo(...this.pixel(to));
    }
    ctx.stroke();
    ctx.setLineDash([]);
  }

  drawTrail(ctx, track) {
    const from = Math.max(0, this.time - TRAIL);
    const corners = track.t.map((t, k) => [t, [track.x[k], track.y[k]]]).filter(([t]) => t > from && t < this.time);
    const way = [placeAt(track, from), ...corners.map(([, place]) => place), this.places.get(track.node)];
    ctx.strokeStyle = palette().edge;
    ctx.lineWidth = 2;
    ctx.beginPath();
    way.forEach((place) => ctx.lineTo(...this.pixel(place)));
    ctx.stroke();
  }

  drawHop(ctx, { from, to, flow, n }) {
    if (this.hidden.has(flow === null ? "messages" : "data")) return;
    const start = this.pixel(this.places.get(from));
    ctx.strokeStyle = ctx.fillStyle = flow === null ? palette().soft : pathColour(flow);
    ctx.setLineDash(flow === null ? [2, 3] : []);
    ctx.lineWidth = flow === null ? 1.2 : 1.2 + Math.min(3, Math.log2(1 + n) / 3);
    ctx.beginPath();
    if (to === null) ctx.arc(...start, HOST + 5, 0, 2 * Math.PI);
    else arrow(ctx, start, this.pixel(this.places.get(to)));
    ctx.stroke();
    ctx.setLineDash([]);
  }

  /** The way of the packet that is followed: what has been, what is, and faintly what will be. */
  drawWay(ctx) {
    const { frames, steps } = this.way;
    const hops = new Map();
    for (const frame of frames.filter(({ asks, cause }) => !asks || cause)) {
      const key = `${frame.from} ${frame.to}`;
      if (!hops.has(key)) hops.set(key, []);
      hops.get(key).push(frame);
    }
    const { accent, lost, panel } = palette();
    const outside = this.time < steps[0].t || this.time > Math.max(...steps.map(({ t }) => t));
    for (const tries of hops.values()) {
      if (![tries[0].from, tries[0].to].every((node) => this.places.has(node))) continue;
      const [start, goal] = [tries[0].from, tries[0].to].map((node) => this.pixel(this.places.get(node)));
      const isNow = tries.some(({ t, end }) => t <= this.time && this.time <= end);
      const begun = outside || tries[0].t <= this.time;
      const made = tries.some(({ cause }) => !cause);
      ctx.strokeStyle = made ? accent : lost;
      ctx.globalAlpha = begun ? 1 : 0.35;
      ctx.setLineDash(made ? [] : [5, 4]);
      ctx.lineWidth = isNow ? 6 : 3.5;
      ctx.beginPath();
      arrow(ctx, start, goal);
      ctx.stroke();
      ctx.setLineDash([]);
      const missed = tries.filter(({ cause }) => cause).length;
      if (missed) this.drawMissed(ctx, start, goal, missed, { lost, panel });
      ctx.globalAlpha = 1;
    }
    const holder = outside ? null : steps.findLast(({ t, what }) => t <= this.time && what !== "dropped");
    if (!holder || !this.places.has(holder.at)) return;
    ctx.strokeStyle = accent;
    ctx.lineWidth = 2.5;
    ctx.beginPath();
    ctx.arc(...this.pixel(this.places.get(holder.at)), HOST + 7, 0, 2 * Math.PI);
    ctx.stroke();
  }

  /** A cross near the receiver, with the number of frames that were lost there. */
  drawMissed(ctx, [x0, y0], [x1, y1], count, { lost, panel }) {
    const part = 0.68;
    const [x, y] = [x0 + (x1 - x0) * part, y0 + (y1 - y0) * part];
    ctx.fillStyle = panel;
    ctx.beginPath();
    ctx.arc(x, y, 9, 0, 2 * Math.PI);
    ctx.fill();
    ctx.fillStyle = lost;
    ctx.font = "700 12px system-ui, sans-serif";
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    ctx.fillText(count > 1 ? `${count}×` : "×", x, y);
  }

  /** The arrow of a flow's packets under a point of the map. */
  hopAt(x, y) {
    const away = ({ from, to }) => {
      const [[x0, y0], [x1, y1]] = [from, to].map((node) => this.pixel(this.places.get(node)));
      const [dx, dy] = [x1 - x0, y1 - y0];
      const part = Math.min(1, Math.max(0, ((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy || 1)));
      // Arrows of both directions lie on two sides of the straight way.
      const length = Math.hypot(dx, dy) || 1;
      return Math.hypot(x0 + dx * part - (dy / length) * 3 - x, y0 + dy * part + (dx / length) * 3 - y);
    };
    const arrows = (this.hops ?? []).filter(({ flow, to }) => flow !== null && to !== null);
    const near = arrows.map((hop) => ({ hop, away: away(hop) })).filter((one) => one.away < 10);
    return near.sort((a, b) => a.away - b.away)[0]?.hop ?? null;
  }

  /** How far the ends of the flow reach. */
  drawEnds(ctx, flow) {
    const ends = this.run.run.flows[flow];
    this.ends = ends ? [ends.from, ends.to] : [];
    ctx.strokeStyle = palette().accent;
    ctx.globalAlpha = 0.35;
    ctx.lineWidth = 1;
    for (const [node, place] of this.places) {
      if (!this.ends.includes(this.run.run.nodes[node].name) || this.hidden.has("reach")) continue;
      for (const range of new Set(this.channels(node).map((channel) => this.rangeOn(node, channel)))) {
        ctx.beginPath();
        ctx.arc(...this.pixel(place), range * this.scale, 0, 2 * Math.PI);
        ctx.stroke();
      }
    }
    ctx.globalAlpha = 1;
  }

  drawHost(ctx, node) {
    const [x, y] = this.pixel(this.places.get(node));
    const { name } = this.run.run.nodes[node];
    const colours = palette();
    ctx.fillStyle = this.ends.includes(name) ? colours.accent : colours.node;
    ctx.strokeStyle = colours.ink;
    ctx.lineWidth = 1.2;
    ctx.beginPath();
    ctx.arc(x, y, HOST, 0, 2 * Math.PI);
    ctx.fill();
    ctx.stroke();
  }

  /** Names beside their hosts, and beside the arrows. */
  drawNames(ctx) {
    const at = (node) => this.pixel(this.places.get(node));
    const hosts = this.tracks.map(({ node }) => ({ key: node, name: this.run.run.nodes[node].name, at: at(node) }));
    const drawn = [...this.hops.filter(({ flow }) => flow !== null), ...(this.way?.frames ?? [])];
    const arrows = drawn.filter(({ from, to }) => this.places.has(from) && this.places.has(to)).map(({ from, to }) => [at(from), at(to)]);
    this.sides = drawNames(ctx, hosts, arrows, this.sides, [this.width, this.height], HOST + 4);
  }

  /** What waits at a host and what its battery holds, at the instant that is drawn. */
  stateOf(node) {
    const states = this.states.get(node);
    const k = states ? states.t.findLastIndex((t) => t <= this.time) : -1;
    if (k < 0) return null;
    const full = states.battery_uj.find((left) => left !== null);
    return { waiting: states.waiting[k], drawn: states.drawn_uj[k], left: states.battery_uj[k], full };
  }

  /** A bar as long as the queue, and a ring as full as the battery. */
  drawState(ctx, node) {
    const state = this.stateOf(node);
    if (!state) return;
    const [x, y] = this.pixel(this.places.get(node));
    ctx.strokeStyle = palette().accent;
    if (state.waiting > 0) {
      ctx.lineWidth = 4;
      ctx.beginPath();
      ctx.moveTo(x - HOST - 5, y + HOST);
      ctx.lineTo(x - HOST - 5, y + HOST - Math.max(2, BAR * Math.min(1, state.waiting / FULL_QUEUE)));
      ctx.stroke();
    }
    if (state.left !== null && state.full > 0) {
      ctx.lineWidth = 2;
      ctx.beginPath();
      ctx.arc(x, y, HOST + 3, -Math.PI / 2, -Math.PI / 2 + 2 * Math.PI * (state.left / state.full));
      ctx.stroke();
    }
  }

  /** A round number of metres. */
  drawScale(ctx, width) {
    const longest = 140 / this.scale;
    const metres = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000].findLast((m) => m <= longest) ?? 1;
    const [x, y] = [width - EDGE - metres * this.scale, this.height - 12];
    ctx.strokeStyle = ctx.fillStyle = palette().soft;
    ctx.lineWidth = 2;
    ctx.beginPath(); ctx.moveTo(x, y); ctx.lineTo(x + metres * this.scale, y); ctx.stroke();
    ctx.font = "11px system-ui, sans-serif";
    ctx.textAlign = "right";
    ctx.textBaseline = "middle";
    ctx.fillText(`${metres} m`, x - 6, y);
  }

  tip(x, y) {
    if (!this.places) return null;
    const away = ([, place]) => { const [u, v] = this.pixel(place); return Math.hypot(u - x, v - y); };
    const [found] = [...this.places].filter((host) => away(host) < 16).sort((a, b) => away(a) - away(b));
    if (!found) return null;
    const [node, [east, north]] = found;
    const { nodes, flows } = this.run.run;
    const sent = this.hops.filter((hop) => hop.from === node).map(({ to, flow, n }) => ({
      label: `${flow === null ? "routing" : flows[flow].name} → ${to === null ? "all" : nodes[to].name}`,
      value: `${told(n, COUNTS)} frames`,
    }));
    const state = this.stateOf(node);
    const joules = (uj) => `${(uj / 1e6).toFixed(3)} J`;
    const inside = state ? [{ label: "packets that wait", value: String(state.waiting) }] : [];
    const attachment = this.now.get(node);
    if (attachment) {
      const { cell, gateway } = attachment;
      const to = cell ?? gateway;
      inside.unshift({ label: cell === null && gateway !== null ? "goes over" : "belongs to", value: to === null ? "nobody" : nodes[to].name });
    }
    if (state && state.drawn !== null) inside.push({ label: "energy drawn", value: joules(state.drawn) });
    if (state && state.left !== null) inside.push({ label: "battery holds", value: joules(state.left) });
    return {
      title: nodes[node].name,
      lines: [
        { label: "place", value: `${east.toFixed(0)} m east, ${north.toFixed(0)} m north` },
        { label: "hosts in range", value: String(this.neighbours(node).length) },
        ...inside,
        ...sent.slice(0, 8),
      ],
    };
  }
}

/** Whom a station belongs to at `time`, and whom it goes over. */
function attachmentAt({ t, cell, channel = [], gateway }, time) {
  const k = t.findLastIndex((since) => since <= time);
  return k < 0 ? { cell: null, channel: null, gateway: null } : { cell: cell[k], channel: channel[k] ?? null, gateway: gateway[k] };
}

/** Where a host is at `time`: straight on between two places that are told. */
function placeAt({ t, x, y }, time) {
  let [low, high] = [0, t.length - 1];
  if (time <= t[0]) return [x[0], y[0]];
  if (time >= t[high]) return [x[high], y[high]];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (t[middle] <= time) low = middle; else high = middle;
  }
  const part = (time - t[low]) / (t[high] - t[low]);
  return [x[low] + (x[high] - x[low]) * part, y[low] + (y[high] - y[low]) * part];
}

/** Frames by sender, receiver and flow in the piece of the answer around `time`. */
function hopsAt(answer, time) {
  const sums = new Map();
  for (const { from, to, hops } of answer.air) {
    const width = (to - from) / hops.count;
    const wanted = Math.floor((time - from) / width);
    hops.k.forEach((k, at) => {
      if (k !== wanted || time >= to) return;
      const hop = { from: hops.from[at], to: hops.to[at], flow: hops.flow[at], n: 0 };
      const key = `${hop.from} ${hop.to} ${hop.flow}`;
      if (!sums.has(key)) sums.set(key, hop);
      sums.get(key).n += hops.n[at];
    });
  }
  return [...sums.values()];
}

/** A line from host to host with its head at the receiver, a little beside the straight way: both directions show. */
function arrow(ctx, [x0, y0], [x1, y1]) {
  const length = Math.hypot(x1 - x0, y1 - y0) || 1;
  const [dx, dy] = [(x1 - x0) / length, (y1 - y0) / length];
  const [offX, offY] = [-dy * 3, dx * 3];
  const [endX, endY] = [x1 - dx * (HOST + 3) + offX, y1 - dy * (HOST + 3) + offY];
  ctx.moveTo(x0 + offX, y0 + offY);
  ctx.lineTo(endX, endY);
  for (const side of [-1, 1]) {
    ctx.moveTo(endX, endY);
    ctx.lineTo(endX - dx * 8 - side * dy * 5, endY - dy * 8 + side * dx * 5);
  }
}
