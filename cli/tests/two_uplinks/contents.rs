//! Three hosts on a switch, each with a slow line of its own towards a server, that want the same file:
//!
//! ```text
//!                        ┌─ emulated ─ a ─┐
//!   server 192.0.2.1 ─ core ─ emulated ─ b ─ switch 192.168.7.0/24
//!                        └─ emulated ─ c ─┘
//! ```
use crate::emulator::{Emulated, Emulator, Line};
use crate::network::{ip, program, space, wait_for, wire};
use prismux_linux::namespace::Namespace;
use prismux_linux::tun::Tun;
use serde_json::Value;
use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

const HOSTS: usize = 3;
/// 31 pieces.
const FILE_BYTES: usize = 8_000_000;
/// A line's two directions, from the server and to it.
const LINE: [Line; 2] = [Line::new(8.0, 15, 100_000), Line::new(4.0, 15, 60_000)];
/// No program of these tests runs longer.
const LIFETIME_S: &str = "120";

/// Removed at the end, with all that is in it.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A program that ends with this.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct Street {
    hosts: Vec<Namespace>,
    lines: Arc<Emulated>,
    url: String,
    folder: Folder,
    _server: Running,
    _spaces: [Namespace; 3],
    _emulator: Emulator,
}

/// How a fetch went: whether it succeeded, its JSON, and what it said meanwhile.
struct Outcome {
    succeeded: bool,
    result: Value,
    said: String,
}

impl Street {
    fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder =
            Folder(std::env::temp_dir().join(format!("prismux-contents-{}-{number}", std::process::id())));
        fs::create_dir_all(folder.0.join("served")).unwrap();
        let (core, server, switch) = (space(), space(), space());
        core.enter(|| fs::write("/proc/sys/net/ipv4/ip_forward", "1")).unwrap().unwrap();
        wire(&server, "eth0", "192.0.2.1/24", &core, "server", "192.0.2.254/24");
        ip(&server, "route add default via 192.0.2.254");
        ip(&switch, "link add br0 type bridge mcast_snooping 0");
        ip(&switch, "link set br0 up");
        let mut ends = Vec::new();
        let hosts: Vec<Namespace> = (0..HOSTS)
            .map(|n| {
                let host = space();
                let (near, far) = (format!("198.51.100.{}", 4 * n + 1), format!("198.51.100.{}", 4 * n + 2));
                let line = format!("line{n}");
                ends.push((device(&core, &line, &near, &far), device(&host, "up0", &far, &near)));
                ip(&host, "route add default dev up0");
                let port = format!("host{n}");
                wire(&host, "lan0", &format!("192.168.7.{}/24", n + 1), &switch, &port, "0.0.0.0/32");
                ip(&switch, &format!("link set {port} master br0"));
                host
            })
            .collect();
        let lines = Arc::new(Emulated::new(vec![LINE; HOSTS]));
        let emulator = Emulator::start(ends, Arc::clone(&lines));
        fs::write(folder.0.join("served/file"), content()).unwrap();
        let mut secret = OpenOptions::new();
        let mut secret =
            secret.write(true).create_new(true).mode(0o600).open(folder.0.join("secret")).unwrap();
        secret.write_all(b"the secret of this street\n").unwrap();
        let (serving, url) = serve(&server, &folder.0);
        Self {
            hosts,
            lines,
            url,
            folder,
            _server: serving,
            _spaces: [core, server, switch],
            _emulator: emulator,
        }
    }

    fn output(&self, host: usize) -> PathBuf {
        self.folder.0.join(format!("got{host}"))
    }

    /// Host `n` fetches the file, with these further arguments.
    fn fetch(&self, host: usize, further: &str) -> Child {
        let mut command = Command::new("timeout");
        command.args(["--signal=KILL", LIFETIME_S, &program(), "fetch", &self.url, "--json"]);
        command.arg("--output").arg(self.output(host)).args(further.split_whitespace());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        self.hosts[host].host(&mut command);
        command.spawn().expect("timeout of coreutils")
    }

    fn share(&self, host: usize) -> Child {
        let others = (1..=HOSTS).filter(|other| *other != host + 1).map(|other| format!("192.168.7.{other}"));
        let others: Vec<String> = others.collect();
        let secret = self.folder.0.join("secret");
        self.fetch(host, &format!("--share {} --neighbours {}", secret.display(), others.join(",")))
    }

    /// Whether host `n` has the file, and nothing beside it.
    fn has_it(&self, host: usize) -> bool {
        let partial = self.output(host).with_extension("partial");
        fs::read(self.output(host)).is_ok_and(|bytes| bytes == content()) && !partial.exists()
    }

    fn forget(&self) {
        (0..HOSTS).for_each(|host| fs::remove_file(self.output(host)).unwrap());
    }

    /// Bytes that came over all lines from the server.
    fn server_bytes(&self) -> u64 {
        (0..HOSTS).map(|line| self.lines.carried(line, 0)).sum()
    }
}

/// Bytes that look like nothing in particular.
fn content() -> Vec<u8> {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..FILE_BYTES).map(|_| next()).collect()
}

fn device(space: &Namespace, name: &str, own: &str, other: &str) -> Tun {
    let tun = space.enter(|| Tun::create(name)).unwrap().unwrap();
    ip(space, &format!("link set {name} mtu 1500 up"));
    ip(space, &format!("address add {own} peer {other} dev {name}"));
    tun
}

/// Starts the server; the file's URL.
fn serve(space: &Namespace, folder: &Path) -> (Running, String) {
    let mut command = Command::new(program());
    command.arg("serve").arg(folder.join("served")).arg("--key").arg(folder.join("key"));
    command.args(["--listen", "192.0.2.1:4717", "--json"]).stdin(Stdio::null()).stdout(Stdio::piped());
    space.host(&mut command);
    let mut serving = command.spawn().expect("the program under test");
    let mut line = String::new();
    let stdout = serving.stdout.take().unwrap();
    BufReader::new(stdout).read_line(&mut line).unwrap();
    let told: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
    (Running(serving), format!("{}file", told["urls"][0].as_str().unwrap()))
}

fn outcome(mut child: Child) -> Outcome {
    let (mut result, mut said) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut result).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    let succeeded = child.wait().unwrap().success();
    Outcome { succeeded, result: serde_json::from_str(&result).unwrap_or_default(), said }
}

impl Outcome {
    fn seconds(&self) -> f64 {
        self.result["elapsed_s"].as_f64().unwrap_or_else(|| panic!("{}", self.said))
    }
}

/// Three get the file in about a third of the time that one takes alone, and it leaves the server about once.
pub fn shared() {
    let street = Street::new();
    // Where a busy machine keeps the lines waiting, times say nothing about programs.
    for attempts_left in (0..4).rev() {
        let ((alone, together, from_server), was_served) = street.lines.while_served(|| {
            let alone = outcome(street.fetch(0, ""));
            assert!(alone.succeeded && street.has_it(0), "{}", alone.said);
            fs::remove_file(street.output(0)).unwrap();
            let before = street.server_bytes();
            let sharing: Vec<Child> = (0..HOSTS).map(|host| street.share(host)).collect();
            let together: Vec<Outcome> = sharing.into_iter().map(outcome).collect();
            (alone.seconds(), together, street.server_bytes() - before)
        });
        for (host, outcome) in together.iter().enumerate() {
            assert!(outcome.succeeded && street.has_it(host), "{}", outcome.said);
            let bytes = |name: &str| outcome.result[name].as_u64().unwrap();
            assert_eq!(bytes("from_server_bytes") + bytes("from_neighbours_bytes"), FILE_BYTES as u64);
            assert_eq!(bytes("wrong_pieces"), 0);
        }
        let slowest = together.iter().map(Outcome::seconds).fold(0.0, f64::max);
        let copies = from_server as f64 / FILE_BYTES as f64;
        println!("alone {alone:.2} s, three together {slowest:.2} s; {copies:.2} copies left the server");
        if slowest < 0.5 * alone && copies < 1.5 {
            return;
        }
        assert!(!was_served || attempts_left > 0, "{slowest} s of {alone} s, {copies} copies");
        street.forget();
    }
    println!("the machine was too busy to judge times");
}

/// One of three is killed midway: what it owed comes from elsewhere.
pub fn one_is_killed() {
    let street = Street::new();
    let mut sharing: Vec<Child> = (0..HOSTS).map(|host| street.share(host)).collect();
    let partial = street.folder.0.join("got2.prismux-part");
    wait_for("it has begun", || partial.exists());
    thread::sleep(Duration::from_millis(1500));
    // The wrapper's child is killed with it: both have the same group of processes.
    let mut killed = sharing.pop().unwrap();
    let child = fs::read_to_string(format!("/proc/{0}/task/{0}/children", killed.id())).unwrap();
    for process in child.split_whitespace() {
        let _ = Command::new("kill").args(["-KILL", process]).status();
    }
    let _ = killed.kill();
    killed.wait().unwrap();
    for (host, outcome) in sharing.into_iter().map(outcome).enumerate() {
        assert!(outcome.succeeded && street.has_it(host), "{}", outcome.said);
    }
    assert!(!street.output(2).exists());
}

/// What one of three has is overwritten on its disk: the others find out, leave it, and get the file.
pub fn one_lies() {
    let street = Street::new();
    let sharing: Vec<Child> = (0..HOSTS).map(|host| street.share(host)).collect();
    let (ends, disk) = (AtomicBool::new(false), street.output(2).with_extension("partial"));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !ends.load(Ordering::Relaxed) {
                if let Ok(file) = OpenOptions::new().write(true).open(&disk) {
                    let _ = file.write_all_at(&vec![0; FILE_BYTES], 0);
                }
                thread::sleep(Duration::from_millis(20));
            }
        });
        let outcomes: Vec<Outcome> = sharing.into_iter().map(outcome).collect();
        ends.store(true, Ordering::Relaxed);
        let found_out = |outcome: &&Outcome| outcome.said.contains("gave wrong bytes");
        assert!(outcomes[..2].iter().any(|outcome| found_out(&outcome)), "nobody was found out");
        for (host, outcome) in outcomes[..2].iter().enumerate() {
            assert!(outcome.succeeded && street.has_it(host), "{}", outcome.said);
        }
        assert!(!outcomes[2].succeeded && outcomes[2].said.contains("digest"), "{}", outcomes[2].said);
    });
}

/// Who does not hold the secret gets nothing from neighbours, and all of it from the server.
pub fn strangers() {
    let street = Street::new();
    let other = street.folder.0.join("other");
    fs::copy(street.folder.0.join("secret"), &other).unwrap();
    fs::write(&other, "another secret, as long\n").unwrap();
    let stranger = street.fetch(1, &format!("--share {} --neighbours 192.168.7.1", other.display()));
    let outcomes = [street.share(0), stranger].map(outcome);
    for (host, outcome) in outcomes.iter().enumerate() {
        assert!(outcome.succeeded && street.has_it(host), "{}", outcome.said);
        assert_eq!(outcome.result["from_neighbours_bytes"], 0);
        assert_eq!(outcome.result["given_bytes"], 0);
    }
    assert!(outcomes[0].result["dropped"]["forged"].as_u64().unwrap() > 0);
    // And a secret that others can read is none.
    fs::set_permissions(&other, fs::Permissions::from_mode(0o644)).unwrap();
    let refused = outcome(street.fetch(2, &format!("--share {}", other.display())));
    assert!(!refused.succeeded && refused.said.contains("chmod 600"), "{}", refused.said);
    let secret = street.folder.0.join("secret");
    let refused = outcome(street.fetch(2, &format!("--share {} --transport ptcp", secret.display())));
    assert!(!refused.succeeded && refused.said.contains("remedy"), "{}", refused.said);
    let refused = outcome(street.fetch(2, "--neighbours 192.168.7.1"));
    assert!(!refused.succeeded && refused.said.contains("--share"), "{}", refused.said);
}
