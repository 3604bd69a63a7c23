//! Members, MPTCP and the daemons.
use crate::plans::{
    M1, M2, PROXY, RECEIVER, SERVER, community, download, link, lossy, run, run_steadily, seconds, warmed_up,
};
use prismux_lab::ARRIVAL_CELL;
use prismux_link::QueueLimit;
use prismux_plan::{Action, Congestion, Flow, Plan, Role, TcpSettings, Traffic, Transport, Tunnel};
use prismux_prism::{ProxyConfig, RpcMode};
use prismux_tcp::TcpProfile;
use prismux_units::{ByteCount, Duration};

pub fn single() {
    let plan = community(5.0, &[link(10, 10), link(10, 10)], download(Transport::Tcp).via(M2));
    let outcome = run_steadily(&warmed_up(plan, 2.0));
    let links = &outcome.result.links;
    assert_eq!((links["wwan1"].delivered_bytes, links["wlan1"].delivered_bytes), (0, 0));
    assert_eq!((links["wwan1"].share, links["wwan2"].share), (Some(0.0), Some(1.0)));
    // Both ways: the ACKs came back over the same links.
    let acks = outcome.emulator.links[3].1.stats.delivered_packets;
    assert_eq!(index_of(&outcome, "wwan2"), 3);
    assert!(acks > 100, "{acks}");
    // One of two equal links, less what a busy machine takes.
    let efficiency = outcome.result.total.steady_efficiency.expect("one");
    assert!((0.3..0.51).contains(&efficiency), "{efficiency}");
}

/// Changes the proxy's settings.
fn with_proxy(mut plan: Plan, change: impl Fn(&mut ProxyConfig)) -> Plan {
    for node in &mut plan.nodes {
        if let Role::PrismProxy(proxy) = &mut node.role {
            change(&mut proxy.config);
        }
    }
    plan
}

fn index_of(outcome: &prismux_lab::LabOutcome, name: &str) -> usize {
    outcome.result.links.get_index_of(name).expect("a link")
}

pub fn mptcp() {
    let window = Some(ByteCount::new(4_000_000));
    let tcp = TcpSettings { mss: Some(1200), window, ..TcpSettings::default() };
    let plan = community(
        6.0,
        &[link(10, 15), link(10, 15)],
        download(Transport::Mptcp(prismux_plan::MptcpSettings::DEFAULT)).tcp(tcp),
    );
    let outcome = run_steadily(&warmed_up(plan, 2.0));
    let efficiency = outcome.result.total.steady_efficiency.expect("a capacity");
    assert!(efficiency > 0.8, "{efficiency}");
    let flow = &outcome.flows["download"];
    assert_eq!(flow.senders.len(), 2, "subflows: {:?}", flow.senders);
    for subflow in &flow.senders {
        assert!(subflow.acknowledged_bytes > 1_000_000 && subflow.mss_bytes < 1200, "{subflow:?}");
    }
}

pub fn mptcp_members_come_and_go() {
    let mut plan = community(
        13.0,
        &[link(4, 10), link(4, 10)],
        download(Transport::Mptcp(prismux_plan::MptcpSettings::DEFAULT)),
    );
    plan.event(seconds(2.5), Action::Leave(M2));
    plan.event(seconds(5.0), Action::Join(M2));
    plan.measure.interval = Some(seconds(0.5));
    let outcome = run(&plan);
    let series = outcome.result.series.expect("a series");
    let wwan2 = &series.links["wwan2"].throughput_bps;
    let busy = |range: std::ops::Range<usize>| wwan2[range].iter().sum::<f64>() > 1e6;
    assert!(busy(2..5), "before it leaves: {wwan2:?}");
    assert!(!busy(6..10), "while it is away: {wwan2:?}");
    // The kernel asks for a new subflow when it likes, later on a busy machine.
    assert!(busy(14..26), "after it is back: {wwan2:?}");
}

pub fn proxied_download() {
    let flow = download(Transport::Tcp).bytes(ByteCount::new(6_000_000));
    let outcome = run(&community(20.0, &[link(10, 10), link(10, 10)], flow));
    let flow = &outcome.result.flows["download"];
    assert_eq!(flow.bytes, 6_000_000);
    assert!(flow.completion_s.is_some());
    // It really went through the daemons: tunnelled packets leave less room for payload.
    assert_eq!(outcome.flows["download"].senders[0].mss_bytes, 1424);
    let proxy = &outcome.result.nodes["proxy"];
    assert!(proxy["data_packets"] > 4000 && proxy["reverse_packets"] > 500, "{proxy:?}");
    assert_eq!(outcome.status["m1"]["state"], "registered");
}

/// What a receiver asks for comes as what is sent to it does: the answers go through the proxy, alone or beside a
/// download.
pub fn proxied_answers() {
    let traffic = Traffic::RequestResponse {
        request: ByteCount::new(300),
        response: ByteCount::new(100_000),
        think: Duration::from_millis(10),
        exchanges: Some(20),
    };
    let clicks = Flow::new("clicks", RECEIVER, SERVER, Transport::Tcp).traffic(traffic);
    let outcome = run(&community(20.0, &[link(10, 10), link(10, 10)], clicks));
    assert_eq!(outcome.result.flows["clicks"].response.expect("responses").count, 20);
    let proxy = &outcome.result.nodes["proxy"];
    // 71 packets of 1424 bytes for each answer.
    assert!(proxy["data_packets"] >= 20 * 70 && proxy["reverse_packets"] > 500, "{proxy:?}");
}

/// Lets the proxy use another tunnel.
pub fn with_tunnel(mut plan: Plan, tunnel: Tunnel) -> Plan {
    for node in &mut plan.nodes {
        if let Role::PrismProxy(proxy) = &mut node.role {
            proxy.tunnel = tunnel;
        }
    }
    plan
}

pub fn gre_in_udp() {
    let flow = download(Transport::Tcp).bytes(ByteCount::new(2_000_000));
    let plan = with_tunnel(community(20.0, &[link(10, 10), link(10, 10)], flow), Tunnel::GreInUdp);
    let outcome = run(&plan);
    assert_eq!(outcome.result.flows["download"].bytes, 2_000_000);
    // Eight bytes less than with plain GRE.
    assert_eq!(outcome.flows["download"].senders[0].mss_bytes, 1416);
}

/// The receiver writes a little back for every 32 kB, as HTTP/2 does, and the sender's kernel takes what its ACKs say.
pub fn receiver_writes_back() {
    let (bytes, updates_every) = (Some(ByteCount::new(6_000_000)), Some(ByteCount::new(32_768)));
    let flow = download(Transport::Tcp).traffic(Traffic::Bulk { bytes, updates_every });
    let outcome = run(&community(20.0, &[link(10, 10), link(10, 15)], flow));
    let flow = &outcome.flows["download"];
    assert_eq!((outcome.result.flows["download"].bytes, &flow.trouble), (6_000_000, &None));
    let share = outcome.result.links["wwan2"].share.expect("a share");
    assert!((0.3..0.7).contains(&share), "both links carry it: {share}");
}

/// A request is answered over the near link from the first packet on: how far members are shows when they register.
pub fn first_packets_take_the_near_link() {
    // Whichever of both registers first.
    for (delays, far) in [([150, 10], "wwan1"), ([10, 150], "wwan2")] {
        let flow = download(Transport::Tcp).bytes(ByteCount::new(4000));
        let outcome = run_steadily(&community(2.0, &delays.map(|ms| link(10, ms)), flow));
        assert_eq!(outcome.result.flows["download"].bytes, 4000);
        let share = outcome.result.links[far].share.expect("a share");
        // Probes of the far one are copies of a byte each; one of the packets may be repeated over it where an ACK is
        // late on a busy machine.
        assert!(share < 0.3, "{far}: {share}");
    }
}

pub fn sealed() {
    let flow = download(Transport::Tcp).bytes(ByteCount::new(2_000_000));
    let plan = with_tunnel(community(20.0, &[link(10, 10), link(10, 10)], flow), Tunnel::Sealed);
    let outcome = run(&plan);
    assert_eq!(outcome.result.flows["download"].bytes, 2_000_000);
    // 32 bytes less than with GRE in UDP.
    assert_eq!(outcome.flows["download"].senders[0].mss_bytes, 1384);
}

pub fn own_tcp() {
    let flow = download(Transport::TcpPrism).bytes(ByteCount::new(4_000_000));
    let plan = community(20.0, &[link(8, 10), lossy(link(8, 15), 0.005)], flow);
    let outcome = run(&with_proxy(plan, |config| *config = ProxyConfig::paper()));
    let flow = &outcome.result.flows["download"];
    assert_eq!(
        (flow.transport.as_str(), flow.bytes),
        ("tcp-prism", 4_000_000),
        "{:?}",
        outcome.flows["download"].trouble
    );
    // Losses were told to a sender that acted on them.
    let reports = outcome.result.nodes["proxy"]["reports_sent"];
    assert!(reports > 0 && flow.retransmitted_segments > 0, "{reports} {flow:?}");
}

/// What was under way to a member when it left still arrives: the proxy finds nothing lost and the sender resends
/// nothing.
pub fn leaves_in_good_order() {
    let roomy = |mbps, delay_ms| link(mbps, delay_ms).with_queue(QueueLimit::Packets(2000));
    let tcp = TcpSettings { window: Some(ByteCount::new(150_000)), ..controlled_by(Congestion::NewReno) };
    let flow = download(Transport::Tcp).bytes(ByteCount::new(3_000_000)).tcp(tcp);
    let mut plan = community(30.0, &[roomy(4, 60), roomy(4, 90)], flow);
    plan.event(Duration::from_millis(2500), Action::Leave(M2));
    let mut plan = with_proxy(plan, |config| *config = ProxyConfig::paper());
    plan.measure.interval = Some(seconds(0.1));
    let outcome = run_steadily(&plan);
    assert_eq!(outcome.result.flows["download"].bytes, 3_000_000);
    let links = &outcome.result.links;
    assert!(links["wwan2"].delivered_bytes > 300_000, "it carried its part: {links:?}");
    let proxy = &outcome.result.nodes["proxy"];
    // On a busy machine ACKs may overtake one another: a loss to the proxy, until it is shown to be none.
    let false_losses = proxy["false_losses"];
    assert_eq!((proxy["losses_detected"] - false_losses, proxy["no_data_holes"]), (0, 0), "{proxy:?}");
    assert!(outcome.result.flows["download"].retransmitted_segments <= false_losses, "{proxy:?}");
    // While both links carried, the proxy held ACKs back, and the series tells.
    let held = &outcome.result.series.expect("a series").flows["download"].held_acks;
    assert!(held.len() > 20 && held[5..20].iter().any(|count| *count > 0), "{held:?}");
}

/// A current kernel's TCP with this congestion control.
fn controlled_by(congestion: Congestion) -> TcpSettings {
    TcpSettings { congestion: Some(congestion), ..TcpSettings::default() }
}

/// Most time that a transfer may stand still after a member or the proxy was killed; the sender's timeouts are in it.
const MAX_STALL_S: f64 = 10.0;

pub fn kills() {
    survives_kills(ProxyConfig::default(), controlled_by(Congestion::Cubic));
}

pub fn kills_of_the_published_proxy() {
    survives_kills(ProxyConfig::paper(), controlled_by(Congestion::NewReno));
}

/// Member and proxy are killed in mid-transfer, ACK control in full; the connection goes on and the file is whole.
fn survives_kills(config: ProxyConfig, tcp: TcpSettings) {
    let flow = download(Transport::Tcp).bytes(ByteCount::new(12_000_000)).tcp(tcp);
    let mut plan = community(90.0, &[link(8, 10), lossy(link(8, 20), 0.001)], flow);
    for (at_ms, action) in [
        (1000, Action::Kill(M2)),
        (2000, Action::Restart(M2)),
        (4500, Action::Kill(PROXY)),
        (5000, Action::Restart(PROXY)),
    ] {
        plan.event(Duration::from_millis(at_ms), action);
    }
    let plan = with_proxy(plan, |proxy| *proxy = ProxyConfig { rpc: RpcMode::Full, ..config.clone() });
    let outcome = run(&plan);
    let flow = &outcome.flows["download"];
    assert_eq!(outcome.result.flows["download"].bytes, 12_000_000, "{:?}", flow.trouble);
    // The proxy that answers now is the second one, and it found the connection in mid-stream.
    let proxy = &outcome.status["proxy"];
    let uptime = proxy["uptime_s"].as_f64().expect("an uptime");
    assert!(uptime < outcome.result.duration_s - 4.0, "{uptime} of {}", outcome.result.duration_s);
    assert_eq!(proxy["counters"]["midstream_flows"], 1);
    let stall = longest_stall_s(&flow.arrivals.cells);
    println!("longest stall: {stall:.2} s, of {:.1} s in all", outcome.result.duration_s);
    assert!(stall < MAX_STALL_S, "the transfer stood still for {stall} s");
}

/// The longest time without any arrival between the first and the last.
fn longest_stall_s(cells: &[u64]) -> f64 {
    let longest = cells.split(|&bytes| bytes > 0).map(<[u64]>::len).max().unwrap_or(0);
    longest as f64 * ARRIVAL_CELL.as_secs_f64()
}

pub fn era_settings() {
    let measured = |tcp: TcpSettings| {
        let flow = download(Transport::Tcp).via(M1).tcp(tcp);
        run_steadily(&community(2.0, &[link(4, 20)], flow))
    };
    let (era, modern) =
        (measured(TcpSettings::profile(TcpProfile::Linux24)), measured(TcpSettings::default()));
    // Without timestamps a segment holds 12 bytes more.
    assert_eq!(era.flows["download"].senders[0].mss_bytes, 1460);
    assert_eq!(modern.flows["download"].senders[0].mss_bytes, 1448);
    // An initial window of 2 segments, not 10: fewer bytes within three round trips from the first.
    let early = |outcome: &prismux_lab::LabOutcome| {
        let cells = outcome.flows["download"].arrivals.cells.iter();
        cells.skip_while(|&&bytes| bytes == 0).take(16).sum::<u64>()
    };
    assert!(early(&era) < early(&modern), "{} {}", early(&era), early(&modern));
}
