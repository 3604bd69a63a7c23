//! What a link is and how it may change.
use crate::DeliveryTrace;
use crate::managed::Management;
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use prismux_units::{ByteCount, Duration, Instant, Probability, Rate};

/// The smallest queue that [`QueueLimit::Bdp`] stands for: ten packets of 1500 bytes. A short slow link would
/// otherwise get a queue of less than one packet.
pub const BDP_FLOOR_BYTES: u64 = 15_000;

/// One direction of a link. The default is a perfect wire: no limit, no delay, no loss.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LinkConfig {
    /// Serialisation rate; `None` for no limit. Ignored when `trace` is given.
    pub rate: Option<Rate>,
    /// Propagation delay, one way.
    pub delay: Duration,
    /// Random extra delay.
    pub jitter: Jitter,
    /// Random loss on the channel; a lost packet has used the link's rate.
    pub loss: LossModel,
    /// How much may wait. The packet being sent does not count.
    pub queue: QueueLimit,
    /// Who drops or marks before the queue is full; nobody when `None`.
    pub management: Option<Box<Management>>,
    /// The round trip that [`QueueLimit::Bdp`] multiplies the rate with; twice `delay` when `None`.
    pub bdp_round_trip: Option<Duration>,
    /// Probability that a delivered packet arrives twice (at the same instant).
    pub duplicate: Probability,
    /// Probability that a packet arrives damaged.
    pub corrupt: Probability,
    /// Packets that arrive damaged whatever the chance, counted from 0 as they are sent: for experiments with chosen
    /// losses.
    pub damaged_packets: Vec<u64>,
    /// Delivery opportunities in place of a constant rate.
    pub trace: Option<Arc<DeliveryTrace>>,
    /// What happens to packets while the link is down.
    pub outage: OutagePolicy,
    /// Changes at known times; in any order.
    pub schedule: Vec<ScheduledChange>,
}

impl LinkConfig {
    /// A link of constant `rate` and `delay` with the default queue.
    pub fn new(rate: Rate, delay: Duration) -> Self {
        Self { rate: Some(rate), delay, ..Self::default() }
    }

    /// With another queue limit.
    pub fn with_queue(mut self, queue: QueueLimit) -> Self {
        self.queue = queue;
        self
    }

    /// With a queue that is managed.
    pub fn with_management(mut self, management: Management) -> Self {
        self.management = Some(Box::new(management));
        self
    }

    /// With random loss.
    pub fn with_loss(mut self, loss: LossModel) -> Self {
        self.loss = loss;
        self
    }

    /// The long-run rate: the configured one, or the mean of the trace; `None` without a limit.
    pub fn mean_rate(&self) -> Option<Rate> {
        self.trace.as_ref().map(|trace| trace.mean_rate()).or(self.rate)
    }
}

/// Random extra delay, uniform in `[0, max]`, drawn for every packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Jitter {
    /// The most a packet is delayed beyond the link's delay.
    pub max: Duration,
    /// True: a packet never overtakes another (a radio bearer with link-layer retransmission).
    /// False: it may (parallel paths inside the link).
    pub in_order: bool,
}

/// Random loss.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum LossModel {
    /// Nothing is lost.
    #[default]
    None,
    /// Every packet is lost with the same probability, independently.
    Bernoulli(Probability),
    /// Bursts: a Markov chain over packets.
    GilbertElliott(GilbertElliott),
}

/// The Gilbert-Elliott chain: it moves after every packet and starts in the good state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GilbertElliott {
    /// Probability of going from good to bad after a packet.
    pub good_to_bad: Probability,
    /// Probability of going from bad to good after a packet; mean burst length is its inverse.
    pub bad_to_good: Probability,
    /// Loss probability in the good state.
    pub loss_good: Probability,
    /// Loss probability in the bad state.
    pub loss_bad: Probability,
}

impl GilbertElliott {
    /// The long-run loss ratio, from the chain's stationary distribution.
    pub fn mean_loss(&self) -> f64 {
        let (p, r) = (self.good_to_bad.as_f64(), self.bad_to_good.as_f64());
        if p + r == 0.0 {
            return self.loss_good.as_f64();
        }
        (r * self.loss_good.as_f64() + p * self.loss_bad.as_f64()) / (p + r)
    }
}

/// Drop-tail limits. The packet in service does not count, and a packet that finds the link idle is never
/// dropped. (ns-2's `queue-limit n` admits `n - 1` waiting packets beside the one in service.)
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum QueueLimit {
    /// At most so many packets wait.
    Packets(u32),
    /// At most so many bytes wait.
    Bytes(ByteCount),
    /// At most so many bandwidth-delay products wait, in bytes, never less than [`BDP_FLOOR_BYTES`]; follows
    /// changes of rate and delay.
    Bdp(f64),
    /// Everything waits.
    Unlimited,
}

impl Default for QueueLimit {
    /// Fifty packets, the drop-tail default of ns-2.
    fn default() -> Self {
        Self::Packets(50)
    }
}

/// What a link does while it is down. Packets already propagating arrive in either case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OutagePolicy {
    /// The waiting packets and the one being sent are lost when the link goes down, and so is everything sent
    /// into it: a radio that has left.
    #[default]
    Lose,
    /// The queue keeps what it has and accepts more up to its limit; the packet that was being sent starts again
    /// when the link returns: a base station waiting for a phone in a tunnel.
    Hold,
}

/// A change to a running link; `None` leaves a property as it is.
///
/// A new rate applies at once, to the rest of the packet being sent too; a rate of zero stops the serialiser. A new
/// delay applies to packets whose sending has not begun (a link that keeps order still never lets them overtake). A
/// new loss model applies to packets accepted from now on.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LinkChange {
    /// New serialisation rate. Without effect on a link driven by a trace.
    pub rate: Option<Rate>,
    /// New propagation delay.
    pub delay: Option<Duration>,
    /// New loss model.
    pub loss: Option<LossModel>,
    /// Goes down (`false`) or comes back (`true`).
    pub up: Option<bool>,
}

impl LinkChange {
    /// The link goes down.
    pub const DOWN: Self = Self { rate: None, delay: None, loss: None, up: Some(false) };
    /// The link comes back.
    pub const UP: Self = Self { rate: None, delay: None, loss: None, up: Some(true) };

    /// A new rate.
    pub const fn rate(rate: Rate) -> Self {
        Self { rate: Some(rate), delay: None, loss: None, up: None }
    }

    /// A new delay.
    pub const fn delay(delay: Duration) -> Self {
        Self { rate: None, delay: Some(delay), loss: None, up: None }
    }

    /// A new loss model.
    pub const fn loss(loss: LossModel) -> Self {
        Self { rate: None, delay: None, loss: Some(loss), up: None }
    }
}

/// A change and its time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScheduledChange {
    /// When.
    pub at: Instant,
    /// What.
    pub change: LinkChange,
}
