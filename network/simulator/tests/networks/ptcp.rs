//! pTCP over several access links, beside ordinary TCP connections on the same links.
use prismux_endpoint::random::Seed;
use prismux_link::{LinkChange, LinkConfig, QueueLimit};
use prismux_plan::{Action, Flow, LinkId, NodeId, Plan, PtcpSettings, Transport};
use prismux_ptcp::PtcpConfig;
use prismux_simulator::{PtcpFlow, Simulation, SimulationOptions, TcpFlow};
use prismux_tcp::TcpConfig;
use prismux_units::{ByteCount, Duration, Instant, Rate};

fn seconds(s: u64) -> Instant {
    Instant::ZERO + Duration::from_secs(s)
}

/// A mobile host whose links lead to a router, and a fixed host behind it.
struct Net {
    plan: Plan,
    mobile: NodeId,
    fixed: NodeId,
    links: Vec<LinkId>,
}

/// Links of so many kbit/s and round trips in ms.
fn net(pipes: &[(u64, u64)]) -> Net {
    let mut plan = Plan::new("pipes", Duration::from_secs(300));
    let (mobile, router, fixed) = (plan.host("mobile"), plan.router("router"), plan.host("fixed"));
    let link = |&(kbps, rtt): &(u64, u64)| LinkConfig {
        rate: Some(Rate::from_bps(kbps * 1000)),
        delay: Duration::from_micros(rtt * 500 - 500),
        queue: QueueLimit::Packets(50),
        ..LinkConfig::default()
    };
    let links = pipes
        .iter()
        .enumerate()
        .map(|(index, pipe)| plan.symmetric_link(&format!("access{index}"), [mobile, router], link(pipe)))
        .collect();
    plan.symmetric_link("backbone", [router, fixed], link(&(100_000, 1)));
    Net { plan, mobile, fixed, links }
}

/// One flow with a pipe on every link.
fn striped_flow(net: &Net) -> Flow {
    Flow::new("ptcp", net.mobile, net.fixed, Transport::Ptcp(PtcpSettings::DEFAULT)).over(&net.links)
}

fn tcp() -> TcpConfig {
    TcpConfig { receive_buffer: ByteCount::new(2_000_000), ..TcpConfig::ns2_2002() }
}

/// Goodput of pTCP over all pipes, and of separate connections, in bits per second, between 20 s and the end.
fn goodputs(pipes: &[(u64, u64)], events: &[(u64, usize, LinkChange)], end: u64) -> (f64, Vec<f64>) {
    let run = |striped: bool| -> Vec<f64> {
        let (mut net, mut options) = (net(pipes), SimulationOptions::checked());
        if striped {
            let config = PtcpConfig::new(tcp(), pipes.len() as u8);
            let flow = striped_flow(&net);
            options.carry(&mut net.plan, flow, PtcpFlow { config, address_lists: false });
        } else {
            for (index, &link) in net.links.iter().enumerate() {
                let flow = Flow::new(&format!("tcp{index}"), net.mobile, net.fixed, Transport::Tcp);
                options.carry(&mut net.plan, flow.over(&[link]), TcpFlow::new(tcp()));
            }
        }
        for &(at, link, change) in events {
            net.plan.event(Duration::from_secs(at), Action::both_ways(net.links[link], change));
        }
        net.plan.measure.warm_up = Some(Duration::from_secs(20));
        let mut simulation = Simulation::from_plan(&net.plan, Seed(1), options).unwrap();
        simulation.run_until(seconds(end));
        assert_eq!(simulation.faults(), Vec::<String>::new());
        let result = simulation.result();
        if striped {
            let pipes = &result.flows["ptcp"].pipes;
            assert_eq!(pipes.keys().map(String::as_str).collect::<Vec<_>>(), names(net.links.len()));
        }
        result.flows.values().map(|flow| flow.steady_goodput_bps.unwrap()).collect()
    };
    (run(true)[0], run(false))
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|index| format!("access{index}")).collect()
}

#[test]
fn pinned_connections_each_fill_their_own_link() {
    let (_, separate) = goodputs(&[(2000, 100), (500, 400)], &[], 60);
    assert!(separate[0] > 0.85 * 2e6 && separate[0] < 2e6, "{separate:?}");
    assert!(separate[1] > 0.8 * 5e5 && separate[1] < 5e5, "{separate:?}");
}

#[test]
fn pipes_of_different_rate_and_delay_add_up() {
    for ratio in [1, 4, 10] {
        let (ptcp, separate) = goodputs(&[(500, 400), (500 * ratio, 100)], &[], 120);
        let ideal: f64 = separate.iter().sum();
        assert!(ptcp > 0.95 * ideal, "ratio {ratio}: {ptcp:.0} of {ideal:.0}");
    }
}

#[test]
fn random_mixes_are_never_slower_than_their_best_pipe() {
    // In the last two a pipe repeats what had arrived, with other bytes, and loses it.
    for number in [1, 2, 3, 4, 5, 6, 50, 178] {
        let outcome = crate::pipe_mixes::run(number, &TcpConfig::ns2_2002());
        assert!(outcome.ptcp >= outcome.best(), "mix {number}: {outcome:?}");
    }
}

/// The application's longest wait for a byte while one of two links is dark for 20 s, that pipe's timeout when it went
/// dark, and what the pipe sent before and in the 30 s after.
fn blackout(tcp: TcpConfig, dark: usize, at: Instant) -> (Duration, Duration, [u64; 2]) {
    let mut net = net(&[(2000, 400), (5000, 100)]);
    let config = PtcpConfig::new(tcp, 2);
    let mut options = SimulationOptions::checked();
    let flow = striped_flow(&net);
    let flow = options.carry(&mut net.plan, flow, PtcpFlow { config, address_lists: false });
    let light = at + Duration::from_secs(20);
    net.plan.event(at - Instant::ZERO, Action::both_ways(net.links[dark], LinkChange::DOWN));
    net.plan.event(light - Instant::ZERO, Action::both_ways(net.links[dark], LinkChange::UP));
    let mut simulation = Simulation::from_plan(&net.plan, Seed(1), options).unwrap();
    simulation.run_until(at);
    let pipe = |simulation: &Simulation| {
        simulation.ptcp(flow)[0].unwrap().pipes().nth(dark).map(|pipe| (pipe.tcp.engine.rto, pipe.sent_bytes))
    };
    let (timeout, _) = pipe(&simulation).unwrap();
    let (mut bytes, mut since, mut longest) = (simulation.delivered_bytes(flow), at, Duration::ZERO);
    let mut now = at;
    while now < light {
        now += Duration::from_millis(10);
        simulation.run_until(now);
        let delivered = simulation.delivered_bytes(flow);
        if delivered > bytes {
            longest = longest.max(now - since);
            (bytes, since) = (delivered, now);
        }
    }
    longest = longest.max(now - since);
    let (_, before) = pipe(&simulation).unwrap();
    simulation.run_until(light + Duration::from_secs(30));
    let (_, after) = pipe(&simulation).unwrap();
    assert_eq!(simulation.faults(), Vec::<String>::new());
    (longest, timeout, [before, after])
}

#[test]
fn a_blackout_of_one_pipe_costs_at_most_one_timeout_of_that_pipe() {
    let modern = TcpConfig { receive_buffer: ByteCount::new(2_000_000), ..TcpConfig::modern() };
    // Besides the timeout: a round trip of the other pipe with its queue, in which the missing bytes travel.
    let trips = [Duration::from_millis(250), Duration::from_millis(700)];
    for config in [tcp(), modern] {
        for (dark, trip) in trips.into_iter().enumerate() {
            for start in [25_000, 25_730, 27_920] {
                let start = Instant::ZERO + Duration::from_millis(start);
                let (wait, timeout, [before, after]) = blackout(config.clone(), dark, start);
                assert!(wait <= timeout + trip, "link {dark} dark at {start}: {wait}, timeout {timeout}");
                assert!(after > before + 500_000, "link {dark} carries again: {before}, {after}");
            }
        }
    }
}

/// Links whose pipes carried data, by the pipes' own names, and those over which packets came: of a connection between
/// hosts with so many links each, which both tell their addresses.
fn with_lists(near: usize, far: usize) -> (Vec<String>, Vec<String>) {
    let mut plan = Plan::new("lists", Duration::from_secs(20));
    let (near_host, router, far_host) = (plan.host("near"), plan.router("router"), plan.host("far"));
    let link = LinkConfig::new(Rate::from_mbps(2), Duration::from_millis(10));
    for (host, name, count) in [(near_host, "near", near), (far_host, "far", far)] {
        for number in 0..count {
            plan.symmetric_link(&format!("{name}{number}"), [host, router], link.clone());
        }
    }
    let settings = PtcpSettings { address_lists: true, ..PtcpSettings::DEFAULT };
    plan.flow(Flow::new("ptcp", near_host, far_host, Transport::Ptcp(settings)));
    let mut simulation = Simulation::from_plan(&plan, Seed(1), SimulationOptions::checked()).expect("a plan");
    simulation.run_until(Instant::ZERO + plan.duration);
    assert_eq!(simulation.faults(), Vec::<String>::new());
    let result = simulation.result();
    let carried = result.flows["ptcp"].pipes.iter().filter(|(_, pipe)| pipe.received_bytes > 100_000);
    let used = result.links.iter().filter(|(name, link)| {
        let towards_far = if name.starts_with("near") {
            link.delivered_bytes
        } else {
            link.reverse.map_or(0, |way| way.delivered_bytes)
        };
        towards_far > 100_000
    });
    (carried.map(|(name, _)| name.clone()).collect(), used.map(|(name, _)| name.clone()).collect())
}

#[test]
fn lists_of_addresses_may_have_different_lengths() {
    // A pipe for each address of the end that opens; the other's addresses in rotation.
    let (pipes, links) = with_lists(2, 3);
    assert_eq!(pipes, ["near0", "near1"]);
    assert_eq!(links, ["near0", "near1", "far0", "far1"]);
    let (pipes, links) = with_lists(3, 2);
    assert_eq!(pipes, ["near0", "near1", "near2"]);
    assert_eq!(links, ["near0", "near1", "near2", "far0", "far1"]);
    let (pipes, links) = with_lists(1, 3);
    assert_eq!(pipes, ["near0"]);
    assert_eq!(links, ["near0", "far0"]);
}
