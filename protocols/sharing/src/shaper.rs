//! A rate that is not exceeded: packets wait for their turn, in a queue of some milliseconds.
use alloc::collections::VecDeque;
use prismux_units::{ByteCount, Duration, Instant, Rate};

/// So much is caught up when a timer was late.
const BURST: Duration = Duration::from_millis(2);
/// The queue holds what passes in this time.
const MAX_QUEUE: Duration = Duration::from_millis(100);
/// And so many bytes at least.
const MIN_QUEUE_BYTES: u64 = 15_000;

/// Packets of a link that wait for its rate limit.
#[derive(Debug)]
pub struct Shaper<P> {
    rate: Rate,
    queue: VecDeque<(u64, P)>,
    queued_bytes: u64,
    /// When the next may go.
    free_at: Instant,
}

impl<P> Shaper<P> {
    /// Nothing waits. `rate` counts what [`Shaper::push`] is told.
    pub const fn new(rate: Rate) -> Self {
        Self { rate, queue: VecDeque::new(), queued_bytes: 0, free_at: Instant::ZERO }
    }

    /// The rate that is not exceeded.
    pub const fn rate(&self) -> Rate {
        self.rate
    }

    /// A packet of so many bytes on the line wants to go.
    ///
    /// # Errors
    /// The packet, when the queue is full.
    pub fn push(&mut self, bytes: u64, packet: P) -> Result<(), P> {
        let room_bytes = self.rate.bytes_in(MAX_QUEUE).as_u64().max(MIN_QUEUE_BYTES);
        let queued_bytes = self.queued_bytes.saturating_add(bytes);
        if queued_bytes > room_bytes {
            return Err(packet);
        }
        self.queued_bytes = queued_bytes;
        self.queue.push_back((bytes, packet));
        Ok(())
    }

    /// The next packet whose turn has come.
    pub fn poll(&mut self, now: Instant) -> Option<P> {
        if self.free_at > now {
            return None;
        }
        let (bytes, packet) = self.queue.pop_front()?;
        self.queued_bytes = self.queued_bytes.saturating_sub(bytes);
        // A link that was idle has saved up no more than a burst.
        let earliest = Instant::ZERO + now.saturating_since(Instant::ZERO + BURST);
        self.free_at = self.free_at.max(earliest) + self.rate.transmission_time(ByteCount::new(bytes));
        Some(packet)
    }

    /// When [`Shaper::poll`] has a packet; `None` while none waits.
    pub fn deadline(&self) -> Option<Instant> {
        (!self.queue.is_empty()).then_some(self.free_at)
    }
}
