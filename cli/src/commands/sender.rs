//! `prismux sender`: the kernel's TCP heeds loss reports.
use crate::args::{EnableArguments, JsonArguments, SenderArguments, SenderCommand};
use crate::failure::Failure;
use crate::output::print;
use prismux_daemons::sender::counters::SenderCounters;
use prismux_daemons::sender::setup;
use prismux_study::text_table::Table;

pub(crate) fn run(arguments: &SenderArguments) -> Result<(), Failure> {
    match &arguments.what {
        SenderCommand::Enable(arguments) => enable(arguments),
        SenderCommand::Disable => disable(),
        SenderCommand::Status(arguments) => status(arguments),
    }
}

fn enable(arguments: &EnableArguments) -> Result<(), Failure> {
    let enabled = setup::enable(arguments.cgroup.as_deref()).map_err(Failure::failed)?;
    let growth = match enabled.growth {
        "cubic" => "",
        _ => {
            "\nThis kernel does not lend CUBIC's functions: windows grow as Reno's do once a report has come."
        }
    };
    Ok(print(format!(
        "Connections that begin from now on in {} heed loss reports. The proxy sends them with loss_reports = \
         true.{growth}",
        enabled.cgroup.display()
    ))?)
}

fn disable() -> Result<(), Failure> {
    let left = setup::disable().map_err(Failure::failed)?;
    Ok(print(match left {
        0 => "Disabled: nothing is left in the kernel.".to_string(),
        _ => format!(
            "Disabled. {left} connection(s) that heeded reports keep their congestion control, without reports, until \
             they end; then nothing is left in the kernel."
        ),
    })?)
}

fn status(arguments: &JsonArguments) -> Result<(), Failure> {
    let status = setup::status().map_err(Failure::failed)?;
    if arguments.json {
        return Ok(print(serde_json::to_string_pretty(&status).map_err(Failure::failed)?)?);
    }
    let (Some(cgroup), Some(counters)) = (&status.cgroup, &status.counters) else {
        return Ok(print("The sender is not enabled.")?);
    };
    Ok(print(format!("Connections in {cgroup} heed loss reports.\n\n{}", table(counters)))?)
}

fn table(counters: &SenderCounters) -> Table {
    let mut table = Table::new(&["since it was enabled", "number"]);
    let rows = [
        ("connections that went over at their first report", counters.connections_adopted),
        ("connections that heed reports now", counters.connections_live),
        ("reports heeded", counters.reports_accepted),
        ("reports of a link whose decrease of this window is done", counters.reports_same_window),
        ("reports of what a timeout has decreased the window for", counters.reports_after_timeout),
        ("ignored: malformed reports", counters.reports_malformed),
        ("ignored: reports of data that is not outstanding", counters.reports_not_outstanding),
        ("ignored: reports to connections with another congestion control", counters.reports_other_control),
        ("ignored: reports to connections that could not go over", counters.reports_not_adopted),
        ("decreases by what reports say", counters.decreases_by_report),
        ("of these, in a recovery that had begun", counters.decreases_in_recovery),
        ("recoveries without a further decrease", counters.recoveries_covered),
        ("ordinary decreases of these connections", counters.decreases_ordinary),
    ];
    for (name, number) in rows {
        table.row(vec![name.to_string(), number.to_string()]);
    }
    let kept = counters.mean_kept.map_or("-".to_string(), |kept| format!("{kept:.3}"));
    table.row(vec!["part of the window that a decrease by report leaves, mean".to_string(), kept]);
    table
}
