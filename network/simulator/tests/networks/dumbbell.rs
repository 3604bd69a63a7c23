//! The dumbbell of N bulk flows against ns-2 (2.35, `TCP/Sack1` with `TCPSink/Sack1`), and against itself.
//!
//! Tolerances come from ns-2's own spread: six runs of the reference, five of them with random overhead that breaks
//! phase effects, give 9.611 to 9.615 Mbit/s, mean windows of 8.48 to 8.64 packets, 280 to 288 fast retransmissions
//! and 0.7 to 3.3 timeouts per flow, 7532 to 7842 drops, a Jain index of at least 0.9977.
use prismux_endpoint::random::Seed;
use prismux_link::{Jitter, LinkConfig, QueueLimit};
use prismux_plan::{Flow, FlowId, LinkId, Plan, Transport};
use prismux_simulator::{Simulation, SimulationOptions, TcpFlow};
use prismux_tcp::{TcpConfig, TcpProfile};
use prismux_units::{ByteCount, Duration, Instant, Rate};

const SEGMENT_BYTES: u16 = 1000;

struct Dumbbell {
    simulation: Simulation,
    flows: Vec<FlowId>,
    bottleneck: LinkId,
}

fn dumbbell(flows: u64, profile: TcpProfile, seed: u64, jitter: Duration) -> Dumbbell {
    let (mut plan, mut options) =
        (Plan::new("dumbbell", Duration::from_secs(300)), SimulationOptions::checked());
    let (left, right) = (plan.router("left"), plan.router("right"));
    // ns-2 counts the packet in service into its limit of 100.
    let bottleneck = LinkConfig::new(Rate::from_kbps(500 * flows), Duration::from_millis(30))
        .with_queue(QueueLimit::Packets(5 * flows as u32 - 1));
    let access = LinkConfig {
        jitter: Jitter { max: jitter, in_order: true },
        ..LinkConfig::new(Rate::from_mbps(20), Duration::from_millis(2)).with_queue(QueueLimit::Unlimited)
    };
    let bottleneck = plan.symmetric_link("bottleneck", [left, right], bottleneck);
    let tcp =
        TcpConfig { mss: SEGMENT_BYTES, receive_buffer: ByteCount::new(100_000_000), ..profile.config() };
    let mut ids = Vec::new();
    for index in 0..flows {
        let source = plan.host(&format!("source{index}"));
        let sink = plan.host(&format!("sink{index}"));
        plan.symmetric_link(&format!("up{index}"), [source, left], access.clone());
        plan.symmetric_link(&format!("down{index}"), [right, sink], access.clone());
        let start = Duration::from_secs(1).mul_f64(index as f64 / flows as f64);
        let flow = Flow::new(&format!("flow{index}"), source, sink, Transport::Tcp).start_at(start);
        ids.push(options.carry(&mut plan, flow, TcpFlow::new(tcp.clone())));
    }
    let simulation = Simulation::from_plan(&plan, Seed(seed), options).unwrap();
    Dumbbell { simulation, flows: ids, bottleneck }
}

/// What the reference reports.
#[derive(Debug)]
struct Measures {
    goodput_mbps: f64,
    jain: f64,
    mean_window_packets: f64,
    fast_retransmissions_per_flow: f64,
    timeouts_per_flow: f64,
    drops: u64,
}

/// Runs to `until` seconds with goodput and windows measured from `warm` seconds on.
fn measure(dumbbell: &mut Dumbbell, warm: u64, until: u64) -> Measures {
    let Dumbbell { simulation, flows, bottleneck } = dumbbell;
    simulation.run_until(Instant::from_secs(warm));
    let before: Vec<u64> = flows.iter().map(|&flow| simulation.delivered_bytes(flow)).collect();
    let (mut windows, mut samples) = (0.0, 0.0);
    while simulation.now() < Instant::from_secs(until) {
        for &flow in flows.iter() {
            windows += simulation.sender(flow).unwrap().engine().metrics().cwnd_bytes as f64;
            samples += f64::from(SEGMENT_BYTES);
        }
        simulation.run_until(simulation.now() + Duration::from_millis(20));
    }
    assert_eq!(simulation.faults(), Vec::<String>::new());
    let bits = |(&flow, before): (&FlowId, &u64)| (simulation.delivered_bytes(flow) - before) as f64 * 8.0;
    let goodput: Vec<f64> =
        flows.iter().zip(&before).map(bits).map(|bits| bits / (until - warm) as f64).collect();
    let (sum, squares) = goodput.iter().fold((0.0, 0.0), |(sum, squares), g| (sum + g, squares + g * g));
    let count = flows.len() as f64;
    let counters: Vec<_> =
        flows.iter().map(|&flow| simulation.sender(flow).unwrap().engine().metrics().counters).collect();
    Measures {
        goodput_mbps: sum / 1e6,
        jain: sum * sum / squares / count,
        mean_window_packets: windows / samples,
        fast_retransmissions_per_flow: counters.iter().map(|c| c.fast_recoveries as f64).sum::<f64>() / count,
        timeouts_per_flow: counters.iter().map(|c| c.timeouts as f64).sum::<f64>() / count,
        drops: simulation.forward_stats(*bottleneck).queue_drops,
    }
}

#[test]
fn twenty_flows_behave_as_in_ns_2() {
    let measures = measure(&mut dumbbell(20, TcpProfile::Ns2_2002, 1, Duration::ZERO), 20, 300);
    let text = format!("{measures:?}");
    assert!((measures.goodput_mbps - 9.612).abs() < 0.02, "{text}");
    assert!((8.3..8.8).contains(&measures.mean_window_packets), "{text}");
    assert!((275.0..295.0).contains(&measures.fast_retransmissions_per_flow), "{text}");
    assert!(measures.timeouts_per_flow < 3.5, "{text}");
    assert!((7_300..8_000).contains(&measures.drops), "{text}");
    assert!(measures.jain > 0.995, "{text}");
}

#[test]
fn random_delays_that_break_phase_effects_change_little() {
    // ns-2's `overhead_` is a random delay of up to one bottleneck packet at the sender.
    let measures = measure(&mut dumbbell(20, TcpProfile::Ns2_2002, 1, Duration::from_micros(832)), 20, 300);
    let text = format!("{measures:?}");
    assert!((measures.goodput_mbps - 9.612).abs() < 0.03, "{text}");
    assert!((8.3..8.9).contains(&measures.mean_window_packets), "{text}");
    assert!((7_300..8_200).contains(&measures.drops), "{text}");
    assert!(measures.jain > 0.995, "{text}");
}

#[test]
fn two_hundred_flows_share_as_in_ns_2() {
    // ns-2: 96.21 Mbit/s, Jain 0.9898, 84.5 fast retransmissions and 1.59 timeouts per flow in 100 s.
    let measures = measure(&mut dumbbell(200, TcpProfile::Ns2_2002, 1, Duration::ZERO), 5, 40);
    let text = format!("{measures:?}");
    assert!((measures.goodput_mbps - 96.2).abs() < 0.5, "{text}");
    assert!(measures.jain > 0.96, "{text}");
    assert!(measures.timeouts_per_flow < 3.5, "{text}");
}

#[test]
fn modern_senders_fill_the_link_too() {
    let measures = measure(&mut dumbbell(20, TcpProfile::Modern, 1, Duration::ZERO), 5, 60);
    let text = format!("{measures:?}");
    // 988 of 1040 bytes are payload: timestamps take 12.
    assert!(measures.goodput_mbps > 0.97 * 10.0 * 988.0 / 1040.0, "{text}");
    assert!(measures.jain > 0.8, "{text}");
}
