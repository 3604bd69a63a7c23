//! Random histories: whatever the path and the applications do, every byte arrives once and in order.
mod support;
use prismux_rcp::RcpConfig;
use prismux_tcp::engine::CongestionKind;
use prismux_units::{ByteCount, Duration, Instant};
use proptest::prelude::*;
use support::{Act, Path, World, plain};

fn path() -> impl Strategy<Value = Path> {
    (0.0..0.3f64, 0.0..0.2f64, 1..200u64, 0..150u64, 0..2000u64).prop_map(
        |(loss, duplication, delay, jitter, spacing)| Path {
            loss,
            duplication,
            delay: Duration::from_millis(delay),
            jitter: Duration::from_millis(jitter),
            spacing: Duration::from_micros(spacing),
        },
    )
}

fn config() -> impl Strategy<Value = RcpConfig> {
    ((any::<bool>(), any::<bool>()), any::<bool>(), 0..4u8, 1..17u8, 2_000..60_000u64, any::<bool>())
        .prop_map(|((modern, stp), timestamps, request_blocks, answer_ring, buffer, consume_on_arrival)| {
            let mut base = if modern { RcpConfig { mss: 500, ..RcpConfig::modern() } } else { plain() };
            base.engine.max_rto = Duration::from_secs(5);
            if stp {
                base.engine.congestion = CongestionKind::Stp;
            }
            RcpConfig {
                timestamps,
                request_blocks,
                answer_ring,
                receive_buffer: ByteCount::new(buffer),
                consume_on_arrival,
                // A third of the packets lost must not end a connection here.
                open_retries: 60,
                keep_alive: Duration::from_secs(3000),
                give_up_after: Duration::from_secs(3000),
                ..base
            }
        })
}

fn act() -> impl Strategy<Value = (u64, Act)> {
    let act = prop_oneof![
        4 => (1..20_000u64).prop_map(Act::Write),
        2 => (1..20_000u64).prop_map(Act::Read),
        1 => Just(Act::Freeze),
        1 => Just(Act::BlameLink),
        1 => (1..3000u64).prop_map(|ms| Act::Blackout(Duration::from_millis(ms))),
    ];
    (0..10_000u64, act)
}

proptest! {
    #![proptest_config(prismux_properties::cases(300))]

    #[test]
    fn every_byte_arrives_once_and_in_order(
        config in config(),
        forward in path(),
        reverse in path(),
        acts in proptest::collection::vec(act(), 1..20),
        receiver_opens in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let mut world = World::new(&config, forward, reverse, seed, receiver_opens);
        let mut written = 0;
        for &(at, act) in &acts {
            if let Act::Write(bytes) = act {
                written += bytes;
            }
            world.plan(Instant::from_millis(at), act);
            if matches!(act, Act::Freeze) {
                world.plan(Instant::from_millis(at + 700), Act::Thaw);
            }
        }
        world.plan(Instant::from_secs(15), Act::Finish);
        for second in 0..3500 {
            world.plan(Instant::from_secs(20 + second), Act::Read(30_000));
        }
        world.run(Instant::from_secs(3600));
        prop_assert!(!world.aborted, "nobody gave up");
        prop_assert_eq!(world.readable, written);
        prop_assert!(world.complete, "the end arrived");
        prop_assert!(world.receiver_closed);
    }

    #[test]
    fn a_clean_path_needs_no_pull(spacing in 0..1000u64, delay in 1..300u64, bytes in 1..400_000u64) {
        let mut forward = Path::clean(delay);
        forward.spacing = Duration::from_micros(spacing);
        let mut world = World::new(&RcpConfig::modern(), forward, Path::clean(delay), 1, true);
        world.plan(Instant::ZERO, Act::Write(bytes));
        world.plan(Instant::from_millis(1), Act::Finish);
        world.plan(Instant::from_millis(2), Act::Read(0));
        while world.step(Instant::from_secs(100)) && !world.receiver_closed {
            let unread = world.receiver.as_ref().map_or(0, |receiver| receiver.bytes_readable());
            if unread > 0 {
                let now = world.now;
                world.plan(now, Act::Read(unread));
            }
        }
        prop_assert_eq!(world.readable, bytes);
        let metrics = world.receiver.expect("it opened").metrics();
        prop_assert_eq!((metrics.pipe.pulls, metrics.duplicate_bytes, metrics.unrequested), (0, 0, 0));
        let sender = world.sender.expect("it answered").metrics();
        prop_assert_eq!((sender.data_bytes, sender.repeated_bytes), (bytes, 0));
    }
}
