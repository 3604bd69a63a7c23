//! The high-throughput physical layer of 802.11n: rates and how long its frames last (IEEE 802.11-2012, clause 20).
use crate::rates;
use prismux_units::{Duration, Rate};

/// How a frame of 802.11n begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HtFormat {
    /// Behind the preamble of 802.11a, which older stations understand.
    Mixed,
    /// With a preamble of its own, shorter.
    Greenfield,
}

/// A modulation and coding scheme with equal modulation on all streams, and what goes with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HtRate {
    pub streams: u8,
    /// The scheme on each stream, 0 to 7.
    pub scheme: u8,
    /// 40 MHz instead of 20.
    pub wide: bool,
    /// A guard interval of 0.4 us instead of 0.8.
    pub short_guard: bool,
    bits_per_symbol: u64,
}

/// Data bits of a symbol on one stream, for each scheme: at 20 and at 40 MHz (tables 20-30 and 20-34).
const BITS_PER_SYMBOL: [[u64; 8]; 2] =
    [[26, 52, 78, 104, 156, 208, 234, 260], [54, 108, 162, 216, 324, 432, 486, 540]];
/// A symbol with the long guard interval, and with the short one.
const SYMBOL_NS: [u64; 2] = [4000, 3600];
/// Beyond this rate bits go through two encoders (20.3.11.5).
const ONE_ENCODER: Rate = Rate::from_mbps(300);

impl HtRate {
    /// The scheme of a rate that is named to three digits: with the fewest streams, of those with the long guard
    /// interval, of those in the narrower channel. Rates of 802.11a are not among them: they go in its frames.
    pub fn of(rate: Rate) -> Option<Self> {
        if is_legacy(rate) {
            return None;
        }
        let all = (1..=4_u8).flat_map(|streams| {
            let guards = [false, true].into_iter();
            guards.flat_map(move |short_guard| {
                let widths = [false, true].into_iter();
                widths.flat_map(move |wide| {
                    (0..8).map(move |scheme| Self::new(streams, scheme, wide, short_guard))
                })
            })
        });
        all.into_iter().find(|one| {
            let exact = one.bits_per_symbol as f64 * 1e9 / one.symbol_ns() as f64;
            (rate.as_bps() as f64 / exact - 1.0).abs() < 0.004
        })
    }

    fn new(streams: u8, scheme: u8, wide: bool, short_guard: bool) -> Self {
        let on_one = BITS_PER_SYMBOL[usize::from(wide)][usize::from(scheme)];
        Self { streams, scheme, wide, short_guard, bits_per_symbol: on_one * u64::from(streams) }
    }

    fn symbol_ns(&self) -> u64 {
        SYMBOL_NS[usize::from(self.short_guard)]
    }

    /// Long training fields: one for each stream, four for three streams (20.3.9.4.6).
    fn training_fields(&self) -> u64 {
        if self.streams == 3 { 4 } else { u64::from(self.streams) }
    }

    /// How long a frame of `bytes` is on the air in a channel at 5 GHz (20.4.3).
    pub fn airtime(&self, format: HtFormat, bytes: u32, rate: Rate) -> Duration {
        let encoders = if rate > ONE_ENCODER { 2 } else { 1 };
        // 16 service bits, 6 tail bits for each encoder.
        let symbols = (u64::from(bytes) * 8 + 16 + 6 * encoders).div_ceil(self.bits_per_symbol);
        let (preamble_us, data_ns) = match format {
            // Preamble 16 and signal field 4 of 802.11a, signal field 8, short training field 4, long ones; the data
            // end with a symbol of 802.11a.
            HtFormat::Mixed => {
                let data_ns = (symbols * self.symbol_ns()).next_multiple_of(SYMBOL_NS[0]);
                (16 + 4 + 8 + 4 + 4 * self.training_fields(), data_ns)
            }
            // Short training field 8, first long one 8, signal field 8, further long ones.
            HtFormat::Greenfield => {
                (8 + 8 + 8 + 4 * (self.training_fields() - 1), symbols * self.symbol_ns())
            }
        };
        Duration::from_micros(preamble_us) + Duration::from_nanos(data_ns)
    }
}

/// Whether a rate is one of 802.11a.
pub(crate) fn is_legacy(rate: Rate) -> bool {
    rates::position(&rates::OFDM, rate).is_some()
}

#[cfg(test)]
mod tests {
    use super::{HtFormat, HtRate};
    use prismux_units::{Duration, Rate};

    fn kbps(kbps: u64) -> Rate {
        Rate::from_bps(kbps * 1000)
    }

    #[test]
    fn rates_have_the_schemes_of_the_tables() {
        // Rate, streams, scheme, 40 MHz, short guard interval: tables 20-30 to 20-37.
        for (rate, streams, scheme, wide, short_guard) in [
            (6500, 1, 0, false, false),
            (7200, 1, 0, false, true),
            (65_000, 1, 7, false, false),
            (72_200, 1, 7, false, true),
            (13_500, 1, 0, true, false),
            (135_000, 1, 7, true, false),
            (150_000, 1, 7, true, true),
            (130_000, 2, 7, false, false),
            (300_000, 2, 7, true, true),
            (450_000, 3, 7, true, true),
            (600_000, 4, 7, true, true),
        ] {
            let found =
                HtRate::of(kbps(rate)).map(|one| (one.streams, one.scheme, one.wide, one.short_guard));
            assert_eq!(found, Some((streams, scheme, wide, short_guard)), "{rate} kbit/s");
        }
        for rate in [54_000, 100_000, 700_000] {
            assert_eq!(HtRate::of(kbps(rate)), None, "{rate} kbit/s");
        }
    }

    #[test]
    fn frames_last_as_long_as_the_standard_says() {
        use HtFormat::{Greenfield, Mixed};
        for (format, bytes, rate, nanos) in [
            // 12294 bits in symbols of 260: 48; preambles of 36 and 24 us.
            (Mixed, 1534, 65_000, 36_000 + 48 * 4000),
            (Greenfield, 1534, 65_000, 24_000 + 48 * 4000),
            // In symbols of 540: 23 of 3.6 us are 82.8, which mixed frames fill up to 84 us.
            (Mixed, 1534, 150_000, 36_000 + 84_000),
            (Greenfield, 1534, 150_000, 24_000 + 82_800),
            // Two streams: one more training field; three have as many as four.
            (Mixed, 1534, 130_000, 40_000 + 24 * 4000),
            (Greenfield, 1534, 130_000, 28_000 + 24 * 4000),
            (Mixed, 1534, 195_000, 48_000 + 16 * 4000),
            // Two encoders: 524856 + 16 + 12 bits in symbols of 2160; with one, 243 would do.
            (Greenfield, 65_607, 600_000, 36_000 + 244 * 3600),
        ] {
            let scheme = HtRate::of(kbps(rate)).unwrap();
            let found = scheme.airtime(format, bytes, kbps(rate));
            assert_eq!(found, Duration::from_nanos(nanos), "{format:?} {bytes} B at {rate} kbit/s");
        }
    }
}
