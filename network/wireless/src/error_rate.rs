//! Whether a frame survives noise and interference: error curves of 802.11b.
//!
//! The chance that a bit is wrong follows from the ratio of the signal's power to that of noise and all other signals
//! (SINR) in the 22 MHz of the channel:
//! * 1 Mbit/s, DBPSK: half of exp(-Eb/N0) (J. Proakis, "Digital Communications", 4th edition, 5.2-69);
//! * 2 Mbit/s, DQPSK: the approximation of G. Ferrari and G. Corazza, "Tight bounds and accurate approximations for
//!   DQPSK transmission bit error rate", Electronics Letters 40(20), 2004;
//! * 5.5 and 11 Mbit/s, CCK: one and two biorthogonal sets of 16 (Proakis 5.2-34; M. Pursley and T. Royster,
//!   "Properties and performance of the IEEE 802.11b complementary-code-key signal sets", IEEE Transactions on
//!   Communications 57(2), 2009), each with half of the symbol's energy, as ns-3's `DsssErrorRateModel` takes it.
use alloc::vec::Vec;
use core::f64::consts::{PI, SQRT_2};
use prismux_units::{Duration, Rate};

/// The bandwidth of a channel of 802.11b, in hertz.
const BANDWIDTH_HZ: f64 = 22e6;
/// Symbols of CCK per second.
const CCK_SYMBOLS_PER_S: f64 = 1.375e6;

/// Curves are tabulated from here on, in decibels; what is worse is no better than here.
const FIRST_DB: f64 = -15.0;
const STEPS_PER_DB: f64 = 10.0;
const STEPS: usize = 350;

/// The chance that bits of one rate survive, tabulated against SINR.
#[derive(Debug, Clone)]
struct Curve {
    /// Logarithm of the chance of one bit.
    ln_success: Vec<f64>,
}

impl Curve {
    /// `None` for a rate that 802.11b does not have.
    fn new(rate: Rate) -> Option<Self> {
        let chance: fn(f64) -> f64 = match rate.as_bps() {
            1_000_000 => dbpsk,
            2_000_000 => dqpsk,
            5_500_000 => cck_5_5,
            11_000_000 => cck_11,
            _ => return None,
        };
        let at = |step: usize| {
            let decibels = FIRST_DB + step as f64 / STEPS_PER_DB;
            libm::log1p(-chance(libm::pow(10.0, decibels / 10.0)).min(0.5))
        };
        Some(Self { ln_success: (0..=STEPS).map(at).collect() })
    }

    fn ln_success(&self, sinr: f64) -> f64 {
        let place = (10.0 * libm::log10(sinr) - FIRST_DB) * STEPS_PER_DB;
        let place = place.max(0.0);
        let step = place as usize;
        if step >= STEPS {
            return 0.0;
        }
        let (low, high) = (self.ln_success[step], self.ln_success[step + 1]);
        low + (high - low) * (place - step as f64)
    }
}

/// The chance of a wrong bit at 1 Mbit/s.
fn dbpsk(sinr: f64) -> f64 {
    0.5 * libm::exp(-sinr * BANDWIDTH_HZ / 1e6)
}

/// The chance of a wrong bit at 2 Mbit/s.
fn dqpsk(sinr: f64) -> f64 {
    let energy = sinr * BANDWIDTH_HZ / 2e6;
    let scale = (SQRT_2 + 1.0) / libm::sqrt(8.0 * PI * SQRT_2);
    scale / libm::sqrt(energy) * libm::exp(-(2.0 - SQRT_2) * energy)
}

/// The chance, per bit, of a wrong symbol at 5.5 Mbit/s.
fn cck_5_5(sinr: f64) -> f64 {
    let symbol = biorthogonal_16(sinr * BANDWIDTH_HZ / CCK_SYMBOLS_PER_S / 2.0);
    per_bit(symbol, 4.0)
}

/// The chance, per bit, of a wrong symbol at 11 Mbit/s.
fn cck_11(sinr: f64) -> f64 {
    let half = biorthogonal_16(sinr * BANDWIDTH_HZ / CCK_SYMBOLS_PER_S / 4.0);
    per_bit(1.0 - (1.0 - half) * (1.0 - half), 8.0)
}

/// What each of a symbol's bits would have to be for the symbol to be wrong with this chance.
fn per_bit(symbol: f64, bits: f64) -> f64 {
    -libm::expm1(libm::log1p(-symbol.min(1.0 - 1e-12)) / bits)
}

/// The chance of a wrong symbol among 16 biorthogonal ones, from the ratio of a symbol's energy to the noise density:
/// an integral over the correlator of the symbol that was sent (Simpson's rule).
fn biorthogonal_16(energy: f64) -> f64 {
    const INTERVALS: usize = 200;
    let reach = libm::sqrt(2.0 * energy);
    let (from, to) = ((-reach).max(-8.0), 8.0);
    let width = (to - from) / INTERVALS as f64;
    let wrong = |v: f64| {
        let others = libm::erf((v + reach) / SQRT_2);
        (1.0 - libm::pow(others, 7.0)) * libm::exp(-v * v / 2.0) / libm::sqrt(2.0 * PI)
    };
    let weight = |k: usize| if k == 0 || k == INTERVALS { 1.0 } else { 2.0 + 2.0 * (k % 2) as f64 };
    let sum: f64 = (0..=INTERVALS).map(|k| weight(k) * wrong(from + width * k as f64)).sum();
    // Below -reach the symbol is wrong whatever the others say.
    let sign_turned = 0.5 * libm::erfc(reach / SQRT_2);
    (sum * width / 3.0 + sign_turned).clamp(0.0, 1.0)
}

/// The curves that the frames of an air need.
#[derive(Debug, Clone)]
pub(crate) struct ErrorCurves {
    noise_w: f64,
    /// How long preamble and header last, which go at 1 Mbit/s.
    header: Duration,
    of_header: Curve,
    of_rates: Vec<(Rate, Curve)>,
}

impl ErrorCurves {
    /// `None` when one of `rates` is none of 802.11b's.
    pub fn new(noise_w: f64, header: Duration, rates: &[Rate]) -> Option<Self> {
        let with_curve = |&rate: &Rate| Some((rate, Curve::new(rate)?));
        let of_rates = rates.iter().map(with_curve).collect::<Option<Vec<_>>>()?;
        Some(Self { noise_w, header, of_header: Curve::new(Rate::from_mbps(1))?, of_rates })
    }

    /// Logarithm of the chance that the part of a frame survives from `from` to `until` after its beginning.
    pub fn ln_success(
        &self,
        power_w: f64,
        interference_w: f64,
        rate: Rate,
        from: Duration,
        until: Duration,
    ) -> f64 {
        let sinr = power_w / (self.noise_w + interference_w);
        let in_header = until.min(self.header) - from;
        let in_body = until - from.max(self.header);
        let bits = |time: Duration, bps: u64| time.as_secs_f64() * bps as f64;
        let mut ln = 0.0;
        if !in_header.is_zero() {
            ln += bits(in_header, 1_000_000) * self.of_header.ln_success(sinr);
        }
        if !in_body.is_zero() {
            let body = self.of_rates.iter().find(|(known, _)| *known == rate);
            ln += bits(in_body, rate.as_bps()) * body.map_or(0.0, |(_, curve)| curve.ln_success(sinr));
        }
        ln
    }
}

#[cfg(test)]
mod tests {
    use super::{biorthogonal_16, cck_5_5, cck_11, dbpsk, dqpsk};

    #[test]
    fn slower_rates_stand_more_noise() {
        // Where one bit in 100,000 is wrong.
        let threshold_db = |chance: fn(f64) -> f64| {
            let mut decibels = -10.0;
            while chance(libm::pow(10.0, decibels / 10.0)) > 1e-5 {
                decibels += 0.01;
            }
            decibels
        };
        let found = [dbpsk, dqpsk, cck_5_5, cck_11].map(threshold_db);
        assert!(found.is_sorted(), "{found:?}");
        // DBPSK and DQPSK need Eb/N0 of 10.3 and 12.0 dB (Proakis, figure 5.2-20), of which 13.4 and 10.4 dB come from
        // spreading.
        assert!((found[0] - (10.34 - 13.42)).abs() < 0.1, "{found:?}");
        assert!((found[1] - (12.0 - 10.41)).abs() < 0.4, "{found:?}");
    }

    #[test]
    fn biorthogonal_symbols_without_energy_are_guesses_and_the_union_bound_holds() {
        assert!((biorthogonal_16(0.0) - 15.0 / 16.0).abs() < 1e-3, "{}", biorthogonal_16(0.0));
        // 14 neighbours at the distance of orthogonal symbols: 14 Q(sqrt(E/N0)), tight when errors are rare.
        for energy in [18.0, 22.0, 26.0_f64] {
            let bound = 14.0 * 0.5 * libm::erfc(libm::sqrt(energy / 2.0));
            let exact = biorthogonal_16(energy);
            assert!(exact <= bound && exact > 0.9 * bound, "{energy}: {exact}, bound {bound}");
        }
    }
}
