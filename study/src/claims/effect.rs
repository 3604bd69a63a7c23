//! Does what an experiment varies change anything? Points whose repetitions are one run, and knobs without effect.
use super::plan::Job;
use crate::repetition::{is_one_run, one_run, same_outcome};
use prismux_trace::results::RunResult;
use std::collections::BTreeMap;

/// Points that a remark names at most.
const NAMED_POINTS: usize = 4;

/// Results by point, in order of seeds.
type Points<'a> = BTreeMap<&'a str, Vec<&'a RunResult>>;

fn points<'a>(runs: &[(&'a Job, &'a RunResult)]) -> Points<'a> {
    let mut points = Points::new();
    for (job, result) in runs {
        points.entry(job.key.as_str()).or_default().push(result);
    }
    points
}

/// A remark about the points of an experiment all of whose repetitions are one run; `None` where there are none.
pub(super) fn repeated_points(runs: &[(&Job, &RunResult)]) -> Option<String> {
    let points = points(runs);
    let times = points.values().map(Vec::len).max().unwrap_or(0);
    let equal: Vec<&str> =
        points.iter().filter(|(_, runs)| is_one_run(runs.iter().copied())).map(|(key, _)| *key).collect();
    if equal.is_empty() {
        return None;
    }
    let place = match (equal.len() == points.len(), equal.len() > NAMED_POINTS) {
        (true, _) => "at every point".to_string(),
        (false, true) => format!("at {} of {} points", equal.len(), points.len()),
        (false, false) => format!("at {}", equal.join(", ")),
    };
    Some(format!("{}, {place}", one_run(times)))
}

/// The values of a knob that changes nothing: a part of the points' names that varies while every run stays the same.
/// `None` where all that varies matters somewhere.
pub(super) fn knob_without_effect(runs: &[(&Job, &RunResult)]) -> Option<String> {
    let points = points(runs);
    let parts = points.keys().map(|key| key.split('/').count()).max().unwrap_or(0);
    (0..parts).find_map(|part| {
        // Points that differ in this part alone.
        let mut groups: BTreeMap<Vec<&str>, Vec<(&str, &Vec<&RunResult>)>> = BTreeMap::new();
        for (key, runs) in &points {
            let mut rest: Vec<&str> = key.split('/').collect();
            if part < rest.len() {
                let value = std::mem::replace(&mut rest[part], "...");
                groups.entry(rest).or_default().push((value, runs));
            }
        }
        let varied: Vec<_> = groups.iter().filter(|(_, values)| values.len() > 1).collect();
        let inert = |values: &[(&str, &Vec<&RunResult>)]| {
            values.windows(2).all(|two| {
                let [(_, first), (_, second)] = two else { return true };
                first.len() == second.len() && first.iter().zip(*second).all(|(a, b)| same_outcome(a, b))
            })
        };
        let (rest, values) = varied.first()?;
        varied.iter().all(|(_, values)| inert(values)).then(|| {
            let values: Vec<&str> = values.iter().map(|(value, _)| *value).collect();
            match rest.len() {
                1 => values.join(", "),
                _ => format!("{} of \"{}\"", values.join(", "), rest.join("/")),
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{knob_without_effect, repeated_points};
    use crate::claims::plan::Job;
    use crate::run::{RunOptions, run};
    use prismux_scenario::ScenarioFile;
    use prismux_scenario::registry::Backend;
    use prismux_trace::results::RunResult;

    const TEXT: &str = r#"
        duration = "2 s"
        nodes = { a = { kind = "host" }, b = { kind = "host" } }
        links.wire = { between = ["a", "b"], rate = "1 Mbit/s", delay = "20 ms", queue = "50 packets" }
        flows.file = { from = "a", to = "b", bytes = "20 kB" }
    "#;

    /// Point, override and seed of each run.
    fn findings(runs: &[(&str, &str, u64)]) -> (Option<String>, Option<String>) {
        let done: Vec<(Job, RunResult)> = runs
            .iter()
            .map(|&(key, set, seed)| {
                let scenario = ScenarioFile::from_text("wire.toml", TEXT).scenario(None, &[set]).unwrap();
                let options = RunOptions { seed, ..RunOptions::default() };
                let result = run(&scenario, Backend::Sim, &options).unwrap();
                (Job { key: key.to_string(), scenario, seed }, result)
            })
            .collect();
        let runs: Vec<_> = done.iter().map(|(job, result)| (job, result)).collect();
        (repeated_points(&runs), knob_without_effect(&runs))
    }

    #[test]
    fn repetitions_without_chance_are_named_with_their_points() {
        let (repeated, _) = findings(&[
            ("calm/1", "links.wire.delay=20ms", 1),
            ("calm/1", "links.wire.delay=20ms", 2),
            ("lossy/1", "links.wire.loss=0.3", 1),
            ("lossy/1", "links.wire.loss=0.3", 2),
        ]);
        let repeated = repeated.unwrap();
        assert!(repeated.starts_with("one run, repeated 2 times"), "{repeated}");
        assert!(repeated.ends_with("at calm/1"), "{repeated}");
        assert_eq!(findings(&[("calm/1", "links.wire.delay=20ms", 1)]).0, None, "nothing is repeated");
    }

    #[test]
    fn a_knob_that_changes_nothing_is_named_and_one_that_matters_somewhere_is_not() {
        let queue =
            [("tcp/50", "links.wire.queue=50 packets", 1), ("tcp/60", "links.wire.queue=60 packets", 1)];
        assert_eq!(findings(&queue).1.as_deref(), Some("50, 60 of \"tcp/...\""));
        let mut more = queue.to_vec();
        more.extend([
            ("far/50", "links.wire.queue=1 packets", 1),
            ("far/60", "links.wire.queue=60 packets", 1),
        ]);
        assert_eq!(findings(&more).1, None);
    }
}
