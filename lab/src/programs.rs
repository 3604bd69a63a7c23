//! Programs of the user's own, as processes in the namespaces of their nodes.
//!
//! A program is the first of a process group. When it ends, or the run does, the whole group is ended, so that what it
//! has started does not outlive it; when the lab is killed, the program itself dies with it.
use crate::traffic::{Schedule, WAIT};
use nix::errno::Errno;
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;
use prismux_linux::namespace::Namespace;
use prismux_trace::results::ProgramResult;
use prismux_units::Instant;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time;

/// How long a program may take to end when asked to.
const FAREWELL: time::Duration = time::Duration::from_secs(2);
/// As much of the end of its output is kept.
const KEPT_OUTPUT_BYTES: usize = 1 << 20;

/// A program that has not been started yet.
pub(super) struct OwnProgram {
    pub name: String,
    pub namespace: Namespace,
    /// The program and its arguments, addresses filled in.
    pub command: Vec<String>,
    pub schedule: Schedule,
}

impl OwnProgram {
    /// Runs the program to its end, or to the end of its time.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn run(&self) -> io::Result<ProgramResult> {
        if !self.schedule.wait_until(self.schedule.start) {
            return Ok(ProgramResult::default());
        }
        let mut process = Process(self.spawn()?);
        let started = self.schedule.now();
        let output = process.0.stdout.take().map(Output::of);
        let errors = process.0.stderr.take().map(Output::of);
        while !process.has_ended()? && !self.schedule.is_over() {
            std::thread::sleep(WAIT);
        }
        let exit_status = process.finish()?;
        let seconds = |at: Instant| (at - Instant::ZERO).as_secs_f64();
        Ok(ProgramResult {
            exit_status,
            started_s: seconds(started),
            ended_s: seconds(self.schedule.now()),
            output: output.transpose()?.map_or_else(String::new, Output::finish),
            errors: errors.transpose()?.map_or_else(String::new, Output::finish),
        })
    }

    fn spawn(&self) -> io::Result<Child> {
        let [program, arguments @ ..] = &self.command[..] else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let mut command = Command::new(program);
        command.args(arguments).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        self.namespace.host(&mut command);
        command.spawn()
    }
}

/// The first process of a group, which has not been waited for: its number, and the group's, stay its own.
struct Process(Child);

impl Process {
    fn pid(&self) -> Pid {
        Pid::from_raw(self.0.id().cast_signed())
    }

    /// Whether the first process has ended; it stays to be waited for.
    fn has_ended(&self) -> io::Result<bool> {
        let look = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        match waitid(Id::Pid(self.pid()), look) {
            Ok(WaitStatus::StillAlive) | Err(Errno::EINTR) => Ok(false),
            Ok(_) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    /// Asks the group to end, and ends it if it does not. Answers the first process's status.
    fn finish(&mut self) -> io::Result<Option<i32>> {
        // A group without a process in it is none of the caller's business.
        let tell = |signal| {
            let _ = killpg(self.pid(), signal);
        };
        tell(Signal::SIGTERM);
        let since = time::Instant::now();
        while !self.has_ended()? && since.elapsed() < FAREWELL {
            std::thread::sleep(WAIT);
        }
        tell(Signal::SIGKILL);
        Ok(self.0.wait()?.code())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.0.try_wait().is_ok_and(|status| status.is_none()) {
            let _ = killpg(self.pid(), Signal::SIGKILL);
            let _ = self.0.wait();
        }
    }
}

/// The end of what a program writes, taken by a thread of its own.
struct Output {
    kept: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Output {
    fn of(mut stream: impl Read + Send + 'static) -> io::Result<Self> {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&kept);
        let read = move || {
            let mut piece = [0; 1 << 14];
            while let Ok(count @ 1..) = stream.read(&mut piece) {
                let mut kept = shared.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend_from_slice(&piece[..count]);
                // Cut now and then, not at every piece.
                if kept.len() > 2 * KEPT_OUTPUT_BYTES {
                    let surplus = kept.len() - KEPT_OUTPUT_BYTES;
                    kept.drain(..surplus);
                }
            }
        };
        Ok(Self { kept, reader: std::thread::Builder::new().name("output".to_owned()).spawn(read)? })
    }

    /// What was written. A process that has left the group may hold the stream open: it is not waited for.
    fn finish(self) -> String {
        let since = time::Instant::now();
        while !self.reader.is_finished() && since.elapsed() < FAREWELL {
            std::thread::sleep(time::Duration::from_millis(1));
        }
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept[kept.len().saturating_sub(KEPT_OUTPUT_BYTES)..]).into_owned()
    }
}
