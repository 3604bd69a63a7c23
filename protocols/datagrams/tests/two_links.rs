//! Both ends and two links between them, in virtual time: 20 Mbit/s with 30 ms there and back, 10 Mbit/s with 50 ms.
use prismux_datagrams::{Arrived, Choice, Class, LinkView, Resequencer, Spreader};
use prismux_endpoint::{Endpoint, expire};
use prismux_units::{Duration, Instant, Rate};
use std::collections::VecDeque;

const PACKET_BYTES: u32 = 1250;
const QUEUE_BYTES: u64 = 60_000;
const NEVER: Instant = Instant::from_secs(1_000_000);
const MEASURED_EVERY: Duration = Duration::from_millis(40);

/// What meters know of a link's rate.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Known {
    /// What it carries.
    Rate,
    /// That while it has a queue; else the little that it carried in some earlier life.
    RateWhileBusy,
}

struct Link {
    rate: Rate,
    way: Duration,
    free_at: Instant,
    under_way: VecDeque<(Instant, u32, Option<prismux_datagrams::Order>)>,
    is_dead: bool,
}

impl Link {
    fn new(mbps: u64, way_ms: u64) -> Self {
        Self {
            rate: Rate::from_bps(mbps * 1_000_000),
            way: Duration::from_millis(way_ms),
            free_at: Instant::ZERO,
            under_way: VecDeque::new(),
            is_dead: false,
        }
    }

    fn queue(&self, now: Instant) -> Duration {
        self.free_at.saturating_since(now)
    }

    fn send(&mut self, now: Instant, number: u32, order: Option<prismux_datagrams::Order>) {
        let queued_bytes = self.queue(now).as_nanos() * self.rate.as_bps() / 8_000_000_000;
        if self.is_dead || queued_bytes + u64::from(PACKET_BYTES) > QUEUE_BYTES {
            return;
        }
        let takes = u64::from(PACKET_BYTES) * 8 * 1_000_000_000 / self.rate.as_bps();
        self.free_at = self.free_at.max(now) + Duration::from_nanos(takes);
        self.under_way.push_back((self.free_at + self.way, number, order));
    }
}

/// What came out of the far end: numbers in the order in which they passed, and how many out of order.
fn run(
    class: Class,
    mbps: f64,
    seconds: u64,
    outage: Option<[Instant; 2]>,
    known: Known,
) -> (Vec<u32>, usize) {
    let mut links = [Link::new(20, 15), Link::new(10, 25)];
    let mut near = Spreader::new(0);
    let mut far = Resequencer::default();
    for (id, link) in (0..).zip(&links) {
        near.join(id, Some(link.way * 2));
    }
    let interval = Duration::from_secs_f64(f64::from(PACKET_BYTES) * 8.0 / (mbps * 1e6));
    let (mut passed, mut number, mut measured_at) = (Vec::new(), 0_u32, Instant::ZERO);
    let end = Instant::from_secs(seconds);
    let mut now = Instant::ZERO;
    while now < end {
        if let Some([begins, ends]) = outage {
            links[0].is_dead = (begins..ends).contains(&now);
            let is_left = (begins + Duration::from_millis(150)..ends).contains(&now);
            if is_left {
                near.leave(0);
            } else {
                near.join(0, None);
            }
        }
        for id in 0..2_u8 {
            let link = &mut links[usize::from(id)];
            while link.under_way.front().is_some_and(|packet| packet.0 <= now) {
                let (at, number, order) = link.under_way.pop_front().unwrap();
                match order {
                    Some(order) => far.handle_input(at, Arrived { link: id, order, packet: number }),
                    None => passed.push(number),
                }
            }
        }
        expire(&mut far, now);
        passed.extend(std::iter::from_fn(|| far.poll_transmit(now)));
        if now >= measured_at {
            measured_at = now + MEASURED_EVERY;
            for (id, link) in (0..).zip(&links) {
                let (min_rtt, queueing_delay) = (Some(link.way * 2), link.queue(now));
                let is_told = known == Known::Rate || queueing_delay > Duration::from_millis(2);
                let rate = if is_told { link.rate } else { Rate::from_bps(100_000) };
                near.measured(now, id, LinkView { min_rtt, queueing_delay, rate: Some(rate) });
            }
        }
        if Instant::ZERO + interval * u64::from(number) <= now {
            match near.send(now, class, 5, PACKET_BYTES) {
                Choice::One(link, order) => links[usize::from(link)].send(now, number, order),
                Choice::Both(both, order) => {
                    both.iter().for_each(|&link| links[usize::from(link)].send(now, number, Some(order)));
                }
                Choice::Nowhere => {}
            }
            number += 1;
        }
        now += Duration::from_micros(100);
    }
    let behind = passed.windows(2).filter(|pair| pair[1] < pair[0]).count();
    (passed, behind)
}

#[test]
fn a_flow_of_nine_tenths_of_the_sum_passes_whole_and_in_order() {
    // What links carry may have to be found out first, which takes some losses.
    for (known, learning_seconds) in [(Known::Rate, 0.0), (Known::RateWhileBusy, 2.0)] {
        let (passed, behind) = run(Class::Resequence, 27.0, 20, None, known);
        let per_second = 27e6 / 8.0 / f64::from(PACKET_BYTES);
        let first = (learning_seconds * per_second) as u32;
        let came = passed.iter().filter(|number| **number >= first).count();
        let sent = (20.0 - learning_seconds) * per_second;
        assert!(came as f64 >= 0.995 * sent, "{came} of {sent} with {known:?}");
        assert!(behind * 1000 <= passed.len(), "{behind} of {} out of order", passed.len());
    }
}

#[test]
fn a_link_that_returns_is_used_again() {
    let outage = [Instant::from_secs(2), Instant::from_secs(4)];
    let (passed, behind) = run(Class::Resequence, 27.0, 20, Some(outage), Known::RateWhileBusy);
    let per_second = 27e6 / 8.0 / f64::from(PACKET_BYTES);
    let came = passed.iter().filter(|number| f64::from(**number) >= 6.0 * per_second).count();
    assert!(came as f64 >= 0.995 * 14.0 * per_second, "{came} of {}", 14.0 * per_second);
    assert!(behind * 1000 <= passed.len(), "{behind} of {} out of order", passed.len());
}

#[test]
fn pinned_to_one_link_the_same_flow_loses_a_quarter() {
    let (passed, behind) = run(Class::Pin, 27.0, 5, None, Known::Rate);
    let sent = 5.0 * 27e6 / 8.0 / f64::from(PACKET_BYTES);
    assert!((0.7..0.8).contains(&(passed.len() as f64 / sent)), "{} of {sent}", passed.len());
    assert_eq!(behind, 0);
}

#[test]
fn a_flow_that_is_duplicated_loses_nothing_when_a_link_dies() {
    let (passed, _) = run(Class::Duplicate, 1.0, 5, Some([Instant::from_secs(2), NEVER]), Known::Rate);
    let mut sorted = passed.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), passed.len(), "none came twice");
    let last = *passed.last().unwrap();
    assert_eq!(passed.len() as u32, last + 1, "none is missing");
}

#[test]
fn a_pinned_flow_misses_what_was_under_way_and_no_more() {
    let (passed, behind) = run(Class::Pin, 1.0, 5, Some([Instant::from_secs(2), NEVER]), Known::Rate);
    // 10 ms between packets; the link is left 150 ms after it died.
    let missing = passed.last().unwrap() + 1 - passed.len() as u32;
    assert!((14..=17).contains(&missing), "{missing} are missing");
    assert_eq!(behind, 0);
}
