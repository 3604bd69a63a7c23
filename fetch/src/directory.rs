//! The files below a folder, as objects.
//!
//! A path is resolved by the kernel with the folder as its root that nothing leads out of (`openat2`, `RESOLVE_BENEATH`): neither
//! `..` nor a symbolic link, also not one that is exchanged at the very moment. Digests are computed by a thread of their
//! own, once for each path, size and time of change.
use crate::digest::Digest;
use crate::handshake::{Identity, Refusal};
use crate::server::{Lookup, Object, Objects, Unreadable};
use nix::errno::Errno;
use nix::fcntl::{OFlag, OpenHow, ResolveFlag, openat2};
use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;

/// Paths whose digests are remembered; of more, those that are not being served are forgotten.
const MOST_REMEMBERED: usize = 10_000;

/// Which bytes a path stood for when it was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    changed_s: i64,
    changed_ns: i64,
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            changed_s: metadata.mtime(),
            changed_ns: metadata.mtime_nsec(),
        }
    }
}

/// What is known of a path.
enum Known {
    /// Its digest is being computed.
    Pending(Stamp),
    /// Computing it failed.
    Unreadable(Stamp),
    Digest(Stamp, Digest, Weak<FileObject>),
}

type Memory = Arc<Mutex<HashMap<String, Known>>>;

/// A folder whose files are served. Clones share what is known of the files.
#[derive(Clone)]
pub struct Directory {
    root: Arc<File>,
    memory: Memory,
    work: Sender<(String, File, Stamp)>,
}

impl Directory {
    /// The files below `root`.
    ///
    /// # Errors
    /// When `root` is no folder that can be read.
    pub fn open(root: &Path) -> io::Result<Self> {
        let folder = File::open(root)?;
        if !folder.metadata()?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let memory = Memory::default();
        let (work, orders) = mpsc::channel();
        let shared = Arc::clone(&memory);
        thread::Builder::new().name("digests".to_string()).spawn(move || compute(&orders, &shared))?;
        Ok(Self { root: Arc::new(folder), memory, work })
    }

    /// Opens the file at `path`, which must lie below the root and be a plain file.
    fn open_file(&self, path: &str) -> Result<(File, Stamp), Refusal> {
        let how = OpenHow::new()
            .flags(OFlag::O_RDONLY | OFlag::O_CLOEXEC | OFlag::O_NONBLOCK)
            .resolve(ResolveFlag::RESOLVE_BENEATH | ResolveFlag::RESOLVE_NO_MAGICLINKS);
        let file = openat2(&*self.root, path, how).map(File::from).map_err(|error| match error {
            Errno::EACCES | Errno::EPERM | Errno::EMFILE | Errno::ENFILE | Errno::EIO => Refusal::Unreadable,
            _ => Refusal::NotFound,
        })?;
        let metadata = file.metadata().map_err(|_| Refusal::Unreadable)?;
        if !metadata.is_file() {
            return Err(Refusal::NotFound);
        }
        Ok((file, Stamp::of(&metadata)))
    }

    fn look_up(&self, path: &str) -> Result<Lookup, Refusal> {
        let (file, stamp) = self.open_file(path)?;
        let mut memory = lock(&self.memory);
        match memory.get_mut(path) {
            Some(Known::Digest(known, digest, object)) if *known == stamp => {
                if let Some(object) = object.upgrade() {
                    return Ok(Lookup::Ready(object));
                }
                let identity = Identity { size: stamp.size, digest: *digest };
                let opened = Arc::new(FileObject { file, stamp, identity });
                *object = Arc::downgrade(&opened);
                return Ok(Lookup::Ready(opened));
            }
            Some(Known::Pending(known)) if *known == stamp => return Ok(Lookup::Preparing),
            Some(Known::Unreadable(known)) if *known == stamp => return Err(Refusal::Unreadable),
            _ => {}
        }
        if memory.len() >= MOST_REMEMBERED {
            memory
                .retain(|_, known| matches!(known, Known::Digest(_, _, object) if object.strong_count() > 0));
        }
        memory.insert(path.to_string(), Known::Pending(stamp));
        drop(memory);
        self.work.send((path.to_string(), file, stamp)).map_err(|_| Refusal::Unreadable)?;
        Ok(Lookup::Preparing)
    }
}

impl Objects for Directory {
    fn find(&mut self, path: &str) -> Lookup {
        self.look_up(path).unwrap_or_else(Lookup::Refused)
    }
}

/// Computes digests until nobody can ask for one any more.
fn compute(orders: &Receiver<(String, File, Stamp)>, memory: &Memory) {
    while let Ok((path, file, stamp)) = orders.recv() {
        let digest = Digest::of(&file);
        let unchanged = file.metadata().is_ok_and(|metadata| Stamp::of(&metadata) == stamp);
        let mut memory = lock(memory);
        match digest {
            Ok(digest) if unchanged => {
                memory.insert(path, Known::Digest(stamp, digest, Weak::new()));
            }
            // It changed meanwhile: whoever asks again asks for what it is then.
            Ok(_) => {
                memory.remove(&path);
            }
            Err(_) => {
                memory.insert(path, Known::Unreadable(stamp));
            }
        }
    }
}

fn lock(memory: &Memory) -> MutexGuard<'_, HashMap<String, Known>> {
    // No one panics while holding it, and what it holds is whole between any two statements.
    memory.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One open file.
struct FileObject {
    file: File,
    stamp: Stamp,
    identity: Identity,
}

impl Object for FileObject {
    fn identity(&self) -> Identity {
        self.identity
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), Unreadable> {
        self.file.read_exact_at(buffer, offset).map_err(|_| Unreadable)
    }

    fn is_unchanged(&self) -> bool {
        self.file.metadata().is_ok_and(|metadata| Stamp::of(&metadata) == self.stamp)
    }
}

#[cfg(test)]
mod tests;
