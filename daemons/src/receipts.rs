//! Receipts for the packets that come out of a tunnel with numbers, and packets that repairs give back.
use crate::tunnel::Peer;
use crate::tunnel::repairs::Recovery;
use crate::tunnel::socket::Frame;
use prismux_endpoint::Endpoint;
use prismux_fec::{Arrived as ToRecovery, ReedSolomon, RepairHeader, Shard, ShardError};
use prismux_receipts::{Arrived, MESSAGE_BYTES, Receipt, ReceiptWriter, WriterConfig, WriterCounters};
use prismux_trace::event::DropReason;
use prismux_units::{Duration, Instant};
use prismux_wire::SeqNumber;
use prismux_wire::gre::SEQUENCE_BYTES;

/// The receipts of one end of a tunnel, once they are agreed on.
#[derive(Debug)]
pub(crate) struct Receipts {
    /// Bytes that the tunnel adds to a packet without a number.
    overhead_bytes: usize,
    /// The longest wait of a receipt while packets come.
    max_wait: Duration,
    writer: Option<ReceiptWriter>,
    recovery: Option<Recovery>,
}

/// A packet that did not come, and that repairs gave back.
#[derive(Debug)]
pub(crate) struct RecoveredPacket(Vec<u8>);

impl RecoveredPacket {
    /// As if it had come from `peer`, without a number.
    ///
    /// # Errors
    /// [`ShardError`]: the repairs were not of these packets.
    pub fn frame(&self, peer: Peer) -> Result<Frame<'_>, ShardError> {
        let Shard { protocol, order, inner } = Shard::parse(&self.0)?;
        Ok(Frame { peer, protocol, number: None, order, inner, outer_ecn: None })
    }
}

impl Receipts {
    /// None offered yet.
    pub fn new(overhead_bytes: usize) -> Self {
        Self { overhead_bytes, max_wait: WriterConfig::default().max_wait, writer: None, recovery: None }
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
        self.recovery = Some(Recovery::new(ReedSolomon::default()));
    }

    /// A packet has come. Says whether it is still wanted: false where a repair has stood in for it.
    pub fn arrived(&mut self, now: Instant, frame: &Frame<'_>) -> bool {
        let Some(number) = frame.number else { return true };
        if self.recovery.as_mut().is_some_and(|recovery| recovery.is_late(number)) {
            if let Some(writer) = &mut self.writer {
                writer.came_after_all();
            }
            return false;
        }
        self.note(now, number, frame);
        let Some(recovery) = self.recovery.as_mut().filter(|recovery| recovery.wants_packets()) else {
            return true;
        };
        let Frame { protocol, order, inner, .. } = *frame;
        let packet = Shard { protocol, order, inner }.emit();
        recovery.handle_input(now, ToRecovery::Packet { number, packet });
        true
    }

    /// A repair has come.
    ///
    /// # Errors
    /// It has no number, or is of no block.
    pub fn repair(&mut self, now: Instant, frame: &Frame<'_>) -> Result<(), DropReason> {
        let number = frame.number.ok_or(DropReason::MalformedTunnel)?;
        let (header, symbol) =
            RepairHeader::parse(number, frame.inner).map_err(|_| DropReason::MalformedTunnel)?;
        self.note(now, number, frame);
        if let Some(recovery) = &mut self.recovery {
            recovery.handle_input(now, ToRecovery::Repair { number, header, symbol: symbol.to_vec() });
        }
        Ok(())
    }

    fn note(&mut self, now: Instant, number: SeqNumber, frame: &Frame<'_>) {
        if let Some(writer) = &mut self.writer {
            let bytes = (frame.inner.len() + self.overhead_bytes + SEQUENCE_BYTES) as u32;
            writer.handle_input(now, Arrived { number, bytes, ecn: frame.outer_ecn.unwrap_or_default() });
        }
    }

    /// A packet that repairs have given back.
    pub fn poll_recovered(&mut self, now: Instant) -> Option<RecoveredPacket> {
        let recovered = self.recovery.as_mut()?.poll_transmit(now)?;
        if let Some(writer) = &mut self.writer {
            writer.recovered(now, recovered.number);
        }
        Some(RecoveredPacket(recovered.packet))
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
