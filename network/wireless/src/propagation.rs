//! How power falls with distance, and how it fades.
use core::f64::consts::PI;
use prismux_endpoint::random::RandomStream;

/// The speed of light, in metres per second.
const LIGHT_M_PER_S: f64 = 299_792_458.0;
/// ns-2 rounds the speed of light to this; ranges of its thresholds follow from it.
const LIGHT_NS2_M_PER_S: f64 = 3.0e8;

/// Mean power at a distance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Propagation {
    /// Free space (Friis 1946): power falls with the square of distance.
    FreeSpace,
    /// Free space up to the cross-over distance 4 pi h h / wavelength, then two rays, one reflected by the ground:
    /// power falls with the fourth power of distance (ns-2's `TwoRayGround`, its speed of light included).
    TwoRayGround,
    /// Free space up to `reference_m`, then power falls with distance to the power of `exponent`.
    LogDistance {
        /// The path-loss exponent: 2 in free space, 2.7 to 5 in cities.
        exponent: f64,
        /// Where it begins, in metres.
        reference_m: f64,
        /// Standard deviation of the shadowing of each frame at each receiver, in decibels; 0 for none.
        shadowing_db: f64,
    },
}

/// Fast fading: a random factor of mean 1 on the power of each frame at each receiver.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fading {
    /// None.
    None,
    /// No line of sight: the factor is exponential.
    Rayleigh,
    /// The factor is a gamma variable of shape `m` (Nakagami 1960): 1 is Rayleigh, more is milder.
    Nakagami {
        /// The shape, at least 0.5.
        m: f64,
    },
}

/// A transmitter and what stands around it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Antenna {
    /// Radiated power, in watts.
    pub power_w: f64,
    /// Frequency, in hertz.
    pub frequency_hz: f64,
    /// Height of all antennas above ground, in metres.
    pub height_m: f64,
    /// Product of both antennas' gains.
    pub gain: f64,
    /// Loss of the system, at least 1.
    pub loss: f64,
}

/// Power against squared distance for one antenna and one model, with the constants worked out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PathLoss {
    /// Free space: power times squared distance.
    near: f64,
    /// Where the far part begins, squared, in square metres.
    crossover_m2: f64,
    far: Far,
}

#[derive(Debug, Clone, Copy)]
enum Far {
    /// Power times distance to the power of four.
    FourthPower(f64),
    /// Power at the reference distance, and half the exponent (of the squared distance).
    HalfExponent(f64, f64),
    Same,
}

impl PathLoss {
    pub fn new(model: Propagation, antenna: &Antenna) -> Self {
        let light = match model {
            Propagation::TwoRayGround => LIGHT_NS2_M_PER_S,
            _ => LIGHT_M_PER_S,
        };
        let wavelength = light / antenna.frequency_hz;
        let effective = antenna.power_w * antenna.gain / antenna.loss;
        let m = wavelength / (4.0 * PI);
        let near = effective * m * m;
        let height2 = antenna.height_m * antenna.height_m;
        let (crossover, far) = match model {
            Propagation::FreeSpace => (f64::INFINITY, Far::Same),
            Propagation::TwoRayGround => {
                (4.0 * PI * height2 / wavelength, Far::FourthPower(effective * height2 * height2))
            }
            Propagation::LogDistance { exponent, reference_m, .. } => {
                (reference_m, Far::HalfExponent(near / (reference_m * reference_m), exponent / 2.0))
            }
        };
        Self { near, crossover_m2: crossover * crossover, far }
    }

    /// Mean received power, in watts, at a squared distance in square metres.
    #[inline]
    pub fn power_w(&self, distance_m2: f64) -> f64 {
        if distance_m2 < self.crossover_m2 {
            // Nobody is nearer than a centimetre.
            return self.near / distance_m2.max(1e-4);
        }
        match self.far {
            Far::FourthPower(constant) => constant / (distance_m2 * distance_m2),
            Far::HalfExponent(reference, half) => {
                reference * libm::pow(self.crossover_m2 / distance_m2, half)
            }
            Far::Same => self.near / distance_m2,
        }
    }

    /// The farthest distance, in metres, at which the mean power is at least `power_w`.
    pub fn range_m(&self, power_w: f64) -> f64 {
        let near = libm::sqrt(self.near / power_w);
        if near * near < self.crossover_m2 {
            return near;
        }
        match self.far {
            Far::FourthPower(constant) => libm::sqrt(libm::sqrt(constant / power_w)),
            Far::HalfExponent(reference, half) => {
                libm::sqrt(self.crossover_m2 * libm::pow(reference / power_w, 1.0 / half))
            }
            Far::Same => near,
        }
    }
}

/// The random part of the received power.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chance {
    shadowing_db: f64,
    fading: Fading,
}

/// No frame is heard from farther than where its mean power is this much below the threshold: a Rayleigh factor
/// exceeds 10 once in 22,000 frames.
const MAX_CHANCE_GAIN: f64 = 10.0;

impl Chance {
    pub fn new(model: Propagation, fading: Fading) -> Self {
        let shadowing_db = match model {
            Propagation::LogDistance { shadowing_db, .. } => shadowing_db,
            _ => 0.0,
        };
        Self { shadowing_db, fading }
    }

    /// Whether power is a function of distance alone.
    pub fn is_certain(&self) -> bool {
        self.shadowing_db == 0.0 && self.fading == Fading::None
    }

    /// The largest factor that is taken into account.
    pub fn largest_factor(&self) -> f64 {
        if self.is_certain() { 1.0 } else { MAX_CHANCE_GAIN * libm::pow(10.0, 0.3 * self.shadowing_db) }
    }

    /// A factor of the power of one frame at one receiver.
    pub fn draw(&self, random: &mut RandomStream) -> f64 {
        let fading = match self.fading {
            Fading::None => 1.0,
            Fading::Rayleigh => random.exponential(1.0),
            Fading::Nakagami { m } => gamma(random, m) / m,
        };
        match self.shadowing_db {
            0.0 => fading,
            deviation => fading * libm::pow(10.0, deviation * gaussian(random) / 10.0),
        }
    }
}

/// A standard normal variable (Box and Muller 1958).
pub(crate) fn gaussian(random: &mut RandomStream) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - random.uniform()));
    radius * libm::cos(2.0 * PI * random.uniform())
}

/// A gamma variable of unit scale (Marsaglia and Tsang 2000; shapes below 1 by their boost).
fn gamma(random: &mut RandomStream, shape: f64) -> f64 {
    if shape < 1.0 {
        let boost = libm::pow(1.0 - random.uniform(), 1.0 / shape);
        return gamma(random, shape + 1.0) * boost;
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / libm::sqrt(9.0 * d);
    loop {
        let x = gaussian(random);
        let root = 1.0 + c * x;
        if root <= 0.0 {
            continue;
        }
        let v = root * root * root;
        if libm::log(1.0 - random.uniform()) < 0.5 * x * x + d - d * v + d * libm::log(v) {
            return d * v;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Antenna, Chance, Fading, PathLoss, Propagation};
    use alloc::vec::Vec;
    use prismux_endpoint::random::Seed;

    const WAVELAN: Antenna =
        Antenna { power_w: 0.281_838_15, frequency_hz: 914e6, height_m: 1.5, gain: 1.0, loss: 1.0 };

    #[test]
    fn thresholds_of_ns2_mean_250_and_550_metres_and_the_crossover_is_at_86_metres() {
        let loss = PathLoss::new(Propagation::TwoRayGround, &WAVELAN);
        assert!((loss.range_m(3.652e-10) - 250.0).abs() < 0.02, "{}", loss.range_m(3.652e-10));
        assert!((loss.range_m(1.559e-11) - 550.0).abs() < 0.05, "{}", loss.range_m(1.559e-11));
        let crossover = libm::sqrt(loss.crossover_m2);
        assert!((crossover - 86.14).abs() < 0.01, "{crossover}");
    }

    #[test]
    fn range_is_the_inverse_of_power() {
        let log = Propagation::LogDistance { exponent: 3.3, reference_m: 10.0, shadowing_db: 0.0 };
        for model in [Propagation::FreeSpace, Propagation::TwoRayGround, log] {
            let loss = PathLoss::new(model, &WAVELAN);
            for metres in [2.0, 9.0, 50.0, 120.0, 900.0_f64] {
                let range = loss.range_m(loss.power_w(metres * metres));
                assert!((range - metres).abs() < 1e-6 * metres, "{model:?}: {metres} m, {range} m");
            }
        }
    }

    #[test]
    fn fading_keeps_the_mean_power_and_a_larger_shape_is_milder() {
        let moments = |fading| {
            let chance = Chance::new(Propagation::FreeSpace, fading);
            let mut random = Seed(1).stream("fading");
            let draws: Vec<f64> = (0..100_000).map(|_| chance.draw(&mut random)).collect();
            let mean = draws.iter().sum::<f64>() / 1e5;
            (mean, draws.iter().map(|d| (d - mean) * (d - mean)).sum::<f64>() / 1e5)
        };
        // The variance of a gamma variable of mean 1 is 1 over its shape.
        for (fading, variance) in [
            (Fading::Rayleigh, 1.0),
            (Fading::Nakagami { m: 0.5 }, 2.0),
            (Fading::Nakagami { m: 1.0 }, 1.0),
            (Fading::Nakagami { m: 3.0 }, 1.0 / 3.0),
        ] {
            let (mean, measured) = moments(fading);
            assert!((mean - 1.0).abs() < 0.02, "{fading:?}: mean {mean}");
            assert!((measured / variance - 1.0).abs() < 0.05, "{fading:?}: variance {measured}");
        }
    }

    #[test]
    fn shadowing_has_the_configured_deviation() {
        let model = Propagation::LogDistance { exponent: 3.0, reference_m: 1.0, shadowing_db: 6.0 };
        let chance = Chance::new(model, Fading::None);
        let mut random = Seed(2).stream("shadowing");
        let decibels: Vec<f64> = (0..100_000).map(|_| 10.0 * libm::log10(chance.draw(&mut random))).collect();
        let mean = decibels.iter().sum::<f64>() / 1e5;
        let variance = decibels.iter().map(|d| (d - mean) * (d - mean)).sum::<f64>() / 1e5;
        assert!(mean.abs() < 0.1 && (libm::sqrt(variance) - 6.0).abs() < 0.1, "{mean} {variance}");
    }
}
