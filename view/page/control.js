// Zooming and moving with mouse and keys. The view is a stretch of time, the same for all runs and panels.

/** Nobody needs to see less than this much time. */
const LEAST_SPAN = 1000;

export class View {
  constructor(end, changed) {
    this.end = end;
    this.changed = changed;
    [this.from, this.to] = [0, end];
  }

  set(from, to) {
    const span = Math.min(this.end, Math.max(LEAST_SPAN, to - from));
    const start = Math.min(Math.max(0, from), this.end - span);
    [this.from, this.to] = [start, start + span];
    this.changed();
  }

  /** Makes the stretch `factor` times as long; `time` stays where it is. */
  zoom(factor, time = (this.from + this.to) / 2) {
    this.set(time - (time - this.from) * factor, time + (this.to - time) * factor);
  }

  move(part) {
    const step = (this.to - this.from) * part;
    this.set(this.from + step, this.to + step);
  }

  whole() {
    this.set(0, this.end);
  }
}

/** Lets the mouse zoom, move and point on a panel's canvas. */
export function listen(panel, view, { pointed, left, dragged }) {
  const { canvas, content } = panel;
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const timeAt = (x) => content.plot?.time(x) ?? null;
  canvas.addEventListener("wheel", (event) => {
    if (!content.plot) return;
    event.preventDefault();
    const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (sideways) view.move(event.deltaX / 1000);
    else view.zoom(Math.exp(Math.max(-200, Math.min(200, event.deltaY)) * 0.002), timeAt(place(event)[0]));
  }, { passive: false });
  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    if (!content.plot || event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    drag = { x: place(event)[0], from: view.from, to: view.to, moves: event.shiftKey };
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = place(event);
    if (drag?.moves) {
      const step = (drag.x - x) * (drag.to - drag.from) / content.plot.width;
      view.set(drag.from + step, drag.to + step);
    } else if (drag) dragged(panel, drag.x, x);
    else pointed(panel, x, y, timeAt(x), event);
  });
  canvas.addEventListener("pointerup", (event) => {
    const x = place(event)[0];
    if (drag && !drag.moves && Math.abs(x - drag.x) > 6) {
      const [from, to] = [timeAt(drag.x), timeAt(x)].sort((a, b) => a - b);
      view.set(from, to);
    } else if (drag && !drag.moves) dragged(panel, 0, 0);
    drag = null;
  });
  canvas.addEventListener("dblclick", () => view.whole());
  canvas.addEventListener("pointerleave", left);
}

/** Keys that work wherever the focus is, but for fields and open menus. */
export function keys(actions) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select, input")) return;
    if (event.key === " " && event.target.matches("button")) return;
    const action = actions[event.key];
    if (action) {
      event.preventDefault();
      action();
    }
  });
}
