//! A file that is not complete yet.
//!
//! While a download runs its bytes lie in `FILE.partial`, and beside it `FILE.prismux-part` says of which object they
//! are and which of them have come. When all have and the digest is right, the former becomes `FILE` and the latter
//! goes.
use crate::digest::Digest;
use crate::handshake::Identity;
use prismux_rcp::ranges::Ranges;
use rustix::fs::{CWD, OFlags, RenameFlags, renameat_with};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Bytes gathered before they are written.
const GATHERED_BYTES: usize = 256 << 10;
/// What the sidecar looks like.
const FORMAT: u32 = 1;
/// No sidecar of ours is longer.
const MAX_SIDECAR_BYTES: u64 = 64 << 20;

/// The sidecar.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sidecar {
    prismux_part: u32,
    size: u64,
    sha256: String,
    /// Start and end (exclusive) of what is here, ascending.
    ranges: Vec<(u64, u64)>,
}

/// Why a partial file cannot be used.
#[derive(Debug)]
pub enum PartialError {
    /// Reading or writing failed.
    File(PathBuf, io::Error),
    /// The sidecar makes no sense.
    Sidecar(PathBuf, String),
    /// All bytes are here, and they are not those of the object.
    Digest(Digest, Digest),
    /// There is a file of this name.
    Exists(PathBuf),
    /// It is a link: what is written there would go elsewhere.
    Link(PathBuf),
}

impl fmt::Display for PartialError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Sidecar(path, problem) => write!(
                f,
                "{}: {problem}\n  remedy: remove it to begin from the start, or give --restart",
                path.display()
            ),
            Self::Digest(found, wanted) => write!(
                f,
                "all bytes are here, but their digest is {found} instead of {wanted}\n  remedy: what was \
                    received has been \
                 removed; fetch again, from other servers if it happens twice"
            ),
            Self::Link(path) => write!(
                f,
                "{} is a link, and what is received would go where it leads\n  remedy: remove it, or give --restart",
                path.display()
            ),
            Self::Exists(path) => write!(
                f,
                "{} is there already\n  remedy: name another with --output, or give --overwrite",
                path.display()
            ),
        }
    }
}

impl std::error::Error for PartialError {}

/// What an earlier attempt left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// Of which object.
    pub identity: Identity,
    /// Which of its bytes are here.
    pub ranges: Vec<Range<u64>>,
}

/// An open partial file.
pub struct PartialFile {
    output: PathBuf,
    file: File,
    identity: Identity,
    /// Written.
    held: Ranges,
    /// Gathered, not written yet, from this offset on.
    gathered_at: u64,
    gathered: Vec<u8>,
    /// The first failure; nothing is written after it.
    failure: Option<io::Error>,
}

/// Where the bytes lie meanwhile.
pub fn data_path(output: &Path) -> PathBuf {
    with_suffix(output, ".partial")
}

/// Where the sidecar lies.
pub fn sidecar_path(output: &Path) -> PathBuf {
    with_suffix(output, ".prismux-part")
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

/// What an earlier attempt at `output` left behind, if anything.
///
/// # Errors
/// When there is a sidecar that makes no sense or cannot be read.
pub fn leftover(output: &Path) -> Result<Option<Leftover>, PartialError> {
    let path = sidecar_path(output);
    let length = match fs::metadata(&path) {
        Ok(metadata) => metadata.len(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(PartialError::File(path, error)),
    };
    if length > MAX_SIDECAR_BYTES {
        return Err(PartialError::Sidecar(path, format!("{length} bytes are too many")));
    }
    let mut text = Vec::new();
    open_plain(OpenOptions::new().read(true), &path)?
        .read_to_end(&mut text)
        .map_err(|error| PartialError::File(path.clone(), error))?;
    let data = data_path(output);
    match fs::metadata(&data) {
        Ok(_) => {}
        // What it speaks of is gone: from the start.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(PartialError::File(data, error)),
    }
    parse_sidecar(&text).map(Some).map_err(|problem| PartialError::Sidecar(path, problem))
}

/// Reads a sidecar.
///
/// # Errors
/// A sentence on what is wrong with it.
pub fn parse_sidecar(text: &[u8]) -> Result<Leftover, String> {
    let sidecar: Sidecar =
        serde_json::from_slice(text).map_err(|error| format!("it is no sidecar: {error}"))?;
    if sidecar.prismux_part != FORMAT {
        return Err(format!("its format is {}, only {FORMAT} is understood", sidecar.prismux_part));
    }
    let mut last = None;
    for &(start, end) in &sidecar.ranges {
        let ascends = last.is_none_or(|last| start > last);
        if start >= end || end > sidecar.size || !ascends {
            return Err(format!("its range {start} to {end} cannot be"));
        }
        last = Some(end);
    }
    let identity = Identity { size: sidecar.size, digest: sidecar.sha256.parse()? };
    let ranges = sidecar.ranges.into_iter().map(|(start, end)| start..end).collect();
    Ok(Leftover { identity, ranges })
}

/// Opens the file at `path` itself.
///
/// # Errors
/// When it is a link, symbolic or hard, or cannot be opened.
fn open_plain(options: &mut OpenOptions, path: &Path) -> Result<File, PartialError> {
    let failed = |error: io::Error| match error.raw_os_error() {
        Some(code) if code == Errno::LOOP.raw_os_error() => PartialError::Link(path.to_path_buf()),
        _ => PartialError::File(path.to_path_buf(), error),
    };
    let file = options.custom_flags(OFlags::NOFOLLOW.bits() as i32).open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.nlink() > 1 {
        return Err(PartialError::Link(path.to_path_buf()));
    }
    Ok(file)
}

/// Gives the file `from` the name `to`, which nobody has if `replaces` is false.
///
/// # Errors
/// When somebody has, or renaming fails.
fn rename(from: &Path, to: &Path, replaces: bool) -> Result<(), PartialError> {
    if replaces {
        return fs::rename(from, to).map_err(|error| PartialError::File(from.to_path_buf(), error));
    }
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(()),
        Err(Errno::EXIST) => Err(PartialError::Exists(to.to_path_buf())),
        // The file system cannot: as near to it as it can be.
        Err(Errno::INVAL | Errno::NOSYS) if !to.exists() => rename(from, to, true),
        Err(Errno::INVAL | Errno::NOSYS) => Err(PartialError::Exists(to.to_path_buf())),
        Err(error) => Err(PartialError::File(from.to_path_buf(), error.into())),
    }
}

/// Removes what an earlier attempt left behind.
pub fn discard(output: &Path) {
    let _ = fs::remove_file(sidecar_path(output));
    let _ = fs::remove_file(data_path(output));
}

impl PartialFile {
    /// Goes on with the ranges `held`, or begins when there are none.
    ///
    /// # Errors
    /// When the file cannot be opened or made as long as the object.
    pub fn open(output: &Path, identity: Identity, held: &[Range<u64>]) -> Result<Self, PartialError> {
        let path = data_path(output);
        let failed = |error| PartialError::File(path.clone(), error);
        let begins = held.is_empty();
        if begins {
            // Whatever lies there is not written to: the file is a new one.
            let _ = fs::remove_file(&path);
        }
        let file = open_plain(OpenOptions::new().read(true).write(true).create_new(begins), &path)?;
        file.set_len(identity.size).map_err(failed)?;
        let mut ranges = Ranges::default();
        for range in held {
            ranges.insert(range.clone());
        }
        Ok(Self {
            output: output.to_path_buf(),
            file,
            identity,
            held: ranges,
            gathered_at: 0,
            gathered: Vec::with_capacity(GATHERED_BYTES),
            failure: None,
        })
    }

    /// Bytes that are here.
    pub fn received(&self) -> u64 {
        self.held.next() + self.held.beyond() + self.gathered.len() as u64
    }

    /// Keeps `bytes`, which belong at `offset`. A failure shows at the next [`PartialFile::check`].
    pub fn write(&mut self, offset: u64, bytes: &[u8]) {
        let continues = offset == self.gathered_at + self.gathered.len() as u64;
        if !continues || self.gathered.len() + bytes.len() > GATHERED_BYTES {
            self.flush();
            self.gathered_at = offset;
        }
        self.gathered.extend_from_slice(bytes);
    }

    /// The bytes that are written, for reading beside.
    ///
    /// # Errors
    /// When the system has no descriptor left.
    pub fn reader(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Writes what is gathered. A failure shows at the next [`PartialFile::check`].
    pub fn flush(&mut self) {
        if self.gathered.is_empty() || self.failure.is_some() {
            return;
        }
        match self.file.write_all_at(&self.gathered, self.gathered_at) {
            Ok(()) => {
                self.held.insert(self.gathered_at..self.gathered_at + self.gathered.len() as u64);
            }
            Err(error) => self.failure = Some(error),
        }
        self.gathered.clear();
    }

    /// Whether everything could be written so far.
    ///
    /// # Errors
    /// The first failure.
    pub fn check(&mut self) -> Result<(), PartialError> {
        match self.failure.take() {
            Some(error) => Err(PartialError::File(data_path(&self.output), error)),
            None => Ok(()),
        }
    }

    /// Brings the sidecar up to date. What it says survives the end of this process; an end of the whole machine is
    /// noticed by the digest at last.
    ///
    /// # Errors
    /// When something cannot be written.
    pub fn save(&mut self) -> Result<(), PartialError> {
        self.flush();
        self.check()?;
        let sidecar = Sidecar {
            prismux_part: FORMAT,
            size: self.identity.size,
            sha256: self.identity.digest.to_string(),
            ranges: self.held.iter().map(|range| (range.start, range.end)).collect(),
        };
        let path = sidecar_path(&self.output);
        let failed = |error| PartialError::File(path.clone(), error);
        let new = with_suffix(&path, ".new");
        let text = serde_json::to_vec(&sidecar).map_err(|error| failed(error.into()))?;
        let _ = fs::remove_file(&new);
        let mut file = OpenOptions::new().write(true).create_new(true).open(&new).map_err(failed)?;
        file.write_all(&text).map_err(failed)?;
        fs::rename(&new, &path).map_err(failed)
    }

    /// All bytes are here: checks the digest and gives the file its name, also if another has it and `overwrite` is
    /// true.
    ///
    /// # Errors
    /// When the digest is wrong (then everything is removed), another file has the name, or renaming fails.
    pub fn finish(mut self, overwrite: bool) -> Result<(), PartialError> {
        self.flush();
        self.check()?;
        let path = data_path(&self.output);
        let failed = |error| PartialError::File(path.clone(), error);
        self.file.rewind().map_err(failed)?;
        let digest = Digest::of(&self.file).map_err(failed)?;
        if digest != self.identity.digest {
            discard(&self.output);
            return Err(PartialError::Digest(digest, self.identity.digest));
        }
        self.file.sync_all().map_err(failed)?;
        rename(&path, &self.output, overwrite)?;
        let _ = fs::remove_file(sidecar_path(&self.output));
        Ok(())
    }
}

#[cfg(test)]
mod tests;
