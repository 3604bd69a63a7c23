//! Figure 2 and section 5.1: what single runs show.

use super::{ALONE, FLOW, length};
use crate::claims::network_models::clearly_more;
use crate::claims::plan::{Job, Outcomes, Scope, point};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use crate::claims::{ClaimsError, Experiment};
use crate::number::digits;
use crate::statistics::Summary;
use prismux_endpoint::random::Seed;
use prismux_scenario::{ScenarioFile, shipped};
use prismux_simulator::{Simulation, SimulationOptions};
use prismux_tcp::Connection;
use prismux_tcp_door::Door;
use prismux_trace::results::RunResult;
use prismux_units::{Duration, Instant};

pub(super) const F2: Experiment = Experiment {
    id: "DOOR2",
    title: "TCP-DOOR beside TCP, run by run",
    claims: &["TD-014", "TD-015", "TD-016"],
    lab: false,
    jobs,
    judge,
};

const WAYS: [&str; 2] = ["tcp", "door"];

/// Payload of a full segment, as in ns-2.
const SEGMENT_BYTES: f64 = 1000.0;

fn jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    for way in WAYS {
        jobs.extend(point(scope, way, ALONE, Some(way), &length(scope))?);
    }
    Ok(jobs)
}

fn judge(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let (ahead, figure) = ahead(outcomes);
    let watched = WAYS.map(|way| {
        let runs = outcomes.results(way).iter();
        let each = runs.filter_map(|run| watch(way, run.seed, run.duration_s.round() as u64));
        each.collect::<Vec<Watched>>()
    });
    (vec![together(&watched[1]), ahead, unnecessary(outcomes, &watched)], vec![figure])
}

/// Segments that had arrived at the end of each second.
fn arrived(result: &RunResult) -> Option<Vec<f64>> {
    let series = result.series.as_ref()?;
    let mut sum = 0.0;
    let rates = series.flows.get(FLOW)?.goodput_bps.iter();
    Some(
        rates
            .map(|bps| {
                sum += bps * series.interval_s / 8.0 / SEGMENT_BYTES;
                sum
            })
            .collect(),
    )
}

/// Who has delivered more, second by second.
fn ahead(outcomes: &Outcomes<'_>) -> (Finding, Series) {
    let runs: Vec<[Vec<f64>; 2]> = outcomes
        .results(WAYS[0])
        .iter()
        .zip(outcomes.results(WAYS[1]))
        .filter_map(|(tcp, door)| Some([arrived(tcp)?, arrived(door)?]))
        .collect();
    let is_ahead = |[tcp, door]: &&[Vec<f64>; 2]| {
        // Ahead at the end, and for most of the time.
        let seconds = tcp.iter().zip(door).filter(|(tcp, door)| door > tcp).count();
        door.last() > tcp.last() && 2 * seconds > tcp.len()
    };
    let count = runs.iter().filter(is_ahead).count();
    let mut figure = Series::new("time, s", "segments received", &WAYS);
    // The network in which TCP-DOOR gains the most, as a figure of one scenario shows it.
    let gain = |[tcp, door]: &&[Vec<f64>; 2]| {
        door.last().copied().unwrap_or_default() - tcp.last().copied().unwrap_or_default()
    };
    if let Some([tcp, door]) = runs.iter().max_by(|a, b| gain(a).total_cmp(&gain(b))) {
        for (second, (tcp, door)) in tcp.iter().zip(door).enumerate().filter(|(second, _)| second % 5 == 4) {
            figure.row(second + 1, vec![Summary::of(&[*tcp]), Summary::of(&[*door])]);
        }
    }
    let figures = format!("ahead at the end and most of the time in {count} of {} networks", runs.len());
    let remark = "the paper shows one network and does not say which; judged by whether most are like it";
    (Finding::shape("TD-015", 2 * count > runs.len(), figures).because(remark), figure)
}

/// Retransmissions that were unnecessary, since the receiver had the data, and timeouts, of both.
fn unnecessary(outcomes: &Outcomes<'_>, watched: &[Vec<Watched>; 2]) -> Finding {
    let timeouts = |way: &str| outcomes.mean(way, |run| Some(run.flows.get(FLOW)?.timeouts as f64));
    let [tcp, door] = [0, 1].map(|way| {
        let repeated: Vec<f64> = watched[way].iter().map(|run| run.repeated).collect();
        [Summary::of(&repeated).map_or(f64::NAN, |summary| summary.mean), timeouts(WAYS[way])]
    });
    let found = tcp[0] >= 1.0 && door[0] < tcp[0] / 2.0 && door[1] < tcp[1] / 2.0;
    let figures = format!(
        "segments that the receiver had already: TCP {}, TCP-DOOR {}; timeouts {}, {}",
        digits(tcp[0]),
        digits(door[0]),
        digits(tcp[1]),
        digits(door[1])
    );
    let remark = "largely absent: fewer than half of either. While frozen, timeouts are not backed off, so \
         that a sender asks all through a break. Refuted: that TCP-DOOR has as many timeouts with any T1; with \
         T1 = T2 = 1 it has a third of TCP's, with T1 = T2 = 8 twice as many. Of the segments that had come \
         already, it sends those more than TCP that a third duplicate acknowledgement asks for: packets out of \
         order make such, and a window that is kept carries enough of them. Refuted: that restored windows, \
         timeouts or copies made by the network do it; where ten duplicates count as a loss (dup_threshold) \
         125 of 2312 segments had come already, for 274 of 2343 with three and TCP's 170 of 1707";
    Finding::shape("TD-016", found, figures).because(remark)
}

/// What both ends of a run have seen: seconds with late acknowledgements, with late data, and with both; segments that
/// the receiver had already.
#[derive(Default)]
struct Watched {
    seconds: f64,
    acks: f64,
    data: f64,
    both: f64,
    repeated: f64,
}

/// Looks at both ends of the transfer every second.
fn watch(way: &str, seed: u64, seconds: u64) -> Option<Watched> {
    let file: ScenarioFile = shipped::find(ALONE)?.file();
    let plan = file.scenario(Some(way), &[]).ok()?.plan;
    let flow = plan.flow_ids().next()?;
    let mut simulation = Simulation::from_plan(&plan, Seed(seed), SimulationOptions::default()).ok()?;
    let (mut seen, mut before) = (Watched::default(), (0, 0));
    for second in 1..=seconds {
        simulation.run_until(Instant::ZERO + Duration::from_secs(second));
        let door = |connection: Option<&Connection>| {
            connection
                .and_then(|end| end.order_watch::<Door>())
                .map(|door| *door.counters())
                .unwrap_or_default()
        };
        let now = (door(simulation.sender(flow)).late_acks, door(simulation.receiver(flow)).late_data);
        let (acks, data) = (now.0 > before.0, now.1 > before.1);
        seen.seconds += 1.0;
        seen.acks += f64::from(u8::from(acks));
        seen.data += f64::from(u8::from(data));
        seen.both += f64::from(u8::from(acks && data));
        before = now;
    }
    let repeated_bytes = simulation.receiver(flow)?.metrics().duplicate_bytes_received;
    seen.repeated = repeated_bytes as f64 / SEGMENT_BYTES;
    Some(seen)
}

/// Whether acknowledgements are late in seconds in which data is, and more often than otherwise.
fn together(watched: &[Watched]) -> Finding {
    let (mut given_data, mut otherwise) = (Vec::new(), Vec::new());
    for run in watched.iter().filter(|run| run.data > 0.0 && run.data < run.seconds) {
        given_data.push(run.both / run.data);
        otherwise.push((run.acks - run.both) / (run.seconds - run.data));
    }
    let mean = |values: &[f64]| Summary::of(values).map_or(f64::NAN, |summary| summary.mean);
    let figures = format!(
        "late acknowledgements in {} % of the seconds with late data, in {} % of the others",
        digits(100.0 * mean(&given_data)),
        digits(100.0 * mean(&otherwise))
    );
    let found = clearly_more(&given_data, &otherwise) && mean(&given_data) > 0.5;
    Finding::shape("TD-014", found, figures)
        .because("together: in more than half of those seconds, and clearly more often than in the others")
}
