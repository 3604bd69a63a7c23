//! Hosts that move from link to link.
use crate::plans::{link, run_steadily, seconds};
use prismux_plan::{Action, Flow, Plan, Transport};

/// A download goes on by the link that its receiver has moved to, and by no other.
pub fn handoff() {
    let mut plan = Plan::new("handoff", seconds(8.0));
    let (server, mobile) = (plan.host("server"), plan.host("mobile"));
    let stations = ["ap1", "ap2"].map(|name| plan.router(name));
    plan.symmetric_link("lan1", [server, stations[0]], link(100, 5));
    plan.symmetric_link("lan2", [server, stations[1]], link(100, 5));
    plan.symmetric_link("wlan", [stations[0], mobile], link(8, 5));
    let cell = plan.symmetric_link("cell", [stations[1], mobile], link(2, 30));
    plan.flow(Flow::new("download", server, mobile, Transport::Tcp));
    plan.event(seconds(4.0), Action::Handoff { host: mobile, link: Some(cell), bandwidth: None });
    plan.measure.interval = Some(seconds(0.5));
    let outcome = run_steadily(&plan);
    let series = outcome.result.series.expect("a series");
    let mean_mbps = |link: &str, samples: std::ops::Range<usize>| {
        let samples = &series.links[link].throughput_bps[samples];
        samples.iter().sum::<f64>() / samples.len() as f64 / 1e6
    };
    let before = [mean_mbps("wlan", 2..7), mean_mbps("cell", 2..7)];
    assert!(before[0] > 6.0 && before[1] == 0.0, "before: {before:?}");
    let after = [mean_mbps("wlan", 10..15), mean_mbps("cell", 10..15)];
    assert!(after[0] == 0.0 && after[1] > 1.5, "after: {after:?}");
    // The receiver's ACKs leave by the new link too.
    let back = series.links["cell"].reverse_throughput_bps[10..15].iter().sum::<f64>();
    assert!(back > 0.0, "no ACKs over the new link");
}
