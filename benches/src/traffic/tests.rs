use super::Traffic;
use prismux_prism::ProxyConfig;

#[test]
fn every_packet_is_answered_and_released() {
    for config in [ProxyConfig::paper(), ProxyConfig::default()] {
        let mut traffic = Traffic::new(config, 50);
        traffic.open();
        let (mut sent, mut answered) = (0, 0);
        for _ in 0..20 {
            sent += traffic.send(8);
            // What finds links of unknown rate full waits, leaves as ACKs make room, and arrives as soon as it can.
            loop {
                traffic.receive();
                let more = traffic.acknowledge();
                answered += more;
                if more == 0 {
                    break;
                }
            }
        }
        let counters = traffic.proxy().counters();
        assert!(
            (sent..=sent + counters.probe_copies + counters.local_repairs).contains(&answered),
            "{answered} of {sent}: {counters:?}"
        );
        assert!(counters.data_packets >= 50 * 8 * 10, "{counters:?}");
        assert_eq!(counters.implausible_acks, 0);
        assert_eq!(counters.retransmissions, 0);
        // Order on a link condemns nothing wrongly; the rule for tails goes by time and may, when rounds are far apart.
        assert!(counters.false_losses <= counters.losses_by_time, "{counters:?}");
        assert!(counters.false_losses * 100 < counters.data_packets, "{counters:?}");
        assert_eq!(traffic.proxy().flow_count(), 50);
        // Held ACKs of the last round go out in the next; nothing is stuck for longer.
        assert!(traffic.outstanding() <= 50 * 8, "{}", traffic.outstanding());
    }
}

#[test]
fn packets_arrive_out_of_order() {
    let mut traffic = Traffic::new(ProxyConfig::paper(), 1);
    traffic.open();
    traffic.send(64);
    traffic.receive();
    traffic.acknowledge();
    assert!(traffic.proxy().counters().acks_held > 0, "links of unequal delay reorder");
}
