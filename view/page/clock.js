// Playing a run: a cursor that moves through it, faster or slower than it happened.

export const SPEEDS = [0.01, 0.1, 0.25, 1, 2, 5, 10, 30, 100];

export class Clock {
  /** `tick` is called with the time at the cursor while it moves. */
  constructor(tick) {
    this.tick = tick;
    this.time = 0;
    this.speed = 1;
    this.playing = false;
  }

  /** Starts at the cursor, or from `from` when that has reached `to`. */
  play(from, to) {
    [this.from, this.to] = [from, to];
    if (!(this.time >= from && this.time < to)) this.time = from;
    this.playing = true;
    this.stamp = performance.now();
    requestAnimationFrame(() => this.step());
  }

  pause() {
    this.playing = false;
  }

  step() {
    if (!this.playing) return;
    const now = performance.now();
    this.time += (now - this.stamp) * 1e6 * this.speed;
    this.stamp = now;
    if (this.time >= this.to) {
      this.time = this.to;
      this.playing = false;
    }
    this.tick(this.time);
    requestAnimationFrame(() => this.step());
  }
}
