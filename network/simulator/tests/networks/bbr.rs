//! BBR where a congestion control can be chosen: it fills a link with a short queue, shares it with itself, and takes
//! little loss for no congestion; version 3 beside version 1 and CUBIC, with loss and with marks.
use prismux_endpoint::random::Seed;
use prismux_link::{LinkConfig, LossModel, Management, QueueLimit, Red};
use prismux_plan::{Flow, Plan, Transport};
use prismux_ptcp::PtcpConfig;
use prismux_rcp::RcpConfig;
use prismux_simulator::{AnyTransport, PtcpFlow, RcpFlow, Simulation, SimulationOptions, TcpFlow};
use prismux_tcp::TcpConfig;
use prismux_tcp::engine::CongestionKind;
use prismux_units::{ByteCount, Duration, Instant, Probability, Rate};

fn tcp(congestion: CongestionKind) -> TcpConfig {
    let mut config = TcpConfig::modern();
    (config.engine.congestion, config.engine.hystart) = (congestion, None);
    config.receive_buffer = ByteCount::new(4_000_000);
    config
}

/// 20 Mbit/s and a round trip of 40 ms: a product of about 70 packets.
fn bottleneck(queue_packets: u32, loss: f64) -> LinkConfig {
    let losses = Probability::new(loss).filter(|&loss| loss > Probability::ZERO);
    LinkConfig::new(Rate::from_mbps(20), Duration::from_millis(20))
        .with_queue(QueueLimit::Packets(queue_packets))
        .with_loss(losses.map_or(LossModel::None, LossModel::Bernoulli))
}

/// What flows get of a link from 20 to 80 s, each begun half a second after the one before.
#[derive(Debug)]
struct Shared {
    goodputs_bps: Vec<f64>,
    dropped_packets: u64,
    marked_packets: u64,
}

impl Shared {
    fn total_mbps(&self) -> f64 {
        self.goodputs_bps.iter().sum::<f64>() / 1e6
    }

    /// Jain's index: 1 for equal shares.
    fn fairness(&self) -> f64 {
        let squares: f64 = self.goodputs_bps.iter().map(|goodput| goodput * goodput).sum();
        let total: f64 = self.goodputs_bps.iter().sum();
        total * total / (squares * self.goodputs_bps.len() as f64)
    }
}

fn share(transport: &AnyTransport, flows: usize, link: LinkConfig) -> Shared {
    share_unlike(&vec![transport.clone(); flows], link)
}

/// The same for flows of different transports.
fn share_unlike(transports: &[AnyTransport], link: LinkConfig) -> Shared {
    let (mut plan, mut options) =
        (Plan::new("shared", Duration::from_secs(80)), SimulationOptions::checked());
    let (server, client) = (plan.host("server"), plan.host("client"));
    plan.link("link", [server, client], link, bottleneck(1000, 0.0));
    for (number, transport) in transports.iter().enumerate() {
        let start = Duration::from_millis(500) * number as u64;
        let flow = Flow::new(&format!("flow{number}"), server, client, Transport::Tcp).start_at(start);
        options.carry(&mut plan, flow, transport.clone());
    }
    let mut simulation = Simulation::from_plan(&plan, Seed(1), options).unwrap();
    simulation.run_until(Instant::from_secs(20));
    let before: Vec<u64> = simulation.result().flows.values().map(|flow| flow.bytes).collect();
    simulation.run_until(Instant::from_secs(80));
    assert_eq!(simulation.faults(), Vec::<String>::new());
    let result = simulation.result();
    let carried = result.flows.values().zip(before).map(|(flow, before)| flow.bytes - before);
    let link = &result.links["link"];
    Shared {
        goodputs_bps: carried.map(|bytes| bytes as f64 * 8.0 / 60.0).collect(),
        dropped_packets: link.dropped_packets,
        marked_packets: link.marked_packets.unwrap_or(0),
    }
}

#[test]
fn a_link_is_full_and_a_short_queue_enough() {
    // Twice the product is room for what Startup sends too much.
    let bbr = share(&TcpFlow::new(tcp(CongestionKind::Bbr)).into(), 1, bottleneck(200, 0.0));
    assert!(bbr.total_mbps() > 17.5, "{} Mbit/s", bbr.total_mbps());
    assert_eq!(bbr.dropped_packets, 0);
    let newreno = share(&TcpFlow::new(tcp(CongestionKind::NewReno)).into(), 1, bottleneck(200, 0.0));
    assert!(newreno.dropped_packets > 0, "a window that only losses bound fills any queue");
}

#[test]
fn flows_share_a_link_with_each_other() {
    let four = share(&TcpFlow::new(tcp(CongestionKind::Bbr)).into(), 4, bottleneck(400, 0.0));
    assert!(four.total_mbps() > 17.5, "{} Mbit/s", four.total_mbps());
    assert!(four.fairness() > 0.9, "{:?}", four.goodputs_bps);
}

#[test]
fn random_loss_is_no_congestion_whatever_the_transport() {
    for congestion in [CongestionKind::Bbr, CongestionKind::NewReno] {
        let tcp = tcp(congestion);
        let transports: [(&str, AnyTransport); 3] = [
            ("tcp", TcpFlow::new(tcp.clone()).into()),
            ("rcp", RcpFlow::new(RcpConfig::from_tcp(&tcp)).into()),
            ("ptcp", PtcpFlow { config: PtcpConfig::new(tcp.clone(), 1), address_lists: false }.into()),
        ];
        for (name, transport) in transports {
            let goodput = share(&transport, 1, bottleneck(200, 0.01)).total_mbps();
            match congestion {
                CongestionKind::Bbr => assert!(goodput > 16.0, "{name}: {goodput} Mbit/s"),
                _ => assert!(goodput < 8.0, "{name}, which halves for each loss: {goodput} Mbit/s"),
            }
        }
    }
}

const VERSIONS: [CongestionKind; 2] = [CongestionKind::Bbr, CongestionKind::Bbr3];

fn of(congestion: CongestionKind) -> AnyTransport {
    TcpFlow::new(tcp(congestion)).into()
}

#[test]
fn version_3_fills_a_link_and_shares_it_with_itself() {
    let one = share(&of(CongestionKind::Bbr3), 1, bottleneck(200, 0.0));
    assert!(one.total_mbps() > 17.5, "{} Mbit/s", one.total_mbps());
    assert_eq!(one.dropped_packets, 0);
    let four = share(&of(CongestionKind::Bbr3), 4, bottleneck(400, 0.0));
    assert!(four.total_mbps() > 17.0, "{} Mbit/s", four.total_mbps());
    assert!(four.fairness() > 0.85, "{:?}", four.goodputs_bps);
}

#[test]
fn a_short_queue_drops_less_with_version_3() {
    // A third of the product.
    let [before, now] = VERSIONS.map(|version| share(&of(version), 2, bottleneck(24, 0.0)));
    assert!(now.dropped_packets * 3 < before.dropped_packets, "{now:?} against {before:?}");
    assert!(now.total_mbps() > 15.0, "{now:?}");
}

#[test]
fn cubic_keeps_more_beside_version_3() {
    // Half of the product of queue, where version 1 leaves CUBIC least.
    let beside = |version| share_unlike(&[of(CongestionKind::Cubic), of(version)], bottleneck(36, 0.0));
    let [before, now] = VERSIONS.map(beside);
    let cubics = |shared: &Shared| shared.goodputs_bps[0] / 1e6;
    assert!(cubics(&now) > 1.5 * cubics(&before), "{now:?} against {before:?}");
    assert!(now.total_mbps() > 15.0, "{now:?}");
}

#[test]
fn versions_share_a_link_without_either_starving() {
    let both = share_unlike(&VERSIONS.map(of), bottleneck(200, 0.0));
    assert!(both.total_mbps() > 17.0, "{both:?}");
    assert!(both.goodputs_bps.iter().all(|goodput| *goodput > 2e6), "{both:?}");
}

#[test]
fn version_3_yields_to_loss_that_version_1_ignores() {
    for (loss, least, most) in [(0.01, 15.0, 20.0), (0.15, 0.5, 12.0)] {
        let goodput = share(&of(CongestionKind::Bbr3), 1, bottleneck(200, loss)).total_mbps();
        assert!(goodput > least && goodput < most, "{loss}: {goodput} Mbit/s");
    }
    let ignores = share(&of(CongestionKind::Bbr), 1, bottleneck(200, 0.15)).total_mbps();
    assert!(ignores > 12.0, "{ignores} Mbit/s");
}

#[test]
fn version_3_heeds_marks_and_loses_nothing() {
    let with_ecn = |version| -> AnyTransport {
        let mut config = tcp(version);
        config.ecn = true;
        TcpFlow::new(config).into()
    };
    // Marks from the first packet of a quarter of the product on: less than either would leave in the queue by itself.
    let marking = || bottleneck(200, 0.0).with_management(Management::Red(Red::DEFAULT));
    let [before, now] = VERSIONS.map(|version| share(&with_ecn(version), 2, marking()));
    assert!(now.marked_packets > 0 && now.total_mbps() > 15.0, "{now:?}");
    assert!(now.marked_packets * 2 < before.marked_packets, "{now:?} against {before:?}");
}
