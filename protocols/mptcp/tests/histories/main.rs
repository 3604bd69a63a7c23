//! Random histories: two connections over paths that lose, reorder, duplicate, go dark and die.
mod world;

use prismux_endpoint::random::Seed;
use prismux_mptcp::{Coupling, Mode, Scheduler, State};
use prismux_units::{Duration, Instant};
use proptest::prelude::*;
use world::{Weather, World, config};

const SCHEDULERS: [Scheduler; 6] = [
    Scheduler::Linux,
    Scheduler::MinRtt,
    Scheduler::RoundRobin,
    Scheduler::Redundant,
    Scheduler::Blest,
    Scheduler::Ecf,
];
const COUPLINGS: [Coupling; 5] =
    [Coupling::Off, Coupling::Lia, Coupling::Olia, Coupling::Balia, Coupling::Wvegas];

fn at(seconds: u64) -> Instant {
    Instant::ZERO + Duration::from_secs(seconds)
}

fn weather() -> impl Strategy<Value = Weather> {
    let times = prop::option::of((0u64..20, 1u64..20));
    let dropped = prop::option::weighted(0.2, 0u64..20);
    (0.0..0.2f64, 0.0..0.1f64, 1u64..300, 0u64..120, times, dropped).prop_map(
        |(loss, duplication, delay, jitter, dark, dropped)| Weather {
            loss,
            duplication,
            delay: Duration::from_millis(delay),
            jitter: Duration::from_millis(jitter),
            dark: dark.map(|(from, length)| (at(from), at(from + length))),
            dropped_at: dropped.map(at),
            strips_options: false,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_arrives_once_and_in_order_and_both_ends_close(
        seed in any::<u64>(),
        paths in prop::collection::vec(weather(), 1..5),
        bytes in 1u64..200_000,
        back in 0u64..40_000,
        buffer in 3_000u64..200_000,
        scheduler in prop::sample::select(SCHEDULERS.to_vec()),
        coupling in prop::sample::select(COUPLINGS.to_vec()),
        slow_reader in any::<bool>(),
    ) {
        let mut config = config(buffer);
        (config.scheduler, config.coupling) = (scheduler, coupling);
        config.consume_on_arrival = !slow_reader;
        let mut paths = paths;
        // One path lives.
        paths[0].dropped_at = None;
        let mut world = World::new(Seed(seed), config, paths);
        world.write(0, bytes);
        world.write(1, back);
        world.close(0);
        world.close(1);
        world.run(at(100_000));
        prop_assert_eq!(world.received(1), (bytes, true), "seed {}", seed);
        prop_assert_eq!(world.received(0), (back, true), "seed {}", seed);
        prop_assert!(world.both_closed(), "seed {}: {:?} {:?}", seed, world.state(0), world.state(1));
    }

    #[test]
    fn where_options_are_taken_out_it_is_plain_tcp(
        seed in any::<u64>(),
        first in weather(),
        bytes in 1u64..100_000,
        back in 0u64..40_000,
        scheduler in prop::sample::select(SCHEDULERS.to_vec()),
    ) {
        let mut config = config(50_000);
        config.scheduler = scheduler;
        let first = Weather { strips_options: true, dropped_at: None, ..first };
        let mut world = World::new(Seed(seed), config, vec![first, Weather::default()]);
        world.write(0, bytes);
        world.write(1, back);
        world.close(0);
        world.close(1);
        world.run(at(100_000));
        prop_assert_eq!(world.received(1), (bytes, true), "seed {}", seed);
        prop_assert_eq!(world.received(0), (back, true), "seed {}", seed);
        let modes = world.ends.iter().flatten().map(|end| (end.mode(), end.subflows().count()));
        prop_assert!(modes.into_iter().all(|mode| mode == (Mode::Plain, 1)));
    }

    #[test]
    fn a_further_path_that_takes_options_out_costs_no_byte(
        seed in any::<u64>(),
        paths in prop::collection::vec(weather(), 2..4),
        bytes in 1u64..100_000,
        scheduler in prop::sample::select(SCHEDULERS.to_vec()),
    ) {
        let mut config = config(50_000);
        config.scheduler = scheduler;
        let mut paths = paths;
        paths[0].dropped_at = None;
        paths[1].strips_options = true;
        let mut world = World::new(Seed(seed), config, paths);
        world.write(0, bytes);
        world.run(at(20_000));
        prop_assert_eq!(world.received(1).0, bytes, "seed {}", seed);
        prop_assert_eq!(world.state(0), Some(State::Established));
    }
}
