//! STP where a congestion control can be chosen: under TCP, RCP, pTCP's pipes.
use prismux_endpoint::random::Seed;
use prismux_link::{LinkConfig, LossModel, QueueLimit};
use prismux_plan::{Flow, Plan, PtcpSettings, Transport};
use prismux_ptcp::PtcpConfig;
use prismux_rcp::RcpConfig;
use prismux_simulator::{AnyTransport, PtcpFlow, RcpFlow, Simulation, SimulationOptions, TcpFlow};
use prismux_tcp::engine::CongestionKind;
use prismux_tcp::{TcpConfig, TcpProfile};
use prismux_units::{ByteCount, Duration, Instant, Probability, Rate};

fn tcp(congestion: CongestionKind) -> TcpConfig {
    let mut config = TcpProfile::Linux24.config();
    config.engine.congestion = congestion;
    config.receive_buffer = ByteCount::new(1_000_000);
    config
}

fn transports(congestion: CongestionKind) -> [(&'static str, AnyTransport); 3] {
    let tcp = tcp(congestion);
    [
        ("rcp", RcpFlow::new(RcpConfig::from_tcp(&tcp)).into()),
        ("ptcp", PtcpFlow { config: PtcpConfig::new(tcp.clone(), 2), address_lists: false }.into()),
        ("tcp", TcpFlow::new(tcp).into()),
    ]
}

/// A file over two links of 2 Mbit/s and 100 ms (the second for pTCP only): seconds, and packets on the way back.
fn fetch((name, transport): (&str, &AnyTransport), loss: f64, bytes: u64) -> (f64, u64) {
    let (mut plan, mut options) = (Plan::new("stp", Duration::from_secs(600)), SimulationOptions::checked());
    let (server, router, client) = (plan.host("server"), plan.router("router"), plan.host("client"));
    let losses = match Probability::new(loss) {
        Some(loss) if loss > Probability::ZERO => LossModel::Bernoulli(loss),
        _ => LossModel::None,
    };
    let clean =
        LinkConfig::new(Rate::from_mbps(2), Duration::from_millis(50)).with_queue(QueueLimit::Packets(50));
    let lossy = clean.clone().with_loss(losses);
    let mut links = Vec::new();
    for name in ["first", "second"] {
        links.push(plan.link(name, [server, router], lossy.clone(), lossy.clone()));
    }
    let wide = LinkConfig::new(Rate::from_mbps(100), Duration::from_millis(1));
    plan.symmetric_link("access", [router, client], wide);
    let (planned, used) = match name {
        "ptcp" => (Transport::Ptcp(PtcpSettings::DEFAULT), links.clone()),
        _ => (Transport::Tcp, Vec::new()),
    };
    let flow = Flow::new("file", server, client, planned).bytes(ByteCount::new(bytes)).over(&used);
    options.carry(&mut plan, flow, transport.clone());
    let mut simulation = Simulation::from_plan(&plan, Seed(1), options).unwrap();
    simulation.run_until(Instant::from_secs(600));
    assert_eq!(simulation.faults(), Vec::<String>::new());
    let back = links.iter().map(|&link| simulation.reverse_stats(link).delivered_packets).sum();
    (simulation.result().flows["file"].completion_s.expect("it arrives"), back)
}

#[test]
fn every_transport_finishes_with_stp_on_clean_and_on_lossy_links() {
    for (name, transport) in transports(CongestionKind::Stp) {
        let (clean, _) = fetch((name, &transport), 0.0, 3_000_000);
        assert!(clean < 20.0, "{name}: {clean} s");
        let (lossy, _) = fetch((name, &transport), 0.02, 3_000_000);
        assert!(lossy < 200.0, "{name} with 2 % lost both ways: {lossy} s");
    }
}

#[test]
fn little_returns_under_stp() {
    let back = |congestion| {
        transports(congestion).map(|(name, transport)| fetch((name, &transport), 0.0, 3_000_000).1)
    };
    let ([rcp, _, tcp], [rcp_newreno, _, tcp_newreno]) =
        (back(CongestionKind::Stp), back(CongestionKind::NewReno));
    assert!(rcp * 3 < rcp_newreno, "{rcp} requests instead of {rcp_newreno}");
    assert!(tcp * 2 < tcp_newreno, "{tcp} reports instead of {tcp_newreno}");
}
