//! The protocol's settings as a table of the proxy's file.
use super::text;
use prismux_endpoint::random::Seed;
use prismux_prism::{LinkStateKept, ProxyConfig, RpcMode, SchedulerKind, WeightUnit};
use prismux_units::Duration;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// Which set of defaults the other keys of the table change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Profile {
    /// Learned rates, window control, local repair, standby: for unmodified senders of today.
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
    link_state: Option<LinkStateName>,
    rtt_gain: Option<f64>,
    rtt_ageing: Option<bool>,
    link_dupthresh: Option<u8>,
    tail_factor: Option<f64>,
    hold_max_rtts: Option<f64>,
    hold_max_rto_share: Option<f64>,
    loss_reports: Option<bool>,
    report_repeat: Option<u8>,
    learn_rates: Option<bool>,
    window_control: Option<bool>,
    standby: Option<bool>,
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

/// Whose state of the links is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum LinkStateName {
    Flow,
    Community,
}

impl From<LinkStateName> for LinkStateKept {
    fn from(name: LinkStateName) -> Self {
        match name {
            LinkStateName::Flow => Self::Flow,
            LinkStateName::Community => Self::Community,
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
            scheduler: SchedulerKind::SmoothWeightedRoundRobin,
            ..ProxyConfig::paper()
        },
    };
    set(&mut core.scheduler, table.scheduler);
    set(&mut core.rpc, table.rpc);
    set(&mut core.weight_unit, table.weight_unit.map(WeightUnit::from));
    set(&mut core.weight_floor, table.weight_floor);
    set(&mut core.link_state, table.link_state.map(LinkStateKept::from));
    set(&mut core.rtt_gain, table.rtt_gain);
    set(&mut core.rtt_ageing, table.rtt_ageing);
    set(&mut core.link_dupthresh, table.link_dupthresh);
    set(&mut core.tail_factor, table.tail_factor);
    set(&mut core.hold_max_rtts, table.hold_max_rtts);
    set(&mut core.hold_max_rto_share, table.hold_max_rto_share);
    set(&mut core.report_repeat, table.report_repeat);
    set(&mut core.loss_reports, table.loss_reports);
    set(&mut core.learn_rates, table.learn_rates);
    set(&mut core.window_control, table.window_control);
    set(&mut core.standby, table.standby);
    set(&mut core.repair_budget_packets, table.repair_budget_packets);
    set(&mut core.max_flows, table.max_flows);
    set(&mut core.max_packets_per_flow, table.max_packets_per_flow);
    set(&mut core.flow_idle, table.flow_idle);
    set(&mut core.seed, table.seed.map(Seed));
    if core.link_state_contradicts() {
        let text = "`link_state` is \"flow\" where rates are learned, and what is learned of a link is of all flows: \
                    write `profile = \"paper\"`, or `learn_rates = false`";
        return Err(D::Error::custom(text));
    }
    Ok(core)
}

fn set<T>(slot: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *slot = value;
    }
}

/// The `[prism]` table that gives exactly these settings; `None` when there is none. The MSS clamp is left out: the
/// daemon clamps to its tunnel's MTU instead.
pub fn prism_settings_to_toml(config: &ProxyConfig) -> Option<toml::Table> {
    let mut tables = ["modern", "paper"].into_iter().map(|profile| written(profile, config));
    let gives = |table: &toml::Table| {
        let read = prism_settings_from_toml(&table.to_string());
        read.is_ok_and(|read| ProxyConfig { mss_clamp: config.mss_clamp, ..read } == *config)
    };
    tables.find(gives)
}

/// The settings that the text of a `[prism]` table gives.
///
/// # Errors
/// As the configuration file: unknown keys, wrong units.
pub fn prism_settings_from_toml(text: &str) -> Result<ProxyConfig, String> {
    toml::Deserializer::parse(text).and_then(table).map_err(|error| super::file::explained(error.message()))
}

/// A profile and every setting that has a key of its own.
fn written(profile: &str, config: &ProxyConfig) -> toml::Table {
    let weight_unit = match config.weight_unit {
        WeightUnit::SlowestLink => "slowest-link",
        WeightUnit::Gcd => "gcd",
    };
    let link_state = match config.link_state {
        LinkStateKept::Flow => "flow",
        LinkStateKept::Community => "community",
    };
    // TOML has no unsigned numbers of 64 bits; a larger seed is told by the comparison that follows.
    let number = |value: u64| toml::Value::from(i64::try_from(value).unwrap_or(i64::MAX));
    toml::Table::from_iter(
        [
            ("profile", toml::Value::from(profile)),
            ("scheduler", config.scheduler.name().into()),
            ("rpc", config.rpc.name().into()),
            ("weight_unit", weight_unit.into()),
            ("weight_floor", config.weight_floor.into()),
            ("link_state", link_state.into()),
            ("rtt_gain", config.rtt_gain.into()),
            ("rtt_ageing", config.rtt_ageing.into()),
            ("link_dupthresh", number(config.link_dupthresh.into())),
            ("tail_factor", config.tail_factor.into()),
            ("hold_max_rtts", config.hold_max_rtts.into()),
            ("hold_max_rto_share", config.hold_max_rto_share.into()),
            ("loss_reports", config.loss_reports.into()),
            ("report_repeat", number(config.report_repeat.into())),
            ("flow_idle", config.flow_idle.to_string().into()),
            ("max_flows", number(config.max_flows.into())),
            ("max_packets_per_flow", number(config.max_packets_per_flow.into())),
            ("learn_rates", config.learn_rates.into()),
            ("window_control", config.window_control.into()),
            ("repair_budget_packets", number(config.repair_budget_packets.into())),
            ("standby", config.standby.into()),
            ("seed", number(config.seed.0)),
        ]
        .map(|(key, value)| (key.to_owned(), value)),
    )
}
