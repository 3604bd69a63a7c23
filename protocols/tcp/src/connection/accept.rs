//! Phase *accept*: may this segment touch the connection? (RFC 9293 section 3.10.7.4, first to fifth
//! check, with RFC 7323 section 5 and RFC 5961.)
use super::{AckNeed, Connection, Control, SegmentIn, State};
use prismux_units::{Duration, Instant};
use prismux_wire::TcpFlags;

/// An accepted segment on stream positions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Accepted {
    /// The peer position of the first byte; below zero only by a retransmitted SYN's worth.
    pub(super) start: i64,
    /// Our stream position acknowledged.
    pub(super) ack: u64,
    /// An acknowledgement older than the newest: nothing in it but what SACK may add.
    pub(super) old_ack: bool,
}

/// A late pure ACK whose timestamp runs back by less than this is taken for reordering, not for a wrapped
/// sequence number, so that its SACK blocks still count.
const REORDERING_TICKS: u32 = 1000;

impl Connection {
    /// Segments in every state but CLOSED and SYN-SENT.
    pub(super) fn handle_synchronised(&mut self, now: Instant, segment: &SegmentIn) {
        let settled;
        let segment = if self.state == State::SynReceived {
            let Some(without_syn) = self.settle_crossed_syn(segment) else { return };
            settled = without_syn;
            &settled
        } else {
            segment
        };
        if self.order.is_some() {
            self.watch_order(now, segment);
        }
        let Some(accepted) = self.admit(now, segment) else { return };
        self.timers.hear(now);
        if self.state == State::SynReceived {
            self.complete_handshake(now, segment, &accepted);
        }
        self.acknowledge(now, segment, &accepted);
        if segment.payload_bytes > 0 || segment.header.flags.contains(TcpFlags::FIN) {
            self.deliver(now, segment, accepted.start);
        }
    }

    fn admit(&mut self, now: Instant, segment: &SegmentIn) -> Option<Accepted> {
        let header = &segment.header;
        let next = self.receiving.next();
        let distance = header.seq.distance_from(self.receiving.next_sequence());
        let start = next as i64 + i64::from(distance);
        let unusual = TcpFlags::RST | TcpFlags::SYN;

        if !self.check_timestamps(now, segment, start) {
            return None;
        }
        if !self.is_in_window(segment, start, next) {
            self.refuse_out_of_window(now, segment, start);
            return None;
        }
        if header.flags.intersects(unusual) && !self.check_reset_and_syn(now, segment, distance) {
            return None;
        }
        if !header.flags.contains(TcpFlags::ACK) {
            self.counters.drops.malformed += 1;
            return None;
        }
        let (ack, old_ack) = self.check_ack(now, segment)?;
        if let Some(timestamps) = header.options.timestamps.filter(|_| self.agreed.timestamps) {
            self.clock.update(now, timestamps.value, start.max(0) as u64);
        }
        Some(Accepted { start, ack, old_ack })
    }

    /// PAWS. Resets are exempt (RFC 7323 section 5.2).
    fn check_timestamps(&mut self, now: Instant, segment: &SegmentIn, start: i64) -> bool {
        if !self.agreed.timestamps || segment.header.flags.contains(TcpFlags::RST) {
            return true;
        }
        let Some(timestamps) = segment.header.options.timestamps else {
            self.counters.drops.missing_timestamp += 1;
            return false;
        };
        let Some(lag) = self.clock.lag(now, timestamps.value) else { return true };
        let pure_ack = segment.header.sequence_length(segment.payload_bytes) == 0
            && start == self.receiving.next() as i64;
        if pure_ack && lag <= REORDERING_TICKS {
            return true;
        }
        self.counters.drops.old_timestamp += 1;
        self.refuse_with_ack(now, segment, start);
        false
    }

    /// The sequence test, lenient as deployed stacks are: a segment that begins exactly at the right edge
    /// still brings its acknowledgement.
    fn is_in_window(&self, segment: &SegmentIn, start: i64, next: u64) -> bool {
        let length = i64::from(segment.header.sequence_length(segment.payload_bytes));
        let edge = self.receiving.window.advertised().max(next) as i64;
        let next = next as i64;
        if length == 0 { (next..=edge).contains(&start) } else { start <= edge && start + length > next }
    }

    fn refuse_out_of_window(&mut self, now: Instant, segment: &SegmentIn, start: i64) {
        self.counters.drops.out_of_window += 1;
        if !segment.header.flags.contains(TcpFlags::RST) {
            self.refuse_with_ack(now, segment, start);
        }
    }

    /// Answers with an ACK that says where we stand. Retransmitted data is always answered, as its sender
    /// waits for it; segments without data could be half of an ACK war and share the challenge budget.
    fn refuse_with_ack(&mut self, now: Instant, segment: &SegmentIn, start: i64) {
        if segment.payload_bytes > 0 {
            let end = start + i64::from(segment.payload_bytes);
            if end > 0 && end <= self.receiving.reassembly.next() as i64 {
                self.counters.duplicate_bytes_received += u64::from(segment.payload_bytes);
                self.receiving.reassembly.note_duplicate(&(start.max(0) as u64..end as u64));
            }
            self.acking.need = AckNeed::Now;
        } else if segment.header.flags.contains(TcpFlags::FIN) && self.state == State::TimeWait {
            // Our last ACK was lost: repeat it and wait again (RFC 9293 section 3.6.1).
            self.acking.need = AckNeed::Now;
            self.start_time_wait(now);
        } else if self.is_polled() && segment.header.flags == TcpFlags::ACK {
            // A poll.
            self.acking.need = AckNeed::Now;
        } else {
            self.challenge(now);
        }
    }

    /// An ACK that lets an honest peer prove itself (RFC 5961 section 3.2).
    pub(super) fn challenge(&mut self, now: Instant) {
        if self.counters.challenge_budget.take(now) {
            self.counters.challenge_acks_sent += 1;
            self.acking.need = AckNeed::Now;
        }
    }

    /// RST and SYN inside the window; true only for segments that may go on.
    fn check_reset_and_syn(&mut self, now: Instant, segment: &SegmentIn, distance: i32) -> bool {
        if segment.header.flags.contains(TcpFlags::RST) {
            if distance == 0 {
                self.receive_reset();
            } else {
                self.counters.drops.unproven += 1;
                self.challenge(now);
            }
            return false;
        }
        self.counters.drops.unproven += 1;
        self.challenge(now);
        false
    }

    fn receive_reset(&mut self) {
        if self.state != State::TimeWait {
            self.events.reset();
        }
        self.enter_closed();
    }

    /// The acknowledgement number must lie between what was acknowledged one largest window ago and what
    /// was sent (RFC 5961 section 5.2).
    fn check_ack(&mut self, now: Instant, segment: &SegmentIn) -> Option<(u64, bool)> {
        let sending = &self.sending;
        let reference = (sending.initial + 1) + (sending.acknowledged as u32);
        let distance = i64::from(segment.header.ack.distance_from(reference));
        let ahead = sending.sent_end - sending.acknowledged;
        if self.state == State::SynReceived {
            if distance != 0 {
                self.counters.drops.bad_ack += 1;
                self.control = Some(Control::Reset { seq: segment.header.ack, with_ack: false });
                return None;
            }
            return Some((0, false));
        }
        if distance > ahead as i64 || distance < -(sending.largest_window as i64) {
            self.counters.drops.bad_ack += 1;
            self.challenge(now);
            return None;
        }
        if distance < 0 {
            return Some((sending.acknowledged.saturating_sub(distance.unsigned_abs()), true));
        }
        Some((sending.acknowledged + distance as u64, false))
    }
}

/// How long the connection lingers in TIME-WAIT is the configuration's; the timer restarts with every
/// retransmitted FIN.
impl Connection {
    pub(super) fn start_time_wait(&mut self, now: Instant) {
        let linger: Duration = self.config.time_wait;
        self.state = State::TimeWait;
        self.timers.linger(now + linger);
    }
}
