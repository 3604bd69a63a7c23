use crate::config::{LinkConfig, ProxyConfig};
use crate::ids::LinkId;
use crate::link_table::LinkTable;
use prismux_endpoint::random::Seed;
use prismux_units::{Duration, Instant, Rate};
use prismux_wire::SeqNumber;

/// Whether two sums are one, but for the order in which they were added up.
fn is_about(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(1.0)
}

fn check(links: &LinkTable) {
    let sums = links.sums();
    let in_flight: u64 = links.up().map(|(_, link)| link.variables.in_flight_bytes).sum();
    assert_eq!(links.in_flight_bytes(), in_flight);
    assert_eq!(sums.usable.count, links.up().filter(|(_, link)| link.usable).count());
    let rate: f64 = links.usable().filter_map(|(_, link)| link.model.planning_rate()).sum();
    assert!(is_about(sums.taking().rate, rate), "{} and {rate}", sums.taking().rate);
    let cap = links.usable().map(|(_, link)| link.model.cap_bytes()).fold(0, u64::saturating_add);
    assert_eq!(sums.taking().cap_bytes, cap);
    assert_eq!(sums.largest_hrtt, links.up().filter_map(|(_, link)| link.smoothed_rtt()).max());
    assert_eq!(sums.has_receipts, links.up().any(|(_, link)| link.model.has_receipts()));
    for (id, _) in links.up() {
        let others = links.usable().filter(|(other, _)| *other != id);
        let idle: f64 = others.map(|(_, link)| link.model.idle_rate(link.variables.in_flight_bytes)).sum();
        assert!(is_about(links.idle_rate_beside(id), idle));
    }
}

#[test]
fn sums_are_those_of_all_links_whatever_happens_to_them() {
    let (mut links, config) = (LinkTable::default(), ProxyConfig::default());
    let mut random = Seed(1).stream("groups");
    for step in 0..3000_u64 {
        let now = Instant::from_millis(step);
        let id = LinkId(random.below(if step < 300 { 8 } else { LinkId::COUNT as u64 }) as u8);
        match random.below(8) {
            0 | 1 => {
                let rate = random.chance(0.8).then(|| Rate::from_kbps(1 + random.below(10_000)));
                links.join(now, id, LinkConfig { advertised_rate: rate, ..LinkConfig::default() }, &config);
            }
            2 if random.chance(0.3) => drop(links.leave(now, id, &config)),
            3 => drop(links.send(now, id, 1448, (0, SeqNumber(1)))),
            4 => links.settle(id, 1448),
            5 => links.set_usable(id, random.chance(0.7), ""),
            6 => {
                let rtt = Duration::from_millis(1 + random.below(200));
                if let Some(link) = links.get_mut(id) {
                    link.on_rtt(now, rtt, 0.25);
                    link.model.on_probe(now, rtt);
                }
            }
            _ if random.chance(0.1) => links.arrange(),
            _ => {}
        }
        check(&links);
    }
    assert!(links.up_count() > 100);
}
