// One run: its facts, its panels, and the questions it asks.
import { BYTES, COUNTS, ONES, RATES, told } from "./units.js";
import { plotWidth } from "./axes.js";
import { Panel } from "./panel.js";
import { Sequence } from "./sequence.js";
import { LinkRates } from "./rates.js";
import { linePanels } from "./lines.js";
import { Series } from "./series.js";
import { Topology } from "./topology.js";
import { AirMap } from "./air.js";
import { AirTraffic } from "./traffic.js";
import { statePanels } from "./states.js";
import { Follower } from "./follow.js";

export class RunColumn {
  /** `summary` is what the page was told of the run; `redraw` draws everything once more. */
  constructor(parent, summary, number, source, redraw) {
    Object.assign(this, { summary, number, source, redraw });
    this.answer = null;
    this.question = null;
    this.asking = false;
    this.element = document.createElement("article");
    this.element.className = "run";
    this.head = document.createElement("div");
    this.head.className = "head";
    this.element.append(this.head);
    parent.append(this.element);
    const air = [new AirMap(summary), new AirTraffic(), ...statePanels(summary)];
    const middle = [new Sequence(summary), new LinkRates(summary), goodputs(summary)];
    const contents = [new Topology(summary), ...air, ...middle, ...linePanels(summary), drops(summary)];
    this.panels = contents.map((content) => new Panel(this.element, content, redraw));
  }

  /** Lets the reader follow single packets, where the record and the source know them. */
  offerToFollow(act) {
    if (!this.summary.knows_packets || !this.source.packet) return;
    const map = this.panels.find(({ content }) => content.name === "air");
    this.follower = new Follower(map, this.summary, this.number, this.source, act);
  }

  /** Turns to another flow. */
  show(flow) {
    const bounded = Math.min(flow, this.summary.run.flows.length - 1);
    this.panels.forEach((panel) => {
      panel.content.show?.(bounded);
      panel.fillLegend();
    });
    this.showHead(bounded);
  }

  /** Title, origin and totals of `flow`. */
  showHead(flow) {
    const { run, label, events, end_ns: end, flows, warnings, knows_packets: knowsPackets } = this.summary;
    const totals = flows[flow];
    const title = document.createElement("h1");
    const origin = document.createElement("small");
    origin.textContent = `${run.backend === "sim" ? "simulated" : "in the lab"}, seed ${run.seed} · ${label}`;
    title.append(run.scenario, origin);
    const facts = document.createElement("div");
    facts.className = "facts";
    const rate = end > 0 ? totals.arrived_bytes * 8e9 / end : 0;
    const { transport, from, to } = run.flows[flow];
    // What comes over an air is known by packets alone, which records of earlier versions do not tell of.
    const isKnown = totals.delivered_bytes > 0 || knowsPackets || !run.radios?.length;
    const came = (text) => (isKnown ? text : "–");
    const ofSegments = totals.absent.includes("sequence") ? [["arrived, with headers", came(told(totals.delivered_bytes, BYTES))]] : [
      ["arrived in order", came(`${told(totals.arrived_bytes, BYTES)}, ${told(rate, RATES)}`)],
      ["segments", told(totals.sent, ONES)], ["sent again", told(totals.sent_again, ONES)],
      ["lost", told(totals.lost, ONES)],
      ...(totals.acks_held ? [["ACKs held", told(totals.acks_held, ONES)]] : []),
    ];
    for (const [name, value] of [
      [`${run.flows[flow].name} (${transport})`, `${from} → ${to}`],
      ["run", told(end, [[1e9, "s"]])], ["events", told(events, ONES)], ...ofSegments,
    ]) {
      const fact = document.createElement("span");
      const bold = document.createElement("b");
      bold.textContent = value;
      fact.append(`${name} `, bold);
      facts.append(fact);
    }
    facts.append(...this.decisions());
    const notes = warnings.map((warning) => {
      const note = document.createElement("p");
      note.className = "warning";
      note.textContent = warning;
      return note;
    });
    this.head.replaceChildren(title, facts, ...notes);
  }

  /** What each proxy decided, one line for each. */
  decisions() {
    const { decisions, run } = this.summary;
    return Object.entries(decisions).map(([node, made]) => {
      const line = document.createElement("span");
      line.className = "decisions";
      const dropped = Object.entries(made.dropped).map(([reason, count]) => `${told(count, ONES)} ${reason.replaceAll("_", " ")}`);
      const parts = [
        `${told(made.scheduled, ONES)} packets scheduled`,
        `${told(made.released, ONES)} ACKs released (${told(made.rewritten, ONES)} rewritten, ${told(made.reports, ONES)} with a loss report)`,
        `${told(made.lost_by_order + made.lost_by_age, ONES)} declared lost (${told(made.lost_by_age, ONES)} by age)`,
        `${told(made.repaired, ONES)} repaired`,
        `dropped: ${dropped.join(", ") || "none"}`,
      ];
      const bold = document.createElement("b");
      bold.textContent = parts.join(" · ");
      line.append(`${run.nodes[node].name} `, bold);
      return line;
    });
  }

  /** Names of the panels that have nothing to show of `flow`. */
  absent(flow) {
    return this.summary.flows[Math.min(flow, this.summary.flows.length - 1)].absent;
  }

  /** Asks for what `view` shows; of several questions in a row only the last is answered. */
  async ask(view, flow) {
    const width = plotWidth(Math.max(...this.panels.map(({ canvas }) => canvas.clientWidth)) || 800);
    const bounded = Math.min(flow, this.summary.run.flows.length - 1);
    this.question = {
      from: Math.max(0, Math.floor(view.from)), to: Math.ceil(view.to), width, height: 320, flow: bounded,
    };
    if (this.asking) return;
    this.asking = true;
    while (this.question) {
      const question = this.question;
      this.question = null;
      try {
        this.answer = ended(await this.source.answer(this.number, question), this.summary.end_ns);
        this.failure = null;
      } catch (error) {
        this.failure = error;
      }
      this.redraw();
    }
    this.asking = false;
  }

  /** The range of values of each panel; answers are drawn with those of all runs joined. */
  extents(options, view) {
    return this.panels.map(({ content }) => (this.answer ? content.extent(this.answer, options, view) : null));
  }

  draw(view, ranges, cursor, options) {
    if (!this.answer) return;
    const { answer, summary: { notes } } = this;
    this.panels.forEach((panel, k) => {
      if (panel.inSight()) panel.draw({ answer, view, range: ranges[k], cursor: this.within(cursor), notes, ...options });
    });
    this.panels.forEach((panel) => panel.showCursor(cursor));
  }

  /** Moves the cursor alone: of all panels only the network and the air change with it. */
  drawCursor(view, cursor) {
    if (!this.answer) return;
    this.panels.forEach((panel) => panel.showCursor(cursor));
    const following = this.panels.filter(({ content }) => content.follows);
    following.forEach((panel) => panel.draw({ answer: this.answer, view, cursor: this.within(cursor) }));
  }

  /** The cursor where the answer has something to say. */
  within(cursor) {
    return cursor !== null && cursor >= this.answer.from && cursor <= this.answer.to ? cursor : null;
  }

  /** What happens around `time`, in words. */
  noteAt(time, reach) {
    const { notes } = this.summary;
    return notes.filter((note) => Math.abs(note.time_ns - time) < reach).map((note) => note.text);
  }
}

/** An answer that says nothing of the time after the end of the run. */
function ended(answer, end) {
  const past = (count) => Math.max(0, Math.ceil(count * (end + 1 - answer.from) / (answer.to - answer.from)));
  const cut = (steps) => Object.values(steps).forEach((values) => values.fill(null, past(values.length)));
  [answer.windows, answer.buffers, answer.queues].forEach((group) => Object.values(group).forEach(cut));
  cut(answer.sequence.acknowledged);
  for (const piece of answer.rates) {
    // Of a last bucket of which less than half belongs to the run, rates would say nothing.
    const count = Math.max(1, Math.round((end - piece.start) / piece.width));
    for (const name of ["forward", "reverse", "capacity", "reverse_capacity", "drops", "flows"]) {
      piece[name] = piece[name].map((values) => values.slice(0, count));
    }
  }
  return answer;
}

/** All flows in one panel: what each brought to its receiver. */
function goodputs({ run, busiest }) {
  const left = run.flows.length - busiest.length;
  return new Series({
    name: "flows", title: "Delivered of each flow", height: 170, units: RATES, what: "rate",
    names: busiest.map((flow) => run.flows[flow].name), note: left > 0 ? `, the ${busiest.length} busiest of ${run.flows.length}` : "",
    of: (piece, line, k) => (piece.flows[line][k] ?? 0) * 8e9 / piece.width,
  });
}

/** What links dropped, all flows together. */
function drops({ run, lossy, paths }) {
  // A path has its colour here too, other links have those behind.
  const others = lossy.filter((link) => !paths.includes(link));
  const colour = (link) => (paths.includes(link) ? paths.indexOf(link) : paths.length + others.indexOf(link));
  return new Series({
    colours: lossy.map(colour),
    name: "drops", title: "Dropped by each link", height: 110, units: COUNTS, what: "packets",
    names: lossy.map((link) => run.links[link].name), note: ", all flows, both directions",
    of: (piece, line, k) => piece.drops[line][k] ?? 0,
  });
}
