//! Reports instead of acknowledgements, for a congestion control that works with polls (STP): the sender asks three
//! times in a round trip where the receiver stands; in between the receiver is silent but for new gaps.
//!
//! A poll is a segment without payload from below the receiver's window, as a keep-alive probe is (RFC 9293 section
//! 3.8.4); so every TCP answers it. A receiver that has been told of STP leaves ordinary acknowledgements out, for at
//! most half a second (RFC 9293 section 3.8.6.3), in case its peer does not poll.
use super::polling::Polling;
use super::{AckNeed, Connection, SegmentOut};
use prismux_units::{Duration, Instant};

/// Longest silence of a receiver that is not polled.
const LONGEST_SILENCE: Duration = Duration::from_millis(500);

impl Connection {
    /// Reports are asked for instead of sent by themselves.
    #[inline]
    pub(super) fn is_polled(&self) -> bool {
        self.engine.is_polled()
    }

    /// When the next poll is due at the latest.
    #[inline]
    pub(super) fn poll_deadline(&self) -> Option<Instant> {
        self.is_polled().then(|| self.next_poll())?
    }

    #[cold]
    fn next_poll(&self) -> Option<Instant> {
        if !self.has_outstanding() || !self.state.may_transmit_data() {
            return None;
        }
        let interval = self.engine.poll_interval()?;
        Some(self.polling.polled_at + interval)
    }

    /// The poll that is due an interval after the last one, whatever happened since.
    pub(super) fn poll_peer(&mut self, now: Instant) -> Option<SegmentOut> {
        let latest = self.poll_deadline()?;
        (latest <= now).then(|| self.build_poll(now))
    }

    /// The poll behind every third of a window, as SSCOP polls after so many packets: only polls between the data let
    /// the answers, and what they release, come spread over the round trip.
    pub(super) fn poll_between(&mut self, now: Instant) -> Option<SegmentOut> {
        self.poll_deadline()?;
        (self.polling.bytes >= self.engine.poll_share_bytes()).then(|| self.build_poll(now))
    }

    fn build_poll(&mut self, now: Instant) -> SegmentOut {
        self.polling = Polling { polled_at: now, bytes: 0 };
        self.counters.probes_sent += 1;
        let mut segment = self.build_ack(now);
        // Just below what is acknowledged: below the peer's window whatever is missing there.
        segment.header.seq = self.sending.initial + (self.sending.acknowledged as u32);
        segment
    }

    /// Data in order has arrived: the next poll will find it, or a peer that does not poll will hear of it.
    pub(super) fn await_poll(&mut self, now: Instant) {
        if self.acking.need == AckNeed::None {
            self.acking.need = AckNeed::Delayed;
            self.delayed_ack = now + LONGEST_SILENCE;
        }
    }
}
