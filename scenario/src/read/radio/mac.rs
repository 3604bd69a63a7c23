//! The keys of `[radio]` that say who may send when, and how fast.
use crate::document::Value;
use crate::keys;
use crate::read::reader::Reader;
use crate::registry;
use prismux_wireless::{
    Aggregation, ChannelConfig, Coordination, HtFormat, MacConfig, Modulation, RateControl,
};

/// The medium access on all channels.
pub(super) struct Access {
    /// On those of most radios.
    pub common: MacConfig,
    /// On channels of their own kind.
    pub own: Vec<ChannelConfig>,
}

impl Access {
    /// Slots or polling are to hold on these channels, in place of contention; without a channel, on those of most
    /// radios. Answers with what is wrong with that.
    pub fn coordinate(
        &mut self,
        channels: &[u8],
        coordination: Coordination,
    ) -> Option<(MacConfig, &'static str)> {
        let is_own = |channel: &u8| self.own.iter().any(|own| own.channel == *channel);
        if channels.is_empty() || !channels.iter().all(is_own) {
            self.common.coordination = coordination;
        }
        for own in self.own.iter_mut().filter(|own| channels.contains(&own.channel)) {
            own.mac.coordination = coordination;
        }
        self.all().find_map(|mac| Some((*mac, mac.fault()?)))
    }

    /// Whether hosts contend everywhere.
    pub fn contends(&self) -> bool {
        self.all().all(|mac| mac.coordination == Coordination::Distributed)
    }

    fn all(&self) -> impl Iterator<Item = &MacConfig> {
        std::iter::once(&self.common).chain(self.own.iter().map(|own| &own.mac))
    }
}

/// Reads who may send when, and how fast, where no channel has settings of its own.
pub(super) fn read(reader: &Reader<'_>) -> MacConfig {
    let mut mac = access(reader);
    mac.duty_cycle = super::energy::duty_cycle(reader);
    let resolution = reader.name("address_resolution", registry::ADDRESS_RESOLUTION);
    mac.address_resolution = resolution.unwrap_or(mac.address_resolution);
    mac
}

/// Reads what may differ from channel to channel of who may send when, and how fast.
pub(super) fn access(reader: &Reader<'_>) -> MacConfig {
    let standard = reader.name("medium_access", registry::MEDIUM_ACCESS);
    let mut mac = standard.map_or_else(MacConfig::ns2, |standard| standard());
    mac.data_rate = positive_rate(reader, "data_rate").unwrap_or(mac.data_rate);
    mac.basic_rate = positive_rate(reader, "basic_rate").unwrap_or(mac.basic_rate);
    let threshold = reader.entry("rts_threshold").map(|entry| &entry.item.value);
    if matches!(threshold, Some(Value::Text(text)) if text == "off") {
        mac.rts_threshold_bytes = u32::MAX;
    } else if let Some(bytes) = reader.bytes("rts_threshold") {
        mac.rts_threshold_bytes = u32::try_from(bytes.as_u64()).unwrap_or(u32::MAX);
    }
    let retries = |key| reader.integer(key, 1..=255).map(|n| n as u8);
    mac.short_retry_limit = retries("short_retries").unwrap_or(mac.short_retry_limit);
    mac.long_retry_limit = retries("long_retries").unwrap_or(mac.long_retry_limit);
    mac.queue_packets =
        reader.integer("queue_packets", 1..=1_000_000).map_or(mac.queue_packets, |n| n as u32);
    mac.queue = reader.name("interface_queue", registry::INTERFACE_QUEUES).unwrap_or(mac.queue);
    ht_rates(reader, &mut mac);
    rate_control(reader, &mut mac);
    aggregation(reader, &mut mac);
    mac
}

/// Whether 802.11n has the rates.
fn ht_rates(reader: &Reader<'_>, mac: &mut MacConfig) {
    if !matches!(mac.modulation, Modulation::Ht(_)) {
        return;
    }
    let standard = MacConfig::ht(HtFormat::Mixed);
    if let Some(fault) = (MacConfig { data_rate: mac.data_rate, ..standard }).fault() {
        let expected = "a rate of 802.11n, such as 65, 72.2, 130, 150 or 300 Mbit/s, or of 802.11a";
        reader.wrong("data_rate", fault.to_string(), expected, None);
        mac.data_rate = standard.data_rate;
    }
    if let Some(fault) = (MacConfig { basic_rate: mac.basic_rate, ..standard }).fault() {
        let expected = "a rate of 802.11a: 6, 9, 12, 18, 24, 36, 48 or 54 Mbit/s";
        reader.wrong("basic_rate", fault.to_string(), expected, None);
        mac.basic_rate = standard.basic_rate;
    }
}

fn positive_rate(reader: &Reader<'_>, key: &'static str) -> Option<prismux_units::Rate> {
    let rate = reader.rate(key)?;
    if rate.as_bps() == 0 {
        reader.wrong(key, "found a rate of zero", "a rate above zero", None);
        return None;
    }
    Some(rate)
}

/// How the rate follows the losses, and whether it can.
fn rate_control(reader: &Reader<'_>, mac: &mut MacConfig) {
    let Some(rate_control) = reader.name("rate_control", registry::RATE_CONTROL) else { return };
    mac.rate_control = rate_control;
    if let Some(fault) = mac.fault() {
        let expected =
            "rates that `medium_access` has: 1, 2, 5.5 and 11, or 6, 9, 12, 18, 24, 36, 48 and 54 Mbit/s";
        reader.wrong("rate_control", fault.to_string(), expected, None);
        mac.rate_control = RateControl::Fixed;
    }
}

/// Which packets go together, and whether they can.
fn aggregation(reader: &Reader<'_>, mac: &mut MacConfig) {
    let Some(table) = reader.table("aggregation", keys::AGGREGATION) else { return };
    let most = Aggregation::ht();
    let max_packets = table.integer("packets", 1..=64).map_or(most.max_packets, |packets| packets as u8);
    let bytes = table.bytes("bytes").map(|bytes| u32::try_from(bytes.as_u64()).unwrap_or(u32::MAX));
    let max_bytes = bytes.unwrap_or(most.max_bytes);
    let max_airtime = table.duration("airtime").unwrap_or(most.max_airtime);
    table.finish();
    mac.aggregation = Some(Aggregation { max_packets, max_bytes, max_airtime });
    if let Some(fault) = mac.fault() {
        let remedy = "for instance medium_access = \"802.11n\"".to_string();
        reader.wrong("aggregation", fault.to_string(), "802.11a, g or n", Some(remedy));
        mac.aggregation = None;
    }
}
