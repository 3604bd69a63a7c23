//! A link that was away carries its share again soon after it is back, for the download under way and for the next one.
mod uplinks;

use prismux_link::LinkChange;
use prismux_simulator::NetworkEvent;
use prismux_units::{Duration, Instant};
use uplinks::{goodput, uplinks};

/// When the link goes, in the middle of steady traffic.
const AWAY: Duration = Duration::from_secs(12);
/// A proxy gives a member up after this time without an answer, as the daemon does.
const DEAD_AFTER: Duration = Duration::from_secs(3);
/// A member that was given up registers this soon after its link is back.
const HELLO: Duration = Duration::from_millis(500);
/// The next download takes the place of the first so long after the return.
const NEXT: Duration = Duration::from_secs(10);

/// The link with this number is away for so many milliseconds.
fn comes_back(link: usize, millis: u64) {
    let away = Duration::from_millis(millis);
    let (gone, back) = (Instant::ZERO + AWAY, Instant::ZERO + AWAY + away);
    let mut uplinks = uplinks();
    let first = uplinks.download("first", Instant::ZERO);
    let second = uplinks.download("second", back + NEXT);
    let (mut network, member) = (uplinks.network, uplinks.members[link]);
    network.event(back + NEXT, NetworkEvent::FlowStop(first));
    network.event(gone, NetworkEvent::LinkChange(uplinks.wwan[link], LinkChange::DOWN));
    network.event(back, NetworkEvent::LinkChange(uplinks.wwan[link], LinkChange::UP));
    if away > DEAD_AFTER {
        network.event(gone + DEAD_AFTER, NetworkEvent::Leave(member));
        network.event(back + HELLO, NetworkEvent::Join(member));
    }
    let mut simulation = network.build().unwrap();
    simulation.run_until(Instant::from_secs(6));
    let steady = goodput(&mut simulation, first, Duration::from_secs(6));
    assert!(steady > 26e6, "both links: {steady}");
    let told = |what: &str, rate: f64| format!("link {link} away {millis} ms, {what}: {rate} of {steady}");
    simulation.run_until(back + Duration::from_secs(2));
    let after = goodput(&mut simulation, first, Duration::from_secs(8));
    assert!(after > 0.95 * steady, "{}: {:?}", told("back", after), simulation.proxy_links(uplinks.proxy));
    simulation.run_until(back + NEXT + Duration::from_secs(2));
    let next = goodput(&mut simulation, second, Duration::from_secs(5));
    assert!(next > 0.95 * steady, "{}: {:?}", told("next", next), simulation.proxy_links(uplinks.proxy));
    assert_eq!(simulation.faults(), Vec::<String>::new());
}

/// The receiver's ACKs return over this link: while it is away, nothing is heard over the other one either.
#[test]
fn the_link_that_acks_return_over_comes_back() {
    for millis in [500, 2000, 10_000, 60_000] {
        comes_back(0, millis);
    }
}

#[test]
fn the_other_link_comes_back() {
    for millis in [500, 2000, 10_000, 60_000] {
        comes_back(1, millis);
    }
}
