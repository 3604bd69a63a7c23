//! `prismux replay`.

use crate::args::ReplayArguments;
use crate::failure::Failure;
use crate::output::print;
use prismux_daemons::replay::{Replay, replay};
use prismux_study::text_table::Table;
use serde_json::json;
use std::path::Path;

pub(crate) fn run(arguments: &ReplayArguments) -> Result<(), Failure> {
    let replays: Vec<(&Path, Replay)> = arguments
        .recordings
        .iter()
        .map(|file| Ok((file.as_path(), one(file)?)))
        .collect::<Result<_, Failure>>()?;
    if arguments.json {
        let of = |(file, replay): &(&Path, Replay)| json!({ "recording": file, "replay": replay });
        let all: Vec<_> = replays.iter().map(of).collect();
        print(serde_json::to_string(&json!({ "recordings": all })).map_err(Failure::failed)?)?;
    } else {
        print(table(&replays))?;
        for (file, replay) in replays.iter().filter(|(_, replay)| replay.cut_bytes > 0) {
            eprintln!(
                "{}: its last {} bytes are no whole entry (power lost, disk full?) and were left out",
                file.display(),
                replay.cut_bytes
            );
        }
    }
    let differing: Vec<&(&Path, Replay)> =
        replays.iter().filter(|(_, replay)| !replay.differences.is_empty()).collect();
    if differing.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = differing
        .iter()
        .flat_map(|(file, replay)| replay.differences.iter().map(move |d| format!("{}: {d}", file.display())))
        .collect();
    Err(Failure::Failed(format!("the replay decides otherwise:\n  {}", lines.join("\n  "))))
}

fn one(file: &Path) -> Result<Replay, Failure> {
    let name = file.display();
    let bytes =
        std::fs::read(file).map_err(|error| Failure::Usage(format!("cannot read {name}: {error}")))?;
    replay(&bytes).map_err(|error| Failure::Usage(format!("{name}: {error}")))
}

fn table(replays: &[(&Path, Replay)]) -> String {
    let columns =
        ["recording", "data", "reverse", "timers", "forwarded", "released", "rewritten", "dropped", "same"];
    let mut table = Table::new(&columns);
    for (file, replay) in replays {
        let counts = [
            replay.data_packets,
            replay.reverse_packets,
            replay.timeouts,
            replay.forwarded,
            replay.released,
            replay.rewritten,
            replay.dropped,
        ];
        let mut row = vec![file.display().to_string()];
        row.extend(counts.map(|count| count.to_string()));
        row.push(if replay.differences.is_empty() { "all" } else { "no" }.to_string());
        table.row(row);
    }
    table.to_string()
}
