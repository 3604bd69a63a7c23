// One packet on its way: what happened to it, hop by hop, as a list beside the map, which draws the same.
import { BYTES, ONES, SPANS, instant, told } from "./units.js";

/** Causes and reasons, in words; others are words already. */
const CAUSES = {
  unheard: "out of reach", weak: "too weak", overpowered: "a stronger frame was being received",
  receiver_sending: "the receiver was sending", no_power: "the receiver's battery is empty",
  off_channel: "the receiver left the channel", refused: "the receiver could not answer",
  unanswered: "the neighbour did not answer", no_route: "no route", queue_full: "the queue was full",
};
/** A frame that is lost is told at its end, at most so many nanoseconds after its length: the way takes its time. */
const FLIGHT = 1e6;
/** The cause of a request to send that came, and was answered in vain. */
const NO_ANSWER = "no_answer";
/** Waits below this are none: nanoseconds. */
const LEAST_WAIT = 1000;

/** The frames of a way, requests to send among them (`asks`), each with its end and, where it was lost, the cause. */
export function framesOf({ steps }) {
  const lost = steps.filter(({ what }) => what === "lost");
  const isFrame = ({ what, to, link }) => (what === "sent" && to !== undefined && link === undefined) || what === "asked";
  const frames = steps.filter(isFrame).map(({ t, what, at, to, airtime_ns: airtime }) => {
    const end = t + airtime;
    const loss = lost.find((step) => step.at === at && step.to === to && step.t >= end && step.t <= end + FLIGHT);
    return { t, end, from: at, to, asks: what === "asked", cause: loss?.cause ?? null };
  });
  // A request that came and was answered, and behind which no data left: the answer was lost.
  frames.forEach((frame, k) => {
    const next = frames.slice(k + 1).find(({ from }) => from === frame.from);
    if (frame.asks && !frame.cause && next?.asks) frame.cause = NO_ANSWER;
  });
  return frames;
}

export class Follower {
  /** For the map in `panel` of run `number`; `act` has: seek(time), zoom(from, to), redraw(), flow(), time(). */
  constructor(panel, summary, number, source, act) {
    Object.assign(this, { panel, summary, number, source, act });
    this.way = null;
    this.element = document.createElement("div");
    this.element.className = "way";
    this.element.hidden = true;
    panel.element.append(this.element);
    panel.content.offersToFollow = true;
    panel.content.shown = (time) => this.mark(time);
    panel.canvas.addEventListener("click", (event) => {
      const box = panel.canvas.getBoundingClientRect();
      const hop = panel.content.hopAt(event.clientX - box.left, event.clientY - box.top);
      if (hop) this.ask({ flow: hop.flow, time: Math.round(panel.content.time), from: hop.from, to: hop.to });
    });
  }

  /** Follows the packet of the shown flow that was on the air nearest to the instant that is looked at. */
  followNearest(time) {
    this.ask({ flow: this.act.flow(), time: Math.max(0, Math.round(time)) });
  }

  async ask(question) {
    try {
      this.show(await this.source.packet(this.number, question));
    } catch (error) {
      this.show(null);
      this.tell(`No packet to follow: ${error.message}.`);
    }
  }

  /** Says why there is no way; the next one takes its place. */
  tell(why) {
    const words = document.createElement("p");
    words.textContent = why;
    this.element.replaceChildren(words);
    this.element.hidden = false;
  }

  /** Shows a way; null ends that. */
  show(way) {
    this.way = way;
    this.panel.content.way = way && { ...way, frames: framesOf(way) };
    this.panel.element.classList.toggle("follows", way !== null);
    this.element.hidden = way === null;
    if (way) this.fill();
    this.act.redraw();
  }

  name(node) {
    return this.summary.run.nodes[node].name;
  }

  fill() {
    const { number, flow, bytes, data, ack, before, after, steps, oneIn } = this.way;
    const bar = document.createElement("header");
    const button = (text, title, act, enabled = true) => {
      const made = document.createElement("button");
      Object.assign(made, { textContent: text, title, disabled: !enabled });
      made.addEventListener("click", act);
      return made;
    };
    const title = document.createElement("b");
    title.textContent = `Packet ${told(number, ONES)}`;
    const [first, last] = [steps[0].t, this.end()];
    const margin = Math.max(1e5, (last - first) * 0.1);
    bar.append(
      button("‹", "The packet before of this flow", () => this.ask({ number: before }), before !== null),
      title,
      button("›", "The next packet of this flow", () => this.ask({ number: after }), after !== null),
      button("Zoom to it", "Show the time that it was under way", () => this.act.zoom(first - margin, last + margin)),
      button("✕", "Follow no packet", () => this.show(null)),
    );
    bar.lastChild.classList.add("close");
    const what = document.createElement("p");
    const part = data ? `bytes ${told(data[0], ONES)} to ${told(data[1], ONES)}` : ack !== null ? `ACK of ${told(ack, ONES)}` : "";
    what.textContent = [this.summary.run.flows[flow].name, part, told(bytes, BYTES), this.outcome()].filter(Boolean).join(" · ");
    // A page that was exported may know of some packets only.
    if (oneIn > 1) title.title = what.title = `This page knows the way of one packet in ${oneIn}.`;
    this.list = document.createElement("ol");
    this.rows = this.lines().map(({ t, text, kind }) => {
      const row = button("", "Look at this instant", () => this.act.seek(t));
      row.className = `step ${kind}`;
      const at = document.createElement("span");
      at.textContent = t === first ? instant(t, 1e6) : `+${(Math.round((t - first) / 1e4) / 100).toFixed(2)} ms`;
      const words = document.createElement("span");
      words.textContent = text;
      row.append(at, words);
      const item = document.createElement("li");
      item.append(row);
      this.list.append(item);
      return { t, row };
    });
    this.element.replaceChildren(bar, what, this.list);
  }

  /** When the last thing happened to it. */
  end() {
    return Math.max(...this.way.steps.map(({ t, airtime_ns: airtime }) => t + (airtime ?? 0)));
  }

  /** How it ended, with the number of frames that it took. */
  outcome() {
    const { steps } = this.way;
    const frames = framesOf(this.way);
    const lost = frames.filter(({ cause }) => cause && cause !== NO_ANSWER).length;
    const sent = frames.filter(({ asks, cause }) => !asks || cause).length;
    const cost = `${told(sent, ONES)} ${sent === 1 ? "try" : "tries"}${lost ? `, ${told(lost, ONES)} lost` : ""}`;
    const arrived = steps.find(({ what }) => what === "arrived");
    if (arrived) return `arrived after ${told(arrived.t - steps[0].t, SPANS)}, ${cost}`;
    return `${steps.some(({ what }) => what === "dropped") ? "dropped" : "did not arrive"}, ${cost}`;
  }

  /** The rows of the list: when, in words, and of what kind. */
  lines() {
    const { steps } = this.way;
    const frames = framesOf(this.way);
    const wait = (k, what) => {
      const next = steps.slice(k + 1).find((step) => step.what === what && step.at === steps[k].at);
      return next ? next.t - steps[k].t : null;
    };
    const rows = steps.map((step, k) => {
      const at = this.name(step.at);
      const why = step.cause && (CAUSES[step.cause] ?? step.cause.replaceAll("_", " "));
      switch (step.what) {
        case "originated": {
          const waits = wait(k, "queued");
          return [`sets out at ${at}${waits > LEAST_WAIT ? `, waits ${told(waits, SPANS)} for a route` : ""}`, ""];
        }
        case "queued": {
          const [sent, asked] = [wait(k, "sent"), wait(k, "asked")];
          const waits = sent === null || asked === null ? sent ?? asked : Math.min(sent, asked);
          return [waits === null ? `${at}: waits and is not sent` : `${at}: waits ${told(waits, SPANS)} for its turn`, "waits"];
        }
        case "asked": {
          const asked = frames.find(({ t, from }) => t === step.t && from === step.at);
          return asked.cause ? this.frame(asked, frames) : null;
        }
        case "sent": {
          if (step.link !== undefined) return [`${at} → ${this.name(step.to)} over ${this.summary.run.links[step.link].name}`, ""];
          if (step.to === undefined) return [`${at} → all`, ""];
          return this.frame(frames.find(({ t, from }) => t === step.t && from === step.at), frames);
        }
        case "delivered": return [`comes to ${at}`, ""];
        case "arrived": return [`arrives at ${at}`, "arrives"];
        case "dropped": return [`dropped at ${at}: ${why}`, "lost"];
        default: return null;
      }
    });
    return rows.map((row, k) => row && { t: steps[k].t, text: row[0], kind: row[1] }).filter(Boolean);
  }

  /** A frame in words. */
  frame({ t, from, to, asks, cause }, frames) {
    const tries = frames.filter((other) => !other.asks || other.cause);
    const earlier = tries.filter((other) => other.from === from && other.to === to && other.t < t);
    const hop = `${asks ? "RTS " : ""}${this.name(from)} → ${this.name(to)}`;
    const attempt = earlier.length ? `, try ${earlier.length + 1}` : "";
    if (cause === NO_ANSWER) return [`${hop}${attempt}: no answer came back`, "lost"];
    if (cause) return [`${hop}${attempt}: lost, ${CAUSES[cause] ?? cause}`, "lost"];
    const had = earlier.some((other) => !other.asks && !other.cause) ? ", which had it: its ACK was lost" : "";
    return [`${hop}${attempt}${had}`, ""];
  }

  /** Marks what happened last at `time`. */
  mark(time) {
    if (!this.way) return;
    const within = time >= this.way.steps[0].t && time <= this.end();
    const latest = within ? this.rows.findLastIndex(({ t }) => t <= time) : -1;
    this.rows.forEach(({ row }, k) => row.classList.toggle("now", k === latest));
    if (latest < 0) return;
    const { offsetTop: top, offsetHeight: height } = this.rows[latest].row;
    const { scrollTop, clientHeight } = this.list;
    if (top < scrollTop) this.list.scrollTop = top;
    else if (top + height > scrollTop + clientHeight) this.list.scrollTop = top + height - clientHeight;
  }
}
