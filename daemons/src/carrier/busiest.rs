//! The connections that carry most, of whatever protocol: a table of few entries, in which a connection that is not
//! there takes, of the few places that may be its own, that of the one that carries least (Space-Saving, without its
//! guarantee). A flood of new connections costs no more than a look at those places for each packet.
use prismux_units::{Duration, Instant};
use prismux_wire::FlowKey;
use serde::Serialize;
use std::cmp::Reverse;
use std::hash::{BuildHasher, RandomState};

/// A connection's hash, which nobody outside can foresee, says in which of so many sets it is counted,
const SETS: usize = 32;
/// in one of so many places.
const PLACES: usize = 8;
/// Connections on a status page.
pub(crate) const MAX_SHOWN: usize = 16;
/// A rate is half its value before and half that of this time: of the last seconds, that is.
const INTERVAL: Duration = Duration::from_secs(1);
/// Nothing is left of a rate after so many intervals.
const FADED: u64 = 64;

/// What a connection carries, towards the receivers and from them.
#[derive(Debug, Clone, Copy, Default)]
struct Counted {
    /// In this interval.
    bytes: [u64; 2],
    /// Before it.
    bytes_per_s: [f64; 2],
}

impl Counted {
    /// So many intervals later.
    fn later(self, intervals: u64) -> Self {
        let seconds = INTERVAL.as_secs_f64();
        let fade = 0.5_f64.powi(i32::try_from(intervals.min(FADED)).unwrap_or_default());
        let rate = |n: usize| -> f64 {
            let (bytes, before) = (self.bytes.get(n), self.bytes_per_s.get(n));
            fade * (bytes.map_or(0.0, |bytes| *bytes as f64 / seconds) + before.copied().unwrap_or(0.0))
        };
        if intervals == 0 { self } else { Self { bytes: [0; 2], bytes_per_s: [rate(0), rate(1)] } }
    }

    fn weight(&self) -> f64 {
        let bytes: u64 = self.bytes.iter().sum();
        bytes as f64 + self.bytes_per_s.iter().sum::<f64>()
    }
}

/// A connection on a status page.
#[derive(Debug, Serialize)]
pub(crate) struct Busy {
    /// As where its data goes into the tunnels: sender and receiver.
    flow: String,
    protocol: &'static str,
    forward_bps: u64,
    return_bps: u64,
}

/// Which way a packet goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Towards the receivers.
    Forward,
    /// From the receivers.
    Return,
}

impl Way {
    /// The opposite.
    pub const fn other(self) -> Self {
        match self {
            Self::Forward => Self::Return,
            Self::Return => Self::Forward,
        }
    }
}

/// The connections that carry most.
#[derive(Debug)]
pub(crate) struct Busiest {
    /// Set by set.
    counted: Vec<Option<(FlowKey, Counted)>>,
    hashes: RandomState,
    since: Instant,
}

impl Default for Busiest {
    fn default() -> Self {
        Self { counted: vec![None; SETS * PLACES], hashes: RandomState::new(), since: Instant::default() }
    }
}

impl Busiest {
    /// A packet of a connection, named by its way into the tunnels, has passed.
    pub fn count(&mut self, now: Instant, flow: FlowKey, way: Way, bytes: usize) {
        self.roll(now);
        let set = self.hashes.hash_one(flow) as usize % SETS;
        let Some(places) = self.counted.chunks_mut(PLACES).nth(set) else { return };
        let own = places.iter().position(|place| place.is_some_and(|(counted, _)| counted == flow));
        let weight = |place: &Option<(FlowKey, Counted)>| place.map_or(-1.0, |(_, counted)| counted.weight());
        let place = match own {
            Some(own) => places.get_mut(own),
            None => places.iter_mut().min_by(|a, b| weight(a).total_cmp(&weight(b))),
        };
        let Some(place) = place else { return };
        if own.is_none() {
            *place = Some((flow, Counted::default()));
        }
        if let Some(count) = place.as_mut().and_then(|(_, counted)| counted.bytes.get_mut(way as usize)) {
            *count += bytes as u64;
        }
    }

    /// Begins another interval if one is over.
    fn roll(&mut self, now: Instant) {
        let intervals = self.intervals(now);
        if intervals > 0 {
            self.since += INTERVAL * intervals;
            for place in &mut self.counted {
                let later = place.map(|(flow, counted)| (flow, counted.later(intervals)));
                *place = later.filter(|(_, counted)| counted.weight() >= 1.0);
            }
        }
    }

    fn intervals(&self, now: Instant) -> u64 {
        now.saturating_since(self.since).as_nanos() / INTERVAL.as_nanos()
    }

    /// Those that carry most now, the busiest first.
    pub fn shown(&self, now: Instant) -> Vec<Busy> {
        let intervals = self.intervals(now);
        let counted = self.counted.iter().flatten();
        let mut all: Vec<_> = counted.map(|(flow, counted)| (*flow, counted.later(intervals))).collect();
        all.sort_by(|a, b| b.1.weight().total_cmp(&a.1.weight()).then_with(|| a.0.cmp(&b.0)));
        all.truncate(MAX_SHOWN);
        all.into_iter()
            .map(|(flow, counted)| busy(flow, counted))
            .filter(|busy| busy.total_bps() > 0)
            .collect()
    }
}

impl Busy {
    fn total_bps(&self) -> u64 {
        self.forward_bps.saturating_add(self.return_bps)
    }

    /// The busiest of several tables.
    pub fn of_all(tables: impl Iterator<Item = Vec<Self>>) -> Vec<Self> {
        let mut all: Vec<Self> = tables.flatten().collect();
        all.sort_by_key(|busy| Reverse(busy.total_bps()));
        all.truncate(MAX_SHOWN);
        all
    }
}

fn busy(flow: FlowKey, counted: Counted) -> Busy {
    let [forward_bps, return_bps] = counted.bytes_per_s.map(|bytes| (bytes * 8.0).round() as u64);
    Busy { flow: flow.to_string(), protocol: protocol_name(flow.protocol), forward_bps, return_bps }
}

/// The name of an IP protocol.
const fn protocol_name(number: u8) -> &'static str {
    match number {
        1 | 58 => "ICMP",
        6 => "TCP",
        17 => "UDP",
        47 => "GRE",
        50 => "ESP",
        132 => "SCTP",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(port: u16) -> FlowKey {
        FlowKey {
            source: [203, 0, 113, 10].into(),
            destination: [10, 77, 0, 2].into(),
            source_port: 443,
            destination_port: port,
            protocol: 6,
        }
    }

    fn at(milliseconds: u64) -> Instant {
        Instant::from_nanos(milliseconds * 1_000_000)
    }

    #[test]
    fn connections_are_ranked_by_what_they_carried_in_the_last_seconds() {
        let mut busiest = Busiest::default();
        for millisecond in 0..10_000 {
            let early = if millisecond < 5000 { 1 } else { 2 };
            busiest.count(at(millisecond), flow(early), Way::Forward, 1000);
            busiest.count(at(millisecond), flow(3), Way::Return, 100);
        }
        let shown = busiest.shown(at(10_000));
        assert_eq!(shown[0].flow, "203.0.113.10:443 > 10.77.0.2:2");
        assert!((7_500_000..=8_000_000).contains(&shown[0].forward_bps), "{shown:?}");
        assert!((790_000..=800_000).contains(&shown[1].return_bps) && shown[1].protocol == "TCP");
        assert_eq!(shown[2].flow, "203.0.113.10:443 > 10.77.0.2:1");
        let later = busiest.shown(at(13_000));
        assert!((900_000..=1_000_000).contains(&later[0].forward_bps), "it fades: {later:?}");
        assert!(busiest.shown(at(200_000)).is_empty());
    }

    #[test]
    fn many_small_connections_do_not_push_the_large_ones_out() {
        let mut busiest = Busiest::default();
        for millisecond in 0..4000 {
            busiest.count(at(millisecond), flow(1), Way::Forward, 1500);
            for port in 0..10 {
                busiest.count(
                    at(millisecond),
                    flow(1000 + (millisecond as u16 * 10 + port) % 20_000),
                    Way::Forward,
                    60,
                );
            }
        }
        assert_eq!(busiest.shown(at(4000))[0].flow, "203.0.113.10:443 > 10.77.0.2:1");
    }
}
