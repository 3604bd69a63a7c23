//! What an operator asks of a running daemon: one JSON object in a datagram to a Unix socket, and one in answer.
//!
//! `{"command": "revoke", "name": "house"}` is answered by `{"done": "..."}` or `{"refused": "..."}`, in words. The
//! socket lies beside the status socket, with `.control` for its ending: who may look need not be who may change.
use prismux_linux::interrupted::uninterrupted;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::{DirBuilder, Permissions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Commands that are carried out before packets get their turn.
const BATCH_COMMANDS: usize = 8;
/// Bytes of the longest command, and more than any answer has.
const MAX_BYTES: usize = 16 << 10;
/// Whoever has asked waits no longer than this.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a daemon can be asked to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum Command {
    /// Take the rights of a home or a member away: its sessions end, and it cannot come back.
    Revoke {
        /// Its name.
        name: String,
    },
    /// Give its rights back.
    Restore {
        /// Its name.
        name: String,
    },
}

/// What a daemon says to a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    /// What it has done.
    Done(String),
    /// Why it has not, or not wholly.
    Refused(String),
}

/// Where the daemon with this status socket takes commands.
pub fn socket_beside(status_socket: &Path) -> PathBuf {
    status_socket.with_extension("control")
}

/// The daemon's side. The socket is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct CommandServer {
    socket: UnixDatagram,
    path: PathBuf,
}

impl CommandServer {
    /// Listens where only the owner may write. The status socket shows that no other daemon does.
    ///
    /// # Errors
    /// Its folder may not be written.
    pub fn bind(status_socket: &Path) -> io::Result<Self> {
        let path = socket_beside(status_socket);
        let socket = bind_for_owner(&path)?;
        socket.set_nonblocking(true)?;
        Ok(Self { socket, path })
    }

    /// Has `carry_out` do what has been asked for, and says what came of it. Nobody waits for a reader that has gone.
    pub fn answer<C: DeserializeOwned>(&self, mut carry_out: impl FnMut(&C) -> Result<String, String>) {
        let mut buffer = [0; MAX_BYTES];
        for _ in 0..BATCH_COMMANDS {
            let Ok((length, asker)) = self.socket.recv_from(&mut buffer) else { return };
            let asked = serde_json::from_slice(buffer.get(..length).unwrap_or_default());
            let done =
                asked.map_err(|error| format!("no command: {error}")).and_then(|asked| carry_out(&asked));
            let answer = done.map_or_else(Answer::Refused, Answer::Done);
            if let Ok(text) = serde_json::to_vec(&answer) {
                let _ = self.socket.send_to_addr(&text, &asker);
            }
        }
    }
}

impl AsFd for CommandServer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for CommandServer {
    fn drop(&mut self) {
        remove_left(&self.path);
    }
}

/// A socket at `path` to which nobody but its owner could write at any time: it gets its permissions in a folder of
/// its own, and then its place.
fn bind_for_owner(path: &Path) -> io::Result<UnixDatagram> {
    let folder = path.with_extension("new");
    let inside = folder.join("s");
    remove_left(&inside);
    let _ = std::fs::remove_dir(&folder);
    DirBuilder::new().mode(0o700).create(&folder)?;
    let bound = UnixDatagram::bind(&inside).and_then(|socket| {
        std::fs::set_permissions(&inside, Permissions::from_mode(0o600))?;
        remove_left(path);
        std::fs::rename(&inside, path)?;
        Ok(socket)
    });
    remove_left(&inside);
    let _ = std::fs::remove_dir(&folder);
    bound
}

/// Removes a socket that somebody has left.
fn remove_left(path: &Path) {
    let found = std::fs::symlink_metadata(path);
    if found.is_ok_and(|left| std::os::unix::fs::FileTypeExt::is_socket(&left.file_type())) {
        let _ = std::fs::remove_file(path);
    }
}

/// Asks the daemon with this status socket for one of its commands, and returns what it has done.
///
/// # Errors
/// Why it has not, or that nobody answers.
pub fn send(status_socket: &Path, command: &impl Serialize) -> Result<String, String> {
    let to = socket_beside(status_socket);
    let ask = || {
        // The answer goes to the place where this socket was bound.
        let own = to.with_extension(format!("{}.answer", std::process::id()));
        remove_left(&own);
        let own = CommandServer { socket: UnixDatagram::bind(&own)?, path: own };
        own.socket.set_read_timeout(Some(PATIENCE))?;
        own.socket.send_to(&serde_json::to_vec(command)?, &to)?;
        let mut buffer = [0; MAX_BYTES];
        let length = uninterrupted(|| own.socket.recv(&mut buffer))?;
        Ok(serde_json::from_slice(buffer.get(..length).unwrap_or_default())?)
    };
    match ask() {
        Ok(Answer::Done(what)) => Ok(what),
        Ok(Answer::Refused(why)) => Err(why),
        Err(error) => Err(no_answer(&to, &error)),
    }
}

fn no_answer(to: &Path, error: &io::Error) -> String {
    let to = to.display();
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
            format!("no daemon takes commands at {to}. Start it, or name its status socket with --socket")
        }
        io::ErrorKind::PermissionDenied => {
            format!("not permitted to use {to}. Run as the daemon's user (root)")
        }
        io::ErrorKind::WouldBlock => format!("the daemon at {to} does not answer"),
        _ => format!("{to}: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Command, CommandServer, PATIENCE, send, socket_beside};
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::UnixDatagram;
    use std::path::Path;
    use std::time::Instant;

    fn serve(server: &CommandServer, count: usize) {
        let (mut answered, end) = (0, Instant::now() + PATIENCE * 2);
        while answered < count && Instant::now() < end {
            server.answer(|command: &Command| {
                answered += 1;
                match command {
                    Command::Revoke { name } if name == "house" => Ok(format!("{name} is out")),
                    _ => Err("no".to_owned()),
                }
            });
        }
    }

    #[test]
    fn commands_are_carried_out_and_what_is_none_is_told_so() {
        let folder = std::env::temp_dir().join(format!("prismux-commands-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let status = folder.join("gateway.sock");
        let refused = send(&status, &Command::Revoke { name: "house".to_owned() }).unwrap_err();
        assert!(refused.contains("no daemon takes commands"), "{refused}");
        // One that a killed daemon has left.
        drop(UnixDatagram::bind(socket_beside(&status)).unwrap());
        let server = CommandServer::bind(&status).unwrap();
        let mode = std::fs::metadata(socket_beside(&status)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let asker = UnixDatagram::bind(folder.join("asker")).unwrap();
        for nonsense in ["", "{\"command\": \"format\"}", "{\"command\": \"revoke\", \"name\": 1}"] {
            asker.send_to(nonsense.as_bytes(), socket_beside(&status)).unwrap();
        }
        server.answer(|command: &Command| panic!("{command:?} is none"));
        let mut buffer = [0; 200];
        let length = asker.recv(&mut buffer).unwrap();
        assert!(buffer[..length].starts_with(b"{\"refused\":\"no command"));
        std::thread::scope(|scope| {
            scope.spawn(|| serve(&server, 2));
            let of = |name: &str| send(&status, &Command::Revoke { name: name.to_owned() });
            assert_eq!(of("house"), Ok("house is out".to_owned()));
            assert_eq!(of("flat"), Err("no".to_owned()));
        });
        drop(server);
        let left = |path: &Path| std::fs::read_dir(path).unwrap().count();
        assert_eq!(left(&folder), 1, "the asker's alone");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
