//! The page with its answers inside: one file that needs no server.
use crate::answer::{Answer, Question};
use crate::page;
use crate::server::{Viewed, data};
use serde_json::json;
use std::io;
use std::path::{Path, PathBuf};

/// Levels of zoom: at level `l` the longest run is cut into `2^l` tiles.
const LEVELS: u32 = 6;
/// Columns of a tile.
const TILE_WIDTH: usize = 800;
/// Rows of a tile's time-sequence diagram.
const TILE_HEIGHT: usize = 360;
/// Flows whose diagrams are exported; of a run with more, the first ones.
const MAX_FLOWS: usize = 4;
/// Text of the ways of single packets of all runs together: of longer runs one packet in several is followed.
const MAX_WAYS_BYTES: usize = 8_000_000;

/// Writes `index.html` into `folder`: the page, with answers for every stretch of time down to 1/32 of a run, and the
/// ways of as many packets as 8 MB hold.
///
/// # Errors
/// When the file cannot be written.
pub fn export(viewed: &[Viewed], folder: &Path) -> io::Result<PathBuf> {
    std::fs::create_dir_all(folder)?;
    let end_ns = viewed.iter().map(|viewed| viewed.run.end_ns).max().unwrap_or(0) + 1;
    let runs: Vec<_> = viewed.iter().map(|viewed| flows(viewed, end_ns)).collect();
    let share = MAX_WAYS_BYTES / viewed.len().max(1);
    let ways: Vec<_> = viewed.iter().map(|viewed| viewed.run.packets.export(MAX_FLOWS, share)).collect();
    let tiles = json!({ "end": end_ns, "runs": runs, "ways": ways });
    let file = folder.join("index.html");
    std::fs::write(&file, page::document(&data(viewed, "tiles", tiles)))?;
    Ok(file)
}

/// `[flow][level][tile]`.
fn flows(viewed: &Viewed, end_ns: u64) -> Vec<Vec<Vec<Answer>>> {
    let flows = 0..viewed.run.flows.len().min(MAX_FLOWS);
    flows.map(|flow| (0..LEVELS).map(|level| tiles(viewed, flow, level, end_ns)).collect()).collect()
}

fn tiles(viewed: &Viewed, flow: usize, level: u32, end_ns: u64) -> Vec<Answer> {
    let count = 1u64 << level;
    let edge = |k: u64| (u128::from(end_ns) * u128::from(k) / u128::from(count)) as u64;
    (0..count)
        .filter_map(|k| {
            viewed.run.answer(Question {
                from_ns: edge(k),
                to_ns: edge(k + 1),
                width: TILE_WIDTH,
                height: TILE_HEIGHT,
                flow,
            })
        })
        .collect()
}
