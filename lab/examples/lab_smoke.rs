//! Builds a small network of namespaces by hand and prints what it carried.
//!
//! `cargo run --release -p prismux-lab --example lab_smoke -- [single|bond] [OPTIONS]`
//!
//! * `single`: two hosts, one link of 10 Mbit/s and 20 ms.
//! * `bond`: server, proxy, two members of 20 Mbit/s and 25 ms each, receiver.
//!
//! Options: `--rate "100 Mbit/s"`, `--delay "20 ms"`, `--loss "0.1 %"`, `--seconds 5`, `--congestion bbr`,
//! `--transport prism|striping|mptcp|single` (bond only), `--status`,
//! `--copies 20` (so many labs at the same time, one line each).
use prismux_daemons::config::{MemberConfig, ProxyConfig};
use prismux_daemons::{member, proxy};
use prismux_lab::{self as lab, LabOptions};
use prismux_link::{LinkConfig, LossModel, QueueLimit};
use prismux_plan::{Flow, Plan, ProxySettings, TcpSettings, Transport, registry};
use prismux_prism::{RpcMode, SchedulerKind};
use prismux_units::{Duration, Probability, Rate};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["proxy", "--config", file] => return Ok(proxy::run(ProxyConfig::load(file.as_ref())?)?),
        ["member", "--config", file] => return Ok(member::run(MemberConfig::load(file.as_ref())?)?),
        _ => {}
    }
    let privileges = lab::ensure_privileges()?;
    let option = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).map(String::as_str)
    };
    let rate: Rate = option("--rate").unwrap_or("10 Mbit/s").parse()?;
    let delay: Duration = option("--delay").unwrap_or("20 ms").parse()?;
    let loss: Probability = option("--loss").unwrap_or("0").parse()?;
    let seconds: u64 = option("--seconds").unwrap_or("5").parse()?;
    let congestion = option("--congestion").unwrap_or("cubic");
    let known = registry::CONGESTION.iter().find(|name| name.name == congestion);
    let known = known.ok_or_else(|| format!("there is no congestion control \"{congestion}\""))?;
    let tcp = TcpSettings { congestion: Some(known.value), ..TcpSettings::default() };
    let loss = if loss.as_f64() > 0.0 { LossModel::Bernoulli(loss) } else { LossModel::None };
    let there = LinkConfig::new(rate, delay).with_loss(loss).with_queue(QueueLimit::Bdp(1.0));
    let back = LinkConfig::new(rate, delay);
    let duration = Duration::from_secs(seconds);
    let plan = match arguments.first().map(String::as_str) {
        Some("bond") => bond(duration, there, back, option("--transport").unwrap_or("mptcp"), tcp),
        _ => {
            let mut plan = Plan::new("two hosts", duration);
            let (a, b) = (plan.host("a"), plan.host("b"));
            plan.link("wire", [a, b], there, back);
            plan.flow(Flow::new("bulk", a, b, Transport::Tcp).tcp(tcp));
            plan
        }
    };
    if let Some(copies) = option("--copies") {
        return side_by_side(&plan, copies.parse()?);
    }
    let outcome = lab::run(&plan, &LabOptions::default())?;
    println!("{}", outcome.result.to_json_pretty());
    for (name, flow) in &outcome.flows {
        let verified = flow.sha256 == flow.expected_sha256;
        println!("{name}: content {}", if verified { "as sent" } else { "DAMAGED" });
        if let Some(trouble) = &flow.trouble {
            println!("{name}: {trouble}");
        }
        for sender in &flow.senders {
            println!("{name}: {sender:?}");
        }
    }
    println!(
        "privileges: {privileges:?}; set-up {}; lateness {:?}",
        outcome.setup, outcome.emulator.lateness
    );
    Ok(())
}

/// Runs copies of a plan at the same time and prints how each fared.
fn side_by_side(plan: &Plan, copies: usize) -> Result<(), Box<dyn Error>> {
    std::thread::scope(|scope| {
        let labs: Vec<_> =
            (0..copies).map(|_| scope.spawn(|| lab::run(plan, &LabOptions::default()))).collect();
        for lab in labs {
            let outcome = lab.join().map_err(|_| "a lab panicked")??;
            let total = &outcome.result.total;
            let goodput = total.steady_goodput_bps.unwrap_or(total.goodput_bps);
            println!("{goodput:12.0} bit/s  set-up {}  {:?}", outcome.setup, outcome.emulator.lateness);
        }
        Ok(())
    })
}

fn bond(duration: Duration, there: LinkConfig, back: LinkConfig, variant: &str, tcp: TcpSettings) -> Plan {
    let wire = LinkConfig::new(Rate::from_mbps(1000), Duration::from_millis(1))
        .with_queue(QueueLimit::Packets(1000));
    let mut settings = ProxySettings::default();
    if variant == "striping" {
        settings.config.rpc = RpcMode::Off;
        settings.config.scheduler = SchedulerKind::SmoothWeightedRoundRobin;
    }
    let mut plan = Plan::new("two members", duration);
    let (server, proxy) = (plan.host("server"), plan.prism_proxy("proxy", settings));
    let (m1, m2, receiver) = (plan.member("m1"), plan.member("m2"), plan.host("receiver"));
    plan.symmetric_link("backbone", [server, proxy], wire.clone());
    plan.link("wwan1", [proxy, m1], there.clone(), back.clone());
    plan.link("wwan2", [proxy, m2], there, back);
    plan.symmetric_link("wlan1", [m1, receiver], wire.clone());
    plan.symmetric_link("wlan2", [m2, receiver], wire);
    let flow = |transport| Flow::new("download", server, receiver, transport).tcp(tcp.clone());
    plan.flow(match variant {
        "mptcp" => flow(Transport::Mptcp(prismux_plan::MptcpSettings::DEFAULT)),
        "single" => flow(Transport::Tcp).via(m1),
        _ => flow(Transport::Tcp),
    });
    plan
}
