//! A run is a function of its seed: keys, cookies, connection ids, challenges and all.
mod common;

use common::*;
use prismux_fetch::client::{DownloadConfig, Transport};
use prismux_units::{Duration, Instant};

/// Every datagram of a download in bad weather, from two servers over two interfaces; one server stops, a client moves.
fn datagrams(transport: Transport, seed: u64) -> Vec<(Instant, Vec<u8>)> {
    let bytes = content(300_000, 1);
    let jitter = Duration::from_millis(5);
    let weather = Weather { loss: 0.02, duplicates: 0.02, corruption: 0.02, jitter };
    let servers = if transport == Transport::R2cp { 2 } else { 1 };
    let config = DownloadConfig { transport, ..DownloadConfig::default() };
    let mut world = World::new(&vec![Shelf::of(&bytes); servers], 2, config, weather, seed);
    world.network.record = Some(Vec::new());
    world.run_until(|world| world.stored_bytes > 100_000);
    if servers == 2 {
        assert!(world.stop_server(1) > 0);
    }
    world.moved[0] = 1;
    world.complete(&bytes);
    world.network.record.take().expect("it was recorded")
}

#[test]
fn one_seed_brings_the_same_datagrams_and_another_brings_others() {
    for transport in [Transport::R2cp, Transport::Ptcp] {
        let first = datagrams(transport, 1);
        assert!(first.len() > 200, "{}", first.len());
        assert!(first == datagrams(transport, 1), "{transport}: seed 1 differs from itself");
        let other = datagrams(transport, 2);
        assert!(first[0].1 != other[0].1, "{transport}: the first Hello is drawn from the seed");
        let repeated =
            first.iter().filter(|(_, bytes)| other.iter().any(|(_, other)| other == bytes)).count();
        assert_eq!(repeated, 0, "{transport}: nothing of one seed is said under another");
    }
}
