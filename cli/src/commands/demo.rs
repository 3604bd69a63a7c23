//! `prismux demo`: the same links, used in every way there is; one table and one picture.

use super::compare::{Outcome, run_all};
use super::run::prepare;
use crate::args::{BackendName, Common, DemoArguments};
use crate::failure::Failure;
use crate::output::picture::{Bar, Panel, draw};
use crate::output::print;
use prismux_scenario::ScenarioFile;
use prismux_scenario::registry::Backend;
use prismux_study::number::{or_dash, percent, rate, seconds};
use prismux_study::text_table::{Align, Table};
use prismux_study::variant::{Variant, variants};
use prismux_trace::results::RunResult;
use serde_json::json;

/// The two mixes.
const MIXES: [(&str, &str); 2] = [("demo-2005", "two links of 2005"), ("demo-today", "three links of today")];

/// Runs of each mix at the same time in the lab: all of the slow links, which are no work for the machine; of the fast
/// ones so few that, in the order of the variants, none of those that use all links meets another.
const PARALLEL: [usize; 2] = [8, 2];

/// A way of using the links, with what it achieved or why it could not run.
struct Row {
    mix: usize,
    way: String,
    result: Result<RunResult, String>,
}

pub(crate) fn run(arguments: &DemoArguments) -> Result<(), Failure> {
    let backend: Backend = arguments.on.into();
    if backend == Backend::Lab {
        prepare(backend)?;
        eprintln!(
            "Downloading over emulated links between kernel TCP endpoints; this takes about two minutes."
        );
    }
    let rows = rows(arguments, backend)?;
    if rows.iter().all(|row| row.result.is_err()) {
        let reason = rows.into_iter().find_map(|row| row.result.err()).unwrap_or_default();
        return Err(Failure::Failed(reason));
    }
    let picture = draw("Goodput of one download, by the way the links are used", &panels(&rows));
    std::fs::write(&arguments.out, picture)
        .map_err(|error| Failure::Failed(format!("cannot write {}: {error}", arguments.out.display())))?;
    if arguments.json {
        let line = |row: &Row| match &row.result {
            Ok(result) => json!({ "mix": MIXES[row.mix].0, "way": row.way, "result": result }),
            Err(reason) => json!({ "mix": MIXES[row.mix].0, "way": row.way, "failed": reason }),
        };
        let value = json!({ "picture": arguments.out, "rows": rows.iter().map(line).collect::<Vec<_>>() });
        return Ok(print(serde_json::to_string(&value).map_err(Failure::failed)?)?);
    }
    print(table(&rows))?;
    for row in &rows {
        if let Err(reason) = &row.result {
            print(format!("\n{} over {}: {reason}", row.way, MIXES[row.mix].1))?;
        }
    }
    Ok(print(format!("\npicture: {}", arguments.out.display()))?)
}

/// Everything, each mix in the order of the variants.
fn rows(arguments: &DemoArguments, backend: Backend) -> Result<Vec<Row>, Failure> {
    let mut plans: Vec<Vec<Variant>> = Vec::new();
    for (name, _) in MIXES {
        plans.push(variants(&ScenarioFile::find(name)?, &[], &[], backend)?);
    }
    let run = |mix: usize| {
        let common = Common {
            on: arguments.on,
            seed: arguments.seed,
            set: Vec::new(),
            json: false,
            jobs: (arguments.on == BackendName::Lab).then_some(PARALLEL[mix]),
        };
        run_all(&plans[mix], &common, 1)
    };
    let (slow, fast) = std::thread::scope(|scope| {
        let slow = scope.spawn(|| run(0));
        let fast = run(1);
        (slow.join(), fast)
    });
    let slow = slow.map_err(|_| Failure::Failed("a run ended without a result".to_string()))??;
    let outcomes = slow.into_iter().map(|outcome| (0, outcome)).chain(fast?.into_iter().map(|o| (1, o)));
    let mut rows: Vec<Row> = Vec::new();
    for ((mix, outcome), variant) in outcomes.zip(plans.iter().flatten()) {
        let Outcome { name, mut results, failure, .. } = outcome;
        let result = results.pop().ok_or_else(|| failure.unwrap_or_else(|| "no result".to_string()));
        let way = if result.is_ok() { name } else { variant.name.clone() };
        rows.push(Row { mix, way: described(&way), result });
    }
    Ok(rows)
}

/// A variant's name in words.
fn described(name: &str) -> String {
    let words = [
        ("single", "best single link"),
        ("striping", "plain striping"),
        ("mptcp", "kernel MPTCP"),
        ("tcp-prism", "PRISM, TCP-PRISM sender"),
        ("prism", "PRISM, unmodified sender"),
    ];
    match words.iter().find(|(short, _)| name.starts_with(short)) {
        Some((short, long)) => format!("{long}{}", &name[short.len()..]),
        None => name.to_string(),
    }
}

fn table(rows: &[Row]) -> Table {
    let columns =
        ["links", "way of using them", "goodput", "efficiency", "complete", "share of each link", "sha256"];
    let mut table = Table::new(&columns).align(1, Align::Left).align(5, Align::Left).align(6, Align::Left);
    let mut last = None;
    for row in rows {
        let links = if last == Some(row.mix) { "" } else { MIXES[row.mix].1 };
        last = Some(row.mix);
        let mut cells = vec![links.to_string(), row.way.clone()];
        if let Ok(result) = &row.result {
            let shares: Vec<String> = result
                .links
                .values()
                .filter_map(|link| link.share)
                .map(|s| format!("{:.0}", s * 100.0))
                .collect();
            let complete = result.flows.values().next().and_then(|flow| flow.completion_s);
            let checked = result.flows.values().any(|flow| flow.sha256.is_some());
            cells.extend([
                rate(result.total.goodput_bps),
                or_dash(result.total.efficiency, percent),
                or_dash(complete, seconds),
                format!("{} %", shares.join(" + ")),
                // A run whose bytes differ fails, so a sum that is there was right.
                if checked { "right" } else { "-" }.to_string(),
            ]);
        }
        table.row(cells);
    }
    table
}

fn panels(rows: &[Row]) -> Vec<Panel> {
    let panel = |(mix, (_, title)): (usize, &(&str, &str))| {
        let own: Vec<(&Row, &RunResult)> = rows
            .iter()
            .filter(|row| row.mix == mix)
            .filter_map(|row| row.result.as_ref().ok().map(|r| (row, r)))
            .collect();
        let capacity = own.iter().map(|(_, result)| result.total.capacity_bps).fold(0.0, f64::max);
        let bars = own.iter().map(|(row, result)| Bar {
            label: row.way.clone(),
            parts: result
                .links
                .iter()
                .filter_map(|(name, link)| Some((name.clone(), link.share? * result.total.goodput_bps)))
                .collect(),
            note: format!(
                "{} ({})",
                rate(result.total.goodput_bps),
                or_dash(result.total.efficiency, percent)
            ),
        });
        Panel {
            title: (*title).to_string(),
            bars: bars.collect(),
            limit: capacity,
            limit_note: rate(capacity),
        }
    };
    MIXES.iter().enumerate().map(panel).collect()
}
