//! `prismux fetch`.
//!
//! * [`share`]: the same among neighbours. [`trace`]: how it went, line by line.

mod share;
mod trace;

use crate::args::FetchArguments;
use crate::failure::Failure;
use crate::output::print;
use indicatif::{ProgressBar, ProgressStyle};
use prismux_fetch::fetch::{self, FetchError, FetchRequest, FetchSummary, PathProgress, Update};
use prismux_fetch::handshake::Identity;
use prismux_linux::event_loop::{StopHandle, block_stop_signals};
use prismux_study::text_table::Table;
use prismux_units::Duration;
use serde_json::json;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use trace::Trace;

pub(crate) fn run(arguments: &FetchArguments) -> Result<(), Failure> {
    block_stop_signals()?;
    let output = arguments.output.clone().unwrap_or_else(|| PathBuf::from(arguments.urls[0].file_name()));
    let defaults = FetchRequest::new(arguments.urls.clone(), output.clone());
    let request = FetchRequest {
        transport: arguments.transport,
        via: arguments.via.clone(),
        costs: arguments.cost.clone(),
        rate: arguments.rate,
        digest: arguments.sha256,
        max_size: arguments.max_size,
        overwrite: arguments.overwrite,
        restart: arguments.restart,
        give_up_after: arguments.give_up,
        window: arguments.window.unwrap_or(defaults.window),
        orders: arguments.orders.as_ref().map(|path| or_input(path)),
        sample_every: arguments.trace.as_ref().map(|_| arguments.trace_every),
        ..defaults
    };
    if let Some(secret) = &arguments.share {
        return share::run(arguments, request, secret);
    }
    let mut trace = arguments.trace.as_deref().map(Trace::create).transpose()?;
    let bar = progress_bar();
    let result = fetch::run(&request, StopHandle::new()?, true, &mut |update| {
        if let Some(trace) = &mut trace {
            trace.take(&update);
        }
        show(&bar, &update);
    });
    bar.finish_and_clear();
    if let Some(trace) = trace {
        trace.finish()?;
    }
    let summary = result.map_err(failure)?;
    if arguments.json { print_json(&output, &summary) } else { print_text(&output, &summary) }
}

/// `-` is the program's own input.
fn or_input(path: &Path) -> PathBuf {
    if path.as_os_str() == "-" { PathBuf::from("/dev/stdin") } else { path.to_path_buf() }
}

fn failure(error: FetchError) -> Failure {
    match error {
        FetchError::Interrupted { .. } => {
            eprintln!("{error}");
            Failure::Interrupted
        }
        _ if error.is_usage() => Failure::Usage(error.to_string()),
        _ => Failure::Failed(error.to_string()),
    }
}

/// A bar in bytes; hidden where nobody watches.
fn progress_bar() -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(0);
    let style = ProgressStyle::with_template(
        "[{bar:30}] {bytes}/{total_bytes} {bytes_per_sec}, {eta} left\n{wide_msg}",
    );
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

fn show(bar: &ProgressBar, update: &Update<'_>) {
    match update {
        Update::Identified { identity, resumed_bytes } => {
            bar.set_length(identity.size);
            bar.set_position(*resumed_bytes);
            bar.reset_eta();
            if *resumed_bytes > 0 {
                note(bar, &format!("{resumed_bytes} of {} bytes are here already", identity.size));
            }
        }
        Update::Note(text) => note(bar, text),
        Update::Path { .. } | Update::Sample(_) => {}
        Update::Sharing { received_bytes, neighbours, counters } => {
            bar.set_position(*received_bytes);
            bar.set_message(share::progress(*neighbours, counters));
        }
        Update::Progress { received_bytes, paths } => {
            bar.set_position(*received_bytes);
            bar.set_message(shares(paths));
        }
    }
}

fn note(bar: &ProgressBar, text: &str) {
    if bar.is_hidden() { eprintln!("{text}") } else { bar.println(text) }
}

/// What each path has brought, in percent of all that came.
fn shares(paths: &[PathProgress]) -> String {
    let all: u64 = paths.iter().map(|path| path.report.received_bytes).sum();
    let share = |path: &PathProgress| {
        let percent = 100.0 * path.report.received_bytes as f64 / all.max(1) as f64;
        let state = if path.report.state == "open" { "" } else { path.report.state };
        format!("{} {}: {percent:.0} % {state}", path.link, path.server)
    };
    paths.iter().map(share).collect::<Vec<_>>().join("  ")
}

fn print_text(output: &Path, summary: &FetchSummary) -> Result<(), Failure> {
    let fetched: u64 = summary.paths.iter().map(|path| path.report.received_bytes).sum();
    print(outcome(output, &summary.identity, fetched, summary.elapsed))?;
    let mut table = Table::new(&["link", "server", "bytes", "share"]);
    for path in &summary.paths {
        let share = 100.0 * path.report.received_bytes as f64 / fetched.max(1) as f64;
        table.row(vec![
            path.link.clone(),
            path.server.clone(),
            path.report.received_bytes.to_string(),
            format!("{share:.1} %"),
        ]);
    }
    print(table)?;
    Ok(print(format!(
        "longest pause {:.3} s{}; {} bytes came twice",
        summary.delivery.longest_gap.as_secs_f64(),
        longest_gap_at_s(summary).map_or(String::new(), |at_s| format!(" at {at_s:.3} s")),
        summary.counters.duplicate_bytes
    ))?)
}

/// The file that is here, and how quickly it came.
fn outcome(output: &Path, identity: &Identity, fetched_bytes: u64, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64();
    format!(
        "{}: {} bytes, {fetched_bytes} of them fetched in {seconds:.2} s ({:.2} Mbit/s)\nsha256 {}",
        printable(output),
        identity.size,
        fetched_bytes as f64 * 8e-6 / seconds.max(1e-9),
        identity.digest,
    )
}

/// A path as a terminal may show it: a URL can name a file with control characters.
fn printable(path: &Path) -> String {
    let escape = |letter: char| {
        if letter.is_control() { letter.escape_default().to_string() } else { letter.to_string() }
    };
    path.display().to_string().chars().map(escape).collect()
}

fn longest_gap_at_s(summary: &FetchSummary) -> Option<f64> {
    Some((summary.delivery.longest_gap_at? - summary.started_at).as_secs_f64())
}

fn print_json(output: &Path, summary: &FetchSummary) -> Result<(), Failure> {
    let paths: Vec<_> = summary.paths.iter().map(trace::path_json).collect();
    let counters = &summary.counters;
    Ok(print(json!({
        "file": output.display().to_string(), "bytes": summary.identity.size,
        "sha256": summary.identity.digest.to_string(), "resumed_bytes": summary.resumed_bytes,
        "elapsed_s": summary.elapsed.as_secs_f64(), "paths": paths, "duplicate_bytes": counters.duplicate_bytes,
        "longest_gap_s": summary.delivery.longest_gap.as_secs_f64(), "longest_gap_at_s": longest_gap_at_s(summary),
        "dropped": { "forged": counters.forged, "replayed": counters.replayed, "unmatched": counters.unmatched,
            "malformed": counters.malformed },
    }))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_control_characters_are_escaped() {
        assert_eq!(printable(Path::new("a\u{1b}[31mé\n.img")), "a\\u{1b}[31mé\\n.img");
    }
}
