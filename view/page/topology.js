// The network: nodes from the senders on the left to the receivers on the right, links coloured by load.
import { RATES, SPANS, BYTES, COUNTS, instant, told } from "./units.js";
import { loadColour, palette } from "./palette.js";
import { bucketAt, rateOf } from "./rates.js";
import { drawLabel, placeLabels } from "./labels.js";

const NODE = { width: 92, height: 30 };
/** Pixels between links that join the same two nodes. */
const SPREAD = 32;
/** Pixels of the network at most; with more nodes beside each other they get lower. */
const HIGHEST = 900;
/** Of a node at least so much is drawn with its name, and with its kind. */
const WITH_NAME = 11;
const WITH_KIND = 28;
/** So many hosts of a medium without links are drawn one by one; more are one node here: the map has them all. */
const MOST_ON_AIR = 12;

export class Topology {
  constructor(run) {
    this.name = "topology";
    this.title = "Network";
    this.follows = true;
    this.run = run;
    this.hidden = new Set();
    this.onAir = new Set((run.run.radios ?? []).flatMap(({ hosts }) => hosts));
    this.drawn = joinCrowds(run.run);
    this.layers = layers(this.drawn);
    this.siblings = siblings(run.run.links);
    const most = Math.max(...this.layers.map((layer) => layer.length));
    const widest = Math.max(1, ...this.siblings.map(({ count }) => count));
    const row = Math.max(26, Math.min(84, 430 / most));
    this.height = Math.min(HIGHEST, Math.max(120, most * row + 30, widest * SPREAD + 60));
    this.node = { width: NODE.width, height: Math.min(NODE.height, (this.height - 20) / most - 4) };
    this.labels = { width: null, places: [] };
  }

  legend() {
    return [];
  }

  extent() {
    return [0, 1];
  }

  draw(ctx, width, { answer, view, cursor }) {
    [this.answer, this.view, this.cursor] = [answer, view, cursor];
    this.places = this.place(width);
    this.loads = this.run.run.links.map((_, link) => this.load(link));
    this.drawn.airways.forEach((ends) => this.drawAirway(ctx, ends));
    this.run.run.links.forEach((link, number) => this.drawLink(ctx, link, number));
    this.drawn.nodes.forEach((node) => this.drawNode(ctx, node));
    this.drawLabels(ctx, width);
    drawScale(ctx, width, this.height);
    const span = view.to - view.from;
    const when = cursor === null ? "load over the time in sight" : `load at ${instant(cursor, span)}`;
    const bare = this.labels.places.filter((place) => place === null).length;
    return bare ? `${when}; ${bare} links without room for a label: point at them` : when;
  }

  place(width) {
    const places = new Map();
    const [left, right] = [NODE.width / 2 + 6, width - NODE.width / 2 - 6];
    const columns = this.layers.length;
    this.layers.forEach((layer, column) => {
      const x = columns > 1 ? left + (right - left) * column / (columns - 1) : width / 2;
      layer.forEach((name, row) => {
        places.set(name, [x, (this.height - 20) * (row + 0.5) / layer.length + 2]);
      });
    });
    return places;
  }

  /** Rate of a link and what it can carry, at the cursor or over the time in sight. */
  load(link) {
    const { answer, view, cursor } = this;
    const buckets = [];
    if (cursor !== null) {
      const found = bucketAt(answer, cursor);
      if (found) buckets.push(found);
    } else {
      for (const piece of answer.rates) {
        piece.forward[link].forEach((_, k) => {
          const time = piece.start + k * piece.width;
          if (time + piece.width > view.from && time < view.to) buckets.push({ piece, k });
        });
      }
    }
    const sums = { forward: 0, reverse: 0, capacity: 0, reverse_capacity: 0 };
    let span = 0;
    for (const { piece, k } of buckets) {
      for (const way of ["forward", "reverse"]) sums[way] += rateOf(piece, link, k, way) * piece.width;
      // Infinite without a limit.
      for (const way of ["capacity", "reverse_capacity"]) sums[way] += (piece[way][link][k] ?? Infinity) * piece.width;
      span += piece.width;
    }
    const over = (sum) => (span ? sum / span : 0);
    const [rate, reverse] = [over(sums.forward), over(sums.reverse)];
    const [capacity, back] = [sums.capacity, sums.reverse_capacity].map((sum) => (span && sum < Infinity ? over(sum) : null));
    const load = Math.max(capacity ? rate / capacity : 0, back ? reverse / back : 0);
    return { rate, reverse, capacity, load, down: capacity === 0 };
  }

  drawLink(ctx, link, number) {
    const { load, down } = this.loads[number];
    ctx.strokeStyle = loadColour(load);
    ctx.lineWidth = 2.5 + 5 * Math.min(1, load);
    ctx.setLineDash(down ? [3, 5] : []);
    const [[x0, y0], [x1, y1]] = link.ends.map((end) => this.places.get(end));
    const [dx, dy, off] = [(x1 - x0) / 3, (y1 - y0) / 3, this.bend(number) * 4 / 3];
    ctx.beginPath();
    ctx.moveTo(x0, y0);
    ctx.bezierCurveTo(x0 + dx, y0 + dy + off, x1 - dx, y1 - dy + off, x1, y1);
    ctx.stroke();
    ctx.setLineDash([]);
  }

  /** From hosts that are one node here to a node with links. */
  drawAirway(ctx, ends) {
    const [[x0, y0], [x1, y1]] = ends.map((end) => this.places.get(end));
    ctx.strokeStyle = palette().soft;
    ctx.lineWidth = 1;
    ctx.setLineDash([2, 4]);
    ctx.beginPath();
    ctx.moveTo(x0, y0);
    ctx.lineTo(x1, y1);
    ctx.stroke();
    ctx.setLineDash([]);
  }

  /** Labels where they hide nothing, the busiest links' first; their places stay until the width changes. */
  drawLabels(ctx, width) {
    const { links } = this.run.run;
    if (this.labels.width !== width) {
      const lines = links.map(({ ends }, number) => ({ ends: ends.map((end) => this.places.get(end)), bend: this.bend(number) }));
      const boxes = [...this.places.values()].map(([x, y]) => ({ x, y, w: this.node.width, h: this.node.height }));
      // The scale of loads, too, wants its room.
      boxes.push({ x: width - 120, y: this.height - 10, w: 240, h: 22 });
      const order = links.map((_, number) => number).sort((a, b) => this.run.delivered[b] - this.run.delivered[a]);
      const places = placeLabels(ctx, links.map(({ name }) => name), lines, boxes, order, [width, this.height]);
      this.labels = { width, places };
    }
    this.labels.places.forEach((place, number) => {
      const { rate, reverse, down } = this.loads[number];
      if (place) drawLabel(ctx, place, links[number].name, down ? "down" : told(Math.max(rate, reverse), RATES));
    });
  }

  /** How far the middle of a link lies off the straight line: links that join the same two nodes spread out. */
  bend(number) {
    const { place, count } = this.siblings[number];
    return (place - (count - 1) / 2) * SPREAD;
  }

  drawNode(ctx, node) {
    const [x, y] = this.places.get(node.name);
    const colours = palette();
    ctx.fillStyle = colours.node;
    ctx.strokeStyle = colours.soft;
    ctx.lineWidth = 1.2;
    ctx.beginPath();
    const { width, height } = this.node;
    ctx.roundRect(x - width / 2, y - height / 2, width, height, node.kind === "host" ? 4 : height / 2);
    ctx.fill();
    ctx.stroke();
    if (height < WITH_NAME) return;
    const withKind = height >= WITH_KIND;
    ctx.fillStyle = colours.ink;
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    ctx.font = `600 ${height < 16 ? 10 : 12}px system-ui, sans-serif`;
    ctx.fillText(node.name, x, y - (withKind ? 5 : 0), width - 8);
    if (!withKind) return;
    ctx.fillStyle = colours.soft;
    ctx.font = "10px system-ui, sans-serif";
    ctx.fillText(this.onAir.has(node.name) ? `${node.kind}, on the air` : node.kind, x, y + 8, width - 8);
  }

  tip(x, y) {
    if (!this.places) return null;
    const { links } = this.run.run;
    let best = null;
    links.forEach((link, number) => {
      const distance = away([x, y - this.bend(number)], ...link.ends.map((end) => this.places.get(end)));
      if (distance < 14 && (!best || distance < best.distance)) best = { distance, number };
    });
    if (!best) return null;
    const link = links[best.number];
    const { rate, reverse, capacity } = this.loads[best.number];
    const dropped = this.answer.rates.reduce((sum, piece) => sum + piece.dropped[best.number], 0);
    return {
      title: link.name,
      lines: [
        { label: `${link.ends[0]} → ${link.ends[1]}`, value: told(rate, RATES) },
        { label: `${link.ends[1]} → ${link.ends[0]}`, value: told(reverse, RATES) },
        { label: "capacity", value: capacity === null ? "no limit" : `${told(capacity, RATES)}, ${(100 * (capacity && rate / capacity)).toFixed(1)} % used` },
        { label: "one-way delay", value: told(link.delay_ns, SPANS) },
        { label: "dropped in sight", value: `${told(dropped, COUNTS)} packets` },
        { label: "delivered in the run", value: told(this.run.delivered[best.number], BYTES) },
      ],
    };
  }
}

/** Of each link: how many join the same two nodes, and its place among them. */
function siblings(links) {
  const pair = ({ ends }) => [...ends].sort().join("\u0000");
  return links.map((link, number) => {
    const all = links.map((_, k) => k).filter((k) => pair(links[k]) === pair(link));
    return { place: all.indexOf(number), count: all.length };
  });
}

/** The network as it is drawn: of many hosts without links on one medium, one node of the medium's name. */
function joinCrowds({ nodes, links, flows, radios = [] }) {
  const wired = new Set(links.flatMap(({ ends }) => ends));
  const crowds = radios.map(({ name, hosts }) => ({ name, hosts: hosts.filter((host) => !wired.has(host)), all: hosts }))
    .filter(({ hosts }) => hosts.length > MOST_ON_AIR);
  const mediumOf = new Map(crowds.flatMap(({ name, hosts }) => hosts.map((host) => [host, name])));
  const drawn = (host) => mediumOf.get(host) ?? host;
  return {
    nodes: [
      ...crowds.map(({ name, hosts }) => ({ name, kind: `${hosts.length} hosts` })),
      ...nodes.filter(({ name }) => !mediumOf.has(name)),
    ],
    links,
    airways: crowds.flatMap(({ name, all }) => all.filter((host) => wired.has(host)).map((host) => [name, host])),
    flows: flows.map(({ from, to }) => ({ from: drawn(from), to: drawn(to) })),
  };
}

/** Names by distance from the senders; nodes that no flow reaches come last. */
function layers(run) {
  const distance = new Map();
  let front = run.flows.length ? [...new Set(run.flows.map((flow) => flow.from))] : [run.nodes[0]?.name];
  for (let hops = 0; front.length; hops++) {
    front.forEach((name) => distance.set(name, hops));
    const next = [...run.links.map(({ ends }) => ends), ...run.airways].flatMap(([a, b]) => [[a, b], [b, a]])
      .filter(([from, to]) => front.includes(from) && !distance.has(to)).map(([, to]) => to);
    front = [...new Set(next)];
  }
  const last = Math.max(0, ...distance.values());
  // Receivers stand at the right edge, also those with a short way.
  run.flows.forEach((flow) => { if (!run.flows.some(({ from }) => from === flow.to)) distance.set(flow.to, last); });
  const result = Array.from({ length: last + 1 }, () => []);
  run.nodes.forEach(({ name }) => result[distance.get(name) ?? last].push(name));
  return result.filter((layer) => layer.length);
}

function drawScale(ctx, width, height) {
  const [w, x, y] = [140, width - 190, height - 14];
  for (let k = 0; k < w; k++) {
    ctx.fillStyle = loadColour(k / w);
    ctx.fillRect(x + k, y, 1.5, 8);
  }
  ctx.fillStyle = palette().soft;
  ctx.font = "11px system-ui, sans-serif";
  ctx.textBaseline = "middle";
  ctx.textAlign = "right";
  ctx.fillText("load   0", x - 6, y + 4);
  ctx.textAlign = "left";
  ctx.fillText("100 %", x + w + 6, y + 4);
}

/** Distance of a point from the stretch between two others. */
function away([x, y], [x0, y0], [x1, y1]) {
  const [dx, dy] = [x1 - x0, y1 - y0];
  const along = Math.min(1, Math.max(0, ((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(x - x0 - along * dx, y - y0 - along * dy);
}
