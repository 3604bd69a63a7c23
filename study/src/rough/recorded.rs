//! Cells made of recorded links: a folder of traces in the format of Mahimahi, two files for each link.
use super::{Cell, LinkTrace, RoughLink, Story};
use prismux_link::{DeliveryTrace, TraceError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, io};

/// One-way delay of a recorded link, and its queue: mobile networks keep long ones.
const DELAY_MS: u64 = 25;
const QUEUE: &str = "1 MB";

/// A link that was recorded.
#[derive(Debug, Clone)]
pub struct Recording {
    /// The files' name without `.down` and `.up`.
    pub name: String,
    /// Both directions.
    pub trace: LinkTrace,
}

/// Why a folder has no recordings to use.
#[derive(Debug)]
pub enum RecordingError {
    /// A folder or a file cannot be read.
    CannotRead {
        /// Which.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file is no trace.
    NoTrace {
        /// Which.
        path: PathBuf,
        /// Why.
        source: TraceError,
    },
    /// The folder has not two links.
    TooFew {
        /// Which.
        folder: PathBuf,
    },
}

impl fmt::Display for RecordingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CannotRead { path, source } => write!(f, "cannot read {}: {source}", path.display()),
            Self::NoTrace { path, source } => write!(f, "{}: {source}", path.display()),
            Self::TooFew { folder } => write!(
                f,
                "{} has not two recorded links\n  expected: NAME.down and NAME.up in the format of Mahimahi, \
                 for at least two names",
                folder.display()
            ),
        }
    }
}

impl std::error::Error for RecordingError {}

/// The recorded links of a folder, by name: every `NAME.down` with the `NAME.up` beside it.
///
/// # Errors
/// [`RecordingError`]: what cannot be read, what is no trace, and fewer than two links.
pub fn read(folder: &Path) -> Result<Vec<Recording>, RecordingError> {
    let cannot = |path: &Path| {
        let path = path.to_owned();
        move |source| RecordingError::CannotRead { path, source }
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(cannot(folder))? {
        files.push(entry.map_err(cannot(folder))?.path());
    }
    files.retain(|path| path.extension().is_some_and(|extension| extension == "down"));
    files.sort();
    let trace = |path: &Path| {
        let text = std::fs::read_to_string(path).map_err(cannot(path))?;
        let trace = DeliveryTrace::parse(&text);
        trace.map(Arc::new).map_err(|source| RecordingError::NoTrace { path: path.to_owned(), source })
    };
    let recording = |path: &PathBuf| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let trace = LinkTrace { forward: trace(path)?, reverse: trace(&path.with_extension("up"))? };
        Ok(Recording { name, trace })
    };
    let recordings: Vec<Recording> = files.iter().map(recording).collect::<Result<_, RecordingError>>()?;
    match recordings.len() {
        0 | 1 => Err(RecordingError::TooFew { folder: folder.to_owned() }),
        _ => Ok(recordings),
    }
}

/// A cell for every pair of recordings.
pub fn pairs(recordings: &[Recording]) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (index, first) in recordings.iter().enumerate() {
        for second in &recordings[index + 1..] {
            let name = format!("trace-{}+{}", first.name, second.name);
            let mut links = [first, second].map(|recording| link(recording.trace.clone())).to_vec();
            links.sort_by_key(|link| std::cmp::Reverse(link.rate_bps));
            let summary = format!("recorded: {} and {}", first.name, second.name);
            cells.push(Cell { name, summary, links, story: Story::Steady, spinning_per_processor: 0 });
        }
    }
    cells
}

/// A link whose packets leave as the trace says.
fn link(trace: LinkTrace) -> RoughLink {
    RoughLink { rate_bps: trace.forward.mean_rate().as_bps(), trace: Some(trace), ..link_shape() }
}

/// What links have in common whose packets leave as traces say.
pub(super) fn link_shape() -> RoughLink {
    RoughLink {
        rate_bps: 0,
        delay_ms: DELAY_MS,
        queue: QUEUE.to_string(),
        settings: Vec::new(),
        reverse: Vec::new(),
        trace: None,
    }
}
