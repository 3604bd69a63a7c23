//! The figures of the last two days, in bounded memory: the nearer, the finer.
//!
//! At most 1,896 samples of at most 255 links, each 48 bytes: 23 MB, and some 350 KB with two links.
use crate::figures::{LinkSample, MAX_LINKS, Sample};
use std::collections::VecDeque;
use std::sync::Arc;

/// How fine figures are, and how long they are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Level {
    /// Seconds from one sample to the next.
    pub interval_s: u64,
    /// Samples of the finer level that one is made of.
    gathers: usize,
    /// Samples kept.
    pub samples: usize,
}

/// Ten minutes by the second, two hours by ten seconds, two days by five minutes.
pub(super) const LEVELS: [Level; 3] = [
    Level { interval_s: 1, gathers: 1, samples: 600 },
    Level { interval_s: 10, gathers: 10, samples: 720 },
    Level { interval_s: 300, gathers: 30, samples: 576 },
];

/// The figures of a daemon. Cloning copies pointers.
#[derive(Debug, Clone, Default)]
pub(super) struct History([Ring; LEVELS.len()]);

#[derive(Debug, Clone, Default)]
struct Ring {
    kept: VecDeque<Arc<Sample>>,
    /// Samples of the finer level that the next of this one is made of.
    gathered: Vec<Arc<Sample>>,
}

impl History {
    /// Adds a sample of the finest level; the others follow.
    pub fn add(&mut self, sample: Sample) {
        let mut sample = Arc::new(sample);
        for (ring, level) in self.0.iter_mut().zip(LEVELS) {
            ring.gathered.push(sample);
            if ring.gathered.len() < level.gathers {
                return;
            }
            let Some(merged) = merged(&ring.gathered) else { return };
            ring.gathered.clear();
            sample = Arc::new(merged);
            if ring.kept.len() >= level.samples {
                ring.kept.pop_front();
            }
            ring.kept.push_back(Arc::clone(&sample));
        }
    }

    /// The samples of a level, the oldest first, that were taken after so many milliseconds from the daemon's start.
    pub fn after(&self, level: usize, milliseconds: Option<u64>) -> Vec<Arc<Sample>> {
        let is_new = |sample: &&Arc<Sample>| milliseconds.is_none_or(|after| sample.milliseconds() > after);
        self.0.get(level).map_or_else(Vec::new, |ring| ring.kept.iter().filter(is_new).cloned().collect())
    }
}

impl Sample {
    /// When it was taken, in milliseconds from the daemon's start.
    pub(super) fn milliseconds(&self) -> u64 {
        self.at.as_nanos() / 1_000_000
    }
}

/// One sample for several: rates are means, so that what was carried stays the same; delays and losses the largest, so
/// that none goes unseen.
fn merged(samples: &[Arc<Sample>]) -> Option<Sample> {
    let last = samples.last()?;
    let count = samples.len() as f32;
    let mut links: Vec<LinkSample> = Vec::new();
    // The newest first: where there are too many, those that have gone are left out.
    for sample in samples.iter().rev() {
        for link in &sample.links {
            let mean = |bps: f32| bps / count;
            let has_room = links.len() < MAX_LINKS;
            match links.iter_mut().find(|known| known.link == link.link) {
                Some(known) => {
                    known.forward_bps += mean(link.forward_bps);
                    known.return_bps += mean(link.return_bps);
                    known.loss = largest(known.loss, link.loss);
                    known.rtt_s = largest(known.rtt_s, link.rtt_s);
                    known.queueing_delay_s = largest(known.queueing_delay_s, link.queueing_delay_s);
                    known.up &= link.up;
                }
                None if has_room => links.push(LinkSample {
                    forward_bps: mean(link.forward_bps),
                    return_bps: mean(link.return_bps),
                    ..link.clone()
                }),
                None => {}
            }
        }
    }
    links.shrink_to_fit();
    let flows = samples.iter().map(|sample| sample.flows).max().unwrap_or(0);
    Some(Sample { at: last.at, flows, links })
}

fn largest(a: Option<f32>, b: Option<f32>) -> Option<f32> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.max(b)),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::LinkName;
    use prismux_units::Instant;
    use proptest::prelude::*;

    /// A second of some links: number and rate of each.
    fn sample(second: u64, links: &[(u8, u32)]) -> Sample {
        let link = |&(number, bps): &(u8, u32)| LinkSample {
            link: Arc::new(LinkName { home: None, name: format!("wan{number}") }),
            forward_bps: bps as f32,
            return_bps: 0.0,
            loss: None,
            rtt_s: Some(bps as f32),
            queueing_delay_s: None,
            up: true,
        };
        Sample { at: Instant::from_secs(second), flows: 0, links: links.iter().map(link).collect() }
    }

    fn carried(samples: &[Arc<Sample>]) -> f64 {
        samples.iter().flat_map(|sample| &sample.links).map(|link| f64::from(link.forward_bps)).sum()
    }

    #[test]
    fn each_level_keeps_what_it_says_and_no_more() {
        let mut history = History::default();
        let seconds = 300 * 600;
        (1..=seconds).for_each(|second| history.add(sample(second, &[(0, 8)])));
        for (number, level) in LEVELS.iter().enumerate() {
            let kept = history.after(number, None);
            assert_eq!(kept.len(), level.samples);
            let times: Vec<u64> = kept.iter().map(|sample| sample.milliseconds() / 1000).collect();
            assert!(times.windows(2).all(|pair| pair[1] - pair[0] == level.interval_s), "{level:?}");
            assert_eq!(times.last(), Some(&(seconds / level.interval_s * level.interval_s)));
        }
        let samples: usize = LEVELS.iter().map(|level| level.samples).sum();
        assert_eq!((samples, size_of::<LinkSample>()), (1896, 48), "what the memory is reckoned from");
        let newest = history.after(0, Some((seconds - 3) * 1000));
        assert_eq!(newest.len(), 3, "those that a page does not have yet");
    }

    proptest! {
        #![proptest_config(prismux_properties::cases(64))]

        #[test]
        fn no_level_passes_its_bounds_and_what_was_carried_is_the_same_on_all(
            seconds in proptest::collection::vec(
                proptest::collection::btree_map(any::<u8>(), 0..1_000_000_u32, 0..80), 1..400),
        ) {
            let mut history = History::default();
            for (second, links) in (1..).zip(&seconds) {
                let links: Vec<(u8, u32)> = links.iter().map(|(&number, &bps)| (number % 64, bps)).collect();
                let mut seen = std::collections::BTreeMap::new();
                links.iter().for_each(|&(number, bps)| { seen.insert(number, bps); });
                history.add(sample(second, &seen.into_iter().collect::<Vec<_>>()));
            }
            let finest = history.after(0, None);
            for (number, level) in LEVELS.iter().enumerate() {
                let kept = history.after(number, None);
                prop_assert!(kept.len() <= level.samples);
                prop_assert!(kept.iter().all(|sample| sample.links.len() <= MAX_LINKS));
                prop_assert_eq!(kept.len(), seconds.len() / level.interval_s as usize);
                let whole = kept.len() * level.interval_s as usize;
                let (fine, coarse) = (carried(&finest[..whole]), carried(&kept) * level.interval_s as f64);
                prop_assert!((fine - coarse).abs() <= 1e-4 * fine.max(1.0), "{fine} and {coarse}");
            }
        }
    }
}
