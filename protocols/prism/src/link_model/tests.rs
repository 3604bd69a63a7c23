//! What is learned of a link whose truth is known: a queue of fixed rate, a fixed delay, and what makes that hard to
//! see.
use super::*;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use prismux_endpoint::random::{RandomStream, Seed};
use proptest::collection::vec;
use proptest::prelude::*;

const PACKET: u32 = 1448;

/// A link with a queue, in both senses: packets leave at `rate` and are heard of `delay` later.
struct Pipe {
    /// Bytes per second.
    rate: f64,
    delay: Duration,
    /// Up to this much is added to each round trip; order is kept.
    jitter: Duration,
    /// ACKs arrive together at multiples of this.
    clump: Duration,
    /// Packets that the queue holds.
    room: usize,
    loss: f64,
    random: RandomStream,
    model: LinkModel,
    now: Instant,
    free_at: Instant,
    heard_at: Instant,
    /// The way back is silent until then; what arrived meanwhile is heard of all at once.
    mute_until: Instant,
    /// Nothing gets through until then.
    away_until: Instant,
    /// When packets left the link.
    carried: VecDeque<Instant>,
    /// Most packets that left it in 100 ms.
    most_carried: usize,
    /// Sent, heard of, index; `None` for lost.
    under_way: VecDeque<(Instant, Option<Instant>, u32)>,
    index: u32,
    in_flight: u64,
    overflows: u32,
}

impl Pipe {
    fn new(mbps: f64, delay_ms: u64) -> Self {
        let mut model = LinkModel::new(None);
        model.learn();
        Self {
            rate: mbps * 1e6 / 8.0,
            delay: Duration::from_millis(delay_ms),
            jitter: Duration::ZERO,
            clump: Duration::ZERO,
            room: 10_000,
            loss: 0.0,
            random: Seed(7).stream("pipe"),
            model,
            now: Instant::from_secs(1),
            free_at: Instant::ZERO,
            heard_at: Instant::ZERO,
            mute_until: Instant::ZERO,
            away_until: Instant::ZERO,
            carried: VecDeque::new(),
            most_carried: 0,
            under_way: VecDeque::new(),
            index: 0,
            in_flight: 0,
            overflows: 0,
        }
    }

    fn send(&mut self) {
        self.index += 1;
        self.in_flight += u64::from(PACKET);
        self.model.on_sent(self.now, PACKET, self.index, self.in_flight);
        let service = f64::from(PACKET) / self.rate;
        let waiting = self.free_at.saturating_since(self.now).as_secs_f64() / service;
        let lost = waiting as usize >= self.room;
        self.overflows += u32::from(lost);
        let away = self.now < self.away_until;
        if lost || away || self.random.chance(self.loss) {
            return self.under_way.push_back((self.now, None, self.index));
        }
        self.free_at = self.free_at.max(self.now) + Duration::from_secs_f64(service);
        self.carried.push_back(self.free_at);
        let oldest = self.free_at - Duration::from_millis(100);
        while self.carried.front().is_some_and(|left| *left < oldest) {
            self.carried.pop_front();
        }
        self.most_carried = self.most_carried.max(self.carried.len());
        let heard = self.free_at + self.delay + self.jitter.mul_f64(self.random.uniform());
        let mut heard = heard.max(self.mute_until);
        if !self.clump.is_zero() {
            let clumps = heard.as_nanos().div_ceil(self.clump.as_nanos());
            heard = Instant::from_nanos(clumps * self.clump.as_nanos());
        }
        self.heard_at = self.heard_at.max(heard);
        self.under_way.push_back((self.now, Some(self.heard_at), self.index));
    }

    fn hear(&mut self) {
        // What lies before an arrival and was not heard of is lost.
        while let Some(at) =
            self.under_way.iter().position(|packet| packet.1.is_some_and(|at| at <= self.now))
        {
            for _ in 0..at {
                self.under_way.pop_front();
                let before = self.in_flight;
                self.in_flight -= u64::from(PACKET);
                self.model.on_lost(self.now, PACKET, before);
            }
            let Some((sent, _, index)) = self.under_way.pop_front() else { return };
            self.in_flight -= u64::from(PACKET);
            let rtt = Some(self.now.saturating_since(sent));
            self.model.on_delivered(self.now, PACKET, (index, self.index + 1), rtt, self.in_flight);
        }
    }

    /// Sends as the cap allows, at most `share` of the rate (above 1: whatever fits), for some seconds.
    fn run(&mut self, seconds: u64, share: f64) {
        let step = Duration::from_micros(200);
        let mut credit = 0.0;
        let end = self.now + Duration::from_secs(seconds);
        while self.now < end {
            self.now += step;
            self.hear();
            credit = (credit + self.rate * share * step.as_secs_f64()).min(50.0 * f64::from(PACKET));
            while self.in_flight + u64::from(PACKET) <= self.model.cap_bytes()
                && (share > 1.0 || credit >= f64::from(PACKET))
            {
                credit -= f64::from(PACKET);
                self.send();
            }
        }
    }

    /// Bursts of so many packets at intervals; what does not fit at once follows as room appears.
    fn run_bursts(&mut self, bursts: u32, packets: u32, interval: Duration) {
        for _ in 0..bursts {
            let (end, mut left) = (self.now + interval, packets);
            while self.now < end {
                self.now += Duration::from_micros(200);
                self.hear();
                while left > 0 && self.in_flight + u64::from(PACKET) <= self.model.cap_bytes() {
                    left -= 1;
                    self.send();
                }
            }
        }
    }

    /// Everything under way is given up: the sender's timer has run out.
    fn give_up(&mut self) {
        for _ in self.under_way.drain(..) {
            let before = self.in_flight;
            self.in_flight -= u64::from(PACKET);
            self.model.on_lost(self.now, PACKET, before);
        }
    }

    /// Learned over true rate.
    fn ratio(&self) -> f64 {
        self.model.rate().map_or(0.0, |rate| rate.as_bps() as f64 / 8.0 / self.rate)
    }

    /// The cap over the bandwidth-delay product, jitter not counted.
    fn fill(&self) -> f64 {
        self.model.cap_bytes() as f64 / (self.rate * self.delay.as_secs_f64())
    }
}

#[test]
fn a_clean_link_is_learned_within_two_percent_whatever_its_size() {
    for (mbps, delay_ms) in [(0.4, 10), (0.4, 800), (3.0, 60), (50.0, 20), (100.0, 300)] {
        let mut pipe = Pipe::new(mbps, delay_ms);
        pipe.run(20, 2.0);
        assert!((0.98..1.02).contains(&pipe.ratio()), "{mbps} Mbit/s {delay_ms} ms: {}", pipe.ratio());
        assert!(!pipe.model.in_startup());
        assert!(pipe.model.loss() == 0.0);
    }
}

#[test]
fn jitter_moves_the_rate_by_less_than_a_tenth_and_leaves_the_link_full() {
    for jitter_ms in [10, 30] {
        let mut pipe = Pipe::new(20.0, 50);
        pipe.jitter = Duration::from_millis(jitter_ms);
        pipe.run(20, 2.0);
        assert!((0.95..1.1).contains(&pipe.ratio()), "{jitter_ms} ms: {}", pipe.ratio());
        assert!(pipe.fill() > 1.0, "{}", pipe.fill());
    }
}

#[test]
fn acks_in_clumps_do_not_inflate_the_rate() {
    for clump_ms in [5, 20] {
        let mut pipe = Pipe::new(20.0, 50);
        pipe.clump = Duration::from_millis(clump_ms);
        pipe.run(20, 2.0);
        assert!((0.95..1.35).contains(&pipe.ratio()), "{clump_ms} ms: {}", pipe.ratio());
    }
}

#[test]
fn a_sender_with_little_to_say_does_not_make_a_link_look_slow() {
    let mut pipe = Pipe::new(30.0, 40);
    pipe.run(10, 2.0);
    pipe.run(20, 0.1);
    assert!((0.95..1.05).contains(&pipe.ratio()), "{}", pipe.ratio());
    // Nor does a sender that never had more: the link stays in startup.
    let mut pipe = Pipe::new(30.0, 40);
    pipe.run(20, 0.1);
    assert!(pipe.model.in_startup(), "learned {} of the rate and took it for all", pipe.ratio());
}

#[test]
fn acks_that_a_receiver_delays_for_a_packet_alone_make_a_link_neither_far_nor_slow() {
    let mut pipe = Pipe::new(30.0, 40);
    pipe.run_bursts(1, 1, Duration::from_millis(100));
    let guess = pipe.model.planning_rate().unwrap();
    pipe.delay = Duration::from_millis(80);
    pipe.run_bursts(200, 1, Duration::from_millis(170));
    assert!(pipe.model.in_startup());
    assert!(pipe.model.planning_rate().unwrap() >= guess, "as many packets as fit in no more time");
    assert!(pipe.model.min_rtt().unwrap() < Duration::from_millis(45));
    // No receiver delays them by that much.
    pipe.delay = Duration::from_millis(300);
    pipe.run_bursts(50, 1, Duration::from_millis(400));
    assert!(pipe.model.min_rtt().unwrap() > Duration::from_millis(295));
}

/// A sender far behind the proxy sends its window in bursts.
#[test]
fn the_cap_doubles_each_round_trip_when_packets_come_in_bursts_too() {
    let mut pipe = Pipe::new(100.0, 50);
    let interval = Duration::from_millis(150);
    let mut caps = Vec::new();
    for _ in 0..4 {
        pipe.run_bursts(1, 300, interval);
        caps.push(pipe.model.cap_bytes() / u64::from(PACKET));
    }
    assert!(caps[0] >= 35, "three round trips make 10 packets 80, less what is under way: {caps:?}");
    assert!(caps[1] >= 150, "{caps:?}");
    // At last the whole burst fits, or the link is full.
    assert!(caps[3] >= 290, "{caps:?}");
}

#[test]
fn a_link_that_becomes_slower_or_faster_is_followed() {
    let mut pipe = Pipe::new(20.0, 50);
    pipe.run(10, 2.0);
    pipe.rate /= 4.0;
    pipe.run(10, 2.0);
    assert!((0.95..1.1).contains(&pipe.ratio()), "slower: {}", pipe.ratio());
    pipe.rate *= 8.0;
    pipe.run(10, 2.0);
    assert!((0.95..1.05).contains(&pipe.ratio()), "faster: {}", pipe.ratio());
}

#[test]
fn noise_on_the_channel_is_no_reason_to_send_less() {
    let mut pipe = Pipe::new(50.0, 60);
    pipe.loss = 0.01;
    pipe.run(20, 2.0);
    assert!((0.95..1.05).contains(&pipe.ratio()), "{}", pipe.ratio());
    assert!((0.005..0.02).contains(&pipe.model.loss()), "{}", pipe.model.loss());
    assert!(pipe.fill() > 1.0, "{}", pipe.fill());
}

/// A long way back makes the product large, and the queue holds but a tenth of it.
#[test]
fn a_short_queue_overflows_seldom_and_is_not_taken_for_noise() {
    let mut pipe = Pipe::new(50.0, 112);
    pipe.room = 48;
    pipe.run(10, 2.0);
    pipe.overflows = 0;
    let sent = pipe.index;
    pipe.run(30, 2.0);
    let share = f64::from(pipe.overflows) / f64::from(pipe.index - sent);
    assert!(share < 0.005, "{share} of the packets overflow");
    assert!(pipe.model.loss() < 0.02, "{}", pipe.model.loss());
    assert!((0.95..1.05).contains(&pipe.ratio()), "{}", pipe.ratio());
    assert!(pipe.fill() > 0.95, "{}", pipe.fill());
}

/// What happens to a link.
#[derive(Debug, Clone, Copy)]
enum Trouble {
    /// As much as fits is sent.
    Busy(u64),
    /// A share of the rate is sent.
    Calm(f64),
    /// A few bursts.
    Bursts(u32),
    /// Nothing gets through for so many milliseconds; what was under way is given up.
    Away(u64),
    /// Nothing is heard for so many milliseconds, then all at once.
    Mute(u64),
    /// ACKs come in clumps from now on, so many milliseconds apart.
    Clumps(u64),
    /// The member registers anew: its packets are counted on, and nothing is known of its link.
    Rejoin,
}

fn trouble() -> impl Strategy<Value = Trouble> {
    prop_oneof![
        (1..4_u64).prop_map(Trouble::Busy),
        (0.1..0.9).prop_map(Trouble::Calm),
        (20..200_u32).prop_map(Trouble::Bursts),
        (50..3000_u64).prop_map(Trouble::Away),
        (50..3000_u64).prop_map(Trouble::Mute),
        (0..25_u64).prop_map(Trouble::Clumps),
        Just(Trouble::Rejoin),
    ]
}

proptest! {
    #![proptest_config(prismux_properties::cases(64))]
    #[test]
    fn the_learned_rate_is_never_more_than_the_link_carried_in_100_ms(
        mbps in 1.0..80.0,
        delay_ms in 5..200_u64,
        troubles in vec(trouble(), 1..12),
    ) {
        let mut pipe = Pipe::new(mbps, delay_ms);
        pipe.run(2, 2.0);
        for trouble in troubles {
            match trouble {
                Trouble::Busy(seconds) => pipe.run(seconds, 2.0),
                Trouble::Calm(share) => pipe.run(1, share),
                Trouble::Bursts(packets) => pipe.run_bursts(4, packets, Duration::from_millis(250)),
                Trouble::Away(millis) => {
                    pipe.give_up();
                    pipe.away_until = pipe.now + Duration::from_millis(millis);
                    pipe.run(1 + millis / 1000, 2.0);
                }
                Trouble::Mute(millis) => {
                    pipe.mute_until = pipe.now + Duration::from_millis(millis);
                    pipe.run(1 + millis / 1000, 2.0);
                }
                Trouble::Clumps(millis) => pipe.clump = Duration::from_millis(millis),
                Trouble::Rejoin => {
                    pipe.give_up();
                    pipe.model = LinkModel::new(None);
                    pipe.model.learn();
                    pipe.run(1, 2.0);
                }
            }
            let carried = pipe.most_carried as f64 * f64::from(PACKET) / 0.1;
            let learned = pipe.model.rate().map_or(0.0, |rate| rate.as_bps() as f64 / 8.0);
            // A startup ends by eight packets or more, to which clumps of ACKs may add one at either end.
            prop_assert!(learned <= 10.0 / 8.0 * carried, "{trouble:?}: {learned} learned, {carried} carried");
        }
    }
}
