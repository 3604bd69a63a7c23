// The network: nodes from the senders on the left to the receivers on the right, links coloured by load.
import { RATES, SPANS, BYTES, COUNTS, instant, told } from "./units.js";
import { loadColour, palette } from "./palette.js";
import { bucketAt, rateOf } from "./rates.js";

const NODE = { width: 92, height: 30 };
/** Pixels between links that join the same two nodes. */
const SPREAD = 32;
/** Room that a label wants between two nodes to stand on one line. */
const LABEL_ROOM = 150;

export class Topology {
  constructor(run) {
    this.name = "topology";
    this.title = "Network";
    this.follows = true;
    this.run = run;
    this.hidden = new Set();
    this.layers = layers(run.run);
    this.siblings = siblings(run.run.links);
    const most = Math.max(...this.layers.map((layer) => layer.length));
    const widest = Math.max(1, ...this.siblings.map(({ count }) => count));
    this.height = Math.min(460, Math.max(120, most * 84 + 30, widest * SPREAD + 60));
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
    this.run.run.links.forEach((link, number) => this.drawLink(ctx, link, number));
    this.run.run.nodes.forEach((node) => this.drawNode(ctx, node));
    drawScale(ctx, width, this.height);
    const span = view.to - view.from;
    return cursor === null ? "load over the time in sight" : `load at ${instant(cursor, span)}`;
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
    let [forward, reverse, possible, span, limited] = [0, 0, 0, 0, true];
    for (const { piece, k } of buckets) {
      forward += rateOf(piece, link, k) * piece.width;
      reverse += rateOf(piece, link, k, "reverse") * piece.width;
      const capacity = piece.capacity[link][k] ?? null;
      if (capacity === null) limited = false; else possible += capacity * piece.width;
      span += piece.width;
    }
    const rate = span ? forward / span : 0;
    const capacity = limited && span ? possible / span : null;
    return { rate, reverse: span ? reverse / span : 0, capacity, load: capacity ? rate / capacity : 0, down: capacity === 0 };
  }

  drawLink(ctx, link, number) {
    const [[x0, y0], [x1, y1]] = link.ends.map((end) => this.places.get(end));
    const bend = this.bend(number);
    const { rate, load, down } = this.loads[number];
    ctx.strokeStyle = loadColour(load);
    ctx.lineWidth = 2.5 + 5 * Math.min(1, load);
    ctx.setLineDash(down ? [3, 5] : []);
    ctx.beginPath();
    ctx.moveTo(x0, y0);
    const [dx, dy, off] = [(x1 - x0) / 3, (y1 - y0) / 3, bend * 4 / 3];
    ctx.bezierCurveTo(x0 + dx, y0 + dy + off, x1 - dx, y1 - dy + off, x1, y1);
    ctx.stroke();
    ctx.setLineDash([]);
    const part = this.labelPlace(link);
    const wide = Math.abs(x1 - x0) - NODE.width > LABEL_ROOM;
    const place = [x0 + (x1 - x0) * part, y0 + (y1 - y0) * part + bend];
    label(ctx, link.name, down ? "down" : told(rate, RATES), ...place, wide, Math.abs((y1 - y0) / (x1 - x0 || 1)));
  }

  /** How far the middle of a link lies off the straight line: links that join the same two nodes spread out. */
  bend(number) {
    const { place, count } = this.siblings[number];
    return (place - (count - 1) / 2) * SPREAD;
  }

  /** Where on a link its label stands: nearer to the end where fewer links meet. */
  labelPlace({ ends }) {
    const [a, b] = ends.map((end) => this.run.run.links.filter((link) => link.ends.includes(end)).length);
    const several = this.siblings[this.run.run.links.findIndex((link) => link.ends === ends)].count > 1;
    return several ? 0.5 : 0.5 + Math.sign(a - b) * 0.1;
  }

  drawNode(ctx, node) {
    const [x, y] = this.places.get(node.name);
    const colours = palette();
    ctx.fillStyle = colours.node;
    ctx.strokeStyle = colours.soft;
    ctx.lineWidth = 1.2;
    ctx.beginPath();
    ctx.roundRect(x - NODE.width / 2, y - NODE.height / 2, NODE.width, NODE.height, node.kind === "host" ? 4 : 15);
    ctx.fill();
    ctx.stroke();
    ctx.fillStyle = colours.ink;
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    ctx.font = "600 12px system-ui, sans-serif";
    ctx.fillText(node.name, x, y - 5, NODE.width - 8);
    ctx.fillStyle = colours.soft;
    ctx.font = "10px system-ui, sans-serif";
    ctx.fillText(node.kind, x, y + 8, NODE.width - 8);
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
    const { rate, reverse, capacity, load } = this.loads[best.number];
    const dropped = this.answer.rates.reduce((sum, piece) => sum + piece.dropped[best.number], 0);
    return {
      title: link.name,
      lines: [
        { label: `${link.ends[0]} → ${link.ends[1]}`, value: told(rate, RATES) },
        { label: `${link.ends[1]} → ${link.ends[0]}`, value: told(reverse, RATES) },
        { label: "capacity", value: capacity === null ? "no limit" : `${told(capacity, RATES)}, ${(100 * load).toFixed(1)} % used` },
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

/** Names by distance from the senders; nodes that no flow reaches come last. */
function layers(run) {
  const distance = new Map();
  let front = run.flows.length ? [...new Set(run.flows.map((flow) => flow.from))] : [run.nodes[0]?.name];
  for (let hops = 0; front.length; hops++) {
    front.forEach((name) => distance.set(name, hops));
    const next = run.links.flatMap(({ ends: [a, b] }) => [[a, b], [b, a]])
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

/** Name and state over the line, beside each other (higher over a line that slopes) or, where it is narrow, one above the other. */
function label(ctx, name, state, x, y, wide, slope) {
  const colours = palette();
  const parts = [[name, "600 11px system-ui, sans-serif", colours.ink], [state, "11px system-ui, sans-serif", colours.soft]];
  const widths = parts.map(([text, font]) => { ctx.font = font; return ctx.measureText(text).width; });
  const total = wide ? widths[0] + widths[1] + 6 : 0;
  ctx.textAlign = "left";
  ctx.textBaseline = "alphabetic";
  ctx.lineWidth = 4;
  ctx.strokeStyle = colours.panel;
  parts.forEach(([text, font, colour], k) => {
    const left = wide ? x - total / 2 + k * (widths[0] + 6) : x - widths[k] / 2;
    const base = wide ? y - 11 - Math.min(slope, 1) * total / 2 : y - 25 + 12 * k;
    ctx.font = font;
    ctx.strokeText(text, left, base);
    ctx.fillStyle = colour;
    ctx.fillText(text, left, base);
  });
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
