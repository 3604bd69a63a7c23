//! How the window comes down during recovery: proportional rate reduction (RFC 6937, revised by RFC 9937), or
//! the rate halving of Linux 2.4.

/// What one ACK brought, for the window of a reduction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Progress {
    /// Bytes newly delivered.
    pub(crate) delivered: u64,
    /// Bytes in flight now.
    pub(crate) pipe: u64,
    /// The cumulative position moved and no further loss was found (RFC 9937 `SafeACK`).
    pub(crate) safe: bool,
    /// Where the window shall end up.
    pub(crate) ssthresh: u64,
    pub(crate) mss: u64,
}

/// Counters since recovery began.
#[derive(Debug, Clone, Default)]
pub(crate) struct Prr {
    delivered: u64,
    sent: u64,
    /// RecoverFS.
    flight_at_entry: u64,
    /// Rate halving: an ACK waits for its partner.
    odd_ack: bool,
}

impl Prr {
    pub(crate) fn begin(&mut self, flight: u64) {
        *self = Self { flight_at_entry: flight.max(1), ..Self::default() };
    }

    pub(crate) fn on_sent(&mut self, bytes: u64) {
        self.sent += bytes;
    }

    /// The window after an ACK, by PRR: proportional above the threshold, slow-start reduction bound below it.
    pub(crate) fn proportional(&mut self, progress: &Progress) -> u64 {
        let Progress { delivered, pipe, safe, ssthresh, mss } = *progress;
        self.delivered += delivered;
        let mut quota = if pipe > ssthresh {
            let share = (u128::from(self.delivered) * u128::from(ssthresh))
                .div_ceil(u128::from(self.flight_at_entry)) as u64;
            share.saturating_sub(self.sent)
        } else {
            let limit = self.delivered.saturating_sub(self.sent).max(delivered) + if safe { mss } else { 0 };
            limit.min(ssthresh - pipe)
        };
        if self.sent == 0 {
            // The fast retransmit itself is always allowed.
            quota = quota.max(mss);
        }
        (pipe + quota).max(mss)
    }

    /// The window after an ACK, by rate halving: one segment less for every second ACK (Linux 2.4
    /// `tcp_cwnd_down`), and never more than one above what is in flight.
    pub(crate) fn rate_halving(&mut self, cwnd: u64, progress: &Progress) -> u64 {
        let mut cwnd = cwnd;
        if self.odd_ack && cwnd > progress.ssthresh {
            cwnd = cwnd.saturating_sub(progress.mss).max(progress.ssthresh);
        }
        self.odd_ack = !self.odd_ack;
        cwnd.min(progress.pipe + progress.mss).max(progress.mss)
    }
}
