//! Settings of both ends.

/// Spans are given in units of the retransmission timeout as it is without floor and back-off at the time of the event.
/// No span is longer than this many units.
pub const MAX_TIMER_UNITS: u32 = 64;

/// Every choice in TCP-DOOR.
#[derive(Debug, Clone, PartialEq)]
pub struct DoorConfig {
    /// D1: the sender watches the order of acknowledgements.
    pub detects_acks: bool,
    /// D2: the receiver watches the order of data and reports, and the sender believes reports.
    pub detects_data: bool,
    /// R1: congestion control stands still for T1, in timer units, after an event; `None` leaves R1 out.
    pub freeze_units: Option<u32>,
    /// While R1 lasts the window grows as ever, and only reductions are left out: the paper's section 5.1 speaks of
    /// *congestion avoidance actions* that are disabled, section 3.3.1 of state that stays constant.
    pub grows_while_frozen: bool,
    /// R2: reductions of the last T2, in timer units, are taken back at an event; `None` leaves R2 out.
    pub restore_units: Option<u32>,
    /// Offer the option on SYN. Without it, acknowledgement numbers and timestamps have to do.
    pub offers_option: bool,
    /// Offer it on every SYN, however many were lost. Otherwise the third goes without, for paths that drop what they
    /// do not know. Senders of ns-2 shake no hands: both ends know of the option whatever is lost.
    pub option_on_every_syn: bool,
    /// Number data packets (TPSN). Without, the receiver goes by timestamps.
    pub numbers_data: bool,
    /// Further acknowledgements that repeat the report of an out-of-order data packet.
    pub report_repeats: u8,
    /// Share of time, over long, for which congestion control may stand still; `None` sets no bound.
    pub max_frozen_share: Option<f64>,
}

impl DoorConfig {
    /// As published, with both detectors, both responses, and the middle of the spans that were tested: T1 of two and
    /// T2 of four timer units.
    pub const fn published() -> Self {
        Self {
            detects_acks: true,
            detects_data: true,
            freeze_units: Some(2),
            grows_while_frozen: false,
            restore_units: Some(4),
            offers_option: true,
            option_on_every_syn: false,
            numbers_data: true,
            report_repeats: 0,
            max_frozen_share: None,
        }
    }

    /// For the networks of today, where reordering need not mean a new route: reports are repeated twice, and
    /// congestion control works at least half of the time.
    pub const fn guarded() -> Self {
        Self { report_repeats: 2, max_frozen_share: Some(0.5), ..Self::published() }
    }
}

impl Default for DoorConfig {
    fn default() -> Self {
        Self::published()
    }
}
