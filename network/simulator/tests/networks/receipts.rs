//! Links measured by receipts, against what the simulator knows of them.
use crate::uplinks::{Uplinks, goodput, uplinks};
use prismux_link::{LinkChange, LossModel, QueueLimit, ScheduledChange};
use prismux_plan::{Action, Flow, Role, Transport};
use prismux_simulator::{Cbr, Simulation};
use prismux_units::{ByteCount, Duration, Instant, Probability, Rate};

/// The two uplinks with receipts, 1 % of loss on the second.
fn measured() -> Uplinks {
    let mut uplinks = uplinks().with_receipts();
    let lossy = &mut uplinks.plan[uplinks.wwan[1]].forward.link;
    lossy.loss = LossModel::Bernoulli(Probability::new(0.01).unwrap());
    uplinks
}

fn settle(simulation: &mut Simulation, seconds: u64) {
    simulation.run_until(Instant::from_secs(seconds));
    assert_eq!(simulation.faults(), Vec::<String>::new());
}

/// Every packet that a link lost is known as lost, every one that it delivered as delivered.
#[test]
fn losses_and_rates_are_those_of_the_links() {
    let mut uplinks = measured();
    let flow = uplinks.download("download", Duration::ZERO);
    let (proxy, wwan) = (uplinks.proxy, uplinks.wwan);
    uplinks.plan.event(Duration::from_secs(20), prismux_plan::Action::StopFlow(flow));
    let mut simulation = uplinks.build();
    settle(&mut simulation, 19);
    let rates = simulation.measured_links(proxy).into_iter().zip([20e6, 8e6]);
    for ((estimate, _), rate) in rates {
        let capacity = estimate.capacity.expect("a busy link").as_bps() as f64;
        assert!((0.97..1.03).contains(&(capacity / rate)), "{capacity} of {rate}: {estimate:?}");
    }
    settle(&mut simulation, 30);
    for ((estimate, counters), link) in simulation.measured_links(proxy).into_iter().zip(wwan) {
        let truth = simulation.forward_stats(link);
        assert_eq!(counters.sent_packets, truth.offered_packets, "{estimate:?}");
        assert_eq!(counters.delivered_packets, truth.delivered_packets);
        assert_eq!(counters.lost_packets, truth.lost_packets + truth.queue_drops);
        assert_eq!((counters.spurious_losses, counters.refused_receipts), (0, 0));
        // What the second link loses is known to a quarter at the rate of 1 %.
        if link == wwan[1] {
            assert!((0.005..0.05).contains(&estimate.loss), "{}", estimate.loss);
        }
    }
}

/// Datagrams tell a proxy nothing, their receipts do; and those cost what they may.
#[test]
fn datagrams_are_measured_and_receipts_are_cheap() {
    let mut uplinks = measured();
    let udp = Cbr { rate: Rate::from_mbps(6), packet_bytes: 1200 };
    let flow = Flow::new("udp", uplinks.server, uplinks.receiver, Transport::Tcp);
    uplinks.options.carry(&mut uplinks.plan, flow, udp);
    let (proxy, wwan) = (uplinks.proxy, uplinks.wwan);
    let mut simulation = uplinks.build();
    settle(&mut simulation, 10);
    for ((estimate, counters), link) in simulation.measured_links(proxy).into_iter().zip(wwan) {
        let (there, back) = (simulation.forward_stats(link), simulation.reverse_stats(link));
        if there.offered_packets == 0 {
            continue;
        }
        assert!(counters.delivered_packets > 1000, "{estimate:?}");
        let share = back.offered_bytes as f64 / there.delivered_bytes as f64;
        assert!(share > 0.0 && share < 0.006, "{share} of {}: {counters:?}", there.delivered_bytes);
        let rate = estimate.capacity.expect("packets came").as_bps() as f64;
        assert!(rate > 0.9 * 6e6 / 2.0, "{rate}");
    }
}

/// The number costs four bytes of each packet, and receipts a little of the way back: hardly anything of the goodput.
#[test]
fn a_download_with_receipts_is_as_quick() {
    for settled in [0, 10] {
        let speed = |mut uplinks: Uplinks| {
            let flow = uplinks.download("download", Duration::ZERO);
            let mut simulation = uplinks.build();
            settle(&mut simulation, settled);
            goodput(&mut simulation, flow, Duration::from_secs(10))
        };
        let mut without = measured();
        if let Role::PrismProxy(settings) = &mut without.plan[without.proxy].role {
            settings.receipts = false;
        }
        let (with, without) = (speed(measured()), speed(without));
        assert!(with > 0.97 * without, "after {settled} s: {with} {without}");
    }
}

/// The rate that a link had before it all but stopped is no measure of how it is filled again.
#[test]
fn a_link_that_crawled_for_two_seconds_is_full_again_within_one() {
    let mut uplinks = uplinks().with_receipts();
    let alone = uplinks.members[1];
    uplinks.plan.event(Duration::ZERO, Action::Leave(alone));
    uplinks.plan[uplinks.wwan[0]].forward.link.queue = QueueLimit::Bytes(ByteCount::new(150_000));
    for (at, rate) in [(10, Rate::from_bps(200_000)), (12, Rate::from_mbps(20))] {
        let change = ScheduledChange { at: Instant::from_secs(at), change: LinkChange::rate(rate) };
        uplinks.plan[uplinks.wwan[0]].forward.link.schedule.push(change);
    }
    let flow = uplinks.download("download", Duration::ZERO);
    let mut simulation = uplinks.build();
    settle(&mut simulation, 9);
    let before = goodput(&mut simulation, flow, Duration::from_secs(1));
    settle(&mut simulation, 13);
    let after = goodput(&mut simulation, flow, Duration::from_secs(1));
    assert!(after > 0.9 * before, "{before} bit/s before, {after} after");
}
