//! Opening and ending a connection, from the receiver's side.
use super::{Control, Ending, Pipe, PipeState};
use crate::header::{RcpFlags, RcpHeader};
use prismux_units::Instant;

impl Pipe {
    pub(super) fn take_syn(&mut self, now: Instant, header: &RcpHeader) {
        let answers = header.flags.contains(RcpFlags::ACK);
        let ours = header.proof == RcpHeader::acknowledging(self.initial + 1);
        match self.state {
            PipeState::SynSent if answers && ours && header.options.token.is_some() => {
                self.learn(header);
                self.timers.heard(now);
                self.establish(now);
            }
            // The sender has not seen our answer to its SYN.
            PipeState::SynReceived if !answers && header.number == self.peer_initial => {
                self.control = Some(Control::SynAck);
            }
            // Our SYN was sent twice and both were answered.
            PipeState::Established if answers && header.number == self.peer_initial => {}
            _ => self.counters.malformed += 1,
        }
    }

    pub(super) fn establish(&mut self, now: Instant) {
        let retransmitted = self.timers.opening_retries > 0;
        if retransmitted {
            self.engine.on_handshake_loss();
        } else {
            self.engine.on_rtt_sample(now, now - self.timers.opening_sent_at);
        }
        // What completes the handshake for the sender is the first request.
        self.control = None;
        self.timers.opened();
        self.state = PipeState::Established;
        self.connected_event = true;
    }

    /// RST, ACK of the handshake, or the answer to our goodbye.
    pub(super) fn take_control(&mut self, now: Instant, flags: RcpFlags) {
        let answered_goodbye = flags.contains(RcpFlags::FIN | RcpFlags::ACK);
        match self.state {
            PipeState::Closing if answered_goodbye || flags.contains(RcpFlags::RST) => {
                self.end(Ending::Closed)
            }
            _ if flags.contains(RcpFlags::RST) => self.end(Ending::Reset),
            PipeState::SynReceived => self.establish(now),
            _ => {}
        }
    }

    pub(super) fn end(&mut self, why: Ending) {
        if self.state != PipeState::Closed {
            self.state = PipeState::Closed;
            self.control = None;
            self.timers.stop();
            self.ending_event = Some(why);
        }
    }
}
