//! `prismux fetch --trace`: lines of JSON about a download, for plots and programs.

use crate::failure::Failure;
use prismux_fetch::fetch::{PathProgress, Sample, Update};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufWriter, Write, stdout};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// The file, and whether writing to it failed.
pub(super) struct Trace {
    out: BufWriter<Box<dyn Write>>,
    path: String,
    failure: Option<std::io::Error>,
}

impl Trace {
    /// Begins a trace; its first line says when that was.
    pub(super) fn create(path: &Path) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let out: Box<dyn Write> = if name == "-" {
            Box::new(stdout())
        } else {
            let file = File::create(path);
            Box::new(file.map_err(|error| {
                let remedy = "remedy: name a file that can be written, or - for the output";
                Failure::Usage(format!("cannot write the trace to {name}: {error}\n  {remedy}"))
            })?)
        };
        let mut trace = Self { out: BufWriter::new(out), path: name, failure: None };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        trace.line(&json!({ "trace": 1, "started_at_unix_s": now.as_secs_f64() }));
        trace.flush();
        Ok(trace)
    }

    /// Notes what belongs to a trace.
    pub(super) fn take(&mut self, update: &Update<'_>) {
        match update {
            Update::Sample(sample) => self.line(&sample_json(sample)),
            Update::Path { at, link, server, what } => {
                self.line(&json!({ "at_s": at.as_secs_f64(), "link": link, "server": server, "path": what }));
                self.flush();
            }
            Update::Identified { identity, resumed_bytes } => self.line(&json!({
                "bytes": identity.size, "sha256": identity.digest.to_string(), "resumed_bytes": resumed_bytes,
            })),
            // Comes five times a second: nobody waits for a line much longer.
            Update::Progress { .. } => self.flush(),
            Update::Note(_) | Update::Sharing { .. } => {}
        }
    }

    /// The trace is complete, or it is said why not.
    pub(super) fn finish(mut self) -> Result<(), Failure> {
        self.flush();
        match self.failure {
            None => Ok(()),
            Some(error) => Err(Failure::Failed(format!("cannot write the trace to {}: {error}", self.path))),
        }
    }

    fn line(&mut self, value: &Value) {
        if self.failure.is_none() {
            self.failure = writeln!(self.out, "{value}").err();
        }
    }

    fn flush(&mut self) {
        if self.failure.is_none() {
            self.failure = self.out.flush().err();
        }
    }
}

fn sample_json(sample: &Sample) -> Value {
    json!({
        "at_s": sample.at.as_secs_f64(),
        "in_order_bytes": sample.delivery.in_order_bytes,
        "received_bytes": sample.received_bytes,
        "duplicate_bytes": sample.duplicate_bytes,
        "longest_gap_s": sample.delivery.longest_gap.as_secs_f64(),
        "paths": sample.paths.iter().map(path_json).collect::<Vec<_>>(),
    })
}

/// A path and what it has done so far.
pub(super) fn path_json(path: &PathProgress) -> Value {
    let report = &path.report;
    let milliseconds = |time: prismux_units::Duration| time.as_secs_f64() * 1e3;
    json!({
        "link": path.link, "server": path.server, "state": report.state, "bytes": report.received_bytes,
        "asked_bytes": report.asked_bytes, "outstanding_bytes": report.outstanding_bytes,
            "srtt_ms": report.round_trip.map(milliseconds),
        "timeout_ms": report.timeout.map(milliseconds), "repeated_segments": report.repeated_segments,
        "timeouts": report.timeouts,
    })
}
