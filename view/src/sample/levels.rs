//! A quantity that keeps its value until the next change.
use super::Buckets;

/// Values under one node of the tree.
const FAN: usize = 16;

/// A step function: its changes, and a tree of least and greatest values over them.
#[derive(Debug, Clone, Default)]
pub struct Levels {
    times: Vec<u64>,
    values: Vec<u64>,
    /// `tree[j][i]`: least and greatest of the values `i * FAN^(j + 1) ..` up to the next node's.
    tree: Vec<Vec<(u64, u64)>>,
}

/// What a quantity did in a bucket of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bucket {
    /// Its value when the bucket began, or its first one.
    pub first: u64,
    /// Its least value.
    pub min: u64,
    /// Its greatest value.
    pub max: u64,
    /// Its value when the bucket ended.
    pub last: u64,
}

impl Levels {
    /// The value is `value` from `time` on. Times must not go back; of several changes at one time all count.
    pub fn push(&mut self, time: u64, value: u64) {
        debug_assert!(self.times.last().is_none_or(|&last| last <= time), "times go back");
        if self.values.last() != Some(&value) {
            self.times.push(time);
            self.values.push(value);
        }
    }

    /// Builds the tree. Call it once, after the last change.
    pub fn finish(&mut self) {
        let mut below: Vec<(u64, u64)> = self.values.iter().map(|&value| (value, value)).collect();
        self.tree.clear();
        while below.len() > FAN {
            below = below.chunks(FAN).map(extremes).collect();
            self.tree.push(below.clone());
        }
    }

    /// True without any value.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Its greatest value ever, 0 without any.
    pub fn greatest(&self) -> u64 {
        self.values.iter().copied().max().unwrap_or(0)
    }

    /// What it did in each bucket; `None` before its first value.
    pub fn sample(&self, buckets: &Buckets) -> Vec<Option<Bucket>> {
        let mut at = self.times.partition_point(|&time| time < buckets.from);
        (1..=buckets.count)
            .map(|k| {
                let edge = buckets.edge(k);
                let end = at + self.times[at..].partition_point(|&time| time < edge);
                let bucket = self.bucket(at, end);
                at = end;
                bucket
            })
            .collect()
    }

    /// The bucket with the changes `from .. to`.
    fn bucket(&self, from: usize, to: usize) -> Option<Bucket> {
        let before = from.checked_sub(1).map(|index| self.values[index]);
        let first = before.or_else(|| self.values[from..to].first().copied())?;
        let (mut min, mut max) = (first, first);
        self.extremes_of(from, to, &mut |(low, high)| {
            (min, max) = (min.min(low), max.max(high));
        });
        let last = to.checked_sub(1).map_or(first, |index| self.values[index]);
        Some(Bucket { first, min, max, last })
    }

    /// Hands the extremes of the values `from .. to` to `take`, whole nodes where they fit.
    fn extremes_of(&self, mut from: usize, to: usize, take: &mut impl FnMut((u64, u64))) {
        while from < to {
            // The largest node that begins here and ends within the range.
            let (mut level, mut width) = (0, 1);
            while level < self.tree.len() && from.is_multiple_of(width * FAN) && from + width * FAN <= to {
                level += 1;
                width *= FAN;
            }
            take(match level {
                0 => (self.values[from], self.values[from]),
                _ => self.tree[level - 1][from / width],
            });
            from += width;
        }
    }
}

fn extremes(nodes: &[(u64, u64)]) -> (u64, u64) {
    nodes.iter().fold((u64::MAX, 0), |(low, high), &(min, max)| (low.min(min), high.max(max)))
}
