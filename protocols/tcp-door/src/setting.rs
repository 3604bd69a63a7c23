//! The 56 settings of the published study: five configurations of detectors and responses, with T1 and T2 of 1, 2, 4
//! and 8 timer units where they matter.
use crate::config::DoorConfig;
use alloc::format;
use alloc::string::String;

/// The spans of the study, in timer units.
pub const SPANS: [u32; 4] = [1, 2, 4, 8];

/// Which detectors and which responses are on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Configuration {
    /// Both detectors, both responses.
    All,
    /// Detection at the sender only (D1), both responses.
    SenderDetection,
    /// Detection at the receiver only (D2), both responses.
    ReceiverDetection,
    /// Both detectors; congestion control is disabled for a time (R1) and nothing is taken back.
    TemporaryDisabling,
    /// Both detectors; reductions are taken back (R2) and nothing is disabled.
    InstantRecovery,
}

impl Configuration {
    /// Every configuration, in the order of the paper.
    pub const ALL: [Self; 5] = [
        Self::All,
        Self::SenderDetection,
        Self::ReceiverDetection,
        Self::TemporaryDisabling,
        Self::InstantRecovery,
    ];

    /// The paper's abbreviation, in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::SenderDetection => "sd",
            Self::ReceiverDetection => "rd",
            Self::TemporaryDisabling => "td",
            Self::InstantRecovery => "ir",
        }
    }

    const fn uses_t1(self) -> bool {
        !matches!(self, Self::InstantRecovery)
    }

    const fn uses_t2(self) -> bool {
        !matches!(self, Self::TemporaryDisabling)
    }
}

/// One setting of the study.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Setting {
    /// Detectors and responses.
    pub configuration: Configuration,
    /// T1, in timer units; `None` without R1.
    pub t1: Option<u32>,
    /// T2, in timer units; `None` without R2.
    pub t2: Option<u32>,
}

impl Setting {
    /// All 56, by configuration, then T1, then T2.
    pub fn all() -> impl Iterator<Item = Self> {
        Configuration::ALL.into_iter().flat_map(|configuration| {
            spans(configuration.uses_t1()).flat_map(move |t1| {
                spans(configuration.uses_t2()).map(move |t2| Self { configuration, t1, t2 })
            })
        })
    }

    /// For instance `all-t1x2-t2x4` or `ir-t2x8`.
    pub fn name(&self) -> String {
        let span = |name: &str, units: Option<u32>| units.map_or(String::new(), |n| format!("-{name}x{n}"));
        format!("{}{}{}", self.configuration.name(), span("t1", self.t1), span("t2", self.t2))
    }

    /// The setting called `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::all().find(|setting| setting.name() == name)
    }

    /// As both ends are told.
    pub fn config(&self) -> DoorConfig {
        DoorConfig {
            detects_acks: self.configuration != Configuration::ReceiverDetection,
            detects_data: self.configuration != Configuration::SenderDetection,
            freeze_units: self.t1,
            restore_units: self.t2,
            ..DoorConfig::published()
        }
    }
}

/// The spans of the study, or the one that there is without.
fn spans(used: bool) -> impl Iterator<Item = Option<u32>> + Clone {
    let count = if used { SPANS.len() } else { 1 };
    (0..count).map(move |index| SPANS.get(index).copied().filter(|_| used))
}
