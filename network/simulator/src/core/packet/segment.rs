//! Segments as packets keep them: short, where there is nothing but timestamps among their options.
use prismux_units::Instant;
use prismux_wire::{SeqNumber, TcpFlags, TcpHeader, TcpOptions, Timestamps};

/// A segment without other options than timestamps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlainSegment {
    pub stream_offset: u64,
    pub sent_at: Instant,
    seq: SeqNumber,
    ack: SeqNumber,
    /// Of no meaning without `has_timestamps`; an option of the whole would not leave the packet in one cache line.
    timestamps: Timestamps,
    source_port: u16,
    destination_port: u16,
    window: u16,
    pub flags: TcpFlags,
    has_timestamps: bool,
}

impl PlainSegment {
    /// The short form of a segment that has one.
    #[inline]
    pub fn of(header: &TcpHeader, stream_offset: u64, sent_at: Instant) -> Option<Self> {
        // By name, so that nothing new is forgotten.
        let &TcpHeader { source_port, destination_port, seq, ack, flags, window, urgent, ref options } =
            header;
        let &TcpOptions {
            mss,
            window_scale,
            sack_permitted,
            timestamps,
            ref sack,
            ref loss_report,
            handoff,
            delivery_order,
            lost_by_link,
        } = options;
        let is_plain = sack.is_empty()
            && urgent == 0
            && mss.is_none()
            && window_scale.is_none()
            && !sack_permitted
            && loss_report.is_none()
            && handoff.is_none()
            && delivery_order.is_none()
            && !lost_by_link;
        is_plain.then_some(Self {
            stream_offset,
            sent_at,
            seq,
            ack,
            timestamps: timestamps.unwrap_or(Timestamps { value: 0, echo: 0 }),
            source_port,
            destination_port,
            window,
            flags,
            has_timestamps: timestamps.is_some(),
        })
    }

    #[inline]
    pub fn timestamps(&self) -> Option<Timestamps> {
        self.has_timestamps.then_some(self.timestamps)
    }

    #[inline]
    pub fn header(&self) -> TcpHeader {
        let &Self { seq, ack, source_port, destination_port, window, flags, .. } = self;
        let options = TcpOptions { timestamps: self.timestamps(), ..TcpOptions::default() };
        TcpHeader { source_port, destination_port, seq, ack, flags, window, urgent: 0, options }
    }
}
