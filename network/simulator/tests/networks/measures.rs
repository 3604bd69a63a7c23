//! What is measured of flows and links, held against closed forms.
use prismux_endpoint::random::{RandomStream, Seed};
use prismux_link::{LinkConfig, LossModel, QueueLimit};
use prismux_plan::{Flow, NodeId, Plan, Traffic, Transport as Carrier};
use prismux_simulator::{
    Arrival, BuiltFlow, Content, Flow as FlowMachine, FlowBuild, FlowContext, Simulation, SimulationOptions,
    Transport,
};
use prismux_trace::results::RunResult;
use prismux_units::{ByteCount, Duration, Instant, Probability, Rate};
use prismux_wire::Ecn;

/// Headers of IPv4 and UDP.
const HEADER_BYTES: u32 = 28;

fn run(plan: &Plan, options: SimulationOptions) -> RunResult {
    let mut simulation = Simulation::from_plan(plan, Seed(1), options).expect("a good plan");
    simulation.run_until(Instant::ZERO + plan.duration);
    assert_eq!(simulation.faults(), Vec::<String>::new());
    simulation.result()
}

/// A server, a router and a client: 8 Mbit/s and 20 ms, then `narrow`. Delays are taken.
fn two_links(seconds: u64, narrow: LinkConfig) -> (Plan, [NodeId; 2]) {
    let mut plan = Plan::new("two links", Duration::from_secs(seconds));
    plan.measure.delays = true;
    let (server, router, client) = (plan.host("server"), plan.router("router"), plan.host("client"));
    let first = LinkConfig::new(Rate::from_mbps(8), Duration::from_millis(20));
    plan.symmetric_link("first", [server, router], first);
    plan.symmetric_link("narrow", [router, client], narrow);
    (plan, [server, client])
}

fn cbr(rate: Rate) -> Traffic {
    Traffic::Cbr { rate, packet: ByteCount::new(1000) }
}

#[test]
fn the_delay_of_an_empty_path_is_its_transmission_and_propagation_exactly() {
    let (mut plan, [server, client]) =
        two_links(5, LinkConfig::new(Rate::from_mbps(4), Duration::from_millis(7)));
    plan.flow(Flow::new("voice", server, client, Carrier::Udp).traffic(cbr(Rate::from_kbps(80))));
    let result = run(&plan, SimulationOptions::checked());
    let flow = &result.flows["voice"];
    let delay = flow.delay.expect("asked for");
    // 1000 bytes take 1 ms and 2 ms.
    let expected = 0.020 + 0.001 + 0.007 + 0.002;
    for value in [delay.mean_s, delay.p50_s, delay.p95_s, delay.p99_s, delay.max_s] {
        assert!((value - expected).abs() < 1e-12, "{value} for {expected}");
    }
    assert_eq!((delay.jitter_s, delay.variation_p99_s), (0.0, 0.0));
    assert_eq!(flow.packets.expect("datagrams").lost, 0);
}

#[test]
fn nobody_who_does_not_ask_has_delays() {
    let (mut plan, [server, client]) =
        two_links(1, LinkConfig::new(Rate::from_mbps(4), Duration::from_millis(7)));
    plan.measure.delays = false;
    plan.flow(Flow::new("voice", server, client, Carrier::Udp).traffic(cbr(Rate::from_kbps(80))));
    assert_eq!(run(&plan, SimulationOptions::checked()).flows["voice"].delay, None);
}

#[test]
fn lost_datagrams_are_those_that_links_dropped_and_not_those_on_their_way() {
    let narrow = LinkConfig::new(Rate::from_mbps(4), Duration::from_millis(7))
        .with_queue(QueueLimit::Packets(10))
        .with_loss(LossModel::Bernoulli(Probability::new(0.01).expect("a probability")));
    let (mut plan, [server, client]) = two_links(10, narrow);
    plan.measure.interval = Some(Duration::from_millis(100));
    plan.flow(Flow::new("flood", server, client, Carrier::Udp).traffic(cbr(Rate::from_mbps(6))));
    let result = run(&plan, SimulationOptions::checked());
    let (packets, link) = (result.flows["flood"].packets.expect("datagrams"), &result.links["narrow"]);
    assert_eq!(packets.lost, link.dropped_packets);
    assert!((packets.loss - (1.0 - 4.0 / 6.0)).abs() < 0.02, "{packets:?}");
    let series = &result.series.expect("sampled").links["narrow"];
    assert_eq!(series.dropped_packets.iter().sum::<u64>(), link.dropped_packets);
}

/// Packets of one size whose distances are exponential.
#[derive(Debug)]
struct Poisson {
    mean_gap_s: f64,
    payload_bytes: u32,
}

#[derive(Debug)]
struct PoissonFlow {
    mean_gap_s: f64,
    payload_bytes: u32,
    stream: RandomStream,
    next: Instant,
    received: u64,
}

#[derive(Debug, Clone, Copy)]
struct Empty;

impl Content for Empty {
    fn header_bytes(&self) -> usize {
        0
    }

    fn emit(&self, _: &mut [u8]) {}
}

impl Transport for Poisson {
    fn name(&self) -> &str {
        "poisson"
    }

    fn build(&self, build: &mut FlowBuild<'_>) -> BuiltFlow {
        build.two_ends(PoissonFlow {
            mean_gap_s: self.mean_gap_s,
            payload_bytes: self.payload_bytes,
            stream: build.random("arrivals"),
            next: Instant::MAX,
            received: 0,
        })
    }
}

impl PoissonFlow {
    fn wait(&mut self, context: &mut FlowContext<'_>) {
        self.next = context.now() + Duration::from_secs_f64(self.stream.exponential(self.mean_gap_s));
        context.wake(0, self.next);
    }
}

impl FlowMachine for PoissonFlow {
    fn start(&mut self, context: &mut FlowContext<'_>) {
        self.wait(context);
    }

    fn stop(&mut self, _: &mut FlowContext<'_>) {
        self.next = Instant::MAX;
    }

    fn deliver(&mut self, _: &mut FlowContext<'_>, _: usize, arrival: Arrival) {
        self.received += u64::from(arrival.payload_bytes());
    }

    fn timeout(&mut self, context: &mut FlowContext<'_>, _: usize) {
        if context.now() == self.next {
            context.send(0, Empty, self.payload_bytes, Ecn::NotEct);
            self.wait(context);
        }
    }

    fn delivered_bytes(&self) -> u64 {
        self.received
    }
}

/// The share of the customers of an M/D/1 queue of load `load` that wait no longer than `services` times of service
/// (Erlang's series).
fn waits_at_most(load: f64, services: f64) -> f64 {
    let term = |k: u32| {
        let x = load * (f64::from(k) - services);
        (1..=k).fold(libm::exp(-x), |product, i| product * x / f64::from(i))
    };
    (1.0 - load) * (0..=services.floor() as u32).map(term).sum::<f64>()
}

/// Poisson arrivals at a link whose packets take one time: M/D/1.
#[test]
fn waiting_times_of_poisson_arrivals_are_those_of_m_d_1() {
    const LOAD: f64 = 0.7;
    let way = Duration::from_millis(3);
    // 1000 bytes take 1 ms.
    let service_s = 0.001;
    let link = LinkConfig::new(Rate::from_mbps(8), way).with_queue(QueueLimit::Unlimited);
    let mut plan = Plan::new("M/D/1", Duration::from_secs(300));
    plan.measure.delays = true;
    let (server, client) = (plan.host("server"), plan.host("client"));
    plan.symmetric_link("link", [server, client], link);
    let mut options = SimulationOptions::default();
    let arrivals = Poisson { mean_gap_s: service_s / LOAD, payload_bytes: 1000 - HEADER_BYTES };
    let flow = Flow::new("customers", server, client, Carrier::Udp).traffic(cbr(Rate::from_mbps(1)));
    options.carry(&mut plan, flow, arrivals);
    let delay = run(&plan, options).flows["customers"].delay.expect("asked for");
    let waited_s = |delay_s: f64| delay_s - way.as_secs_f64() - service_s;
    // Pollaczek and Khinchine.
    let expected = LOAD / (2.0 * (1.0 - LOAD)) * service_s;
    let mean = waited_s(delay.mean_s);
    assert!((mean / expected - 1.0).abs() < 0.03, "{mean} for {expected}");
    for (q, found) in [(0.5, delay.p50_s), (0.95, delay.p95_s), (0.99, delay.p99_s)] {
        let share = waits_at_most(LOAD, waited_s(found) / service_s);
        assert!((share - q).abs() < 0.012, "{found} s is the quantile {share}, not {q}");
    }
}

#[test]
fn a_response_takes_a_round_trip_and_the_time_on_the_links() {
    let (mut plan, [server, client]) =
        two_links(5, LinkConfig::new(Rate::from_mbps(4), Duration::from_millis(10)));
    let traffic = Traffic::RequestResponse {
        request: ByteCount::new(100),
        response: ByteCount::new(1000),
        think: Duration::from_millis(50),
        exchanges: Some(20),
    };
    plan.flow(Flow::new("web", client, server, Carrier::Tcp).traffic(traffic));
    let flow = &run(&plan, SimulationOptions::checked()).flows["web"];
    let (response, delay) = (flow.response.expect("of requests"), flow.delay.expect("asked for"));
    assert_eq!(response.count, 20);
    // Headers of 52 bytes with timestamps; both links there and back.
    let on_links = |bytes: f64| bytes * 8.0 / 8e6 + bytes * 8.0 / 4e6;
    let expected = 0.060 + on_links(152.0) + on_links(1052.0);
    assert!((response.p50_s / expected - 1.0).abs() < 1.0 / 128.0, "{response:?} for {expected}");
    // The first one opens the connection: another round trip.
    assert!((response.max_s - (expected + 0.060)).abs() < 0.001, "{response:?}");
    // The data are the responses: so many packets, whose delay is one way.
    assert_eq!(delay.samples, 20);
    // A bare ACK of 52 bytes may leave just before.
    let waited = delay.mean_s - (0.030 + on_links(1052.0));
    assert!((-1e-9..=52.0 * 8.0 / 8e6 + 1e-9).contains(&waited), "{delay:?}");
}

#[test]
fn both_directions_of_a_link_are_told() {
    let narrow =
        LinkConfig::new(Rate::from_mbps(4), Duration::from_millis(7)).with_queue(QueueLimit::Packets(20));
    let (mut plan, [server, client]) = two_links(10, narrow);
    plan.flow(Flow::new("up", client, server, Carrier::Udp).traffic(cbr(Rate::from_mbps(6))));
    let link = &run(&plan, SimulationOptions::checked()).links["narrow"];
    let back = link.reverse.expect("told");
    assert_eq!((link.delivered_bytes, link.dropped_packets), (0, 0));
    assert_eq!(back.rate_bps, Some(4_000_000));
    assert!((back.utilization.expect("of a link with a rate") - 1.0).abs() < 0.01, "{back:?}");
    assert!((back.dropped_packets as f64 - 2e6 / 8e3 * 10.0).abs() < 30.0, "{back:?}");
}

/// Two flows over links of 3 and 1 Mbit/s of their own.
#[test]
fn the_fairness_of_shares_of_three_to_one_is_four_fifths() {
    let mut plan = Plan::new("unlike", Duration::from_secs(60));
    let (server, clients) = (plan.host("server"), ["a", "b"].map(|name| plan.host(name)));
    for (client, mbps) in clients.into_iter().zip([3, 1]) {
        let link = LinkConfig::new(Rate::from_mbps(mbps), Duration::from_millis(10));
        plan.symmetric_link(&format!("to {mbps}"), [server, client], link);
        let flow = Flow::new(&format!("file-{mbps}"), server, client, Carrier::Tcp);
        plan.flow(Flow { group: "file".into(), ..flow });
    }
    plan.flow(Flow::new("noise", server, clients[0], Carrier::Udp).traffic(cbr(Rate::from_kbps(8))));
    let result = run(&plan, SimulationOptions::checked());
    // (3 + 1)^2 / (2 (9 + 1)).
    let jain = result.total.jain.expect("of two flows");
    assert!((jain - 0.8).abs() < 0.005, "{jain}");
    let group = result.groups["file"];
    assert_eq!((group.flows, group.jain), (2, Some(jain)), "datagrams have no part in it");
}
