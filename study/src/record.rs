//! The event log of a run: what it begins and ends with, and where it lies.

use prismux_cellular::slots::Range;
use prismux_plan::{Link, Medium, MediumModel, NodeId, Plan};
use prismux_scenario::registry::{self, Backend};
use prismux_trace::event::{
    Event, EventSink, FlowDescription, LinkDescription, NodeDescription, RadioDescription, RunDescription,
    SharedLog,
};
use prismux_trace::results;
use prismux_units::{Duration, Instant, Rate};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

/// Held in memory before the file is written to.
const BUFFER_BYTES: usize = 1 << 20;

/// An event log that has begun.
#[derive(Debug)]
pub(crate) struct EventLog(SharedLog);

impl EventLog {
    /// Begins a log with the description of the run.
    ///
    /// # Errors
    /// When the file cannot be created.
    pub fn create(path: &Path, plan: &Plan, backend: Backend, seed: u64) -> io::Result<Self> {
        let file = BufWriter::with_capacity(BUFFER_BYTES, File::create(path)?);
        let mut log = SharedLog::new(Box::new(file));
        let description = Box::new(describe(plan, backend, seed));
        log.event(Instant::ZERO, &Event::RunStarted(description));
        Ok(Self(log))
    }

    /// For whoever has events to tell.
    pub fn sink(&self) -> SharedLog {
        self.0.clone()
    }

    /// Ends the log of a run that lasted `duration_s` seconds.
    ///
    /// # Errors
    /// When the file could not be written, whenever that was.
    pub fn finish(mut self, duration_s: f64) -> io::Result<()> {
        self.0.event(Instant::ZERO + Duration::from_secs_f64(duration_s), &Event::RunEnded);
        self.0.finish()
    }
}

/// What `plan` is made of.
fn describe(plan: &Plan, backend: Backend, seed: u64) -> RunDescription<'_> {
    let name = |node: NodeId| Cow::Borrowed(plan[node].name.as_str());
    let link = |link: &'_ Link| LinkDescription {
        name: Cow::Owned(link.name.clone()),
        ends: link.ends.map(name),
        rate_bps: link.forward.link.mean_rate().map(Rate::as_bps),
        reverse_rate_bps: link.reverse.link.mean_rate().map(Rate::as_bps),
        delay_ns: link.forward.link.delay.as_nanos(),
        shared: link.shared,
    };
    let radio = |medium: &'_ Medium| match &medium.model {
        MediumModel::Radio(radio) => Some(RadioDescription {
            name: Cow::Owned(medium.name.clone()),
            hosts: medium.attached.iter().map(|&node| name(node)).collect(),
            channels: radio.channels.clone(),
            further: radio.further_radios.iter().map(|further| (further.host, further.channel)).collect(),
            range_m: radio.radio.range_m(),
            ranges_m: radio.channel_settings.iter().map(|own| (own.channel, own.radio.range_m())).collect(),
        }),
        MediumModel::Cell(cell) => Some(RadioDescription {
            name: Cow::Owned(medium.name.clone()),
            hosts: medium.attached.iter().map(|&node| name(node)).collect(),
            channels: Vec::new(),
            further: Vec::new(),
            range_m: match cell.config.range {
                Range::Fixed(range_m) => range_m,
                // It changes, and is small.
                Range::Least => 0.0,
            },
            ranges_m: Vec::new(),
        }),
        MediumModel::Bus(_) | MediumModel::External => None,
    };
    RunDescription {
        radios: plan.media.iter().filter_map(radio).collect(),
        scenario: Cow::Borrowed(&plan.name),
        scenario_hash: Cow::Owned(prismux_scenario::hash(plan)),
        backend: match backend {
            Backend::Sim => results::Backend::Sim,
            Backend::Lab => results::Backend::Lab,
        },
        seed,
        version: Cow::Borrowed(env!("CARGO_PKG_VERSION")),
        duration_ns: plan.duration.as_nanos(),
        nodes: plan
            .nodes
            .iter()
            .map(|node| NodeDescription {
                name: Cow::Borrowed(&node.name),
                kind: Cow::Borrowed(registry::name_of(registry::NODE_KINDS, &node.kind())),
            })
            .collect(),
        links: plan.links.iter().map(link).collect(),
        flows: plan
            .flows
            .iter()
            .map(|flow| FlowDescription {
                name: Cow::Borrowed(&flow.name),
                from: name(flow.from),
                to: name(flow.to),
                transport: Cow::Borrowed(flow.transport_name()),
            })
            .collect(),
    }
}
