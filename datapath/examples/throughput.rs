//! Prints what the datapath achieves on this machine without emulated limits: `cargo run --release --example throughput`.
use prismux_datapath::{lab, throughput};
use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    lab::ensure_privileges()?;
    let seconds = std::env::args().nth(1).and_then(|argument| argument.parse().ok()).unwrap_or(4);
    let throughput = throughput::measure(Duration::from_secs(seconds))?;
    let ways = [
        ("bare forwarder", throughput.forwarder, 1.0),
        ("PRISM by GRE", throughput.prism_gre, throughput.ratio_gre()),
        ("PRISM by GRE-in-UDP", throughput.prism_udp, throughput.ratio_udp()),
    ];
    println!("{:20} {:>10} {:>10} {:>8}", "", "Gbit/s", "CPU s/GB", "ratio");
    for (name, path, ratio) in ways {
        println!("{name:20} {:10.3} {:10.3} {ratio:8.3}", path.goodput_bps / 1e9, path.cpu_s_per_gb);
    }
    Ok(())
}
