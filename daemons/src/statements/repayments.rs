//! What borrowers have lent in return, by statements that other daemons of this host have kept.
use prismux_sharing::Signed;
use prismux_sharing::records::Records;
use prismux_units::{Duration, Instant};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::SystemTime;

/// Time between two looks at the files.
const LOOK_INTERVAL: Duration = Duration::from_secs(2);

/// When each file was changed last.
type Changes = BTreeMap<PathBuf, SystemTime>;

/// What some lenders have lent to daemons of this host whose statements lie in one folder.
#[derive(Debug)]
pub(crate) struct Repayments {
    folder: PathBuf,
    lenders: Vec<[u8; 32]>,
    bytes: u64,
    read: Changes,
    reading: Option<JoinHandle<u64>>,
    next_look: Instant,
}

impl Repayments {
    /// By the statements beside a file, of lenders with these keys.
    pub fn beside(file: &Path, lenders: Vec<[u8; 32]>) -> Self {
        let folder = file.parent().unwrap_or(Path::new(".")).to_owned();
        let (read, reading) = (Changes::new(), None);
        Self { folder, lenders, bytes: 0, read, reading, next_look: Instant::ZERO }
    }

    /// What came back, as it was when the files were last looked at. They are read by a thread of its own.
    pub fn bytes(&mut self, now: Instant) -> u64 {
        if let Some(reading) = self.reading.take_if(|reading| reading.is_finished()) {
            // A thread that panicked has read nothing.
            self.bytes = reading.join().unwrap_or(self.bytes);
        }
        if self.reading.is_none() && now >= self.next_look {
            self.next_look = now + LOOK_INTERVAL;
            let changes = changes(&self.folder);
            if changes != self.read {
                self.read = changes;
                let (files, lenders) = (self.read.keys().cloned().collect(), self.lenders.clone());
                let read = move || repaid(files, &lenders);
                self.reading = std::thread::Builder::new().name("repayments".to_owned()).spawn(read).ok();
            }
        }
        self.bytes
    }
}

fn changes(folder: &Path) -> Changes {
    let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let files = files.filter(|file| file.extension().is_some_and(|extension| extension == "statements"));
    files.filter_map(|file| Some((file.clone(), fs::metadata(file).ok()?.modified().ok()?))).collect()
}

/// What these lenders have lent, as far as both have signed it.
fn repaid(files: Vec<PathBuf>, lenders: &[[u8; 32]]) -> u64 {
    let read = |file: PathBuf| {
        let text = fs::read(file).unwrap_or_default();
        Records::read(&String::from_utf8_lossy(&text)).0
    };
    let is_of_them = |signed: &Signed| lenders.contains(&signed.statement.lender.key);
    let of_file = |records: Records| -> u64 {
        let signed = records.statements().filter(|signed| is_of_them(signed) && signed.verify().is_ok());
        signed.map(|signed| signed.statement.carried.total_bytes()).fold(0, u64::saturating_add)
    };
    files.into_iter().map(read).map(of_file).fold(0, u64::saturating_add)
}
