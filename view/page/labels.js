// Names of links beside their lines, where they cover neither nodes nor each other, and no other line if it can be helped;
// and names of hosts on a map, where they cover as little as can be.
import { palette } from "./palette.js";

const FONTS = ["600 11px system-ui, sans-serif", "11px system-ui, sans-serif"];
/** Parts of a line at which its label may stand, the best ones first. */
const PARTS = [0.5, 0.42, 0.58, 0.34, 0.66, 0.27, 0.73, 0.2, 0.8];
/** The widest of what may stand beside a name. */
const WIDEST = "888 Mbit/s";
/** Of more lines than this nobody looks for crossings: labels have a ground of their own. */
const MOST_LINES = 60;

/** The centre of each label, on one line or two; null where there is no room. */
export function placeLabels(ctx, names, lines, boxes, order, [width, height]) {
  const taken = [...boxes];
  const places = names.map(() => null);
  const points = lines.length > MOST_LINES ? [] : lines.map((line) => along(line));
  for (const number of order) {
    const found = best(candidates(ctx, names[number], lines[number]), taken, points, number, [width, height]);
    if (!found) continue;
    taken.push(found);
    places[number] = found;
  }
  return places;
}

/** The first candidate in free space; else the first that covers but lines. */
function best(choices, taken, points, own, [width, height]) {
  const inside = ({ x, y, w, h }) => x - w / 2 >= 0 && x + w / 2 <= width && y - h / 2 >= 0 && y + h / 2 <= height;
  const free = choices.filter((box) => inside(box) && !taken.some((other) => overlap(box, other)));
  const crossed = (box) => points.some((line, k) => k !== own && line.some(([x, y]) => overlap(box, { x, y, w: 2, h: 2 })));
  return free.find((box) => !crossed(box)) ?? free[0] ?? null;
}

function candidates(ctx, name, { ends: [[x0, y0], [x1, y1]], bend }) {
  const [left, right] = [name, WIDEST].map((text, k) => { ctx.font = FONTS[k]; return ctx.measureText(text).width; });
  const slope = Math.min(2, Math.abs((y1 - y0) / (x1 - x0 || 1)));
  const shapes = [{ w: left + right + 6, h: 14, wide: true }, { w: Math.max(left, right), h: 27, wide: false }];
  return shapes.flatMap((shape) => PARTS.flatMap((part) => [-1, 1].map((side) => {
    // Clear of its own line, also where that rises.
    const off = shape.h / 2 + 5 + slope * shape.w / 2;
    return { ...shape, x: x0 + (x1 - x0) * part, y: y0 + (y1 - y0) * part + bend + side * Math.min(off, 34) };
  })));
}

/** Points along a line that are near enough for its crossings with labels. */
function along({ ends: [[x0, y0], [x1, y1]], bend }) {
  const count = Math.max(2, Math.ceil(Math.hypot(x1 - x0, y1 - y0) / 9));
  return Array.from({ length: count + 1 }, (_, k) => {
    const part = k / count;
    return [x0 + (x1 - x0) * part, y0 + (y1 - y0) * part + bend * 4 * part * (1 - part)];
  });
}

function overlap(a, b) {
  return Math.abs(a.x - b.x) * 2 < a.w + b.w && Math.abs(a.y - b.y) * 2 < a.h + b.h;
}

/** Name and state at a place, beside each other or one above the other, on the panel's ground. */
export function drawLabel(ctx, { x, y, wide }, name, state) {
  const colours = palette();
  const parts = [[name, colours.ink], [state, colours.soft]];
  const widths = parts.map(([text], k) => { ctx.font = FONTS[k]; return ctx.measureText(text).width; });
  const total = widths[0] + widths[1] + 6;
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  ctx.lineWidth = 4;
  ctx.strokeStyle = colours.panel;
  parts.forEach(([text, colour], k) => {
    const left = wide ? x - total / 2 + k * (widths[0] + 6) : x - widths[k] / 2;
    const base = wide ? y : y - 6 + 12 * k;
    ctx.font = FONTS[k];
    ctx.strokeText(text, left, base);
    ctx.fillStyle = colour;
    ctx.fillText(text, left, base);
  });
}

/** Where a name may stand beside its host, the best places first: parts of a name's width and steps up or down. */
const SIDES = [[1, -1], [1, 1], [-1, -1], [-1, 1], [1, 0], [-1, 0], [0, -1.4], [0, 1.4]];
/** Of more hosts than this nobody reads the names. */
const MOST_NAMES = 150;
/** What it costs a name to cover another or leave the map, a host, an arrow. */
const COSTS = { name: 8, outside: 8, host: 4, arrow: 1 };

/**
 * Names of hosts on a map, around circles of radius `clear`, and not on arrows if it can be helped. `sides` are those of
 * the picture before, which names keep as long as no other is better; answers the new ones.
 */
export function drawNames(ctx, hosts, arrows, sides, [width, height], clear) {
  const colours = palette();
  ctx.font = FONTS[0];
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.lineWidth = 3;
  ctx.lineJoin = "round";
  ctx.strokeStyle = colours.panel;
  ctx.fillStyle = colours.ink;
  const circles = hosts.map(({ at: [x, y] }) => ({ x, y, w: 2 * clear - 2, h: 2 * clear - 2 }));
  const points = arrows.flatMap((ends) => along({ ends, bend: 0 })).map(([x, y]) => ({ x, y, w: 6, h: 6 }));
  const [names, chosen] = [[], new Map()];
  hosts.forEach(({ key, name, at: [x, y] }, own) => {
    const w = ctx.measureText(name).width;
    const box = (side) => ({ x: x + side[0] * (clear + w / 2), y: y + side[1] * (clear + 1), w: w + 2, h: 12 });
    const cost = (place) => {
      const outside = Math.abs(place.x - width / 2) > (width - w) / 2 || Math.abs(place.y - height / 2) > height / 2 - 6;
      const covered = (boxes) => boxes.filter((other, k) => !(boxes === circles && k === own) && overlap(place, other)).length;
      return COSTS.outside * outside + COSTS.name * covered(names) + COSTS.host * covered(circles) + COSTS.arrow * covered(points);
    };
    const choices = hosts.length > MOST_NAMES ? [SIDES[0]] : [...new Set([sides.get(key) ?? SIDES[0], ...SIDES])];
    const costs = choices.map((side) => (choices.length > 1 ? cost(box(side)) : 0));
    const side = choices[costs.indexOf(Math.min(...costs))];
    const place = box(side);
    names.push(place);
    chosen.set(key, side);
    ctx.strokeText(name, place.x, place.y);
    ctx.fillText(name, place.x, place.y);
  });
  return chosen;
}
