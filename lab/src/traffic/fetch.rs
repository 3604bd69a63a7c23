//! A flow over RCP or R²CP: a process of `prismux fetch`, steered by orders, and what its trace tells.
//!
//! * [`trace`]: from the lines that it prints to an outcome.
mod trace;

use super::{FlowOutcome, Schedule, WAIT};
use crate::daemons::{DaemonCommand, end_within, last_words, memory_file, signal};
use crate::orders::FetchOrders;
use crate::servers::lines_of;
use crate::topology::PipeEnds;
use nix::sys::signal::Signal;
use prismux_linux::namespace::Namespace;
use prismux_linux::netlink::{self, Netlink};
use prismux_linux::process::give_private_run_directory;
use prismux_plan::Pipe;
use prismux_units::{Duration, Instant};
use std::fs::File;
use std::io::{self, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{self, SystemTime, UNIX_EPOCH};
use trace::Trace;

/// How long the client may take to end when asked to.
const FAREWELL: time::Duration = time::Duration::from_secs(5);
/// It prints no more than one line in this time.
const TRACE_EVERY: &str = "1 ms";
/// Exit status of a client that was asked to end.
const INTERRUPTED: i32 = 130;

/// A pipe whose server listens.
#[derive(Debug, Clone)]
pub(crate) struct ReadyPipe {
    pub plan: Pipe,
    pub ends: PipeEnds,
    /// Of the object at its server.
    pub url: String,
}

impl ReadyPipe {
    /// When it is used first.
    fn opens(&self) -> Instant {
        Instant::ZERO + self.plan.opens
    }
}

/// A client that has not been started yet, and what is to be done with it.
pub(crate) struct FetchFlow {
    pub schedule: Schedule,
    pub how: DaemonCommand,
    /// The receiver's.
    pub namespace: Namespace,
    pub orders: FetchOrders,
    pub pipes: Vec<ReadyPipe>,
    /// The object is fetched whole and then the flow is over.
    pub has_end: bool,
    /// SHA-256 (hex) of the object.
    pub sha256: String,
    pub warm_up: Duration,
    pub sample_interval: Option<Duration>,
}

/// What happens to a pipe during the flow.
enum Step {
    Order(String),
    /// Its interface goes down.
    Drop(String),
}

impl FetchFlow {
    /// Runs the client to its end and reports.
    pub fn run(self) -> FlowOutcome {
        let first = self.pipes.iter().map(ReadyPipe::opens).min().unwrap_or(self.schedule.start);
        if !self.schedule.wait_until(first.max(self.schedule.start)) {
            return FlowOutcome::default();
        }
        self.fetch(first).unwrap_or_else(|error| FlowOutcome {
            failure: Some(format!("the client cannot be run: {error}")),
            ..FlowOutcome::default()
        })
    }

    fn fetch(&self, first: Instant) -> io::Result<FlowOutcome> {
        let log = memory_file("log")?;
        // The client says by this clock when it started.
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let epoch_s = unix.as_secs_f64() - (self.schedule.now() - Instant::ZERO).as_secs_f64();
        let mut child = Client(self.spawn(first.max(self.schedule.start), &log)?);
        let lines = lines_of(&mut child.0)?;
        let mut trace = Trace::new(&self.pipes, epoch_s, self.warm_up, self.sample_interval);
        let mut agenda = self.agenda(first.max(self.schedule.start));
        let status = loop {
            while let Ok(line) = lines.try_recv() {
                trace.take(&line);
            }
            if let Some(status) = child.0.try_wait()? {
                break status;
            }
            if self.schedule.is_over() {
                signal(&child.0, Signal::SIGTERM);
                break end_within(&mut child.0, FAREWELL)?;
            }
            let now = self.schedule.now();
            while let Some((_, step)) = agenda.pop_if(|(at, _)| *at <= now) {
                self.act(&mut child.0, step)?;
            }
            let next =
                agenda.last().map_or(WAIT, |(at, _)| time::Duration::from_nanos((*at - now).as_nanos()));
            std::thread::sleep(next.min(WAIT));
        };
        // The reader has the rest until the output is at its end.
        lines.iter().for_each(|line| trace.take(&line));
        Ok(self.outcome(trace, status, log))
    }

    fn outcome(&self, trace: Trace, status: ExitStatus, mut log: File) -> FlowOutcome {
        let mut outcome = trace.finish();
        let is_complete = outcome.completed_at.is_some();
        match status.code() {
            Some(0) if is_complete && self.has_end => outcome.expected_sha256 = Some(self.sha256.clone()),
            Some(INTERRUPTED) => {}
            Some(0) => {
                outcome.failure = Some(
                    "everything there was to fetch was here before the flow's end; give it \"bytes\""
                        .to_owned(),
                );
            }
            _ => outcome.failure = Some(format!("prismux fetch ended ({status}): {}", last_words(&mut log))),
        }
        outcome
    }

    fn spawn(&self, now: Instant, log: &File) -> io::Result<Child> {
        let mut command = Command::new(&self.how.program);
        command.args(&self.how.fetch);
        command.args(self.pipes.iter().filter(|pipe| pipe.opens() <= now).map(url));
        command.args(["--output", "/run/object", "--json", "--orders", "-"]);
        command.args(["--trace", "-", "--trace-every", TRACE_EVERY, "--give-up", "3600 s"]);
        if let Some(rate) = self.orders.target_rate {
            command.arg("--rate").arg(format!("{} bit/s", rate.as_bps()));
        }
        if let Some(window) = self.orders.window {
            command.arg("--window").arg(format!("{} B", window.as_u64()));
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log.try_clone()?);
        self.namespace.host(&mut command);
        give_private_run_directory(&mut command, None);
        command.spawn()
    }

    /// What is to be done when, the next thing last.
    fn agenda(&self, begun: Instant) -> Vec<(Instant, Step)> {
        let mut agenda = Vec::new();
        for pipe in &self.pipes {
            let (opens, at) = (pipe.opens(), |time: Duration| Instant::ZERO + time);
            let (closes, drops) = (pipe.plan.closes.map(at), pipe.plan.drops.map(at));
            let PipeEnds { device, server_address, .. } = &pipe.ends;
            if opens > begun {
                agenda.push((opens, Step::Order(format!("use {}", url(pipe)))));
            }
            let close = || Step::Order(format!("close {device} {server_address}"));
            agenda.extend(closes.map(|at| (at, close())));
            agenda.extend(drops.map(|at| (at, Step::Drop(device.clone()))));
        }
        agenda.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        agenda
    }

    fn act(&self, client: &mut Child, step: Step) -> io::Result<()> {
        match step {
            Step::Order(order) => match &mut client.stdin {
                // One that has ended takes no orders; its status says why.
                Some(orders) => match writeln!(orders, "{order}") {
                    Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
                    _ => Ok(()),
                },
                None => Ok(()),
            },
            Step::Drop(device) => self.namespace.enter(|| {
                let device = netlink::device_index(&device)?;
                let down = Netlink::route()?.send(vec![netlink::link_down(device)]);
                down.map_err(|error| error.source)
            })?,
        }
    }
}

/// What the client is told of a pipe.
fn url(pipe: &ReadyPipe) -> String {
    format!("{}#via={},cost={}", pipe.url, pipe.ends.device, pipe.plan.cost)
}

/// The process; whatever fails ends it.
struct Client(Child);

impl Drop for Client {
    fn drop(&mut self) {
        // One that has ended has been waited for, and is not signalled.
        let _ = end_within(&mut self.0, time::Duration::ZERO);
    }
}
