//! What a path takes, found out with packets of many sizes, where no router says so (RFC 8899).
//!
//! A link whose full packets vanish while its small ones come is the worst of links: it answers, and carries nothing.
//! So the largest packet there may be is tried first, and where its answer does not come common sizes below it, all
//! at once. What is larger than the largest that was answered is refused here and its sender told, until an answer says
//! otherwise: an answer counts however late. A far end that answers no size at all says nothing about the path.
//!
//! Pure: time is an argument, and sending is the caller's.
use super::MIN_PATH_MTU_BYTES;
use prismux_units::{Duration, Instant};

/// What paths take that take less than their devices, in bytes: tunnels and PPP, of one another inside.
const COMMON_BYTES: [usize; 17] =
    [1500, 1492, 1484, 1480, 1472, 1460, 1452, 1440, 1428, 1420, 1412, 1400, 1380, 1360, 1340, 1320, 1300];

/// Time between rounds of a check.
const ROUND: Duration = Duration::from_millis(300);

/// Time between a check and the next, where packets are sent meanwhile.
const CHECK_INTERVAL: Duration = Duration::from_secs(15);

/// Rounds of which none was answered until that says something.
const MAX_ROUNDS: u8 = 8;

/// Rounds of all sizes above the largest that was answered.
const LADDERS: u8 = 2;

/// The bits of a probe's number that say its size.
const SIZE_BITS: u32 = 16;

/// What one direction of a link takes.
#[derive(Debug, Clone)]
pub struct PathSearch {
    /// The largest outer packet that there may be.
    widest_bytes: usize,
    limit: Option<usize>,
    /// The largest that was answered in this check.
    answered_bytes: usize,
    /// The far end has answered once.
    is_known: bool,
    /// Which check it is: answers to earlier ones count no more.
    check: u64,
    asking: Option<Rounds>,
    due: Option<Instant>,
}

/// What a check has done so far.
#[derive(Debug, Clone, Copy, Default)]
struct Rounds {
    rounds: u8,
    ladders: u8,
}

impl PathSearch {
    /// A path of which nothing is known, and for which no packet is larger than `widest_bytes`, outer headers included.
    pub fn new(widest_bytes: usize) -> Self {
        let widest_bytes = widest_bytes.min((1 << SIZE_BITS) - 1);
        Self {
            widest_bytes,
            limit: None,
            answered_bytes: 0,
            is_known: false,
            check: 0,
            asking: None,
            due: None,
        }
    }

    /// Begins a check, unless one is under way: the link is new, or back, or has moved.
    pub fn begin(&mut self, now: Instant) {
        if self.asking.is_none() {
            self.asking = Some(Rounds::default());
            self.answered_bytes = 0;
            self.check += 1;
            self.due = Some(now);
        }
    }

    /// Packets leave by the path: it is to be checked from time to time.
    pub fn sent(&mut self, now: Instant) {
        if self.is_known {
            self.due.get_or_insert(now + CHECK_INTERVAL);
        }
    }

    /// The largest outer packet that the path takes, where that is less than the largest there may be.
    pub const fn limit(&self) -> Option<usize> {
        self.limit
    }

    /// When [`PathSearch::poll`] has something to do.
    pub const fn deadline(&self) -> Option<Instant> {
        self.due
    }

    /// Probes to send now: of each its number, and its bytes on the line.
    pub fn poll(&mut self, now: Instant) -> Vec<(u64, usize)> {
        if self.due.is_none_or(|due| due > now) {
            return Vec::new();
        }
        self.begin(now);
        let Some(mut rounds) = self.asking else { return Vec::new() };
        let Some(sizes) = self.sizes(&mut rounds) else {
            self.conclude();
            return Vec::new();
        };
        rounds.rounds += 1;
        (self.asking, self.due) = (Some(rounds), Some(now + ROUND));
        sizes.into_iter().map(|bytes| (self.check << SIZE_BITS | bytes as u64, bytes)).collect()
    }

    /// The sizes of the next round; `None` when the check is over.
    fn sizes(&self, rounds: &mut Rounds) -> Option<Vec<usize>> {
        let answered = self.answered_bytes;
        if rounds.rounds == 0 {
            return Some(self.limit.into_iter().chain([self.widest_bytes]).collect());
        }
        if answered == 0 {
            return (rounds.rounds < MAX_ROUNDS).then(|| vec![self.widest_bytes, MIN_PATH_MTU_BYTES]);
        }
        let is_as_before = rounds.ladders == 0 && self.limit.is_some_and(|limit| answered >= limit);
        if is_as_before || rounds.ladders == LADDERS {
            return None;
        }
        rounds.ladders += 1;
        let between = COMMON_BYTES.into_iter().filter(|&bytes| bytes > answered && bytes < self.widest_bytes);
        Some([self.widest_bytes].into_iter().chain(between).collect())
    }

    fn conclude(&mut self) {
        (self.asking, self.due) = (None, None);
        if self.answered_bytes > 0 {
            self.limit = (self.answered_bytes < self.widest_bytes).then_some(self.answered_bytes);
        }
    }

    /// The far end has got the probe of this number. Says whether [`PathSearch::limit`] is another now.
    pub fn answered(&mut self, number: u64) -> bool {
        let before = self.limit;
        let (check, bytes) = (number >> SIZE_BITS, (number & ((1 << SIZE_BITS) - 1)) as usize);
        // The far end says what it likes.
        if check != self.check || !(MIN_PATH_MTU_BYTES..=self.widest_bytes).contains(&bytes) {
            return false;
        }
        self.is_known = true;
        self.answered_bytes = self.answered_bytes.max(bytes);
        // What comes after a check's end makes a path wider, never narrower: nobody has tried what lies above.
        let is_late = self.asking.is_none() && self.limit.is_some();
        if self.answered_bytes == self.widest_bytes || is_late {
            self.conclude();
        }
        self.limit != before
    }
}

#[cfg(test)]
mod tests;
