//! The near end of a protected link: an encoder that follows what the link's meter knows.
use crate::code::ErasureCode;
use crate::encoder::{Block, Encoder, EncoderConfig, Sent};
use crate::protection::Protection;
use prismux_endpoint::{Deadline, Endpoint};
use prismux_receipts::{LinkEstimate, LinkMeter};
use prismux_units::Instant;
use prismux_wire::SeqNumber;

/// A link is taken to lose this share of its packets until
const PRIOR_LOSS: f64 = 0.005;
/// so many of them have been judged.
const PRIOR_PACKETS: u64 = 500;

/// A link whose packets are numbered by a meter and protected by repairs, as long as it loses packets and has capacity
/// to spare: where a queue stands, repairs would only displace packets, and what is lost there is lost for lack of
/// room.
#[derive(Debug)]
pub struct ProtectedLink<C: ErasureCode> {
    encoder: Encoder<C>,
    is_open: bool,
}

impl<C: ErasureCode> ProtectedLink<C> {
    /// A link of which nothing is known.
    pub fn new(config: EncoderConfig, code: C) -> Self {
        let mut encoder = Encoder::new(config, code);
        encoder.protect(Protection::against(PRIOR_LOSS));
        Self { encoder, is_open: false }
    }

    /// A packet has been sent with `number`, the latest that `meter` gave; `packet` copies it.
    pub fn sent(
        &mut self,
        now: Instant,
        meter: &mut LinkMeter,
        number: SeqNumber,
        packet: impl FnOnce() -> C::Packet,
    ) {
        if !self.encoder.is_on() {
            return;
        }
        self.encoder.handle_input(now, Sent { number, packet: packet() });
        if self.encoder.open_from() == Some(number) {
            self.end(meter, 0);
            meter.begin_block();
            self.is_open = true;
        }
    }

    /// A block whose repairs are to be sent now: each gets its number of the meter, and at last
    /// [`ProtectedLink::repaired`] is called.
    pub fn poll(&mut self, now: Instant, meter: &mut LinkMeter) -> Option<Block<C::Symbol>> {
        let block = self.encoder.poll_transmit(now);
        if block.is_none() && self.encoder.open_from().is_none() {
            self.end(meter, 0);
        }
        block
    }

    /// The repairs of the block that was polled have been sent, so many.
    pub fn repaired(&mut self, meter: &mut LinkMeter, repairs: usize) {
        self.end(meter, repairs as u64);
    }

    fn end(&mut self, meter: &mut LinkMeter, repairs: u64) {
        if core::mem::take(&mut self.is_open) {
            meter.end_block(repairs);
        }
    }

    /// The meter has something new to say.
    pub fn measured(&mut self, meter: &mut LinkMeter, estimate: &LinkEstimate) {
        let counters = meter.counters();
        let is_new = counters.delivered_packets + counters.lost_packets < PRIOR_PACKETS;
        let loss = estimate.loss_before_repair.max(if is_new { PRIOR_LOSS } else { 0.0 });
        self.encoder.protect(Protection::against(if estimate.is_busy { 0.0 } else { loss }));
        if self.encoder.open_from().is_none() {
            self.end(meter, 0);
        }
    }

    /// Whether [`ProtectedLink::poll`] has something by now.
    pub fn is_due(&self, now: Instant) -> bool {
        self.deadline().is_some_and(|deadline| deadline.at <= now)
    }

    /// When [`ProtectedLink::poll`] will have something.
    pub fn deadline(&self) -> Option<Deadline> {
        self.encoder.poll_timeout()
    }
}
