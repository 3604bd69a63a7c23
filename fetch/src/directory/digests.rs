//! Digests of files and lists of their pieces, each computed once whatever its names: by one thread, the shortest rest
//! first, so that a small file never waits for a large one. A file is open only while a slice of it is hashed.
use super::list::ListObject;
use super::{FileObject, Weak, open_file};
use crate::digest::Digest;
use crate::handshake::Refusal;
use crate::pieces::PieceHasher;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Files whose digests are remembered; of more, those that are not being served are forgotten.
const MAX_REMEMBERED: usize = 10_000;
/// Files whose digests may be ordered at a time.
const MAX_JOBS: usize = 1000;
/// Hashed before the next file gets its turn.
const SLICE_BYTES: u64 = 8 << 20;
/// Read at once.
const BLOCK_BYTES: usize = 1 << 18;

/// Lists of pieces that are remembered: of more, those that have been made are forgotten.
const MAX_LISTS: usize = 256;

/// Which bytes a file had when it was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Stamp {
    device: u64,
    inode: u64,
    pub(super) size: u64,
    changed_s: i64,
    changed_ns: i64,
}

impl Stamp {
    pub(super) fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            changed_s: metadata.mtime(),
            changed_ns: metadata.mtime_nsec(),
        }
    }
}

/// What is wanted of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Wanted {
    /// Its digest.
    Digest,
    /// The list of its pieces.
    Pieces,
}

/// What is known of a file.
pub(super) enum Known {
    /// It is being computed.
    Pending,
    /// Computing it failed.
    Unreadable,
    /// Its digest, and the file while it is served.
    Digest(Digest, Weak<FileObject>),
    /// The list of its pieces.
    Pieces(Arc<ListObject>),
}

/// How far a job is.
enum Hashing {
    Digest(Sha256),
    Pieces(Box<PieceHasher>),
}

impl Hashing {
    /// `None` if the file is too long to be shared.
    fn begin(wanted: Wanted, size: u64) -> Option<Self> {
        Some(match wanted {
            Wanted::Digest => Self::Digest(Sha256::new()),
            Wanted::Pieces => Self::Pieces(Box::new(PieceHasher::new(size)?)),
        })
    }

    fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Digest(hash) => hash.update(bytes),
            Self::Pieces(hasher) => hasher.update(bytes),
        }
    }

    fn finish(self) -> Known {
        match self {
            Self::Digest(hash) => Known::Digest(Digest(hash.finalize().into()), Weak::new()),
            Self::Pieces(hasher) => Known::Pieces(Arc::new(ListObject::new(hasher.finish()))),
        }
    }
}

/// A digest or a list that is being computed.
struct Job {
    /// A name under which the file was asked for.
    path: String,
    stamp: Stamp,
    wanted: Wanted,
    hash: Hashing,
    hashed_bytes: u64,
}

/// What is known, and what is to be done.
#[derive(Default)]
pub(super) struct Memory {
    known: HashMap<(Stamp, Wanted), Known>,
    /// By what is left to hash.
    jobs: BTreeMap<(u64, Stamp, Wanted), Job>,
    is_over: bool,
}

impl Memory {
    pub(super) fn known_mut(&mut self, stamp: &Stamp, wanted: Wanted) -> Option<&mut Known> {
        self.known.get_mut(&(*stamp, wanted))
    }

    /// Files of which anything is known.
    #[cfg(test)]
    pub(super) fn remembered(&self) -> usize {
        self.known.len()
    }

    /// Orders what is wanted of the file at `path`.
    ///
    /// # Errors
    /// When too much is ordered, or the file is too long.
    pub(super) fn order(&mut self, path: &str, stamp: Stamp, wanted: Wanted) -> Result<(), Refusal> {
        if self.jobs.len() >= MAX_JOBS {
            return Err(Refusal::Busy);
        }
        let hash = Hashing::begin(wanted, stamp.size).ok_or(Refusal::NotFound)?;
        if self.known.len() >= MAX_REMEMBERED {
            self.known.retain(|_, known| match known {
                Known::Pending | Known::Pieces(_) => true,
                Known::Unreadable => false,
                Known::Digest(_, object) => object.strong_count() > 0,
            });
        }
        if self.known.values().filter(|known| matches!(known, Known::Pieces(_))).count() >= MAX_LISTS {
            self.known.retain(|_, known| !matches!(known, Known::Pieces(_)));
        }
        self.known.insert((stamp, wanted), Known::Pending);
        self.add(Job { path: path.to_string(), stamp, wanted, hash, hashed_bytes: 0 });
        Ok(())
    }

    fn add(&mut self, job: Job) {
        let left = job.stamp.size.saturating_sub(job.hashed_bytes);
        self.jobs.insert((left, job.stamp, job.wanted), job);
    }
}

struct Shared {
    memory: Mutex<Memory>,
    ordered: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Memory> {
        // No one panics while holding it, and what it holds is whole between any two statements.
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The digests of the files below a folder, and the thread that computes them; it ends with this.
pub(super) struct Digests(Arc<Shared>);

impl Digests {
    /// None yet.
    ///
    /// # Errors
    /// When there is no thread.
    pub(super) fn start(root: Arc<File>) -> io::Result<Self> {
        let shared = Arc::new(Shared { memory: Mutex::default(), ordered: Condvar::new() });
        let worker = Arc::clone(&shared);
        thread::Builder::new().name("digests".to_string()).spawn(move || compute(&root, &worker))?;
        Ok(Self(shared))
    }

    /// Looks at what is known, and may order more.
    pub(super) fn with<T>(&self, act: impl FnOnce(&mut Memory) -> T) -> T {
        let answer = act(&mut self.0.lock());
        self.0.ordered.notify_one();
        answer
    }
}

impl Drop for Digests {
    fn drop(&mut self) {
        self.with(|memory| memory.is_over = true);
    }
}

/// Computes digests until nobody can ask for one any more.
fn compute(root: &File, shared: &Shared) {
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        let mut memory = shared.lock();
        let job = loop {
            if memory.is_over {
                return;
            }
            match memory.jobs.pop_first() {
                Some((_, job)) => break job,
                None => memory = shared.ordered.wait(memory).unwrap_or_else(PoisonError::into_inner),
            }
        };
        drop(memory);
        let key = (job.stamp, job.wanted);
        let step = hash_slice(root, job, &mut block);
        let mut memory = shared.lock();
        match step {
            Ok(Step::Rest(job)) => memory.add(job),
            Ok(Step::Done(known)) => {
                memory.known.insert(key, known);
            }
            // Whoever asks again asks for what it is then.
            Ok(Step::Changed) => {
                memory.known.remove(&key);
            }
            Err(_) => {
                memory.known.insert(key, Known::Unreadable);
            }
        }
    }
}

/// What became of a slice.
enum Step {
    Rest(Job),
    Done(Known),
    /// The path stands for other bytes now.
    Changed,
}

/// Hashes the next slice of a file.
///
/// # Errors
/// When it cannot be read.
fn hash_slice(root: &File, mut job: Job, block: &mut [u8]) -> io::Result<Step> {
    let (file, stamp) = match open_file(root, &job.path) {
        Ok(opened) => opened,
        Err(Refusal::Unreadable) => return Err(io::ErrorKind::PermissionDenied.into()),
        Err(_) => return Ok(Step::Changed),
    };
    if stamp != job.stamp {
        return Ok(Step::Changed);
    }
    let end = stamp.size.min(job.hashed_bytes + SLICE_BYTES);
    while job.hashed_bytes < end {
        let wanted = block.len().min((end - job.hashed_bytes) as usize);
        match file.read_at(&mut block[..wanted], job.hashed_bytes) {
            Ok(0) => return Ok(Step::Changed),
            Ok(length) => {
                job.hash.update(&block[..length]);
                job.hashed_bytes += length as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    if Stamp::of(&file.metadata()?) != stamp {
        return Ok(Step::Changed);
    }
    let is_done = job.hashed_bytes == stamp.size;
    Ok(if is_done { Step::Done(job.hash.finish()) } else { Step::Rest(job) })
}

#[cfg(test)]
mod tests;
