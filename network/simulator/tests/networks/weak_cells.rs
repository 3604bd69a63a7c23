//! Hosts that relay for one that hears its base station, but weakly.
use crate::relays::{Listener, PROTOCOLS, Road, counter, drive, parked};
use prismux_plan::{Flow, Traffic, Transport};
use prismux_units::{ByteCount, Duration, Rate};
use prismux_wireless::{ArfConfig, ChannelConfig, MacConfig, Mobility, RateControl};

/// A road on which rates follow the losses in the cell, and are 11 Mbit/s between hosts.
fn road(protocol: usize, hosts: Vec<Mobility>, relays_below_db: Option<f64>) -> Road {
    let mut road = Road::new(PROTOCOLS[protocol], hosts);
    let radio = road.radio();
    let relays = ChannelConfig { channel: 11, radio: radio.radio, mac: radio.mac };
    radio.channel_settings.push(relays);
    radio.mac = MacConfig { rate_control: RateControl::Arf(ArfConfig::kamerman_monteban()), ..radio.mac };
    radio.cells.as_mut().unwrap().relays_below_db = relays_below_db;
    road
}

#[test]
fn a_host_at_the_edge_of_a_cell_that_goes_over_another_leaves_the_others_more_of_it() {
    for protocol in 0..PROTOCOLS.len() {
        let carried = |relays_below_db| {
            let mut road = road(protocol, [60.0, 230.0].map(parked).to_vec(), relays_below_db);
            for (name, to) in [("near", road.hosts[0]), ("far", road.hosts[1])] {
                let traffic = Traffic::Cbr { rate: Rate::from_mbps(2), packet: ByteCount::new(1000) };
                let flow = Flow::new(name, road.server, to, Transport::Udp).traffic(traffic);
                road.plan.flow(flow.start_at(Duration::from_secs(8)));
            }
            let listener = Listener::default();
            let mut simulation = road.run_told(1, 28, Some(Box::new(listener.clone())));
            let flows = simulation.result().flows;
            let relayed = counter(&mut simulation, "h0", "packets_relayed");
            let gateways = listener.0.lock().unwrap().clone();
            (["near", "far"].map(|flow| flows[flow].bytes as f64 * 8.0 / 20e6), relayed, gateways)
        };
        let ([near, far], relayed, gateways) = carried(None);
        assert!(near + far < 2.2, "one packet in two goes at 1 Mbit/s: {near} and {far} Mbit/s");
        assert_eq!((relayed, gateways), (0, vec![]));
        let ([near, far], relayed, gateways) = carried(Some(6.0));
        assert!(near > 1.85 && far > 1.85, "{protocol}: {near} and {far} Mbit/s");
        assert!(relayed > 4000, "{relayed} packets");
        assert_eq!(gateways, [(0, "h1: none to h0".to_string())]);
    }
}

#[test]
fn a_host_goes_over_another_while_it_is_weak_and_without_one_by_itself() {
    // Weak below 6 dB, at 177 m, and strong again above 9 dB, at 149 m.
    let stops = [(0, 230.0), (10, 230.0), (20, 100.0), (30, 100.0), (40, 230.0), (50, 230.0)];
    for relay_at_m in [60.0, 900.0] {
        let mut road = road(1, vec![parked(relay_at_m), drive(&stops)], Some(6.0));
        let car = road.hosts[1];
        let flow = road.download(car, 1_000_000_000);
        let listener = Listener::default();
        let mut simulation = road.run_told(1, 50, Some(Box::new(listener.clone())));
        let gateways = listener.0.lock().unwrap().clone();
        if relay_at_m < 100.0 {
            let expected = [(0, "h1: none to h0"), (16, "h1: h0 to none"), (36, "h1: none to h0")]
                .map(|(s, line)| (s, line.to_string()));
            assert_eq!(gateways, expected);
        } else {
            assert_eq!(gateways, [], "out of its reach");
        }
        let bytes = simulation.delivered_bytes(flow);
        let least = if relay_at_m < 100.0 { 17_000_000 } else { 10_000_000 };
        assert!(bytes > least, "{bytes} bytes");
        for counted in ["handoffs", "coverage_losses", "packets_without_link"] {
            assert_eq!(counter(&mut simulation, "h1", counted), 0, "{counted}");
        }
    }
}
