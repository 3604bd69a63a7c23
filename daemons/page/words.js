// Numbers and times as people read them.

/** A rate: 12.3 Mbit/s. */
export function rate(bps) {
  const [value, unit] = rateParts(bps);
  return `${value} ${unit}`;
}

/** A rate's number and unit. */
export function rateParts(bps) {
  if (bps >= 1e9) return [digits(bps / 1e9), "Gbit/s"];
  if (bps >= 1e6) return [digits(bps / 1e6), "Mbit/s"];
  if (bps >= 1e3) return [digits(bps / 1e3), "kbit/s"];
  return [String(Math.round(bps)), "bit/s"];
}

/** Three digits that matter, or as many as stand before the point. */
function digits(value) {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

/** Bytes: 12.3 GB. */
export function bytes(count) {
  for (const [factor, unit] of [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"]]) {
    if (count >= factor) return `${digits(count / factor)} ${unit}`;
  }
  return `${count} B`;
}

/** A short time: 34 ms. */
export function delay(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  return seconds >= 1 ? `${seconds.toFixed(2)} s` : `${(seconds * 1000).toFixed(seconds < 0.01 ? 1 : 0)} ms`;
}

/** A share: 0.3 %. */
export function percent(share) {
  if (share === null || share === undefined) return "–";
  const value = share * 100;
  return value === 0 ? "0 %" : value < 0.1 ? "< 0.1 %" : `${value.toFixed(value < 10 ? 1 : 0)} %`;
}

/** How long something took or is ago: 3 h 12 min. */
export function span(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min`;
  if (whole < 86400) return `${Math.floor(whole / 3600)} h ${Math.floor(whole % 3600 / 60)} min`;
  return `${Math.floor(whole / 86400)} d ${Math.floor(whole % 86400 / 3600)} h`;
}

/** The time of day, with seconds where they matter. */
export function clock(milliseconds, withSeconds) {
  const parts = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  if (withSeconds) parts.second = "2-digit";
  return new Date(milliseconds).toLocaleTimeString([], parts);
}
