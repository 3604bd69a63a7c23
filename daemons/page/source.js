// What the daemon says: its status, and the figures that this page does not have yet.

/** Longer than this no answer is waited for. */
const PATIENCE_MS = 4000;

/** What this page knows. */
export class Source {
  constructor() {
    this.level = 0;
    this.levels = [];
    this.forget();
  }

  forget() {
    this.status = null;
    this.links = [];
    this.samples = [];
    this.decisions = [];
    // When the daemon started, by the clock of this browser.
    this.start = 0;
  }

  /** Shows another stretch of time. */
  choose(level) {
    this.level = level;
    this.samples = [];
  }

  /** Asks once; throws when nobody answers. */
  async ask() {
    const status = await answer("status.json");
    if (this.status && (status.uptime_s < this.status.uptime_s || status.pid !== this.status.pid)) this.forget();
    this.start = Date.now() - status.uptime_s * 1000;
    this.status = status;
    const level = this.level;
    const question = new URLSearchParams({ level });
    const last = this.samples.at(-1);
    if (last) question.set("after_ms", last.ms);
    const newest = this.decisions.at(-1);
    if (newest) question.set("decisions_from", newest.number + 1);
    const live = await answer(`live.json?${question}`);
    // Another stretch was chosen meanwhile: these figures are not of it.
    if (level !== this.level) return;
    this.levels = live.levels;
    this.links = live.links.map((link) => ({ ...link, key: keyOf(link) }));
    const keys = live.names.map(keyOf);
    this.samples.push(...live.samples.map((row) => sample(row, keys)));
    const surplus = this.samples.length - live.levels[level].samples;
    if (surplus > 0) this.samples.splice(0, surplus);
    this.decisions.push(...live.decisions);
    this.decisions.splice(0, Math.max(0, this.decisions.length - 512));
  }

  /** Seconds from one sample to the next. */
  get interval() {
    return this.levels[this.level]?.interval_s ?? 1;
  }

  /** Milliseconds in sight: no more than there has been, but a minute at least. */
  get spanMs() {
    const level = this.levels[this.level];
    const most = level ? level.interval_s * level.samples * 1000 : 600000;
    return Math.min(most, Math.max(60000, this.nowMs));
  }

  /** Now, in milliseconds from the daemon's start. */
  get nowMs() {
    return this.status ? this.status.uptime_s * 1000 : 0;
  }
}

async function answer(path) {
  const response = await fetch(path, { cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS) });
  if (!response.ok) throw new Error((await response.text()).trim() || response.statusText);
  return response.json();
}

/** Names a link, also among those of other homes. */
function keyOf({ home, name }) {
  return JSON.stringify([home, name]);
}

/** One row of the answer, by link. */
function sample([ms, flows, rows], keys) {
  const links = new Map();
  for (const [name, forward, back, loss, rtt, queue, up] of rows) {
    links.set(keys[name], { forward, back, loss, rtt, queue, up });
  }
  return { ms, flows, links };
}
