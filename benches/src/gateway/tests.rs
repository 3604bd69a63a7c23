//! What users of a gateway with two hundred members are promised.
use super::{Gateway, LineConfig};
use prismux_prism::{LinkId, LinkState, ProxyConfig};
use prismux_trace::results::jain;
use prismux_units::{Duration, Rate};

const MEMBERS: usize = 200;

fn equal(count: usize) -> Vec<LineConfig> {
    vec![LineConfig { rate: Rate::from_mbps(1), delay: Duration::from_millis(20) }; count]
}

fn shares(bytes: &[u64]) -> Vec<f64> {
    bytes.iter().map(|&bytes| bytes as f64).collect()
}

/// Bytes per second that links of 1 Mbit/s carry, headers apart.
fn capacity(links: usize) -> f64 {
    125_000.0 * links as f64 * 1400.0 / 1452.0
}

/// A hundred downloads over two hundred equal links, when they have had the time to find them.
fn at_work() -> Gateway {
    let mut gateway = Gateway::new(ProxyConfig::default(), 100, &equal(MEMBERS), Duration::from_secs(1));
    gateway.run(Duration::from_secs(4));
    gateway.take_delivered();
    gateway.take_carried();
    gateway
}

#[test]
fn two_hundred_equal_links_are_all_used_and_shared_alike() {
    let mut gateway = at_work();
    gateway.run(Duration::from_secs(2));
    let delivered = gateway.take_delivered();
    let rate = delivered.iter().sum::<u64>() as f64 / 2.0;
    assert!(rate > 0.9 * capacity(MEMBERS), "{rate} of {}", capacity(MEMBERS));
    let carried = gateway.take_carried();
    let (least, most) = (carried.iter().min().unwrap(), carried.iter().max().unwrap());
    assert!(*least * 2 > *most, "from {least} to {most} packets over a link");
    assert!(jain(&shares(&delivered)).unwrap() > 0.95, "{:?}", jain(&shares(&delivered)));
    assert_eq!(gateway.overflows() + gateway.timeouts(), 0);
}

#[test]
fn links_that_die_and_members_that_leave_are_left_and_every_byte_comes() {
    let mut gateway = at_work();
    (0..10).for_each(|number| gateway.kill(LinkId(number * 20)));
    (0..10).for_each(|number| gateway.leave(LinkId(number * 20 + 7)));
    gateway.run(Duration::from_secs(3));
    gateway.take_delivered();
    gateway.run(Duration::from_secs(2));
    let status = gateway.proxy().link_status();
    for number in 0..10_usize {
        assert_eq!(status[number * 20].state, LinkState::Silent, "link {}", number * 20);
        assert_eq!(status[number * 20 + 7].state, LinkState::Down);
    }
    let delivered = gateway.take_delivered();
    let rate = delivered.iter().sum::<u64>() as f64 / 2.0;
    assert!(rate > 0.85 * capacity(MEMBERS - 20), "{rate} of {}", capacity(MEMBERS - 20));
    assert!(delivered.iter().all(|&bytes| bytes > 0), "a download stands still");
}

#[test]
fn a_download_uses_the_links_that_its_window_covers() {
    let mut gateway = Gateway::new(ProxyConfig::default(), 1, &equal(MEMBERS), Duration::ZERO);
    gateway.run(Duration::from_secs(6));
    gateway.take_delivered();
    gateway.take_carried();
    gateway.run(Duration::from_secs(4));
    let used = gateway.take_carried().iter().filter(|&&packets| packets > 4).count();
    let rate = gateway.take_delivered()[0] as f64 / 4.0;
    // A window of a megabyte and 50 ms, or longer where links are full.
    assert!((20..=MEMBERS).contains(&used), "{used} links");
    assert!(rate > 5e6, "{rate} bytes per second over {used} links");
}

#[test]
fn many_more_downloads_than_links_hold_packets_share_what_there_is() {
    // A packet and a half for each in a second.
    let line =
        |link: u64| LineConfig { rate: Rate::from_mbps(2), delay: Duration::from_millis(10 + 12 * link) };
    let lines: Vec<_> = (0..5).map(line).collect();
    let mut gateway = Gateway::new(ProxyConfig::default(), 500, &lines, Duration::from_secs(8));
    gateway.run(Duration::from_secs(13));
    gateway.take_delivered();
    gateway.run(Duration::from_secs(5));
    let delivered = gateway.take_delivered();
    let used = delivered.iter().sum::<u64>() as f64 / 5.0 / capacity(10);
    assert!(used > 0.95, "{used}");
    assert!(jain(&shares(&delivered)).unwrap() > 0.9, "{:?}", jain(&shares(&delivered)));
    assert!(delivered.iter().all(|&bytes| bytes > 0), "a download stands still");
    assert!(gateway.proxy().flow_memory_bytes() < 8000 * 500);
}
