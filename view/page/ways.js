// The ways that a flow's data took, each with its link, its colour and its direction.
import { palette } from "./palette.js";

/** Of flow number `flow`: link, name, colour and whether its data go forward over the link. */
export function waysOf({ run, paths, flows }, flow) {
  const { paths: used, forward } = flows[Math.min(flow, flows.length - 1)];
  return used.map((path, k) => ({
    link: paths[path], name: run.links[paths[path]].name, forward: forward[k],
    // One link, one colour for all flows, as long as there are colours for all.
    colour: `path${(paths.length <= palette().paths.length ? path : k) % palette().paths.length}`,
  }));
}

/** The same of what tells of single segments: of a flow that goes over no link, the air as a whole. */
export function segmentWaysOf(summary, flow) {
  const ways = waysOf(summary, flow);
  const known = !summary.flows[Math.min(flow, summary.flows.length - 1)].absent.includes("sequence");
  return ways.length || !known ? ways : [{ link: null, name: "the air", forward: true, colour: "path0" }];
}

/** Entries of a legend, one for each way. */
export function wayEntries(ways) {
  return ways.map(({ name, colour }, k) => ({
    key: `path${k}`, label: name, symbol: (ctx, colours) => { ctx.fillStyle = colours[colour]; ctx.fillRect(2, 2, 14, 8); },
  }));
}
