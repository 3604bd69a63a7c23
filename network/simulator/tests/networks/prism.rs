//! A community behind a proxy: members join and leave, ACKs return through one of them.
use prismux_endpoint::random::Seed;
use prismux_link::{LinkConfig, QueueLimit};
use prismux_plan::{
    Action, Flow, FlowId, LinkId, NodeId, Plan, ProxySettings, Traffic, Transport, Tunnel, UPDATE_BYTES,
};
use prismux_prism::{ProxyConfig, TcpPrism};
use prismux_simulator::{AnyTransport, Cbr, ExtensionFactory, Simulation, SimulationOptions, TcpFlow};
use prismux_tcp::TcpConfig;
use prismux_trace::event::{Event, EventSink};
use prismux_units::{ByteCount, Duration, Instant, Rate};
use std::sync::{Arc, Mutex};

struct Community {
    plan: Plan,
    server: NodeId,
    proxy: NodeId,
    members: [NodeId; 2],
    receiver: NodeId,
    wwan: [LinkId; 2],
    wlan: [LinkId; 2],
}

/// server - proxy = two members = receiver; the members' links as given (rate in Mbit/s, delay in ms).
fn community(config: ProxyConfig, tunnel: Tunnel, links: [(u64, u64); 2]) -> Community {
    let mut plan = Plan::new("community", Duration::from_secs(300));
    let server = plan.host("server");
    let proxy = plan.prism_proxy("proxy", ProxySettings { tunnel, ..config.into() });
    let members = [plan.member("m1"), plan.member("m2")];
    let receiver = plan.host("receiver");
    let fast =
        LinkConfig::new(Rate::from_mbps(100), Duration::from_millis(5)).with_queue(QueueLimit::Unlimited);
    plan.symmetric_link("backbone", [server, proxy], fast);
    let wwan = [0, 1].map(|index| {
        let (mbps, ms) = links[index];
        let slow = LinkConfig::new(Rate::from_mbps(mbps), Duration::from_millis(ms))
            .with_queue(QueueLimit::Bdp(1.0));
        plan.symmetric_link(&format!("wwan{}", index + 1), [proxy, members[index]], slow)
    });
    let wlan = [0, 1].map(|index| {
        let wlan =
            LinkConfig::new(Rate::from_mbps(54), Duration::from_millis(1)).with_queue(QueueLimit::Unlimited);
        plan.symmetric_link(&format!("wlan{}", index + 1), [members[index], receiver], wlan)
    });
    Community { plan, server, proxy, members, receiver, wwan, wlan }
}

fn tcp(config: TcpConfig) -> AnyTransport {
    TcpFlow::new(TcpConfig { mss: 1400, ..config }).into()
}

/// A download of so many bytes (`None`: without end), and the simulation of it.
fn download(plan: &mut Plan, (from, to): (NodeId, NodeId), bytes: Option<u64>) -> (FlowId, Simulation) {
    let mut options = SimulationOptions::checked();
    let flow = Flow::new("download", from, to, Transport::Tcp);
    let flow = flow.traffic(Traffic::bulk(bytes.map(ByteCount::new)));
    let flow = options.carry(plan, flow, tcp(TcpConfig::modern()));
    (flow, Simulation::from_plan(plan, Seed(7), options).unwrap())
}

fn completed(simulation: &mut Simulation, limit: u64) -> f64 {
    assert!(simulation.run_to_completion(Instant::from_secs(limit)), "{:?}", simulation.result().flows);
    assert_eq!(simulation.faults(), Vec::<String>::new());
    simulation.now().as_secs_f64()
}

#[test]
fn one_download_uses_both_members() {
    let Community { mut plan, server, proxy, receiver, wwan, .. } =
        community(ProxyConfig::default(), Tunnel::Gre, [(4, 40), (4, 60)]);
    let (_, mut simulation) = download(&mut plan, (server, receiver), Some(10_000_000));
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
        let Community { mut plan, server, receiver, wwan, wlan, .. } =
            community(ProxyConfig::default(), tunnel, [(4, 10), (4, 10)]);
        let cbr = Cbr { rate: Rate::from_kbps(800), packet_bytes: 1000 };
        let flow = Flow::new("udp", server, receiver, Transport::Tcp).bytes(ByteCount::new(97_200));
        let mut options = SimulationOptions::checked();
        options.carry(&mut plan, flow, cbr);
        let mut simulation = Simulation::from_plan(&plan, Seed(7), options).unwrap();
        simulation.run_until(Instant::from_secs(10));
        let bytes = |links: [LinkId; 2]| links.map(|link| simulation.forward_stats(link).delivered_bytes);
        assert_eq!(bytes(wwan).iter().sum::<u64>(), 100 * (1000 + overhead), "{tunnel:?}");
        assert_eq!(bytes(wlan).iter().sum::<u64>(), 100 * 1000, "{tunnel:?}");
        assert_eq!(simulation.faults(), Vec::<String>::new());
    }
}

#[test]
fn members_leave_and_join_without_losing_the_connection() {
    let Community { mut plan, server, members, receiver, wwan, .. } =
        community(ProxyConfig::default(), Tunnel::Gre, [(4, 40), (4, 60)]);
    // The member that ACKs return through is the one that goes.
    plan.event(Duration::from_secs(10), Action::Leave(members[0]));
    plan.event(Duration::from_secs(20), Action::Join(members[0]));
    let (download, mut simulation) = download(&mut plan, (server, receiver), Some(20_000_000));
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
    let Community { mut plan, server, receiver, wwan, .. } =
        community(ProxyConfig::default(), Tunnel::Gre, [(4, 40), (4, 60)]);
    plan.event(Duration::from_secs(4), Action::both_ways(wwan[1], LinkChange::DOWN));
    let (_, mut simulation) = download(&mut plan, (server, receiver), Some(5_000_000));
    completed(&mut simulation, 300);
    assert!(simulation.forward_stats(wwan[1]).outage_drops > 0);
}

#[test]
fn a_member_can_be_the_receiver() {
    let mut plan = Plan::new("own link", Duration::from_secs(60));
    let server = plan.host("server");
    let proxy = plan.prism_proxy("proxy", ProxyConfig::default().into());
    let (own, neighbour) = (plan.member("own"), plan.member("neighbour"));
    let link = |mbps, ms| LinkConfig::new(Rate::from_mbps(mbps), Duration::from_millis(ms));
    plan.symmetric_link("backbone", [server, proxy], link(100, 1));
    plan.symmetric_link("wwan1", [proxy, own], link(3, 50));
    let wwan2 = plan.symmetric_link("wwan2", [proxy, neighbour], link(3, 50));
    let wlan = plan.symmetric_link("wlan", [neighbour, own], link(54, 1));
    let (_, mut simulation) = download(&mut plan, (server, own), Some(4_000_000));
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
    let (mut plan, mut options) =
        (Plan::new("reports", Duration::from_secs(120)), SimulationOptions::checked());
    let server = plan.host("server");
    let proxy = plan.prism_proxy("proxy", ProxyConfig::paper().into());
    let (m1, m2, receiver) = (plan.member("m1"), plan.member("m2"), plan.host("receiver"));
    let link = |mbps, ms| LinkConfig::new(Rate::from_mbps(mbps), Duration::from_millis(ms));
    plan.symmetric_link("backbone", [server, proxy], link(100, 1));
    let lossy = link(2, 50).with_loss(LossModel::Bernoulli(Probability::new(0.01).unwrap()));
    plan.link("wwan1", [proxy, m1], lossy, link(2, 50));
    plan.symmetric_link("wwan2", [proxy, m2], link(2, 50));
    plan.symmetric_link("wlan1", [m1, receiver], link(54, 1));
    plan.symmetric_link("wlan2", [m2, receiver], link(54, 1));
    let sender = TcpFlow::new(TcpConfig { mss: 1400, ..TcpConfig::modern() })
        .with_extension("tcp-prism", ExtensionFactory::new(|| Box::new(TcpPrism::new())));
    let flow = Flow::new("download", server, receiver, Transport::Tcp).bytes(ByteCount::new(6_000_000));
    let download = options.carry(&mut plan, flow, sender);
    let mut simulation = Simulation::from_plan(&plan, Seed(11), options).unwrap();
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
    let Community { mut plan, server, receiver, .. } =
        community(ProxyConfig::default(), Tunnel::Gre, [(4, 20), (2, 120)]);
    let told = LastTold::default();
    let mut options =
        SimulationOptions { events: Some(Box::new(told.clone())), ..SimulationOptions::checked() };
    let flow = Flow::new("download", server, receiver, Transport::Tcp);
    let flow = options.carry(&mut plan, flow, tcp(TcpConfig::modern()));
    let mut simulation = Simulation::from_plan(&plan, Seed(7), options).unwrap();
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

/// As HTTP/2 has it: an ACK in ten comes with data, for which nothing may wait.
#[test]
fn a_receiver_that_writes_back_takes_nothing_from_its_download() {
    let links = [(30, 25), (12, 60)];
    let bytes = 40_000_000;
    let seconds = |updates_every| {
        let Community { mut plan, server, receiver, .. } =
            community(ProxyConfig::default(), Tunnel::Gre, links);
        let mut options = SimulationOptions::checked();
        let flow = Flow::new("download", server, receiver, Transport::Tcp).bytes(ByteCount::new(bytes));
        let config = TcpConfig { mss: 1400, ..TcpConfig::modern() };
        options.carry(&mut plan, flow, TcpFlow { updates_every, ..TcpFlow::new(config) });
        let mut simulation = Simulation::from_plan(&plan, Seed(7), options).unwrap();
        let seconds = completed(&mut simulation, 30);
        let answers = simulation.reverse_stats(LinkId::new(0)).delivered_bytes;
        (seconds, answers)
    };
    let ((plain, acks), (with_updates, with_acks)) = (seconds(None), seconds(Some(32_768)));
    assert!(with_updates < 1.02 * plain, "{with_updates} {plain}");
    // All of them came back.
    let updates = bytes / 32_768 * UPDATE_BYTES;
    assert!(with_acks > acks + updates * 9 / 10, "{with_acks} {acks} {updates}");
}
