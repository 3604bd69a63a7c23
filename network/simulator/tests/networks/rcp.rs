//! RCP over simulated networks: the same engine as TCP's, so the same windows and a fair share beside it; and every
//! byte once and in order whatever the links do (the stream checkers are on).
#![allow(clippy::disallowed_macros, reason = "prints the figures of the protocol's page")]
use prismux_endpoint::random::Seed;
use prismux_link::{Jitter, LinkChange, LinkConfig, LossModel, QueueLimit};
use prismux_plan::{Action, Flow, FlowId, Plan, Transport};
use prismux_rcp::RcpConfig;
use prismux_simulator::{AnyTransport, RcpFlow, Simulation, SimulationOptions, TcpFlow};
use prismux_tcp::engine::{CongestionKind, EngineConfig};
use prismux_tcp::{TcpConfig, TcpProfile};
use prismux_units::{ByteCount, Duration, Instant, Probability, Rate};

/// TCP with an ACK for every segment, as an RCP receiver asks for every segment that arrives.
fn tcp(profile: TcpProfile, congestion: CongestionKind) -> TcpConfig {
    let base = profile.config();
    TcpConfig {
        engine: EngineConfig { congestion, ..base.engine },
        delayed_ack: None,
        receive_buffer: ByteCount::new(50_000_000),
        window_scaling: true,
        ..base
    }
}

fn rcp(tcp: &TcpConfig) -> AnyTransport {
    RcpFlow::new(RcpConfig::from_tcp(tcp)).into()
}

/// The window, whenever it changes.
fn window_trace(transport: AnyTransport, queue: QueueLimit, seconds: u64) -> Vec<u64> {
    let (mut plan, mut options) = (Plan::new("path", Duration::from_secs(60)), SimulationOptions::default());
    let (server, client) = (plan.host("server"), plan.host("client"));
    // Only the way of the data has a rate, so that the sizes of ACKs and requests do not matter.
    let data = LinkConfig::new(Rate::from_mbps(20), Duration::from_millis(40)).with_queue(queue);
    let back = LinkConfig { rate: None, ..LinkConfig::new(Rate::from_mbps(1), Duration::from_millis(40)) };
    plan.link("path", [server, client], data, back);
    let flow = Flow::new("download", server, client, Transport::Tcp);
    let flow = options.carry(&mut plan, flow, transport);
    let mut simulation = Simulation::from_plan(&plan, Seed(1), options).unwrap();
    let mut trace = Vec::new();
    let step = Duration::from_micros(50);
    while simulation.now() < Instant::from_secs(seconds) {
        simulation.run_until(simulation.now() + step);
        let metrics = match (simulation.sender(flow), simulation.rcp_receiver(flow)) {
            (Some(connection), _) => connection.engine().metrics(),
            (_, Some(receiver)) => receiver.pipe().metrics(),
            _ => continue,
        };
        let now = metrics.cwnd_bytes;
        if trace.last() != Some(&now) {
            trace.push(now);
        }
    }
    assert_eq!(simulation.faults(), Vec::<String>::new());
    trace
}

#[test]
fn on_a_clean_symmetric_path_the_windows_are_those_of_tcp() {
    for profile in [TcpProfile::Modern, TcpProfile::Linux24] {
        for congestion in [CongestionKind::NewReno, CongestionKind::Cubic] {
            let tcp = tcp(profile, congestion);
            let theirs = window_trace(TcpFlow::new(tcp.clone()).into(), QueueLimit::Unlimited, 3);
            let ours = window_trace(rcp(&tcp), QueueLimit::Unlimited, 3);
            assert!(theirs.len() > 100, "{profile} {congestion:?}: {} windows", theirs.len());
            let differs = ours.iter().zip(&theirs).position(|(ours, theirs)| ours != theirs);
            assert_eq!(differs, None, "{profile} {congestion:?}: {:?} {:?}", ours.len(), theirs.len());
        }
    }
}

/// Mean goodput of the RCP flows and of the TCP flows, where there are any.
type Means = (Option<f64>, Option<f64>);

/// Twenty flows over one bottleneck, of which `receivers` are RCP; mean goodput of each kind in bit/s from `warm` on.
fn shares(receivers: u64, seed: u64) -> Means {
    let (warm, until) = (20, 120);
    let (mut plan, mut options) =
        (Plan::new("shares", Duration::from_secs(until)), SimulationOptions::default());
    let (left, right) = (plan.router("left"), plan.router("right"));
    let bottleneck =
        LinkConfig::new(Rate::from_mbps(10), Duration::from_millis(30)).with_queue(QueueLimit::Packets(100));
    plan.symmetric_link("bottleneck", [left, right], bottleneck);
    let mut tcp = tcp(TcpProfile::Linux24, CongestionKind::NewReno);
    tcp.engine.growth_per_ack = false;
    let mut flows = Vec::new();
    for index in 0..20 {
        let source = plan.host(&format!("source{index}"));
        let sink = plan.host(&format!("sink{index}"));
        // A little jitter in the hosts, as in real ones, breaks the phase effects of drop-tail queues.
        let access = LinkConfig {
            jitter: Jitter { max: Duration::from_micros(800), in_order: true },
            ..LinkConfig::new(Rate::from_mbps(50), Duration::from_millis(5)).with_queue(QueueLimit::Unlimited)
        };
        plan.symmetric_link(&format!("up{index}"), [source, left], access.clone());
        plan.symmetric_link(&format!("down{index}"), [right, sink], access);
        // The kinds alternate, so that neither is the earlier one.
        let is_rcp = (index * receivers) / 20 != ((index + 1) * receivers) / 20;
        let transport = if is_rcp { rcp(&tcp) } else { TcpFlow::new(tcp.clone()).into() };
        let start = Duration::from_millis(index * 100);
        let flow = Flow::new(&format!("flow{index}"), source, sink, Transport::Tcp).start_at(start);
        flows.push((options.carry(&mut plan, flow, transport), is_rcp));
    }
    let mut simulation = Simulation::from_plan(&plan, Seed(seed), options).unwrap();
    simulation.run_until(Instant::from_secs(warm));
    let bytes = |simulation: &Simulation, flow: FlowId| simulation.delivered_bytes(flow) as f64 * 8.0;
    let before: Vec<f64> = flows.iter().map(|&(flow, _)| bytes(&simulation, flow)).collect();
    simulation.run_until(Instant::from_secs(until));
    assert_eq!(simulation.faults(), Vec::<String>::new());
    let mean = |kind: bool| {
        let of_kind = flows.iter().zip(&before).filter(|((_, is_rcp), _)| *is_rcp == kind);
        let rates: Vec<f64> = of_kind
            .map(|(&(flow, _), before)| (bytes(&simulation, flow) - before) / (until - warm) as f64)
            .collect();
        (!rates.is_empty()).then(|| rates.iter().sum::<f64>() / rates.len() as f64)
    };
    (mean(true), mean(false))
}

#[test]
fn twenty_flows_in_any_proportion_have_the_same_mean() {
    for receivers in [5, 10, 15] {
        let runs: Vec<_> = (1..=8).map(|seed| shares(receivers, seed)).collect();
        let mean = |pick: fn(&Means) -> Option<f64>| {
            let values: Vec<f64> = runs.iter().filter_map(pick).collect();
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
        let (ours, theirs) = (mean(|run| run.0), mean(|run| run.1));
        println!("{receivers} of 20 RCP: {ours:?} TCP: {theirs:?}");
        if let (Some(ours), Some(theirs)) = (ours, theirs) {
            let all = (ours * receivers as f64 + theirs * (20 - receivers) as f64) / 20.0;
            assert!((ours / all - 1.0).abs() < 0.05 && (theirs / all - 1.0).abs() < 0.05, "{ours} {theirs}");
        }
        let total = ours.unwrap_or(0.0) * receivers as f64 + theirs.unwrap_or(0.0) * (20 - receivers) as f64;
        assert!(total > 0.93 * 10e6, "{receivers}: {total}");
    }
}

/// A download over one link with the given properties, both ways; the transfer must complete within 400 s.
fn download(link: LinkConfig, change: &[(u64, LinkChange)], seed: u64) -> (Simulation, FlowId) {
    let (mut plan, mut options) =
        (Plan::new("download", Duration::from_secs(600)), SimulationOptions::checked());
    let (server, client) = (plan.host("server"), plan.host("client"));
    let path = plan.symmetric_link("path", [server, client], link);
    let transport = rcp(&tcp(TcpProfile::Modern, CongestionKind::Cubic));
    let flow = Flow::new("download", server, client, Transport::Tcp).bytes(ByteCount::new(3_000_000));
    let flow = options.carry(&mut plan, flow, transport);
    for &(at, change) in change {
        plan.event(Duration::from_millis(at), Action::both_ways(path, change));
    }
    let mut simulation = Simulation::from_plan(&plan, Seed(seed), options).unwrap();
    assert!(simulation.run_to_completion(Instant::from_secs(400)), "seed {seed}: not complete");
    simulation.run_until(simulation.now() + Duration::from_secs(5));
    assert_eq!(simulation.faults(), Vec::<String>::new(), "seed {seed}");
    assert_eq!(simulation.delivered_bytes(flow), 3_000_000);
    (simulation, flow)
}

fn ten_megabits() -> LinkConfig {
    LinkConfig::new(Rate::from_mbps(10), Duration::from_millis(20)).with_queue(QueueLimit::Packets(50))
}

#[test]
fn lossy_reordering_duplicating_links_lose_no_byte() {
    for seed in 1..=10 {
        let link = LinkConfig {
            loss: LossModel::Bernoulli(Probability::new(0.03).unwrap()),
            duplicate: Probability::new(0.02).unwrap(),
            corrupt: Probability::new(0.01).unwrap(),
            jitter: Jitter { max: Duration::from_millis(10), in_order: false },
            ..ten_megabits()
        };
        let (simulation, flow) = download(link, &[], seed);
        assert!(simulation.rcp_receiver(flow).unwrap().is_complete());
    }
}

#[test]
fn after_a_blackout_the_transfer_goes_on() {
    // Also for longer than the longest of the first eight timeouts: the sender remembers who asks so seldom.
    for dark_ms in [300, 1500, 6000, 130_000] {
        let dark = [(1000, LinkChange::DOWN), (1000 + dark_ms, LinkChange::UP)];
        let (simulation, _) = download(ten_megabits(), &dark, 3);
        let done = simulation.now().as_secs_f64() - 5.0;
        // Without it the transfer takes about 2.6 s; a timeout doubles at most what the darkness cost.
        assert!(done < 3.2 + 2.2 * dark_ms as f64 / 1000.0, "dark for {dark_ms} ms: done after {done} s");
    }
}
