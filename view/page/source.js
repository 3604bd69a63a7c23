// Where answers come from: the server that opened this page, or tiles that were put into it.

/** Asks the server; the answer is as wide as the panels. */
class ServerSource {
  async answer(run, question) {
    const query = new URLSearchParams({ run, ...question });
    const response = await fetch(`window?${query}`);
    if (!response.ok) throw new Error(await response.text());
    const answer = await response.json();
    return { ...answer, rates: [piece(answer)] };
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
    return joined(tiles.filter((tile) => tile.to > from && tile.from < to));
  }
}

/** The rates of an answer with the stretch that they are for. */
function piece(answer) {
  return { ...answer.rates, from: answer.from, to: answer.to };
}

/** Neighbouring answers as one. */
function joined(answers) {
  const [first, last] = [answers[0], answers.at(-1)];
  const all = (pick) => answers.map((answer) => pick(answer));
  const cells = (pick) => {
    const result = { t: [], d: [], y: [], h: [], n: [] };
    for (const answer of answers) {
      const part = pick(answer.sequence);
      for (const time of part.t) result.t.push(time + answer.from - first.from);
      for (const key of ["d", "y", "h", "n"]) result[key].push(...part[key]);
    }
    return result;
  };
  const steps = (pick) => {
    const columns = (key) => all(pick).flatMap((part, k) => (part[key].length ? part[key] : gap(answers[k], all(pick))));
    return all(pick).every((part) => part.last.length === 0)
      ? { min: [], max: [], last: [] }
      : { min: columns("min"), max: columns("max"), last: columns("last") };
  };
  const group = (name) => Object.fromEntries(Object.keys(first[name]).map((key) => [key, steps((a) => a[name][key])]));
  const ranges = all((answer) => answer.sequence.range).filter(Boolean);
  const range = ranges.length ? [Math.min(...ranges.map((r) => r[0])), Math.max(...ranges.map((r) => r[1]))] : null;
  return {
    from: first.from, to: last.to, flow: first.flow,
    sequence: {
      range,
      paths: first.sequence.paths.map((kinds, path) => kinds.map((_, kind) => cells((s) => s.paths[path][kind]))),
      lost_elsewhere: cells((s) => s.lost_elsewhere), held: cells((s) => s.held), released: cells((s) => s.released),
      acknowledged: steps((a) => a.sequence.acknowledged),
    },
    rates: answers.map(piece), windows: group("windows"), buffers: group("buffers"),
  };
}

/** As many columns without a value as the others have. */
function gap(_answer, parts) {
  return Array(Math.max(...parts.map((part) => part.last.length))).fill(null);
}

export function sourceOf(data) {
  return data.source === "tiles" ? new TileSource(data.tiles) : new ServerSource();
}
