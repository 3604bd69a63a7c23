//! What the first segments of a subflow prove, and what to do where they do not: reset, or fall back to plain TCP.
use super::{Connection, Mode, State};
use crate::event::MptcpEvent;
use crate::keys::{Key, join_proof, short_join_proof};
use crate::options::{Join, reset_reason};
use crate::segment::Segment;
use crate::subflow::{Opening, Update};
use prismux_tcp::TcpEvent;
use prismux_wire::TcpFlags;

impl Connection {
    /// Whether a segment of the subflow at `place` can be judged now: one with mappings cannot before the peer's key is
    /// known. Its sender repeats it.
    pub(super) fn is_early(&self, segment: &Segment) -> bool {
        let keyless = self.mode == Mode::Open && !self.identity.opened_here;
        keyless && segment.mptcp.dss.is_some() && segment.mptcp.capable.is_none()
    }

    /// The handshake of the subflow at `place` is complete. False when the subflow has been given up for it.
    pub(super) fn settle(&mut self, place: usize, segment: &Segment) -> bool {
        match self.subflows[place].opening {
            Opening::First => {
                self.settle_first(segment);
                self.announce_established(place);
                self.settle_window(place, segment);
                true
            }
            Opening::Join { opened_here: true, .. } => self.check_answer(place, segment),
            Opening::Join { opened_here: false, .. } => self.check_proof(place, segment),
        }
    }

    /// MP_CAPABLE of the SYN-ACK, or of the third segment.
    fn settle_first(&mut self, segment: &Segment) {
        self.state = State::Established;
        if self.mode == Mode::Plain {
            return;
        }
        let own = self.identity.key.0;
        let agreed = segment.mptcp.capable.filter(|capable| !capable.checksum_required);
        let peer_key = agreed.and_then(|capable| match self.identity.opened_here {
            true => capable.key,
            false => capable.key.filter(|_| capable.peer_key == Some(own)),
        });
        let Some(peer_key) = peer_key.map(Key) else {
            self.fall_back();
            return;
        };
        self.mode = Mode::Multipath;
        self.identity.peer_key = Some(peer_key);
        self.identity.peer_first = peer_key.initial_data_sequence().wrapping_add(1);
        if !self.identity.opened_here {
            // The third segment has brought our key back. The answer tells the other side that we have its own.
            self.identity.is_proven = true;
            self.subflows[0].request_ack();
            self.announce();
        }
    }

    /// The window of the SYN-ACK is not scaled; that of the third segment is.
    fn settle_window(&mut self, place: usize, segment: &Segment) {
        let is_syn = segment.tcp.flags.contains(TcpFlags::SYN);
        let shift = if is_syn { 0 } else { self.subflows[place].peer_shift.unwrap_or(0) };
        self.send_buffer.acknowledge(0, u64::from(segment.tcp.window) << shift);
    }

    /// The proof in the SYN-ACK of a subflow opened from here.
    fn check_answer(&mut self, place: usize, segment: &Segment) -> bool {
        let Opening::Join { own_nonce, .. } = self.subflows[place].opening else { return false };
        let (own, peer) = (self.identity.key, self.identity.peer_key.unwrap_or(Key(0)));
        let Some(Join::SynAck { backup, proof, nonce, .. }) = segment.mptcp.join else {
            return self.refuse(place);
        };
        if proof != short_join_proof(peer, own, nonce, own_nonce) {
            self.drops.bad_proof += 1;
            return self.refuse(place);
        }
        self.subflows[place].backup[1] = backup;
        self.subflows[place].opening =
            Opening::Join { own_nonce, peer_nonce: nonce, opened_here: true, confirmed: false };
        true
    }

    /// The proof in the third segment of a subflow that the peer has opened.
    fn check_proof(&mut self, place: usize, segment: &Segment) -> bool {
        let Opening::Join { own_nonce, peer_nonce, .. } = self.subflows[place].opening else { return false };
        let (own, peer) = (self.identity.key, self.identity.peer_key.unwrap_or(Key(0)));
        let expected = join_proof(peer, own, peer_nonce, own_nonce);
        if segment.mptcp.join != Some(Join::Ack { proof: expected }) {
            self.drops.bad_proof += 1;
            return self.refuse(place);
        }
        self.confirm(place);
        // The proof is repeated until something comes back.
        self.subflows[place].request_ack();
        true
    }

    /// A subflow that was opened from here has been heard after its proof: the peer has it.
    pub(super) fn confirm_by(&mut self, place: usize, segment: &Segment) {
        let subflow = &self.subflows[place];
        if subflow.is_proving() && !segment.tcp.flags.intersects(TcpFlags::SYN | TcpFlags::RST) {
            self.confirm(place);
        }
    }

    fn confirm(&mut self, place: usize) {
        let subflow = &mut self.subflows[place];
        if let Opening::Join { confirmed, .. } = &mut subflow.opening {
            *confirmed = true;
        }
        subflow.resume();
        self.announce_established(place);
        self.resume_all();
    }

    fn announce_established(&mut self, place: usize) {
        if place == 0 {
            self.events.push(TcpEvent::Connected);
        }
        self.events.push(MptcpEvent::SubflowEstablished { place });
    }

    /// Resets the subflow at `place`, which has not proven itself.
    fn refuse(&mut self, place: usize) -> bool {
        self.give_up(place, reset_reason::MPTCP_SPECIFIC);
        false
    }

    /// Resets the subflow at `place` for `reason`; what it holds goes by others.
    pub(super) fn give_up(&mut self, place: usize, reason: u8) {
        self.subflows[place].rare.reset = Some(reason);
        self.subflows[place].abort();
        let update = Update { closed: Some(crate::subflow::Ending::Reset), ..Update::default() };
        self.take_ending(place, update);
    }

    /// Plain TCP on the first subflow from now on: stream and subflow have the same numbers.
    pub(super) fn fall_back(&mut self) {
        self.mode = Mode::Plain;
        self.to_join.clear();
        self.to_announce.clear();
        if let Some(first) = self.subflows.first_mut() {
            first.learn_infinite_mapping(0, 0);
        }
        self.events.push(MptcpEvent::FellBack);
    }

    /// Section 3.7: the peer, or something between, has not understood the first exchange, or says MP_FAIL while there
    /// is one subflow only.
    pub(super) fn watch_for_fallback(&mut self, place: usize, segment: &Segment) {
        if self.mode != Mode::Multipath
            || place != 0
            || segment.tcp.flags.intersects(TcpFlags::SYN | TcpFlags::RST)
        {
            return;
        }
        let acked = self.subflows[0].tcp().stream_acked() > 0;
        let silent = segment.mptcp.dss.is_none() && segment.mptcp.capable.is_none();
        let never_heard = !self.identity.is_proven && silent && (acked || segment.payload_bytes > 0);
        let failed = segment.mptcp.rare.as_ref().is_some_and(|rare| rare.fail.is_some());
        if never_heard || failed && self.is_alone_in_order() {
            self.fall_back();
        }
    }

    /// The first subflow is the only one there ever was, so that its numbers are those of the stream.
    fn is_alone_in_order(&self) -> bool {
        self.subflows.len() == 1
    }
}
