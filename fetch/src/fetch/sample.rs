//! A download over time: a sample at every moment at which something came, no more often than wanted.
use super::{Fetch, PathProgress, Update};
use crate::client::Delivery;
use prismux_units::{Duration, Instant};

/// The state of a download at the moment of its last arrival.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Time since the download's start.
    pub at: Duration,
    /// The stream's progress.
    pub delivery: Delivery,
    /// Bytes that are here, also beyond gaps.
    pub received_bytes: u64,
    /// Bytes that came again.
    pub duplicate_bytes: u64,
    /// By path.
    pub paths: Vec<PathProgress>,
}

/// Keeps the latest sample back until another comes that is not too close to it, so that what is told last before a
/// pause is what the pause began with.
pub(super) struct Sampler {
    every: Duration,
    /// Since when the kept one is updated.
    since: Instant,
    kept: Option<Sample>,
}

impl Sampler {
    pub(super) fn new(every: Duration) -> Self {
        Self { every, since: Instant::ZERO, kept: None }
    }

    /// Something came. Answers the sample to tell, if it is time for one.
    pub(super) fn take(&mut self, now: Instant, sample: Sample) -> Option<Sample> {
        let is_new = |kept: &Sample| {
            (kept.received_bytes, kept.duplicate_bytes) != (sample.received_bytes, sample.duplicate_bytes)
        };
        match &self.kept {
            Some(kept) if !is_new(kept) => None,
            Some(_) if now.saturating_since(self.since) < self.every => {
                self.kept = Some(sample);
                None
            }
            _ => {
                self.since = now;
                self.kept.replace(sample)
            }
        }
    }

    /// What has been kept for long enough.
    fn take_old(&mut self, now: Instant) -> Option<Sample> {
        let is_old = now.saturating_since(self.since) >= self.every;
        self.kept.take_if(|_| is_old)
    }

    /// What is kept, at the end.
    pub(super) fn finish(&mut self) -> Option<Sample> {
        self.kept.take()
    }
}

impl Fetch<'_> {
    /// Takes a sample after an arrival, and tells one if it is time.
    pub(super) fn sample(&mut self, now: Instant, observer: &mut dyn FnMut(Update<'_>)) {
        let (Some(_), Some(file)) = (&self.sampler, &self.file) else { return };
        let sample = Sample {
            at: now.saturating_since(self.started_at),
            delivery: self.download.delivery(),
            received_bytes: file.received(),
            duplicate_bytes: self.download.counters().duplicate_bytes,
            paths: self.paths(),
        };
        if let Some(sample) = self.sampler.as_mut().and_then(|sampler| sampler.take(now, sample)) {
            observer(Update::Sample(&sample));
        }
    }

    /// Nothing came for a while: what was kept back is told.
    pub(super) fn tell_old_sample(&mut self, now: Instant, observer: &mut dyn FnMut(Update<'_>)) {
        if let Some(sample) = self.sampler.as_mut().and_then(|sampler| sampler.take_old(now)) {
            observer(Update::Sample(&sample));
        }
    }

    /// It is over: so is keeping back.
    pub(super) fn tell_last_sample(&mut self, observer: &mut dyn FnMut(Update<'_>)) {
        if let Some(sample) = self.sampler.as_mut().and_then(Sampler::finish) {
            observer(Update::Sample(&sample));
        }
    }
}

#[cfg(test)]
mod tests;
