//! What became of the user's own programs, for people.
use prismux_study::number::{or_dash, seconds};
use prismux_study::text_table::Table;
use prismux_trace::results::RunResult;

/// So many lines of what a program wrote are shown; JSON has more.
const SHOWN_LINES: usize = 30;

/// How every program ended and what it wrote; `None` for a run without any.
pub(crate) fn programs(result: &RunResult) -> Option<String> {
    if result.programs.is_empty() {
        return None;
    }
    let mut table = Table::new(&["program", "exit status", "from", "to"]);
    let mut written = String::new();
    for (name, program) in &result.programs {
        let status = or_dash(program.exit_status, |status| status.to_string());
        table.row([name.clone(), status, seconds(program.started_s), seconds(program.ended_s)]);
        for (what, text) in [("output", &program.output), ("errors", &program.errors)] {
            let lines: Vec<&str> = text.lines().collect();
            if !lines.is_empty() {
                let shown = lines[lines.len().saturating_sub(SHOWN_LINES)..].join("\n");
                written += &format!("\n\n{what} of {name}:\n{shown}");
            }
        }
    }
    Some(format!("{table}{written}"))
}

#[cfg(test)]
mod tests {
    use super::programs;
    use prismux_trace::results::RunResult;
    use serde_json::json;

    #[test]
    fn ends_and_the_last_lines_are_shown() {
        let many: String = (1..=40).map(|line| format!("line {line}\n")).collect();
        let mut result = json!({
            "scenario": "s", "backend": "lab", "seed": 1, "version": "1", "duration_s": 2.0, "flows": {}, "links": {},
            "total": { "goodput_bps": 0.0, "capacity_bps": 0.0, "efficiency": null, "steady_goodput_bps": null,
                "steady_efficiency": null },
            "programs": {
                "ping": { "exit_status": 3, "started_s": 0.5, "ended_s": 1.5, "output": many, "errors": "" },
            },
        });
        let text = programs(&serde_json::from_value::<RunResult>(result.clone()).unwrap()).unwrap();
        assert!(text.contains("ping") && text.contains("output of ping:\nline 11\n"), "{text}");
        assert!(text.ends_with("line 40") && !text.contains("errors of"), "{text}");
        result["programs"] = json!({});
        assert_eq!(programs(&serde_json::from_value::<RunResult>(result).unwrap()), None);
    }
}
