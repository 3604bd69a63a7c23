//! A line that is gone for a while and comes back: how long nothing comes, and when the line carries its share again,
//! of connections that were there and of new ones.
use crate::datagrams::network_with_classes;
use crate::failover::{Failure, Idle};
use crate::measure::tell;
use crate::network::Network;
use crate::transfer::{Direction, Transfer};
use crate::{links, wait_for};
use std::time::{Duration, Instant};

/// How long the line is gone, by the name of the measure.
const OUTAGES: [(&str, Duration); 4] = [
    ("outages of 0.5 s", Duration::from_millis(500)),
    ("outages of 2 s", Duration::from_secs(2)),
    ("outages of 10 s", Duration::from_secs(10)),
    ("outages of 60 s", Duration::from_secs(60)),
];
const KINDS: [Failure; 3] = [Failure::Silent, Failure::Unplugged, Failure::Away];
const DIRECTIONS: [Direction; 2] = [Direction::Down, Direction::Up];

/// More than the lines carry meanwhile.
const ENDLESS_BYTES: u64 = 1_000_000_000;
const WARM_UP: Duration = Duration::from_secs(4);
/// The line's share is looked at over this time.
const SAMPLE: Duration = Duration::from_millis(400);
/// That much of what it carried before is its full share.
const FULL: f64 = 0.9;
/// For so long it is looked whether the line carries it again.
const PATIENCE: Duration = Duration::from_secs(6);

/// What came of one outage; of directions, down and up.
struct Outcome {
    gaps: [Duration; 2],
    /// How long a key's echo took that was typed when it began; `None` when the connection was lost.
    key: Option<Duration>,
    /// When the line carried its full share again, after its return.
    full: [Option<Duration>; 2],
    /// What it carried of new connections in their second and third second, as a share of what it carried before.
    of_new: [f64; 2],
}

/// Measures what has `part` in its name.
pub fn print(part: &str) {
    for (name, outage) in OUTAGES.iter().filter(|(name, _)| name.contains(part)) {
        let network = network_with_classes();
        let mut gaps = Vec::new();
        let mut returns = Vec::new();
        for (kind, line) in KINDS.iter().flat_map(|&kind| [(kind, 0), (kind, 1)]) {
            let outcome = run(&network, kind, line, *outage);
            let Outcome { gaps: [down, up], key, full, of_new } = &outcome;
            println!(
                "{name}, {kind:?}, line {line}: nothing came for {down:.0?} down, {up:.0?} up, key {key:.0?}; \
                 full share after {full:.2?}; of new connections {of_new:.2?}"
            );
            gaps.extend(outcome.gaps.into_iter().chain(outcome.key));
            returns.extend(outcome.full.map(|at| at.unwrap_or(PATIENCE)));
        }
        tell(name, gaps);
        tell(&format!("{name}, return"), returns);
    }
}

fn run(network: &Network, kind: Failure, line: usize, outage: Duration) -> Outcome {
    let start = || DIRECTIONS.map(|direction| Transfer::start(network, direction, ENDLESS_BYTES));
    let transfers = start();
    let mut idle = Idle::start(network);
    std::thread::sleep(WARM_UP / 2);
    let before = carried_in(network, line, WARM_UP / 2);
    let at = kind.begin(network, line);
    let echo = idle.echo();
    std::thread::sleep((at + outage).saturating_duration_since(Instant::now()));
    let back = Instant::now();
    kind.end(network, line);
    let full = full_share(network, line, before, back);
    let gaps = transfers.each_ref().map(|transfer| transfer.longest_pause(at, Instant::now()));
    let key = echo.filter(|_| idle.echo().is_some());
    transfers.into_iter().for_each(Transfer::give_up);
    let fresh = start();
    std::thread::sleep(WARM_UP / 4);
    let now = carried_in(network, line, WARM_UP / 2);
    fresh.into_iter().for_each(Transfer::give_up);
    wait_for("both uplinks are used again", || links(network.home(), "up") == 2);
    Outcome { gaps, key, full, of_new: [0, 1].map(|direction| now[direction] / before[direction]) }
}

fn carried(network: &Network, line: usize) -> [f64; 2] {
    [0, 1].map(|direction| network.lines.carried(line, direction) as f64)
}

/// Bytes of a second, in each direction.
fn carried_in(network: &Network, line: usize, time: Duration) -> [f64; 2] {
    let (first, start) = (carried(network, line), Instant::now());
    std::thread::sleep(time);
    let (last, seconds) = (carried(network, line), start.elapsed().as_secs_f64());
    [0, 1].map(|direction| (last[direction] - first[direction]) / seconds)
}

/// How long after `back` the line has carried [`FULL`] of `before` for [`SAMPLE`], in each direction.
fn full_share(network: &Network, line: usize, before: [f64; 2], back: Instant) -> [Option<Duration>; 2] {
    let mut samples = vec![(Instant::now(), carried(network, line))];
    let mut full = [None; 2];
    while back.elapsed() < PATIENCE && full.contains(&None) {
        std::thread::sleep(SAMPLE / 8);
        let (now, bytes) = (Instant::now(), carried(network, line));
        samples.push((now, bytes));
        let begin = samples.partition_point(|&(at, _)| at + SAMPLE <= now);
        let Some(&(at, earlier)) = begin.checked_sub(1).and_then(|begin| samples.get(begin)) else {
            continue;
        };
        let seconds = (now - at).as_secs_f64();
        for (direction, full) in full.iter_mut().enumerate().filter(|(_, full)| full.is_none()) {
            let is_full = (bytes[direction] - earlier[direction]) / seconds >= FULL * before[direction];
            *full = is_full.then(|| now - back);
        }
    }
    full
}
