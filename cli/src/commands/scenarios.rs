//! `prismux scenarios`.

use crate::args::ScenariosArguments;
use crate::failure::Failure;
use crate::output::print;
use prismux_scenario::ScenarioFile;
use prismux_scenario::shipped;
use prismux_study::text_table::{Align, Table};
use serde::Serialize;

#[derive(Serialize)]
struct Line {
    name: &'static str,
    summary: String,
    variants: Vec<String>,
}

pub(crate) fn run(arguments: &ScenariosArguments) -> Result<(), Failure> {
    if let Some(name) = &arguments.show {
        let text = match shipped::find(name) {
            Some(shipped) => shipped.text.to_string(),
            None => ScenarioFile::find(name)?.text().to_string(),
        };
        return Ok(print(text.trim_end())?);
    }
    let mut lines = Vec::new();
    for shipped in shipped::ALL {
        let scenario = shipped.file().scenario(None, &[])?;
        let variants = scenario.variants.into_iter().map(|variant| variant.name).collect();
        lines.push(Line { name: shipped.name, summary: scenario.summary, variants });
    }
    if arguments.json {
        let json = serde_json::to_string_pretty(&lines).map_err(Failure::failed)?;
        return Ok(print(json)?);
    }
    let mut table = Table::new(&["scenario", "what it shows"]).align(1, Align::Left);
    for line in lines {
        table.row(vec![line.name.to_string(), line.summary]);
    }
    Ok(print(table)?)
}
