//! A lab is gone when its process is gone, however that came about.
use crate::plans::{community, download, link, options};
use prismux_lab::{self as lab, LabError};
use prismux_linux::process::begin_unprivileged;
use prismux_plan::{MptcpSettings, TcpSettings, Transport};
use prismux_units::ByteCount;
use std::collections::BTreeSet;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// Nothing here takes longer, unless it is broken.
const PATIENCE: Duration = Duration::from_secs(20);

/// What the child of these tests does: a community with daemons, or with MPTCP.
pub fn run_a_lab(seconds: &str, transport: &str) -> ExitCode {
    let mptcp = Transport::Mptcp(MptcpSettings::DEFAULT);
    let transport = if transport == "mptcp" { mptcp } else { Transport::Tcp };
    let tcp = TcpSettings { window: Some(ByteCount::new(4_000_000)), ..TcpSettings::default() };
    let result = lab::ensure_privileges().map_err(LabError::from).and_then(|privileges| {
        println!("{privileges:?}");
        let seconds = seconds.parse().expect("a number");
        let flow = download(transport).tcp(tcp);
        lab::run(&community(seconds, &[link(5, 5), link(5, 5)], flow), &options())
    });
    match result {
        Ok(outcome) => {
            println!("{} bytes", outcome.result.flows["download"].bytes);
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn start(seconds: &str) -> Child {
    // What a shell starts in the background ignores SIGINT, and so do its children; what is at a terminal does not.
    let mut command = Command::new("env");
    command.arg("--default-signal=INT").arg(std::env::current_exe().expect("a path"));
    command.args(["run-a-lab", seconds, "tcp"]).stdout(Stdio::piped()).process_group(0);
    command.spawn().expect("a process")
}

pub fn after_success() {
    // Where a daemon of this host keeps what it has carried.
    let accounts = Path::new("/var/lib/prismux.accounts");
    let there_before = accounts.exists();
    let mut child = start("1.5");
    let seen = observe(&child);
    assert!(child.wait().expect("an exit status").success());
    assert_gone(&seen);
    assert!(there_before || !accounts.exists(), "daemons of a lab book their traffic on this host");
}

pub fn after_interrupt() {
    let mut child = start("60");
    let seen = observe(&child);
    // As the terminal does: to the whole group, daemons included.
    let group = nix::unistd::Pid::from_raw(child.id().cast_signed());
    nix::sys::signal::killpg(group, nix::sys::signal::Signal::SIGINT).expect("a signal sent");
    assert!(!child.wait().expect("an exit status").success());
    assert_gone(&seen);
}

pub fn after_kill() {
    let mut child = start("60");
    let seen = observe(&child);
    child.kill().expect("a signal sent");
    child.wait().expect("an exit status");
    assert_gone(&seen);
}

pub fn in_a_user_namespace() {
    let forbidden =
        |file: &str, value: &str| std::fs::read_to_string(file).is_ok_and(|text| text.trim() == value);
    if forbidden("/proc/sys/user/max_user_namespaces", "0")
        || forbidden("/proc/sys/kernel/unprivileged_userns_clone", "0")
        || forbidden("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1")
    {
        println!("skipped: this system does not allow user namespaces");
        return;
    }
    if nix::unistd::geteuid().as_raw() != 0 || !is_system_root() {
        println!("nothing to add: all these tests run in a user namespace here");
        return;
    }
    for transport in ["tcp", "mptcp"] {
        let mut command = Command::new("/proc/self/exe");
        command.args(["run-a-lab", "1.5", transport]).stdout(Stdio::piped());
        begin_unprivileged(&mut command);
        let output = command.output().expect("a process");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.starts_with("UserNamespace"), "{transport}: {said}");
    }
}

/// True outside all user namespaces.
fn is_system_root() -> bool {
    std::fs::read_to_string("/proc/self/uid_map")
        .is_ok_and(|map| map.split_whitespace().eq(["0", "0", "4294967295"]))
}

/// Processes and network namespaces of a running lab.
struct Seen {
    processes: BTreeSet<u32>,
    namespaces: BTreeSet<String>,
}

/// Waits until the child's lab stands, daemons and all, and notes what belongs to it.
fn observe(child: &Child) -> Seen {
    let begin = Instant::now();
    loop {
        let processes = descendants(child.id());
        let own = BTreeSet::from_iter(namespaces_of(std::process::id()));
        let namespaces: BTreeSet<_> = processes
            .iter()
            .flat_map(|&process| namespaces_of(process))
            .filter(|name| !own.contains(name))
            .collect();
        // Server, proxy, receiver and two members; the lab itself and three daemons.
        if namespaces.len() >= 5 && processes.len() >= 4 {
            return Seen { processes, namespaces };
        }
        assert!(begin.elapsed() < PATIENCE, "no lab: {} processes, {namespaces:?}", processes.len());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Fails if a process of the lab still lives, or anything in the system still holds one of its namespaces. A network
/// namespace without holders, and every device in it, is taken down by the kernel.
fn assert_gone(seen: &Seen) {
    let begin = Instant::now();
    loop {
        let alive: Vec<_> = seen.processes.iter().filter(|&&process| is_alive(process)).collect();
        let held: BTreeSet<_> = all_processes().into_iter().flat_map(namespaces_of).collect();
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").expect("mounts");
        let left: Vec<_> =
            seen.namespaces.iter().filter(|name| held.contains(*name) || mounts.contains(*name)).collect();
        if alive.is_empty() && left.is_empty() {
            break;
        }
        assert!(begin.elapsed() < PATIENCE, "left behind: processes {alive:?}, namespaces {left:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
    // The daemons' sockets were in a /run of their own.
    assert!(!Path::new("/run/prismux.sock").exists());
}

fn all_processes() -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").expect("/proc");
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

fn is_alive(process: u32) -> bool {
    // A zombie has ended; whoever inherited it will collect it.
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| !rest.trim_start().starts_with(['Z', 'X']) && !rest.is_empty())
}

fn descendants(root: u32) -> BTreeSet<u32> {
    let parent = |process: u32| -> Option<u32> {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok()
    };
    let mut found = BTreeSet::from([root]);
    loop {
        let before = found.len();
        found.extend(
            all_processes()
                .into_iter()
                .filter(|&process| parent(process).is_some_and(|p| found.contains(&p)))
                .collect::<Vec<_>>(),
        );
        if found.len() == before {
            return found;
        }
    }
}

/// Network namespaces that a process is in or holds a descriptor of, as `net:[4026531840]`.
fn namespaces_of(process: u32) -> Vec<String> {
    let name = |path: std::path::PathBuf| {
        let target = std::fs::read_link(path).ok()?;
        Some(target.to_str()?.to_owned()).filter(|target| target.starts_with("net:["))
    };
    let entries = |directory: &str| {
        let entries = std::fs::read_dir(format!("/proc/{process}/{directory}"));
        entries.into_iter().flatten().flatten().map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let threads = entries("task").into_iter().map(|task| task.join("ns/net"));
    threads.chain(entries("fd")).filter_map(name).collect()
}
