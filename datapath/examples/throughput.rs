//! Prints what the datapath achieves on this machine without emulated limits: `cargo run --release --example throughput`.
use prismux_datapath::{lab, throughput};
use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    lab::ensure_privileges()?;
    let seconds = std::env::args().nth(1).and_then(|argument| argument.parse().ok()).unwrap_or(4);
    let throughput = throughput::measure(Duration::from_secs(seconds))?;
    let baseline = throughput.forwarder;
    let ways = [
        ("bare forwarder", baseline),
        ("PRISM by GRE", throughput.prism_gre),
        ("PRISM by GRE-in-UDP", throughput.prism_udp),
    ];
    println!("{:20} {:>8} {:>8} {:>8} {:>8}", "", "Gbit/s", "ratio", "CPU s/GB", "ratio");
    for (name, path) in ways {
        let (goodput, cost) = (path.goodput_bps / 1e9, path.cpu_s_per_gb);
        let (speed, efficiency) = (path.goodput_ratio(&baseline), path.efficiency_ratio(&baseline));
        println!("{name:20} {goodput:8.3} {speed:8.3} {cost:8.3} {efficiency:8.3}");
    }
    Ok(())
}
