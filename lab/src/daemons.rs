//! The daemons of a lab: processes of the real program, one for each proxy, one for each pair of member and proxy, and
//! one for each host that routes on an air.
//!
//! A daemon gets its configuration as its standard input, or there the socket of its air, and a `/run` of its own, so
//! that neither file nor socket is ever seen by anybody else; it dies with the lab. Its log is kept for error messages.
//!
//! * [`config`]: from plan to configuration file. [`keys`]: those of sealed tunnels.
pub(super) mod config;
pub(super) mod keys;

use crate::LabError;
use crate::topology::NodeIndex;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use prismux_daemons::route::air::{MessageSocket, ToAir};
use prismux_linux::namespace::Namespace;
use prismux_linux::process::give_private_run_directory;
use serde_json::Value;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How to start the daemons, servers and clients. What they are to do is appended to the arguments: to a daemon's the
/// path of its configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DaemonCommand {
    /// The program.
    pub program: PathBuf,
    /// Arguments that make it a proxy.
    pub proxy: Vec<OsString>,
    /// Arguments that make it a member.
    pub member: Vec<OsString>,
    /// Arguments that make it a host of an ad-hoc network.
    pub route: Vec<OsString>,
    /// Arguments that make it serve files.
    pub serve: Vec<OsString>,
    /// Arguments that make it fetch one.
    pub fetch: Vec<OsString>,
}

impl Default for DaemonCommand {
    /// This program itself, as `proxy --config FILE`, `member --config FILE`, `route ...`, `serve ...` and `fetch ...`.
    fn default() -> Self {
        let daemon = |role: &str| vec![role.into(), "--config".into()];
        Self {
            program: "/proc/self/exe".into(),
            proxy: daemon("proxy"),
            member: daemon("member"),
            route: vec!["route".into()],
            serve: vec!["serve".into()],
            fetch: vec!["fetch".into()],
        }
    }
}

/// How long the daemons of a lab may take to find each other.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// Where a daemon of the lab puts its status socket; inside its own `/run`.
pub(super) const STATUS_SOCKET: &str = "/run/prismux.sock";

/// Where it keeps its accounts: there too, and not among those of this host.
pub(super) const ACCOUNTS_FILE: &str = "/run/prismux.accounts";

/// Which daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DaemonRole {
    Proxy,
    /// A member, serving this proxy.
    Member {
        proxy: NodeIndex,
    },
    /// A host of an ad-hoc network.
    Router,
}

/// What a daemon is told.
pub(super) enum DaemonOrders {
    /// Its configuration file.
    Config(String),
    /// The arguments of a host of an ad-hoc network, and its end of the socket to the air.
    Route(Vec<String>, MessageSocket),
}

/// A daemon of the lab: its orders, and its process while there is one.
pub(super) struct Daemon {
    pub node: NodeIndex,
    pub name: String,
    pub role: DaemonRole,
    namespace: Namespace,
    orders: DaemonOrders,
    process: Option<Process>,
    /// A process that was asked to end and may not have done so yet.
    ending: Option<Process>,
}

struct Process {
    child: Child,
    log: File,
}

impl Daemon {
    /// A daemon that has not been started.
    pub fn new(
        node: NodeIndex,
        name: &str,
        role: DaemonRole,
        namespace: &Namespace,
        orders: DaemonOrders,
    ) -> Self {
        Self {
            node,
            name: name.to_owned(),
            role,
            namespace: namespace.clone(),
            orders,
            process: None,
            ending: None,
        }
    }

    /// True while it should be running.
    pub fn is_started(&self) -> bool {
        self.process.is_some()
    }

    /// True for the daemon of a host that routes.
    pub fn is_router(&self) -> bool {
        self.role == DaemonRole::Router
    }

    /// True for a proxy's daemon.
    pub fn is_proxy(&self) -> bool {
        self.role == DaemonRole::Proxy
    }

    /// Starts the process, unless there is one. It ends with the thread that calls this.
    ///
    /// # Errors
    /// When the process cannot be started.
    pub fn start(&mut self, how: &DaemonCommand) -> Result<(), LabError> {
        if self.process.is_none() {
            end_now(self.ending.take());
            let process = self.spawn(how);
            self.process =
                Some(process.map_err(LabError::setup(format!("start the daemon on \"{}\"", self.name)))?);
        }
        Ok(())
    }

    fn spawn(&self, how: &DaemonCommand) -> io::Result<Process> {
        let log = memory_file("log")?;
        let mut command = Command::new(&how.program);
        command.args(match self.role {
            DaemonRole::Proxy => &how.proxy,
            DaemonRole::Member { .. } => &how.member,
            DaemonRole::Router => &how.route,
        });
        match &self.orders {
            DaemonOrders::Config(text) => {
                let mut config = memory_file("config")?;
                config.write_all(text.as_bytes())?;
                config.rewind()?;
                command.arg("/proc/self/fd/0").stdin(config);
            }
            DaemonOrders::Route(arguments, socket) => {
                command.args(arguments).stdin(socket.as_fd().try_clone_to_owned()?);
            }
        }
        command.stdout(Stdio::null()).stderr(log.try_clone()?);
        self.namespace.host(&mut command);
        give_private_run_directory(&mut command, None);
        Ok(Process { child: command.spawn()?, log })
    }

    /// Asks the process to end in good order.
    pub fn stop(&mut self) {
        if let Some(process) = &self.process {
            signal(&process.child, Signal::SIGTERM);
            self.ending = self.process.take();
        }
    }

    /// Ends the process by SIGKILL. The radio of a host that routes goes with it.
    pub fn kill(&mut self) {
        end_now(self.process.take());
        if let DaemonOrders::Route(_, socket) = &self.orders {
            let mut bye = Vec::new();
            ToAir::Bye.emit(&mut bye);
            socket.write(&bye);
        }
    }

    /// Fails if the process has ended by itself.
    ///
    /// # Errors
    /// [`LabError::Daemon`], with how it ended and what it said last.
    pub fn check(&mut self) -> Result<(), LabError> {
        let Some(process) = &mut self.process else { return Ok(()) };
        match process.child.try_wait() {
            Ok(None) => Ok(()),
            Ok(Some(status)) => {
                let ended = format!("ended ({status}). Its last words: {}", last_words(&mut process.log));
                Err(LabError::Daemon { node: self.name.clone(), ended })
            }
            Err(error) => Err(LabError::setup(format!("watch the daemon on \"{}\"", self.name))(error)),
        }
    }

    /// The status page, if the daemon answers.
    pub fn status(&self) -> Option<Value> {
        let process = self.process.as_ref()?;
        let socket = format!("/proc/{}/root{STATUS_SOCKET}", process.child.id());
        prismux_daemons::status::query(socket.as_ref()).ok()
    }

    /// The whole log so far.
    pub fn log(&self) -> Option<String> {
        let mut log = self.process.as_ref()?.log.try_clone().ok()?;
        read_from_start(&mut log).ok()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        end_now(self.process.take());
        end_now(self.ending.take());
    }
}

/// SIGKILL, and the wait that leaves no zombie.
fn end_now(process: Option<Process>) {
    if let Some(mut process) = process {
        signal(&process.child, Signal::SIGKILL);
        let _ = process.child.wait();
    }
}

/// Waits until a process that was asked to end has done so, kills it when it takes too long, and leaves no zombie.
pub(super) fn end_within(child: &mut Child, patience: Duration) -> io::Result<ExitStatus> {
    let begin = Instant::now();
    while begin.elapsed() < patience {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    if child.try_wait()?.is_none() {
        signal(child, Signal::SIGKILL);
    }
    child.wait()
}

/// Waits until every started proxy sees its started members.
pub(super) fn wait_until_joined(daemons: &mut [Daemon]) -> Result<(), LabError> {
    let begin = Instant::now();
    loop {
        for daemon in daemons.iter_mut() {
            daemon.check()?;
        }
        let missing = daemons.iter().find(|daemon| daemon.is_started() && !is_ready(daemon, daemons));
        let Some(missing) = missing else { return Ok(()) };
        if begin.elapsed() > PATIENCE {
            let log = missing.log().unwrap_or_default();
            let ended = format!("is not ready after {} s. Its log: {log}", PATIENCE.as_secs());
            return Err(LabError::Daemon { node: missing.name.clone(), ended });
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// True once a member is registered, or a proxy sees all members that were started for it.
fn is_ready(daemon: &Daemon, all: &[Daemon]) -> bool {
    let Some(status) = daemon.status() else { return false };
    match daemon.role {
        DaemonRole::Member { .. } => status["state"] == "registered",
        // It waits for the air, which begins with the run.
        DaemonRole::Router => true,
        DaemonRole::Proxy => {
            let serves = |other: &&Daemon| other.role == DaemonRole::Member { proxy: daemon.node };
            let expected = all.iter().filter(serves).filter(|member| member.is_started()).count();
            let links = status["links"].as_array().map_or(&[][..], Vec::as_slice);
            links.iter().filter(|link| link["up"] == true).count() >= expected
        }
    }
}

/// A file without a name.
pub(super) fn memory_file(name: &str) -> io::Result<File> {
    Ok(memfd_create(name, MFdFlags::MFD_CLOEXEC)?.into())
}

pub(super) fn signal(child: &Child, signal: Signal) {
    // The child has not been waited for, so that its number is still its own.
    let _ = kill(Pid::from_raw(child.id().cast_signed()), signal);
}

/// The last lines of a log.
pub(super) fn last_words(log: &mut File) -> String {
    let text = read_from_start(log).unwrap_or_default();
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(5)..].join(" / ")
}

fn read_from_start(log: &mut File) -> io::Result<String> {
    // The process writes through the same open file, so its position must stay where it is.
    let mut bytes = vec![0; usize::try_from(log.metadata()?.len()).unwrap_or(0)];
    let read = std::os::unix::fs::FileExt::read_at(log, &mut bytes, 0)?;
    bytes.truncate(read);
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
