use super::*;
use crate::topology::PipeEnds;
use prismux_plan::{NodeId, Pipe};

fn pipe() -> ReadyPipe {
    let plan = Pipe::new("near", NodeId::new(0));
    let ends = PipeEnds { device: "wlan1".to_owned(), server: 0, server_address: [10, 0, 0, 1].into() };
    ReadyPipe { plan, ends, url: String::new() }
}

fn sample(at_s: f64, in_order: u64, timeout_ms: f64) -> String {
    format!(
        r#"{{"at_s":{at_s},"in_order_bytes":{in_order},"duplicate_bytes":7,
            "paths":[{{"link":"wlan1","server":"10.0.0.1:5001",
           "bytes":{in_order},"srtt_ms":40.0,"timeout_ms":{timeout_ms},"timeouts":1}}]}}"#
    )
}

#[test]
fn the_lines_become_arrivals_pipes_and_the_longest_pause_behind_the_warm_up() {
    let pipes = [pipe()];
    let mut trace = Trace::new(&pipes, 1000.0, Duration::from_secs(2), Some(Duration::from_millis(500)));
    trace.take(r#"{"trace":1,"started_at_unix_s":1001.0}"#);
    trace.take(r#"{"at_s":0.25,"link":"wlan1","server":"10.0.0.1:5001","path":"open"}"#);
    trace.take("no JSON");
    for (at_s, in_order, timeout_ms) in
        [(0.5, 1000, 200.0), (1.5, 2000, 250.0), (1.75, 2000, 9.0), (2.0, 3000, 1.0)]
    {
        trace.take(&sample(at_s, in_order, timeout_ms));
    }
    trace.take(r#"{"elapsed_s":2.0,"sha256":"ab","paths":[]}"#);
    let outcome = trace.finish();
    assert_eq!(outcome.connected_at, Some(Instant::from_millis(1250)));
    assert_eq!(outcome.completed_at, Some(Instant::from_secs(3)));
    assert_eq!((outcome.arrivals.total_bytes, outcome.arrivals.cells[150]), (3000, 1000));
    assert_eq!(outcome.samples.len(), 7, "at 0, 0.5, ... 3.0 s");
    let near = &outcome.pipes["near"];
    assert_eq!((near.received_bytes, near.timeouts, near.srtt_s), (3000, 1, Some(0.04)));
    // The pause of a second began within the warm-up.
    assert_eq!(outcome.counters["longest_pause_us"], 500_000);
    assert_eq!(outcome.counters["longest_pause_began_us"], 2_500_000);
    assert_eq!(outcome.counters["timeout_then_us"], 250_000);
    assert_eq!(outcome.counters["duplicate_bytes"], 7);
}
