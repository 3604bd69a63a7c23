//! R²CP over simulated networks: the sum of its pipes, whatever their rates and round trips; handoff, migration and
//! blackouts; policies. The stream checkers are on: every byte once and in order.
#![allow(clippy::disallowed_macros, reason = "prints the figures of the protocol's page")]
use prismux_endpoint::random::Seed;
use prismux_link::{Jitter, LinkChange, LinkConfig, LossModel, QueueLimit};
use prismux_plan::{Action, Directions, Flow, FlowId, LinkId, Plan, Traffic, Transport};
use prismux_r2cp::{PipeId, R2cpConfig, Scheduling};
use prismux_rcp::RcpConfig;
use prismux_simulator::{R2cpFlow, R2cpPath, Simulation, SimulationOptions};
use prismux_tcp::engine::CongestionKind;
use prismux_units::{ByteCount, Duration, Instant, Probability, Rate};

/// A path: rate in kbit/s and round trip in ms.
#[derive(Debug, Clone, Copy)]
struct Path {
    kbps: u64,
    round_trip_ms: u64,
}

fn config() -> R2cpConfig {
    let rcp = RcpConfig { receive_buffer: ByteCount::new(2_000_000), ..RcpConfig::modern() };
    R2cpConfig::new(rcp)
}

fn link(path: Path) -> LinkConfig {
    // A bandwidth-delay product of queue, and no fewer than 20 packets.
    let packets = (path.kbps * path.round_trip_ms / 12_000).max(20) as u32;
    LinkConfig::new(Rate::from_kbps(path.kbps), Duration::from_nanos(path.round_trip_ms * 500_000))
        .with_queue(QueueLimit::Packets(packets))
}

struct World {
    simulation: Simulation,
    flow: FlowId,
}

/// One server per path; `shape` may change the ways, `links` what the paths are made of.
fn world(
    config: R2cpConfig,
    paths: &[LinkConfig],
    bytes: Option<u64>,
    seed: u64,
    shape: impl FnOnce(&mut Plan, &[LinkId], &mut Vec<R2cpPath>),
) -> World {
    let (mut plan, mut options) =
        (Plan::new("paths", Duration::from_secs(300)), SimulationOptions::checked());
    let client = plan.host("client");
    let (mut links, mut ways) = (Vec::new(), Vec::new());
    for (index, path) in paths.iter().enumerate() {
        let server = plan.host(&format!("server{index}"));
        links.push(plan.symmetric_link(&format!("path{index}"), [server, client], path.clone()));
        ways.push(R2cpPath::to(server));
    }
    shape(&mut plan, &links, &mut ways);
    let from = ways[0].server;
    let sender = config.rcp.clone();
    let transport = R2cpFlow { config, sender, paths: ways, name: "r2cp".into() };
    let flow = Flow::new("download", from, client, Transport::Tcp);
    let flow = flow.traffic(Traffic::bulk(bytes.map(ByteCount::new)));
    let flow = options.carry(&mut plan, flow, transport);
    World { simulation: Simulation::from_plan(&plan, Seed(seed), options).unwrap(), flow }
}

impl World {
    /// Goodput in bit/s between two times in seconds.
    fn goodput(&mut self, from: u64, to: u64) -> f64 {
        self.simulation.run_until(Instant::from_secs(from));
        let before = self.simulation.delivered_bytes(self.flow);
        self.simulation.run_until(Instant::from_secs(to));
        assert_eq!(self.simulation.faults(), Vec::<String>::new());
        (self.simulation.delivered_bytes(self.flow) - before) as f64 * 8.0 / (to - from) as f64
    }

    /// Runs to `until` and returns the longest time without progress after `from`.
    fn longest_gap(&mut self, from: Instant, until: Instant) -> Duration {
        self.simulation.run_until(from);
        let (mut bytes, mut since, mut longest) = (0, from, Duration::ZERO);
        while self.simulation.now() < until {
            let now = self.simulation.now() + Duration::from_millis(1);
            self.simulation.run_until(now);
            let delivered = self.simulation.delivered_bytes(self.flow);
            if delivered > bytes {
                (bytes, since) = (delivered, now);
            }
            longest = longest.max(now - since);
        }
        assert_eq!(self.simulation.faults(), Vec::<String>::new());
        longest
    }

    fn received(&self, pipe: usize) -> u64 {
        let connection = self.simulation.r2cp_connection(self.flow).unwrap();
        connection.pipe_metrics(PipeId(pipe)).map_or(0, |pipe| pipe.received_bytes)
    }
}

/// Goodput as a share of what the links' rates leave for payload.
fn share_of_ideal(scheduling: Scheduling, paths: &[Path], buffer: u64) -> f64 {
    let mut config = config();
    config.scheduling = scheduling;
    config.rcp.receive_buffer = ByteCount::new(buffer);
    let links: Vec<LinkConfig> = paths.iter().map(|&path| link(path)).collect();
    let mut world = world(config, &links, None, 1, |_, _, _| ());
    // 1448 bytes of every 1500: IPv4, UDP and RCP with timestamps take 52.
    let ideal = paths.iter().map(|path| path.kbps * 1000).sum::<u64>() as f64 * 1448.0 / 1500.0;
    world.goodput(10, 40) / ideal
}

#[test]
fn rates_that_differ_add_up() {
    for kbps in [1000, 2000, 4000, 6000] {
        let paths = [Path { kbps: 4000, round_trip_ms: 30 }, Path { kbps, round_trip_ms: 30 }];
        let share = share_of_ideal(Scheduling::ExpectedArrival, &paths, 500_000);
        println!("4000 and {kbps} kbit/s: {share:.3} of ideal");
        assert!(share >= 0.95, "{kbps}: {share}");
    }
}

#[test]
fn round_trips_that_differ_do_not_hurt() {
    for round_trip_ms in [30, 90, 150, 210] {
        let paths = [Path { kbps: 4000, round_trip_ms: 30 }, Path { kbps: 4000, round_trip_ms }];
        let share = share_of_ideal(Scheduling::ExpectedArrival, &paths, 500_000);
        println!("30 and {round_trip_ms} ms: {share:.3} of ideal");
        assert!(share >= 0.95, "{round_trip_ms}: {share}");
    }
}

#[test]
fn in_a_small_buffer_rank_does_better_than_the_first_pending() {
    let paths = [Path { kbps: 4000, round_trip_ms: 30 }, Path { kbps: 4000, round_trip_ms: 210 }];
    let share = |scheduling| share_of_ideal(scheduling, &paths, 256_000);
    let (ranked, chained) = (share(Scheduling::ExpectedArrival), share(Scheduling::ExpectedArrivalChained));
    let (simple, round_robin) = (share(Scheduling::FirstPending), share(Scheduling::RoundRobin));
    println!("ranked {ranked:.3}, chained {chained:.3}, simple {simple:.3}, round robin {round_robin:.3}");
    assert!(ranked > simple && ranked >= 0.95, "{ranked} {simple}");
}

#[test]
fn a_blackout_of_one_pipe_costs_at_most_a_timeout_of_that_pipe() {
    for seed in 1..=5 {
        let paths = [Path { kbps: 4000, round_trip_ms: 60 }, Path { kbps: 4000, round_trip_ms: 60 }];
        let mut rto = Duration::ZERO;
        let links = paths.map(link);
        let dark = Instant::from_millis(5000 + 137 * seed);
        let mut world = world(config(), &links, None, seed, |plan, links, _| {
            plan.event(dark - Instant::ZERO, Action::both_ways(links[1], LinkChange::DOWN));
            plan.event(
                dark + Duration::from_secs(10) - Instant::ZERO,
                Action::both_ways(links[1], LinkChange::UP),
            );
        });
        world.simulation.run_until(dark);
        if let Some(pipe) = world.simulation.r2cp_connection(world.flow).unwrap().pipe_metrics(PipeId(1)) {
            rto = pipe.engine.rto;
        }
        let gap = world.longest_gap(dark, dark + Duration::from_secs(9));
        println!("seed {seed}: longest gap {gap}, timeout {rto}");
        // A round trip of the other pipe for what is asked for anew, queues included.
        assert!(gap <= rto + Duration::from_millis(150), "seed {seed}: {gap} with a timeout of {rto}");
        // When the link returns, so does its pipe.
        let from = (dark + Duration::from_secs(10)).as_nanos() / 1_000_000_000;
        let after = world.goodput(from + 8, from + 20);
        assert!(after > 0.9 * 8e6 * 1448.0 / 1500.0, "seed {seed}: {after} afterwards");
    }
}

#[test]
fn a_handoff_with_overlap_leaves_no_gap() {
    let paths = [Path { kbps: 3000, round_trip_ms: 100 }, Path { kbps: 5000, round_trip_ms: 100 }];
    let mut world = world(config(), &paths.map(link), None, 1, |_, _, ways| {
        ways[0].closes = Some(Instant::from_secs(10));
        ways[1].opens = Instant::from_secs(8);
    });
    world.simulation.run_until(Instant::from_secs(8));
    let connection = world.simulation.r2cp_connection(world.flow).unwrap();
    let round_trip = connection.pipe_metrics(PipeId(0)).unwrap().engine.srtt.unwrap();
    let gap = world.longest_gap(Instant::from_secs(8), Instant::from_secs(14));
    println!("longest gap {gap}, round trip {round_trip}");
    assert!(gap <= round_trip * 2, "{gap}");
    let before = world.received(0);
    let after = world.goodput(15, 20);
    assert_eq!(world.received(0), before, "the old pipe carries nothing any more");
    assert!(after > 0.93 * 5e6 * 1448.0 / 1500.0, "{after}");
}

#[test]
fn migration_fetches_nothing_twice() {
    for (peaceful, seed) in [(true, 1), (false, 1), (false, 2), (false, 3)] {
        let paths = [Path { kbps: 3000, round_trip_ms: 100 }, Path { kbps: 5000, round_trip_ms: 40 }];
        let bytes = 6_000_000;
        let leaves = Instant::from_secs(6);
        let mut world = world(config(), &paths.map(link), Some(bytes), seed, |_, _, ways| {
            ways[1].opens = leaves;
            match peaceful {
                true => ways[0].closes = Some(leaves),
                false => ways[0].drops = Some(leaves),
            }
        });
        world.simulation.run_until(leaves - Duration::from_nanos(1));
        let connection = world.simulation.r2cp_connection(world.flow).unwrap();
        let in_flight = connection.pipe_metrics(PipeId(0)).unwrap().engine.outstanding_bytes;
        assert!(world.simulation.run_to_completion(Instant::from_secs(60)));
        assert_eq!(world.simulation.faults(), Vec::<String>::new());
        let connection = world.simulation.r2cp_connection(world.flow).unwrap();
        let asked: u64 =
            (0..2).map(|pipe| connection.pipe_metrics(PipeId(pipe)).unwrap().requested_bytes).sum();
        let lost: u64 = (0..2)
            .map(|pipe| connection.pipe_metrics(PipeId(pipe)).unwrap().engine.counters)
            .map(|counters| counters.retransmitted_segments * 1448)
            .sum();
        let twice = asked.saturating_sub(bytes + lost);
        println!("peaceful {peaceful}, seed {seed}: {twice} bytes asked for twice, {in_flight} in flight");
        // The end of the stream is not known: a window may be asked for beyond it.
        let allowed = if peaceful { 0 } else { in_flight };
        assert!(connection.metrics().duplicate_bytes <= allowed, "{:?}", connection.metrics());
    }
}

#[test]
fn a_target_rate_is_kept_and_the_dear_pipe_carries_the_rest() {
    let mut config = config();
    config.target_rate = Some(Rate::from_kbps(720));
    let paths = [Path { kbps: 500, round_trip_ms: 40 }, Path { kbps: 2000, round_trip_ms: 60 }];
    let mut world = world(config, &paths.map(link), None, 1, |plan, links, ways| {
        ways[1].cost = 1;
        let slower = LinkChange { rate: Some(Rate::from_kbps(200)), ..LinkChange::default() };
        plan.event(
            Duration::from_secs(30),
            Action::ChangeLink { link: links[0], directions: Directions::Forward, change: slower },
        );
    });
    let total = world.goodput(10, 30);
    let cheap = world.received(0) as f64 * 8.0 / 30.0;
    println!("{total} bit/s, {cheap} of them over the cheap pipe");
    assert!((total / 720e3 - 1.0).abs() < 0.03, "{total}");
    assert!(cheap > 0.85 * 500e3 * 1448.0 / 1500.0, "{cheap}");
    // The cheap pipe slows down: the other fills in.
    let total = world.goodput(40, 60);
    assert!((total / 720e3 - 1.0).abs() < 0.03, "{total} afterwards");
}

#[test]
fn a_dear_pipe_waits_until_it_is_needed() {
    let paths = [Path { kbps: 2000, round_trip_ms: 40 }, Path { kbps: 2000, round_trip_ms: 40 }];
    let dark = Instant::from_secs(10);
    let mut world = world(config(), &paths.map(link), None, 1, |plan, links, ways| {
        ways[1].cost = 1;
        plan.event(dark - Instant::ZERO, Action::both_ways(links[0], LinkChange::DOWN));
    });
    world.goodput(5, 10);
    assert_eq!(world.received(1), 0);
    let after = world.goodput(12, 20);
    assert!(after > 0.9 * 2e6 * 1448.0 / 1500.0, "{after}");
}

#[test]
fn lossy_reordering_links_lose_no_byte() {
    for seed in 1..=6 {
        let rough = |path: Path| LinkConfig {
            loss: LossModel::Bernoulli(Probability::new(0.02).unwrap()),
            duplicate: Probability::new(0.02).unwrap(),
            jitter: Jitter { max: Duration::from_millis(15), in_order: false },
            ..link(path)
        };
        let paths = [
            rough(Path { kbps: 6000, round_trip_ms: 20 }),
            rough(Path { kbps: 2000, round_trip_ms: 120 }),
            rough(Path { kbps: 1000, round_trip_ms: 300 }),
        ];
        let mut world = world(config(), &paths, Some(2_000_000), seed, |_, _, _| ());
        assert!(world.simulation.run_to_completion(Instant::from_secs(120)), "seed {seed}");
        assert_eq!(world.simulation.faults(), Vec::<String>::new());
        assert_eq!(world.simulation.delivered_bytes(world.flow), 2_000_000);
        assert!(world.simulation.r2cp_connection(world.flow).unwrap().is_complete());
    }
}

#[test]
fn two_links_to_one_server_are_two_pipes_with_a_router_between_or_without() {
    for routed in [false, true] {
        let (mut plan, mut options) =
            (Plan::new("router", Duration::from_secs(60)), SimulationOptions::checked());
        let (server, client) = (plan.host("server"), plan.host("client"));
        let path = link(Path { kbps: 3000, round_trip_ms: 50 });
        let near = if routed { plan.router("router") } else { server };
        if routed {
            let wide = LinkConfig::new(Rate::from_kbps(100_000), Duration::ZERO);
            plan.symmetric_link("wide", [server, near], wide);
        }
        let links: Vec<LinkId> = (0..2)
            .map(|index| plan.symmetric_link(&format!("path{index}"), [near, client], path.clone()))
            .collect();
        let ways = links.iter().map(|&link| R2cpPath { link: Some(link), ..R2cpPath::to(server) }).collect();
        let config = config();
        let sender = config.rcp.clone();
        let transport = R2cpFlow { config, sender, paths: ways, name: "r2cp".into() };
        let flow = Flow::new("download", server, client, Transport::Tcp);
        let flow = options.carry(&mut plan, flow, transport);
        let mut world = World { simulation: Simulation::from_plan(&plan, Seed(1), options).unwrap(), flow };
        let goodput = world.goodput(5, 15);
        assert!(goodput > 0.95 * 6e6 * 1448.0 / 1500.0, "with a router: {routed}: {goodput}");
    }
}

#[test]
fn each_pipe_may_have_a_congestion_control_of_its_own() {
    // Two lossy paths alike: NewReno halves its window at a loss and grows by a segment in a round trip, CUBIC keeps
    // seven tenths and is back sooner.
    let path = || {
        link(Path { kbps: 50_000, round_trip_ms: 300 })
            .with_loss(LossModel::Bernoulli(Probability::new(0.0002).unwrap()))
    };
    let shares = |second: CongestionKind| {
        let mut config = config();
        config.rcp.engine.congestion = CongestionKind::NewReno;
        let mut world =
            world(config, &[path(), path()], None, 1, |_, _, ways| ways[1].congestion = Some(second));
        world.goodput(10, 200);
        world.received(1) as f64 / world.received(0) as f64
    };
    let (alike, cubic) = (shares(CongestionKind::NewReno), shares(CongestionKind::Cubic));
    println!("second to first: {alike} with NewReno on both, {cubic} with CUBIC on the second");
    assert!((0.7..1.4).contains(&alike), "{alike}");
    assert!(cubic > 1.5 * alike, "{cubic} against {alike}");
}
