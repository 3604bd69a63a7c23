//! Random histories of a link against the properties that every history must have.
use prismux_endpoint::random::Seed;
use prismux_link::{
    Delivery, Jitter, Link, LinkChange, LinkConfig, LossModel, OutagePolicy, QueueLimit, ScheduledChange,
};
use prismux_units::{ByteCount, Duration, Instant, Probability, Rate};
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Step {
    /// So many microseconds pass, then a packet of so many bytes arrives.
    Packet {
        after_us: u64,
        size: u32,
    },
    Change {
        after_us: u64,
        change: LinkChange,
    },
}

fn packet() -> impl Strategy<Value = Step> {
    let gap = prop_oneof![3 => Just(0), 3 => 0..2_000u64, 1 => 0..50_000u64];
    (gap, 40..1500u32).prop_map(|(after_us, size)| Step::Packet { after_us, size })
}

fn change() -> impl Strategy<Value = Step> {
    let change = prop_oneof![
        Just(LinkChange::DOWN),
        Just(LinkChange::UP),
        (0..20_000u64).prop_map(|kbps| LinkChange::rate(Rate::from_kbps(kbps))),
        (0..80u64).prop_map(|ms| LinkChange::delay(Duration::from_millis(ms))),
        (0.0..0.5f64).prop_map(|p| LinkChange::loss(LossModel::Bernoulli(Probability::new(p).unwrap()))),
    ];
    (0..20_000u64, change).prop_map(|(after_us, change)| Step::Change { after_us, change })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(prop_oneof![9 => packet(), 1 => change()], 1..200)
}

fn config() -> impl Strategy<Value = LinkConfig> {
    let queue = prop_oneof![
        (0..20u32).prop_map(QueueLimit::Packets),
        (0..20_000u64).prop_map(|bytes| QueueLimit::Bytes(ByteCount::new(bytes))),
        (0.0..3.0f64).prop_map(QueueLimit::Bdp),
        Just(QueueLimit::Unlimited),
    ];
    let outage = prop_oneof![Just(OutagePolicy::Lose), Just(OutagePolicy::Hold)];
    let jitter = (0..20u64, any::<bool>());
    (prop::option::of(1..20_000u64), 0..50u64, jitter, queue, outage, 0.0..0.2f64).prop_map(
        |(kbps, delay, (jitter, in_order), queue, outage, chance)| LinkConfig {
            rate: kbps.map(Rate::from_kbps),
            delay: Duration::from_millis(delay),
            jitter: Jitter { max: Duration::from_millis(jitter), in_order },
            queue,
            outage,
            duplicate: Probability::new(chance).unwrap(),
            corrupt: Probability::new(chance).unwrap(),
            loss: LossModel::Bernoulli(Probability::new(chance).unwrap()),
            ..LinkConfig::default()
        },
    )
}

/// What a history did: deliveries in order, and packets known to be dropped.
struct Outcome {
    deliveries: Vec<Delivery<u32>>,
    dropped: Vec<u32>,
    sizes: Vec<u32>,
}

/// Runs a history, checking at every step that the counters balance and that wake-ups never lie in the past.
fn run(link: &mut Link<u32>, steps: &[Step]) -> Outcome {
    let mut now = Instant::ZERO;
    let mut outcome = Outcome { deliveries: vec![], dropped: vec![], sizes: vec![] };
    for step in steps {
        now = take(link, now, step, &mut outcome);
        assert!(link.next_wakeup().is_none_or(|wakeup| wakeup >= now), "a wake-up in the past");
        let stats = link.stats();
        assert_eq!(
            stats.offered_packets + stats.duplicated_packets,
            stats.delivered_packets + stats.dropped_packets() + link.packets_inside() as u64,
        );
    }
    outcome
}

/// Takes one step of a history; returns its time.
fn take(link: &mut Link<u32>, now: Instant, step: &Step, outcome: &mut Outcome) -> Instant {
    let (Step::Packet { after_us, .. } | Step::Change { after_us, .. }) = step;
    let now = now + Duration::from_micros(*after_us);
    drain(link, now, outcome);
    match step {
        Step::Packet { size, .. } => {
            let number = outcome.sizes.len() as u32;
            outcome.sizes.push(*size);
            if let Err(dropped) = link.enqueue(now, *size, number) {
                assert_eq!(dropped.size_bytes, *size);
                outcome.dropped.push(dropped.packet);
            }
        }
        Step::Change { change, .. } => link.apply(now, *change),
    }
    outcome.dropped.extend(std::iter::from_fn(|| link.poll_dropped()).map(|dropped| dropped.packet));
    now
}

fn drain(link: &mut Link<u32>, until: Instant, outcome: &mut Outcome) {
    while let Some(wakeup) = link.next_wakeup().filter(|&wakeup| wakeup <= until) {
        let first = outcome.deliveries.len();
        outcome.deliveries.extend(std::iter::from_fn(|| link.poll_delivery(wakeup)));
        assert!(outcome.deliveries.len() > first, "a wake-up without a delivery");
    }
}

/// Brings a stopped link back, so that everything inside comes out.
fn finish(link: &mut Link<u32>, steps: &[Step], outcome: &mut Outcome) {
    let length: u64 = steps
        .iter()
        .map(|s| match s {
            Step::Packet { after_us, .. } | Step::Change { after_us, .. } => after_us,
        })
        .sum();
    let end = Instant::ZERO + Duration::from_micros(length);
    link.apply(end, LinkChange { rate: Some(Rate::from_mbps(1)), up: Some(true), ..LinkChange::default() });
    drain(link, Instant::MAX, outcome);
}

proptest! {
    #![proptest_config(prismux_properties::cases(400))]

    #[test]
    fn every_packet_is_delivered_or_dropped_exactly_once(config in config(), steps in steps(), seed in any::<u64>()) {
        let mut link = Link::new(&config, Seed(seed), "x");
        let mut outcome = run(&mut link, &steps);
        finish(&mut link, &steps, &mut outcome);
        let originals = outcome.deliveries.iter().filter(|delivery| !delivery.copy).map(|delivery| delivery.packet);
        let mut seen: Vec<u32> = originals.chain(outcome.dropped.iter().copied()).collect();
        seen.sort_unstable();
        prop_assert_eq!(seen, (0..outcome.sizes.len() as u32).collect::<Vec<_>>());
        prop_assert_eq!(link.packets_inside(), 0);
        for delivery in &outcome.deliveries {
            prop_assert_eq!(delivery.size_bytes, outcome.sizes[delivery.packet as usize]);
        }
    }

    #[test]
    fn an_in_order_link_never_reorders_and_time_never_runs_back(
        config in config(), steps in steps(), seed in any::<u64>(),
    ) {
        let mut link = Link::new(&config, Seed(seed), "x");
        let mut outcome = run(&mut link, &steps);
        finish(&mut link, &steps, &mut outcome);
        prop_assert!(outcome.deliveries.windows(2).all(|pair| pair[0].at <= pair[1].at));
        if config.jitter.in_order || config.jitter.max.is_zero() {
            prop_assert!(outcome.deliveries.windows(2).all(|pair| pair[0].packet <= pair[1].packet));
        }
    }

    /// Over any interval between two departures the link carries what its rate allows, exactly, when busy, and never
    /// more.
    #[test]
    fn the_rate_is_never_exceeded_over_any_interval_and_a_busy_link_reaches_it(
        kbps in 1..100_000u64, sizes in prop::collection::vec(40..1500u32, 2..60), gap_us in 0..500u64,
    ) {
        let config = LinkConfig::new(Rate::from_kbps(kbps), Duration::ZERO).with_queue(QueueLimit::Unlimited);
        let mut link = Link::new(&config, Seed(0), "x");
        let mut arrived = vec![];
        for (number, &size) in sizes.iter().enumerate() {
            let now = Instant::ZERO + Duration::from_micros(gap_us * number as u64);
            link.enqueue(now, size, number as u32).unwrap();
            arrived.push(u128::from(now.as_nanos()));
        }
        // The reference: departures as exact multiples of 1/bps nanoseconds.
        let bps = u128::from(kbps) * 1000;
        let mut exact = 0u128;
        let mut departures = vec![];
        for (number, &size) in sizes.iter().enumerate() {
            exact = exact.max(arrived[number] * bps) + u128::from(size) * 8_000_000_000;
            let at = link.next_delivery().unwrap();
            // A packet may start one nanosecond boundary late when it arrives within the last fraction of a busy one.
            let reported = u128::from(at.as_nanos()) * bps;
            prop_assert!(reported >= exact && reported < exact + 2 * bps, "{} {}", reported, exact);
            departures.push(at.as_nanos());
            link.poll_delivery(at).unwrap();
        }
        for first in 0..sizes.len() {
            let mut bits = 0u128;
            for last in first + 1..sizes.len() {
                bits += u128::from(sizes[last]) * 8;
                let nanos = u128::from(departures[last] - departures[first]) + 1;
                prop_assert!(bits * 1_000_000_000 <= bps * nanos, "{} bits in {} ns", bits, nanos);
            }
        }
    }

    #[test]
    fn the_queue_never_exceeds_its_limit(
        steps in prop::collection::vec(packet(), 1..200), limit in 0..10u32, kbps in 1..5_000u64,
    ) {
        let config = LinkConfig::new(Rate::from_kbps(kbps), Duration::ZERO).with_queue(QueueLimit::Packets(limit));
        let mut link = Link::new(&config, Seed(0), "x");
        let outcome = run(&mut link, &steps);
        prop_assert!(link.stats().max_queue_packets <= u64::from(limit));
        if !outcome.dropped.is_empty() {
            prop_assert_eq!(link.stats().max_queue_packets, u64::from(limit));
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_history(config in config(), steps in steps(), seed in any::<u64>()) {
        let history = || {
            let mut link = Link::new(&config, Seed(seed), "x");
            let outcome = run(&mut link, &steps);
            (outcome.deliveries, outcome.dropped, link.stats())
        };
        prop_assert_eq!(history(), history());
    }

    /// Links of constant rate without accidents have a short way of their own. One that a change in the far future
    /// keeps from it does the same, packet by packet, whatever happens to both later.
    #[test]
    fn the_short_way_of_plain_links_does_what_the_long_way_does(
        config in config(), kbps in 1..100_000u64, calm in prop::collection::vec(packet(), 1..200), steps in steps(),
    ) {
        let far = Instant::ZERO + Duration::from_secs(1 << 30);
        let config = LinkConfig {
            rate: Some(Rate::from_kbps(kbps)),
            delay: config.delay,
            queue: config.queue,
            outage: config.outage,
            ..LinkConfig::default()
        };
        let change = ScheduledChange { at: far, change: LinkChange::default() };
        let watched = LinkConfig { schedule: vec![change], ..config.clone() };
        let history = |config| {
            let mut link = Link::new(config, Seed(0), "x");
            let mut states = vec![];
            let mut now = Instant::ZERO;
            let mut outcome = Outcome { deliveries: vec![], dropped: vec![], sizes: vec![] };
            for step in calm.iter().chain(&steps) {
                now = take(&mut link, now, step, &mut outcome);
                // Looking at the queue from time to time must not change what is found later.
                let queue = (states.len() % 3 == 0).then(|| link.queue(now));
                states.push((link.stats(), queue, link.peek().copied(), link.next_delivery()));
            }
            drain(&mut link, now + Duration::from_secs(1 << 20), &mut outcome);
            (outcome.deliveries, outcome.dropped, states)
        };
        prop_assert_eq!(history(&config), history(&watched));
    }
}
