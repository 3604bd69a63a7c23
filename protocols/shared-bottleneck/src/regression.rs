//! How long packets stood in a queue, explained by what was sent to it: least squares.
//!
//! Between two packets of a link that stand in the same queue, which is never empty meanwhile, the arrivals lie as far
//! apart as the queue took for all that came to it between them: the link's own bytes, those of the other link if it
//! stands in the same queue, and what strangers send, so much in a second. Which of them count is asked of the data.
//! All is compared within blocks so short that what is sent does not yet answer to what the queue does.
use alloc::vec::Vec;

/// Causes and effect between two packets of a link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Observation {
    /// Slots in which the two were sent.
    pub slots: (u64, u64),
    /// Bytes of the link itself from the one to the other.
    pub own_bytes: f64,
    /// Time between their sending, in seconds.
    pub apart_s: f64,
    /// Time between their arrivals, in seconds.
    pub took_s: f64,
}

/// Sums of squares and products, each of distances from the mean of a block.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Regression {
    own_own: f64,
    own_apart: f64,
    own_took: f64,
    apart_apart: f64,
    apart_took: f64,
    took_took: f64,
    /// Observations less blocks.
    count: f64,
    /// What the other link adds, for each shift in time.
    shifts: Vec<Other>,
}

/// Sums with the bytes of the other link.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Other {
    other: f64,
    own: f64,
    apart: f64,
    took: f64,
}

/// How well two hypotheses explain what was seen: squares that stay unexplained.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Unexplained {
    /// Strangers alone count, so much in a second.
    pub strangers: f64,
    /// The link's own bytes count, and strangers.
    pub alone: f64,
    /// Bytes of both links count, each the same, and strangers.
    pub together: f64,
    /// Seconds that the queue takes for a byte of either, if so.
    pub byte_s: f64,
}

impl Regression {
    /// Nothing observed; the other link is shifted by so many steps.
    pub fn new(shifts: usize) -> Self {
        Self { shifts: alloc::vec![Other::default(); shifts], ..Self::default() }
    }

    /// Observations that are compared with one another; `other_bytes` tells what came over the other link meanwhile,
    /// by shift and observation.
    pub fn add_block(&mut self, block: &[Observation], other_bytes: impl Fn(usize, &Observation) -> f64) {
        let mean = |of: &dyn Fn(&Observation) -> f64| block.iter().map(of).sum::<f64>() / block.len() as f64;
        let means = Observation {
            slots: (0, 0),
            own_bytes: mean(&|o| o.own_bytes),
            apart_s: mean(&|o| o.apart_s),
            took_s: mean(&|o| o.took_s),
        };
        let distances = |o: &Observation| {
            (o.own_bytes - means.own_bytes, o.apart_s - means.apart_s, o.took_s - means.took_s)
        };
        for (own, apart, took) in block.iter().map(distances) {
            self.own_own += own * own;
            self.own_apart += own * apart;
            self.own_took += own * took;
            self.apart_apart += apart * apart;
            self.apart_took += apart * took;
            self.took_took += took * took;
        }
        self.count += (block.len() as f64 - 1.0).max(0.0);
        for (shift, sums) in self.shifts.iter_mut().enumerate() {
            let mean = block.iter().map(|o| other_bytes(shift, o)).sum::<f64>() / block.len() as f64;
            for observation in block {
                let (own, apart, took) = distances(observation);
                let other = other_bytes(shift, observation) - mean;
                sums.other += other * other;
                sums.own += other * own;
                sums.apart += other * apart;
                sums.took += other * took;
            }
        }
    }

    /// Degrees of freedom.
    pub fn count(&self) -> f64 {
        self.count
    }

    /// What is left at a shift; `None` where nothing varies.
    pub fn unexplained(&self, shift: usize) -> Option<Unexplained> {
        let Other { other, own, apart, took } = *self.shifts.get(shift)?;
        let both = self.own_own + 2.0 * own + other;
        let alone = self.one_cause(self.own_own, self.own_apart, self.own_took)?;
        let together = self.one_cause(both, self.own_apart + apart, self.own_took + took)?;
        let (alone, (together, byte_s)) = (alone.0, together);
        Some(Unexplained { strangers: self.strangers(), alone, together, byte_s })
    }

    /// What a cause leaves unexplained beside the time between the packets, and its slope.
    fn one_cause(&self, cause: f64, cause_apart: f64, cause_took: f64) -> Option<(f64, f64)> {
        let Self { apart_apart, apart_took, .. } = *self;
        if apart_apart <= 0.0 {
            return None;
        }
        let rest = cause - cause_apart * cause_apart / apart_apart;
        let rest_took = cause_took - cause_apart * apart_took / apart_apart;
        let left = self.strangers();
        // What is all but a multiple of the time tells nothing of its own.
        if rest <= 1e-6 * cause || left <= 0.0 {
            return None;
        }
        let slope = rest_took / rest;
        Some((if slope > 0.0 { left - slope * rest_took } else { left }, slope))
    }

    /// What the time between the packets leaves unexplained.
    fn strangers(&self) -> f64 {
        self.took_took - self.apart_took * self.apart_took / self.apart_apart
    }

    /// Begins anew.
    pub fn clear(&mut self) {
        *self = Self::new(self.shifts.len());
    }
}
