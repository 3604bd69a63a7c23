// Where answers come from: the server that opened this page, or tiles that were put into it.

/** Asks the server; the answer is as wide as the panels. */
class ServerSource {
  async answer(run, question) {
    const query = new URLSearchParams({ run, ...question });
    const response = await fetch(`window?${query}`);
    if (!response.ok) throw new Error(await response.text());
    return complete(await response.json());
  }

  /** The way of one packet. */
  async packet(run, question) {
    const response = await fetch(`packet?${new URLSearchParams({ run, ...question })}`);
    if (!response.ok) throw new Error(await response.text());
    return response.json();
  }
}

/** Puts answers together from tiles, of the level whose pixels are just fine enough. */
class TileSource {
  constructor(tiles) {
    this.tiles = tiles;
  }

  async answer(run, { from, to, width, flow }) {
    const levels = this.tiles.runs[run][flow];
    if (!levels) throw new Error("this flow was not exported: export shows the first four flows of a run");
    const wanted = (to - from) / width;
    const fine = levels.findIndex((tiles) => (tiles[0].to - tiles[0].from) / 800 <= wanted);
    const tiles = levels[fine < 0 ? levels.length - 1 : fine];
    return joined(tiles.filter((tile) => tile.to > from && tile.from < to).map(complete));
  }

  /** The way of one packet: of that with a number, or of the one whose frame began nearest to an instant. */
  async packet(run, question) {
    this.ways ??= this.tiles.ways.map(unpacked);
    const ways = this.ways[run];
    const place = question.number === undefined ? nearestWay(ways, question) : ways.findIndex(({ number }) => number === question.number);
    if (place < 0) throw new Error("none of this flow in the exported page was on the air");
    const beside = (other) => (ways[other]?.flow === ways[place].flow ? ways[other].number : null);
    return { ...ways[place], before: beside(place - 1), after: beside(place + 1) };
  }
}

/** Exported ways as the server tells them. */
function unpacked({ one_in: oneIn, kinds, causes, ways }) {
  return ways.map(([number, flow, bytes, data, ack, first, steps]) => {
    const told = steps.map(([since, kind, at, to, link, airtime, cause]) => ({
      t: first + since, what: kinds[kind], at, to: to ?? undefined, link: link ?? undefined,
      airtime_ns: airtime ?? undefined, cause: causes[cause],
    }));
    return { number, flow, bytes, data, ack, oneIn, steps: told };
  });
}

/** Place of the packet of a flow in the frame that began nearest to an instant, of all or of those between two hosts. */
function nearestWay(ways, { flow, time, from, to }) {
  let [best, distance] = [-1, Infinity];
  ways.forEach((way, place) => {
    if (way.flow !== flow) return;
    for (const { t, what, at, to: neighbour, link } of way.steps) {
      const between = from === undefined || (at === from && neighbour === to);
      if (what !== "sent" || link !== undefined || !between || Math.abs(t - time) >= distance) continue;
      [best, distance] = [place, Math.abs(t - time)];
    }
  });
  return best;
}

/** An answer with all its buckets, also those in which nothing changed. */
function complete(answer) {
  const all = (group) => Object.fromEntries(Object.entries(group).map(([key, steps]) => [key, expanded(steps)]));
  return {
    ...answer,
    sequence: { ...answer.sequence, acknowledged: expanded(answer.sequence.acknowledged) },
    rates: [{ ...answer.rates, from: answer.from, to: answer.to }],
    air: [{ from: answer.from, to: answer.to, hops: answer.air }],
    windows: all(answer.windows), buffers: all(answer.buffers), queues: all(answer.queues),
  };
}

function expanded({ count, k, min, max, last }) {
  const columns = { min: Array(count).fill(null), max: Array(count).fill(null), last: Array(count).fill(null) };
  let next = 0;
  let value = null;
  for (let bucket = 0; bucket < count; bucket++) {
    if (k[next] === bucket) {
      columns.min[bucket] = min[next];
      columns.max[bucket] = max[next];
      columns.last[bucket] = value = last[next];
      next++;
    } else columns.min[bucket] = columns.max[bucket] = columns.last[bucket] = value;
  }
  return columns;
}

/** Neighbouring answers as one. */
function joined(answers) {
  const first = answers[0];
  const cells = (pick) => {
    const result = { t: [], d: [], y: [], h: [], n: [] };
    for (const answer of answers) {
      const part = pick(answer.sequence);
      for (const time of part.t) result.t.push(time + answer.from - first.from);
      for (const key of ["d", "y", "h", "n"]) result[key].push(...part[key]);
    }
    return result;
  };
  const steps = (pick) => Object.fromEntries(
    ["min", "max", "last"].map((key) => [key, answers.flatMap((answer) => pick(answer)[key])]),
  );
  const group = (name) => Object.fromEntries(Object.keys(first[name]).map((key) => [key, steps((a) => a[name][key])]));
  const ranges = answers.map((answer) => answer.sequence.range).filter(Boolean);
  const range = ranges.length ? [Math.min(...ranges.map((r) => r[0])), Math.max(...ranges.map((r) => r[1]))] : null;
  return {
    from: first.from, to: answers.at(-1).to, flow: first.flow,
    sequence: {
      range,
      paths: first.sequence.paths.map((kinds, path) => kinds.map((_, kind) => cells((s) => s.paths[path][kind]))),
      lost_elsewhere: cells((s) => s.lost_elsewhere), held: cells((s) => s.held), released: cells((s) => s.released),
      acknowledged: steps((a) => a.sequence.acknowledged),
    },
    rates: answers.flatMap((answer) => answer.rates), air: answers.flatMap((answer) => answer.air), windows: group("windows"), buffers: group("buffers"),
    queues: group("queues"),
  };
}

export function sourceOf(data) {
  return data.source === "tiles" ? new TileSource(data.tiles) : new ServerSource();
}
