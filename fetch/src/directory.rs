//! The files below a folder, as objects.
//!
//! A path is resolved by the kernel with the folder as its root that nothing leads out of (`openat2`,
//! `RESOLVE_BENEATH`): neither `..` nor a symbolic link, also not one that is exchanged at the very moment. What is
//! no plain file is never opened.
//!
//! `digests`: what is known of files, computed by a thread of its own. `list`: the list of a file's pieces.
mod digests;
mod list;

use crate::handshake::{Identity, Refusal};
use crate::pieces::listed_file;
use crate::server::{Lookup, Object, Objects, Unreadable};
use digests::{Digests, Known, Stamp, Wanted};
use nix::errno::Errno;
use nix::fcntl::{OFlag, OpenHow, ResolveFlag, openat2};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::{Arc, Weak};

/// A folder whose files are served. Clones share what is known of the files.
#[derive(Clone)]
pub struct Directory {
    root: Arc<File>,
    digests: Arc<Digests>,
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
        let root = Arc::new(folder);
        let digests = Arc::new(Digests::start(Arc::clone(&root))?);
        Ok(Self { root, digests })
    }

    fn look_up(&self, path: &str) -> Result<Lookup, Refusal> {
        let (path, wanted) = match listed_file(path) {
            Some(path) => (path, Wanted::Pieces),
            None => (path, Wanted::Digest),
        };
        let (file, stamp) = open_file(&self.root, path)?;
        self.digests.with(|digests| {
            let Some(known) = digests.known_mut(&stamp, wanted) else {
                return digests.order(path, stamp, wanted).map(|()| Lookup::Preparing);
            };
            match known {
                Known::Pieces(list) => Ok(Lookup::Ready(Arc::clone(list) as Arc<dyn Object>)),
                Known::Pending => Ok(Lookup::Preparing),
                Known::Unreadable => Err(Refusal::Unreadable),
                Known::Digest(digest, object) => {
                    if let Some(object) = object.upgrade() {
                        return Ok(Lookup::Ready(object));
                    }
                    let identity = Identity { size: stamp.size, digest: *digest };
                    let opened = Arc::new(FileObject { file, stamp, identity });
                    *object = Arc::downgrade(&opened);
                    Ok(Lookup::Ready(opened))
                }
            }
        })
    }
}

impl Objects for Directory {
    fn find(&mut self, path: &str) -> Lookup {
        self.look_up(path).unwrap_or_else(Lookup::Refused)
    }
}

/// Opens the file at `path`, which must lie below `root` and be a plain file. It is looked at before it is opened:
/// opening a device or a named pipe does something.
///
/// # Errors
/// With what is said to the client.
fn open_file(root: &File, path: &str) -> Result<(File, Stamp), Refusal> {
    let how = OpenHow::new()
        .flags(OFlag::O_PATH | OFlag::O_CLOEXEC)
        .resolve(ResolveFlag::RESOLVE_BENEATH | ResolveFlag::RESOLVE_NO_MAGICLINKS);
    let place = openat2(root, path, how).map(File::from).map_err(|error| match error {
        Errno::EMFILE | Errno::ENFILE => Refusal::Busy,
        Errno::EACCES | Errno::EPERM | Errno::EIO => Refusal::Unreadable,
        _ => Refusal::NotFound,
    })?;
    if !place.metadata().map_err(|_| Refusal::Unreadable)?.is_file() {
        return Err(Refusal::NotFound);
    }
    let file = OpenOptions::new()
        .read(true)
        .custom_flags((OFlag::O_CLOEXEC | OFlag::O_NONBLOCK).bits())
        .open(format!("/proc/self/fd/{}", place.as_raw_fd()))
        .map_err(|error| match error.raw_os_error().map(Errno::from_raw) {
            Some(Errno::EMFILE | Errno::ENFILE) => Refusal::Busy,
            _ => Refusal::Unreadable,
        })?;
    let metadata = file.metadata().map_err(|_| Refusal::Unreadable)?;
    Ok((file, Stamp::of(&metadata)))
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
