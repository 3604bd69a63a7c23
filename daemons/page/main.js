// The page of a running daemon: asks it each second, and shows what it says.
import { Cards, add, figure, showRate } from "./cards.js";
import { drawStack } from "./chart.js";
import { showDecisions, showDrops, showFlows } from "./lists.js";
import { Source } from "./source.js";
import { clock, rate, span } from "./words.js";

const element = (id) => document.getElementById(id);
const SPANS = ["10 min", "2 h", "2 days"];
const COLOURS = 8;

const source = new Source();
const cards = new Cards(element("cards"));
const sums = ["Down", "Up", "Connections"].map((title) => figure(element("sums"), title));
let [lastAnswer, cursor, picture] = [null, null, null];

/** A colour for each link, in the order of the page. */
function pathsOf(links) {
  return new Map(links.map(({ key }, index) => [key, index % COLOURS]));
}

/** Shows everything anew. */
function show() {
  const { status, samples, links } = source;
  if (!status) return;
  // A gateway is a proxy whose links are homes'.
  const role = links.some(({ home }) => home !== null) ? "gateway" : status.role;
  element("role").textContent = role;
  document.title = `prismux ${role}${status.name ? ` ${status.name}` : ""}`;
  element("about").textContent = [status.name, `version ${status.version}`, `up for ${span(status.uptime_s)}`]
    .filter(Boolean).join(" · ");
  const now = samples.at(-1);
  const total = (of) => [...(now?.links.values() ?? [])].reduce((sum, link) => sum + link[of], 0);
  showRate(sums[0], total("forward"));
  showRate(sums[1], total("back"));
  sums[2].textContent = String(status.flow_count ?? "–");
  const paths = pathsOf(links);
  // Links that have gone stay in the picture as long as it shows their time.
  for (const { links: then } of samples) {
    for (const key of then.keys()) if (!paths.has(key)) paths.set(key, paths.size % COLOURS);
  }
  cards.show(source, paths);
  picture = drawStack(element("chart"), source, paths, cursor);
  showReading();
  showDecisions(element("decisions"), source);
  showFlows(element("flows"), element("more"), status);
  showDrops(element("drops"), status);
}

/** Says what was carried at the time under the pointer. */
function showReading() {
  const reading = element("reading");
  if (cursor === null || source.samples.length === 0) {
    reading.textContent = "";
    return;
  }
  const near = source.samples.reduce((a, b) => (Math.abs(b.ms - cursor) < Math.abs(a.ms - cursor) ? b : a));
  const parts = [...near.links].map(([key, link]) => {
    const [home, name] = JSON.parse(key);
    return `${home === null ? "" : `${home} `}${name} ↓ ${rate(link.forward)} ↑ ${rate(link.back)}`;
  });
  reading.textContent = [clock(source.start + near.ms, true), ...parts].join(" · ");
}

/** Asks, shows, and says so when nobody answers. */
async function beat() {
  try {
    await source.ask();
    lastAnswer = Date.now();
    document.body.classList.remove("old");
    element("gone").hidden = true;
    element("pulse").textContent = `live, ${clock(lastAnswer, true)}`;
  } catch (error) {
    document.body.classList.add("old");
    element("pulse").textContent = "no answer";
    const since = lastAnswer === null ? "" : ` for ${span((Date.now() - lastAnswer) / 1000)}: what stands here is old`;
    element("gone").textContent = `The daemon has not answered${since}. (${error.message})`;
    element("gone").hidden = false;
  }
  show();
  setTimeout(beat, document.hidden ? 5000 : 1000);
}

for (const [level, title] of SPANS.entries()) {
  const button = add(element("spans"), "button", title);
  button.setAttribute("aria-pressed", String(level === 0));
  button.addEventListener("click", () => {
    source.choose(level);
    for (const other of element("spans").children) other.setAttribute("aria-pressed", String(other === button));
    source.ask().then(show, () => {});
  });
}
element("chart").addEventListener("pointermove", (event) => {
  const box = element("chart").getBoundingClientRect();
  cursor = picture ? picture.timeAt(event.clientX - box.x) : null;
  show();
});
element("chart").addEventListener("pointerleave", () => {
  cursor = null;
  show();
});
addEventListener("resize", show);
beat();
