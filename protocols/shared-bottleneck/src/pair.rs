//! Two links: signs that they share a bottleneck or do not, and the verdict.
use crate::regression::Observation;
use crate::sends::Sends;
use crate::way::{SHIFTS, Way};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use prismux_units::{Duration, Instant, Rate};

/// A sign is that of at least so long,
const MIN_WINDOW: Duration = Duration::from_secs(3);
/// and of no longer: what is not enough by then is forgotten.
const MAX_WINDOW: Duration = Duration::from_secs(12);
/// Each link has been observed so often at least.
const MIN_COUNT: f64 = 60.0;
/// A link's queue is explained at least this well by what both send (1: as well as by what it sends itself),
const MIN_GAIN: f64 = 0.9;
/// and both together so much better.
const SHARED_GAIN: f64 = 1.1;
/// And where both are explained worse than this, the bottlenecks are two.
const SEPARATE_GAIN: f64 = 0.95;
/// if what each sends itself leaves at most this share unexplained of what would be without.
const OWN_SHARE: f64 = 0.8;
/// The verdict is that of so many signs.
const SIGNS: usize = 8;
/// So many must say it.
const WANTED: usize = 4;
/// Signs of the same queue: steps by which their shifts may differ from the middle one.
const SAME_SHIFT: u64 = 2;

/// Whether two links share a bottleneck.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Verdict {
    /// Nothing can be said: too little traffic, or too little that could tell.
    #[default]
    Unknown,
    /// Each has a bottleneck of its own.
    Separate,
    /// They share one.
    Shared,
}

impl Verdict {
    /// The name on pages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Separate => "separate",
            Self::Shared => "shared",
        }
    }
}

/// The figures behind a verdict: means of the signs that led to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evidence {
    /// How many times less of the links' queueing stays unexplained by what both send than by what each sends itself:
    /// above 1 for a shared bottleneck, below for separate ones.
    pub gain: f64,
    /// What the shared bottleneck carries, with what strangers send through it.
    pub rate: Option<Rate>,
    /// How many of the latest signs say so, of how many.
    pub signs: (usize, usize),
}

/// What a few seconds say.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Sign {
    /// What they say; [`Verdict::Unknown`] for nothing.
    says: Verdict,
    /// The shift of the best explanation.
    shift: u64,
    gain: f64,
    byte_s: f64,
}

/// Two links.
#[derive(Debug)]
pub(crate) struct Pair {
    ways: [Way; 2],
    began: Instant,
    /// The latest last.
    signs: VecDeque<Sign>,
    pub verdict: Verdict,
    pub evidence: Option<Evidence>,
    /// When the latest sign came.
    pub seen_at: Instant,
}

impl Pair {
    /// Of which nothing is known.
    pub fn new(now: Instant) -> Self {
        Self {
            ways: [Way::new(), Way::new()],
            began: now,
            signs: VecDeque::new(),
            verdict: Verdict::Unknown,
            evidence: None,
            seen_at: now,
        }
    }

    /// The next observation of the first link or the second one, and what the other one has sent.
    pub fn add(&mut self, place: usize, observation: Observation, other: &Sends) {
        if let Some(way) = self.ways.get_mut(place) {
            way.add(observation, other);
        }
    }

    /// Says whether the verdict is another one now.
    pub fn judge(&mut self, now: Instant) -> bool {
        let length = now.saturating_since(self.began);
        let is_enough = self.ways.iter().all(|way| way.count() >= MIN_COUNT);
        if length < MIN_WINDOW || !is_enough && length < MAX_WINDOW {
            return false;
        }
        let sign = if is_enough { self.sign() } else { None };
        self.ways.iter_mut().for_each(Way::clear);
        self.began = now;
        let Some(sign) = sign else { return false };
        if self.signs.len() >= SIGNS {
            self.signs.pop_front();
        }
        self.signs.push_back(sign);
        self.seen_at = now;
        let before = self.verdict;
        self.decide();
        before != self.verdict
    }

    /// The shift that explains both queues best.
    fn sign(&self) -> Option<Sign> {
        let [one, other] = &self.ways;
        let at = |shift: u64| {
            // What comes later to the one's queue comes earlier to the other's.
            let (a, b) = (one.unexplained(shift)?, other.unexplained(2 * SHIFTS - shift)?);
            let gains = (a.alone / a.together, b.alone / b.together);
            let is_shared = gains.0 >= MIN_GAIN && gains.1 >= MIN_GAIN && a.byte_s > 0.0 && b.byte_s > 0.0;
            let gain = libm::sqrt(gains.0 * gains.1);
            let says = if is_shared && gain >= SHARED_GAIN {
                Verdict::Shared
            } else if gain <= SEPARATE_GAIN && [a, b].iter().all(|way| way.alone <= OWN_SHARE * way.strangers)
            {
                Verdict::Separate
            } else {
                Verdict::Unknown
            };
            let byte_s = (a.byte_s + b.byte_s) / 2.0;
            gain.is_finite().then_some(Sign { says, shift, gain, byte_s })
        };
        (0..=2 * SHIFTS).filter_map(at).max_by(|a, b| a.gain.total_cmp(&b.gain))
    }

    /// Signs that say the same: for a shared bottleneck, of one and the same queue.
    fn agreeing(&self, verdict: Verdict) -> Vec<&Sign> {
        let mut signs: Vec<&Sign> = self.signs.iter().filter(|sign| sign.says == verdict).collect();
        if verdict == Verdict::Shared {
            signs.sort_by_key(|sign| sign.shift);
            let middle = signs.get(signs.len() / 2).map_or(0, |sign| sign.shift);
            signs.retain(|sign| sign.shift.abs_diff(middle) <= SAME_SHIFT);
        }
        signs
    }

    /// Enough signs, and twice as many as for the contrary; what was found stays until then.
    fn decide(&mut self) {
        let [shared, separate] = [Verdict::Shared, Verdict::Separate].map(|verdict| self.agreeing(verdict));
        let prevails =
            |signs: &[&Sign], others: &[&Sign]| signs.len() >= WANTED && signs.len() >= 2 * others.len();
        let verdict = if prevails(&shared, &separate) {
            Verdict::Shared
        } else if prevails(&separate, &shared) {
            Verdict::Separate
        } else {
            self.verdict
        };
        let signs = if verdict == Verdict::Shared { shared } else { separate };
        let evidence = evidence(&signs, verdict, self.signs.len());
        self.verdict = verdict;
        if verdict != Verdict::Unknown && evidence.is_some() {
            self.evidence = evidence;
        }
    }
}

fn evidence(signs: &[&Sign], verdict: Verdict, all: usize) -> Option<Evidence> {
    let count = signs.len() as f64;
    let gain = libm::exp(signs.iter().map(|sign| libm::log(sign.gain.max(1e-3))).sum::<f64>() / count);
    let byte_s = signs.iter().map(|sign| sign.byte_s).sum::<f64>() / count;
    let rate = (verdict == Verdict::Shared && byte_s > 0.0).then(|| Rate::from_bps((8.0 / byte_s) as u64));
    (!signs.is_empty()).then_some(Evidence { gain, rate, signs: (signs.len(), all) })
}
