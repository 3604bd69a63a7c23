//! Which segments may change what the proxy knows of a connection: RFC 5961, seen from the middle.
//!
//! Anybody who knows the four-tuple can send a segment; its numbers must fit both directions before it is believed. A
//! SYN on a live connection renews nothing until the other end's answer shows that the connection is a new one, and a
//! RST ends nothing unless it is exactly in sequence. What is not believed is carried all the same: the ends decide
//! for themselves.
use super::Flow;
use prismux_wire::{SeqNumber, TcpFlags, TcpHeader};

/// How far the two directions' views of one number may lie apart, by what is under way between them.
const SLACK: i32 = 1 << 24;
/// A sender may go this far beyond the receiver's right edge: window probes do.
const EDGE_SLACK: u32 = 1 << 16;
/// What a receiver may have sent beyond what its sender has acknowledged, to be believed without a second sign: a
/// window without scaling.
const UNACKNOWLEDGED: i32 = 1 << 16;
/// The largest window there is (RFC 7323 section 2.3).
const MAX_WINDOW: u32 = 1 << 30;

/// A SYN that passed, until the answer to it shows what it was worth.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Syn {
    seq: SeqNumber,
    /// What a SYN-ACK acknowledges.
    ack: Option<SeqNumber>,
    window_scale: Option<u8>,
}

impl Syn {
    fn of(header: &TcpHeader) -> Self {
        let ack = header.flags.contains(TcpFlags::ACK).then_some(header.ack);
        Self { seq: header.seq, ack, window_scale: header.options.window_scale }
    }
}

/// What each direction has shown of the numbers of a connection.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Evidence {
    /// The receiver has acknowledged data of the sender since the flow began: it is a live connection.
    pub(crate) confirmed: bool,
    /// One past the highest sequence number that the receiver has sent.
    receiver_next: Option<SeqNumber>,
    /// What the sender has acknowledged of the receiver's.
    sender_ack: Option<SeqNumber>,
    /// SYNs on a live connection, by direction.
    sender_syn: Option<Syn>,
    receiver_syn: Option<Syn>,
}

impl Evidence {
    /// Both directions' views of the receiver's numbers, once they agree.
    fn agreed(&self) -> Option<(SeqNumber, SeqNumber)> {
        self.receiver_next.zip(self.sender_ack).filter(|(next, ack)| next.distance_from(*ack).abs() <= SLACK)
    }

    /// One past the highest sequence number that the receiver has sent, where the sender's acknowledgements bear it
    /// out: a forged segment may be near enough to be believed, and must not lead an ACK out of the sender's window.
    pub(crate) fn newest_seq(&self) -> Option<SeqNumber> {
        let (next, acknowledged) = self.receiver_next.zip(self.sender_ack)?;
        (0..=UNACKNOWLEDGED).contains(&next.distance_from(acknowledged)).then_some(next)
    }

    /// A believed segment from the sender.
    pub(crate) fn note_sender(&mut self, header: &TcpHeader) {
        if header.flags.contains(TcpFlags::ACK) {
            self.sender_ack = Some(self.sender_ack.map_or(header.ack, |ack| ack.max(header.ack)));
        }
    }

    /// A believed segment from the receiver.
    pub(crate) fn note_receiver(&mut self, header: &TcpHeader, payload_bytes: u32) {
        let end = header.seq + header.sequence_length(payload_bytes);
        self.receiver_next = Some(self.receiver_next.map_or(end, |next| next.max(end)));
    }
}

impl<P: Clone> Flow<P> {
    /// True for a segment from the sender, with this length in sequence space, that fits the connection.
    pub(crate) fn believes_sender(&self, header: &TcpHeader, length: u32) -> bool {
        if let Some((next, _)) = self.evidence.agreed() {
            let ahead = header.ack.distance_from(next);
            if !header.flags.contains(TcpFlags::ACK) || !(-SLACK..=0).contains(&ahead) {
                return false;
            }
        }
        let (Some(receiver), Some(sent_end)) = (&self.receiver, self.sent_end) else { return true };
        let edge = self
            .window
            .edge()
            .map_or(sent_end.max(receiver.cumulative()) + MAX_WINDOW, |edge| edge + EDGE_SLACK);
        let behind = receiver.cumulative().distance_from(header.seq);
        (header.seq + length).distance_from(edge) <= 0 && behind <= SLACK
    }

    /// True for a segment from the receiver that fits the connection.
    pub(crate) fn believes_receiver(&self, header: &TcpHeader) -> bool {
        if let Some((next, _)) = self.evidence.agreed()
            && header.seq.distance_from(next).abs() > SLACK
        {
            return false;
        }
        let (Some(receiver), true) = (&self.receiver, header.flags.contains(TcpFlags::ACK)) else {
            return true;
        };
        let sent = self.sent_end.is_none_or(|end| !header.ack.after(end));
        sent && header.ack.distance_from(receiver.cumulative()) >= -SLACK
    }

    /// True for a RST of the sender that ends the connection: exactly at the end of what was sent, or where the
    /// receiver waits.
    pub(crate) fn is_reset_by_sender(&self, header: &TcpHeader) -> bool {
        let expected = [self.sent_end, self.receiver.as_ref().map(|receiver| receiver.cumulative())];
        expected.into_iter().flatten().any(|number| number == header.seq)
    }

    /// True for a RST of the receiver that ends the connection: exactly at the end of what it sent, or where the
    /// sender waits; or one that refuses the sender's SYN.
    pub(crate) fn is_reset_by_receiver(&self, header: &TcpHeader) -> bool {
        let refuses = !self.evidence.confirmed && header.flags.contains(TcpFlags::ACK);
        if refuses && self.sent_end == Some(header.ack) {
            return true;
        }
        let expected = [self.evidence.receiver_next, self.evidence.sender_ack];
        expected.into_iter().flatten().any(|number| number == header.seq)
    }

    /// A SYN of the sender on a live connection: remembered until the receiver answers it.
    pub(crate) fn remember_sender_syn(&mut self, header: &TcpHeader) {
        self.evidence.sender_syn = Some(Syn::of(header));
    }

    /// A SYN of the receiver on a live connection.
    pub(crate) fn remember_receiver_syn(&mut self, header: &TcpHeader) {
        self.evidence.receiver_syn = Some(Syn::of(header));
    }

    /// The SYN of the sender that this segment of the receiver answers, and the receiver's own: the connection is a
    /// new one. Either the receiver answers the sender's SYN by its own, or it opened the connection and acknowledges
    /// the answer.
    pub(crate) fn renewal(&self, header: &TcpHeader) -> Option<Renewal> {
        let sender = self.evidence.sender_syn?;
        let acknowledged = header.flags.contains(TcpFlags::ACK) && header.ack == sender.seq + 1;
        if header.flags.contains(TcpFlags::SYN) {
            return (acknowledged && sender.ack.is_none()).then_some(Renewal { sender, receiver: None });
        }
        let receiver = self.evidence.receiver_syn?;
        let answered = sender.ack == Some(receiver.seq + 1) && header.seq == receiver.seq + 1;
        (acknowledged && answered).then_some(Renewal { sender, receiver: Some(receiver) })
    }
}

/// The SYNs of a connection that has taken the place of another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Renewal {
    sender: Syn,
    receiver: Option<Syn>,
}

impl Renewal {
    /// Tells a new flow of the handshake that has passed.
    pub(crate) fn open<P: Clone>(&self, flow: &mut Flow<P>) {
        if let Some(receiver) = self.receiver {
            flow.window.on_receiver_syn(receiver.window_scale);
            flow.evidence.receiver_next = Some(receiver.seq + 1);
        }
        flow.open(self.sender.seq);
        flow.sent_end = Some(self.sender.seq + 1);
        flow.window.on_sender_syn(self.sender.window_scale.is_some());
        flow.evidence.sender_ack = self.sender.ack;
    }
}
