//! A link that all but stops in the middle of a download does not stop the other.
use crate::uplinks::uplinks;
use prismux_link::LinkChange;
use prismux_plan::{Action, Directions};
use prismux_units::{Duration, Instant, Rate};

/// Looked at this often whether anything new has come.
const STEP: Duration = Duration::from_millis(10);
/// Pauses are those of so long after the rate has fallen.
const WATCHED: Duration = Duration::from_secs(4);

/// For how long nothing came in order, at most, once the quicker link carries a 64th of what it did from `at`; ms.
fn longest_pause(at: Duration) -> u64 {
    let mut uplinks = uplinks().with_receipts();
    let download = uplinks.download("download", Duration::ZERO);
    let (link, change) = (uplinks.wwan[0], LinkChange::rate(Rate::from_bps(20_000_000 / 64)));
    uplinks.plan.event(at, Action::ChangeLink { link, directions: Directions::Forward, change });
    let mut simulation = uplinks.build();
    let start = Instant::ZERO + at;
    simulation.run_until(start);
    let (mut last, mut since, mut longest) = (simulation.delivered_bytes(download), start, Duration::ZERO);
    while simulation.now() < start + WATCHED {
        let now = simulation.now() + STEP;
        simulation.run_until(now);
        let bytes = simulation.delivered_bytes(download);
        if bytes > last {
            (last, since) = (bytes, now);
        }
        longest = longest.max(now.saturating_since(since));
    }
    assert_eq!(simulation.faults(), Vec::<String>::new());
    longest.as_nanos() / 1_000_000
}

/// What it has under way takes all room, ACKs wait, and the other link runs dry: copies of what is late go over that.
#[test]
fn a_link_that_all_but_stops_does_not_stop_the_other() {
    let pauses: Vec<u64> = (0..7).map(|n| longest_pause(Duration::from_millis(5000 + 37 * n))).collect();
    let mut sorted = pauses.clone();
    sorted.sort_unstable();
    assert!(sorted[3] <= 300, "nothing came for so many ms: {pauses:?}");
}
