//! How streams and subflows end: DATA_FIN both ways, then FIN on every subflow (section 3.3.3); what a dying subflow
//! leaves to others.
use super::{Connection, Mode, State};
use crate::event::MptcpEvent;
use crate::segment::Path;
use crate::subflow::{Ending, Subflow, Update};
use alloc::vec::Vec;
use core::ops::Range;
use prismux_tcp::TcpEvent;

impl Connection {
    /// Everything written has been given to subflows, and the application has closed: DATA_FIN may go.
    pub(super) fn has_sent_all(&self) -> bool {
        self.ends.closing && self.send_buffer.frontier == self.send_buffer.written
    }

    /// DATA_FIN is to go, or to go again, by every subflow.
    pub(super) fn signal_end(&mut self) {
        if self.mode == Mode::Multipath && self.has_sent_all() && !self.ends.acked {
            for subflow in self.subflows.iter_mut().filter(|subflow| subflow.can_send()) {
                subflow.request_ack();
            }
        }
    }

    /// The peer's stream is complete, or its DATA_FIN has come again because our answer was lost.
    pub(super) fn end_of_peer(&mut self, place: usize) {
        if self.mode != Mode::Multipath || self.ends.peer_at != Some(self.receive_buffer.next()) {
            return;
        }
        if !self.ends.peer_closed {
            self.ends.peer_closed = true;
            self.events.push(TcpEvent::PeerClosed);
            self.subflows[place].request_ack();
        }
    }

    /// Both streams have ended: so do the subflows. In plain TCP our FIN goes when everything has been given away.
    pub(super) fn close_when_complete(&mut self) {
        match self.mode {
            Mode::Multipath
                if self.ends.acked && self.ends.peer_closed && self.state == State::Established =>
            {
                self.state = State::Closing;
                for place in 0..self.subflows.len() {
                    let update = self.subflows[place].close();
                    self.take_ending(place, update);
                }
            }
            Mode::Plain if self.has_sent_all() && self.state == State::Established => {
                let first = &mut self.subflows[0];
                if first.next() == first.queued_end() && !first.tcp().is_closing() {
                    let update = first.close();
                    self.take_ending(0, update);
                }
            }
            _ => {}
        }
    }

    /// What a segment or a timer has ended.
    pub(super) fn take_ending(&mut self, place: usize, update: Update) {
        if update.peer_closed && self.mode == Mode::Plain && !self.ends.peer_closed {
            self.ends.peer_closed = true;
            self.events.push(TcpEvent::PeerClosed);
        }
        if update.timeout {
            self.release_held(place);
        }
        if let Some(ending) = update.closed {
            self.end_subflow(place, ending);
        }
        if update.peer_closed && self.mode == Mode::Multipath && self.state == State::Established {
            // The peer has given this subflow up, not the connection.
            let closing = self.subflows[place].close();
            self.release_held(place);
            self.take_ending(place, closing);
        }
    }

    fn end_subflow(&mut self, place: usize, ending: Ending) {
        self.release(place);
        let first_refused = self.state == State::Opening;
        if first_refused || self.subflows.iter().all(|subflow| subflow.ended) {
            match ending {
                Ending::Reset => self.events.push(TcpEvent::Reset),
                Ending::TimedOut => self.events.push(TcpEvent::TimedOut),
                Ending::Closed => {}
            }
            self.enter_closed();
        }
    }

    /// What the subflow at `place` holds may go by others too, if there are any.
    fn release_held(&mut self, place: usize) {
        let others =
            self.subflows.iter().enumerate().any(|(other, subflow)| other != place && subflow.is_live());
        if !others {
            return;
        }
        let held: Vec<Range<u64>> = self.subflows[place].held().collect();
        for range in held {
            self.send_buffer.release(range, place);
        }
        self.resume_all();
    }

    /// A subflow has gone: what it holds goes by others, now or when there are some.
    pub(super) fn release(&mut self, place: usize) {
        let held: Vec<Range<u64>> = self.subflows[place].held().collect();
        (self.subflows[place].established, self.subflows[place].ended) = (false, true);
        for range in held {
            self.send_buffer.release(range, place);
        }
        self.events.push(MptcpEvent::SubflowClosed { place });
        self.resume_all();
        if self.state == State::Closing && self.subflows.iter().all(|subflow| subflow.ended) {
            self.enter_closed();
        }
    }

    /// MP_FASTCLOSE with our key: the peer has given the connection up.
    pub(super) fn take_fast_close(&mut self) {
        for subflow in &mut self.subflows {
            subflow.abort();
        }
        if self.state != State::Closed {
            self.events.push(TcpEvent::Reset);
        }
        self.enter_closed();
    }

    /// Whether a subflow over this path carries data.
    pub fn has_established(&self, path: Path) -> bool {
        self.subflows.iter().any(|subflow| subflow.path == path && Subflow::can_send(subflow))
    }
}
