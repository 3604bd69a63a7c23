//! The settings of 802.11's distributed coordination function.
use super::point::PollingConfig;
use super::slots::SlotConfig;
use crate::energy::{DutyCycle, Powers};
use crate::ht::HtFormat;
use crate::radio::{Modulation, Preamble};
use crate::rates;
use crate::resolution::AddressResolution;
use alloc::vec::Vec;
use prismux_units::{Duration, Rate};

/// The medium access of all hosts on an [`Air`](crate::Air).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MacConfig {
    /// How bits become time.
    pub modulation: Modulation,
    /// The rate of unicast data; the fastest, where the rate follows the losses.
    pub data_rate: Rate,
    /// The rate of broadcasts, and of RTS, CTS and ACK; slower for a packet that goes slower itself.
    pub basic_rate: Rate,
    /// How the rate of unicast data is found.
    pub rate_control: RateControl,
    /// One slot of back-off.
    pub slot: Duration,
    /// Short interframe space.
    pub sifs: Duration,
    /// The contention window begins here: 31 in 802.11b, 15 with OFDM.
    pub min_window: u32,
    /// The contention window ends here.
    pub max_window: u32,
    /// What a data frame adds to a packet: MAC header and checksum, in bytes.
    pub data_overhead_bytes: u32,
    /// Data frames of at least this many bytes, header included, ask with RTS first; broadcasts never do.
    pub rts_threshold_bytes: u32,
    /// Attempts at a frame below the RTS threshold, and at an RTS, before the packet is given up.
    pub short_retry_limit: u8,
    /// Attempts at a frame from the RTS threshold on before the packet is given up.
    pub long_retry_limit: u8,
    /// Packets that wait for the medium: of each kind, where every kind has a queue.
    pub queue_packets: u32,
    /// How many packets for one neighbour go together; `None` where each goes alone.
    pub aggregation: Option<Aggregation>,
    /// Which packets wait together.
    pub queue: QueueRule,
    /// How hosts learn which radio has the address of a neighbour, before a packet waits for the medium.
    pub address_resolution: AddressResolution,
    /// Whose reading of the standard holds.
    pub rules: AccessRules,
    /// Who says when a host may send.
    pub coordination: Coordination,
    /// When radios sleep, if they do: no exchange begins then.
    pub duty_cycle: Option<DutyCycle>,
}

/// How the rate of unicast data is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateControl {
    /// [`MacConfig::data_rate`] for every packet.
    Fixed,
    /// Automatic rate fallback, for each neighbour, among the rates of the standard: faster ones need more power, from
    /// [`RadioConfig::receive_threshold_w`](crate::RadioConfig::receive_threshold_w) of the slowest on.
    Arf(ArfConfig),
}

/// Settings of automatic rate fallback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArfConfig {
    /// Acknowledgements in a row until the next faster rate is tried.
    pub raise_after: u8,
    /// Attempts at one rate until the next faster is tried, at the first acknowledgement from then on.
    pub probe_after: u8,
    /// Failures in a row until the next slower rate is used.
    pub lower_after: u8,
}

impl ArfConfig {
    /// Ten acknowledgements, two failures (Kamerman and Monteban 1997); 15 attempts (Lacage, Manshaei and Turletti
    /// 2004).
    pub const fn kamerman_monteban() -> Self {
        Self { raise_after: 10, probe_after: 15, lower_after: 2 }
    }
}

/// Several packets for one neighbour in one transmission, each acknowledged alone in one block acknowledgement (A-MPDU,
/// IEEE 802.11-2012, 8.6.1 and 9.21). A host sends together what waits, and waits for no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Aggregation {
    /// Most packets, up to 64: as many as a block acknowledgement has bits.
    pub max_packets: u8,
    /// Most bytes, headers and delimiters included.
    pub max_bytes: u32,
    /// Longest time on the air.
    pub max_airtime: Duration,
}

impl Aggregation {
    /// What 802.11n permits: 64 packets, 65535 bytes, 5.484 ms.
    pub const fn ht() -> Self {
        Self { max_packets: 64, max_bytes: 65_535, max_airtime: Duration::from_micros(5484) }
    }
}

/// Which packets wait together for the medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueRule {
    /// All in one queue: those of routing protocols go first, and displace the newest of the others when there is no
    /// room (ns-2's `Queue/DropTail/PriQueue`).
    Shared,
    /// Each kind in a queue of its own: routing, then acknowledgements of TCP, then data (ns-2's `CMUPriQueue`, which
    /// its DSR demands).
    ByKind,
}

/// Who says when a host may send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coordination {
    /// The hosts, by contention (IEEE 802.11-1999, 9.2).
    Distributed,
    /// A timetable: each slot is one host's own. There is no RTS, and nothing is acknowledged or sent again. On
    /// channels without a [`Role::SlotOwner`](crate::Role::SlotOwner) hosts contend.
    Slots(SlotConfig),
    /// An access point, at fixed times: it polls those on its list ([`Role::AccessPoint`](crate::Role::AccessPoint)).
    /// Between these times, and on channels without one, the hosts contend (IEEE 802.11-1999, 9.3).
    Polling(PollingConfig),
}

/// Readings of 802.11's rules of access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessRules {
    /// IEEE 802.11-1999, clause 9: back-off from 0 to CW slots, at once when the medium was idle; EIFS instead of DIFS
    /// after a damaged frame, until an intact one comes; signals too weak to decode are carrier and no damaged frame.
    Standard,
    /// ns-2.35: back-off from 0 to CW - 1 slots, always; a damaged frame, or one too weak to decode, sets the NAV to
    /// EIFS, and DIFS follows; a host that has sent a CTS is busy until the data is overdue; data is sent after a CTS
    /// only when the medium is idle; data from the RTS threshold on is taken in only behind an own CTS.
    Ns2,
}

impl MacConfig {
    /// ns-2's defaults with data at 2 Mbit/s and control frames at 1 Mbit/s, RTS before every unicast.
    pub fn ns2() -> Self {
        Self {
            modulation: Modulation::Dsss(Preamble::Long),
            data_rate: Rate::from_mbps(2),
            basic_rate: Rate::from_mbps(1),
            rate_control: RateControl::Fixed,
            slot: Duration::from_micros(20),
            sifs: Duration::from_micros(10),
            min_window: 31,
            max_window: 1023,
            data_overhead_bytes: 34,
            rts_threshold_bytes: 0,
            short_retry_limit: 7,
            long_retry_limit: 4,
            queue_packets: 50,
            aggregation: None,
            queue: QueueRule::Shared,
            address_resolution: AddressResolution::None,
            rules: AccessRules::Ns2,
            coordination: Coordination::Distributed,
            duty_cycle: None,
        }
    }

    /// 802.11b at 11 Mbit/s by the standard, without RTS.
    pub fn dsss() -> Self {
        Self {
            data_rate: Rate::from_mbps(11),
            basic_rate: Rate::from_mbps(2),
            // MAC header 24, checksum 4, LLC and SNAP 8.
            data_overhead_bytes: 36,
            rts_threshold_bytes: u32::MAX,
            rules: AccessRules::Standard,
            ..Self::ns2()
        }
    }

    /// 802.11a at 54 Mbit/s by the standard, without RTS.
    pub fn ofdm() -> Self {
        Self {
            modulation: Modulation::Ofdm,
            data_rate: Rate::from_mbps(54),
            basic_rate: Rate::from_mbps(24),
            slot: Duration::from_micros(9),
            sifs: Duration::from_micros(16),
            min_window: 15,
            ..Self::dsss()
        }
    }

    /// 802.11g at 54 Mbit/s among stations of its own kind, without RTS.
    pub fn erp_ofdm() -> Self {
        Self { modulation: Modulation::ErpOfdm, sifs: Duration::from_micros(10), ..Self::ofdm() }
    }

    /// 802.11n at 150 Mbit/s: one stream, 40 MHz, short guard interval; control frames and broadcasts as in 802.11a.
    pub fn ht(format: HtFormat) -> Self {
        Self { modulation: Modulation::Ht(format), data_rate: Rate::from_mbps(150), ..Self::ofdm() }
    }
}

impl MacConfig {
    /// All rates at which frames may go.
    pub(crate) fn rates_in_use(&self) -> Vec<Rate> {
        match self.rate_control {
            RateControl::Fixed => Vec::from([self.basic_rate, self.data_rate]),
            RateControl::Arf(_) => {
                let steps = self.modulation.rates().iter().map(|step| step.rate);
                steps.filter(|rate| *rate <= self.data_rate.max(self.basic_rate)).collect()
            }
        }
    }
}

/// Bytes of an RTS frame.
pub(crate) const RTS_BYTES: u32 = 20;
/// Bytes of a CTS frame.
pub(crate) const CTS_BYTES: u32 = 14;
/// Bytes of an ACK frame.
pub(crate) const ACK_BYTES: u32 = 14;
/// Bytes of a compressed block acknowledgement.
pub(crate) const BLOCK_ACK_BYTES: u32 = 32;
/// Bytes of a beacon: header 24, fixed fields 12, name of the network 8, rates 6, channel 3, contention-free periods 8,
/// traffic map 7, checksum 4.
pub(crate) const BEACON_BYTES: u32 = 72;
/// Bytes of the frame that ends a contention-free period.
pub(crate) const CF_END_BYTES: u32 = 20;
/// Bytes of a data frame without data.
pub(crate) const NULL_BYTES: u32 = 28;
/// Bytes of the longest frame (802.11-1999, 7.1.2).
pub(crate) const MAX_FRAME_BYTES: u32 = 2346;
/// What ns-2 allows for propagation, there and back, when it waits for an answer.
const ROUND_TRIP_NS2: Duration = Duration::from_micros(4);

/// Control frames at one rate, and how long they are on the air.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Control {
    pub rate: Rate,
    pub rts: Duration,
    pub cts: Duration,
    pub ack: Duration,
    pub block_ack: Duration,
}

impl Control {
    fn new(modulation: Modulation, rate: Rate) -> Self {
        let airtime = |bytes| modulation.airtime(bytes, rate);
        Self {
            rate,
            rts: airtime(RTS_BYTES),
            cts: airtime(CTS_BYTES),
            ack: airtime(ACK_BYTES),
            block_ack: airtime(BLOCK_ACK_BYTES),
        }
    }
}

/// The settings with all durations worked out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mac {
    pub config: MacConfig,
    /// DCF interframe space.
    pub difs: Duration,
    /// Extended interframe space, after a damaged frame.
    pub eifs: Duration,
    /// Control frames at the basic rate.
    basic: Control,
    /// The timetable, where there is one.
    pub slots: Option<SlotConfig>,
    /// Contention-free periods, where there are any.
    pub polling: Option<PollingConfig>,
    /// Which of the standard's rates that of data is, or the fastest of them.
    pub fastest: u8,
    /// From a sender to all receivers.
    pub propagation_delay: Duration,
    /// Beyond SIFS and the answer itself, until a missing answer is noticed.
    pub patience: Duration,
    /// What radios draw, where that is counted.
    pub powers: Option<Powers>,
}

impl Mac {
    pub fn new(config: MacConfig, propagation_delay: Duration) -> Self {
        let (slots, polling) = match config.coordination {
            Coordination::Distributed => (None, None),
            Coordination::Slots(slots) => (Some(slots), None),
            Coordination::Polling(polling) => (None, Some(polling)),
        };
        let airtime = |bytes| config.modulation.airtime(bytes, config.basic_rate);
        let difs = config.sifs + config.slot * 2;
        let slowest_ack = match config.modulation {
            Modulation::Dsss(_) => config.modulation.airtime(ACK_BYTES, Rate::from_mbps(1)),
            _ => airtime(ACK_BYTES),
        };
        let patience = match config.rules {
            AccessRules::Standard => config.slot,
            AccessRules::Ns2 => ROUND_TRIP_NS2,
        };
        Self {
            config,
            difs,
            eifs: config.sifs + slowest_ack + difs,
            basic: Control::new(config.modulation, config.basic_rate),
            fastest: rates::position(config.modulation.rates(), config.data_rate).unwrap_or(0) as u8,
            slots,
            polling,
            propagation_delay,
            patience,
            powers: None,
        }
    }

    pub fn is_ns2(&self) -> bool {
        self.config.rules == AccessRules::Ns2
    }

    /// The control frames that go with data at `data_rate`, and the answers to frames at that rate.
    pub fn control(&self, data_rate: Rate) -> Control {
        let MacConfig { modulation, basic_rate, rate_control, .. } = self.config;
        let rate = match rate_control {
            RateControl::Fixed => basic_rate,
            RateControl::Arf(_) => rates::control_rate(modulation.rates(), data_rate, basic_rate),
        };
        if rate == basic_rate { self.basic } else { Control::new(modulation, rate) }
    }

    /// How long a data frame is on the air.
    pub fn data(&self, packet_bytes: u32, rate: Rate) -> Duration {
        self.config.modulation.airtime(self.frame_bytes(packet_bytes), rate)
    }

    pub fn frame_bytes(&self, packet_bytes: u32) -> u32 {
        packet_bytes.saturating_add(self.config.data_overhead_bytes)
    }

    /// Whether a unicast data frame is long: announced by RTS, and counted by the long retry counter.
    pub fn is_long(&self, packet_bytes: u32) -> bool {
        self.frame_bytes(packet_bytes) >= self.config.rts_threshold_bytes
    }
}
