//! Randomness by name: every component draws from its own stream, a function of the run's seed and the
//! component's name, so that a new model never shifts the numbers an old one sees.

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The seed of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Seed(pub u64);

impl Seed {
    /// The stream of the component called `name` (for instance `"link/wwan2/loss"`).
    pub fn stream(self, name: &str) -> RandomStream {
        RandomStream(Xoshiro256PlusPlus::seed_from_u64(
            fnv1a(name) ^ self.0.wrapping_mul(0x9E37_79B9_7F4A_7C15),
        ))
    }
}

/// FNV-1a, 64 bits: a fixed hash, equal on every machine.
fn fnv1a(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// A repeatable stream of random numbers (xoshiro256++); identical on every machine.
#[derive(Debug, Clone)]
pub struct RandomStream(Xoshiro256PlusPlus);

impl RandomStream {
    /// 64 uniform bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in `[0, 1)`, 53 bits.
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform integer in `[0, bound)`; `bound` of zero gives zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        // Multiply-shift: bias below 2^-32 for every bound used here.
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// True with probability `p`; draws nothing for `p <= 0`, so a loss-free link costs no randomness.
    pub fn chance(&mut self, p: f64) -> bool {
        p > 0.0 && self.uniform() < p
    }

    /// Exponential with the given mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.uniform())
    }

    /// Pareto with the given *mean* and shape above 1 (ns-2 semantics: scale = mean (shape - 1) / shape).
    pub fn pareto(&mut self, mean: f64, shape: f64) -> f64 {
        let scale = mean * (shape - 1.0) / shape;
        scale / libm::pow(1.0 - self.uniform(), 1.0 / shape)
    }
}

#[cfg(test)]
mod tests {
    use super::Seed;

    #[test]
    fn streams_repeat_by_seed_and_name_and_differ_otherwise() {
        let first = |seed, name| Seed(seed).stream(name).next_u64();
        assert_eq!(first(1, "link/a"), first(1, "link/a"));
        assert_ne!(first(1, "link/a"), first(1, "link/b"));
        assert_ne!(first(1, "link/a"), first(2, "link/a"));
    }

    #[test]
    fn pareto_has_the_configured_mean() {
        let mut stream = Seed(7).stream("pareto");
        let n = 400_000;
        let mean = (0..n).map(|_| stream.pareto(2.0, 2.5)).sum::<f64>() / f64::from(n);
        assert!((mean - 2.0).abs() < 0.03, "{mean}");
    }
}
