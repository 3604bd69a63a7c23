//! A member that dies without a word: its link takes no more data after a few overdue packets, is probed, and comes
//! back when an answer does.
use crate::support::world::World;
use prismux_prism::{LinkId, LinkState, ProxyEvent};
use prismux_units::Duration;

#[test]
fn a_dead_link_gets_no_data_until_a_probe_is_answered() {
    let mut world = World::new();
    let both = world.run(3000);
    assert_eq!(world.state(), LinkState::Active);
    assert!(world.second > 300, "{} packets over the second link", world.second);

    world.alive[1] = false;
    world.links[1].clear();
    let dying = world.run(1000);
    assert_eq!(world.state(), LinkState::Silent);
    assert!(world.events.contains(&ProxyEvent::LinkSilent { link: LinkId(1) }), "{:?}", world.events);
    assert!(dying > 300, "{dying} packets acknowledged in the second in which a link died");
    assert!(
        world.events.iter().any(|event| matches!(event, ProxyEvent::PacketRepaired { link } if link.0 == 0)),
        "what it had is resent over the other"
    );

    world.second = 0;
    let one = world.run(3000);
    assert!(world.second <= 8, "{} packets over a dead link: probes only", world.second);
    assert!(u64::from(one) > 3000 / 2, "{one} packets over the link that is left, {both} before");

    world.alive[1] = true;
    world.events.clear();
    world.run(1500);
    assert!(world.events.contains(&ProxyEvent::LinkResumed { link: LinkId(1) }), "{:?}", world.events);
    world.second = 0;
    world.run(2000);
    assert_eq!(world.state(), LinkState::Active);
    assert!(world.second > 200, "{} packets over the link that is back", world.second);
}

#[test]
fn a_few_losses_among_arrivals_do_not_make_a_link_silent() {
    let mut world = World::new();
    world.run(2000);
    world.events.clear();
    for _ in 0..10 {
        // Everything under way on the second link is lost at once, then it goes on.
        world.links[1].clear();
        world.run(300);
    }
    assert_ne!(world.state(), LinkState::Silent);
    let lost = world.events.iter().filter(|event| matches!(event, ProxyEvent::PacketLost { .. })).count();
    assert!(lost > 10, "{lost} losses noted");
}

/// The duplicate that the receiver reports is the sender's own, which came over the living link.
#[test]
fn a_spurious_retransmission_is_no_answer_to_a_probe() {
    let mut world = World::new();
    world.run(3000);
    world.alive[1] = false;
    world.links[1].clear();
    world.run(1000);
    assert_eq!(world.state(), LinkState::Silent);
    (world.repeats_probes, world.second) = (true, 0);
    let answers = world.bench.proxy.counters().dsacks;
    world.run(3000);
    assert!(world.second > 2, "{} probes", world.second);
    assert!(world.bench.proxy.counters().dsacks > answers, "the receiver reports duplicates");
    assert_eq!(world.state(), LinkState::Silent);
}

/// What was under way arrived in time, and was heard of 2 s later.
#[test]
fn a_way_back_that_was_silent_makes_no_link_look_distant() {
    let mut world = World::new();
    let both = world.run(3000);
    world.way_back = false;
    assert_eq!(world.run(2000), 0);
    world.way_back = true;
    for _ in 0..1500 {
        world.step();
        for link in world.bench.proxy.link_status() {
            assert!(link.rtt.is_some_and(|rtt| rtt < Duration::from_millis(500)), "{link:?}");
            assert_eq!(link.state, LinkState::Active, "{}", link.reason);
        }
    }
    let again = world.run(3000);
    assert!(again * 100 >= both * 95, "{again} packets in three seconds, {both} before");
}
