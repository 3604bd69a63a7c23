//! From the lines of `prismux fetch --trace - --json` to an outcome.
use super::ReadyPipe;
use crate::traffic::FlowOutcome;
use prismux_trace::results::PipeResult;
use prismux_units::{Duration, Instant};
use serde::Deserialize;

/// Any line; what it lacks is not its affair.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Line {
    started_at_unix_s: Option<f64>,
    at_s: f64,
    /// What happened to a path.
    path: Option<String>,
    in_order_bytes: Option<u64>,
    duplicate_bytes: Option<u64>,
    paths: Vec<PathLine>,
    /// Only the last line has it.
    elapsed_s: Option<f64>,
    sha256: Option<String>,
}

/// A path in a line.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PathLine {
    link: String,
    server: String,
    bytes: u64,
    asked_bytes: u64,
    outstanding_bytes: u64,
    srtt_ms: Option<f64>,
    timeout_ms: Option<f64>,
    repeated_segments: u64,
    timeouts: u64,
}

/// The longest time without progress, and what the client knew when it began.
#[derive(Debug, Clone, Copy, Default)]
struct Pause {
    began: Instant,
    length: Duration,
    /// The largest of all open paths.
    timeout: Duration,
    round_trip: Duration,
}

/// What has been told so far.
pub(super) struct Trace<'a> {
    pipes: &'a [ReadyPipe],
    /// Start of the run, in seconds since 1970.
    epoch_s: f64,
    /// Start of the client in the run.
    started_s: f64,
    warm_up: Duration,
    sample_interval: Option<Duration>,
    outcome: FlowOutcome,
    in_order_bytes: u64,
    pause: Pause,
    /// What the last line with progress said: the next pause would begin there.
    last: Pause,
}

impl<'a> Trace<'a> {
    pub(super) fn new(
        pipes: &'a [ReadyPipe],
        epoch_s: f64,
        warm_up: Duration,
        sample_interval: Option<Duration>,
    ) -> Self {
        Self {
            pipes,
            epoch_s,
            started_s: 0.0,
            warm_up,
            sample_interval,
            outcome: FlowOutcome::default(),
            in_order_bytes: 0,
            pause: Pause::default(),
            last: Pause::default(),
        }
    }

    /// Takes note of a line. One that is none of ours says nothing.
    pub(super) fn take(&mut self, line: &str) {
        let Ok(line) = serde_json::from_str::<Line>(line) else { return };
        if let Some(started) = line.started_at_unix_s {
            self.started_s = (started - self.epoch_s).max(0.0);
        }
        let at = Instant::ZERO + Duration::from_secs_f64(self.started_s + line.at_s);
        if line.path.as_deref() == Some("open") {
            self.outcome.connected_at.get_or_insert(at);
        }
        if let Some(in_order) = line.in_order_bytes {
            self.progress(at, in_order, &line.paths);
        }
        if let Some(twice) = line.duplicate_bytes {
            self.outcome.counters.insert("duplicate_bytes".to_owned(), twice);
        }
        for path in &line.paths {
            self.pipe(path);
        }
        if let Some(elapsed_s) = line.elapsed_s {
            let end = Duration::from_secs_f64(self.started_s + elapsed_s);
            self.outcome.completed_at = Some(Instant::ZERO + end);
            self.outcome.sha256 = line.sha256;
        }
    }

    fn progress(&mut self, at: Instant, in_order: u64, paths: &[PathLine]) {
        let largest = |of: fn(&PathLine) -> Option<f64>| {
            let largest_ms = paths.iter().filter_map(of).fold(0.0, f64::max);
            Duration::from_secs_f64(largest_ms / 1e3)
        };
        let round_trip = largest(|path| path.srtt_ms);
        if let Some(interval) = self.sample_interval {
            let outstanding = paths.iter().map(|path| path.outstanding_bytes).sum();
            // A pause fills the intervals that it takes, so that sample k stays sample k.
            while Instant::ZERO + interval * (self.outcome.samples.len() as u64) <= at {
                self.outcome.samples.push((outstanding, round_trip));
            }
        }
        let news = in_order.saturating_sub(self.in_order_bytes);
        if news == 0 {
            return;
        }
        if self.in_order_bytes > 0 {
            let length = at.saturating_since(self.last.began);
            if length > self.pause.length && self.last.began >= Instant::ZERO + self.warm_up {
                self.pause = Pause { length, ..self.last };
            }
        }
        self.in_order_bytes = in_order;
        self.outcome.arrivals.record(at, news);
        let timeout = largest(|path| path.timeout_ms);
        self.last = Pause { began: at, length: Duration::ZERO, timeout, round_trip };
    }

    fn pipe(&mut self, path: &PathLine) {
        let host = path.server.rsplit_once(':').map_or("", |(host, _)| host);
        let is_it =
            |pipe: &&ReadyPipe| pipe.ends.device == path.link && pipe.ends.server_address.to_string() == host;
        let Some(pipe) = self.pipes.iter().find(is_it) else { return };
        let result = self.outcome.pipes.entry(pipe.plan.name.clone()).or_default();
        let seconds = |ms: f64| ms / 1e3;
        *result = PipeResult {
            sent_bytes: path.asked_bytes,
            received_bytes: path.bytes,
            retransmitted_segments: path.repeated_segments,
            timeouts: path.timeouts,
            // A closed path has none; the last one stays.
            srtt_s: path.srtt_ms.map(seconds).or(result.srtt_s),
            rto_s: path.timeout_ms.map(seconds).or(result.rto_s),
            cwnd_bytes: path.outstanding_bytes,
        };
    }

    /// Everything has been said.
    pub(super) fn finish(mut self) -> FlowOutcome {
        let microseconds = |time: Duration| time.as_nanos() / 1000;
        for (name, value) in [
            ("longest_pause_us", self.pause.length),
            ("longest_pause_began_us", self.pause.began - Instant::ZERO),
            ("timeout_then_us", self.pause.timeout),
            ("round_trip_then_us", self.pause.round_trip),
        ] {
            self.outcome.counters.insert(name.to_owned(), microseconds(value));
        }
        self.outcome
    }
}

#[cfg(test)]
mod tests;
