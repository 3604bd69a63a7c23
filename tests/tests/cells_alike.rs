//! One file, two backends: a car that hands over between base stations, or goes over relays beyond them, does so at the
//! same instants in the simulator and in the lab, where its download is the kernel's. Skipped where namespaces are not
//! allowed.
use prismux_lab as lab;
use prismux_scenario::registry::Backend;
use prismux_scenario::shipped;
use prismux_study::run::{self, RunOptions};
use prismux_trace::event::{Event, read_json_lines};
use std::process::ExitCode;

/// A shipped scenario, its download, what is changed so that it is short, and variants.
type Case = (&'static str, &'static str, [&'static str; 2], &'static [&'static str]);

const CASES: [Case; 2] = [
    // A street with shadowing, at 80 m/s.
    (
        "cells-street",
        "download",
        ["duration=10 s", "mobility.places.car=[[0, 0, 0], [10, 800, 0]]"],
        &["hysteresis", "none", "forwarding"],
    ),
    // A road out of a cell, at 60 m/s.
    (
        "cells-relays",
        "to-passenger",
        ["duration=14 s", "mobility.places.passenger=[[0, 30, 30], [10, 630, 30], [14, 630, 30]]"],
        &["aodv", "dsr"],
    ),
];

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == "--list") {
        println!("hosts_hand_over_alike_in_simulator_and_lab: test");
        return ExitCode::SUCCESS;
    }
    if let Err(error) = lab::ensure_privileges() {
        println!("skipped: {error}");
        return ExitCode::SUCCESS;
    }
    for (scenario, flow, changes, variants) in CASES {
        for variant in variants {
            let on = |backend| run(scenario, flow, &changes, variant, backend);
            let (simulated, real) = (on(Backend::Sim), on(Backend::Lab));
            println!("{variant}: {} changes, {} and {} bytes", simulated.0.len(), simulated.1, real.1);
            assert!(simulated.0.len() >= 3, "{variant}: {:?}", simulated.0);
            assert_eq!(simulated.0, real.0, "{variant}");
            let ratio = real.1 as f64 / simulated.1 as f64;
            assert!(
                (0.6..1.6).contains(&ratio),
                "{variant}: {} bytes simulated, {} in the lab",
                simulated.1,
                real.1
            );
        }
    }
    ExitCode::SUCCESS
}

/// Who belonged to whom, or went over whom, from when on, in nanoseconds, and how many bytes a download had.
fn run(
    scenario: &str,
    flow: &str,
    changes: &[&str],
    variant: &str,
    backend: Backend,
) -> (Vec<(u64, String)>, u64) {
    let file = shipped::find(scenario).expect("a scenario").file();
    let scenario = file.scenario(Some(variant), changes).unwrap_or_else(|error| panic!("{error}"));
    let log = std::env::temp_dir().join(format!("prismux-cells-{}-{variant}.jsonl", std::process::id()));
    let options = RunOptions { seed: 3, events: Some(log.clone()), ..RunOptions::default() };
    let result = run::run(&scenario, backend, &options).unwrap_or_else(|error| panic!("{variant}: {error}"));
    let text = std::fs::read(&log).expect("events");
    let _ = std::fs::remove_file(&log);
    let records = read_json_lines(&text[..]).expect("events");
    let change = |record: &prismux_trace::event::Record<'_>| match &record.event {
        Event::CellChanged { node, from, to, .. } => {
            Some((record.time_ns, format!("{node} from {from:?} to {to:?}")))
        }
        Event::GatewayChanged { node, from, to } => {
            Some((record.time_ns, format!("{node} over {to:?} instead of {from:?}")))
        }
        _ => None,
    };
    let mut changes: Vec<(u64, String)> = records.iter().filter_map(change).collect();
    // Of one instant in any order.
    changes.sort();
    (changes, result.flows[flow].bytes)
}
