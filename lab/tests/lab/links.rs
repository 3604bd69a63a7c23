//! Links against what they are told to be.
use crate::plans::{
    A, B, assert_near, link, lossy, options, recorded_steadily, run, run_steadily, seconds, two_hosts,
    warmed_up,
};
use prismux_lab::{self as lab, LabOptions};
use prismux_link::{Jitter, LinkChange, LinkConfig, QueueLimit};
use prismux_plan::{Action, Directions, Flow, LinkId, Traffic, Transport};
use prismux_trace::event::{Event, Record};
use prismux_trace::pcapng::{self, Direction};
use prismux_units::{ByteCount, Duration, Probability, Rate};
use prismux_wire::TcpPacket;

/// Share of a full packet that is payload: 1500 bytes less IPv4, TCP and timestamps.
const PAYLOAD: f64 = 1448.0 / 1500.0;

fn bulk() -> Flow {
    Flow::new("bulk", A, B, Transport::Tcp)
}

pub fn rate() {
    let outcome = run_steadily(&warmed_up(two_hosts(5.0, link(10, 20), bulk()), 2.0));
    let flow = &outcome.result.flows["bulk"];
    let steady = flow.steady_goodput_bps.expect("a steady state");
    assert_near("steady goodput", steady, 10e6 * PAYLOAD, 0.03);
    let total = &outcome.result.total;
    assert_eq!((total.goodput_bps, total.steady_goodput_bps), (flow.goodput_bps, flow.steady_goodput_bps));
    let link = &outcome.result.links["wire"];
    assert_eq!(link.rate_bps, Some(10_000_000));
    // Of the whole run, slow start included: on a busy machine that takes its time.
    let carried = link.delivered_bytes as f64 * 8.0 / (10e6 * outcome.result.duration_s);
    assert_near("utilisation", link.utilization.expect("of a link with a rate"), carried, 0.01);
    assert!((0.5..=1.0).contains(&carried), "{link:?}");
    // The kernel resends what the link drops, so its own count must be ours.
    assert_eq!(flow.retransmitted_segments, link.dropped_packets);
    let round_trip_ms = outcome.flows["bulk"].senders[0].min_rtt_s * 1000.0;
    let (lateness, wakeups) = (outcome.emulator.lateness, outcome.wakeups);
    // The least is that of the first packets, before there is a queue; each passage may be a millisecond late, and as
    // much more as this machine was.
    let most_ms = 42.0 + 2.0 * (lateness.p99_us + wakeups.p99_us) / 1000.0;
    assert!(
        (39.9..most_ms).contains(&round_trip_ms),
        "{round_trip_ms} ms by the kernel's measure: {lateness:?}"
    );
    assert!(lateness.p50_us < 1000.0, "{lateness:?}");
    // What is later than a millisecond is counted where the quantile says that there is some.
    assert_eq!(lateness.late == 0, lateness.max_us <= 1000.0, "{lateness:?}");
    assert!(wakeups.samples > 500, "a thread that sleeps 2 ms at a time, for 5 s: {wakeups:?}");
}

pub fn delay() {
    let traffic = Traffic::RequestResponse {
        request: ByteCount::new(1),
        response: ByteCount::new(1),
        think: Duration::from_millis(10),
        exchanges: Some(30),
    };
    let outcome = run_steadily(&two_hosts(5.0, link(10, 20), bulk().traffic(traffic)));
    let response = outcome.result.flows["bulk"].response.expect("responses");
    assert_eq!(response.count, 30);
    // A busy machine may be late to wake the applications, but never early.
    assert!(response.p50_s > 0.0399 && response.p50_s < 0.048, "{response:?}");
    // The run ends with the last exchange.
    assert!(outcome.result.duration_s < 4.0, "{}", outcome.result.duration_s);
}

pub fn loss() {
    let rate = Rate::from_mbps(4);
    let traffic = Traffic::Cbr { rate, packet: ByteCount::new(500) };
    let cbr = Flow::new("load", A, B, Transport::Udp).traffic(traffic);
    let outcome = run_steadily(&two_hosts(3.0, lossy(link(10, 5), 0.1), cbr));
    let (flow, link) = (&outcome.flows["load"], &outcome.emulator.links[0].0);
    // 1000 packets per second.
    let [sent, received] = flow.packets.expect("counted");
    assert_near("packets sent", sent as f64, 3000.0, 0.05);
    let lost = link.stats.lost_packets as f64 / link.stats.offered_packets as f64;
    // Four standard deviations of 3000 trials at 0.1.
    assert!((lost - 0.1).abs() < 0.022, "{lost}");
    let arrived = flow.arrivals.total_bytes / (500 - 28);
    assert_eq!(arrived, received);
    let packets = outcome.result.flows["load"].packets.expect("counted");
    assert!((packets.loss - 0.1).abs() < 0.03, "{packets:?}");
    assert!(
        arrived <= link.stats.delivered_packets && arrived + 20 > link.stats.delivered_packets,
        "{arrived}"
    );
}

pub fn damage() {
    let bad = LinkConfig {
        corrupt: Probability::new(0.02).expect("a probability"),
        duplicate: Probability::new(0.02).expect("a probability"),
        jitter: Jitter { max: Duration::from_millis(3), in_order: false },
        ..lossy(link(20, 5), 0.01)
    };
    // `run` compares what arrives with what was sent.
    let outcome = run(&two_hosts(20.0, bad, bulk().bytes(ByteCount::new(2_000_000))));
    let flow = &outcome.result.flows["bulk"];
    assert_eq!(flow.bytes, 2_000_000);
    let completion_s = flow.completion_s.expect("a complete file");
    // A run ends with its last file.
    assert!(outcome.result.duration_s < completion_s + 0.5, "{} {completion_s}", outcome.result.duration_s);
    let stats = outcome.emulator.links[0].0.stats;
    assert!(
        stats.corrupted_packets > 5 && stats.duplicated_packets > 5 && stats.lost_packets > 5,
        "{stats:?}"
    );
}

/// The link carries so much from now on.
fn from_now_on(rate: Rate) -> Action {
    let change = LinkChange::rate(rate);
    Action::ChangeLink { link: LinkId::new(0), directions: Directions::Forward, change }
}

pub fn capacity() {
    let mut plan = two_hosts(4.0, link(2, 10), bulk().start_at(seconds(2.0)));
    plan.links[0].shared = true;
    plan.event(seconds(2.0), from_now_on(Rate::from_mbps(8)));
    let result = run_steadily(&plan).result;
    assert_near("mean rate", result.links["wire"].rate_bps.expect("a rate") as f64, 5e6, 0.02);
    assert_near("capacity while the flow is under way", result.total.capacity_bps, 8e6 * PAYLOAD, 0.02);
}

pub fn change() {
    let mut plan = two_hosts(6.0, link(8, 10), bulk());
    plan.event(seconds(3.0), from_now_on(Rate::from_mbps(2)));
    plan.measure.interval = Some(seconds(0.5));
    let outcome = run_steadily(&plan);
    let link = &outcome.result.links["wire"];
    assert_near("mean rate", link.rate_bps.expect("a rate") as f64, 5e6, 0.02);
    let series = outcome.result.series.expect("a series");
    let throughput = &series.links["wire"].throughput_bps;
    // Over two seconds each: a sample taken late moves bytes from one interval into the next.
    let mean = |samples: &[f64]| samples.iter().sum::<f64>() / samples.len() as f64;
    assert_near("throughput before", mean(&throughput[2..6]), 8e6, 0.05);
    assert_near("throughput after", mean(&throughput[7..11]), 2e6, 0.05);
    assert!(series.flows["bulk"].cwnd_bytes.len() >= 11);
}

pub fn side_by_side() {
    let lab = |index: u64| {
        let outcome = run_steadily(&warmed_up(two_hosts(5.0, link(2, 10 + index), bulk()), 2.0));
        outcome.result.flows["bulk"].steady_goodput_bps.expect("a steady state")
    };
    std::thread::scope(|scope| {
        let labs: Vec<_> = (0..12).map(|index| scope.spawn(move || lab(index))).collect();
        for lab in labs {
            // Labs that met would halve it; a machine that has other work costs a few percent.
            assert_near("goodput", lab.join().expect("a lab"), 2e6 * PAYLOAD, 0.1);
        }
    });
}

pub fn capture() {
    let file = std::env::temp_dir().join(format!("prismux-lab-{}.pcapng", std::process::id()));
    let options = LabOptions { capture: Some(file.clone()), ..options() };
    let plan = two_hosts(10.0, link(10, 5), bulk().bytes(ByteCount::new(300_000)));
    let outcome = lab::run(&plan, &options).expect("a run");
    let bytes = std::fs::read(&file).expect("a capture");
    std::fs::remove_file(&file).expect("a file to remove");
    let capture = pcapng::read(&bytes).expect("a readable capture");
    assert_eq!(capture.interfaces[0].name, "wire");
    let count = |direction| {
        capture.packets.iter().filter(|packet| packet.direction == Some(direction)).count() as u64
    };
    let (forward, reverse) = &outcome.emulator.links[0];
    assert_eq!(count(Direction::Outbound), forward.stats.offered_packets);
    assert_eq!(count(Direction::Inbound), reverse.stats.offered_packets);
    // Whole packets with right checksums, and in them the whole file.
    let payloads = capture.packets.iter().filter_map(|packet| {
        let tcp = TcpPacket::parse(&packet.bytes).ok()?;
        assert!(tcp.verify_checksum(&packet.bytes).is_ok());
        Some(tcp.payload(&packet.bytes).len() as u64)
    });
    assert!(payloads.sum::<u64>() >= 300_000);
}

/// A queue of half a second is full at the end: what leaves it later neither counts nor is written down.
pub fn end() {
    let rate = Rate::from_mbps(20);
    let traffic = Traffic::Cbr { rate: Rate::from_mbps(40), packet: ByteCount::new(1000) };
    let load = Flow::new("load", A, B, Transport::Udp).traffic(traffic);
    let deep = link(20, 0).with_queue(QueueLimit::Packets(1250));
    let mut plan = two_hosts(2.0, deep, load);
    plan.measure.interval = Some(seconds(0.5));
    let (outcome, events) = recorded_steadily(&plan);
    let stats = outcome.emulator.links[0].0.stats;
    let possible = rate.as_bps() / 8 * 2;
    assert!(stats.delivered_bytes <= possible, "{stats:?}");
    // A sender on a busy machine may begin a few milliseconds late.
    assert_near("bytes carried", stats.delivered_bytes as f64, possible as f64, 0.1);
    let waiting = stats.offered_packets - stats.delivered_packets - stats.dropped_packets();
    assert!((1200..=1251).contains(&waiting), "{waiting} packets wait at the end");
    let series = &outcome.emulator.links[0].0.delivered_bytes;
    assert_eq!((series.len(), series.iter().sum::<u64>()), (4, stats.delivered_bytes), "{series:?}");
    let delivered =
        |record: &&Record<'_>| matches!(&record.event, Event::PacketDelivered { to, .. } if to == "b");
    assert_eq!(events.iter().filter(delivered).count() as u64, stats.delivered_packets);
    let last = events.iter().map(|record| record.time_ns).max().expect("events");
    assert!(last <= plan.duration.as_nanos(), "{last} ns is after the end");
}
