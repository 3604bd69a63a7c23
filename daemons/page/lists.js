// What was decided, the busiest connections, and what went nowhere.
import { add } from "./cards.js";
import { clock, rate } from "./words.js";

/** Decisions in sight: the newest. */
const MAX_DECISIONS = 100;
/** Connections in sight. */
const MAX_FLOWS = 10;

/** Shows decisions, the newest first. */
export function showDecisions(list, { decisions, start }) {
  const newest = decisions.at(-1)?.number ?? -1;
  if (list.dataset.newest === `${newest} ${Math.round(start / 5000)}`) return;
  list.dataset.newest = `${newest} ${Math.round(start / 5000)}`;
  list.replaceChildren();
  if (decisions.length === 0) add(list, "li", "Nothing yet.");
  for (const decision of decisions.slice(-MAX_DECISIONS).reverse()) {
    const item = add(list, "li", undefined, decision.is_trouble ? "trouble" : "");
    const at = start + decision.at_ms;
    const time = add(item, "time", clock(at, true));
    time.title = new Date(at).toLocaleString();
    add(item, "span", decision.text);
  }
}

/** Shows the connections that carried most in the last seconds, of any protocol. */
export function showFlows(table, more, { busiest: all, flow_count: count }) {
  table.replaceChildren();
  const busiest = (all ?? []).slice(0, MAX_FLOWS);
  more.textContent = count === undefined ? "This daemon does not know connections."
    : count === 0 ? "No TCP connection now." : `${count} TCP connection${count === 1 ? "" : "s"} known.`;
  if (busiest.length === 0) return;
  const head = add(table, "tr");
  for (const title of ["Connection", "Down", "Up"]) add(head, "th", title);
  for (const flow of busiest) {
    const row = add(table, "tr");
    const values = [`${flow.protocol} ${flow.flow}`, rate(flow.forward_bps), rate(flow.return_bps)];
    for (const value of values) add(row, "td", value);
  }
}

/** Says how many packets went nowhere, and why. */
export function showDrops(line, { drops }) {
  const some = Object.entries(drops ?? {}).filter(([, count]) => count > 0);
  const words = some.map(([reason, count]) => `${reason.replaceAll("_", " ")} ${count}`);
  line.textContent = words.length === 0 ? "" : `Packets that went nowhere, by reason: ${words.join(", ")}.`;
}
