//! `prismux fetch --share`: a file that neighbours fetch together.

use super::{failure, outcome, progress_bar, show};
use crate::args::FetchArguments;
use crate::failure::Failure;
use crate::output::print;
use prismux_fetch::fetch::share::{self, ShareRequest, ShareSummary};
use prismux_fetch::fetch::{FetchRequest, Transport};
use prismux_fetch::member::{CommunitySecret, MemberCounters};
use prismux_linux::event_loop::StopHandle;
use prismux_study::text_table::Table;
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

pub(super) fn run(arguments: &FetchArguments, fetch: FetchRequest, secret: &Path) -> Result<(), Failure> {
    if arguments.transport == Transport::Ptcp {
        return Err(Failure::Usage(
            "with pTCP the server decides what comes next, and neighbours would get the same\n  remedy: leave \
             --transport ptcp out, or --share"
                .to_string(),
        ));
    }
    let output = fetch.output.clone();
    let request = ShareRequest {
        fetch,
        secret: read_secret(secret)?,
        neighbours: arguments.neighbours.clone(),
        listen: arguments.share_at(),
        stay: arguments.stay,
    };
    let bar = progress_bar();
    let result = share::run(&request, StopHandle::new()?, true, &mut |update| show(&bar, &update));
    bar.finish_and_clear();
    let summary = result.map_err(failure)?;
    if arguments.json { print_json(&output, &summary) } else { print_text(&output, &summary) }
}

/// The secret in the file, which is its owner's alone.
fn read_secret(path: &Path) -> Result<CommunitySecret, Failure> {
    let name = path.display();
    let make = format!(
        "remedy: make it once, openssl rand -base64 24 > {name}; chmod 600 {name}, and give it to all"
    );
    let failed = |error| Failure::Usage(format!("secret {name}: {error}\n  {make}"));
    let mode = fs::metadata(path).map_err(failed)?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(Failure::Usage(format!(
            "secret {name}: its mode is {mode:03o}: others can read it\n  remedy: chmod 600 {name}"
        )));
    }
    let text = fs::read_to_string(path).map_err(failed)?;
    CommunitySecret::new(&text)
        .ok_or_else(|| Failure::Usage(format!("secret {name}: it has fewer than 16 characters\n  {make}")))
}

/// What has come from where, for who watches.
pub(super) fn progress(neighbours: usize, counters: &MemberCounters) -> String {
    let came = (counters.origin_bytes + counters.neighbour_bytes).max(1) as f64;
    let percent = |bytes: u64| 100.0 * bytes as f64 / came;
    let (origin, near) = (percent(counters.origin_bytes), percent(counters.neighbour_bytes));
    let given = counters.given_bytes as f64 * 1e-6;
    format!("server: {origin:.0} %  {neighbours} neighbours: {near:.0} %  given to them: {given:.1} MB")
}

fn print_text(output: &Path, summary: &ShareSummary) -> Result<(), Failure> {
    let counters = &summary.counters;
    let fetched = counters.origin_bytes + counters.neighbour_bytes;
    print(outcome(output, &summary.identity, fetched, summary.elapsed))?;
    let mut table = Table::new(&["from", "bytes", "share"]);
    for (from, bytes) in [("the server", counters.origin_bytes), ("neighbours", counters.neighbour_bytes)] {
        let share = 100.0 * bytes as f64 / fetched.max(1) as f64;
        table.row(vec![from.to_string(), bytes.to_string(), format!("{share:.1} %")]);
    }
    print(table)?;
    Ok(print(format!(
        "given to neighbours: {} bytes; thrown away: {} bytes, {} wrong pieces",
        counters.given_bytes, counters.wasted_bytes, counters.plan.wrong
    ))?)
}

fn print_json(output: &Path, summary: &ShareSummary) -> Result<(), Failure> {
    let MemberCounters { plan, announcements, .. } = summary.counters;
    let counters = &summary.counters;
    Ok(print(json!({
        "file": output.display().to_string(), "bytes": summary.identity.size,
        "sha256": summary.identity.digest.to_string(), "resumed_bytes": summary.resumed_bytes,
        "elapsed_s": summary.elapsed.as_secs_f64(), "from_server_bytes": counters.origin_bytes,
        "from_neighbours_bytes": counters.neighbour_bytes, "given_bytes": counters.given_bytes,
        "wasted_bytes": counters.wasted_bytes, "wrong_pieces": plan.wrong, "overdue_pieces": plan.overdue,
        "refused_pieces": plan.failed, "refused_requests": counters.refused,
        "dropped": { "forged": announcements.forged, "replayed": announcements.replayed,
            "other_files": announcements.other_files, "crowded": announcements.crowded,
            "left": plan.ignored, "unmatched": counters.unmatched },
    }))?)
}
