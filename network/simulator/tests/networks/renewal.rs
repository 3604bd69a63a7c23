//! Connections that begin where others have ended, as in a run of days.
use crate::uplinks::{Uplinks, uplinks};
use prismux_plan::{Action, Flow, FlowId, Traffic, Transport};
use prismux_simulator::Simulation;
use prismux_units::{ByteCount, Duration, Instant, Rate};

const BYTES: ByteCount = ByteCount::new(2_000_000);
/// Longer than a proxy remembers a silent connection.
const REST: Duration = Duration::from_secs(16 * 60);

/// A file from the server, with receipts and checkers.
fn with_file() -> (Uplinks, FlowId) {
    let mut uplinks = uplinks().with_receipts();
    uplinks.plan.duration = Duration::from_secs(1_000_000);
    let flow = uplinks.download("file", Duration::ZERO);
    uplinks.plan[flow].traffic = Traffic::bulk(Some(BYTES));
    (uplinks, flow)
}

fn pass(simulation: &mut Simulation, time: Duration) {
    simulation.run_until(simulation.now() + time);
}

/// A new connection begins with nothing delivered, gets every byte once, and the proxy takes it for another.
#[test]
fn each_connection_is_another() {
    let (uplinks, flow) = with_file();
    let proxy = uplinks.proxy;
    let mut simulation = uplinks.build();
    let mut packets = Vec::new();
    for number in 1..=5 {
        pass(&mut simulation, Duration::from_millis(500));
        assert!(!simulation.renew_flow(flow, BYTES), "it runs");
        assert!(simulation.proxy_flow(proxy, flow).is_some());
        pass(&mut simulation, Duration::from_secs(9));
        assert_eq!(simulation.delivered_bytes(flow), BYTES.as_u64(), "connection {number}");
        pass(&mut simulation, REST);
        assert_eq!(simulation.proxy_tables(proxy).0, 0, "nothing is known of it any more");
        packets.push(simulation.proxy_counters(proxy).unwrap().data_packets);
        assert!(simulation.renew_flow(flow, BYTES), "connection {number} has ended");
        assert_eq!(simulation.delivered_bytes(flow), 0);
        simulation.act(Action::StartFlow(flow));
    }
    assert!(packets.windows(2).all(|pair| pair[1] - pair[0] >= BYTES.as_u64() / 1400), "{packets:?}");
    assert_eq!(simulation.proxy_counters(proxy).unwrap().midstream_flows, 0, "each begins with a SYN");
    assert_eq!(simulation.faults(), Vec::<String>::new());
}

/// Whoever is cut off may be followed, by a connection of another size; what runs or has packets under way may not.
#[test]
fn what_still_lives_is_left() {
    let (uplinks, flow) = with_file();
    let mut simulation = uplinks.build();
    pass(&mut simulation, Duration::from_millis(400));
    simulation.reset_flow(flow);
    assert!(!simulation.renew_flow(flow, BYTES), "nobody has said that it is over");
    simulation.act(Action::StopFlow(flow));
    assert!(!simulation.renew_flow(flow, BYTES), "packets are under way");
    pass(&mut simulation, REST);
    let small = ByteCount::new(999);
    assert!(simulation.renew_flow(flow, small));
    assert!(simulation.renew_flow(flow, small), "it has not started");
    simulation.act(Action::StartFlow(flow));
    assert!(simulation.run_to_completion(simulation.now() + Duration::from_secs(10)));
    assert_eq!(simulation.delivered_bytes(flow), 999);
    let took = simulation.result().flows["file"].completion_s;
    assert!(took.is_some_and(|took_s| took_s < 1.0), "results are about the last: {took:?}");
    assert_eq!(simulation.faults(), Vec::<String>::new());
}

#[test]
fn datagrams_and_questions_are_no_files() {
    let (mut uplinks, _) = with_file();
    let (server, receiver) = (uplinks.server, uplinks.receiver);
    let cbr = Traffic::Cbr { rate: Rate::from_kbps(100), packet: ByteCount::new(500) };
    let calls = Flow::new("calls", server, receiver, Transport::Udp).traffic(cbr);
    let writes = Traffic::Writes { size: ByteCount::new(100), every: Duration::from_secs(1) };
    let writes = Flow::new("writes", server, receiver, Transport::Tcp).traffic(writes);
    let stop = Duration::from_secs(2);
    let flows = [calls, writes].map(|flow| uplinks.plan.flow(flow.stop_at(stop)));
    let mut simulation = uplinks.build();
    pass(&mut simulation, REST);
    for flow in flows {
        assert!(!simulation.renew_flow(flow, BYTES));
    }
}

/// A run's tables do not grow with the number of connections that it has seen.
#[test]
fn tables_do_not_grow() {
    let (uplinks, flow) = with_file();
    let mut simulation = uplinks.build();
    let mut left = Vec::new();
    for _ in 0..20 {
        pass(&mut simulation, Duration::from_secs(10) + REST);
        left.push((simulation.pending_events(), simulation.packets_under_way()));
        assert!(simulation.renew_flow(flow, BYTES));
        simulation.act(Action::StartFlow(flow));
    }
    let (events, packets) = left[0];
    assert!(left.iter().all(|&(later, under_way)| later <= events + 2 && under_way <= packets), "{left:?}");
    assert!(simulation.now() > Instant::from_secs(19_000));
}
