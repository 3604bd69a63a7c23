//! A radio: how far it reaches, what it hears, how long its frames take.
use crate::ht::{HtFormat, HtRate};
use crate::propagation::{Antenna, Fading, PathLoss, Propagation};
use prismux_units::{Duration, Rate};

/// The radio of all hosts on an [`Air`](crate::Air).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RadioConfig {
    /// Transmitter, antennas, frequency.
    pub antenna: Antenna,
    /// Mean power against distance.
    pub propagation: Propagation,
    /// Random factors on it.
    pub fading: Fading,
    /// A frame can be decoded from this power on, in watts.
    pub receive_threshold_w: f64,
    /// The medium counts as busy from this power on, in watts; weaker signals do not exist.
    pub carrier_threshold_w: f64,
    /// What becomes of frames that overlap.
    pub reception: Reception,
    /// The time that a frame takes to every receiver: nobody reacts to it earlier. One value for all distances (1 us is
    /// 300 m), so that a frame is one event for all who hear it.
    pub propagation_delay: Duration,
}

/// Longest way of a frame, in time: 30 km.
pub(crate) const MAX_PROPAGATION_DELAY: Duration = Duration::from_micros(100);

/// What becomes of frames that overlap at a receiver.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reception {
    /// ns-2's rule: a frame that is `ratio` times stronger than one that begins later is received as if the other were
    /// not there; otherwise both are lost. A frame that begins during a weaker one is lost, however strong.
    Capture {
        /// Ratio of powers; 10 is 10 dB.
        ratio: f64,
    },
    /// A receiver locks on the first frame that it can decode; noise and all other signals then make bits wrong, by the
    /// error curves of 802.11b. Its rates alone are known.
    ErrorCurves {
        /// Power of the noise in the channel, in watts.
        noise_w: f64,
    },
}

impl RadioConfig {
    /// The radio of ns-2: 914 MHz WaveLAN, two-ray ground, 250 m to receive and 550 m to sense, 10 dB capture.
    pub fn wavelan() -> Self {
        Self {
            antenna: Antenna {
                power_w: 0.281_838_15,
                frequency_hz: 914e6,
                height_m: 1.5,
                gain: 1.0,
                loss: 1.0,
            },
            propagation: Propagation::TwoRayGround,
            fading: Fading::None,
            receive_threshold_w: 3.652e-10,
            carrier_threshold_w: 1.559e-11,
            reception: Reception::Capture { ratio: 10.0 },
            propagation_delay: Duration::from_micros(1),
        }
    }

    /// Mean power at a distance, in watts: what a threshold is set to for a range.
    pub fn mean_power_w(&self, distance_m: f64) -> f64 {
        PathLoss::new(self.propagation, &self.antenna).power_w(distance_m * distance_m)
    }

    /// The distance, in metres, up to which the mean power suffices to receive.
    pub fn range_m(&self) -> f64 {
        PathLoss::new(self.propagation, &self.antenna).range_m(self.receive_threshold_w)
    }

    /// What must be radiated for the range that the thresholds mean, if the receivers are ns-2's WaveLAN, in watts.
    pub(crate) fn radiated_for_range_w(&self) -> f64 {
        self.antenna.power_w * Self::wavelan().receive_threshold_w / self.receive_threshold_w
    }

    /// What makes the radio impossible, if anything.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        let Antenna { power_w, frequency_hz, height_m, gain, loss } = self.antenna;
        let positive = |value: f64| value.is_finite() && value > 0.0;
        let shape = match self.fading {
            Fading::Nakagami { m } => m,
            _ => 1.0,
        };
        let (exponent, reference_m, shadowing_db) = match self.propagation {
            Propagation::LogDistance { exponent, reference_m, shadowing_db } => {
                (exponent, reference_m, shadowing_db)
            }
            _ => (2.0, 1.0, 0.0),
        };
        let (ratio, noise_w) = match self.reception {
            Reception::Capture { ratio } => (ratio, 1.0),
            Reception::ErrorCurves { noise_w } => (1.0, noise_w),
        };
        let rules = [
            (positive(power_w), "the power must be above 0 W"),
            (positive(frequency_hz), "the frequency must be above 0 Hz"),
            (positive(height_m), "the height of the antennas must be above 0 m"),
            (positive(gain), "the gain must be above 0"),
            (loss.is_finite() && loss >= 1.0, "the loss must be at least 1"),
            (positive(self.carrier_threshold_w), "the carrier-sense threshold must be above 0 W"),
            (
                self.receive_threshold_w.is_finite() && self.receive_threshold_w >= self.carrier_threshold_w,
                "the receive threshold must be at least the carrier-sense threshold",
            ),
            (shape.is_finite() && shape >= 0.5, "the shape of Nakagami fading must be at least 0.5"),
            (positive(exponent), "the path-loss exponent must be above 0"),
            (positive(reference_m), "the reference distance must be above 0 m"),
            (shadowing_db.is_finite() && shadowing_db >= 0.0, "the shadowing must be at least 0 dB"),
            (ratio.is_finite() && ratio >= 1.0, "the capture ratio must be at least 1"),
            (positive(noise_w), "the noise must be above 0 W"),
            (!self.propagation_delay.is_zero(), "the propagation delay must be above 0"),
            (self.propagation_delay <= MAX_PROPAGATION_DELAY, "the propagation delay is over 100 us"),
        ];
        rules.into_iter().find(|(holds, _)| !holds).map(|(_, complaint)| complaint)
    }
}

/// How bits become time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Modulation {
    /// 802.11 and 802.11b: a preamble and header of fixed duration, then bits at the rate of the frame.
    Dsss(Preamble),
    /// 802.11a, and 802.11g among its own: symbols of 4 us behind a preamble of 20 us (clause 17).
    Ofdm,
    /// 802.11g at 2.4 GHz: as [`Modulation::Ofdm`], with a signal extension of 6 us (clause 19).
    ErpOfdm,
    /// 802.11n at 5 GHz: frames at its own rates as they are there, others as in [`Modulation::Ofdm`] (clause 20).
    Ht(HtFormat),
}

/// The preamble and header of the physical layer of 802.11b.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preamble {
    /// 144 and 48 bits at 1 Mbit/s: 192 us.
    Long,
    /// 72 bits at 1 Mbit/s and 48 bits at 2 Mbit/s: 96 us.
    Short,
}

impl Modulation {
    /// The preamble and header of a frame, of 802.11n at a rate of 802.11a.
    pub fn overhead(self) -> Duration {
        match self {
            Self::Dsss(Preamble::Long) => Duration::from_micros(192),
            Self::Dsss(Preamble::Short) => Duration::from_micros(96),
            Self::Ofdm | Self::Ht(_) => Duration::from_micros(20),
            Self::ErpOfdm => Duration::from_micros(26),
        }
    }

    /// How long a frame of `bytes` (with MAC header and checksum) is on the air at `rate`.
    pub fn airtime(self, bytes: u32, rate: Rate) -> Duration {
        let bits = u64::from(bytes) * 8;
        if let Self::Ht(format) = self
            && let Some(scheme) = HtRate::of(rate)
        {
            return scheme.airtime(format, bytes, rate);
        }
        match self {
            Self::Dsss(_) => {
                let body = (bits * 1_000_000_000).div_ceil(rate.as_bps().max(1));
                // The header's length field counts microseconds at 5.5 and 11 Mbit/s (802.11b, 18.2.3.5).
                let whole = if rate.as_bps() > 2_000_000 { body.div_ceil(1000) * 1000 } else { body };
                self.overhead() + Duration::from_nanos(whole)
            }
            Self::Ofdm | Self::ErpOfdm | Self::Ht(_) => {
                // 16 service bits, 6 tail bits; a symbol carries 4 us of the rate (802.11-2007, 17.4.3).
                let bits_per_symbol = (rate.as_bps() / 250_000).max(1);
                self.overhead() + Duration::from_micros(4) * (bits + 22).div_ceil(bits_per_symbol)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Modulation, Preamble};
    use prismux_units::{Duration, Rate};

    #[test]
    fn frames_last_as_long_as_the_standards_say() {
        let b_long = Modulation::Dsss(Preamble::Long);
        let b_short = Modulation::Dsss(Preamble::Short);
        for (modulation, bytes, rate, micros) in [
            // ACK of 14 bytes at 1 and 2 Mbit/s; a full packet at 11 Mbit/s.
            (b_long, 14, Rate::from_mbps(1), 304),
            (b_long, 14, Rate::from_mbps(2), 248),
            (b_long, 1534, Rate::from_mbps(11), 192 + 1116),
            (b_short, 1534, Rate::from_mbps(11), 96 + 1116),
            // ACK at 6, 12 and 24 Mbit/s: 44, 32 and 28 us; a full packet at 54 Mbit/s: 248 us.
            (Modulation::Ofdm, 14, Rate::from_mbps(6), 44),
            (Modulation::Ofdm, 14, Rate::from_mbps(12), 32),
            (Modulation::Ofdm, 14, Rate::from_mbps(24), 28),
            (Modulation::Ofdm, 1534, Rate::from_mbps(54), 248),
            (Modulation::ErpOfdm, 1534, Rate::from_mbps(54), 254),
        ] {
            assert_eq!(
                modulation.airtime(bytes, rate),
                Duration::from_micros(micros),
                "{modulation:?} {bytes} B at {rate}"
            );
        }
    }
}
