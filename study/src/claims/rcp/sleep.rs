//! A channel that is good or bad: TCP goes on, an RCP receiver sleeps while it is bad.

use crate::claims::Experiment;
use crate::claims::plan::Outcomes;
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use crate::number::digits;
use crate::statistics::Summary;
use prismux_endpoint::random::{RandomStream, Seed};
use prismux_link::{LinkChange, LinkConfig, LossModel};
use prismux_plan::{Action, Flow, Plan, Transport};
use prismux_rcp::RcpConfig;
use prismux_simulator::{AnyTransport, RcpFlow, Simulation, SimulationOptions, TcpFlow};
use prismux_tcp::engine::EngineConfig;
use prismux_tcp::{TcpConfig, TcpProfile};
use prismux_units::{ByteCount, Duration, Instant, Probability, Rate};

pub(super) const SLEEP: Experiment = Experiment {
    id: "23d",
    title: "a channel good for 10 s in the mean (0.01 % lost), bad for 1 to 10 s (10 % lost)",
    claims: &["RC-019", "RC-020", "RC-021"],
    lab: false,
    jobs: |_| Ok(Vec::new()),
    judge,
};

const BAD_MEANS_S: [u64; 6] = [1, 2, 4, 6, 8, 10];
const GOOD_MEAN_S: f64 = 10.0;
const SEEDS: u64 = 10;
const END: Instant = Instant::from_secs(300);
const RADIO_MBPS: u64 = 2;
/// Power of the radio in watts. A radio that is awake and does not send listens, at the price of receiving.
const SEND_W: f64 = 1.65;
const RECEIVE_W: f64 = 1.4;
const SLEEP_W: f64 = 0.045;
/// A sleeping radio wakes this often, for this long.
const BEACON: Duration = Duration::from_millis(100);
const AWAKE_FOR_BEACON: Duration = Duration::from_millis(2);

/// Bad periods until the end: beginning and end of each.
fn bad_periods(seed: u64, bad_mean_s: u64) -> Vec<(Instant, Instant)> {
    let mut random = Seed(seed).stream("channel");
    let mut draw = |mean_s: f64| exponential(&mut random, mean_s);
    let mut periods = Vec::new();
    let mut from = Instant::ZERO + draw(GOOD_MEAN_S);
    while from < END {
        let to = from + draw(bad_mean_s as f64);
        periods.push((from, to.min(END)));
        from = to + draw(GOOD_MEAN_S);
    }
    periods
}

fn exponential(random: &mut RandomStream, mean_s: f64) -> Duration {
    let seconds = -mean_s * (1.0 - random.uniform()).ln();
    Duration::from_micros((seconds * 1e6) as u64)
}

/// What one run came to.
struct Outcome {
    goodput_kbps: f64,
    mean_w: f64,
}

/// TCP as the source's ns-2 had it: Linux 2.4's estimate of the pipe and its rule for lost retransmissions, without
/// its undo; packets of 1000 bytes.
fn tcp() -> TcpConfig {
    let base = TcpProfile::Linux24.config();
    let engine = EngineConfig { undo: false, min_rto: Duration::from_secs(1), ..base.engine.clone() };
    TcpConfig {
        engine,
        mss: 960,
        timestamps: false,
        delayed_ack: None,
        receive_buffer: ByteCount::new(256_000),
        window_scaling: true,
        ..base
    }
}

/// The first beacon after the channel has become good ends a sleep.
fn waking((from, to): (Instant, Instant)) -> Instant {
    let beacons = (to - from).as_nanos().div_ceil(BEACON.as_nanos());
    (from + BEACON * beacons).min(END)
}

fn run(seed: u64, bad_mean_s: u64, sleeps: bool) -> Option<Outcome> {
    let (mut plan, mut options) = (Plan::new("sleep", END - Instant::ZERO), SimulationOptions::default());
    let (server, right) = (plan.host("server"), plan.router("right"));
    let mobile = plan.host("mobile");
    let backbone = LinkConfig::new(Rate::from_mbps(10), Duration::from_millis(50));
    plan.symmetric_link("backbone", [server, right], backbone);
    let loss = |p: f64| Probability::new(p).map_or(LossModel::None, LossModel::Bernoulli);
    let radio =
        LinkConfig::new(Rate::from_mbps(RADIO_MBPS), Duration::from_millis(15)).with_loss(loss(0.0001));
    let radio = plan.symmetric_link("radio", [right, mobile], radio);
    let transport: AnyTransport = match sleeps {
        true => RcpFlow::new(RcpConfig::from_tcp(&tcp())).into(),
        false => TcpFlow::new(tcp()).into(),
    };
    let flow = Flow::new("download", server, mobile, Transport::Tcp);
    let flow = options.carry(&mut plan, flow, transport);
    let periods = bad_periods(seed, bad_mean_s);
    for &(from, to) in &periods {
        let change = |p: f64| LinkChange { loss: Some(loss(p)), ..LinkChange::default() };
        // What arrives at a sleeping radio is lost (section 5.2.4.4).
        let (lost, until) = if sleeps { (1.0, waking((from, to))) } else { (0.1, to) };
        plan.event(from - Instant::ZERO, Action::both_ways(radio, change(lost)));
        plan.event(until - Instant::ZERO, Action::both_ways(radio, change(0.0001)));
    }
    let mut simulation = Simulation::from_plan(&plan, Seed(seed), options).ok()?;
    let mut asleep = Duration::ZERO;
    for (from, to) in periods.into_iter().filter(|_| sleeps) {
        let wakes = waking((from, to));
        if from < simulation.now() {
            continue;
        }
        simulation.run_until(from);
        simulation.with_rcp_receiver(flow, |receiver, _| receiver.freeze());
        simulation.run_until(wakes);
        simulation.with_rcp_receiver(flow, |receiver, now| receiver.thaw(now));
        asleep += wakes - from;
    }
    simulation.run_until(END);
    let seconds = END.as_secs_f64();
    let sent_bits = simulation.reverse_stats(radio).delivered_bytes as f64 * 8.0;
    let sending = sent_bits / (RADIO_MBPS as f64 * 1e6);
    let asleep = asleep.as_secs_f64();
    let listening = asleep * AWAKE_FOR_BEACON.as_secs_f64() / BEACON.as_secs_f64();
    let awake = seconds - asleep - sending + listening;
    let joules = sending * SEND_W + awake * RECEIVE_W + (asleep - listening) * SLEEP_W;
    let goodput_kbps = simulation.delivered_bytes(flow) as f64 * 8e-3 / seconds;
    Some(Outcome { goodput_kbps, mean_w: joules / seconds })
}

/// Both transports at one point, one value for each seed.
struct Point {
    bad_mean_s: u64,
    tcp: Vec<Outcome>,
    rcp: Vec<Outcome>,
}

fn summary(outcomes: &[Outcome], of: fn(&Outcome) -> f64) -> Option<Summary> {
    Summary::of(&outcomes.iter().map(of).collect::<Vec<_>>())
}

fn judge(_: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let point = |bad_mean_s: u64| Point {
        bad_mean_s,
        tcp: (1..=SEEDS).filter_map(|seed| run(seed, bad_mean_s, false)).collect(),
        rcp: (1..=SEEDS).filter_map(|seed| run(seed, bad_mean_s, true)).collect(),
    };
    let points: Vec<Point> = BAD_MEANS_S.into_iter().map(point).collect();
    let mean = |outcomes: &[Outcome], of| summary(outcomes, of).map_or(f64::NAN, |summary| summary.mean);
    let watts: fn(&Outcome) -> f64 = |outcome| outcome.mean_w;
    let kbps: fn(&Outcome) -> f64 = |outcome| outcome.goodput_kbps;
    let list = |of: fn(&Outcome) -> f64| {
        let text = |p: &Point| {
            format!("{}/{} at {} s", digits(mean(&p.rcp, of)), digits(mean(&p.tcp, of)), p.bad_mean_s)
        };
        points.iter().map(text).collect::<Vec<_>>().join(", ")
    };
    let falls = points.windows(2).all(|pair| mean(&pair[1].rcp, watts) < mean(&pair[0].rcp, watts));
    let faster = points.iter().all(|p| mean(&p.rcp, kbps) >= mean(&p.tcp, kbps));
    let cheaper = points.iter().all(|p| mean(&p.rcp, watts) < mean(&p.tcp, watts));
    let findings = vec![
        Finding::shape("RC-019", falls, list(watts)).because("mean power of RCP/TCP in W over 300 s"),
        Finding::shape("RC-020", faster, list(kbps)).because("goodput of RCP/TCP in kbit/s; TCP gets something \
            through the bad channel, which a sleeper forgoes, and a sleeper notices a good channel at the next \
            beacon; what arrives at a sleeping radio is lost"),
        Finding::shape("RC-021", cheaper, list(watts)).because("mean power of RCP/TCP in W"),
    ];
    let columns = ["tcp", "rcp"];
    let mut power = Series::new("mean bad period in s", "mean power of the radio in W", &columns);
    let mut rate = Series::new("mean bad period in s", "goodput in kbit/s", &columns);
    for p in &points {
        power.row(p.bad_mean_s, vec![summary(&p.tcp, watts), summary(&p.rcp, watts)]);
        rate.row(p.bad_mean_s, vec![summary(&p.tcp, kbps), summary(&p.rcp, kbps)]);
    }
    (findings, vec![power, rate])
}
