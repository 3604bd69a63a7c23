//! Random histories: two connections over paths that lose, reorder, duplicate and go dark.
mod harness;

use harness::{Weather, World, config};
use prismux_endpoint::random::{RandomStream, Seed};
use prismux_ptcp::scheduler::{Offer, PipeView, Scheduler};
use prismux_ptcp::{Reassignment, State};
use prismux_units::{Duration, Instant};
use proptest::prelude::*;

fn weather() -> impl Strategy<Value = Weather> {
    (0.0..0.2f64, 0.0..0.1f64, 1u64..300, 0u64..120, prop::option::of((0u64..20, 1u64..20))).prop_map(
        |(loss, duplication, delay, jitter, dark)| Weather {
            loss,
            duplication,
            delay: Duration::from_millis(delay),
            jitter: Duration::from_millis(jitter),
            dark: dark.map(|(from, length)| {
                let from = Instant::ZERO + Duration::from_secs(from);
                (from, from + Duration::from_secs(length))
            }),
        },
    )
}

/// Any pipe, with or without room, and often none.
#[derive(Debug)]
struct Capricious(RandomStream);

impl Scheduler for Capricious {
    fn choose(&mut self, pipes: &[PipeView], offer: &Offer) -> Option<usize> {
        assert!(offer.unsent_bytes > 0 && pipes.iter().any(|pipe| pipe.usable && pipe.has_room));
        usize::try_from(self.0.below(pipes.len() as u64 * 2)).ok().filter(|&place| place < pipes.len())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_arrives_once_and_in_order_and_both_ends_close(
        seed in any::<u64>(),
        paths in prop::collection::vec(weather(), 1..5),
        bytes in 1u64..300_000,
        back in 0u64..60_000,
        buffer in 3_000u64..200_000,
        profile in 0usize..3,
        reassignment in 0usize..4,
        slow_reader in any::<bool>(),
        coupled in any::<bool>(),
    ) {
        let mut config = config(profile, paths.len() as u8, buffer);
        use Reassignment::{Off, Probe, Timeout, Window};
        config.reassignment = [Off, Timeout, Window, Probe][reassignment];
        config.consume_on_arrival = !slow_reader;
        config.coupled = coupled;
        let mut world = World::new(Seed(seed), config, paths);
        world.write(0, bytes);
        world.write(1, back);
        world.close(0);
        world.close(1);
        world.run(Instant::ZERO + Duration::from_secs(100_000));
        prop_assert_eq!(world.received(1), bytes, "seed {}", seed);
        prop_assert_eq!(world.received(0), back, "seed {}", seed);
        prop_assert!(world.both_closed(), "seed {}: {:?} {:?}", seed, world.state(0), world.state(1));
    }

    #[test]
    fn a_scheduler_that_waits_and_chooses_as_it_likes_loses_no_byte(
        seed in any::<u64>(),
        paths in prop::collection::vec(weather(), 1..5),
        bytes in 1u64..100_000,
        buffer in 3_000u64..200_000,
        profile in 0usize..3,
    ) {
        let mut world = World::new(Seed(seed), config(profile, paths.len() as u8, buffer), paths);
        world.mutate(0, |client, _| client.set_scheduler(Box::new(Capricious(Seed(seed).stream("caprice")))));
        world.write(0, bytes);
        world.close(0);
        world.close(1);
        world.run(Instant::ZERO + Duration::from_secs(100_000));
        prop_assert_eq!(world.received(1), bytes, "seed {}", seed);
        prop_assert!(world.both_closed(), "seed {}: {:?} {:?}", seed, world.state(0), world.state(1));
    }

    #[test]
    fn a_path_that_never_works_costs_no_byte(
        seed in any::<u64>(),
        paths in prop::collection::vec(weather(), 2..4),
        bytes in 1u64..200_000,
        profile in 0usize..3,
    ) {
        let mut paths = paths;
        let dead = paths.len() - 1;
        paths[dead].loss = 1.0;
        paths[0].dark = None;
        let mut world = World::new(Seed(seed), config(profile, paths.len() as u8, 50_000), paths);
        world.write(0, bytes);
        world.run(Instant::ZERO + Duration::from_secs(100_000));
        prop_assert_eq!(world.received(1), bytes, "seed {}", seed);
        prop_assert!(matches!(world.state(0), Some(State::Established(n)) if usize::from(n) <= dead));
    }
}
