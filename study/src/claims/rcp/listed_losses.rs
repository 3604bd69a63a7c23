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
/// Payload of a packet of 1000 bytes, which is what ns-2 sent.
const SEGMENT_BYTES: u16 = 960;

/// TCP as ns-2 had it: NewReno (where its ELN is), or with SACK as the source improved it. No other losses than the
/// chosen ones: the window of the one fits the path and its queue, the other's slow start ends before it overflows.
fn tcp(sack: bool) -> TcpConfig {
    let min_rto = Duration::from_secs(1);
    let (profile, engine, buffer) = match sack {
        true => {
            let hystart = Some(HyStartKind::Rfc9406);
            let engine = EngineConfig { undo: false, min_rto, hystart, ..EngineConfig::linux24() };
            (TcpProfile::Linux24, engine, 256_000)
        }
        false => (TcpProfile::Ns2_2002, EngineConfig { min_rto, ..EngineConfig::ns2_newreno() }, 60_000),
    };
    TcpConfig {
        engine,
        sack,
        dsack: sack,
        mss: SEGMENT_BYTES,
        timestamps: false,
        delayed_ack: None,
        receive_buffer: ByteCount::new(buffer),
        window_scaling: true,
        ..profile.config()
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
fn repair(transport: AnyTransport, before: u64, backbone_ms: u64) -> Option<Repair> {
    let mut plan = Plan::new("listed losses", Duration::from_secs(60));
    let mut options = SimulationOptions::default();
    let (server, right) = (plan.host("server"), plan.router("right"));
    let mobile = plan.host("mobile");
    let backbone = LinkConfig::new(Rate::from_mbps(10), Duration::from_millis(backbone_ms));
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

/// Delays of the backbone in ms, which the source does not state; the first is that of the other experiments.
const BACKBONES_MS: [u64; 4] = [50, 44, 40, 84];

fn judge(_: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    // SYN and the handshake's ACK precede TCP's data, SYN-ACK precedes RCP's.
    let eln = |sack, ms| repair(TcpFlow::new(tcp(sack)).with_loss_notification().into(), 2, ms);
    let config = RcpConfig::from_tcp(&tcp(true));
    let receiver = |ms| repair(RcpFlow::new(config.clone()).with_loss_notification().into(), 1, ms);
    let seconds = |repair: &Option<Repair>| repair.as_ref().map(|repair| repair.seconds);
    let values = |value: Option<f64>| value.into_iter().collect::<Vec<_>>();
    let columns = ["tcp-eln", "tcp-eln-sack", "rcp-eln"];
    let mut series =
        Series::new("delay of the backbone in ms", "seconds from the first repair to the last", &columns);
    for ms in BACKBONES_MS {
        let cell = |repair: Option<Repair>| seconds(&repair).and_then(|s| Summary::of(&[s]));
        series.row(ms, [eln(false, ms), eln(true, ms), receiver(ms)].map(cell).to_vec());
    }
    let here = BACKBONES_MS[0];
    let (newreno, rcp) = (eln(false, here), receiver(here));
    let ratio = seconds(&newreno).zip(seconds(&rcp)).map(|(tcp, rcp)| tcp / rcp);
    let timeouts = newreno.as_ref().map_or(0, |repair| repair.timeouts);
    let text = |repair: Option<Repair>| seconds(&repair).map_or_else(|| "none".to_string(), digits);
    let round_trips = format!(
        "two round trips for each loss: what fills a hole is acknowledged, and new data must tell of the next one. \
         The round trip is not stated. With other readings: {} s with {} ms of backbone, {} s with {} ms",
        text(eln(false, BACKBONES_MS[1])),
        BACKBONES_MS[1],
        text(eln(false, BACKBONES_MS[2])),
        BACKBONES_MS[2]
    );
    let findings = vec![
        Finding::values("RC-012", values(seconds(&newreno))).because(format!(
            "from the first repair's arrival to the last one's, {timeouts} timeouts; {round_trips}"
        )),
        Finding::values("RC-013", values(seconds(&rcp))).because(
            "the same; the 31 packets of 1000 bytes from the first loss to the last take 124 ms of the link",
        ),
        Finding::values("RC-014", values(ratio))
            .because(format!("follows from the two before; {round_trips}")),
    ];
    (findings, vec![series])
}
