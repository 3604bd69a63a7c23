//! Receipts for the packets that come out of a tunnel with numbers.
use prismux_endpoint::Endpoint;
use prismux_receipts::{Arrived, MESSAGE_BYTES, Receipt, ReceiptWriter, WriterConfig, WriterCounters};
use prismux_units::{Duration, Instant};
use prismux_wire::gre::SEQUENCE_BYTES;
use prismux_wire::{Ecn, SeqNumber};

/// The receipts of one end of a tunnel, once they are agreed on.
#[derive(Debug)]
pub(crate) struct Receipts {
    /// Bytes that the tunnel adds to a packet without a number.
    overhead_bytes: usize,
    /// The longest wait of a receipt while packets come.
    max_wait: Duration,
    writer: Option<ReceiptWriter>,
}

impl Receipts {
    /// None offered yet.
    pub fn new(overhead_bytes: usize) -> Self {
        Self { overhead_bytes, max_wait: WriterConfig::default().max_wait, writer: None }
    }

    /// With receipts no later than this after a packet, so that their absence soon says something.
    #[must_use]
    pub const fn within(mut self, max_wait: Duration) -> Self {
        self.max_wait = max_wait;
        self
    }

    /// They are offered in `epoch`: packets with numbers may come.
    pub fn offered(&mut self, now: Instant, epoch: u32) {
        let around_bytes = self.overhead_bytes as u32 + MESSAGE_BYTES;
        let config = WriterConfig { around_bytes, max_wait: self.max_wait, ..WriterConfig::default() };
        self.writer = Some(ReceiptWriter::new(config, epoch, now));
    }

    /// A packet with a number has come.
    pub fn arrived(&mut self, now: Instant, number: SeqNumber, inner_bytes: usize, ecn: Option<Ecn>) {
        if let Some(writer) = &mut self.writer {
            let bytes = (inner_bytes + self.overhead_bytes + SEQUENCE_BYTES) as u32;
            writer.handle_input(now, Arrived { number, bytes, ecn: ecn.unwrap_or_default() });
        }
    }

    /// The next receipt that is due.
    pub fn poll(&mut self, now: Instant) -> Option<Receipt> {
        self.writer.as_mut()?.poll_transmit(now)
    }

    /// When [`Receipts::poll`] will have one.
    pub fn deadline(&self) -> Option<Instant> {
        self.writer.as_ref()?.poll_timeout().map(|deadline| deadline.at)
    }

    /// What has been counted.
    pub fn counters(&self) -> Option<&WriterCounters> {
        self.writer.as_ref().map(ReceiptWriter::counters)
    }
}
