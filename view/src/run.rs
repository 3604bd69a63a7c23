//! A recorded run, ready to be looked at.
use crate::air::AirRecord;
use crate::backlog::Backlog;
use crate::decisions::Decisions;
use crate::packets::PacketRecord;
use crate::sample::{Levels, Marks, Sums};
use prismux_trace::event::RunDescription;
use serde::Serialize;
use std::collections::BTreeMap;

/// A run: what it was made of, and its series.
#[derive(Debug)]
pub struct Run {
    /// Network, flows and origin.
    pub description: RunDescription<'static>,
    /// When the record ends, in nanoseconds.
    pub end_ns: u64,
    /// Events in the record.
    pub events: u64,
    /// Links that tell the ways of data apart: the shared ones, or of each flow those that it chose between.
    pub paths: Vec<usize>,
    /// The flows that carried the most, at most [`MOST_SERIES`], by their number.
    pub busiest: Vec<usize>,
    /// The links that dropped the most packets, at most [`MOST_SERIES`], by their number.
    pub lossy: Vec<usize>,
    /// By link.
    pub links: Vec<LinkRecord>,
    /// By flow.
    pub flows: Vec<FlowRecord>,
    /// Radio media.
    pub air: AirRecord,
    /// The ways of single packets, where they have numbers.
    pub packets: PacketRecord,
    /// Rare events worth a word.
    pub notes: Vec<Note>,
    /// What each proxy decided, by number of its node.
    pub decisions: BTreeMap<usize, Decisions>,
    /// What the reader should know about the record itself.
    pub warnings: Vec<String>,
}

/// Lines that a panel can show and eyes can follow.
pub const MOST_SERIES: usize = 16;

/// A link: forward and reverse.
#[derive(Debug, Default)]
pub struct LinkRecord {
    /// Bytes delivered.
    pub delivered: [Sums; 2],
    /// Packets that went no further.
    pub dropped: [Sums; 2],
    /// Rate in bits per second; 0 while down, absent without a limit.
    pub rate: [Levels; 2],
    /// Bytes that wait to be sent, or are being sent.
    pub queue: [Levels; 2],
    /// What `queue` is made from.
    pub(crate) backlog: [Backlog; 2],
}

/// A flow.
#[derive(Debug, Default)]
pub struct FlowRecord {
    /// The paths that it used: places in [`Run::paths`].
    pub path_numbers: Vec<usize>,
    /// By path of its own: the direction of the link in which its data go, 0 forward.
    pub path_directions: Vec<usize>,
    /// Its segments on each of its paths; of a flow that goes over no link, on the air as its only one.
    pub paths: Vec<PathMarks>,
    /// Links and directions of its way whose queues filled, the longest queue first.
    pub queues: Vec<(usize, usize)>,
    /// Bytes of packets that reached its receiver, with what came twice.
    pub arrived: Sums,
    /// Segments lost on other links.
    pub lost_elsewhere: Marks,
    /// ACKs that a proxy kept, when they came: each up to the instant of its release.
    pub acks_held: Marks,
    /// ACKs with which a proxy let kept ones go.
    pub acks_released: Marks,
    /// Bytes that have arrived without a gap before them by the end.
    pub arrived_bytes: u64,
    /// What the sender knows to have arrived, as an offset in the stream.
    pub acknowledged: Levels,
    /// The sender's congestion window in bytes.
    pub cwnd: Levels,
    /// Its slow-start threshold.
    pub ssthresh: Levels,
    /// Its bytes in flight.
    pub in_flight: Levels,
    /// Its smoothed round-trip time in nanoseconds.
    pub srtt: Levels,
    /// Bytes that wait at the receiver for others before them.
    pub waiting: Levels,
    /// ACKs that proxies hold back.
    pub held: Levels,
}

/// Segments of one flow on one path. Heights are offsets in the stream.
#[derive(Debug, Default)]
pub struct PathMarks {
    /// Sent for the first time.
    pub sent: Marks,
    /// Sent again.
    pub sent_again: Marks,
    /// Lost or dropped.
    pub lost: Marks,
    /// Arrived at the other end.
    pub arrived: Marks,
}

/// A rare event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// When.
    pub time_ns: u64,
    /// What, for people.
    pub text: String,
}

impl LinkRecord {
    /// `until`: what has left the queue by then has arrived by the end of the record.
    fn finish(&mut self, until: u64) {
        self.rate.iter_mut().for_each(Levels::finish);
        for (queue, backlog) in self.queue.iter_mut().zip(&mut self.backlog) {
            *queue = std::mem::take(backlog).levels(until);
        }
    }
}

impl FlowRecord {
    /// True when nothing is known of single segments.
    pub(crate) fn is_without_segments(&self) -> bool {
        self.paths.iter().all(|path| path.sent.is_empty()) && self.acknowledged.is_empty()
    }

    fn finish(&mut self) {
        let paths = self.paths.iter_mut();
        let marks = paths.flat_map(|p| [&mut p.sent, &mut p.sent_again, &mut p.lost, &mut p.arrived]);
        let others = [&mut self.lost_elsewhere, &mut self.acks_held, &mut self.acks_released];
        marks.chain(others).for_each(Marks::finish);
        let windows = [&mut self.cwnd, &mut self.ssthresh, &mut self.in_flight, &mut self.srtt];
        let buffers = [&mut self.acknowledged, &mut self.waiting, &mut self.held];
        windows.into_iter().chain(buffers).for_each(Levels::finish);
    }
}

impl Run {
    /// Prepares all series for questions.
    pub(crate) fn finish(&mut self) {
        for (link, described) in self.links.iter_mut().zip(&self.description.links) {
            link.finish(self.end_ns.saturating_sub(described.delay_ns));
        }
        self.flows.iter_mut().for_each(FlowRecord::finish);
        self.air.finish();
    }

    /// True when nothing ever moved.
    pub fn is_empty(&self) -> bool {
        let still =
            |link: &LinkRecord| link.delivered.iter().chain(&link.dropped).all(|sums| sums.total() == 0);
        self.links.iter().all(still) && self.air.is_silent()
    }
}
