// A card for each link: what becomes of it and why, what it carries, how long it takes.
import { drawLines } from "./chart.js";
import { bytes, delay, percent, rate, rateParts } from "./words.js";

const USES = { used: "In use", resting: "Resting", silent: "Silent", down: "Down" };

/** An element with text, appended to `parent`. Text is never read as markup: names come from elsewhere. */
export function add(parent, name, text, className) {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  if (className) element.className = className;
  parent.append(element);
  return element;
}

/** A figure below its name; what is set later is returned. */
export function figure(list, name) {
  const group = add(list, "div");
  add(group, "dt", name);
  return add(group, "dd", "–");
}

/** Writes a rate as its number and, smaller, its unit. */
export function showRate(element, bps) {
  const [value, unit] = rateParts(bps);
  element.textContent = `${value} `;
  add(element, "small", unit);
}

/** The cards of all links, kept from second to second. */
export class Cards {
  constructor(root) {
    this.root = root;
    this.cards = new Map();
    this.shape = "";
  }

  /** Shows the links of `source`; `paths` tells their colours. */
  show(source, paths) {
    const shape = JSON.stringify(source.links.map(({ key }) => [key, paths.get(key)]));
    if (shape !== this.shape) this.build(source.links, paths);
    this.shape = shape;
    for (const link of source.links) this.cards.get(link.key).show(source, link);
  }

  build(links, paths) {
    this.root.replaceChildren();
    this.cards.clear();
    const homes = new Map();
    for (const link of links) {
      if (!homes.has(link.home)) {
        const section = add(this.root, "section", undefined, "home");
        if (link.home !== null) add(section, "h2", `Home ${link.home}`);
        homes.set(link.home, add(section, "div"));
      }
      this.cards.set(link.key, new Card(homes.get(link.home), link, paths.get(link.key)));
    }
  }
}

class Card {
  constructor(parent, { name }, path) {
    const card = add(parent, "article", undefined, `card panel path${path}`);
    const header = add(card, "header");
    add(header, "h3", name);
    this.badge = add(header, "span", "", "badge");
    this.why = add(card, "p", "", "why");
    const list = add(card, "dl", undefined, "figures");
    [this.forward, this.back, this.rtt, this.queue, this.loss] =
      ["Down", "Up", "Round trip", "Queues", "Lost"].map((title) => figure(list, title));
    this.booked = add(card, "p", "", "booked");
    this.rates = drawing(card, "rates", `What ${name} carries over time`);
    this.times = drawing(card, "times", `The round trip of ${name} over time`);
  }

  show(source, { key, use, why, booked }) {
    const now = source.samples.at(-1)?.links.get(key);
    this.badge.textContent = USES[use] ?? use;
    this.badge.className = `badge ${use}`;
    // A home decides what goes up; what comes down its gateway does.
    const isOfUploads = source.status.role === "home" && ["used", "resting"].includes(use);
    this.why.textContent = sentence(isOfUploads ? `on the way up: ${why}` : why);
    showRate(this.forward, now?.forward ?? 0);
    showRate(this.back, now?.back ?? 0);
    this.rtt.textContent = delay(now?.rtt);
    this.queue.textContent = delay(now?.queue);
    this.loss.textContent = percent(now?.loss);
    this.booked.textContent = booked ? accountOf(booked) : "";
    drawLines(this.rates, source, key, [{ of: "forward", kind: "carried" }, { of: "back", kind: "carried up" }], 1e4,
      (most) => `down and up, to ${rate(most)}`);
    drawLines(this.times, source, key, [{ of: "rtt", kind: "delay" }], 0.01,
      (most) => `round trip, to ${delay(most)}`);
  }
}

function drawing(parent, className, label) {
  const svg = document.createElementNS(document.getElementById("chart").namespaceURI, "svg");
  svg.setAttribute("class", className);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", label);
  parent.append(svg);
  return svg;
}

/** What was carried today and this billing month, and how much may be. */
function accountOf({ today_bytes, month_bytes, month_from, cap_per_day_bytes, cap_per_month_bytes }) {
  const of = (carried, cap) => ((cap ?? null) === null ? bytes(carried) : `${bytes(carried)} of ${bytes(cap)}`);
  return `Today ${of(today_bytes, cap_per_day_bytes)}, since ${month_from} ${of(month_bytes, cap_per_month_bytes)}`;
}

/** Words as a sentence. */
function sentence(words) {
  const text = words.charAt(0).toUpperCase() + words.slice(1);
  return /[.?!]$/.test(text) ? text : `${text}.`;
}
