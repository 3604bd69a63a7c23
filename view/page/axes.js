// Scales and axes of a panel.
import { named, ticks, told, SPANS } from "./units.js";
import { palette } from "./palette.js";

const MARGIN = { left: 64, right: 22, top: 8, bottom: 22 };
const FONT = "11px system-ui, sans-serif";

/** Where a panel of `width` by `height` draws, and how times and values become pixels. */
export function plot(width, height, view, low, high) {
  const area = {
    left: MARGIN.left, top: MARGIN.top,
    width: Math.max(1, width - MARGIN.left - MARGIN.right), height: Math.max(1, height - MARGIN.top - MARGIN.bottom),
  };
  const perTime = area.width / (view.to - view.from);
  const perValue = area.height / (high - low || 1);
  return {
    ...area, low, high,
    right: area.left + area.width, bottom: area.top + area.height,
    x: (time) => area.left + (time - view.from) * perTime,
    y: (value) => area.top + area.height - (value - low) * perValue,
    time: (x) => view.from + (x - area.left) / perTime,
    value: (y) => low + (area.top + area.height - y) / perValue,
  };
}

/** Width that the data of a panel of `width` pixels gets. */
export function plotWidth(width) {
  return Math.max(1, Math.round(width - MARGIN.left - MARGIN.right));
}

/** Grid, numbers and units of both axes. */
export function drawAxes(ctx, plot, view, units, what) {
  const colours = palette();
  ctx.font = FONT;
  ctx.lineWidth = 1;
  ctx.strokeStyle = colours.grid;
  ctx.fillStyle = colours.soft;
  const values = ticks(plot.low, plot.high, Math.max(3, Math.floor(plot.height / 34)));
  const { unit, labels } = named(values, units, plot.high);
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  values.forEach((value, k) => {
    const y = Math.round(plot.y(value)) + 0.5;
    line(ctx, plot.left, y, plot.right, y);
    ctx.fillText(labels[k], plot.left - 6, y);
  });
  drawTimes(ctx, plot, view);
  ctx.save();
  ctx.translate(12, plot.top + plot.height / 2);
  ctx.rotate(-Math.PI / 2);
  ctx.textAlign = "center";
  ctx.fillText(unit ? `${what} (${unit})` : what, 0, 0);
  ctx.restore();
}

function drawTimes(ctx, plot, view) {
  const times = ticks(view.from, view.to, Math.max(2, Math.floor(plot.width / 90)));
  const { unit, labels } = named(times.map((time) => time / 1e9), [[1, "s"]]);
  ctx.textAlign = "center";
  ctx.textBaseline = "top";
  times.forEach((time, k) => {
    const x = Math.round(plot.x(time)) + 0.5;
    line(ctx, x, plot.top, x, plot.bottom);
    ctx.fillText(`${labels[k]} ${unit}`, x, plot.bottom + 5);
  });
}

/** A line from point to point. */
export function line(ctx, x0, y0, x1, y1) {
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  ctx.stroke();
}

/** Keeps what `draw` does within the plot. */
export function clipped(ctx, plot, draw) {
  ctx.save();
  ctx.beginPath();
  ctx.rect(plot.left, plot.top, plot.width, plot.height);
  ctx.clip();
  draw();
  ctx.restore();
}

/** "averaged over 20 ms". */
export function averaged(width) {
  return `averaged over ${told(width, SPANS)}`;
}

/** More notes than this in sight would hide what they are about: they become ticks at the upper edge. */
const MANY_NOTES = 8;

/** Dotted lines where something rare happened: a link went down, a member joined. */
export function drawNotes(ctx, plot, notes) {
  const seen = notes.filter(({ time_ns: time }) => time > 0 && plot.x(time) > plot.left && plot.x(time) < plot.right);
  const bottom = seen.length > MANY_NOTES ? plot.top + 7 : plot.bottom;
  ctx.strokeStyle = palette().soft;
  ctx.lineWidth = 1;
  if (seen.length <= MANY_NOTES) ctx.setLineDash([1, 4]);
  seen.forEach(({ time_ns: time }) => line(ctx, plot.x(time), plot.top, plot.x(time), bottom));
  ctx.setLineDash([]);
}
