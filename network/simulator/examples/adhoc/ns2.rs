//! A run of ns-2: once timed, once with its trace read.
use super::Measured;
use super::networks::{Kind, Network};
use super::paths::{Hops, Places};
use std::collections::BTreeMap;
use std::error::Error;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

const SCRIPT: &str = include_str!("adhoc.tcl");
/// CPU seconds after which a run of ns-2 is ended: its DSDV hands packets that wait from queue to queue for ever where
/// an update that it does not believe names their destination.
const MAX_CPU_S: u32 = 60;

/// Whether this machine has ns-2.
pub fn is_there() -> bool {
    Command::new("ns").arg("/dev/null").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// Files of one run, removed with it.
struct Files(PathBuf);

impl Drop for Files {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs `network` with a routing protocol.
pub fn run(network: &Network, routing: &str, seed: u64) -> Result<Measured, Box<dyn Error>> {
    let folder = Files(std::env::temp_dir().join(format!("prismux-adhoc-{}", std::process::id())));
    std::fs::create_dir_all(&folder.0)?;
    let (script, movements) = (folder.0.join("adhoc.tcl"), folder.0.join("movements.tcl"));
    std::fs::write(&script, SCRIPT)?;
    std::fs::write(&movements, &network.movements)?;
    let (area, _) = network.kind.ground();
    let kind = match network.kind {
        Kind::Transfer => "transfer",
        Kind::Cell => "cell",
        Kind::Stream | Kind::Cbr { .. } | Kind::Wide { .. } => "cbr",
    };
    let source = |s: &super::networks::Source| format!("{} {} {}", s.from, s.to, s.start_ms as f64 / 1e3);
    let sources: Vec<String> = network.sources().iter().map(source).collect();
    let arguments = [
        format!("kind={kind}"),
        format!("hosts={}", network.kind.hosts()),
        format!("width={}", area[0]),
        format!("height={}", area[1]),
        format!("seconds={}", network.seconds),
        format!("seed={seed}"),
        format!("routing={}", routing.to_uppercase()),
        format!("sources={}", sources.join(" ")),
        format!("movements={}", movements.display()),
    ];
    let mut measured = Measured::default();
    let mut trace = Trace::new(network)?;
    for traced in [0, 1] {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("ulimit -t {MAX_CPU_S}; exec ns \"$@\""), "ns"]).arg(&script);
        command.args(&arguments).arg(format!("traced={traced}")).current_dir(&folder.0);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let output = child.stdout.take().ok_or("no output of ns-2")?;
        for line in BufReader::new(output).lines() {
            let line = line?;
            match line.strip_prefix("RESULT ") {
                Some(result) if traced == 0 => read_result(result, &mut measured)?,
                Some(_) => {}
                None => trace.read(&line),
            }
        }
        if !child.wait()?.success() {
            return Err("ns-2 failed, or did not end".into());
        }
    }
    measured.frames = trace.frames as f64;
    measured.routing_packets = trace.routing as f64;
    measured.late_per_mille = 1000.0 * trace.late as f64 / trace.data_received as f64;
    [measured.hops_above, measured.shortest_percent] = trace.hops.above_and_percent();
    measured.delivered_percent = 100.0 * trace.datagrams_received as f64 / trace.datagrams_sent as f64;
    Ok(measured)
}

/// CPU seconds, kbit/s and timeouts.
fn read_result(text: &str, measured: &mut Measured) -> Result<(), Box<dyn Error>> {
    let numbers: Result<Vec<f64>, _> = text.split_whitespace().map(str::parse).collect();
    let [cpu_s, goodput_kbps, timeouts] = numbers?[..] else { return Err("not ns-2's result".into()) };
    (measured.cpu_s, measured.goodput_kbps, measured.timeouts) = (cpu_s, goodput_kbps, timeouts);
    Ok(())
}

/// Counters of a trace.
struct Trace {
    places: Places,
    hops: Hops,
    frames: u64,
    routing: u64,
    data_received: u64,
    late: u64,
    datagrams_sent: u64,
    datagrams_received: u64,
    /// The latest data packet that has arrived, by flow.
    newest: BTreeMap<String, u64>,
}

impl Trace {
    fn new(network: &Network) -> Result<Self, Box<dyn Error>> {
        Ok(Self {
            places: Places::new(network)?,
            hops: Hops::default(),
            frames: 0,
            routing: 0,
            data_received: 0,
            late: 0,
            datagrams_sent: 0,
            datagrams_received: 0,
            newest: BTreeMap::new(),
        })
    }

    /// A line: what, when, `_node_`, layer, reason, number of the packet, its type, and more.
    fn read(&mut self, line: &str) {
        let fields: Vec<&str> = line.split_whitespace().take(7).collect();
        let [what, _, _, layer, _, number, kind] = fields[..] else { return };
        match (what, layer, kind) {
            ("s", "MAC", _) => self.frames += 1,
            ("s" | "f", "RTR", "DSR" | "AODV" | "message") => self.routing += 1,
            ("s", "AGT", "cbr") => self.datagrams_sent += 1,
            ("r", "AGT", "cbr") => {
                self.datagrams_received += 1;
                if let Some((at_s, from, to, made)) = way(line) {
                    let fewest = self.places.fewest_hops(at_s, from, to);
                    self.hops.count(made, fewest);
                }
            }
            ("r", "AGT", "tcp") => {
                self.data_received += 1;
                let (Ok(number), Some(ends)) = (number.parse::<u64>(), ends(line)) else { return };
                let newest = self.newest.entry(ends).or_insert(0);
                // The order in which packets were made is that of sending.
                self.late += u64::from(number < *newest);
                *newest = number.max(*newest);
            }
            _ => {}
        }
    }
}

/// When a datagram arrived, its source and destination, and its hops: behind its number in the last brackets.
fn way(line: &str) -> Option<(f64, u32, u32, u32)> {
    let at_s = line.split_whitespace().nth(1)?.parse().ok()?;
    let ends = ends(line)?;
    let host = |end: &str| end.split(':').next()?.parse::<u32>().ok();
    let (from, to) = ends.split_once(' ')?;
    let made = line.rsplit(']').next()?.split_whitespace().next()?.parse().ok()?;
    Some((at_s, host(from)?, host(to)?, made))
}

/// Source and destination: the second group in brackets begins with them.
fn ends(line: &str) -> Option<String> {
    let group = line.split('[').nth(2)?;
    Some(group.split_whitespace().take(2).collect::<Vec<_>>().join(" "))
}
