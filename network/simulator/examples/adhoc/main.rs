//! Ad-hoc networks here and in ns-2, on the same movements and with the same traffic.
//!
//! `cargo run --release -p prismux-simulator --example adhoc -- NETWORK ROUTING,... NETWORKS SEEDS SECONDS`
//!
//! NETWORK is `transfer` (one TCP connection among 20 moving hosts), `stream` (datagrams instead), `cell` (100 hosts
//! that write to one in their middle), `cbr:SOURCES:PAUSE_S` (50 moving hosts, sources of 4 packets a second: J.
//! Broch et al., MobiCom 1998) or `wide:HOSTS` (hundreds of hosts at the density of the cell, here alone).
//! ROUTING is `dsr`, `aodv`, `dsdv`, or `direct` (every destination is a neighbour); NETWORKS a number of random
//! networks, or files of movements. Without ns-2 (`ns`) on this machine only this simulator runs.
#![allow(clippy::disallowed_macros, clippy::disallowed_methods)] // A program, not a core: it reads and prints.
mod networks;
mod ns2;
mod ours;
mod paths;

use networks::{Kind, Network};
use std::error::Error;

/// What one run measured.
#[derive(Debug, Clone, Copy, Default)]
struct Measured {
    /// What TCP's senders know to have arrived, all together.
    goodput_kbps: f64,
    timeouts: f64,
    /// Data packets that reach TCP's receivers behind others sent later, of 1000.
    late_per_mille: f64,
    /// Datagrams that arrived, in percent.
    delivered_percent: f64,
    /// Packets of the routing protocol, each hop counted.
    routing_packets: f64,
    /// Hops of datagrams above the fewest that were possible when they arrived, in the mean.
    hops_above: f64,
    /// Datagrams that came by the fewest hops, in percent.
    shortest_percent: f64,
    frames: f64,
    /// Of the run alone.
    cpu_s: f64,
}

impl Measured {
    const NAMES: [&'static str; 9] = [
        "kbit/s",
        "timeouts",
        "late o/oo",
        "delivered %",
        "routing packets",
        "hops above",
        "shortest %",
        "frames",
        "frames/CPU s",
    ];

    fn values(&self) -> [f64; 9] {
        [
            self.goodput_kbps,
            self.timeouts,
            self.late_per_mille,
            self.delivered_percent,
            self.routing_packets,
            self.hops_above,
            self.shortest_percent,
            self.frames,
            self.frames / self.cpu_s,
        ]
    }

    fn mean(all: &[Self]) -> Self {
        let n = all.len() as f64;
        let mean = |of: fn(&Self) -> f64| all.iter().map(of).sum::<f64>() / n;
        Self {
            goodput_kbps: mean(|one| one.goodput_kbps),
            timeouts: mean(|one| one.timeouts),
            late_per_mille: mean(|one| one.late_per_mille),
            delivered_percent: mean(|one| one.delivered_percent),
            routing_packets: mean(|one| one.routing_packets),
            hops_above: mean(|one| one.hops_above),
            shortest_percent: mean(|one| one.shortest_percent),
            frames: mean(|one| one.frames),
            cpu_s: mean(|one| one.cpu_s),
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, routing, networks, seeds, seconds] = arguments.as_slice() else {
        return Err("arguments: NETWORK ROUTING,... NETWORKS SEEDS SECONDS".into());
    };
    let kind =
        Kind::parse(kind).ok_or("NETWORK: transfer, stream, cell, cbr:SOURCES:PAUSE_S or wide:HOSTS")?;
    let (seeds, seconds): (u64, u64) = (seeds.parse()?, seconds.parse()?);
    let networks: Vec<Network> = match networks.parse::<u64>() {
        Ok(count) => (1..=count).map(|number| Network::draw(kind, number, seconds)).collect(),
        Err(_) => {
            let load = |file| Ok(Network { kind, seconds, movements: std::fs::read_to_string(file)? });
            networks.split(',').map(load).collect::<std::io::Result<_>>()?
        }
    };
    println!("routing network {}  (here | ns-2, means of {seeds} seeds)", Measured::NAMES.join(", "));
    for routing in routing.split(',') {
        let mut pairs = Vec::new();
        for (number, network) in (1..).zip(&networks) {
            let runs =
                |run: &dyn Fn(u64) -> Result<Measured, Box<dyn Error>>| -> Result<Measured, Box<dyn Error>> {
                    let all: Result<Vec<Measured>, _> = (1..=seeds).map(run).collect();
                    Ok(Measured::mean(&all?))
                };
            let here = runs(&|seed| ours::run(network, routing, seed))?;
            let there = (kind.is_compared() && ns2::is_there())
                .then(|| runs(&|seed| ns2::run(network, routing, seed)));
            let there = there.transpose().unwrap_or_else(|error| {
                println!("{routing} {number:2} is left out of the means: {error}");
                None
            });
            println!("{routing} {number:2} {}", row(&here, there.as_ref()));
            pairs.extend(there.map(|there| (here, there)));
        }
        summarise(routing, &pairs);
    }
    Ok(())
}

fn row(here: &Measured, there: Option<&Measured>) -> String {
    let there = there.map(Measured::values);
    let cell = |(index, value): (usize, f64)| match there {
        Some(there) => format!("{value:9.1} |{:9.1}", there[index]),
        None => format!("{value:9.1}"),
    };
    here.values().into_iter().enumerate().map(cell).collect::<Vec<_>>().join(", ")
}

/// Means over the networks of what was measured, of its differences with their 95 % intervals, and of the ratios, which
/// leave out networks without a value in ns-2.
fn summarise(routing: &str, pairs: &[(Measured, Measured)]) {
    let split = |pick: fn(&(Measured, Measured)) -> Measured| pairs.iter().map(pick).collect::<Vec<_>>();
    let [here, there] = [split(|pair| pair.0), split(|pair| pair.1)];
    if pairs.is_empty() {
        return;
    }
    println!("{routing} all {}", row(&Measured::mean(&here), Some(&Measured::mean(&there))));
    for (index, name) in Measured::NAMES.iter().enumerate() {
        let values = |of: &Measured| of.values()[index];
        let both = || here.iter().map(values).zip(there.iter().map(values));
        let differences: Vec<f64> = both().map(|(here, there)| here - there).collect();
        if let Some((mean, half)) = interval(&differences) {
            println!("{routing} {name}: mean difference {mean:.2}, plus or minus {half:.2}");
        }
        let ratios: Vec<f64> =
            both().map(|(here, there)| here / there).filter(|ratio| ratio.is_finite()).collect();
        if !ratios.is_empty() {
            let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
            let (least, most) = ratios.iter().fold((f64::MAX, f64::MIN), |(l, m), r| (l.min(*r), m.max(*r)));
            println!("{routing} {name}: mean of the paired ratios {mean:.3} ({least:.2} to {most:.2})");
        }
    }
}

/// The 97.5 % quantile of Student's t with one degree of freedom, with two, and so on.
const STUDENT_T_975: [f64; 9] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262];

/// Mean of two to ten values and half its 95 % interval.
fn interval(values: &[f64]) -> Option<(f64, f64)> {
    let count = values.len() as f64;
    let quantile = STUDENT_T_975.get(values.len().checked_sub(2)?)?;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    mean.is_finite().then(|| (mean, quantile * (variance / count).sqrt()))
}
