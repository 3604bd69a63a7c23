//! The protocol's settings as a table of the proxy's file.
use super::text;
use prismux_endpoint::random::Seed;
use prismux_prism::{ProxyConfig, RpcMode, SchedulerKind, WeightUnit};
use prismux_units::Duration;
use serde::{Deserialize, Deserializer};

/// Which set of defaults the other keys of the table change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Profile {
    /// Learned rates, window control, local repair, parking: for unmodified senders of today.
    #[default]
    Modern,
    /// PRISM as published: rates as advertised, ADAS.
    Paper,
    /// Plain striping: ADAS's weights without any ACK control, as a contender.
    Striping,
}

/// The `[prism]` table: a profile and what deviates from it.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Table {
    profile: Profile,
    #[serde(deserialize_with = "text::optional")]
    scheduler: Option<SchedulerKind>,
    #[serde(deserialize_with = "text::optional")]
    rpc: Option<RpcMode>,
    weight_unit: Option<WeightUnitName>,
    weight_floor: Option<f64>,
    rtt_gain: Option<f64>,
    link_dupthresh: Option<u8>,
    tail_factor: Option<f64>,
    #[serde(deserialize_with = "text::optional")]
    ack_delay_allowance: Option<Duration>,
    hold_max_rtts: Option<f64>,
    hold_max_rto_share: Option<f64>,
    loss_reports: Option<bool>,
    report_repeat: Option<u8>,
    learn_rates: Option<bool>,
    window_control: Option<bool>,
    parking: Option<bool>,
    repair_budget_packets: Option<u32>,
    max_flows: Option<u32>,
    max_packets_per_flow: Option<u32>,
    #[serde(deserialize_with = "text::optional")]
    flow_idle: Option<Duration>,
    seed: Option<u64>,
}

/// How link weights are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum WeightUnitName {
    SlowestLink,
    Gcd,
}

impl From<WeightUnitName> for WeightUnit {
    fn from(name: WeightUnitName) -> Self {
        match name {
            WeightUnitName::SlowestLink => Self::SlowestLink,
            WeightUnitName::Gcd => Self::Gcd,
        }
    }
}

/// Reads the table as the settings of the core.
pub(super) fn table<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ProxyConfig, D::Error> {
    let table = Table::deserialize(deserializer)?;
    let mut core = match table.profile {
        Profile::Modern => ProxyConfig::default(),
        Profile::Paper => ProxyConfig::paper(),
        Profile::Striping => ProxyConfig {
            rpc: RpcMode::Off,
            scheduler: SchedulerKind::WeightedRoundRobin,
            ..ProxyConfig::paper()
        },
    };
    set(&mut core.scheduler, table.scheduler);
    set(&mut core.rpc, table.rpc);
    set(&mut core.weight_unit, table.weight_unit.map(WeightUnit::from));
    set(&mut core.weight_floor, table.weight_floor);
    set(&mut core.rtt_gain, table.rtt_gain);
    set(&mut core.link_dupthresh, table.link_dupthresh);
    set(&mut core.tail_factor, table.tail_factor);
    set(&mut core.ack_delay_allowance, table.ack_delay_allowance);
    set(&mut core.hold_max_rtts, table.hold_max_rtts);
    set(&mut core.hold_max_rto_share, table.hold_max_rto_share);
    set(&mut core.report_repeat, table.report_repeat);
    set(&mut core.loss_reports, table.loss_reports);
    set(&mut core.learn_rates, table.learn_rates);
    set(&mut core.window_control, table.window_control);
    set(&mut core.parking, table.parking);
    set(&mut core.repair_budget_packets, table.repair_budget_packets);
    set(&mut core.max_flows, table.max_flows);
    set(&mut core.max_packets_per_flow, table.max_packets_per_flow);
    set(&mut core.flow_idle, table.flow_idle);
    set(&mut core.seed, table.seed.map(Seed));
    Ok(core)
}

fn set<T>(slot: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *slot = value;
    }
}
