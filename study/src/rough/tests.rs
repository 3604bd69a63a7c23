use super::cells::{chosen, shipped};
use super::evaluation::{RoughPlan, evaluate, run_count};
use super::report::{Line, Verdict};
use super::{Story, Way, recorded};
use crate::run::{RunOptions, run};
use prismux_link::DeliveryTrace;
use prismux_plan::Action;
use prismux_scenario::registry::Backend;
use prismux_units::Duration;
use std::collections::BTreeSet;

const SECONDS: Duration = Duration::from_secs(30);

#[test]
fn every_cell_is_a_scenario_in_every_way_and_no_two_have_a_name() {
    let cells = shipped(true);
    let names: BTreeSet<&str> = cells.iter().map(|cell| cell.name.as_str()).collect();
    assert_eq!(names.len(), cells.len());
    for cell in &cells {
        for way in (0..cell.links.len()).map(Way::Single).chain(Way::OVER_ALL) {
            let scenario = cell.scenario(way, 1, SECONDS, &[]);
            assert!(scenario.is_ok(), "{}, {way:?}: {}", cell.name, scenario.unwrap_err());
        }
    }
}

#[test]
fn rates_change_within_their_bounds_by_four_times_at_most_and_by_the_seed() {
    let cell = chosen(shipped(false), &["b-rate-1s".to_string()]).remove(0);
    let Story::ChangingRate { between_bps: [least, most], .. } = cell.story else { panic!("{cell:?}") };
    let rates = |seed| -> Vec<u64> {
        let plan = cell.scenario(Way::Prism, seed, SECONDS, &[]).unwrap().plan;
        let rate = |action: &Action| match action {
            Action::ChangeLink { change, .. } => change.rate.map(|rate| rate.as_bps()),
            _ => None,
        };
        plan.events.iter().filter_map(|event| rate(&event.action)).collect()
    };
    let first = rates(1);
    assert_eq!(first.len(), 29);
    assert!(first.iter().all(|rate| (least..=most).contains(rate)), "{first:?}");
    assert!(
        first.windows(2).all(|pair| pair[0] <= 4 * pair[1] + 4 && pair[1] <= 4 * pair[0] + 4),
        "{first:?}"
    );
    assert_eq!(first, rates(1));
    assert_ne!(first, rates(2));
}

#[test]
fn rivals_begin_before_and_after_the_download_by_the_seed_and_alike_whatever_links_it_uses() {
    let cell = chosen(shipped(false), &["b-rival-4".to_string()]).remove(0);
    let starts = |way, seed| -> Vec<Duration> {
        let plan = cell.scenario(way, seed, SECONDS, &[]).unwrap().plan;
        let rivals = plan.flows.iter().filter(|flow| flow.name != "download");
        rivals.map(|flow| flow.start).collect()
    };
    let all: Vec<Duration> = (1..=5).flat_map(|seed| starts(Way::Prism, seed)).collect();
    let before = all.iter().filter(|start| **start < Duration::from_millis(500)).count();
    assert_eq!(all.len(), 20);
    assert!((5..=15).contains(&before), "{all:?}");
    assert_ne!(starts(Way::Prism, 1), starts(Way::Prism, 2));
    assert_eq!(starts(Way::Prism, 1), starts(Way::Single(0), 1));
}

#[test]
fn every_seed_runs_another_part_of_a_recording() {
    let times = (1..=60_000).filter(|ms| ms % 11 == 0 || *ms == 60_000);
    let text: String = times.map(|ms| format!("{ms}\n")).collect();
    let trace = std::sync::Arc::new(DeliveryTrace::parse(&text).unwrap());
    let recording = |name: &str| recorded::Recording {
        name: name.to_string(),
        trace: super::LinkTrace { forward: trace.clone(), reverse: trace.clone() },
    };
    let cell = recorded::pairs(&[recording("one"), recording("two")]).remove(0);
    assert_eq!(cell.name, "trace-one+two");
    let part = |seed| {
        let plan = cell.scenario(Way::Prism, seed, Duration::from_secs(10), &[]).unwrap().plan;
        plan.links.iter().find(|link| link.name == "wwan1").unwrap().forward.link.trace.clone().unwrap()
    };
    assert!(part(1).period() <= Duration::from_secs(10));
    assert!(part(1) != part(2));
    assert!(part(1) == part(7), "after 60 s the recording begins again");
}

#[test]
fn a_cell_is_judged_by_its_best_single_link() {
    let cells = chosen(shipped(false), &["b-jitter-0".to_string()]);
    let plan = RoughPlan {
        first_seed: 1,
        seeds: 2,
        duration: Duration::from_secs(2),
        ways: vec![Way::Prism],
        set: vec!["nodes.proxy.hold_max_rtts=5".to_string()],
    };
    let done = std::sync::atomic::AtomicUsize::new(0);
    let once = |scenario: &_, seed| run(scenario, Backend::Sim, &RunOptions { seed, ..Default::default() });
    let count = || {
        done.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    };
    let mut outcomes = evaluate(&cells, &plan, 1, once, count).unwrap();
    assert_eq!(done.into_inner(), run_count(&cells, &plan));
    let line = Line::new(outcomes.remove(0)).unwrap();
    assert_eq!((line.best_single, line.outcomes.len()), (0, 3));
    let own = line.way(Way::Prism).unwrap();
    assert_eq!(own.of_best_single.n, 2);
    let expected = own.goodput_bps.mean / line.singles_sum_bps;
    assert!((own.of_singles_sum - expected).abs() < 1e-12);
    assert_eq!(own.verdict == Verdict::Holds, own.of_best_single.mean >= 0.98);
    assert_eq!((line.others_beside_single_bps, own.others_bps), (None, None), "nobody else is there");
    assert!(line.capacity_bps > 38e6 && line.capacity_bps < 42e6, "{}", line.capacity_bps);
}

#[test]
fn others_on_a_link_are_counted_beside_one_tcp_and_beside_all_links() {
    let cells = chosen(shipped(false), &["b-datagrams".to_string()]);
    let plan = RoughPlan {
        first_seed: 1,
        seeds: 1,
        duration: Duration::from_secs(3),
        ways: vec![Way::Prism],
        set: Vec::new(),
    };
    let once = |scenario: &_, seed| run(scenario, Backend::Sim, &RunOptions { seed, ..Default::default() });
    let line = Line::new(evaluate(&cells, &plan, 1, once, || ()).unwrap().remove(0)).unwrap();
    // 10 Mbit/s of packets of 1200 bytes, headers and full queues left out.
    let bounds = 8e6..10e6;
    let own = line.way(Way::Prism).unwrap().others_bps;
    for others in [line.others_beside_single_bps, own] {
        assert!(others.is_some_and(|bps| bounds.contains(&bps)), "{others:?}");
    }
}
