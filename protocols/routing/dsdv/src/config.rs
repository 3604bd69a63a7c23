//! Every parameter of DSDV.
use prismux_units::Duration;

/// Every parameter of DSDV.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DsdvConfig {
    /// The longest time between full updates; the shortest is three quarters of it.
    pub update_interval: Duration,
    /// The shortest time between updates of whatever kind, the full ones at their time aside.
    pub min_trigger_interval: Duration,
    /// The settling time of a destination that is new: how long its routes still change for one sequence number.
    pub first_settling_time: Duration,
    /// The weight of the past in the average of settling times, in eighths (alpha).
    pub settling_weight_eighths: u64,
    /// Whether a new sequence number delays what is told of a route that is otherwise as before, as in ns-2.
    pub new_number_delays: bool,
    /// Full updates that a neighbour may miss before its link counts as broken.
    pub missed_updates: u32,
    /// Whether a new sequence number, too, is told at once (the variant DSDV-SQ of Broch et al., MobiCom 1998).
    pub trigger_on_sequence_number: bool,
    /// Whether link failures that the MAC layer reports count.
    pub link_layer_feedback: bool,
    /// Packets that wait for a route to one destination.
    pub queue_packets: usize,
    /// The longest time until a host's first update.
    pub startup_jitter: Duration,
    /// The longest jitter before a broadcast.
    pub broadcast_jitter: Duration,
}

impl DsdvConfig {
    /// What C. Perkins and P. Bhagwat (SIGCOMM 1994) say of settling, section 3: a route is held back while it may
    /// still change for the better, and one that a new number leaves as it was is told. Timers are those of ns-2.35.
    pub const fn sigcomm1994() -> Self {
        Self { new_number_delays: false, ..Self::ns2() }
    }

    /// The parameters of ns-2.35, whose hosts take no word of the MAC layer for it that a link is broken, as in the
    /// comparison of Broch et al.
    pub const fn ns2() -> Self {
        Self {
            update_interval: Duration::from_secs(15),
            min_trigger_interval: Duration::from_secs(1),
            first_settling_time: Duration::from_secs(6),
            settling_weight_eighths: 7,
            new_number_delays: true,
            missed_updates: 3,
            trigger_on_sequence_number: false,
            link_layer_feedback: false,
            queue_packets: 5,
            startup_jitter: Duration::from_secs(2),
            broadcast_jitter: Duration::from_millis(10),
        }
    }

    /// DSDV-SQ, the variant that Broch et al. compare with DSR and AODV.
    pub const fn dsdv_sq() -> Self {
        Self { trigger_on_sequence_number: true, ..Self::ns2() }
    }
}
