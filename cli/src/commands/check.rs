//! `prismux check`.

use crate::args::CheckArguments;
use crate::failure::Failure;
use crate::output::print;
use prismux_scenario::{Scenario, ScenarioError, ScenarioFile, canonical, hash};
use serde_json::{Value, json};

pub(crate) fn run(arguments: &CheckArguments) -> Result<(), Failure> {
    let set: Vec<&str> = arguments.set.iter().map(String::as_str).collect();
    let mut report = Vec::new();
    let mut bad = Vec::new();
    for name in &arguments.scenarios {
        let variant = arguments.variant.as_deref();
        match check(name, variant, &set) {
            Ok(_) if arguments.merged => {
                print(ScenarioFile::find(name)?.merged(variant, &set)?.trim_end())?;
            }
            Ok(scenario) if arguments.json => report.push(good_json(name, &scenario)),
            Ok(scenario) if arguments.canonical => print(canonical(&scenario.plan).trim_end())?,
            Ok(scenario) => print(summary(name, &scenario))?,
            Err(error) if arguments.json => {
                report.push(bad_json(name, &error));
                bad.push(format!("{name} is not a scenario"));
            }
            Err(error) => bad.push(error.to_string()),
        }
    }
    if arguments.json {
        print(serde_json::to_string_pretty(&report).map_err(Failure::failed)?)?;
    }
    match bad.is_empty() {
        true => Ok(()),
        false => Err(Failure::Usage(bad.join("\n\nerror: "))),
    }
}

/// The scenario, or its `variant`; without one every variant it declares must read as well.
fn check(name: &str, variant: Option<&str>, set: &[&str]) -> Result<Scenario, ScenarioError> {
    let file = ScenarioFile::find(name)?;
    let scenario = file.scenario(variant, set)?;
    if variant.is_some() {
        return Ok(scenario);
    }
    for variant in &scenario.variants {
        file.scenario(Some(&variant.name), set)?;
    }
    Ok(scenario)
}

fn summary(name: &str, scenario: &Scenario) -> String {
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let parts = [
        count(scenario.plan.nodes.len(), "node"),
        count(scenario.plan.links.len(), "link"),
        count(scenario.plan.flows.len(), "flow"),
        count(scenario.plan.events.len(), "event"),
        count(scenario.variants.len(), "variant"),
    ];
    format!(
        "{name}: good ({}, {}; hash {})",
        parts.join(", "),
        scenario.plan.duration,
        &hash(&scenario.plan)[..12]
    )
}

fn good_json(name: &str, scenario: &Scenario) -> Value {
    json!({ "file": name, "good": true, "scenario": scenario.plan.name,
                    "scenario_hash": hash(&scenario.plan), "errors": [] })
}

fn bad_json(name: &str, error: &ScenarioError) -> Value {
    let line = |d: &prismux_scenario::Diagnostic| {
        json!({
            "location": d.location, "line": d.line, "key": d.key,
            "found": d.found, "expected": d.expected, "remedy": d.remedy,
        })
    };
    json!({ "file": name, "good": false, "errors": error.diagnostics.iter().map(line).collect::<Vec<_>>() })
}
