//! What the datapath achieves without emulated limits, against a bare forwarder between two TUN devices.
use clap::Parser;
use prismux_benches::throughput;
use prismux_linux::privileges;
use prismux_study::text_table::Table;
use serde::Serialize;
use std::process::ExitCode;
use std::time::Duration;

/// The fraction of the bare forwarder's goodput to reach.
const TARGET: f64 = 0.5;

/// Downloads with kernel TCP between two network namespaces, through a bare TUN-to-TUN forwarder and through proxy,
/// tunnel and member, in turn: goodput, CPU seconds per GB (the kernel's TCP included), and PRISM's goodput as a
/// fraction of the forwarder's. Needs /dev/net/tun and the right to make namespaces (`prismux doctor` says what is
/// missing).
#[derive(Debug, Parser)]
#[command(name = "datapath-cost", after_help = "Example: datapath-cost --seconds 4")]
struct Arguments {
    /// Seconds per download.
    #[arg(long, default_value_t = 4)]
    seconds: u64,
    /// Rounds; the best of each way counts, because other work on the machine only slows.
    #[arg(long, default_value_t = 2)]
    repeats: u32,
    /// Prints JSON instead of a table.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Results {
    version: &'static str,
    rounds: Vec<throughput::Throughput>,
    /// PRISM's best goodput over the forwarder's best.
    ratio_gre: f64,
    ratio_udp: f64,
    ratio_sealed: f64,
    /// Goodput through sealed tunnels over that through GRE in UDP.
    ratio_sealed_to_udp: f64,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match measure(&arguments) {
        Ok(results) => {
            if arguments.json {
                // Numbers and names always serialise.
                println!("{}", serde_json::to_string(&results).unwrap_or_default());
            } else {
                print(&results);
            }
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("datapath-cost: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn measure(arguments: &Arguments) -> Result<Results, Box<dyn std::error::Error + Send + Sync>> {
    privileges::ensure_privileges()?;
    let duration = Duration::from_secs(arguments.seconds.max(1));
    let rounds: Vec<throughput::Throughput> =
        (0..arguments.repeats.max(1)).map(|_| throughput::measure(duration)).collect::<Result<_, _>>()?;
    let fastest = |of: fn(&throughput::Throughput) -> throughput::Path| {
        rounds.iter().map(|round| of(round).goodput_bps).fold(0.0, f64::max)
    };
    let forwarder = fastest(|round| round.forwarder);
    let (gre, udp) = (fastest(|round| round.prism_gre), fastest(|round| round.prism_udp));
    let (ratio_gre, ratio_udp) = (gre / forwarder, udp / forwarder);
    let sealed = fastest(|round| round.prism_sealed);
    let (ratio_sealed, ratio_sealed_to_udp) = (sealed / forwarder, sealed / udp);
    let version = env!("CARGO_PKG_VERSION");
    Ok(Results { version, rounds, ratio_gre, ratio_udp, ratio_sealed, ratio_sealed_to_udp })
}

/// Picks one path of a round.
type PathOf = fn(&throughput::Throughput) -> throughput::Path;

fn print(results: &Results) {
    let mut table = Table::new(&["datapath", "Gbit/s", "CPU s per GB", "fraction of bare", "reach 0.5"]);
    let ways: [(&str, PathOf, Option<f64>); 4] = [
        ("bare forwarder", |round| round.forwarder, None),
        ("PRISM by GRE", |round| round.prism_gre, Some(results.ratio_gre)),
        ("PRISM by GRE-in-UDP", |round| round.prism_udp, Some(results.ratio_udp)),
        ("PRISM by sealed tunnels", |round| round.prism_sealed, Some(results.ratio_sealed)),
    ];
    for (name, of, ratio) in ways {
        let paths: Vec<throughput::Path> = results.rounds.iter().map(of).collect();
        let goodput = paths.iter().map(|path| path.goodput_bps).fold(0.0, f64::max);
        let cpu = paths.iter().map(|path| path.cpu_s_per_gb).fold(f64::INFINITY, f64::min);
        let verdict = ratio.map_or("", |ratio| if ratio >= TARGET { "yes" } else { "NO" });
        table.row([
            name.into(),
            format!("{:.3}", goodput / 1e9),
            format!("{cpu:.2}"),
            ratio.map_or(String::new(), |ratio| format!("{ratio:.3}")),
            verdict.into(),
        ]);
    }
    println!("{table}");
    println!("sealed over GRE in UDP: {:.3} of the goodput", results.ratio_sealed_to_udp);
}
