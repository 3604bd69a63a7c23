//! The receive window in ACKs whose number changes: the right edge must neither shrink nor pass the receiver's own.
#[cfg(test)]
mod tests;

use prismux_wire::SeqNumber;

/// What the receiver offers, followed through its ACKs.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct WindowEdge {
    scale: Scale,
    edge: Option<SeqNumber>,
    /// The window field of the newest ACK, for flows whose scale is unknown.
    latest_field: u16,
}

/// Window scaling (RFC 7323) as agreed by the two SYNs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Scale {
    /// The SYNs were not seen.
    #[default]
    Unknown,
    /// Only the receiver's SYN was seen; its offer (`None`: no option).
    Offered(Option<u8>),
    /// Only the sender's SYN was seen; did it carry the option?
    SenderSyn(bool),
    /// Both were.
    Agreed(u8),
}

impl WindowEdge {
    /// The receiver's SYN passed with this window-scale option.
    pub(crate) fn on_receiver_syn(&mut self, offer: Option<u8>) {
        // A client's SYN comes first and opens a connection; a server's answers one.
        self.scale = match self.scale {
            Scale::SenderSyn(true) => Scale::Agreed(offer.unwrap_or(0).min(14)),
            Scale::SenderSyn(false) => Scale::Agreed(0),
            _ => Scale::Offered(offer),
        };
        self.edge = None;
    }

    /// The sender's SYN passed, with or without the option.
    pub(crate) fn on_sender_syn(&mut self, has_option: bool) {
        self.scale = match self.scale {
            Scale::Offered(offer) if has_option => Scale::Agreed(offer.unwrap_or(0).min(14)),
            Scale::Offered(_) => Scale::Agreed(0),
            agreed @ Scale::Agreed(_) => agreed,
            _ => Scale::SenderSyn(has_option),
        };
        self.edge = None;
    }

    /// The agreed shift, if both SYNs were seen.
    pub(crate) fn shift(&self) -> Option<u8> {
        match self.scale {
            Scale::Agreed(shift) => Some(shift),
            _ => None,
        }
    }

    /// An ACK came from the receiver; says whether it moves the right edge up. The window of a SYN-ACK is never
    /// scaled (RFC 7323 section 2.2).
    pub(crate) fn on_ack(&mut self, ack: SeqNumber, field: u16, is_syn: bool) -> bool {
        let changed = field != self.latest_field;
        self.latest_field = field;
        let Some(shift) = self.shift().map(|shift| if is_syn { 0 } else { shift }) else { return changed };
        let edge = ack + (u32::from(field) << shift);
        let moved = self.edge.is_none_or(|old| edge.after(old));
        if moved {
            self.edge = Some(edge);
        }
        moved
    }

    /// The newest right edge; `None` while the scale is unknown.
    pub(crate) fn edge(&self) -> Option<SeqNumber> {
        self.edge
    }

    /// The window field for an ACK that goes out with number `ack`, its right edge not beyond `limit`.
    ///
    /// Without a known scale the newest field stands: the number is never above the receiver's own, so the edge
    /// that results is never beyond the true one.
    pub(crate) fn field(&self, ack: SeqNumber, limit: Option<SeqNumber>) -> u16 {
        let (Some(shift), Some(edge)) = (self.shift(), self.edge) else { return self.latest_field };
        let edge = limit.map_or(edge, |limit| edge.min(limit));
        let window = edge.distance_from(ack).max(0) as u32;
        (window >> shift).min(u32::from(u16::MAX)) as u16
    }
}
