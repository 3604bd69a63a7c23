//! The inverse multiplexer on the member that sends: an upload over its own uplink and a neighbour's.
use prismux_endpoint::random::Seed;
use prismux_link::{LinkChange, LinkConfig, LossModel, QueueLimit};
use prismux_plan::{Action, Flow, LinkId, NodeId, Plan, Transport};
use prismux_prism::{ProxyConfig, TcpPrism};
use prismux_simulator::{ExtensionFactory, Simulation, SimulationOptions, TcpFlow};
use prismux_tcp::TcpConfig;
use prismux_units::{ByteCount, Duration, Instant, Probability, Rate};

struct Upstream {
    plan: Plan,
    /// A host without an uplink beside the laptop.
    carol: NodeId,
    bob: NodeId,
    alice: NodeId,
    server: NodeId,
    /// From Bob's laptop to his card and to Alice.
    near: [LinkId; 2],
    wwan: [LinkId; 2],
}

fn fast(mbps: u64) -> LinkConfig {
    LinkConfig::new(Rate::from_mbps(mbps), Duration::from_millis(1)).with_queue(QueueLimit::Unlimited)
}

/// Uplinks of 2 Mbit/s, that of Alice 30 ms longer and losing as much as `loss` says.
fn upstream(loss: f64) -> Upstream {
    let mut plan = Plan::new("upstream", Duration::from_secs(300));
    let bob = plan.prism_proxy("bob", ProxyConfig::paper().into());
    let members = [plan.member("card"), plan.member("alice")];
    let (carol, core, server) = (plan.host("carol"), plan.router("core"), plan.host("server"));
    let near = members.map(|member| {
        let link = plan.symmetric_link("near", [bob, member], fast(100));
        plan.links[link.index()].name = format!("near{}", link.index());
        plan.links[link.index()].shared = false;
        plan.links[link.index()].advertised_rate = Some(Rate::from_mbps(2));
        link
    });
    let uplink = |ms| {
        LinkConfig::new(Rate::from_mbps(2), Duration::from_millis(ms)).with_queue(QueueLimit::Packets(50))
    };
    let lossy = uplink(70).with_loss(LossModel::Bernoulli(Probability::new(loss).unwrap()));
    let wwan = [
        plan.link("wwan1", [members[0], core], uplink(40), uplink(40)),
        plan.link("wwan2", [members[1], core], lossy, uplink(70)),
    ];
    wwan.iter().for_each(|link| plan.links[link.index()].shared = true);
    plan.symmetric_link("wlan", [carol, bob], fast(100));
    plan.symmetric_link("backbone", [core, server], fast(100));
    Upstream { plan, carol, bob, alice: members[1], server, near, wwan }
}

/// An upload of 4 MB by TCP-PRISM, to its end; the seconds it took.
fn upload(plan: &mut Plan, (from, to): (NodeId, NodeId)) -> (f64, Simulation) {
    let mut options = SimulationOptions::checked();
    let sender = TcpFlow::new(TcpConfig { mss: 1400, timestamps: false, ..TcpConfig::modern() })
        .with_extension("tcp-prism", ExtensionFactory::new(|| Box::new(TcpPrism::new())));
    let flow = Flow::new("upload", from, to, Transport::Tcp).bytes(ByteCount::new(4_000_000));
    options.carry(plan, flow, sender);
    let mut simulation = Simulation::from_plan(plan, Seed(3), options).unwrap();
    assert!(simulation.run_to_completion(Instant::from_secs(300)), "{:?}", simulation.result().flows);
    assert_eq!(simulation.faults(), Vec::<String>::new());
    (simulation.now().as_secs_f64(), simulation)
}

#[test]
fn an_upload_takes_half_the_time_with_a_neighbours_uplink() {
    let Upstream { mut plan, bob, server, near, wwan, .. } = upstream(0.0);
    let (both, mut simulation) = upload(&mut plan, (bob, server));
    let sent = |link| simulation.forward_stats(link).delivered_packets;
    assert!(sent(wwan[0]) > 1000 && sent(wwan[1]) > 1000, "{} {}", sent(wwan[0]), sent(wwan[1]));
    // Tunnels end at the members: what the uplinks carry is 24 bytes a packet less.
    for (near, wwan) in near.into_iter().zip(wwan) {
        let [before, behind] = [near, wwan].map(|link| simulation.forward_stats(link).delivered_bytes);
        assert!(before >= behind + 24 * sent(wwan), "{before} {behind}");
    }
    // So capacity is without them: 1400 of 1440 bytes.
    let total = simulation.result().total;
    assert!((total.capacity_bps - 4e6 * 1400.0 / 1440.0).abs() < 1.0, "{total:?}");
    // ACKs come for Bob's address, over his own card, and what is out of order there stays with him.
    assert_eq!(simulation.reverse_stats(wwan[1]).delivered_packets, 0);
    let counters = simulation.proxy_counters(bob).unwrap();
    assert!(counters.acks_held > 100 && counters.false_losses == 0, "{counters:?}");

    let Upstream { mut plan, bob, server, alice, .. } = upstream(0.0);
    plan.event(Duration::ZERO, Action::Leave(alice));
    let (alone, _) = upload(&mut plan, (bob, server));
    assert!((1.7..2.1).contains(&(alone / both)), "{alone} s alone, {both} s together");
}

#[test]
fn losses_on_a_neighbours_uplink_are_found_and_reported_to_the_sender_beside() {
    let Upstream { mut plan, bob, server, .. } = upstream(0.01);
    let (_, mut simulation) = upload(&mut plan, (bob, server));
    let resent = simulation.result().flows["upload"].retransmitted_segments;
    let counters = simulation.proxy_counters(bob).unwrap();
    assert!(
        counters.losses_detected > 5 && counters.reports_sent >= counters.losses_detected,
        "{counters:?}"
    );
    assert_eq!(counters.false_losses, 0, "{counters:?}");
    assert!(resent >= counters.losses_detected, "{resent} {counters:?}");
}

#[test]
fn what_a_host_beside_sends_is_striped_as_well() {
    let Upstream { mut plan, carol, server, wwan, .. } = upstream(0.0);
    let (_, simulation) = upload(&mut plan, (carol, server));
    let sent = wwan.map(|link| simulation.forward_stats(link).delivered_packets);
    assert!(sent.iter().all(|packets| *packets > 1000), "{sent:?}");
}

#[test]
fn a_neighbour_that_goes_or_whose_uplink_fails_costs_no_byte() {
    for fails in [false, true] {
        let Upstream { mut plan, bob, server, alice, wwan, .. } = upstream(0.0);
        let action = if fails { Action::both_ways(wwan[1], LinkChange::DOWN) } else { Action::Leave(alice) };
        plan.event(Duration::from_secs(4), action);
        let (seconds, simulation) = upload(&mut plan, (bob, server));
        let sent = wwan.map(|link| simulation.forward_stats(link).delivered_packets);
        assert!(sent[1] > 300 && sent[0] > 2 * sent[1], "{sent:?}");
        assert!(seconds < 60.0 || fails, "{seconds}");
    }
}
