//! A community behind a proxy: members join and leave, ACKs return through one of them.
use prismux_endpoint::random::Seed;
use prismux_link::{LinkConfig, QueueLimit};
use prismux_prism::{ProxyConfig, TcpPrism};
use prismux_simulator::{
    AnyTransport, Cbr, ExtensionFactory, FlowConfig, LinkIndex, NetworkBuilder, NetworkEvent, NodeId,
    Simulation, TcpFlow, Tunnel,
};
use prismux_tcp::TcpConfig;
use prismux_trace::event::{Event, EventSink};
use prismux_units::{Duration, Instant, Rate};
use std::sync::{Arc, Mutex};

struct Community {
    network: NetworkBuilder,
    server: NodeId,
    proxy: NodeId,
    members: [NodeId; 2],
    receiver: NodeId,
    wwan: [LinkIndex; 2],
    wlan: [LinkIndex; 2],
}

/// server - proxy = two members = receiver; the members' links as given (rate in Mbit/s, delay in ms).
fn community(config: ProxyConfig, tunnel: Tunnel, links: [(u64, u64); 2]) -> Community {
    let mut network = NetworkBuilder::new(Seed(7));
    network.checks(true);
    let server = network.host("server");
    let proxy = network.prism_proxy_with_tunnel("proxy", config, tunnel);
    let members = [network.member("m1"), network.member("m2")];
    let receiver = network.host("receiver");
    let fast =
        LinkConfig::new(Rate::from_mbps(100), Duration::from_millis(5)).with_queue(QueueLimit::Unlimited);
    network.symmetric_link("backbone", server, proxy, fast);
    let wwan = [0, 1].map(|index| {
        let (mbps, ms) = links[index];
        let slow = LinkConfig::new(Rate::from_mbps(mbps), Duration::from_millis(ms))
            .with_queue(QueueLimit::Bdp(1.0));
        network.symmetric_link(&format!("wwan{}", index + 1), proxy, members[index], slow)
    });
    let wlan = [0, 1].map(|index| {
        let wlan =
            LinkConfig::new(Rate::from_mbps(54), Duration::from_millis(1)).with_queue(QueueLimit::Unlimited);
        network.symmetric_link(&format!("wlan{}", index + 1), members[index], receiver, wlan)
    });
    Community { network, server, proxy, members, receiver, wwan, wlan }
}

fn tcp(config: TcpConfig) -> AnyTransport {
    TcpFlow::new(TcpConfig { mss: 1400, ..config }).into()
}

fn completed(simulation: &mut Simulation, limit: u64) -> f64 {
    assert!(simulation.run_to_completion(Instant::from_secs(limit)), "{:?}", simulation.result().flows);
    assert_eq!(simulation.faults(), Vec::<String>::new());
    simulation.now().as_secs_f64()
}

#[test]
fn one_download_uses_both_members() {
    let Community { mut network, server, proxy, receiver, wwan, .. } =
        community(ProxyConfig::default(), Tunnel::Gre, [(4, 40), (4, 60)]);
    let flow = FlowConfig::new(server, receiver, tcp(TcpConfig::modern())).carrying(10_000_000);
    network.flow("download", flow);
    let mut simulation = network.build().unwrap();
    completed(&mut simulation, 200);
    let result = simulation.result();
    let goodput = result.flows["download"].goodput_bps;
    // One link alone could give 4 Mbit/s less headers.
    assert!(goodput > 5.5e6, "{goodput}: {:?}", simulation.proxy_links(proxy));
    let share = result.links["wwan1"].share.unwrap();
    assert!((0.3..0.7).contains(&share), "{share}");
    assert!(result.links["wwan1"].shared && !result.links["backbone"].shared);
    // 1388 of 1464 bytes are payload: timestamps, headers and tunnel take the rest.
    assert!((result.total.capacity_bps - 8e6 * 1388.0 / 1464.0).abs() < 1.0, "{:?}", result.total);
    // The ACKs came back through the first member, in tunnels.
    assert!(simulation.reverse_stats(wwan[0]).delivered_packets > 1000);
    assert_eq!(simulation.reverse_stats(wwan[1]).delivered_packets, 0);
}

#[test]
fn tunnels_cost_their_headers_on_the_members_links_only() {
    for (tunnel, overhead) in [(Tunnel::Free, 0), (Tunnel::Gre, 24), (Tunnel::GreInUdp, 32)] {
        let Community { mut network, server, receiver, wwan, wlan, .. } =
            community(ProxyConfig::default(), tunnel, [(4, 10), (4, 10)]);
        let cbr = Cbr { rate: Rate::from_kbps(800), packet_bytes: 1000 };
        network.flow("udp", FlowConfig::new(server, receiver, cbr).carrying(97_200));
        let mut simulation = network.build().unwrap();
        simulation.run_until(Instant::from_secs(10));
        let bytes = |links: [LinkIndex; 2]| links.map(|link| simulation.forward_stats(link).delivered_bytes);
        assert_eq!(bytes(wwan).iter().sum::<u64>(), 100 * (1000 + overhead), "{tunnel:?}");
        assert_eq!(bytes(wlan).iter().sum::<u64>(), 100 * 1000, "{tunnel:?}");
        assert_eq!(simulation.faults(), Vec::<String>::new());
    }
}

#[test]
fn members_leave_and_join_without_losing_the_connection() {
    let Community { mut network, server, members, receiver, wwan, .. } =
        community(ProxyConfig::default(), Tunnel::Gre, [(4, 40), (4, 60)]);
    let flow = FlowConfig::new(server, receiver, tcp(TcpConfig::modern())).carrying(20_000_000);
    let download = network.flow("download", flow);
    // The member that ACKs return through is the one that goes.
    network.event(Instant::from_secs(10), NetworkEvent::Leave(members[0]));
    network.event(Instant::from_secs(20), NetworkEvent::Join(members[0]));
    let mut simulation = network.build().unwrap();
    let carried = |simulation: &Simulation| wwan.map(|link| simulation.forward_stats(link).delivered_packets);
    let at = |simulation: &mut Simulation, seconds| {
        simulation.run_until(Instant::from_secs(seconds));
        (carried(simulation), simulation.delivered_bytes(download))
    };
    let (before, _) = at(&mut simulation, 11);
    let (after, bytes_at_19) = at(&mut simulation, 19);
    assert_eq!(after[0], before[0], "nothing over a link that has left");
    assert!(after[1] > before[1] + 1000, "{before:?} {after:?}");
    assert!(simulation.reverse_stats(wwan[1]).delivered_packets > 500, "ACKs chose the other member");
    let (back, bytes_at_29) = at(&mut simulation, 29);
    assert!(back[0] > after[0] + 500, "the link is used again");
    assert!(bytes_at_29 > bytes_at_19 + 4_000_000);
    completed(&mut simulation, 200);
}

#[test]
fn a_member_that_vanishes_costs_time_but_no_byte() {
    use prismux_link::LinkChange;
    let Community { mut network, server, receiver, wwan, .. } =
        community(ProxyConfig::default(), Tunnel::Gre, [(4, 40), (4, 60)]);
    let flow = FlowConfig::new(server, receiver, tcp(TcpConfig::modern())).carrying(5_000_000);
    network.flow("download", flow);
    network.event(Instant::from_secs(4), NetworkEvent::LinkChange(wwan[1], LinkChange::DOWN));
    let mut simulation = network.build().unwrap();
    completed(&mut simulation, 300);
    assert!(simulation.forward_stats(wwan[1]).outage_drops > 0);
}

#[test]
fn a_member_can_be_the_receiver() {
    let mut network = NetworkBuilder::new(Seed(3));
    network.checks(true);
    let server = network.host("server");
    let proxy = network.prism_proxy("proxy", ProxyConfig::default());
    let (own, neighbour) = (network.member("own"), network.member("neighbour"));
    let link = |mbps, ms| LinkConfig::new(Rate::from_mbps(mbps), Duration::from_millis(ms));
    network.symmetric_link("backbone", server, proxy, link(100, 1));
    network.symmetric_link("wwan1", proxy, own, link(3, 50));
    let wwan2 = network.symmetric_link("wwan2", proxy, neighbour, link(3, 50));
    let wlan = network.symmetric_link("wlan", neighbour, own, link(54, 1));
    network.flow("download", FlowConfig::new(server, own, tcp(TcpConfig::modern())).carrying(4_000_000));
    let mut simulation = network.build().unwrap();
    completed(&mut simulation, 60);
    assert!(simulation.forward_stats(wwan2).delivered_packets > 500);
    assert_eq!(
        simulation.forward_stats(wlan).delivered_packets,
        simulation.forward_stats(wwan2).delivered_packets
    );
    assert_eq!(simulation.reverse_stats(wwan2).delivered_packets, 0, "ACKs go over the receiver's own link");
}

#[test]
fn tcp_prism_gets_loss_reports_and_resends_at_once() {
    use prismux_link::LossModel;
    use prismux_units::Probability;
    let mut network = NetworkBuilder::new(Seed(11));
    network.checks(true);
    let server = network.host("server");
    let proxy = network.prism_proxy("proxy", ProxyConfig::paper());
    let (m1, m2, receiver) = (network.member("m1"), network.member("m2"), network.host("receiver"));
    let link = |mbps, ms| LinkConfig::new(Rate::from_mbps(mbps), Duration::from_millis(ms));
    network.symmetric_link("backbone", server, proxy, link(100, 1));
    let lossy = link(2, 50).with_loss(LossModel::Bernoulli(Probability::new(0.01).unwrap()));
    network.link("wwan1", proxy, m1, lossy, link(2, 50));
    network.symmetric_link("wwan2", proxy, m2, link(2, 50));
    network.symmetric_link("wlan1", m1, receiver, link(54, 1));
    network.symmetric_link("wlan2", m2, receiver, link(54, 1));
    let sender = TcpFlow::new(TcpConfig { mss: 1400, ..TcpConfig::modern() })
        .with_extension("tcp-prism", ExtensionFactory::new(|| Box::new(TcpPrism::new())));
    let download = network.flow("download", FlowConfig::new(server, receiver, sender).carrying(6_000_000));
    let mut simulation = network.build().unwrap();
    completed(&mut simulation, 120);
    let metrics = simulation.sender(download).unwrap().metrics().engine;
    assert!(metrics.counters.loss_notices > 5, "{metrics:?}");
    assert_eq!(simulation.result().flows["download"].transport, "tcp-prism");
}

/// What an event log told last.
#[derive(Clone, Default)]
struct LastTold(Arc<Mutex<(u64, u64)>>);

impl EventSink for LastTold {
    fn event(&mut self, _at: Instant, event: &Event<'_>) {
        let mut told = self.0.lock().unwrap();
        match event {
            Event::HeldChanged { held_acks, .. } => told.0 = *held_acks,
            Event::WindowChanged { cwnd_bytes, .. } => told.1 = *cwnd_bytes,
            _ => {}
        }
    }
}

#[test]
fn the_event_log_tells_held_acks_and_windows_as_they_are() {
    let Community { mut network, server, receiver, .. } =
        community(ProxyConfig::default(), Tunnel::Gre, [(4, 20), (2, 120)]);
    let flow = network.flow("download", FlowConfig::new(server, receiver, tcp(TcpConfig::modern())));
    let told = LastTold::default();
    network.log_events(Box::new(told.clone()));
    let mut simulation = network.build().unwrap();
    let mut most_held = 0;
    for tenth in 5..80 {
        simulation.run_until(Instant::from_millis(tenth * 100));
        let cwnd_bytes = simulation.sender(flow).unwrap().engine().metrics().cwnd_bytes;
        let (held, window) = *told.0.lock().unwrap();
        assert_eq!((Some(held), window), (simulation.held_acks(flow), cwnd_bytes), "at {tenth}00 ms");
        most_held = most_held.max(held);
    }
    assert!(most_held > 10, "paths of unequal delay make the proxy hold ACKs: {most_held}");
}
