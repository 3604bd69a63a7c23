//! The servers of a lab: processes of `prismux serve`, each with one object in a `/run` of its own.
use crate::LabError;
use crate::daemons::{DaemonCommand, PATIENCE, end_within, last_words, memory_file, signal};
use crate::traffic::content::{Content, hex};
use nix::sys::signal::Signal;
use prismux_endpoint::random::Seed;
use prismux_linux::namespace::Namespace;
use prismux_linux::process::give_private_run_directory;
use prismux_trace::results::Named;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::net::SocketAddrV4;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};

/// Size of the pieces in which an object is written.
const PIECE_BYTES: usize = 1 << 20;
/// What is served, in a server's own `/run`.
const OBJECT: &str = "/run/served/object";
/// How long a server may take to say goodbye.
const FAREWELL: std::time::Duration = std::time::Duration::from_secs(3);

/// The bytes that a server serves.
#[derive(Debug, Clone, Copy)]
pub(super) struct Object<'a> {
    pub seed: Seed,
    /// The flow whose content it is.
    pub flow: &'a str,
    pub bytes: u64,
}

/// A server that listens. It ends with the thread that started it.
pub(super) struct Server {
    /// The node it runs on.
    pub node: String,
    /// Where its object is found.
    pub url: String,
    /// SHA-256 (hex) of the object.
    pub sha256: String,
    child: Child,
    log: File,
    /// What it prints.
    lines: Receiver<String>,
}

impl Server {
    /// Starts a server at `listen` on `node` and waits until it can be reached.
    ///
    /// # Errors
    /// When its object cannot be written, or the process cannot be started or does not answer in time.
    pub fn start(
        how: &DaemonCommand,
        namespace: &Namespace,
        node: &str,
        listen: SocketAddrV4,
        object: Object<'_>,
    ) -> Result<Self, LabError> {
        let doing = || LabError::setup(format!("start the server on \"{node}\""));
        let log = memory_file("log").map_err(doing())?;
        let mut child = spawn(how, namespace, listen, &log).map_err(doing())?;
        let lines = lines_of(&mut child).map_err(doing())?;
        let (url, sha256, node) = (String::new(), String::new(), node.to_owned());
        // From here on whatever fails ends the process.
        let mut server = Self { node, url, sha256, child, log, lines };
        let path = format!("/proc/{}/root{OBJECT}", server.child.id());
        server.sha256 = write_object(&path, object)
            .map_err(LabError::setup(format!("write the object on \"{}\"", server.node)))?;
        let announced = server.lines.recv_timeout(PATIENCE).unwrap_or_default();
        let announced: Value = serde_json::from_str(&announced).unwrap_or_default();
        match announced["urls"][0].as_str() {
            Some(url) => server.url = format!("{url}object"),
            None => return Err(server.failed("did not begin to serve")),
        }
        Ok(server)
    }

    /// Fails if the process has ended by itself.
    ///
    /// # Errors
    /// [`LabError::Daemon`], with how it ended and what it said last.
    pub fn check(&mut self) -> Result<(), LabError> {
        match self.child.try_wait() {
            Ok(None) => Ok(()),
            Ok(Some(status)) => Err(self.failed(&format!("ended ({status})"))),
            Err(error) => Err(LabError::setup(format!("watch the server on \"{}\"", self.node))(error)),
        }
    }

    fn failed(&mut self, how: &str) -> LabError {
        let ended = format!("{how}. Its last words: {}", last_words(&mut self.log));
        LabError::Daemon { node: self.node.clone(), ended }
    }

    /// Ends it in good order and answers what it counted.
    pub fn finish(self) -> Named<u64> {
        signal(&self.child, Signal::SIGTERM);
        let mut last = Value::Null;
        while let Ok(line) = self.lines.recv_timeout(FAREWELL) {
            last = serde_json::from_str(&line).unwrap_or_default();
        }
        let mut counters = Named::default();
        count(&last, &mut counters);
        counters
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // One that has ended has been waited for, and is not signalled.
        let _ = end_within(&mut self.child, std::time::Duration::ZERO);
    }
}

/// The whole numbers of `value`, those in tables too.
fn count(value: &Value, counters: &mut Named<u64>) {
    for (name, value) in value.as_object().into_iter().flatten() {
        match value.as_u64() {
            Some(number) => drop(counters.insert(name.clone(), number)),
            None => count(value, counters),
        }
    }
}

fn spawn(how: &DaemonCommand, namespace: &Namespace, listen: SocketAddrV4, log: &File) -> io::Result<Child> {
    let mut command = Command::new(&how.program);
    command.args(&how.serve).arg("/run/served").arg("--listen").arg(listen.to_string());
    command.args(["--key", "/run/server.key", "--json", "--report", "3600 s"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log.try_clone()?);
    namespace.host(&mut command);
    give_private_run_directory(&mut command, Some(c"/run/served"));
    command.spawn()
}

/// The lines that a process prints, read by a thread that ends with it.
pub(super) fn lines_of(child: &mut Child) -> io::Result<Receiver<String>> {
    let output = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let (sender, lines) = mpsc::channel();
    std::thread::Builder::new().name("output".to_owned()).spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    })?;
    Ok(lines)
}

/// Writes the object and answers its digest.
fn write_object(path: &str, object: Object<'_>) -> io::Result<String> {
    let mut file = File::create(path)?;
    let mut content = Content::new(object.seed, object.flow);
    let (mut digest, mut piece) = (Sha256::new(), vec![0; PIECE_BYTES]);
    let mut left = object.bytes;
    while left > 0 {
        let part = &mut piece[..PIECE_BYTES.min(usize::try_from(left).unwrap_or(usize::MAX))];
        content.fill(part);
        digest.update(&*part);
        file.write_all(part)?;
        left -= part.len() as u64;
    }
    Ok(hex(&digest.finalize()))
}
