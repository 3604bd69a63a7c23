//! Ways of using the links of a mix.
use super::PACKET_BYTES;
use prismux_plan::{IpFamily, ProxySettings};
use prismux_prism::{ProxyConfig, RpcMode, SchedulerKind};
use serde::Serialize;

/// IPv4, TCP and timestamps.
const HEADER_BYTES: u64 = 52;
/// IPv4 and TCP without options, which the segment size leaves out.
const BARE_HEADER_BYTES: u64 = 40;

/// A variant of using the links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    /// One of them, by its place in the mix; plain TCP (CUBIC).
    Single(usize),
    /// All of them through PRISM, whose members only know GRE; unmodified sender (CUBIC).
    Prism,
    /// The same with members that write receipts, as those of the daemons do.
    PrismReceipts,
    /// The same with repair packets on links that lose packets and have capacity to spare.
    PrismFec,
    /// All of them through PRISM, TCP-PRISM sender (CUBIC with loss reports).
    TcpPrism,
    /// All of them through PRISM as published, which is told the rates; TCP-PRISM sender.
    Paper,
    /// All of them in turn by weight of their rates, ACKs untouched.
    Striping,
}

impl Variant {
    /// The name in results.
    pub fn name(self) -> String {
        match self {
            Self::Single(index) => format!("link {}", index + 1),
            Self::Prism => "PRISM".into(),
            Self::PrismReceipts => "PRISM, receipts".into(),
            Self::PrismFec => "PRISM, receipts, FEC".into(),
            Self::TcpPrism => "PRISM, TCP-PRISM".into(),
            Self::Paper => "PRISM as published".into(),
            Self::Striping => "striping".into(),
        }
    }

    fn proxy_config(self) -> Option<ProxyConfig> {
        match self {
            Self::Single(_) => None,
            Self::Prism | Self::PrismReceipts | Self::PrismFec => Some(ProxyConfig::default()),
            Self::TcpPrism => Some(ProxyConfig { loss_reports: true, ..ProxyConfig::default() }),
            Self::Paper => Some(ProxyConfig::paper()),
            Self::Striping => Some(ProxyConfig {
                scheduler: SchedulerKind::SmoothWeightedRoundRobin,
                rpc: RpcMode::Off,
                loss_reports: false,
                ..ProxyConfig::paper()
            }),
        }
    }

    /// Its proxy, if it has one.
    pub(super) fn proxy(self) -> Option<ProxySettings> {
        let config = self.proxy_config()?;
        let fec = self == Self::PrismFec;
        Some(ProxySettings { receipts: fec || self == Self::PrismReceipts, fec, ..config.into() })
    }

    /// Segment size that fills a packet of 1500 bytes, tunnel included.
    pub(super) fn segment_bytes(self) -> u64 {
        let around = |proxy: ProxySettings| proxy.tunnel_bytes(IpFamily::V4) + proxy.repair_bytes();
        let tunnel = self.proxy().map_or(0, |proxy| u64::from(around(proxy)));
        PACKET_BYTES - tunnel - BARE_HEADER_BYTES
    }

    /// The part of a full-size packet that is the application's.
    pub(super) fn payload_share(self) -> f64 {
        let timestamps = HEADER_BYTES - BARE_HEADER_BYTES;
        (self.segment_bytes() - timestamps) as f64 / PACKET_BYTES as f64
    }
}
