//! One run through PRISM as a table over time: what the sender, the proxy and each link do.
use super::Mix;
use super::run::{MixesPlan, Network, build};
use super::variant::Variant;
use prismux_units::{Duration, Instant};
use std::fmt::Write as _;

/// Simulates the variant `variant` of using `mix` and writes a line for every `interval`, to read by eye.
pub fn series(mix: &Mix, variant: Variant, plan: &MixesPlan, interval: Duration) -> String {
    let mut network = build(mix, variant, plan);
    let mut text = format!("mix {}, {}\n", mix.number, variant.name());
    for (place, link) in mix.links.iter().enumerate() {
        let _ = writeln!(text, "link {}: {link}", place + 1);
    }
    let end = Instant::from_secs(plan.warm_s + plan.steady_s);
    let (mut now, mut before) = (Instant::ZERO, Counted::default());
    while now < end {
        now += interval;
        network.simulation.run_until(now);
        let counted = Counted::of(&network);
        let mbps = |bytes: u64| bytes as f64 * 8e-6 / interval.as_secs_f64();
        let _ = write!(text, "{:7.2}s {:6.2} Mbit/s", now.as_secs_f64(), mbps(counted.bytes - before.bytes));
        write_sender(&mut text, &network);
        write_proxy(&mut text, &network, &counted, &before);
        write_links(&mut text, &network, |index| mbps(counted.links[index] - before.link(index)));
        text.push('\n');
        before = counted;
    }
    text
}

/// Sums since the start of the run.
#[derive(Debug, Default)]
struct Counted {
    bytes: u64,
    links: Vec<u64>,
    losses: u64,
    by_time: u64,
    false_losses: u64,
    queue_drops: u64,
}

impl Counted {
    fn of(network: &Network) -> Self {
        let stats = network.stats();
        let proxy = network.proxy.and_then(|proxy| network.simulation.proxy_counters(proxy));
        Self {
            bytes: network.simulation.delivered_bytes(network.flow),
            links: stats.iter().map(|stats| stats.delivered_bytes).collect(),
            losses: proxy.map_or(0, |counters| counters.losses_detected),
            by_time: proxy.map_or(0, |counters| counters.losses_by_time),
            false_losses: proxy.map_or(0, |counters| counters.false_losses),
            queue_drops: stats.iter().map(|stats| stats.queue_drops).sum(),
        }
    }

    fn link(&self, index: usize) -> u64 {
        self.links.get(index).copied().unwrap_or(0)
    }
}

fn write_sender(text: &mut String, network: &Network) {
    let Some(sender) = network.simulation.sender(network.flow) else { return };
    let metrics = sender.engine().metrics();
    let _ = write!(
        text,
        " | cwnd {} out {} KB{} srtt {:.0} ms {:?} re {} to {}",
        metrics.cwnd_bytes / 1000,
        metrics.outstanding_bytes / 1000,
        if metrics.cwnd_bytes < metrics.ssthresh_bytes { " slow-start" } else { "" },
        metrics.srtt.map_or(0.0, |srtt| srtt.as_secs_f64() * 1e3),
        metrics.phase,
        metrics.counters.retransmitted_segments,
        metrics.counters.timeouts,
    );
}

fn write_proxy(text: &mut String, network: &Network, counted: &Counted, before: &Counted) {
    let Some(flow) = network.proxy.and_then(|proxy| network.simulation.proxy_flow(proxy, network.flow))
    else {
        return;
    };
    let _ = write!(
        text,
        " | sender rtt {:.1} ms flight {}/{}/{} pool {} KB hold {} KB {} lost {} age {} false {} drop {}",
        flow.sender_rtt.as_secs_f64() * 1e3,
        flow.flight_bytes / 1000,
        flow.window_bytes / 1000,
        flow.flight_limit_bytes.unwrap_or(0) / 1000,
        flow.waiting_bytes / 1000,
        flow.resequencing_bytes / 1000,
        flow.state.name(),
        counted.losses - before.losses,
        counted.by_time - before.by_time,
        counted.false_losses - before.false_losses,
        counted.queue_drops - before.queue_drops,
    );
}

fn write_links(text: &mut String, network: &Network, mbps: impl Fn(usize) -> f64) {
    let status = network.status();
    for index in 0..network.links.len() {
        let _ = write!(text, " | {:.2}", mbps(index));
        let Some(link) = status.get(index) else { continue };
        let _ = write!(
            text,
            " of {:.2} {} min {:.0} ms rtt {:.0} fly {}/{} KB loss {:.2} %",
            link.rate.map_or(0.0, |rate| rate.as_bps() as f64 * 1e-6),
            link.state.name(),
            link.min_rtt.map_or(0.0, |rtt| rtt.as_secs_f64() * 1e3),
            link.rtt.map_or(0.0, |rtt| rtt.as_secs_f64() * 1e3),
            link.in_flight_bytes / 1000,
            link.cap_bytes / 1000,
            link.loss * 100.0,
        );
    }
}
