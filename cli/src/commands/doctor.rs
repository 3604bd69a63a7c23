//! `prismux doctor`.

use crate::args::JsonArguments;
use crate::failure::Failure;
use crate::output::print;
use prismux_daemons::doctor::{Verdict, check, is_healthy};
use prismux_study::text_table::{Align, Table};
use serde_json::json;

pub(crate) fn run(arguments: &JsonArguments) -> Result<(), Failure> {
    let checks = check();
    let healthy = is_healthy(&checks);
    if arguments.json {
        let value = json!({ "healthy": healthy, "checks": checks });
        print(serde_json::to_string_pretty(&value).map_err(Failure::failed)?)?;
    } else {
        let mut table =
            Table::new(&["check", "verdict", "found"]).align(1, Align::Left).align(2, Align::Left);
        let mut remedies = Vec::new();
        for check in &checks {
            let verdict = match check.verdict {
                Verdict::Good => "good",
                Verdict::Warning => "warning",
                Verdict::Bad => "bad",
            };
            table.row(vec![check.name.to_string(), verdict.to_string(), check.found.clone()]);
            remedies.extend(check.remedy.as_ref().map(|remedy| format!("{}: {remedy}", check.name)));
        }
        print(table)?;
        if !remedies.is_empty() {
            print(format!("\nWhat to do:\n  {}", remedies.join("\n  ")))?;
        }
    }
    match healthy {
        true => Ok(()),
        false => Err(Failure::Failed("something that prismux needs is missing (see above)".to_string())),
    }
}
