//! How long it takes until a segment that the channel lost is at the receiver after all (PR-014).

use crate::claims::plan::Job;
use prismux_endpoint::random::Seed;
use prismux_simulator::{Simulation, SimulationOptions};
use prismux_trace::event::{DropReason, Event, EventSink};
use prismux_units::Instant;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// When each segment was lost first, and what its repairs took.
#[derive(Debug, Default)]
struct Losses {
    open: BTreeMap<u32, Instant>,
    repairs_s: Vec<f64>,
}

/// Hears of channel losses of `flow` and of what reaches `receiver`.
#[derive(Debug, Clone)]
struct Ear {
    flow: &'static str,
    receiver: &'static str,
    until: Instant,
    losses: Arc<Mutex<Losses>>,
}

impl EventSink for Ear {
    fn event(&mut self, at: Instant, event: &Event<'_>) {
        let (Event::PacketDropped { packet, .. } | Event::PacketDelivered { packet, .. }) = event else {
            return;
        };
        let Some(segment) = packet.segment.as_ref().filter(|segment| segment.payload_bytes > 0) else {
            return;
        };
        if packet.flow.as_deref() != Some(self.flow) {
            return;
        }
        let mut losses = self.losses.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::PacketDropped { reason: DropReason::Loss, .. } if at < self.until => {
                losses.open.entry(segment.seq).or_insert(at);
            }
            Event::PacketDelivered { to, .. } if to == self.receiver => {
                if let Some(lost_at) = losses.open.remove(&segment.seq) {
                    losses.repairs_s.push((at - lost_at).as_secs_f64());
                }
            }
            _ => {}
        }
    }
}

/// Seconds from a channel loss of the flow, before `until`, to the arrival of the segment, on average over a run of
/// `job`. `None` where nothing was lost and repaired.
pub(super) fn mean_repair_s(
    job: &Job,
    flow: &'static str,
    receiver: &'static str,
    until: Instant,
) -> Option<f64> {
    let losses = Arc::new(Mutex::new(Losses::default()));
    let ear = Ear { flow, receiver, until, losses: Arc::clone(&losses) };
    let options = SimulationOptions { events: Some(Box::new(ear)), ..SimulationOptions::default() };
    let mut simulation = Simulation::from_plan(&job.scenario.plan, Seed(job.seed), options).ok()?;
    simulation.run_until(Instant::ZERO + job.scenario.plan.duration);
    let repairs = &losses.lock().unwrap_or_else(PoisonError::into_inner).repairs_s;
    (!repairs.is_empty()).then(|| repairs.iter().sum::<f64>() / repairs.len() as f64)
}
