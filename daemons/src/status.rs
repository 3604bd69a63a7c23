//! The status page: one JSON object for each connection to a Unix socket.
use nix::sys::signal::{self, Signal};
use nix::sys::socket::{getsockopt, sockopt};
use nix::unistd::Pid;
use serde::Serialize;
use std::fmt;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Nobody needs longer than this to read, or to be answered.
const PATIENCE: Duration = Duration::from_secs(2);
/// Connections that are dealt with before packets get their turn.
const BATCH_READERS: usize = 8;
/// Readers that are written to at once; whoever comes while there are so many is turned away.
const MAX_READERS: usize = 16;

/// Why there is no status page.
#[derive(Debug)]
pub struct StatusError {
    socket: PathBuf,
    source: io::Error,
}

impl fmt::Display for StatusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let socket = self.socket.display();
        match self.source.kind() {
            io::ErrorKind::AddrInUse => {
                write!(
                    f,
                    "a daemon is already running with the status socket {socket}. Stop it or set another status_socket"
                )
            }
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
                write!(f, "no daemon answers at {socket}. Start it, or name its status_socket")
            }
            io::ErrorKind::PermissionDenied => {
                write!(
                    f,
                    "not permitted to use {socket}. Run as the daemon's user (root), or set another status_socket"
                )
            }
            _ => write!(f, "status socket {socket}: {}", self.source),
        }
    }
}

impl std::error::Error for StatusError {}

/// The daemon's side. The socket is removed when this is dropped.
#[derive(Debug)]
pub struct StatusServer {
    listener: UnixListener,
    socket: PathBuf,
    /// Shared with each thread that writes.
    writers: Arc<()>,
}

impl StatusServer {
    /// Listens at `socket`, which only the owner may use; its directory is made if need be. A socket left by a daemon
    /// that was killed is replaced, that of a living one is not.
    ///
    /// # Errors
    /// [`StatusError`]: a living daemon has the socket, or its directory may not be written.
    pub fn bind(socket: &Path) -> Result<Self, StatusError> {
        Self::try_bind(socket).map_err(|source| StatusError { socket: socket.to_owned(), source })
    }

    fn try_bind(socket: &Path) -> io::Result<Self> {
        if let Some(directory) = socket.parent() {
            std::fs::create_dir_all(directory)?;
        }
        if UnixStream::connect(socket).is_ok() {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        match std::fs::symlink_metadata(socket) {
            Ok(left) if std::os::unix::fs::FileTypeExt::is_socket(&left.file_type()) => {
                std::fs::remove_file(socket)?
            }
            _ => {}
        }
        let listener = UnixListener::bind(socket)?;
        std::fs::set_permissions(socket, std::fs::Permissions::from_mode(0o600))?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener, socket: socket.to_owned(), writers: Arc::new(()) })
    }

    /// Answers those who have connected, as many as one turn allows. A thread does the writing, so that a slow reader
    /// cannot hold up packets.
    pub fn answer(&self, report: &impl Serialize) {
        let Ok(mut text) = serde_json::to_vec(report) else { return };
        text.push(b'\n');
        let text = Arc::new(text);
        for _ in 0..BATCH_READERS {
            let Ok((mut reader, _)) = self.listener.accept() else { return };
            if Arc::strong_count(&self.writers) > MAX_READERS {
                continue;
            }
            let (writer, text) = (Arc::clone(&self.writers), Arc::clone(&text));
            let send = move || {
                let _writer = writer;
                let _ = reader.set_nonblocking(false);
                let _ = reader.set_write_timeout(Some(PATIENCE));
                // A reader that has gone away needs no answer.
                let _ = reader.write_all(&text);
            };
            if let Err(error) = std::thread::Builder::new().name("status".to_owned()).spawn(send) {
                tracing::warn!(%error, "could not answer a status request");
            }
        }
    }
}

impl AsFd for StatusServer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}

impl Drop for StatusServer {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.socket);
    }
}

/// Asks the daemon behind `socket`.
///
/// # Errors
/// [`StatusError`]: nobody answers, or may not be asked.
pub fn query(socket: &Path) -> Result<serde_json::Value, StatusError> {
    let ask = || {
        let mut stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut text = Vec::new();
        stream.read_to_end(&mut text)?;
        Ok(serde_json::from_slice(&text)?)
    };
    ask().map_err(|source| StatusError { socket: socket.to_owned(), source })
}

/// Asks the daemon behind `socket` to end, as Ctrl-C does.
///
/// # Errors
/// [`StatusError`]: nobody answers, or may not be asked.
pub fn end(socket: &Path) -> Result<(), StatusError> {
    signal(socket, Signal::SIGTERM)
}

/// Ends the daemon behind `socket` on the spot: it undoes nothing and takes leave of nobody, so that another one can go
/// on in its place.
///
/// # Errors
/// [`StatusError`]: nobody answers, or it may not be ended.
pub fn kill(socket: &Path) -> Result<(), StatusError> {
    signal(socket, Signal::SIGKILL)
}

fn signal(socket: &Path, signal: Signal) -> Result<(), StatusError> {
    let send = || {
        let stream = UnixStream::connect(socket)?;
        let daemon = getsockopt(&stream, sockopt::PeerCredentials)?;
        Ok(signal::kill(Pid::from_raw(daemon.pid()), signal)?)
    };
    send().map_err(|source| StatusError { socket: socket.to_owned(), source })
}

#[cfg(test)]
mod tests;
