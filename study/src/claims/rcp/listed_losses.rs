//! Seven segments of one window damaged on the radio link: how long does their repair take?

use crate::claims::Experiment;
use crate::claims::plan::Outcomes;
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use crate::number::digits;
use crate::statistics::Summary;
use prismux_endpoint::random::Seed;
use prismux_link::LinkConfig;
use prismux_plan::{Flow, Plan, Transport};
use prismux_rcp::RcpConfig;
use prismux_simulator::{AnyTransport, RcpFlow, Simulation, SimulationOptions, TcpFlow};
use prismux_tcp::engine::{EngineConfig, HyStartKind};
use prismux_tcp::{TcpConfig, TcpProfile};
use prismux_units::{ByteCount, Duration, Instant, Rate};

pub(super) const LISTED_LOSSES: Experiment = Experiment {
    id: "23b",
    title: "segments 500, 504, 508, 512, 525, 528, 531 damaged",
    claims: &["RC-012", "RC-013", "RC-014"],
    lab: false,
    jobs: |_| Ok(Vec::new()),
    judge,
};

const SEGMENTS: [u64; 7] = [500, 504, 508, 512, 525, 528, 531];
const SEGMENT_BYTES: u16 = 1000;

fn tcp(sack: bool) -> TcpConfig {
    let base = TcpProfile::Linux24.config();
    // Slow start ends before it overflows the queue: no other losses than the chosen ones.
    let engine =
        EngineConfig { sack, fack: sack, hystart: Some(HyStartKind::Rfc9406), ..base.engine.clone() };
    TcpConfig {
        engine,
        sack,
        dsack: sack,
        mss: SEGMENT_BYTES,
        timestamps: false,
        delayed_ack: None,
        receive_buffer: ByteCount::new(256_000),
        window_scaling: true,
        ..base
    }
}

/// How seven losses were repaired.
struct Repair {
    /// From the arrival of the first segment's repair to that of the last one's.
    seconds: f64,
    /// Of the sender, meanwhile or before.
    timeouts: u64,
}

/// `before` packets of the sender precede its data.
fn repair(transport: AnyTransport, before: u64) -> Option<Repair> {
    let mut plan = Plan::new("listed losses", Duration::from_secs(60));
    let mut options = SimulationOptions::default();
    let (server, right) = (plan.host("server"), plan.router("right"));
    let mobile = plan.host("mobile");
    let backbone = LinkConfig::new(Rate::from_mbps(10), Duration::from_millis(50));
    plan.symmetric_link("backbone", [server, right], backbone);
    let radio = LinkConfig::new(Rate::from_mbps(2), Duration::from_millis(15));
    let damaged_packets = SEGMENTS.iter().map(|segment| segment + before).collect();
    plan.link("radio", [right, mobile], LinkConfig { damaged_packets, ..radio.clone() }, radio);
    let flow = Flow::new("download", server, mobile, Transport::Tcp);
    let flow = options.carry(&mut plan, flow, transport);
    let mut simulation = Simulation::from_plan(&plan, Seed(1), options).ok()?;
    let passed = |segment: u64| (segment + 1) * u64::from(SEGMENT_BYTES);
    let step = Duration::from_micros(500);
    let mut first = None;
    while simulation.now() < Instant::from_secs(60) {
        simulation.run_until(simulation.now() + step);
        let delivered = simulation.delivered_bytes(flow);
        if delivered >= passed(SEGMENTS[0]) {
            first.get_or_insert(simulation.now());
        }
        if delivered >= passed(SEGMENTS[6]) {
            let seconds = (simulation.now() - first?).as_secs_f64();
            let timeouts = simulation.result().flows["download"].timeouts;
            return Some(Repair { seconds, timeouts });
        }
    }
    None
}

fn judge(_: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    // SYN and the handshake's ACK precede TCP's data, SYN-ACK precedes RCP's.
    let eln = |sack| repair(TcpFlow::new(tcp(sack)).with_loss_notification().into(), 2);
    let (newreno, sack) = (eln(false), eln(true));
    let config = RcpConfig::from_tcp(&tcp(true));
    let receiver = repair(RcpFlow::new(config).with_loss_notification().into(), 1);
    let seconds = |repair: &Option<Repair>| repair.as_ref().map(|repair| repair.seconds);
    let values = |value: Option<f64>| value.into_iter().collect::<Vec<_>>();
    let ratio = seconds(&newreno).zip(seconds(&receiver)).map(|(tcp, rcp)| tcp / rcp);
    let timeouts = newreno.as_ref().map_or(0, |repair| repair.timeouts);
    let findings = vec![
        Finding::values("RC-012", values(seconds(&newreno))).because(format!(
            "from the first repair's arrival to the last one's; upon NewReno, whose {timeouts} timeouts have \
                all of them repaired at once. Upon \
             SACK, without a timeout, one in each round trip: {} s; the source's round trip is not stated, 1.43 \
             s are seven of 0.20 s",
            seconds(&sack).map_or_else(|| "none".to_string(), digits)
        )),
        Finding::values("RC-013", values(seconds(&receiver)))
            .because("the same; the 31 packets of 1040 bytes from the first loss to the last take 129 ms of the link"),
        Finding::values("RC-014", values(ratio)).because("follows from the two before; neither the round trip \
            nor the size of packets is stated"),
    ];
    let columns = ["tcp-eln", "tcp-eln-sack", "rcp-eln"];
    let mut series = Series::new("losses", "seconds from the first repair to the last", &columns);
    series.row(
        SEGMENTS.len(),
        [newreno, sack, receiver].map(|repair| seconds(&repair).and_then(|s| Summary::of(&[s]))).to_vec(),
    );
    (findings, vec![series])
}
