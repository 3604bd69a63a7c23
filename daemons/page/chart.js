// Figures over time, as SVG: what all links carry, stacked, and small lines for the cards.
import { clock, rateParts } from "./words.js";

/** An element of SVG, appended to `parent`. */
function part(parent, name, attributes, text) {
  const element = document.createElementNS(document.getElementById("chart").namespaceURI, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
}

/** Samples in runs without a gap: a daemon that slept has carried nothing that is known. */
function runsOf(samples, intervalMs) {
  const runs = [];
  for (const sample of samples) {
    const run = runs.at(-1);
    if (run && sample.ms - run.at(-1).ms <= 2.5 * intervalMs) run.push(sample);
    else runs.push([sample]);
  }
  return runs;
}

/** The next number of the form 1, 2 or 5 times a power of ten. */
function nice(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].find((step) => step * power >= value * 0.999999) * power;
}

/** Draws what links carry: towards the receivers above the line, from them below. Returns where a time lies. */
export function drawStack(svg, source, paths, cursorMs) {
  const { width, height } = svg.getBoundingClientRect();
  svg.replaceChildren();
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const { samples, nowMs, spanMs } = source;
  const [left, right, top, bottom] = [64, 4, 6, 20];
  const x = (ms) => width - right - (nowMs - ms) / spanMs * (width - left - right);
  const sum = (sample, of) => [...sample.links.values()].reduce((total, link) => total + link[of], 0);
  const most = (of) => samples.reduce((most, sample) => Math.max(most, sum(sample, of)), 0);
  const [above, below] = [Math.max(most("forward"), 1e4), most("back")];
  const scale = (height - top - bottom) / (above + below);
  const y = (bps) => top + (above - bps) * scale;
  const step = nice((above + below) / 5);
  for (let level = -Math.floor(below / step); level * step <= above; level += 1) {
    const at = y(level * step);
    part(svg, "line", { x1: left, x2: width - right, y1: at, y2: at, class: level === 0 ? "zero" : "grid" });
    const [value, unit] = rateParts(Math.abs(level * step));
    const label = level === 0 ? "0" : `${Number(value)} ${unit}`;
    part(svg, "text", { x: left - 6, y: at + 4, "text-anchor": "end" }, label);
  }
  drawTimes(svg, source, x, { left, width, height });
  for (const run of runsOf(samples, source.interval * 1000)) {
    const base = { forward: run.map(() => 0), back: run.map(() => 0) };
    for (const [key, path] of paths) {
      for (const [of, sign] of [["forward", 1], ["back", -1]]) {
        const low = base[of];
        const high = run.map((sample, k) => low[k] + (sample.links.get(key)?.[of] ?? 0));
        base[of] = high;
        const points = high.map((bps, k) => point(x(run[k].ms), y(sign * bps)));
        points.push(...low.map((bps, k) => point(x(run[k].ms), y(sign * bps))).reverse());
        part(svg, "path", { d: `M${points.join("L")}Z`, class: `area path${path} ${sign < 0 ? "up" : ""}` });
      }
    }
  }
  if (cursorMs !== null) part(svg, "line", { x1: x(cursorMs), x2: x(cursorMs), y1: top, y2: height - bottom, class: "cursor" });
  return { timeAt: (offset) => nowMs - (width - right - offset) / (width - left - right) * spanMs };
}

/** Times of day below the picture. */
function drawTimes(svg, { start, nowMs, spanMs }, x, { left, width, height }) {
  const minutes = [0.25, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 240, 360, 720];
  const room = Math.max(2, Math.floor((width - left) / 90));
  const step = 60000 * (minutes.find((minute) => spanMs / (minute * 60000) <= room) ?? 1440);
  // Whole hours are those of the reader's clock.
  const zone = new Date().getTimezoneOffset() * 60000;
  const first = Math.ceil((start + nowMs - spanMs - zone) / step) * step + zone;
  for (let at = first; at <= start + nowMs; at += step) {
    const place = x(at - start);
    if (place < left + 16 || place > width - 18) continue;
    part(svg, "text", { x: place, y: height - 4, "text-anchor": "middle" }, clock(at, step < 60000));
  }
}

/** Draws one or two lines of a link, both from zero up; `words` says how high the picture reaches. */
export function drawLines(svg, source, key, lines, least, words) {
  const { width, height } = svg.getBoundingClientRect();
  svg.replaceChildren();
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const { samples, nowMs, spanMs } = source;
  const x = (ms) => width - (nowMs - ms) / spanMs * width;
  const values = lines.flatMap(({ of }) => samples.map((sample) => sample.links.get(key)?.[of] ?? 0));
  const most = values.reduce((most, value) => Math.max(most, value), least);
  // Words above, lines below.
  const y = (value) => height - 1.5 - value / most * (height - 18);
  part(svg, "line", { x1: 0, x2: width, y1: height - 1, y2: height - 1, class: "grid" });
  for (const run of runsOf(samples, source.interval * 1000)) {
    for (const { of, kind } of lines) {
      const known = run.filter((sample) => (sample.links.get(key)?.[of] ?? null) !== null);
      const points = known.map((sample) => point(x(sample.ms), y(sample.links.get(key)[of])));
      if (points.length > 1) part(svg, "path", { d: `M${points.join("L")}`, class: `line ${kind}` });
    }
  }
  part(svg, "text", { x: 0, y: 10 }, words(most));
}

function point(x, y) {
  return `${x.toFixed(1)} ${y.toFixed(1)}`;
}
