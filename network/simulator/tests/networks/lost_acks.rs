//! ACKs lost on their way back, and how many in a row.
use prismux_endpoint::random::Seed;
use prismux_link::{LinkChange, LinkConfig, LossModel};
use prismux_plan::{Action, Directions, Flow, LinkId, NodeId, Plan, Traffic, Transport};
use prismux_simulator::{Simulation, SimulationOptions};
use prismux_trace::results::RunResult;
use prismux_units::{ByteCount, Duration, Instant, Probability, Rate};

fn run(plan: &Plan) -> RunResult {
    let mut simulation = Simulation::from_plan(plan, Seed(3), SimulationOptions::checked()).expect("a plan");
    simulation.run_until(Instant::ZERO + plan.duration);
    assert_eq!(simulation.faults(), Vec::<String>::new());
    simulation.result()
}

/// A download over 10 Mbit/s whose way back loses as it is told.
fn download(loss: LossModel) -> (Plan, [NodeId; 2], LinkId) {
    let mut plan = Plan::new("lossy way back", Duration::from_secs(5));
    plan.measure.lost_acks = true;
    let (server, client) = (plan.host("server"), plan.host("client"));
    let there = LinkConfig::new(Rate::from_mbps(10), Duration::from_millis(10));
    let link = plan.link("line", [server, client], there.clone(), there.with_loss(loss));
    plan.flow(Flow::new("download", server, client, Transport::Tcp));
    (plan, [server, client], link)
}

#[test]
fn ones_that_are_lost_here_and_there_are_seldom_in_a_row() {
    let chance = Probability::new(0.1).expect("a probability");
    let (plan, ..) = download(LossModel::Bernoulli(chance));
    let result = run(&plan);
    let acks = result.flows["download"].acks.expect("asked for");
    let way_back = result.links["line"].reverse.expect("a way back");
    assert_eq!(acks.lost, way_back.dropped_packets);
    // A row of n begins at an ACK with chance 0.9 * 0.1^n: of 2000 ACKs one has about three, hardly any six.
    assert!(acks.sent > 1000 && (2..=5).contains(&acks.most_lost_in_a_row), "{acks:?}");
    assert!(acks.lost > 20 * acks.most_lost_in_a_row, "{acks:?}");
}

#[test]
fn all_that_a_blackout_takes_are_one_row() {
    let (mut plan, _, link) = download(LossModel::None);
    for (at, change) in [(2000, LinkChange::DOWN), (2030, LinkChange::UP)] {
        let action = Action::ChangeLink { link, directions: Directions::Reverse, change };
        plan.event(Duration::from_millis(at), action);
    }
    let result = run(&plan);
    let acks = result.flows["download"].acks.expect("asked for");
    assert!(acks.lost > 5, "{acks:?}");
    assert_eq!(acks.most_lost_in_a_row, acks.lost);
    assert_eq!(acks.lost, result.links["line"].reverse.expect("a way back").dropped_packets);
}

#[test]
fn data_and_flows_without_tcp_have_none() {
    let (mut plan, [server, client], _) = download(LossModel::None);
    let traffic = Traffic::Cbr { rate: Rate::from_kbps(100), packet: ByteCount::new(500) };
    plan.flow(Flow::new("voice", client, server, Transport::Udp).traffic(traffic));
    let result = run(&plan);
    assert_eq!(result.flows["voice"].acks, None);
    assert_eq!(result.flows["download"].acks.map(|acks| acks.lost), Some(0));
    plan.measure.lost_acks = false;
    assert_eq!(run(&plan).flows["download"].acks, None);
}
