// Numbers as people read them. Times are nanoseconds from the start of the run.

const STEPS = [1, 2, 5];

/** About `count` round values between `low` and `high`. */
export function ticks(low, high, count) {
  const span = high - low;
  if (!(span > 0)) return [low];
  let unit = 10 ** Math.floor(Math.log10(span / count));
  let step = unit;
  for (const factor of [...STEPS, 10]) {
    step = unit * factor;
    if (span / step <= count) break;
  }
  const values = [];
  for (let k = Math.ceil(low / step); k * step <= high + step * 1e-9; k++) values.push(k * step);
  return values;
}

/** A value with as many digits as the step between neighbours needs. */
function digits(value, step) {
  const places = Math.min(9, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
  return value.toFixed(places);
}

/** Names of values for an axis that ends at `end`: all in one unit, which is answered too. */
export function named(values, units, end = Math.max(...values, 0)) {
  const largest = Math.abs(end);
  const [scale, unit] = units.findLast(([scale]) => largest >= scale) ?? units[0];
  const step = values.length > 1 ? Math.abs(values[1] - values[0]) / scale : 1;
  return { unit, labels: values.map((value) => digits(value / scale, step)) };
}

export const BYTES = [[1, "B"], [1e3, "kB"], [1e6, "MB"], [1e9, "GB"]];
export const RATES = [[1, "bit/s"], [1e3, "kbit/s"], [1e6, "Mbit/s"], [1e9, "Gbit/s"]];
export const COUNTS = [[1, ""], [1e3, "thousand"], [1e6, "million"]];
export const ONES = [[1, ""]];
export const SPANS = [[1, "ns"], [1e3, "µs"], [1e6, "ms"], [1e9, "s"]];
export const PERCENT = [[0.01, "%"]];

/** One value with its unit, to three digits. */
export function told(value, units) {
  if (value === null || value === undefined) return "–";
  const [scale, unit] = units.findLast(([scale]) => Math.abs(value) >= scale) ?? units[0];
  const number = value / scale;
  const text = Number.isInteger(number) ? number.toLocaleString("en") : Number(number.toPrecision(3)).toLocaleString("en");
  return unit ? `${text} ${unit}` : text;
}

/** An instant in seconds, as precise as a pixel of `span` nanoseconds over a panel asks for. */
export function instant(time, span) {
  const places = Math.min(9, Math.max(2, Math.ceil(-Math.log10(span / 1e9 / 1000))));
  return `${(time / 1e9).toFixed(places)} s`;
}
