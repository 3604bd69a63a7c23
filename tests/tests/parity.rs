//! One core, two hosts: what the proxy decided on Linux, with packets as bytes and the machine's clock, it decides
//! again as the simulator drives it, with typed headers and recorded time. Every decision is compared, every
//! rewritten ACK byte by byte.
//!
//! Short runs in the lab, on links that lose, reorder, repeat and damage packets. Skipped where namespaces are not
//! allowed.
use prismux_daemons::config::{MemberConfig, ProxyConfig};
use prismux_daemons::replay::{Replay, replay};
use prismux_daemons::{logging, member, proxy};
use prismux_lab as lab;
use prismux_scenario::ScenarioFile;
use prismux_scenario::registry::Backend;
use prismux_study::run::{self, RunOptions};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const NETWORK: &str = r#"
# A run ends with its download.
duration = "60 s"
[nodes]
server = { kind = "host" }
proxy = { kind = "prism-proxy" }
m1 = { kind = "member" }
m2 = { kind = "member" }
receiver = { kind = "host" }
[links]
backbone = { between = ["server", "proxy"], rate = "1 Gbit/s", delay = "1 ms", queue = "4 MB" }
wwan1.between = ["proxy", "m1"]
wwan1.rate = "16 Mbit/s"
wwan1.delay = "10 ms"
wwan1.queue = "1 bdp"
wwan1.forward = { loss = "1 %", duplicate = 0.002 }
wwan2.between = ["proxy", "m2"]
wwan2.rate = "8 Mbit/s"
wwan2.delay = "25 ms"
wwan2.jitter = "6 ms"
wwan2.reorder = true
wwan2.queue = "1 bdp"
wwan2.corrupt = 0.002
wlan1 = { between = ["m1", "receiver"], rate = "300 Mbit/s", delay = "1 ms", queue = "2 MB" }
wlan2 = { between = ["m2", "receiver"], rate = "300 Mbit/s", delay = "1 ms", queue = "2 MB" }
[flows]
download = { from = "server", to = "receiver", bytes = "6 MB" }
datagrams = { from = "server", to = "receiver", transport = "udp", rate = "200 kbit/s" }
[[events]]
at = "1 s"
leave = "m2"
[[events]]
at = "1500 ms"
join = "m2"

[variants.modern]
[variants.paper]
nodes.proxy.profile = "paper"
# It takes reordering on a link for losses, and is slow here.
flows.download.bytes = "3 MB"
flows.download.transport = "tcp-prism"
flows.download.profile = "linux-2.4"
[variants.striping]
nodes.proxy.rpc = "off"
[variants.killed]
events = [{ at = "800 ms", kill = "proxy" }, { at = "1200 ms", restart = "proxy" }]
"#;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["proxy", "--config", file] => return daemon(ProxyConfig::load(Path::new(file)), proxy::run),
        ["member", "--config", file] => return daemon(MemberConfig::load(Path::new(file)), member::run),
        _ => {}
    }
    if arguments.iter().any(|argument| argument == "--list") {
        println!("lab_and_simulator_decide_alike: test");
        return ExitCode::SUCCESS;
    }
    if let Err(error) = lab::ensure_privileges() {
        println!("skipped: {error}");
        return ExitCode::SUCCESS;
    }
    let folder = Folder::make();
    std::thread::scope(|scope| {
        for variant in ["modern", "paper", "striping", "killed"] {
            let recordings = folder.0.join(variant);
            scope.spawn(move || record(variant, &recordings));
        }
    });
    let paper = same_decisions(&folder.0.join("paper"), 1);
    assert!(paper.rewritten > 500, "ACKs were corrected and carried reports: {paper:?}");
    let modern = same_decisions(&folder.0.join("modern"), 1);
    assert!(modern.rewritten > 500 && modern.timeouts > 10 && modern.changes >= 4, "{modern:?}");
    let striping = same_decisions(&folder.0.join("striping"), 1);
    assert!(striping.released > 500, "{striping:?}");
    let killed = same_decisions(&folder.0.join("killed"), 2);
    assert!(killed.rewritten > 500, "{killed:?}");
    ExitCode::SUCCESS
}

/// Runs a variant in the lab; its proxies record to `folder`.
fn record(variant: &str, folder: &Path) {
    let file = ScenarioFile::from_text("parity.toml", NETWORK);
    let scenario = file.scenario(Some(variant), &[]).unwrap_or_else(|error| panic!("{error}"));
    let options = RunOptions { seed: 5, record: Some(folder.to_owned()), ..RunOptions::default() };
    let result =
        run::run(&scenario, Backend::Lab, &options).unwrap_or_else(|error| panic!("{variant}: {error}"));
    let bytes = if variant == "paper" { 3_000_000 } else { 6_000_000 };
    assert_eq!(result.flows["download"].bytes, bytes, "{variant}: the download is complete");
}

/// Replays the recordings in `folder`, `count` of them, and returns what they hold together.
fn same_decisions(folder: &Path, count: usize) -> Replay {
    let entries = std::fs::read_dir(folder).expect("recordings");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    // The event log, for people, lies beside what the proxies were told.
    files.retain(|file| file.extension().is_some_and(|extension| extension == "pcapng"));
    assert_eq!(files.len(), count, "{files:?}");
    let mut sum = Replay::default();
    for file in files {
        let name = file.display();
        let one = replay(&std::fs::read(&file).expect("a recording"))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(one.differences.is_empty(), "{name}:\n{}", one.differences.join("\n"));
        println!("{name}: {} decisions the same, {} ACKs rewritten", one.decisions(), one.rewritten);
        sum.data_packets += one.data_packets;
        sum.reverse_packets += one.reverse_packets;
        sum.changes += one.changes;
        sum.timeouts += one.timeouts;
        sum.forwarded += one.forwarded;
        sum.released += one.released;
        sum.rewritten += one.rewritten;
    }
    assert!(sum.forwarded >= 2000, "most of the download was recorded: {sum:?}");
    sum
}

/// A folder that goes with the test, however that ends.
struct Folder(PathBuf);

impl Folder {
    fn make() -> Self {
        let path = std::env::temp_dir().join(format!("prismux-parity-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// This process is a daemon that a lab has started.
fn daemon<C, E: std::fmt::Display, F: std::fmt::Display>(
    config: Result<C, E>,
    run: impl Fn(C) -> Result<(), F>,
) -> ExitCode {
    logging::init(logging::LogFormat::Text, logging::LogLevel::default());
    let result = config.map_err(|e| e.to_string()).and_then(|config| run(config).map_err(|e| e.to_string()));
    if let Err(error) = result {
        eprintln!("{error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
