// The page: runs side by side under one view of time.
import { instant } from "./units.js";
import { palette, rememberedTheme, setTheme } from "./palette.js";
import { sourceOf } from "./source.js";
import { hideTip, showTip } from "./hover.js";
import { RunColumn } from "./run.js";
import { Clock, SPEEDS } from "./clock.js";
import { View, keys, listen } from "./control.js";

const byId = (id) => document.getElementById(id);
const page = JSON.parse(byId("data").textContent);
const source = sourceOf(page);
const state = { flow: 0, shares: false, back: false, own: false, pointed: null, band: null, late: null };
/** Milliseconds that an answer may take before the page draws without it. */
const PATIENCE = 40;
/** Milliseconds, for whoever measures: until the first picture, and from each change of view to its picture. */
const timings = { first: null, zooms: [], asked: null };
window.prismux = { timings, state };

setTheme(rememberedTheme());
const end = Math.max(...page.runs.map((run) => run.end_ns)) + 1;
const clock = new Clock(() => redrawCursor());
const view = new View(end, () => {
  timings.asked ??= performance.now();
  hideTip();
  ask();
  // The old answer, stretched, where the new one takes longer than the eye notices.
  clearTimeout(state.late);
  state.late = setTimeout(redraw, PATIENCE);
});
window.prismux.view = view;
const columns = page.runs.map((run, number) => new RunColumn(byId("runs"), run, number, source, redraw));
window.prismux.columns = columns;
byId("runs").classList.toggle("two", columns.length > 1);
// Networks of one height, so that the panels below stand side by side.
const tallest = Math.max(...columns.map(({ panels }) => panels[0].content.height));
columns.forEach(({ panels }) => { panels[0].content.height = tallest; });
document.title = `${page.runs.map(({ run }) => run.scenario).join(" | ")} – prismux`;

function ask() {
  columns.forEach((column) => column.ask(view, state.flow));
}

/** What the next frame draws: nothing, the cursor, or everything. */
let planned = null;

function plan(what) {
  if (planned === null) requestAnimationFrame(drawPlanned);
  if (planned !== "all") planned = what;
}

function drawPlanned() {
  const what = planned;
  planned = null;
  if (what === "all") drawAll();
  else columns.forEach((column) => column.drawCursor(view, cursor()));
  showPlaying();
}

/** Draws everything with the next frame. */
function redraw() {
  plan("all");
}

/** Moves the cursor with the next frame. */
function redrawCursor() {
  plan("cursor");
}

function showPlaying() {
  byId("play").textContent = clock.playing ? "❚❚ Pause" : "▶ Play";
  byId("play").setAttribute("aria-pressed", String(clock.playing));
}

/** The instant that is looked at: that of a run being played, else the pointer's. */
function cursor() {
  return clock.playing ? clock.time : state.pointed ?? (clock.time > 0 ? clock.time : null);
}

function drawAll() {
  clearTimeout(state.late);
  const options = { shares: state.shares, back: state.back };
  const all = columns.map((column) => column.extents(options, view));
  const ranges = all[0].map((_, panel) => joinedRange(all.map((extents) => extents[panel])));
  columns.forEach((column, k) => column.draw(view, state.own ? all[k] : ranges, cursor(), options));
  if (state.band) drawBand();
  const span = view.to - view.from;
  byId("when").textContent = `${instant(view.from, span)} to ${instant(view.to, span)}`;
  const failure = columns.map((column) => column.failure).find(Boolean);
  if (failure) byId("when").textContent = `no answer: ${failure.message}`;
  measure();
}

/** One scale for the same panel of all runs, so that they can be compared, unless each is to have its own. */
function joinedRange(extents) {
  const known = extents.filter(Boolean);
  return known.length ? [Math.min(...known.map((e) => e[0])), Math.max(...known.map((e) => e[1]))] : null;
}

function measure() {
  if (columns.some(({ answer, asking, question }) => !answer || asking && question)) return;
  const now = performance.now();
  timings.first ??= now;
  const fresh = columns.every(({ answer }) => answer.from <= view.from && answer.to >= view.to && !stale(answer));
  if (timings.asked !== null && fresh) {
    timings.zooms.push(now - timings.asked);
    timings.asked = null;
  }
}

/** Whether an answer is for a much longer stretch than the one in sight. */
function stale(answer) {
  return source.constructor.name === "ServerSource" && answer.to - answer.from > (view.to - view.from) * 1.001 + 2;
}

function drawBand() {
  const { panel, x0, x1 } = state.band;
  const ctx = panel.canvas.getContext("2d");
  const { plot } = panel.content;
  ctx.fillStyle = palette().accent;
  ctx.globalAlpha = 0.18;
  ctx.fillRect(Math.min(x0, x1), plot.top, Math.abs(x1 - x0), plot.height);
  ctx.globalAlpha = 1;
}

function point(column, panel, x, y, time, event) {
  state.pointed = time;
  const tip = panel.content.tip(x, y);
  if (tip && time !== null) {
    const notes = column.noteAt(time, (view.to - view.from) / 150);
    tip.lines.push(...notes.slice(0, 3).map((text) => ({ label: text, value: "" })));
  }
  showTip(tip, event.clientX, event.clientY);
  redrawCursor();
}

function togglePlay() {
  if (clock.playing) clock.pause(); else clock.play(view.from, view.to);
  hideTip();
  redrawCursor();
}

function setSpeed(speed) {
  clock.speed = speed;
  byId("speed").value = String(speed);
}

function changeSpeed(step) {
  setSpeed(SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, SPEEDS.indexOf(clock.speed) + step))]);
}

/** Follows the packet on the air at the instant that is looked at; where one is followed, ends that. */
function follow() {
  const followers = columns.map(({ follower }) => follower).filter(Boolean);
  const following = followers.some(({ way }) => way);
  const time = cursor() ?? (view.from + view.to) / 2;
  followers.forEach((follower) => (following ? follower.show(null) : follower.followNearest(time)));
}

function toggle(what) {
  state[what] = !state[what];
  byId(what).setAttribute("aria-pressed", String(state[what]));
  redraw();
}

function toggleTheme() {
  setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  columns.forEach((column) => column.panels.forEach((panel) => panel.fillLegend()));
  redraw();
}

function chooseFlow(flow) {
  state.flow = flow;
  columns.forEach((column) => column.show(flow));
  const absent = (name) => columns.every((column) => column.absent(flow).includes(name));
  columns.forEach(({ panels }) => panels.forEach(({ element, content }) => { element.hidden = absent(content.name); }));
  for (const what of ["shares", "back"]) byId(what).hidden = absent("rates");
  alignHeads();
  ask();
}

/** Heads of one height, so that the panels of two runs stand side by side. */
function alignHeads() {
  columns.forEach(({ head }) => { head.style.minHeight = ""; });
  const highest = Math.max(...columns.map(({ head }) => head.offsetHeight));
  columns.forEach(({ head }) => { head.style.minHeight = `${highest}px`; });
}

function options(select, values, text) {
  select.replaceChildren(...values.map((value, k) => new Option(text(value), String(typeof value === "number" ? value : k))));
}

for (const column of columns) {
  column.offerToFollow({
    seek: (time) => { clock.pause(); clock.time = time; state.pointed = null; redrawCursor(); },
    zoom: (from, to) => view.set(from, to),
    redraw,
    flow: () => state.flow,
  });
  for (const panel of column.panels) {
    listen(panel, view, {
      pointed: (...at) => point(column, ...at),
      left: () => { state.pointed = null; hideTip(); redrawCursor(); },
      dragged: (on, x0, x1) => { state.band = x0 === x1 ? null : { panel: on, x0, x1 }; redraw(); },
    });
  }
}
addEventListener("pointerup", () => { state.band = null; redraw(); });
options(byId("speed"), SPEEDS, (speed) => `× ${speed}`);
setSpeed(nearestSpeed(end / 1e9 / 20));
const flows = page.runs[0].run.flows;
options(byId("flow"), flows, (flow) => flow.name);
byId("flowlabel").hidden = flows.length < 2;
byId("flow").addEventListener("change", (event) => chooseFlow(Number(event.target.value)));
byId("speed").addEventListener("change", (event) => setSpeed(Number(event.target.value)));
byId("play").addEventListener("click", togglePlay);
byId("in").addEventListener("click", () => view.zoom(0.5));
byId("out").addEventListener("click", () => view.zoom(2));
byId("whole").addEventListener("click", () => view.whole());
for (const what of ["shares", "back", "own"]) byId(what).addEventListener("click", () => toggle(what));
byId("own").hidden = columns.length < 2;
byId("theme").addEventListener("click", toggleTheme);
byId("help").addEventListener("click", () => byId("keys").showModal());
keys({
  " ": togglePlay, "+": () => view.zoom(0.5), "=": () => view.zoom(0.5), "-": () => view.zoom(2), "0": () => view.whole(),
  ArrowLeft: () => view.move(-0.2), ArrowRight: () => view.move(0.2), s: () => toggle("shares"), r: () => toggle("back"),
  o: () => toggle("own"), d: toggleTheme, p: follow,
  "[": () => changeSpeed(-1), "]": () => changeSpeed(1), "?": () => byId("keys").showModal(),
});
addEventListener("resize", () => { alignHeads(); ask(); });
addEventListener("scroll", redraw, { passive: true });

/** A speed at which the whole run takes some twenty seconds. */
function nearestSpeed(wanted) {
  return SPEEDS.findLast((speed) => speed <= wanted) ?? SPEEDS[0];
}

chooseFlow(0);
