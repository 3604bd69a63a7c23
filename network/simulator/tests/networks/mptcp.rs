//! MPTCP in whole networks: what links give together, dead links, fairness at a shared bottleneck.
use prismux_endpoint::random::Seed;
use prismux_link::{LinkConfig, QueueLimit};
use prismux_mptcp::{Coupling, Mode, Scheduler};
use prismux_plan::{Action, Directions, Flow, FlowId, LinkId, MptcpSettings, Plan, Transport};
use prismux_simulator::{Simulation, SimulationOptions};
use prismux_units::{ByteCount, Duration, Instant, Rate};

const SCHEDULERS: [Scheduler; 6] = [
    Scheduler::Linux,
    Scheduler::MinRtt,
    Scheduler::RoundRobin,
    Scheduler::Redundant,
    Scheduler::Blest,
    Scheduler::Ecf,
];

fn link(megabits: u64, delay_ms: u64) -> LinkConfig {
    let config = LinkConfig::new(Rate::from_mbps(megabits), Duration::from_millis(delay_ms));
    LinkConfig { queue: QueueLimit::Bdp(1.0), ..config }
}

/// A host with these links to a router, and a server behind it.
fn multi_homed(links: &[LinkConfig], seconds: u64) -> (Plan, Vec<LinkId>) {
    let mut plan = Plan::new("multi-homed", Duration::from_secs(seconds));
    let (mobile, net, server) = (plan.host("mobile"), plan.router("net"), plan.host("server"));
    let links = links.iter().enumerate();
    let links =
        links.map(|(i, link)| plan.symmetric_link(&format!("l{i}"), [mobile, net], link.clone())).collect();
    plan.symmetric_link(
        "backbone",
        [net, server],
        LinkConfig::new(Rate::from_mbps(1000), Duration::from_millis(1)),
    );
    (plan, links)
}

fn upload(settings: MptcpSettings) -> Flow {
    let [mobile, server] = [0, 2].map(prismux_plan::NodeId::new);
    Flow::new("upload", mobile, server, Transport::Mptcp(settings))
}

/// Runs to the end; nothing may be out of order.
fn run(plan: &Plan) -> Simulation {
    let mut simulation =
        Simulation::from_plan(plan, Seed(1), SimulationOptions::checked()).expect("a good plan");
    let end = Instant::ZERO + plan.duration;
    match plan.flows.iter().all(|flow| flow.file_bytes().is_some()) {
        true => drop(simulation.run_to_completion(end)),
        false => simulation.run_until(end),
    }
    assert_eq!(simulation.faults(), Vec::<String>::new());
    simulation
}

#[test]
fn every_scheduler_uses_both_links_and_redundancy_one_of_them() {
    for scheduler in SCHEDULERS {
        let (mut plan, _) = multi_homed(&[link(20, 20), link(10, 40)], 30);
        let settings = MptcpSettings { scheduler, ..MptcpSettings::DEFAULT };
        plan.flow(upload(settings).bytes(ByteCount::new(20_000_000)));
        let mut simulation = run(&plan);
        let megabits = simulation.result().total.goodput_bps / 1e6;
        let expected = if scheduler == Scheduler::Redundant { 17.0..20.0 } else { 25.0..29.0 };
        assert!(expected.contains(&megabits), "{scheduler:?}: {megabits} Mbit/s");
    }
}

#[test]
fn the_end_with_the_links_opens_a_download_too() {
    let (mut plan, _) = multi_homed(&[link(20, 20), link(10, 40)], 30);
    let upload = upload(MptcpSettings::DEFAULT);
    let download = Flow { from: upload.to, to: upload.from, ..upload };
    plan.flow(download.bytes(ByteCount::new(20_000_000)));
    let mut simulation = run(&plan);
    let result = simulation.result();
    let pipes = &result.flows["upload"].pipes;
    assert_eq!(pipes.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["l0", "l1"]);
    assert!(result.total.goodput_bps > 25e6, "{}", result.total.goodput_bps);
}

#[test]
fn a_link_that_dies_costs_no_byte() {
    for scheduler in SCHEDULERS {
        let (mut plan, links) = multi_homed(&[link(10, 20), link(10, 20)], 60);
        let settings = MptcpSettings { scheduler, ..MptcpSettings::DEFAULT };
        plan.flow(upload(settings).bytes(ByteCount::new(10_000_000)));
        let change = prismux_link::LinkChange::DOWN;
        let action = Action::ChangeLink { link: links[1], directions: Directions::Both, change };
        plan.event(Duration::from_secs(3), action);
        let simulation = run(&plan);
        let [Some(sender), Some(receiver)] = simulation.mptcp(FlowId::new(0)) else { panic!("two ends") };
        assert_eq!(receiver.bytes_received_in_order(), 10_000_000, "{scheduler:?}");
        assert_eq!(sender.mode(), Mode::Multipath);
    }
}

/// Two subflows and one TCP through one bottleneck: uncoupled they take two shares of three, coupled about one of two.
#[test]
fn coupled_subflows_leave_a_tcp_its_share_of_a_bottleneck() {
    let share = |coupling: Coupling| {
        let mut plan = Plan::new("bottleneck", Duration::from_secs(120));
        let (mobile, net, far) = (plan.host("mobile"), plan.router("net"), plan.router("far"));
        let (server, other) = (plan.host("server"), plan.host("other"));
        let wide = || LinkConfig::new(Rate::from_mbps(100), Duration::from_millis(5));
        let [a, b] = ["a", "b"].map(|name| plan.symmetric_link(name, [mobile, net], wide()));
        plan.symmetric_link("c", [other, net], wide());
        plan.symmetric_link("bottleneck", [net, far], link(10, 20));
        plan.symmetric_link("d", [far, server], wide());
        let tcp = prismux_plan::TcpSettings {
            congestion: Some(prismux_plan::Congestion::NewReno),
            ..Default::default()
        };
        let settings = MptcpSettings { coupling, ..MptcpSettings::DEFAULT };
        plan.flow(
            Flow::new("mptcp", mobile, server, Transport::Mptcp(settings)).over(&[a, b]).tcp(tcp.clone()),
        );
        plan.flow(Flow::new("tcp", other, server, Transport::Tcp).tcp(tcp));
        let result = run(&plan).result();
        result.flows["mptcp"].goodput_bps / result.total.goodput_bps
    };
    let alone = share(Coupling::Off);
    assert!((0.58..0.75).contains(&alone), "uncoupled {alone}");
    for coupling in [Coupling::Lia, Coupling::Olia, Coupling::Balia] {
        let coupled = share(coupling);
        assert!((0.4..0.58).contains(&coupled), "{coupling:?}: {coupled}");
    }
}
