//! What waits in front of a link, from when packets come and when they arrive beyond it.
use crate::sample::Levels;

/// Bytes that come to a link and leave its queue, in any order of time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Backlog {
    changes: Vec<(u64, i64)>,
}

impl Backlog {
    /// A packet comes at `time`.
    pub fn comes(&mut self, time: u64, bytes: u32) {
        self.changes.push((time, i64::from(bytes)));
    }

    /// A packet leaves at `time`: it is sent whole, or dropped.
    pub fn leaves(&mut self, time: u64, bytes: u32) {
        self.changes.push((time, -i64::from(bytes)));
    }

    /// The bytes that wait over time, up to `until`: of what left later, nothing may have been told. What leaves
    /// without having come, as copies that a link makes, counts for nothing.
    pub fn levels(mut self, until: u64) -> Levels {
        self.changes.retain(|&(time, _)| time <= until);
        self.changes.sort_by_key(|&(time, _)| time);
        let (mut levels, mut waiting) = (Levels::default(), 0i64);
        let mut changes = self.changes.into_iter().peekable();
        while let Some((time, change)) = changes.next() {
            waiting = (waiting + change).max(0);
            // What happens at one instant counts as one change: a packet that is refused never waited.
            if changes.peek().is_none_or(|&(next, _)| next > time) {
                levels.push(time, waiting as u64);
            }
        }
        levels.finish();
        levels
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Buckets;

    #[test]
    fn the_queue_is_what_came_and_has_not_left() {
        let mut backlog = Backlog::default();
        // Three packets at once, one of them refused; they leave one after the other, told late.
        for bytes in [1000, 1000, 500] {
            backlog.comes(10, bytes);
        }
        backlog.leaves(10, 500);
        backlog.comes(30, 700);
        backlog.leaves(20, 1000);
        backlog.leaves(40, 1000);
        backlog.leaves(50, 700);
        backlog.leaves(60, 100);
        backlog.comes(90, 800);
        let levels = backlog.levels(80);
        let sampled = levels.sample(&Buckets::new(0, 70, 7));
        let last: Vec<Option<u64>> = sampled.iter().map(|bucket| bucket.map(|bucket| bucket.last)).collect();
        let expected = [None, Some(2000), Some(1000), Some(1700), Some(700), Some(0), Some(0)];
        assert_eq!(last, expected);
        assert_eq!(
            levels.greatest(),
            2000,
            "the refused one never waited, and what comes too late to be told of does not count"
        );
    }
}
