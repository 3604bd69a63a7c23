//! Latency under load: a ping through the proxy during a download, and a short request beside one.
use crate::uplinks::{Uplinks, uplinks};
use prismux_endpoint::random::Seed;
use prismux_link::Jitter;
use prismux_plan::{Action, Transport as Carrier};
use prismux_simulator::{
    Arrival, BuiltFlow, Content, Flow, FlowBuild, FlowContext, Simulation, TcpFlow, Transport,
};
use prismux_tcp::TcpConfig;
use prismux_units::{ByteCount, Duration, Instant};
use prismux_wire::Ecn;
use std::sync::{Arc, Mutex};

const INTERVAL: Duration = Duration::from_millis(20);
const PING_BYTES: u32 = 56;

/// When pings were sent, and how long their answers took.
type RoundTrips = Arc<Mutex<Vec<(Instant, Duration)>>>;

/// A ping every 20 ms.
#[derive(Debug, Clone, Default)]
struct Ping {
    round_trips: RoundTrips,
}

impl Transport for Ping {
    fn name(&self) -> &str {
        "ping"
    }

    fn has_end(&self, _: Option<u64>) -> bool {
        false
    }

    fn build(&self, build: &mut FlowBuild<'_>) -> BuiltFlow {
        build.two_ends(Pinging { round_trips: Arc::clone(&self.round_trips), next: Instant::MAX, echoed: 0 })
    }
}

/// When a ping was sent.
#[derive(Debug, Clone, Copy)]
struct Sent(Instant);

impl Content for Sent {
    fn header_bytes(&self) -> usize {
        8
    }

    fn emit(&self, bytes: &mut [u8]) {
        bytes[..8].copy_from_slice(&self.0.as_nanos().to_be_bytes());
    }
}

#[derive(Debug)]
struct Pinging {
    round_trips: RoundTrips,
    next: Instant,
    echoed: u64,
}

impl Pinging {
    fn send(&mut self, context: &mut FlowContext<'_>) {
        context.send(0, Sent(context.now()), PING_BYTES, Ecn::NotEct);
        self.next = context.now() + INTERVAL;
        context.wake(0, self.next);
    }
}

impl Flow for Pinging {
    fn start(&mut self, context: &mut FlowContext<'_>) {
        self.send(context);
    }

    fn stop(&mut self, _: &mut FlowContext<'_>) {
        self.next = Instant::MAX;
    }

    fn deliver(&mut self, context: &mut FlowContext<'_>, end: usize, arrival: Arrival) {
        let Some(Sent(at)) = context.take(&arrival) else { return };
        if end == 1 {
            context.send(1, Sent(at), PING_BYTES, Ecn::NotEct);
        } else {
            self.echoed += u64::from(PING_BYTES);
            self.round_trips.lock().unwrap().push((at, context.now().saturating_since(at)));
        }
    }

    fn timeout(&mut self, context: &mut FlowContext<'_>, _: usize) {
        if context.now() == self.next {
            self.send(context);
        }
    }

    fn delivered_bytes(&self) -> u64 {
        self.echoed
    }
}

/// The share `percentile` of the round trips of pings sent between two seconds took no longer than this.
fn percentile(round_trips: &RoundTrips, (from, to): (u64, u64), percentile: f64) -> f64 {
    let (from, to) = (Instant::from_secs(from), Instant::from_secs(to));
    let all = round_trips.lock().unwrap();
    let mut taken: Vec<f64> =
        all.iter().filter(|(at, _)| (from..to).contains(at)).map(|(_, took)| took.as_secs_f64()).collect();
    taken.sort_by(f64::total_cmp);
    assert!(taken.len() > 50, "{} pings answered", taken.len());
    taken[((taken.len() - 1) as f64 * percentile) as usize]
}

/// The pings of flows that take either link, idle up to 10 s, beside a download afterwards: a round trip takes no
/// longer than idle, 1.5 times the links' jitter and 30 ms.
fn pings_wait_little(mut uplinks: Uplinks, jitter: Duration) {
    for link in uplinks.wwan {
        uplinks.plan[link].forward.link.jitter = Jitter { max: jitter, in_order: true };
    }
    let pings: Vec<Ping> = (0..4).map(|_| Ping::default()).collect();
    for (index, ping) in pings.iter().enumerate() {
        let name = format!("ping{index}");
        let flow = prismux_plan::Flow::new(&name, uplinks.server, uplinks.receiver, Carrier::Tcp);
        uplinks.options.carry(&mut uplinks.plan, flow, ping.clone());
    }
    uplinks.download("download", Duration::from_secs(10));
    let mut simulation = uplinks.build();
    simulation.run_until(Instant::from_secs(30));
    assert_eq!(simulation.faults(), Vec::<String>::new());
    for ping in &pings {
        let idle = percentile(&ping.round_trips, (1, 10), 0.5);
        let loaded = [0.5, 0.95].map(|share| percentile(&ping.round_trips, (12, 29), share));
        let allowed = idle + 1.5 * jitter.as_secs_f64() + 0.030;
        assert!(loaded[1] < allowed, "jitter {jitter}: idle {idle}, loaded {loaded:?}");
    }
}

#[test]
fn a_ping_during_a_download_waits_little() {
    pings_wait_little(uplinks(), Duration::ZERO);
}

#[test]
fn a_ping_during_a_download_waits_little_on_links_with_jitter() {
    pings_wait_little(uplinks(), Duration::from_millis(20));
}

/// How long requests of so many bytes take beside a download, in the mean: one in each of five runs, at another moment.
fn request(uplinks: impl Fn() -> Uplinks, bytes: u64) -> f64 {
    (0..5)
        .map(|moment| request_at(Duration::from_millis(15_000 + 130 * moment), uplinks(), bytes))
        .sum::<f64>()
        / 5.0
}

fn request_at(start: Duration, mut uplinks: Uplinks, bytes: u64) -> f64 {
    uplinks.download("download", Duration::ZERO);
    let transport = TcpFlow::new(TcpConfig { mss: 1400, ..TcpConfig::modern() });
    let flow = prismux_plan::Flow::new("request", uplinks.server, uplinks.receiver, Carrier::Tcp);
    let flow = flow.start_at(start).bytes(ByteCount::new(bytes));
    uplinks.options.carry(&mut uplinks.plan, flow, transport);
    let mut simulation = Simulation::from_plan(&uplinks.plan, Seed(5), uplinks.options).unwrap();
    simulation.run_until(Instant::from_secs(20));
    simulation.result().flows["request"].completion_s.expect("it is done")
}

#[test]
fn a_ping_during_a_download_waits_little_where_members_return_receipts() {
    pings_wait_little(uplinks().with_receipts(), Duration::ZERO);
}

#[test]
fn a_ping_during_a_download_waits_little_on_links_with_jitter_where_members_return_receipts() {
    pings_wait_little(uplinks().with_receipts(), Duration::from_millis(20));
}

#[test]
fn a_short_request_beside_a_download_takes_no_longer_than_over_the_best_link() {
    for all in [uplinks, || uplinks().with_receipts()] {
        let alone = || {
            let mut alone = all();
            let second = alone.members[1];
            alone.plan.event(Duration::ZERO, Action::Leave(second));
            alone
        };
        for bytes in [20_000, 100_000, 500_000] {
            let (both, best) = (request(all, bytes), request(alone, bytes));
            assert!(both < 1.2 * best, "{bytes} bytes: {both} s, over the best link {best} s");
        }
    }
}
