//! What the datapath achieves without emulated limits, beside bare forwarders between two TUN devices and wireguard-go.
use clap::Parser;
use prismux_benches::throughput::{self, AnyError, Path, Way};
use prismux_linux::privileges;
use prismux_study::text_table::Table;
use serde::Serialize;
use std::process::ExitCode;
use std::time::Duration;

/// Downloads with kernel TCP between two network namespaces, through bare TUN-to-TUN forwarders, through proxy, tunnel
/// and member, and through wireguard-go where it is installed, in turn: goodput, and CPU seconds per GB (the kernel's
/// TCP included). Needs /dev/net/tun and the right to make namespaces (`prismux doctor` says what is missing).
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

/// What is held against what, and the ratio of goodputs to reach, if there is one.
const RATIOS: [(Way, Way, Option<f64>); 7] = [
    (Way::PrismUdp, Way::OffloadForwarder, Some(0.7)),
    (Way::PrismSealed, Way::WireguardGo, Some(2.0)),
    (Way::PrismGre, Way::Forwarder, Some(0.5)),
    (Way::PrismUdpWorkers2, Way::PrismUdp, None),
    (Way::PrismSealedWorkers1, Way::PrismSealed, None),
    (Way::PrismSealedWorkers2, Way::PrismSealed, None),
    (Way::PrismSealedWorkers4, Way::PrismSealed, None),
];

#[derive(Debug, Serialize)]
struct Results {
    version: &'static str,
    ways: Vec<Measured>,
    ratios: Vec<Ratio>,
}

/// The best of all rounds.
#[derive(Debug, Serialize)]
struct Measured {
    way: Way,
    #[serde(flatten)]
    best: Path,
}

#[derive(Debug, Serialize)]
struct Ratio {
    of: Way,
    over: Way,
    ratio: f64,
    target: Option<f64>,
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

fn measure(arguments: &Arguments) -> Result<Results, AnyError> {
    privileges::ensure_privileges()?;
    let duration = Duration::from_secs(arguments.seconds.max(1));
    let mut ways: Vec<Measured> = Vec::new();
    for _ in 0..arguments.repeats.max(1) {
        for way in Way::ALL {
            let Some(path) = throughput::measure(way, duration)? else { continue };
            match ways.iter_mut().find(|measured| measured.way == way) {
                None => ways.push(Measured { way, best: path }),
                Some(measured) => {
                    let best = &mut measured.best;
                    best.goodput_bps = best.goodput_bps.max(path.goodput_bps);
                    best.cpu_s_per_gb = best.cpu_s_per_gb.min(path.cpu_s_per_gb);
                }
            }
        }
    }
    let goodput = |way| ways.iter().find(|measured| measured.way == way).map(|found| found.best.goodput_bps);
    let ratios = RATIOS.iter().filter_map(|&(of, over, target)| {
        Some(Ratio { of, over, ratio: goodput(of)? / goodput(over)?, target })
    });
    let ratios = ratios.collect();
    Ok(Results { version: env!("CARGO_PKG_VERSION"), ways, ratios })
}

fn print(results: &Results) {
    let mut table = Table::new(&["datapath", "Gbit/s", "CPU s per GB"]);
    for Measured { way, best } in &results.ways {
        let goodput = format!("{:.3}", best.goodput_bps / 1e9);
        table.row([way.name().into(), goodput, format!("{:.2}", best.cpu_s_per_gb)]);
    }
    println!("{table}");
    for Ratio { of, over, ratio, target } in &results.ratios {
        let verdict = target.map_or(String::new(), |target| {
            format!("; {target} to reach: {}", if *ratio >= target { "yes" } else { "NO" })
        });
        println!("{} over {}: {ratio:.2}{verdict}", of.name(), over.name());
    }
    if !results.ways.iter().any(|measured| measured.way == Way::WireguardGo) {
        println!("wireguard-go and wg are not installed: nothing to compare sealed tunnels with");
    }
}
