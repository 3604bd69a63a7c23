//! wireguard-go, the userspace WireGuard that others measure themselves by: a process at each end.
use super::{AnyError, Path, RECEIVER, SENDER, download, namespaces};
use nix::unistd::{SysconfVar, sysconf};
use prismux_daemons::config::make_private_key;
use prismux_linux::namespace::Namespace;
use prismux_linux::netconf::{self, ip};
use std::io;
use std::path::{Path as FilePath, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const PROGRAM: &str = "wireguard-go";
const PORT: u16 = 51_820;

/// A process that ends with this value.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// One end of the tunnel.
struct End<'a> {
    space: &'a Namespace,
    device: String,
    key: PathBuf,
    /// Of the other end: its public key, where it is, and what lies behind it.
    peer: &'a str,
    endpoint: &'static str,
    behind: &'static str,
}

/// Measures it; `None` when it, or `wg` of wireguard-tools, is not installed.
pub(super) fn measure(duration: Duration) -> Result<Option<Path>, AnyError> {
    if [PROGRAM, "wg"].iter().any(|program| !is_installed(program)) {
        return Ok(None);
    }
    let [sender, receiver] = namespaces()?;
    let directory = std::env::temp_dir().join(format!("prismux-wireguard-{}", std::process::id()));
    std::fs::create_dir_all(&directory)?;
    let keys = ["sender.key", "receiver.key"].map(|name| directory.join(name));
    let public = [make_private_key(&keys[0])?, make_private_key(&keys[1])?];
    let [first, second] = keys;
    let device = |end: &str| format!("pxwg{end}{}", std::process::id() % 1_000_000);
    let ends = [
        End {
            space: &sender,
            device: device("s"),
            key: first,
            peer: &public[1],
            endpoint: "10.2.0.2",
            behind: RECEIVER,
        },
        End {
            space: &receiver,
            device: device("r"),
            key: second,
            peer: &public[0],
            endpoint: "10.2.0.1",
            behind: SENDER,
        },
    ];
    let processes = ends.iter().map(End::start).collect::<Result<Vec<_>, _>>()?;
    let helpers: Vec<u32> = processes.iter().map(|process| process.0.id()).collect();
    let path = download(&sender, &receiver, duration, &helpers);
    drop(processes);
    std::fs::remove_dir_all(directory)?;
    path.map(Some)
}

impl End<'_> {
    /// Starts the process, and configures device and route.
    fn start(&self) -> Result<Running, AnyError> {
        let mut command = Command::new(PROGRAM);
        command
            .args(["-f", &self.device])
            .env("LOG_LEVEL", "error")
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        self.space.host(&mut command);
        let running = Running(command.spawn()?);
        let key = self.key.display();
        let (endpoint, behind) = (format!("{}:{PORT}", self.endpoint), format!("{}/32", self.behind));
        let settings = format!(
            "set {} listen-port {PORT} private-key {key} peer {} endpoint {endpoint} allowed-ips {behind}",
            self.device, self.peer
        );
        self.space.enter(|| -> Result<(), AnyError> {
            until_it_succeeds(&settings)?;
            ip(&format!("link set {} up", self.device))?;
            netconf::add_routes(&self.device, &[behind.parse()?])?;
            Ok(())
        })??;
        Ok(running)
    }
}

/// Runs `wg` with `settings`: the process needs a moment before it listens.
fn until_it_succeeds(settings: &str) -> Result<(), AnyError> {
    let start = Instant::now();
    loop {
        let output = Command::new("wg").args(settings.split(' ')).output()?;
        if output.status.success() {
            return Ok(());
        }
        if start.elapsed() > Duration::from_secs(10) {
            return Err(format!("wg {settings}: {}", String::from_utf8_lossy(&output.stderr)).into());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder: PathBuf| FilePath::new(&folder).join(program).is_file())
}

/// User and system time of a process so far.
pub(super) fn cpu_time_of(process: u32) -> io::Result<Duration> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    // Behind the name, which may have any character: user and system time are fields 14 and 15, see proc(5).
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u64 = fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    let per_second = sysconf(SysconfVar::CLK_TCK)?.unwrap_or(100).max(1);
    Ok(Duration::from_secs_f64(ticks as f64 / per_second as f64))
}
