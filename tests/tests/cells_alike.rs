//! One file, two backends: a car that hands over between base stations does so at the same instants in the simulator
//! and in the lab, where its download is the kernel's. Skipped where namespaces are not allowed.
use prismux_lab as lab;
use prismux_scenario::registry::Backend;
use prismux_scenario::shipped;
use prismux_study::run::{self, RunOptions};
use prismux_trace::event::{Event, read_json_lines};
use std::process::ExitCode;

/// The street of the shipped scenario, with shadowing, at 80 m/s.
const CHANGES: [&str; 2] = ["duration=10 s", "mobility.places.car=[[0, 0, 0], [10, 800, 0]]"];

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == "--list") {
        println!("hosts_hand_over_alike_in_simulator_and_lab: test");
        return ExitCode::SUCCESS;
    }
    if let Err(error) = lab::ensure_privileges() {
        println!("skipped: {error}");
        return ExitCode::SUCCESS;
    }
    for variant in ["hysteresis", "none", "forwarding"] {
        let (simulated, real) = (run(variant, Backend::Sim), run(variant, Backend::Lab));
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
    ExitCode::SUCCESS
}

/// Who belonged to whom from when on, in nanoseconds, and how many bytes the car had.
fn run(variant: &str, backend: Backend) -> (Vec<(u64, String)>, u64) {
    let file = shipped::find("cells-street").expect("a scenario").file();
    let scenario = file.scenario(Some(variant), &CHANGES).unwrap_or_else(|error| panic!("{error}"));
    let log = std::env::temp_dir().join(format!("prismux-cells-{}-{variant}.jsonl", std::process::id()));
    let options = RunOptions { seed: 3, events: Some(log.clone()), ..RunOptions::default() };
    let result = run::run(&scenario, backend, &options).unwrap_or_else(|error| panic!("{variant}: {error}"));
    let text = std::fs::read(&log).expect("events");
    let _ = std::fs::remove_file(&log);
    let records = read_json_lines(&text[..]).expect("events");
    let change = |record: &prismux_trace::event::Record<'_>| match &record.event {
        Event::CellChanged { from, to, .. } => Some((record.time_ns, format!("{from:?} to {to:?}"))),
        _ => None,
    };
    (records.iter().filter_map(change).collect(), result.flows["download"].bytes)
}
