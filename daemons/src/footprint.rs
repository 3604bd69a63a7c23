//! What a daemon changes on its host beyond devices that go with it: settings and NAT. All of it is as it was when the
//! daemon ends, and after one that was killed by the next start or by `prismux down`.
//!
//! Each change is written to a journal before it is made, with what was there before. The journal is empty only when
//! everything has been undone.
use crate::home::routes;
use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A change that could not be made.
#[derive(Debug)]
pub struct FootprintError {
    what: String,
    answer: String,
}

impl fmt::Display for FootprintError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} failed: {}", self.what, self.answer)
    }
}

impl std::error::Error for FootprintError {}

/// One change, and what undoes it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Change {
    /// A file below `/proc/sys` and what was in it.
    Setting { file: String, before: String },
    /// A table of nftables.
    Table(String),
    /// Routing rules and tables of a home, by the number of its first table.
    Rules(u32),
}

impl Change {
    fn line(&self) -> String {
        match self {
            Self::Setting { file, before } => format!("setting {file} {before}"),
            Self::Table(name) => format!("table {name}"),
            Self::Rules(table) => format!("rules {table}"),
        }
    }

    fn parse(line: &str) -> Option<Self> {
        match line.split_once(' ')? {
            ("setting", rest) => {
                let (file, before) = rest.split_once(' ')?;
                let is_setting = file.starts_with("/proc/sys/net/") && !file.contains("..");
                is_setting.then(|| Self::Setting { file: file.to_owned(), before: before.to_owned() })
            }
            ("table", name) => Some(Self::Table(name.to_owned())),
            ("rules", table) => table.parse().ok().map(Self::Rules),
            _ => None,
        }
    }

    /// A device or a table that is gone needs nothing any more.
    fn undo(&self) {
        match self {
            Self::Setting { file, before } => {
                if let Err(error) = fs::write(file, before)
                    && error.kind() != io::ErrorKind::NotFound
                {
                    tracing::warn!(file, before, %error, "a setting could not be restored");
                }
            }
            Self::Rules(table) => routes::clear(*table),
            Self::Table(name) => {
                if let Err(error) = nft(&format!("delete table inet {name}"))
                    && !error.answer.contains("No such file")
                {
                    tracing::warn!(%error, "NAT could not be removed");
                }
            }
        }
    }
}

/// The changes of one daemon; undone when dropped, the last one first.
#[derive(Debug)]
pub struct Footprint {
    journal: PathBuf,
    changes: Vec<Change>,
}

impl Footprint {
    /// Begins a journal, or goes on with that of a daemon that was killed. What that one changed stays meanwhile:
    /// connections through its NAT would be reset without it.
    pub fn begin(journal: PathBuf) -> Self {
        let changes = read(&journal);
        if !changes.is_empty() {
            tracing::info!(changes = changes.len(), "goes on with what a daemon had changed that was killed");
        }
        Self { journal, changes }
    }

    /// Writes `value` to a setting, given as a path below `/proc/sys/net`, unless it is there already.
    ///
    /// # Errors
    /// When the kernel has no such setting, or it may not be set.
    pub fn set(&mut self, setting: &str, value: &str) -> Result<(), FootprintError> {
        let file = format!("/proc/sys/net/{setting}");
        let fail = |error: io::Error| FootprintError {
            what: format!("setting {file} to {value}"),
            answer: error.to_string(),
        };
        let before = fs::read_to_string(&file).map_err(fail)?.trim().to_owned();
        if before == value {
            return Ok(());
        }
        self.note(Change::Setting { file: file.clone(), before }).map_err(fail)?;
        fs::write(&file, value).map_err(fail)
    }

    /// Makes a table of nftables: `rules` is what stands between its braces. Where a daemon that was killed has left
    /// one, packets pass by that meanwhile: it is replaced in the background, and what fails then is logged.
    ///
    /// # Errors
    /// When there is no `nft`, or it refuses.
    pub fn table(&mut self, name: &str, rules: &str) -> Result<(), FootprintError> {
        let change = Change::Table(name.to_owned());
        let is_left = self.changes.contains(&change);
        self.note(change).map_err(no_journal)?;
        // Made anew: another daemon of this name cannot be running, since the status socket is this one's.
        let script =
            format!("table inet {name}\ndelete table inet {name}\ntable inet {name} {{\n{rules}\n}}");
        if !is_left {
            return nft(&script);
        }
        let started = begin_nft(&script).map_err(nft_missing)?;
        std::thread::spawn(move || {
            if let Err(error) = finish_nft(started) {
                tracing::warn!(%error, "NAT could not be set up anew");
            }
        });
        Ok(())
    }

    /// Routing rules of a home with this first table are going to be made; those that are there are removed.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub fn rules(&mut self, table: u32) -> Result<(), FootprintError> {
        routes::clear(table);
        self.note(Change::Rules(table)).map_err(no_journal)
    }

    fn note(&mut self, change: Change) -> io::Result<()> {
        if self.changes.contains(&change) {
            return Ok(());
        }
        if let Some(directory) = self.journal.parent() {
            fs::create_dir_all(directory)?;
        }
        let mut options = OpenOptions::new();
        let mut journal = options.append(true).create(true).mode(0o600).open(&self.journal)?;
        writeln!(journal, "{}", change.line())?;
        self.changes.push(change);
        Ok(())
    }
}

impl Drop for Footprint {
    fn drop(&mut self) {
        self.changes.iter().rev().for_each(Change::undo);
        let _ = fs::remove_file(&self.journal);
    }
}

/// Undoes what is in the journal of a daemon that has been killed; says how many changes there were.
pub fn undo_left(journal: &Path) -> usize {
    let changes = read(journal);
    changes.iter().rev().for_each(Change::undo);
    let _ = fs::remove_file(journal);
    changes.len()
}

fn read(journal: &Path) -> Vec<Change> {
    fs::read_to_string(journal).unwrap_or_default().lines().filter_map(Change::parse).collect()
}

fn no_journal(error: io::Error) -> FootprintError {
    FootprintError { what: "writing the journal of changes".to_owned(), answer: error.to_string() }
}

/// Has `nft` carry out a script.
fn nft(script: &str) -> Result<(), FootprintError> {
    finish_nft(begin_nft(script).map_err(nft_missing)?)
}

fn begin_nft(script: &str) -> io::Result<Child> {
    let mut command = Command::new("nft");
    command.args(["-f", "-"]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(script.as_bytes())?;
    }
    Ok(child)
}

fn finish_nft(child: Child) -> Result<(), FootprintError> {
    let output = child.wait_with_output().map_err(nft_missing)?;
    if output.status.success() {
        return Ok(());
    }
    let answer = String::from_utf8_lossy(&output.stderr);
    Err(FootprintError { what: NFT.to_owned(), answer: answer.lines().next().unwrap_or_default().to_owned() })
}

fn nft_missing(error: io::Error) -> FootprintError {
    let remedy = "install nftables, or set up NAT yourself and say nat = false (at a home: share = false)";
    FootprintError { what: NFT.to_owned(), answer: format!("{error}. Remedy: {remedy}") }
}

const NFT: &str = "nft (NAT)";

#[cfg(test)]
mod tests {
    use super::Change;

    #[test]
    fn a_journal_is_read_as_it_was_written_and_touches_network_settings_alone() {
        let setting =
            Change::Setting { file: "/proc/sys/net/ipv4/ip_forward".to_owned(), before: "0".to_owned() };
        for change in [setting, Change::Table("prismux_home".to_owned()), Change::Rules(4760)] {
            assert_eq!(Change::parse(&change.line()), Some(change));
        }
        for line in ["", "setting /etc/passwd x", "setting /proc/sys/net/../kernel/panic 1", "else x"] {
            assert_eq!(Change::parse(line), None, "{line}");
        }
    }
}
