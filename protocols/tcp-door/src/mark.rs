//! Marks: in which order segments leave.
use prismux_wire::{DeliveryOrder, SeqNumber, TcpHeader};

/// Counts what leaves.
#[derive(Debug, Clone, Default)]
pub(crate) struct Marker {
    acked: Option<SeqNumber>,
    /// ADSN of the next segment with that number.
    repeats: u8,
    /// TPSN of the next data packet.
    packets: u16,
    /// Segments that still have to report a late data packet.
    reports: u8,
}

impl Marker {
    /// A data packet was late: this and so many more acknowledgements say so.
    pub(crate) fn report(&mut self, repeats: u8) {
        self.reports = repeats.saturating_add(1);
    }

    /// The marks of a segment that leaves now, with data if `numbered`.
    pub(crate) fn mark(&mut self, header: &mut TcpHeader, numbered: bool) {
        if self.acked != Some(header.ack) {
            self.acked = Some(header.ack);
            self.repeats = 0;
        }
        let order = DeliveryOrder {
            adsn: Some(self.repeats),
            tpsn: numbered.then_some(self.packets),
            out_of_order: self.reports > 0,
        };
        if header.options.insert_delivery_order(order) {
            self.repeats = self.repeats.wrapping_add(1);
            self.packets = self.packets.wrapping_add(u16::from(numbered));
            self.reports = self.reports.saturating_sub(1);
        }
    }
}
