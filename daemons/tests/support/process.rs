//! A daemon in a process of its own, and what the tests of daemons ask of a host.
use prismux_daemons::status;
use prismux_linux::namespace::Namespace;
use prismux_linux::netconf;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// Nothing in these tests takes longer, unless it is broken.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A daemon process; killed when dropped.
pub struct Daemon {
    pub child: Child,
    /// Its status socket.
    pub socket: PathBuf,
}

impl Daemon {
    /// Starts a daemon that has its status socket there, and waits until it answers.
    pub fn begin(command: &mut Command, socket: PathBuf) -> Self {
        let daemon = Self { child: command.spawn().unwrap(), socket };
        wait_for("the daemon answers", || daemon.status().is_some());
        daemon
    }

    pub fn status(&self) -> Option<serde_json::Value> {
        status::query(&self.socket).ok()
    }

    /// A number from the status page, such as `/drops/no_link`.
    pub fn number(&self, pointer: &str) -> u64 {
        let status = self.status().expect("the daemon answers");
        let number = status.pointer(pointer).and_then(serde_json::Value::as_u64);
        number.unwrap_or_else(|| panic!("{pointer} in {status}"))
    }

    /// Asks it to end, and waits.
    pub fn stop(mut self) {
        let id = nix::unistd::Pid::from_raw(self.child.id().cast_signed());
        nix::sys::signal::kill(id, nix::sys::signal::Signal::SIGTERM).unwrap();
        let mut ended = None;
        wait_for("the daemon ends", || {
            ended = self.child.try_wait().unwrap();
            ended.is_some()
        });
        assert!(ended.unwrap().success());
    }

    /// `kill -9`.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if let Some(status) = self.status().filter(|_| std::thread::panicking()) {
            eprintln!("{}: {status}", self.socket.display());
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs `ip` in a namespace and returns what it prints.
pub fn ip(space: &Namespace, arguments: &str) -> String {
    space.enter(|| netconf::ip(arguments)).unwrap().unwrap_or_else(|error| panic!("{error}"))
}

/// Writes a setting below `/proc/sys/net`, given as `file=value`.
pub fn set(setting: &str) {
    let (file, value) = setting.split_once('=').unwrap();
    std::fs::write(format!("/proc/sys/net/{file}"), value)
        .unwrap_or_else(|error| panic!("{setting}: {error}"));
}

/// Asks until the answer is yes; panics after [`PATIENCE`].
pub fn wait_for(what: &str, mut answer: impl FnMut() -> bool) {
    let start = Instant::now();
    while !answer() {
        assert!(start.elapsed() < PATIENCE, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
