//! How the proxy of a script is made.
use prismux_prism::{ProxyConfig, RpcMode, SchedulerKind};
use prismux_script::Words;
use std::str::FromStr;

/// Settings and the rates of the links in kbit/s.
pub struct Setup {
    pub config: ProxyConfig,
    pub rates_kbps: Vec<u64>,
}

/// Reads `paper` or `default` and what deviates from it; without words, PRISM as published over two links of 1000
/// kbit/s.
pub fn read(words: &mut Words<'_>) -> Result<Setup, String> {
    let config = match words.word("") {
        Ok("paper") | Err(_) => ProxyConfig::paper(),
        Ok("default") => ProxyConfig::default(),
        Ok(profile) => return Err(format!("unknown profile {profile:?}")),
    };
    let mut setup = Setup { config, rates_kbps: vec![1000, 1000] };
    for (key, value) in words.switches()? {
        change(&mut setup, key, value).map_err(|error| format!("{key}: {error}"))?;
    }
    Ok(setup)
}

fn change(setup: &mut Setup, key: &str, value: &str) -> Result<(), String> {
    let config = &mut setup.config;
    match key {
        "links" => setup.rates_kbps = value.split(',').map(parse).collect::<Result<_, _>>()?,
        "scheduler" => config.scheduler = parse::<SchedulerKind>(value)?,
        "rpc" => config.rpc = parse::<RpcMode>(value)?,
        "dupthresh" => config.link_dupthresh = parse(value)?,
        "reports" => config.loss_reports = parse(value)?,
        "repeat" => config.report_repeat = parse(value)?,
        "standby" => config.standby = parse(value)?,
        "tail" => config.tail_factor = parse(value)?,
        "repair" => config.repair_budget_packets = parse(value)?,
        _ => return Err("unknown setting".to_owned()),
    }
    Ok(())
}

fn parse<T: FromStr>(value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("{value:?} does not fit"))
}
