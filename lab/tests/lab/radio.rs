//! Hosts on one air, with the kernel's TCP and UDP at the ends.
use crate::plans::{assert_near, recorded, run, run_steadily, seconds};
use prismux_lab::LabOutcome;
use prismux_plan::{
    Action, Flow, FurtherRadio, MediumModel, NodeId, Plan, Radio, Routing, TcpSettings, Traffic, Transport,
    registry,
};
use prismux_tcp::TcpProfile;
use prismux_trace::event::Event;
use prismux_units::{ByteCount, Duration, Rate};
use prismux_wireless::{
    ChannelConfig, Coordination, HostId, MacConfig, Mobility, PollingConfig, Position, RadioConfig, Role,
};

pub fn routing(name: &str) -> Routing {
    registry::ROUTING.iter().find(|known| known.name == name).expect("a routing protocol").value
}

/// Hosts 200 m apart in a line: each hears its neighbours alone.
pub fn line(hosts: u32, duration_s: f64, routing: Routing, flow: impl Fn(NodeId, NodeId) -> Flow) -> Plan {
    let mut plan = Plan::new("on the air", seconds(duration_s));
    let nodes: Vec<NodeId> = (0..hosts).map(|host| plan.host(&format!("h{host}"))).collect();
    let place = |host: u32| Mobility::Static(Position { x_m: 200.0 * f64::from(host), y_m: 0.0 });
    let radio =
        Radio::new(RadioConfig::wavelan(), MacConfig::ns2(), (0..hosts).map(place).collect(), routing);
    plan.medium("air", &nodes, MediumModel::Radio(Box::new(radio)));
    plan.flow(flow(nodes[0], nodes[hosts as usize - 1]));
    plan
}

fn count(outcome: &LabOutcome, node: &str, name: &str) -> u64 {
    outcome.result.nodes[node][name]
}

/// One host sends more than the channel takes to its neighbour: what arrives follows from the timing of 802.11.
pub fn saturated() {
    let (rate, packet) = (Rate::from_mbps(3), ByteCount::new(1028));
    let traffic = Traffic::Cbr { rate, packet };
    let cbr = |from, to| Flow::new("load", from, to, Transport::Udp).traffic(traffic.clone());
    let outcome = run_steadily(&line(2, 4.0, Routing::Direct, cbr));
    // Microseconds: DIFS, 15 slots in the mean, RTS, CTS, data and ACK with their preambles, three SIFS.
    let preamble = 192.0;
    let frames = [20.0 * 8.0, 14.0 * 8.0, (1028.0 + 34.0) * 8.0 / 2.0, 14.0 * 8.0];
    let exchange_us = 50.0 + 15.0 * 20.0 + 3.0 * 10.0 + frames.iter().map(|us| us + preamble).sum::<f64>();
    let received = outcome.flows["load"].arrivals.total_bytes as f64 / 1000.0;
    assert_near("packets that arrived", received, 4e6 / exchange_us, 0.05);
    // Nothing was lost on the air: each exchange is four frames. What the kernel has after the end does not count.
    let frames = count(&outcome, "h0", "frames_sent") + count(&outcome, "h1", "frames_sent");
    assert!(frames.abs_diff(4 * received as u64) < 40, "{frames} frames, {received} packets");
    assert!(count(&outcome, "h0", "interface_queue_drops") > 0, "more was offered than the channel takes");
}

/// A relay with a radio on each side, on a channel of its own, sends and receives at once: it carries far more than one
/// that shares a channel with both.
pub fn relayed_between_channels() {
    let cbr = |from, to| {
        let traffic = Traffic::Cbr { rate: Rate::from_mbps(3), packet: ByteCount::new(1028) };
        Flow::new("load", from, to, Transport::Udp).traffic(traffic)
    };
    let carried = |channels: [u8; 3], further: Option<FurtherRadio>| {
        let mut plan = line(3, 4.0, routing("dsr"), cbr);
        let MediumModel::Radio(radio) = &mut plan.media[0].model else { unreachable!() };
        (radio.channels, radio.further_radios) = (channels.to_vec(), further.into_iter().collect());
        let outcome = run_steadily(&plan);
        let sent = count(&outcome, "h1", "acknowledged_bytes");
        let arrived = outcome.flows["load"].arrivals.total_bytes;
        assert!(sent >= arrived, "the relay passed {sent} of {arrived} bytes on");
        arrived
    };
    let one = carried([1, 1, 1], None);
    let two = carried([1, 1, 6], Some(FurtherRadio::new(1, 6)));
    assert!(one > 100_000 && two > one * 3 / 2, "{two} bytes with two radios, {one} with one");
}

/// A relay between 802.11a and 802.11b passes on as much as 802.11b takes.
pub fn relayed_between_kinds() {
    let cbr = |from, to| {
        let traffic = Traffic::Cbr { rate: Rate::from_mbps(6), packet: ByteCount::new(1028) };
        Flow::new("load", from, to, Transport::Udp).traffic(traffic)
    };
    let mut plan = line(3, 4.0, routing("aodv"), cbr);
    let MediumModel::Radio(radio) = &mut plan.media[0].model else { unreachable!() };
    radio.mac = MacConfig::dsss();
    let of_a = ChannelConfig { channel: 36, radio: radio.radio, mac: MacConfig::ofdm() };
    radio.channel_settings = vec![of_a];
    (radio.channels, radio.further_radios) = (vec![36, 36, 1], vec![FurtherRadio::new(1, 1)]);
    let outcome = run_steadily(&plan);
    // Microseconds: DIFS, 15.5 slots, data and ACK with their preambles, SIFS.
    let frames = [(1028.0 + 36.0) * 8.0 / 11.0, 14.0 * 8.0 / 2.0];
    let exchange_us = 50.0 + 310.0 + 10.0 + frames.iter().map(|us| us + 192.0).sum::<f64>();
    let received = outcome.flows["load"].arrivals.total_bytes as f64 / 1000.0;
    assert_near("packets that arrived", received, 4e6 / exchange_us, 0.1);
    // The relay refuses the rest, and not the sender, whose channel takes it all once there is a route.
    let [by_sender, by_relay] = ["h0", "h1"].map(|host| count(&outcome, host, "interface_queue_drops"));
    assert!(by_relay > 100 && by_sender * 3 < by_relay, "{by_sender} at the sender, {by_relay} at the relay");
}

/// A host out of the reach of one that polls sends over a relay in its cell, which has a second radio.
pub fn relayed_into_a_polled_cell() {
    let cbr = |from, to| {
        let traffic = Traffic::Cbr { rate: Rate::from_kbps(500), packet: ByteCount::new(1028) };
        Flow::new("load", from, to, Transport::Udp).traffic(traffic)
    };
    let mut plan = line(3, 4.0, routing("aodv"), cbr);
    let MediumModel::Radio(radio) = &mut plan.media[0].model else { unreachable!() };
    let (period, max_duration) = (seconds(0.05), seconds(0.04));
    let coordination = Coordination::Polling(PollingConfig { period, max_duration });
    radio.mac = MacConfig { coordination, ..MacConfig::dsss() };
    // The last one polls the second radio of the relay, which is the fourth of all.
    radio.channels = vec![6, 6, 1];
    radio.further_radios = vec![FurtherRadio::new(1, 1)];
    radio.roles = vec![Role::Station, Role::Station, Role::AccessPoint(vec![HostId(3)])];
    let outcome = run_steadily(&plan);
    let [sent, received] = outcome.flows["load"].packets.expect("packets");
    assert!(sent > 200 && received * 10 > sent * 9, "{received} of {sent}");
    assert!(count(&outcome, "h2", "frames_sent") > 2 * 4 * 20, "a beacon and an end in each period");
}

/// A receiver that leaves its sender's channel hears nothing more of it until the sender follows.
pub fn tuned() {
    let cbr = |from, to| {
        let traffic = Traffic::Cbr { rate: Rate::from_kbps(400), packet: ByteCount::new(500) };
        Flow::new("load", from, to, Transport::Udp).traffic(traffic)
    };
    let mut plan = line(2, 4.0, Routing::Direct, cbr);
    let MediumModel::Radio(radio) = &mut plan.media[0].model else { unreachable!() };
    radio.channels = vec![1, 1];
    let hosts = plan.media[0].attached.clone();
    plan.event(seconds(1.0), Action::Tune { host: hosts[1], channel: 6 });
    plan.event(seconds(3.0), Action::Tune { host: hosts[0], channel: 6 });
    plan.measure.interval = Some(seconds(0.5));
    let outcome = run_steadily(&plan);
    let rates = &outcome.result.series.expect("a series").flows["load"].goodput_bps;
    let mean_kbps = |samples: std::ops::Range<usize>| {
        let count = samples.len() as f64;
        rates[samples].iter().sum::<f64>() / count / 1000.0
    };
    assert!(mean_kbps(0..2) > 300.0 && mean_kbps(6..8) > 300.0, "on one channel: {rates:?}");
    assert!(mean_kbps(3..6) < 1.0, "on two channels: {rates:?}");
}

/// A connection over three hops, whose routes these protocols find when it begins.
pub fn relayed() {
    relayed_by("dsr", seconds(0.0), 8.0);
    relayed_by("aodv", seconds(0.0), 8.0);
}

/// The same with routes that are known only once their updates have gone round. Nobody acknowledges an update: one that
/// is lost comes again 15 s later, so there is time for two periods.
pub fn relayed_by_known_routes() {
    relayed_by("dsdv", seconds(37.0), 45.0);
}

fn relayed_by(name: &str, start: Duration, duration_s: f64) {
    let ftp = |from, to| {
        let window = Some(ByteCount::new(32_000));
        let tcp = TcpSettings { window, ..TcpSettings::profile(TcpProfile::Modern) };
        Flow::new("ftp", from, to, Transport::Tcp).tcp(tcp).start_at(start)
    };
    let outcome = run(&line(4, duration_s, routing(name), ftp));
    let arrived = outcome.flows["ftp"].arrivals.total_bytes;
    assert!(arrived > 100_000, "{name}: {arrived} bytes");
    for relay in ["h1", "h2"] {
        // What it passes on it has had from one neighbour and was acknowledged by another.
        let passed_on = count(&outcome, relay, "acknowledged_bytes");
        assert!(passed_on > arrived, "{name}: {relay} passed {passed_on} of {arrived} bytes on");
    }
    assert!(count(&outcome, "h0", "routing_control_packets") > 0, "{name}");
}

/// Two ways of two hops between the ends of a square. The relay in use is killed while datagrams go over it: its radio
/// falls silent, and they take the other way. One that is started again relays again, when the other dies.
pub fn rerouted() {
    for name in ["dsr", "aodv"] {
        let calls = |from, to| {
            let traffic = Traffic::Cbr { rate: Rate::from_kbps(100), packet: ByteCount::new(500) };
            Flow::new("calls", from, to, Transport::Udp).traffic(traffic)
        };
        let mut plan = line(3, 12.0, routing(name), calls);
        let other = plan.host("other");
        plan.media[0].attached.push(other);
        let MediumModel::Radio(radio) = &mut plan.media[0].model else { unreachable!() };
        // The relays do not hear each other: 260 m, where 250 m are heard.
        let places = [[0.0, 0.0], [200.0, 130.0], [400.0, 0.0], [200.0, -130.0]];
        radio.mobility = places.map(|[x_m, y_m]| Mobility::Static(Position { x_m, y_m })).into();
        let first = plan.media[0].attached[1];
        plan.event(seconds(4.0), Action::Kill(first));
        plan.event(seconds(8.0), Action::Restart(first));
        plan.event(seconds(9.0), Action::Kill(other));
        plan.measure.interval = Some(seconds(1.0));
        let outcome = run_steadily(&plan);
        let arrived = &outcome.result.series.as_ref().expect("a series").flows["calls"].goodput_bps;
        // A second may pass until a broken link is noticed and another way known.
        for part in [1..4, 6..9, 11..12] {
            let sum: f64 = arrived[part.clone()].iter().sum();
            assert!(sum > 80_000.0 * part.len() as f64, "{name}, {part:?}: {arrived:?}");
        }
        let passed = ["h1", "other"].map(|relay| count(&outcome, relay, "acknowledged_bytes"));
        assert!(passed.into_iter().min() > Some(20_000), "{name}: {passed:?} bytes by both");
    }
}

/// Frames last as long as the packet and the protocol's header on it take: four bytes and four for a source route, and
/// as many for each host between (RFC 4728).
pub fn lengths() {
    let preamble_us = 192;
    for (name, header_bytes) in [("dsr", 12), ("aodv", 0)] {
        let calls = |from, to| {
            let traffic = Traffic::Cbr { rate: Rate::from_kbps(100), packet: ByteCount::new(500) };
            Flow::new("calls", from, to, Transport::Udp).traffic(traffic)
        };
        let (_, events) = recorded(&line(3, 3.0, routing(name), calls));
        let airtimes: Vec<u64> = events.iter().filter_map(|record| airtime_of_data(&record.event)).collect();
        let wanted_us = preamble_us + (500 + header_bytes + 34) * 8 / 2;
        assert!(airtimes.len() > 50, "{name}: {} frames", airtimes.len());
        assert!(
            airtimes.iter().all(|ns| *ns == wanted_us * 1000),
            "{name}: {airtimes:?}, not {wanted_us} us"
        );
    }
}

fn airtime_of_data(event: &Event<'_>) -> Option<u64> {
    match event {
        Event::FrameSent { kind, flow: Some(_), airtime_ns, .. } if kind == "data" => Some(*airtime_ns),
        _ => None,
    }
}
