//! A link that falls silent in both directions while another lives: real daemons, the kernel's TCP.
use crate::plans::{community, download, link, lossy, run_steadily, seconds};
use prismux_lab::{ARRIVAL_CELL, LabOutcome};
use prismux_link::LinkChange;
use prismux_plan::{Action, Directions, LinkId, Transport};

/// When the link falls silent, in seconds: behind slow start.
const BEGIN_S: f64 = 3.0;
/// Interval of the series of links, in seconds.
const INTERVAL_S: f64 = 0.5;
/// Bits per second that say that a link is in use, and not only probed.
const IN_USE_BPS: f64 = 1e6;

/// A download over 20 Mbit/s and 8 Mbit/s; the link `name` is silent for so many seconds.
fn silent(name: &str, for_s: f64, after_s: f64) -> LabOutcome {
    let mut plan = community(
        BEGIN_S + for_s + after_s,
        &[link(20, 20), lossy(link(8, 60), 0.003)],
        download(Transport::Tcp),
    );
    let place = plan.links.iter().position(|link| link.name == name).expect("a link of the community");
    let link = LinkId::new(place);
    for (at_s, change) in [(BEGIN_S, LinkChange::DOWN), (BEGIN_S + for_s, LinkChange::UP)] {
        plan.event(seconds(at_s), Action::ChangeLink { link, directions: Directions::Both, change });
    }
    plan.measure.interval = Some(seconds(INTERVAL_S));
    run_steadily(&plan)
}

/// The longest time from `from_s` on during which nothing reached the application, in seconds.
fn longest_pause_s(outcome: &LabOutcome, from_s: f64) -> f64 {
    let cell_s = ARRIVAL_CELL.as_secs_f64();
    let cells = &outcome.flows["download"].arrivals.cells;
    let (mut longest, mut pause) = (0, 0);
    for &bytes in cells.iter().skip((from_s / cell_s) as usize) {
        pause = if bytes == 0 { pause + 1 } else { 0 };
        longest = longest.max(pause);
    }
    f64::from(longest) * cell_s
}

/// Fails unless the link carries data again in the last second of the run.
fn assert_in_use_again(outcome: &LabOutcome, name: &str) {
    let series = outcome.result.series.as_ref().expect("a series");
    let rates = &series.links[name].throughput_bps;
    let last = rates.iter().rev().skip(1).take(2).copied().fold(0.0, f64::max);
    assert!(last > IN_USE_BPS, "{name} is not used again: {rates:?}");
}

/// The slower link is silent for half a second, and for two: the download goes on over the other.
pub fn of_the_slower_link() {
    for (for_s, after_s) in [(0.5, 3.0), (2.0, 4.0)] {
        let outcome = silent("wwan2", for_s, after_s);
        let pause_s = longest_pause_s(&outcome, BEGIN_S);
        assert!(pause_s < 1.5, "silent for {for_s} s: nothing for {pause_s} s");
        let bytes = outcome.result.flows["download"].bytes;
        assert!(bytes > 5_000_000, "silent for {for_s} s: {bytes} bytes");
        assert_in_use_again(&outcome, "wwan2");
    }
}

/// The faster link, which takes the ACKs back too, is silent for half a second: the download goes on when it is back.
pub fn of_the_link_that_takes_the_acks_back() {
    let outcome = silent("wwan1", 0.5, 4.0);
    let pause_s = longest_pause_s(&outcome, BEGIN_S);
    assert!(pause_s < 3.0, "nothing for {pause_s} s");
    assert_in_use_again(&outcome, "wwan1");
}
