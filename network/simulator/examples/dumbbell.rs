//! N bulk flows through one bottleneck, a source and a sink node each: the classic against which simulators are
//! compared.
//!
//! `dumbbell key=value ...` with the keys and defaults of the ns-2 script of the same name: `n=20 bw=10Mb delay=30ms
//! abw=20Mb adelay=2ms q=100 seg=1000 T=300 warm=20 seed=1 profile=ns2-2002 stats=0`. Prints one line of JSON. With
//! `stats=1` congestion windows are sampled every 20 ms.
#![allow(clippy::disallowed_macros, clippy::disallowed_methods)] // A program, not a core: it prints.
use prismux_endpoint::random::Seed;
use prismux_link::{LinkConfig, QueueLimit};
use prismux_plan::{Flow, FlowId, LinkId, Plan, Transport};
use prismux_simulator::{Simulation, SimulationOptions, TcpFlow};
use prismux_tcp::{TcpConfig, TcpProfile};
use prismux_units::{ByteCount, Duration, Instant, Rate};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The window of the ns-2 script: 100,000 segments, that is, no limit.
const WINDOW_SEGMENTS: u64 = 100_000;
const SAMPLE_EVERY: Duration = Duration::from_millis(20);

struct Settings {
    flows: u32,
    bottleneck: LinkConfig,
    access: LinkConfig,
    segment_bytes: u16,
    until: Instant,
    warm: Instant,
    seed: u64,
    profile: TcpProfile,
    stats: bool,
}

fn main() {
    let settings = match settings(std::env::args().skip(1)) {
        Ok(settings) => settings,
        Err(problem) => {
            eprintln!("dumbbell: {problem}");
            std::process::exit(2);
        }
    };
    let (mut simulation, flows, bottleneck) = build(&settings);
    let setup_s = cpu_seconds();
    simulation.run_until(settings.warm);
    let before: Vec<u64> = flows.iter().map(|&flow| acknowledged(&simulation, flow)).collect();
    let windows = run_sampling(&mut simulation, &flows, &settings);
    let run_s = cpu_seconds() - setup_s;
    println!("{}", report(&settings, &simulation, &flows, bottleneck, &before, &windows, setup_s, run_s));
}

fn settings(arguments: impl Iterator<Item = String>) -> Result<Settings, String> {
    let defaults = "n=20 bw=10Mb delay=30ms abw=20Mb adelay=2ms q=100 seg=1000 T=300 warm=20 seed=1 \
                    profile=ns2-2002 stats=0";
    let mut values = BTreeMap::new();
    for argument in defaults.split_whitespace().map(String::from).chain(arguments) {
        let (key, value) = argument.split_once('=').ok_or(format!("\"{argument}\" is not key=value"))?;
        values.insert(key.to_string(), value.to_string());
    }
    let text = |key: &str| values[key].as_str();
    let number = |key: &str| text(key).parse::<f64>().map_err(|_| format!("{key} is not a number"));
    // "10Mb" and "1000Mbps" as in ns-2 and ns-3 scripts.
    let rate = |key: &str| {
        let mbps =
            text(key).trim_end_matches("ps").strip_suffix("Mb").and_then(|mbps| mbps.parse::<f64>().ok());
        mbps.map(|mbps| Rate::from_bps((mbps * 1e6) as u64))
            .ok_or(format!("{key} is not a rate such as 10Mb"))
    };
    let delay =
        |key: &str| text(key).replace("ms", " ms").parse::<Duration>().map_err(|e| format!("{key}: {e}"));
    let queue = number("q")? as u32;
    Ok(Settings {
        flows: number("n")? as u32,
        // ns-2 counts the packet in service into its queue limit.
        bottleneck: LinkConfig::new(rate("bw")?, delay("delay")?).with_queue(QueueLimit::Packets(queue - 1)),
        access: LinkConfig::new(rate("abw")?, delay("adelay")?).with_queue(QueueLimit::Packets(100_000)),
        segment_bytes: number("seg")? as u16,
        until: Instant::ZERO + Duration::from_secs_f64(number("T")?),
        warm: Instant::ZERO + Duration::from_secs_f64(number("warm")?),
        seed: number("seed")? as u64,
        profile: text("profile").parse().map_err(|e| format!("profile: {e}"))?,
        stats: number("stats")? > 0.0,
    })
}

fn build(settings: &Settings) -> (Simulation, Vec<FlowId>, LinkId) {
    let mut plan = Plan::new("dumbbell", settings.until - Instant::ZERO);
    let mut options = SimulationOptions::default();
    let (left, right) = (plan.router("left"), plan.router("right"));
    let bottleneck = plan.symmetric_link("bottleneck", [left, right], settings.bottleneck.clone());
    let tcp = TcpConfig {
        mss: settings.segment_bytes,
        receive_buffer: ByteCount::new(WINDOW_SEGMENTS * u64::from(settings.segment_bytes)),
        ..settings.profile.config()
    };
    let mut flows = Vec::new();
    for index in 0..settings.flows {
        let source = plan.host(&format!("source{index}"));
        let sink = plan.host(&format!("sink{index}"));
        plan.symmetric_link(&format!("up{index}"), [source, left], settings.access.clone());
        plan.symmetric_link(&format!("down{index}"), [right, sink], settings.access.clone());
        let start = Duration::from_secs_f64(f64::from(index) / f64::from(settings.flows));
        let flow = Flow::new(&format!("flow{index}"), source, sink, Transport::Tcp).start_at(start);
        flows.push(options.carry(&mut plan, flow, TcpFlow::new(tcp.clone())));
    }
    let simulation = Simulation::from_plan(&plan, Seed(settings.seed), options);
    (simulation.expect("a dumbbell is connected"), flows, bottleneck)
}

fn acknowledged(simulation: &Simulation, flow: FlowId) -> u64 {
    simulation.sender(flow).map_or(0, |connection| connection.stream_acked())
}

/// Runs to the end; returns mean and standard deviation of each window in packets, where sampled.
fn run_sampling(simulation: &mut Simulation, flows: &[FlowId], settings: &Settings) -> Vec<(f64, f64)> {
    if !settings.stats {
        simulation.run_until(settings.until);
        return Vec::new();
    }
    let segment = f64::from(settings.segment_bytes);
    let mut sums = vec![(0.0, 0.0); flows.len()];
    let mut samples = 0.0f64;
    while simulation.now() < settings.until {
        for (flow, (sum, squares)) in flows.iter().zip(&mut sums) {
            let metrics = simulation.sender(*flow).map(|connection| connection.engine().metrics());
            let window = metrics.map_or(0.0, |metrics| metrics.cwnd_bytes as f64 / segment);
            *sum += window;
            *squares += window * window;
        }
        samples += 1.0;
        simulation.run_until((simulation.now() + SAMPLE_EVERY).min(settings.until));
    }
    let moments = |(sum, squares): &(f64, f64)| {
        let mean = sum / samples;
        (mean, (squares / samples - mean * mean).max(0.0).sqrt())
    };
    sums.iter().map(moments).collect()
}

#[allow(clippy::too_many_arguments)]
fn report(
    settings: &Settings,
    simulation: &Simulation,
    flows: &[FlowId],
    bottleneck: LinkId,
    before: &[u64],
    windows: &[(f64, f64)],
    setup_s: f64,
    run_s: f64,
) -> String {
    let seconds = (settings.until - settings.warm).as_secs_f64();
    let goodput: Vec<f64> = flows
        .iter()
        .zip(before)
        .map(|(&flow, before)| (acknowledged(simulation, flow) - before) as f64 * 8.0 / seconds)
        .collect();
    let (sum, squares) = goodput.iter().fold((0.0, 0.0), |(sum, squares), g| (sum + g, squares + g * g));
    let counters =
        |flow: &FlowId| simulation.sender(*flow).map(|c| c.engine().metrics().counters).unwrap_or_default();
    let timeouts: Vec<u64> = flows.iter().map(|flow| counters(flow).timeouts).collect();
    let fast: Vec<u64> = flows.iter().map(|flow| counters(flow).fast_recoveries).collect();
    let again: Vec<u64> = flows.iter().map(|flow| counters(flow).retransmitted_segments).collect();
    let sent: u64 = flows.iter().map(|flow| counters(flow).segments_sent).sum();
    let delivered: u64 = flows.iter().map(|&flow| simulation.delivered_bytes(flow)).sum();
    let delivered = delivered / u64::from(settings.segment_bytes);
    let stats = simulation.forward_stats(bottleneck);
    let (means, deviations): (Vec<f64>, Vec<f64>) = windows.iter().copied().unzip();
    let mut json = String::from("{");
    let mut put = |key: &str, value: &str| {
        let separator = if json.len() > 1 { "," } else { "" };
        // Writing to a string cannot fail.
        let _ = write!(json, "{separator}\"{key}\":{value}");
    };
    put("sim", "\"prismux\"");
    put("n", &settings.flows.to_string());
    put("T", &settings.until.as_secs_f64().to_string());
    put("warm", &settings.warm.as_secs_f64().to_string());
    put("cpu_setup", &format!("{setup_s:.4}"));
    put("cpu_run", &format!("{run_s:.4}"));
    put("events", &simulation.events().to_string());
    put("sent_data", &sent.to_string());
    put("delivered_data", &delivered.to_string());
    put("delivered_per_cpu_s", &format!("{:.0}", delivered as f64 / run_s));
    put("us_per_delivered", &format!("{:.4}", run_s * 1e6 / delivered as f64));
    put("bottleneck_drops", &stats.dropped_packets().to_string());
    put("bottleneck_departures", &stats.delivered_packets.to_string());
    put("goodput_total_mbps", &format!("{:.4}", sum / 1e6));
    put("jain", &format!("{:.4}", sum * sum / (squares * goodput.len() as f64)));
    put("goodput_bps", &list(&goodput, 1));
    put("timeouts", &format!("{timeouts:?}"));
    put("fast_rexmits", &format!("{fast:?}"));
    put("rexmit_packets", &format!("{again:?}"));
    put("cwnd_mean", &list(&means, 3));
    put("cwnd_sd", &list(&deviations, 3));
    json + "}"
}

fn list(values: &[f64], digits: usize) -> String {
    let values: Vec<String> = values.iter().map(|value| format!("{value:.digits$}")).collect();
    format!("[{}]", values.join(","))
}

/// CPU seconds of this process so far, as the scheduler counts them (nanoseconds); 0 where it does not say.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|nanos| nanos.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}
