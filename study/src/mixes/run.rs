//! One variant of using a mix, simulated.
//!
//! server - proxy = the mix's links = members - receiver; what is not the mix is fast and clean. For a single link a
//! router stands in the proxy's place, so that the delays are the same, and nothing is tunnelled.
use super::Mix;
use super::variant::Variant;
use prismux_endpoint::random::Seed;
use prismux_link::{LinkConfig, LinkStats, QueueLimit};
use prismux_plan::registry::{self, HYSTART};
use prismux_plan::{Flow, FlowId, LinkId, NodeId, Plan, Transport};
use prismux_prism::{LinkState, LinkStatus, TcpPrism};
use prismux_simulator::{AnyTransport, ExtensionFactory, Simulation, SimulationOptions, TcpFlow};
use prismux_tcp::TcpConfig;
use prismux_tcp::engine::HyStartKind;
use prismux_units::{ByteCount, Duration, Instant, Rate};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// How long, and with what.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct MixesPlan {
    /// Seed of the mixes and of everything random in the runs.
    pub seed: u64,
    /// Seconds until the steady state is taken to have begun.
    pub warm_s: u64,
    /// Seconds of steady state.
    pub steady_s: u64,
    /// Receive buffer at both ends, in bytes.
    pub receive_buffer_bytes: u64,
    /// What ends the sender's slow start before a loss does: in virtual time RFC 9406 unless told otherwise, where
    /// Linux has a way of its own.
    #[serde(serialize_with = "by_name")]
    pub hystart: Option<HyStartKind>,
}

fn by_name<S: Serializer>(hystart: &Option<HyStartKind>, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(registry::name_of(HYSTART, hystart))
}

/// What came of one variant of using a mix.
#[derive(Debug, Clone, Serialize)]
pub struct Outcome {
    /// Which variant.
    pub variant: Variant,
    /// Goodput in steady state, in bit/s.
    pub steady_goodput_bps: f64,
    /// Goodput over the whole run, slow start included, in bit/s.
    pub goodput_bps: f64,
    /// Steady goodput over what the links used could carry at best.
    pub efficiency: f64,
    /// Counters of the sender over the whole run.
    pub sender: Sender,
    /// The links, in the order of the mix.
    pub links: Vec<LinkUse>,
    /// Counters of the proxy over the whole run.
    pub proxy: BTreeMap<String, u64>,
    /// Events that the simulator took.
    pub events: u64,
}

/// The sender's side of a run.
#[derive(Debug, Clone, Serialize)]
pub struct Sender {
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Of these, in steady state.
    pub steady_timeouts: u64,
    /// Times recovery was entered without a timeout.
    pub fast_recoveries: u64,
    /// Segments sent again.
    pub retransmitted_segments: u64,
    /// Of these, proven unnecessary.
    pub spurious_retransmissions: u64,
    /// Window reductions taken back.
    pub undone_reductions: u64,
    /// Loss reports acted upon.
    pub loss_notices: u64,
    /// Mean congestion window in steady state, in bytes.
    pub mean_cwnd_bytes: f64,
    /// Mean of what was sent and not acknowledged, in bytes.
    pub mean_outstanding_bytes: f64,
    /// Mean of the smoothed round-trip time in steady state, in milliseconds.
    pub mean_srtt_ms: f64,
}

/// A link's side of a run. What the proxy says of it is of the end of the run, `None` without a proxy.
#[derive(Debug, Clone, Serialize)]
pub struct LinkUse {
    /// Share of all bytes delivered in steady state that came over this link.
    pub share: f64,
    /// Bytes delivered in steady state over what its rate allows.
    pub utilization: f64,
    /// Packets that found the queue full, over the whole run.
    pub queue_drops: u64,
    /// Packets lost on the channel, over the whole run.
    pub channel_losses: u64,
    /// The most packets that ever waited.
    pub max_queue_packets: u64,
    /// Share of the steady state during which the proxy had it on standby.
    pub standby_share: f64,
    /// Mean of the rate that the proxy believed in, in bit/s.
    pub mean_learned_rate_bps: Option<f64>,
    /// Mean of the round-trip time that the proxy saw, in milliseconds.
    pub mean_rtt_ms: Option<f64>,
    /// Shortest round-trip time that the proxy knew of, in milliseconds.
    pub min_rtt_ms: Option<f64>,
    /// Loss that the proxy saw lately.
    pub loss_seen: Option<f64>,
    /// What the proxy used it for.
    pub state: Option<&'static str>,
    /// Why, in the proxy's words.
    pub reason: Option<&'static str>,
}

/// A network as built, and where its parts are.
pub(super) struct Network {
    pub(super) simulation: Simulation,
    pub(super) flow: FlowId,
    /// The mix's links with their places in the mix.
    pub(super) links: Vec<(usize, LinkId)>,
    pub(super) proxy: Option<NodeId>,
}

/// Simulates the variant `variant` of using `mix`.
///
/// # Panics
/// When the simulator breaks its own rules (lost packets unaccounted for).
pub fn simulate(mix: &Mix, variant: Variant, plan: &MixesPlan) -> Outcome {
    let mut network = build(mix, variant, plan);
    let flow = network.flow;
    let warm = Instant::from_secs(plan.warm_s);
    network.simulation.run_until(warm);
    let bytes_before = network.simulation.delivered_bytes(flow);
    let stats_before = network.stats();
    let timeouts_before = counters(&network.simulation, flow).timeouts;
    let mut samples = Samples::new(network.links.len());
    for second in 1..=plan.steady_s {
        network.simulation.run_until(warm + Duration::from_secs(second));
        samples.take(&network);
    }
    let faults = network.simulation.faults();
    assert!(faults.is_empty(), "mix {}, {variant:?}: {faults:?}", mix.number);

    let bytes = network.simulation.delivered_bytes(flow);
    let steady_goodput_bps = (bytes - bytes_before) as f64 * 8.0 / plan.steady_s as f64;
    let rates = network.links.iter().map(|&(place, _)| mix.links[place].rate_bps as f64);
    let counters = counters(&network.simulation, flow);
    Outcome {
        variant,
        steady_goodput_bps,
        goodput_bps: bytes as f64 * 8.0 / (plan.warm_s + plan.steady_s) as f64,
        efficiency: steady_goodput_bps / (rates.sum::<f64>() * variant.payload_share()),
        sender: Sender {
            timeouts: counters.timeouts,
            steady_timeouts: counters.timeouts - timeouts_before,
            fast_recoveries: counters.fast_recoveries,
            retransmitted_segments: counters.retransmitted_segments,
            spurious_retransmissions: counters.spurious_retransmissions,
            undone_reductions: counters.undone_reductions,
            loss_notices: counters.loss_notices,
            mean_cwnd_bytes: samples.mean(samples.cwnd_bytes),
            mean_outstanding_bytes: samples.mean(samples.outstanding_bytes),
            mean_srtt_ms: samples.mean(samples.srtt_ms),
        },
        links: link_uses(mix, &network, &stats_before, &samples, plan),
        proxy: network.simulation.result().nodes.get("proxy").map_or_else(BTreeMap::new, |counters| {
            counters.iter().map(|(name, value)| (name.clone(), *value)).collect()
        }),
        events: network.simulation.events(),
    }
}

pub(super) fn build(mix: &Mix, variant: Variant, settings: &MixesPlan) -> Network {
    let mut plan = Plan::new("mix", Duration::from_secs(settings.warm_s + settings.steady_s));
    let fast = |delay_ms| {
        LinkConfig::new(Rate::from_mbps(1000), Duration::from_millis(delay_ms))
            .with_queue(QueueLimit::Unlimited)
    };
    let server = plan.host("server");
    let receiver = plan.host("receiver");
    let (middle, proxy) = match variant.proxy() {
        Some(settings) => {
            let proxy = plan.prism_proxy("proxy", settings);
            (proxy, Some(proxy))
        }
        None => (plan.router("router"), None),
    };
    plan.symmetric_link("backbone", [server, middle], fast(5));
    let places = match variant {
        Variant::Single(place) => place..place + 1,
        _ => 0..mix.links.len(),
    };
    let (mut links, mut members) = (Vec::new(), Vec::new());
    for place in places {
        let config = mix.links[place].config();
        let member = match proxy {
            Some(_) => plan.member(&format!("m{}", place + 1)),
            None => plan.router(&format!("m{}", place + 1)),
        };
        links.push((place, plan.symmetric_link(&format!("wwan{}", place + 1), [middle, member], config)));
        members.push((place, member));
    }
    // ACKs return over the receiver's first link: that to the member with the fastest one.
    members.sort_by_key(|(place, _)| *place != mix.fastest());
    for (place, member) in members {
        plan.symmetric_link(&format!("wlan{}", place + 1), [member, receiver], fast(1));
    }
    let mut options = SimulationOptions::default();
    let download = Flow::new("download", server, receiver, Transport::Tcp);
    let flow = options.carry(&mut plan, download, transport(variant, settings));
    let seed = Seed(settings.seed.wrapping_add(u64::from(mix.number) << 32));
    let simulation = Simulation::from_plan(&plan, seed, options);
    let simulation = simulation.expect("server and receiver are connected in every variant");
    Network { simulation, flow, links, proxy }
}

fn transport(variant: Variant, plan: &MixesPlan) -> AnyTransport {
    let mut config = TcpConfig {
        mss: variant.segment_bytes() as u16,
        receive_buffer: ByteCount::new(plan.receive_buffer_bytes),
        // Linux keeps any number: two links of unequal delay leave a hole for every packet of the slower one.
        max_out_of_order_ranges: 1 << 16,
        ..TcpConfig::modern()
    };
    config.engine.hystart = plan.hystart;
    let flow = TcpFlow::new(config);
    match variant {
        Variant::TcpPrism | Variant::Paper => {
            flow.with_extension("tcp-prism", ExtensionFactory::new(|| Box::new(TcpPrism::new())))
        }
        _ => flow,
    }
    .into()
}

fn counters(simulation: &Simulation, flow: FlowId) -> prismux_tcp::engine::EngineCounters {
    simulation.sender(flow).map(|sender| sender.engine().metrics().counters).unwrap_or_default()
}

impl Network {
    pub(super) fn stats(&self) -> Vec<LinkStats> {
        self.links.iter().map(|&(_, link)| self.simulation.forward_stats(link)).collect()
    }

    pub(super) fn status(&self) -> Vec<LinkStatus> {
        self.proxy.map_or_else(Vec::new, |proxy| self.simulation.proxy_links(proxy))
    }
}

/// Sums over samples, one per second of steady state.
struct Samples {
    count: f64,
    cwnd_bytes: f64,
    outstanding_bytes: f64,
    srtt_ms: f64,
    /// Standby, rate, rate samples, RTT, RTT samples: one row per link.
    links: Vec<LinkSamples>,
}

#[derive(Debug, Clone, Copy, Default)]
struct LinkSamples {
    standby: f64,
    rate_bps: f64,
    rates: f64,
    rtt_ms: f64,
    rtts: f64,
}

impl Samples {
    fn new(links: usize) -> Self {
        let links = vec![LinkSamples::default(); links];
        Self { count: 0.0, cwnd_bytes: 0.0, outstanding_bytes: 0.0, srtt_ms: 0.0, links }
    }

    fn take(&mut self, network: &Network) {
        self.count += 1.0;
        if let Some(sender) = network.simulation.sender(network.flow) {
            let metrics = sender.engine().metrics();
            self.cwnd_bytes += metrics.cwnd_bytes as f64;
            self.outstanding_bytes += metrics.outstanding_bytes as f64;
            self.srtt_ms += metrics.srtt.map_or(0.0, |srtt| srtt.as_secs_f64() * 1e3);
        }
        for (sums, status) in self.links.iter_mut().zip(network.status()) {
            sums.standby += f64::from(u8::from(status.state == LinkState::Standby));
            if let Some(rate) = status.rate {
                sums.rate_bps += rate.as_bps() as f64;
                sums.rates += 1.0;
            }
            if let Some(rtt) = status.rtt {
                sums.rtt_ms += rtt.as_secs_f64() * 1e3;
                sums.rtts += 1.0;
            }
        }
    }

    fn mean(&self, sum: f64) -> f64 {
        sum / self.count.max(1.0)
    }
}

fn link_uses(
    mix: &Mix,
    network: &Network,
    before: &[LinkStats],
    samples: &Samples,
    plan: &MixesPlan,
) -> Vec<LinkUse> {
    let stats = network.stats();
    let delivered = |index: usize| (stats[index].delivered_bytes - before[index].delivered_bytes) as f64;
    let total: f64 = (0..stats.len()).map(delivered).sum();
    let status = network.status();
    let uses = network.links.iter().enumerate().map(|(index, &(place, _))| {
        let status = status.get(index);
        let sums = &samples.links[index];
        let possible = mix.links[place].rate_bps as f64 / 8.0 * plan.steady_s as f64;
        LinkUse {
            share: delivered(index) / total.max(1.0),
            utilization: delivered(index) / possible,
            queue_drops: stats[index].queue_drops,
            channel_losses: stats[index].lost_packets,
            max_queue_packets: stats[index].max_queue_packets,
            standby_share: samples.mean(sums.standby),
            mean_learned_rate_bps: (sums.rates > 0.0).then(|| sums.rate_bps / sums.rates),
            mean_rtt_ms: (sums.rtts > 0.0).then(|| sums.rtt_ms / sums.rtts),
            min_rtt_ms: status.and_then(|s| s.min_rtt).map(|rtt| rtt.as_secs_f64() * 1e3),
            loss_seen: status.map(|status| status.loss),
            state: status.map(|status| status.state.name()),
            reason: status.map(|status| status.reason),
        }
    });
    uses.collect()
}
