//! What others on a daemon's host may do to the sockets by which it is asked and commanded.
use crate::network::{Network, SENDER};
use crate::process::{Daemon, PATIENCE, wait_for};
use crate::transfer::{Direction, Transfer};
use prismux_daemons::commands::{self, Command as Order};
use prismux_daemons::status;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A user who owns nothing.
const NOBODY: u32 = 65_534;

/// What cannot be a command, whole or in part.
const NONSENSE: [&[u8]; 6] = [
    b"",
    b"{",
    b"{\"command\": \"revoke\", \"name\":",
    b"{\"command\": \"format\"}",
    b"\xff\xfe\x00\x00",
    b"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
];

fn sockets(network: &Network) -> [PathBuf; 2] {
    let status = network.socket("proxy");
    [commands::socket_beside(&status), status]
}

/// Another user of the host can open neither socket, though nothing hides them; the owner can.
pub fn other_users() {
    let network = Network::new("other-users");
    let proxy = network.start_proxy();
    let folder = network.directory.clone();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    for socket in sockets(&network) {
        let mode = std::fs::metadata(&socket).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", socket.display());
    }
    // A copy that anybody may run.
    let program = folder.join("asker");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let ask = |user: Option<u32>| {
        let mut command = Command::new(&program);
        command.arg("ask").arg(&folder);
        if let Some(user) = user {
            command.uid(user).gid(user);
        }
        // Other tests' children hold the copy open for writing until they have become something else.
        let start = Instant::now();
        loop {
            match command.status() {
                Err(busy) if busy.kind() == ErrorKind::ExecutableFileBusy && start.elapsed() < PATIENCE => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                answer => return answer,
            }
        }
    };
    assert!(ask(None).unwrap().success(), "the owner gets through");
    match ask(Some(NOBODY)) {
        Ok(status) => {
            assert_eq!(status.code(), Some(i32::from(REFUSED)), "both sockets are closed to others")
        }
        // In a user namespace with one user there is nobody to become.
        Err(error) => assert_eq!(error.raw_os_error(), Some(libc::EINVAL), "{error}"),
    }
    assert_eq!(proxy.number("/drops/malformed_control"), 0);
    proxy.stop();
}

/// The exit code of somebody to whom both sockets are closed.
const REFUSED: u8 = 3;

/// This process asks and commands the proxy whose sockets lie in `folder`, as whoever it runs.
pub fn ask_as_another(folder: &Path) -> ExitCode {
    let status = folder.join("proxy.sock");
    let asked = UnixStream::connect(&status).map(drop);
    let commanded = UnixDatagram::unbound()
        .and_then(|socket| socket.send_to(NONSENSE[1], commands::socket_beside(&status)).map(drop));
    let is_refused = |result: std::io::Result<()>| {
        result.is_err_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied)
    };
    match [asked, commanded].map(is_refused) {
        [false, false] => ExitCode::SUCCESS,
        [true, true] => ExitCode::from(REFUSED),
        _ => ExitCode::FAILURE,
    }
}

/// Readers that come without end and read nothing, half commands and nonsense: a download goes on meanwhile, and the
/// daemon obeys afterwards.
pub fn floods() {
    let network = Network::new("floods");
    let proxy = network.start_proxy();
    let _member = network.start_member(1, "udp");
    wait_for("the member joins", || proxy.links_up() == ["m1"]);
    let [control, status] = sockets(&network);
    let (is_over, floods) = (AtomicBool::new(false), AtomicU64::new(0));
    let flood = |attack: &(dyn Fn(usize) + Sync)| {
        for number in 0.. {
            if is_over.load(Ordering::Relaxed) {
                return;
            }
            attack(number);
            floods.fetch_add(1, Ordering::Relaxed);
        }
    };
    let connect = |_| {
        let _ = UnixStream::connect(&status).and_then(|mut stream| stream.write_all(b"GET / HTTP/1.1"));
    };
    let command = |number: usize| {
        let socket = UnixDatagram::unbound().unwrap();
        socket.set_nonblocking(true).unwrap();
        let _ = socket.send_to(NONSENSE[number % NONSENSE.len()], &control);
    };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| flood(&connect));
            scope.spawn(|| flood(&command));
        }
        let bytes = 3_000_000;
        Transfer::start(&network, SENDER, Direction::Download, bytes, None).finish(bytes);
        is_over.store(true, Ordering::Relaxed);
    });
    assert!(floods.load(Ordering::Relaxed) > 1000, "a flood indeed");
    wait_for("it answers", || status::query(&status).is_ok());
    let order = Order::Revoke { name: "flat 7".to_owned() };
    let refused = commands::send(&status, &order).unwrap_err();
    assert!(refused.contains("flat 7"), "{refused}");
    Daemon::stop(proxy);
}
