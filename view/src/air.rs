//! What happened on the air: where hosts were, and who sent to whom.
use crate::description::Number;
use serde::Serialize;
use std::collections::BTreeMap;

/// A host that is less than this beside the straight line between two of its places is on it.
const STRAIGHT_M: f64 = 0.5;
/// How often a record tells of a host that moves: one that is told of later has rested until so long before.
const STEP_NS: u64 = 250_000_000;
/// An answer tells of the frames in so many pieces of its stretch.
const BUCKETS: u64 = 160;

/// The air of a run.
#[derive(Debug, Default)]
pub struct AirRecord {
    /// By number of the host's node.
    tracks: BTreeMap<Number, Track>,
    /// By number of the host's node.
    states: BTreeMap<Number, States>,
    /// By number of the station's node.
    attachments: BTreeMap<Number, Attachments>,
    frames: Vec<Frame>,
}

/// What waited at a host, and its energy: each value holds until the next. Columns: the `k`-th numbers belong together.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct States {
    /// When, in nanoseconds.
    pub t: Vec<u64>,
    /// Packets that waited for the medium.
    pub waiting: Vec<u64>,
    /// Energy drawn by then, in microjoules, where that is counted.
    pub drawn_uj: Vec<Option<u64>>,
    /// Energy left in the battery, in microjoules, if there is one.
    pub battery_uj: Vec<Option<u64>>,
}

/// Whom a station belonged to: each holds until the next. Columns: the `k`-th numbers belong together.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Attachments {
    /// From when on, in nanoseconds.
    pub t: Vec<u64>,
    /// The node of its base station, if it heard one.
    pub cell: Vec<Option<usize>>,
    /// The channel by which it belongs there, where base stations have several.
    pub channel: Vec<Option<u64>>,
    /// The node of the station over which it went, if it heard none.
    pub gateway: Vec<Option<usize>>,
}

/// Where a host was: straight on between two places, at rest before the first and after the last. Columns: the `k`-th
/// numbers belong together.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Track {
    /// When, in nanoseconds.
    pub t: Vec<u64>,
    /// Metres to the east.
    pub x: Vec<f64>,
    /// Metres to the north.
    pub y: Vec<f64>,
}

/// A frame that began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Frame {
    pub time_ns: u64,
    pub from: Number,
    /// The neighbour it is for; `None` for all.
    pub to: Option<Number>,
    pub what: Burden,
    /// The number of the packet in it.
    pub number: Option<u64>,
}

/// What a frame carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Burden {
    /// A packet of a flow.
    Flow(Number),
    /// A message of a routing protocol, or of whoever else has no flow.
    Message,
    /// Nothing: it serves the medium access.
    Control,
}

/// Who sent how many frames to whom, in the pieces of a stretch of time. Columns: the `k`-th numbers belong together.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Hops {
    /// How many pieces the stretch has.
    pub count: u64,
    /// Which piece.
    pub k: Vec<u64>,
    /// The sender's node.
    pub from: Vec<usize>,
    /// The neighbour's; `None` for all who hear it.
    pub to: Vec<Option<usize>>,
    /// The flow; `None` for messages of routing protocols.
    pub flow: Vec<Option<usize>>,
    /// Frames.
    pub n: Vec<u64>,
}

impl AirRecord {
    /// Whether nothing happened there.
    pub fn is_empty(&self) -> bool {
        self.tracks.is_empty() && self.frames.is_empty()
    }

    /// Whether nobody sent anything.
    pub(crate) fn is_silent(&self) -> bool {
        self.frames.is_empty()
    }

    pub(crate) fn tracks(&self) -> &BTreeMap<Number, Track> {
        &self.tracks
    }

    /// The host has moved to a place.
    pub(crate) fn place(&mut self, time_ns: u64, host: Number, [x, y]: [f64; 2]) {
        let track = self.tracks.entry(host).or_default();
        let departure_ns = time_ns.saturating_sub(STEP_NS);
        if let Some(last) = track.t.len().checked_sub(1).filter(|&last| track.t[last] < departure_ns) {
            track.push(departure_ns, track.x[last], track.y[last]);
        }
        track.push(time_ns, x, y);
    }

    pub(crate) fn states(&self) -> &BTreeMap<Number, States> {
        &self.states
    }

    /// Whether packets ever waited at a host.
    pub(crate) fn has_queues(&self) -> bool {
        self.states.values().any(|states| states.waiting.iter().any(|&waiting| waiting > 0))
    }

    /// Whether the energy of any host is told.
    pub(crate) fn has_energy(&self) -> bool {
        self.states.values().any(|states| states.drawn_uj.iter().any(Option::is_some))
    }

    /// So many packets wait at a host, and its energy: drawn and left, as last known where it is not told.
    pub(crate) fn state(&mut self, time_ns: u64, host: Number, waiting: u64, energy_uj: [Option<u64>; 2]) {
        let States { t, waiting: packets, drawn_uj, battery_uj } = self.states.entry(host).or_default();
        let known = |told: Option<u64>, column: &[Option<u64>]| told.or(column.last().copied().flatten());
        let [drawn, left] = [known(energy_uj[0], drawn_uj), known(energy_uj[1], battery_uj)];
        t.push(time_ns);
        packets.push(waiting);
        drawn_uj.push(drawn);
        battery_uj.push(left);
    }

    pub(crate) fn attachments(&self) -> &BTreeMap<Number, Attachments> {
        &self.attachments
    }

    /// A station belongs to another base station, by this channel where that has several, or to none.
    pub(crate) fn belong(
        &mut self,
        time_ns: u64,
        station: Number,
        (cell, channel): (Option<Number>, Option<u64>),
    ) {
        let attachments = self.attachments.entry(station).or_default();
        attachments.push(time_ns, (cell, channel), attachments.gateway.last().copied().flatten());
    }

    /// A station goes over another one, or over none.
    pub(crate) fn go_over(&mut self, time_ns: u64, station: Number, gateway: Option<Number>) {
        let attachments = self.attachments.entry(station).or_default();
        let last =
            (attachments.cell.last().copied().flatten(), attachments.channel.last().copied().flatten());
        attachments.push(time_ns, last, gateway);
    }

    /// A frame begins.
    pub(crate) fn frame(&mut self, frame: Frame) {
        self.frames.push(frame);
    }

    /// Drops places that say nothing.
    pub(crate) fn finish(&mut self) {
        self.tracks.values_mut().for_each(Track::straighten);
    }

    /// The packet of a flow in the frame that began nearest to an instant, of all frames or of those between two hosts.
    pub(crate) fn nearest(
        &self,
        time_ns: u64,
        flow: Number,
        between: Option<(Number, Number)>,
    ) -> Option<u64> {
        let wanted = |frame: &&Frame| {
            let is_between = between.is_none_or(|(from, to)| (frame.from, frame.to) == (from, Some(to)));
            frame.what == Burden::Flow(flow) && frame.number.is_some() && is_between
        };
        let (before, after) =
            self.frames.split_at(self.frames.partition_point(|frame| frame.time_ns <= time_ns));
        let (before, after) = (before.iter().rev().find(wanted), after.iter().find(wanted));
        let nearest = before.into_iter().chain(after).min_by_key(|frame| frame.time_ns.abs_diff(time_ns));
        nearest?.number
    }

    /// Data and messages from `from_ns` on, until before `to_ns`.
    pub(crate) fn hops(&self, from_ns: u64, to_ns: u64) -> Hops {
        let span = u128::from(to_ns - from_ns);
        let first = self.frames.partition_point(|frame| frame.time_ns < from_ns);
        let mut sums: BTreeMap<(u64, Number, Option<Number>, Burden), u64> = BTreeMap::new();
        for frame in self.frames[first..].iter().take_while(|frame| frame.time_ns < to_ns) {
            if frame.what != Burden::Control {
                let k = u128::from(frame.time_ns - from_ns) * u128::from(BUCKETS) / span;
                *sums.entry((k as u64, frame.from, frame.to, frame.what)).or_default() += 1;
            }
        }
        let mut hops = Hops { count: BUCKETS, ..Hops::default() };
        for ((k, from, to, what), n) in sums {
            hops.k.push(k);
            hops.from.push(from);
            hops.to.push(to);
            hops.flow.push(match what {
                Burden::Flow(flow) => Some(flow),
                Burden::Message | Burden::Control => None,
            });
            hops.n.push(n);
        }
        hops
    }
}

impl Attachments {
    fn push(
        &mut self,
        time_ns: u64,
        (cell, channel): (Option<Number>, Option<u64>),
        gateway: Option<Number>,
    ) {
        self.t.push(time_ns);
        self.cell.push(cell);
        self.channel.push(channel);
        self.gateway.push(gateway);
    }
}

impl Track {
    fn push(&mut self, time_ns: u64, x: f64, y: f64) {
        self.t.push(time_ns);
        self.x.push(x);
        self.y.push(y);
    }

    fn place(&self, k: usize) -> (f64, [f64; 2]) {
        (self.t[k] as f64, [self.x[k], self.y[k]])
    }

    /// Keeps the corners: a place goes when all since the last that stays lie where a host would be that moves from
    /// there to the next one.
    fn straighten(&mut self) {
        let mut kept = Self::default();
        let mut last = 0;
        for k in 0..self.t.len() {
            let is_end = k == 0 || k + 1 == self.t.len();
            if is_end || !(last + 1..=k).all(|between| self.is_on_the_way(last, between, k + 1)) {
                let (_, [x, y]) = self.place(k);
                kept.push(self.t[k], x, y);
                last = k;
            }
        }
        *self = kept;
    }

    fn is_on_the_way(&self, from: usize, between: usize, to: usize) -> bool {
        let ((t0, [x0, y0]), (t, [x, y]), (t1, [x1, y1])) =
            (self.place(from), self.place(between), self.place(to));
        let part = (t - t0) / (t1 - t0);
        (x0 + (x1 - x0) * part - x).hypot(y0 + (y1 - y0) * part - y) < STRAIGHT_M
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_stay_and_places_on_straight_ways_go() {
        let mut air = AirRecord::default();
        // East at 10 m/s for a second, a rest of five, then north.
        let tell = |air: &mut AirRecord, quarters: u64, place| air.place(quarters * STEP_NS, 3, place);
        for quarter in 0..=4 {
            tell(&mut air, quarter, [2.5 * quarter as f64, 0.0]);
        }
        tell(&mut air, 25, [10.0, 2.5]);
        tell(&mut air, 26, [10.0, 5.0]);
        air.finish();
        let track = &air.tracks()[&3];
        assert_eq!(track.t, [0, 4, 24, 26].map(|quarters: u64| quarters * STEP_NS));
        assert_eq!((track.x[2], track.y[2], track.y[3]), (10.0, 0.0, 5.0));
    }

    #[test]
    fn the_packet_nearest_to_an_instant_is_of_the_flow_and_between_the_hosts() {
        let mut air = AirRecord::default();
        for (time_ns, from, to, flow, number) in
            [(10, 0, 1, 0, 1), (20, 1, 2, 0, 1), (26, 5, 6, 1, 2), (40, 0, 1, 0, 3), (41, 1, 0, 0, 4)]
        {
            let what = Burden::Flow(flow);
            air.frame(Frame { time_ns, from, to: Some(to), what, number: Some(number) });
        }
        assert_eq!(air.nearest(26, 0, None), Some(1));
        assert_eq!(air.nearest(26, 1, None), Some(2));
        assert_eq!(air.nearest(26, 0, Some((0, 1))), Some(3));
        assert_eq!(air.nearest(9, 0, Some((1, 0))), Some(4));
        assert_eq!(air.nearest(26, 0, Some((2, 1))), None);
    }

    #[test]
    fn energy_that_is_not_told_again_is_what_it_was() {
        let mut air = AirRecord::default();
        air.state(0, 3, 0, [None, None]);
        air.state(1, 3, 2, [Some(7), Some(90)]);
        air.state(2, 3, 5, [None, None]);
        air.state(3, 3, 0, [Some(9), Some(88)]);
        let states = &air.states()[&3];
        assert_eq!((&states.t[..], &states.waiting[..]), (&[0, 1, 2, 3][..], &[0, 2, 5, 0][..]));
        assert_eq!(states.drawn_uj, [None, Some(7), Some(7), Some(9)]);
        assert_eq!(states.battery_uj, [None, Some(90), Some(90), Some(88)]);
    }

    #[test]
    fn a_station_has_a_base_station_or_goes_over_one_that_has() {
        let mut air = AirRecord::default();
        air.belong(0, 3, (Some(1), None));
        air.belong(5, 3, (None, None));
        air.go_over(6, 3, Some(4));
        air.go_over(9, 3, None);
        air.belong(9, 3, (Some(2), Some(6)));
        let attachments = &air.attachments()[&3];
        assert_eq!(attachments.t, [0, 5, 6, 9, 9]);
        assert_eq!(attachments.cell, [Some(1), None, None, None, Some(2)]);
        assert_eq!(attachments.gateway, [None, None, Some(4), None, None]);
        assert_eq!(attachments.channel, [None, None, None, None, Some(6)]);
    }

    #[test]
    fn hops_are_counted_by_time_pair_and_flow_without_control_frames() {
        let mut air = AirRecord::default();
        let frame = |time_ns, from, to, what| Frame { time_ns, from, to, what, number: None };
        for seen in [
            frame(99, 0, Some(1), Burden::Flow(0)),
            frame(100, 0, Some(1), Burden::Flow(0)),
            frame(101, 0, Some(1), Burden::Control),
            frame(102, 0, Some(1), Burden::Flow(0)),
            frame(103, 1, None, Burden::Message),
            frame(1699, 1, Some(2), Burden::Flow(0)),
            frame(1700, 1, Some(2), Burden::Flow(0)),
        ] {
            air.frame(seen);
        }
        let hops = air.hops(100, 1700);
        assert_eq!((hops.count, hops.k), (160, vec![0, 0, 159]));
        assert_eq!((hops.from, hops.to), (vec![0, 1, 1], vec![Some(1), None, Some(2)]));
        assert_eq!((hops.flow, hops.n), (vec![Some(0), None, Some(0)], vec![2, 1, 1]));
    }
}
