//! What a status page shows of workers.
use super::{Crew, Worker};
use serde::Serialize;
use std::sync::atomic::Ordering;

/// All of them.
#[derive(Debug, Serialize)]
pub struct Report {
    threads: Vec<Thread>,
    /// Packets that the deciding thread sent or opened by itself.
    own_sent_packets: u64,
    own_opened_packets: u64,
    /// Packets that found their worker's queue full, and went nowhere.
    refused_packets: u64,
}

#[derive(Debug, Serialize)]
struct Thread {
    batches: u64,
    sent_packets: u64,
    opened_packets: u64,
    cpu_s: f64,
}

pub(super) fn report(crew: &Crew) -> Report {
    let thread = |worker: &Worker| Thread {
        batches: worker.done.batches.load(Ordering::Relaxed),
        sent_packets: worker.done.sent_packets.load(Ordering::Relaxed),
        opened_packets: worker.done.opened_packets.load(Ordering::Relaxed),
        cpu_s: worker.done.cpu_ns.load(Ordering::Relaxed) as f64 / 1e9,
    };
    Report {
        threads: crew.workers.iter().map(thread).collect(),
        own_sent_packets: crew.own_sent_packets.get(),
        own_opened_packets: crew.own_opened_packets.get(),
        refused_packets: crew.refused_packets.get(),
    }
}
