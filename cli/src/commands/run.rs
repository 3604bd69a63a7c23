//! `prismux run`.

use crate::args::{Common, RunArguments};
use crate::failure::Failure;
use crate::jobs;
use crate::output::programs::programs;
use crate::output::{measures, print};
use prismux_lab as lab;
use prismux_plan::Plan;
use prismux_scenario::registry::Backend;
use prismux_scenario::{Scenario, ScenarioFile};
use prismux_study::measures::why_no_steady_state;
use prismux_study::number::{bytes, or_dash, percent, rate, seconds};
use prismux_study::repetition;
use prismux_study::run::{self, RunError, RunOptions};
use prismux_study::statistics::Summary;
use prismux_study::text_table::Table;
use prismux_trace::results::{FlowResult, LinkResult, RunResult};
use serde_json::json;

pub(crate) fn run(arguments: &RunArguments) -> Result<(), Failure> {
    let common = &arguments.common;
    let asked = [
        arguments.delays.then(|| "measure.delays=true".to_string()),
        arguments.series.as_ref().map(|interval| format!("measure.interval={interval}")),
    ];
    let set: Vec<&str> = common.set.iter().chain(asked.iter().flatten()).map(String::as_str).collect();
    let file = ScenarioFile::find(&arguments.scenario)?;
    let scenario = file.scenario(arguments.variant.as_deref(), &set)?;
    prepare(common.on.into())?;
    let options = RunOptions {
        seed: common.seed,
        pcap: arguments.pcap.clone(),
        record: arguments.record.clone(),
        events: arguments.events.clone(),
        ..RunOptions::default()
    };
    if arguments.runs == 1 {
        let result = once(&scenario, common, &options)?;
        if common.json {
            return Ok(print(result.to_json())?);
        }
        print(one_table(&scenario.plan, &result))?;
        let over_time = result.series.as_ref().filter(|_| arguments.series.is_some());
        return over_time.map_or(Ok(()), |series| Ok(print(format!("\n{}", measures::over_time(series)))?));
    }
    if options.pcap.is_some() || options.events.is_some() || options.record.is_some() {
        let message =
            "--pcap, --record and --events record one run; leave out --runs, and choose the run with --seed";
        return Err(Failure::Usage(message.to_string()));
    }
    let seeds: Vec<u64> = (0..arguments.runs).map(|k| common.seed.wrapping_add(k)).collect();
    let results = jobs::run(&seeds, parallel(common), "runs", |&seed| {
        once(&scenario, common, &RunOptions { seed, ..options.clone() }).map_err(Failure::from)
    })?;
    Ok(print(if common.json { many_json(&results)? } else { many_table(&results) })?)
}

/// Makes ready for runs on `backend`. Call it before any thread starts: the lab may need a user namespace, which
/// only a process with a single thread can enter.
pub(crate) fn prepare(backend: Backend) -> Result<(), Failure> {
    if backend == Backend::Lab {
        lab::ensure_privileges().map_err(|error| {
            let remedy = "remedy: `prismux doctor` says what is missing; --on sim simulates instead";
            Failure::Failed(format!("the lab cannot be built here: {error}\n  {remedy}"))
        })?;
    }
    Ok(())
}

/// One run.
pub(crate) fn once(
    scenario: &Scenario,
    common: &Common,
    options: &RunOptions,
) -> Result<RunResult, RunError> {
    let result = run::run(scenario, common.on.into(), options)?;
    if let Some(why) = run::doubt(&result) {
        let name = &result.scenario;
        eprintln!(
            "warning: {name}: this machine was too busy to trust the figure: {why}; run less at a time (--jobs)"
        );
    }
    Ok(result)
}

/// Runs at the same time.
pub(crate) fn parallel(common: &Common) -> usize {
    common.jobs.unwrap_or_else(jobs::processors).max(1)
}

fn one_table(plan: &Plan, result: &RunResult) -> String {
    let head = format!(
        "{} ({}, seed {}, {})",
        result.scenario,
        result.backend,
        result.seed,
        seconds(result.duration_s)
    );
    let mut flows =
        Table::new(&["flow", "transport", "goodput", "bytes", "complete", "resent", "spurious", "timeouts"]);
    let background = |flow: &FlowResult| !matches!(flow.transport.as_str(), "udp" | "cbr" | "pareto");
    for (name, flow) in &result.flows {
        let counted = |n: u64| if background(flow) { n.to_string() } else { "-".to_string() };
        flows.row(vec![
            name.clone(),
            flow.transport.clone(),
            rate(flow.goodput_bps),
            bytes(flow.bytes),
            or_dash(flow.completion_s, seconds),
            counted(flow.retransmitted_segments),
            or_dash(flow.spurious_retransmissions.filter(|_| background(flow)), |n| n.to_string()),
            counted(flow.timeouts),
        ]);
    }
    let mut links =
        Table::new(&["link", "rate", "delivered", "dropped", "use", "share", "back", "dropped", "use"]);
    let configured = |link: &LinkResult| or_dash(link.rate_bps, |bps| rate(bps as f64));
    for (name, link) in &result.links {
        links.row(vec![
            name.clone(),
            configured(link),
            bytes(link.delivered_bytes),
            link.dropped_packets.to_string(),
            or_dash(link.utilization, percent),
            or_dash(link.share, percent),
            or_dash(link.reverse, |way| bytes(way.delivered_bytes)),
            or_dash(link.reverse, |way| way.dropped_packets.to_string()),
            or_dash(link.reverse.and_then(|way| way.utilization), percent),
        ]);
    }
    let latency = measures::latency(result).map_or_else(String::new, |table| format!("\n\n{table}"));
    let groups = measures::groups(result).map_or_else(String::new, |table| format!("\n\n{table}"));
    let queues = measures::managed_queues(result).map_or_else(String::new, |table| format!("\n\n{table}"));
    let programs = programs(result).map_or_else(String::new, |text| format!("\n\n{text}"));
    let flows = if plan.flows.is_empty() { String::new() } else { format!("{flows}{latency}{groups}\n\n") };
    let links = if result.links.is_empty() { String::new() } else { format!("{links}{queues}\n\n") };
    let air = air_line(result).map_or_else(String::new, |line| format!("{line}\n"));
    format!("{head}\n\n{flows}{links}{air}{}{programs}", total_line(plan, result))
}

/// Packets that end on the air or before it, by cause: the counter, and what it is called.
const LOST_ON_AIR: [(&str, &str); 6] = [
    ("packets_given_up", "given up after the last attempt"),
    ("routing_dropped_packets", "dropped by routing"),
    ("interface_queue_drops", "without room in a queue"),
    ("packets_without_channel", "for neighbours without a common channel"),
    ("packets_without_slot", "without a slot"),
    ("packets_without_power", "without power"),
];

/// What all hosts on the air have sent and lost; `None` where nobody is on the air.
fn air_line(result: &RunResult) -> Option<String> {
    let sum = |name: &str| -> Option<u64> {
        let counts = result.nodes.values().filter_map(|node| node.get(name));
        counts.copied().reduce(|one, other| one + other)
    };
    let (sent, collided) = (sum("frames_sent")?, sum("frames_collided")?);
    let lost = LOST_ON_AIR.into_iter().filter_map(|(name, words)| {
        let count = sum(name).filter(|count| *count > 0)?;
        Some(format!("{count} {words}"))
    });
    let lost: Vec<String> = lost.collect();
    let lost = if lost.is_empty() { "none".to_string() } else { lost.join(", ") };
    Some(format!("air: {sent} frames sent, {collided} receptions lost to collisions; packets lost: {lost}"))
}

fn total_line(plan: &Plan, result: &RunResult) -> String {
    let total = &result.total;
    let mut line = format!("total {}", rate(total.goodput_bps));
    if let Some(efficiency) = total.efficiency {
        line += &format!(" of {} possible ({})", rate(total.capacity_bps), percent(efficiency));
    }
    if let Some(steady) = total.steady_goodput_bps {
        line += &format!("; in steady state {}", rate(steady));
        if let Some(efficiency) = total.steady_efficiency {
            line += &format!(" ({})", percent(efficiency));
        }
    }
    if let Some(jain) = total.jain {
        line += &format!("; Jain's index {jain:.3}");
    }
    if let Some(why) = why_no_steady_state(plan, result) {
        line += &format!("\nno steady state: {why}");
    }
    line
}

/// A quantity of every run, summarised; `None` unless every run has it.
pub(crate) fn summarise(results: &[RunResult], of: impl Fn(&RunResult) -> Option<f64>) -> Option<Summary> {
    let values: Option<Vec<f64>> = results.iter().map(of).collect();
    Summary::of(&values?)
}

/// `mean ± half width`, each in the form of `text`.
pub(crate) fn interval(summary: Summary, text: impl Fn(f64) -> String) -> String {
    match summary.ci95 {
        Some(_) => format!("{} ± {}", text(summary.mean), text(summary.half_width())),
        None => text(summary.mean),
    }
}

fn many_table(results: &[RunResult]) -> String {
    let first = &results[0];
    let last = &results[results.len() - 1];
    let head = format!(
        "{} ({}, {} runs, seeds {} to {}; means and 95 % intervals)",
        first.scenario,
        first.backend,
        results.len(),
        first.seed,
        last.seed
    );
    let mut flows = Table::new(&["flow", "transport", "goodput", "complete", "resent", "timeouts"]);
    for (name, flow) in &first.flows {
        let of = |value: &dyn Fn(&FlowResult) -> Option<f64>| {
            summarise(results, |r| r.flows.get(name).and_then(value))
        };
        let text =
            |summary: Option<Summary>, form: fn(f64) -> String| or_dash(summary, |s| interval(s, form));
        let count = prismux_study::number::digits;
        flows.row(vec![
            name.clone(),
            flow.transport.clone(),
            text(of(&|f| Some(f.goodput_bps)), rate),
            text(of(&|f| f.completion_s), seconds),
            text(of(&|f| Some(f.retransmitted_segments as f64)), count),
            text(of(&|f| Some(f.timeouts as f64)), count),
        ]);
    }
    let total = |of: fn(&RunResult) -> Option<f64>, form: fn(f64) -> String| {
        or_dash(summarise(results, of), |s| interval(s, form))
    };
    let goodput = total(|r| Some(r.total.goodput_bps), rate);
    let efficiency = total(|r| r.total.efficiency, percent);
    let steady = total(|r| r.total.steady_efficiency, percent);
    let note = match repetition::is_one_run(results) {
        true => format!("\n\n{}", repetition::one_run(results.len())),
        false => String::new(),
    };
    format!("{head}\n\n{flows}\n\ntotal {goodput}; efficiency {efficiency}, in steady state {steady}{note}")
}

fn many_json(results: &[RunResult]) -> Result<String, Failure> {
    let of = |value: fn(&RunResult) -> Option<f64>| summarise(results, value);
    let value = json!({
        "scenario": results[0].scenario,
        "scenario_hash": results[0].scenario_hash,
        "backend": results[0].backend,
        "version": results[0].version,
        "total": {
            "goodput_bps": of(|r| Some(r.total.goodput_bps)),
            "efficiency": of(|r| r.total.efficiency),
            "steady_goodput_bps": of(|r| r.total.steady_goodput_bps),
            "steady_efficiency": of(|r| r.total.steady_efficiency),
        },
        "one_run": repetition::is_one_run(results),
        "runs": results,
    });
    serde_json::to_string(&value).map_err(Failure::failed)
}

#[cfg(test)]
mod tests {
    use super::one_table;
    use prismux_scenario::ScenarioFile;
    use prismux_scenario::registry::Backend;
    use prismux_study::run::{RunOptions, run};

    #[test]
    fn a_run_on_the_air_says_what_became_of_its_packets_and_has_no_empty_table() {
        let text = r#"
            duration = "5 s"
            nodes = { a = { kind = "host" }, b = { kind = "host" } }
            radio = { medium_access = "802.11b" }
            mobility = { model = "static", places = { a = [0, 0], b = [900, 0] } }
            routing = { protocol = "direct" }
            flows.calls = { from = "a", to = "b", transport = "udp", rate = "100 kbit/s", packet = "500 B" }
        "#;
        let scenario = ScenarioFile::from_text("apart.toml", text).scenario(None, &[]).unwrap();
        let result = run(&scenario, Backend::Sim, &RunOptions::default()).unwrap();
        let table = one_table(&scenario.plan, &result);
        let given_up = result.nodes["a"]["packets_given_up"];
        assert!(given_up > 100, "{table}");
        let lost = format!("packets lost: {given_up} given up after the last attempt\n");
        assert!(table.contains(&lost) && !table.contains("link  rate"), "{table}");
    }
}
