//! One file over two interfaces from two servers: R²CP, pTCP, aria2 and kernel MPTCP, over the same emulated links.
mod http;
mod ways;

use clap::Parser;
use prismux_endpoint::random::Seed;
use prismux_lab::{self as lab, LabNetwork};
use prismux_link::{LinkConfig, LossModel, QueueLimit};
use prismux_plan::Plan;
use prismux_study::text_table::Table;
use prismux_units::{ByteCount, Duration, Probability, Rate};
use serde::Serialize;
use std::error::Error;
use std::process::ExitCode;
use ways::{Setting, Way};

/// Fetches one file in network namespaces, over two emulated links, from two servers behind a common router: by
/// `prismux fetch` (R²CP; and pTCP, from the first server only), by aria2 (HTTP, two connections to each server,
/// spread over the interfaces) and by kernel MPTCP (HTTP, one connection to the first server, a subflow for each
/// interface). Every way checks the bytes. Prints the times side by side. Needs root (or the right to make
/// namespaces), iproute2, and aria2 (package `aria2`; left out where it is absent).
#[derive(Debug, Parser)]
#[command(name = "fetch-rivals", after_help = "Example: fetch-rivals --runs 3")]
struct Arguments {
    /// Rounds; the median of each way counts.
    #[arg(long, default_value_t = 1)]
    runs: u32,
    /// Size of the file.
    #[arg(long, default_value = "20MB")]
    size: ByteCount,
    /// Prints JSON instead of a table.
    #[arg(long)]
    json: bool,
}

pub(crate) type Failed = Box<dyn Error + Send + Sync>;

/// Two links towards the client: rate in Mbit/s, delay one way in ms, loss.
struct Mix {
    name: &'static str,
    links: [(u64, u64, f64); 2],
}

/// As the scenarios of these names have them, and a satellite beside a slow neighbour.
const MIXES: [Mix; 3] = [
    Mix { name: "20 + 20 Mbit/s, 25 ms each", links: [(20, 25, 0.0), (20, 25, 0.0)] },
    Mix { name: "50 + 10 Mbit/s, 30 and 60 ms, 0.1 % loss", links: [(50, 30, 0.0), (10, 60, 0.001)] },
    Mix { name: "20 + 30 Mbit/s, 20 and 300 ms", links: [(20, 20, 0.0), (30, 300, 0.0)] },
];

#[derive(Debug, Serialize)]
struct Line {
    mix: &'static str,
    /// The file's bits over the sum of the links' rates.
    bound_s: f64,
    /// Seconds of each way, in the order of [`Way::ALL`]; nothing where it could not run.
    seconds: Vec<Option<f64>>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match measure(&arguments) {
        Ok(lines) => {
            if arguments.json {
                // Numbers and names always serialise.
                println!("{}", serde_json::to_string(&lines).unwrap_or_default());
            } else {
                print(&lines);
            }
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("fetch-rivals: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn measure(arguments: &Arguments) -> Result<Vec<Line>, Failed> {
    lab::ensure_privileges()?;
    let setting = Setting::new(arguments.size.as_u64())?;
    let mut lines = Vec::new();
    for mix in &MIXES {
        let mut seconds = vec![Vec::new(); Way::ALL.len()];
        for run in 0..arguments.runs.max(1) {
            for (way, seconds) in Way::ALL.into_iter().zip(&mut seconds) {
                // A network of its own for each, so that none inherits what another's kernel remembers.
                let network = LabNetwork::build(&plan(mix), Seed(u64::from(run) + 1))?;
                match setting.fetch(&network, way) {
                    Ok(time) => seconds.push(time),
                    Err(problem) => eprintln!("{}, {}: {problem}", mix.name, way.name()),
                }
                network.finish()?;
            }
        }
        let sum: u64 = mix.links.iter().map(|(rate, _, _)| rate * 1_000_000).sum();
        lines.push(Line {
            mix: mix.name,
            bound_s: arguments.size.bits() as f64 / sum as f64,
            seconds: seconds.iter().map(|seconds| median(seconds)).collect(),
        });
    }
    Ok(lines)
}

fn median(seconds: &[f64]) -> Option<f64> {
    (!seconds.is_empty()).then(|| prismux_benches::cpu::median(seconds))
}

/// `client` -wwan1, wwan2- `router` -near1, near2- `server1`, `server2`.
fn plan(mix: &Mix) -> Plan {
    let wide = || {
        let queue = QueueLimit::Bytes(ByteCount::new(4 << 20));
        LinkConfig::new(Rate::from_mbps(1000), Duration::from_millis(1)).with_queue(queue)
    };
    let mut plan = Plan::new("fetch-rivals", Duration::from_secs(600));
    let (client, router) = (plan.host("client"), plan.router("router"));
    let servers = [plan.host("server1"), plan.host("server2")];
    for (name, &(rate, delay, loss)) in ["wwan1", "wwan2"].into_iter().zip(&mix.links) {
        let link = LinkConfig::new(Rate::from_mbps(rate), Duration::from_millis(delay))
            .with_queue(QueueLimit::Bdp(1.0));
        let lossy = match loss > 0.0 {
            true => link.clone().with_loss(LossModel::Bernoulli(Probability::new(loss).unwrap_or_default())),
            false => link.clone(),
        };
        plan.link(name, [router, client], lossy, link);
    }
    for (name, server) in ["near1", "near2"].into_iter().zip(servers) {
        plan.symmetric_link(name, [server, router], wide());
    }
    plan
}

fn print(lines: &[Line]) {
    let mut table = Table::new(&["links", "bound s", "R²CP s", "pTCP s", "aria2 s", "MPTCP s"]);
    for line in lines {
        let seconds = line.seconds.iter();
        let cells = seconds.map(|seconds| seconds.map_or("-".to_string(), |seconds| format!("{seconds:.2}")));
        table.row([line.mix.to_string(), format!("{:.2}", line.bound_s)].into_iter().chain(cells));
    }
    println!("{table}");
}
