//! A link that was away carries its share again soon after it is back, for the download under way and for the next one.
use crate::uplinks::{Uplinks, goodput, uplinks};
use prismux_link::LinkChange;
use prismux_plan::{Action, Traffic};
use prismux_prism::LinkState;
use prismux_simulator::Simulation;
use prismux_units::{ByteCount, Duration, Instant};

/// When the link goes, in the middle of steady traffic.
const AWAY: Duration = Duration::from_secs(12);
/// A proxy gives a member up after this time without an answer, as the daemon does.
const DEAD_AFTER: Duration = Duration::from_secs(3);
/// A member that was given up registers this soon after its link is back.
const HELLO: Duration = Duration::from_millis(500);
/// The next download takes the place of the first so long after the return.
const NEXT: Duration = Duration::from_secs(10);

/// The link with this number is away for so many milliseconds.
fn comes_back(mut uplinks: Uplinks, link: usize, millis: u64) {
    let away = Duration::from_millis(millis);
    let (gone, back) = (AWAY, AWAY + away);
    let first = uplinks.download("first", Duration::ZERO);
    let wwan = uplinks.wwan[link];
    let second = uplinks.download("second", back + NEXT);
    let (proxy, plan, member) = (uplinks.proxy, &mut uplinks.plan, uplinks.members[link]);
    plan.event(back + NEXT, Action::StopFlow(first));
    plan.event(gone, Action::both_ways(wwan, LinkChange::DOWN));
    plan.event(back, Action::both_ways(wwan, LinkChange::UP));
    if away > DEAD_AFTER {
        plan.event(gone + DEAD_AFTER, Action::Leave(member));
        plan.event(back + HELLO, Action::Join(member));
    }
    let mut simulation = uplinks.build();
    let back = Instant::ZERO + back;
    simulation.run_until(Instant::from_secs(6));
    let steady = goodput(&mut simulation, first, Duration::from_secs(6));
    assert!(steady > 26e6, "both links: {steady}");
    let told = |what: &str, rate: f64| format!("link {link} away {millis} ms, {what}: {rate} of {steady}");
    simulation.run_until(back + Duration::from_secs(2));
    let after = goodput(&mut simulation, first, Duration::from_secs(8));
    assert!(after > 0.95 * steady, "{}: {:?}", told("back", after), simulation.proxy_links(proxy));
    simulation.run_until(back + NEXT + Duration::from_secs(2));
    let next = goodput(&mut simulation, second, Duration::from_secs(5));
    assert!(next > 0.95 * steady, "{}: {:?}", told("next", next), simulation.proxy_links(proxy));
    assert_eq!(simulation.faults(), Vec::<String>::new());
}

/// The receiver's ACKs return over this link: while it is away, nothing is heard over the other one either.
#[test]
fn the_link_that_acks_return_over_comes_back() {
    for millis in [500, 2000, 10_000, 60_000] {
        comes_back(uplinks(), 0, millis);
    }
}

#[test]
fn the_other_link_comes_back() {
    for millis in [500, 2000, 10_000, 60_000] {
        comes_back(uplinks(), 1, millis);
    }
}

#[test]
fn the_link_that_acks_return_over_comes_back_where_members_return_receipts() {
    for millis in [500, 2000, 10_000, 60_000] {
        comes_back(uplinks().with_receipts(), 0, millis);
    }
}

#[test]
fn the_other_link_comes_back_where_members_return_receipts() {
    for millis in [500, 2000, 10_000, 60_000] {
        comes_back(uplinks().with_receipts(), 1, millis);
    }
}

/// A link dies while hardly anything is under way: what goes over it is too little to owe a receipt at once, and the
/// first packet of a connection is all that its sender can send. The connection opens by its fourth SYN at the latest,
/// the next one by its second (now and then one asks whether the link is back), and the link is used again when it is.
#[test]
fn a_connection_opens_though_the_nearest_link_died_while_idle() {
    for quiet in [10, 300, 2000].map(Duration::from_secs) {
        let mut uplinks = uplinks().with_receipts();
        uplinks.plan.duration = Duration::from_secs(10_000);
        uplinks.join_members();
        let (proxy, wwan) = (uplinks.proxy, uplinks.wwan);
        let gone = Duration::from_secs(5) + quiet;
        let back = gone + Duration::from_secs(200);
        let warm_up = uplinks.download("warm-up", Duration::ZERO);
        uplinks.plan[warm_up].stop = Some(Duration::from_secs(5));
        let starts = [gone + Duration::from_secs(5), gone + Duration::from_secs(60)];
        let [first, next] = [("first", starts[0]), ("next", starts[1])].map(|(name, start)| {
            let flow = uplinks.download(name, start);
            uplinks.plan[flow].traffic = Traffic::bulk(Some(ByteCount::new(30_000)));
            flow
        });
        let after = uplinks.download("after", back + Duration::from_secs(5));
        uplinks.plan.event(gone, Action::both_ways(wwan[0], LinkChange::DOWN));
        uplinks.plan.event(back, Action::both_ways(wwan[0], LinkChange::UP));
        let mut simulation = uplinks.build();
        simulation.run_until(Instant::ZERO + starts[0] + Duration::from_secs(9));
        assert_eq!(simulation.delivered_bytes(first), 30_000, "{:?}", simulation.proxy_links(proxy));
        simulation.run_until(Instant::ZERO + starts[1] + Duration::from_secs(2));
        assert_eq!(simulation.delivered_bytes(next), 30_000, "{:?}", simulation.proxy_links(proxy));
        simulation.run_until(Instant::ZERO + back + Duration::from_secs(8));
        let rate = goodput(&mut simulation, after, Duration::from_secs(5));
        assert!(rate > 24e6, "both links: {rate}, {:?}", simulation.proxy_links(proxy));
        assert_eq!(simulation.faults(), Vec::<String>::new());
    }
}

/// What a download gets in each `step` of an outage of five seconds, from `from` on, of the link that its ACKs return
/// over, with and without a link between the two members.
fn during_the_outage(from: Duration, step: Duration, are_neighbours: bool, receipts: bool) -> Vec<f64> {
    let mut uplinks = if receipts { uplinks().with_receipts() } else { uplinks() };
    if are_neighbours {
        uplinks.join_members();
    }
    let download = uplinks.download("download", Duration::ZERO);
    let (wwan, away) = (uplinks.wwan[0], Duration::from_secs(5));
    uplinks.plan.event(from, Action::both_ways(wwan, LinkChange::DOWN));
    uplinks.plan.event(from + away, Action::both_ways(wwan, LinkChange::UP));
    let mut simulation = uplinks.build();
    simulation.run_until(Instant::ZERO + from);
    let steps = away.as_nanos() / step.as_nanos();
    let rates = (0..steps).map(|_| goodput(&mut simulation, download, step)).collect();
    let after = simulation.now() + Duration::from_secs(2);
    simulation.run_until(after);
    let back = goodput(&mut simulation, download, Duration::from_secs(4));
    assert!(back > 25e6, "after the return: {back}");
    assert_eq!(simulation.faults(), Vec::<String>::new());
    rates
}

#[test]
fn receipts_that_stay_away_tell_of_a_silent_link_within_three_hundred_milliseconds() {
    let mut uplinks = uplinks().with_receipts();
    uplinks.download("download", Duration::ZERO);
    let (proxy, wwan) = (uplinks.proxy, uplinks.wwan);
    uplinks.plan.event(AWAY, Action::both_ways(wwan[0], LinkChange::DOWN));
    let mut simulation = uplinks.build();
    let states =
        |simulation: &Simulation| simulation.proxy_links(proxy).iter().map(|link| link.state).collect();
    simulation.run_until(Instant::ZERO + AWAY);
    let before: Vec<LinkState> = states(&simulation);
    assert_eq!(before, [LinkState::Active; 2]);
    simulation.run_until(Instant::ZERO + AWAY + Duration::from_millis(300));
    let after: Vec<LinkState> = states(&simulation);
    assert_eq!(after[0], LinkState::Silent);
}

#[test]
fn a_member_whose_link_is_silent_sends_what_receivers_send_through_a_neighbour() {
    for receipts in [false, true] {
        let half = Duration::from_millis(500);
        let alone = during_the_outage(AWAY, half, false, receipts);
        assert!(alone[1..].iter().all(|rate| *rate == 0.0), "nothing tells what arrived: {alone:?}");
        let together = during_the_outage(AWAY, half, true, receipts);
        // The link that is left carries 8 Mbit/s; where members return receipts it does so from the second half second
        // on.
        let (from, least) = if receipts { (1, 6.5e6) } else { (2, 5e6) };
        assert!(together[from..].iter().all(|rate| *rate > least), "receipts {receipts}: {together:?}");
    }
}

/// At eight moments, tens of milliseconds apart: what is under way is another each time.
#[test]
fn a_download_pauses_for_no_more_than_three_hundred_milliseconds_when_the_way_of_its_acks_is_silent() {
    let step = Duration::from_millis(20);
    let pauses: Vec<u64> = (0..8)
        .map(|moment| {
            let rates = during_the_outage(AWAY + Duration::from_millis(37) * moment, step, true, true);
            let longest = rates.split(|rate| *rate > 0.0).map(|pause| pause.len() as u64).max();
            longest.unwrap_or_default() * step.as_millis()
        })
        .collect();
    assert!(pauses.iter().all(|pause| *pause <= 300), "{pauses:?} ms");
    assert!(pauses.iter().any(|pause| *pause >= 100), "the outage is seen: {pauses:?} ms");
}
