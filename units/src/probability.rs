//! Probabilities.
use crate::number::ParseQuantityError;
use alloc::string::ToString;
use core::{fmt, str};

/// A probability in `[0, 1]`. Text: `"0.006"` or `"0.6 %"`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct Probability(f64);

impl Probability {
    /// Never.
    pub const ZERO: Self = Self(0.0);

    /// `value` if it lies in `[0, 1]`.
    pub fn new(value: f64) -> Option<Self> {
        (0.0..=1.0).contains(&value).then_some(Self(value))
    }

    /// As a float in `[0, 1]`.
    pub const fn as_f64(self) -> f64 {
        self.0
    }
}

impl str::FromStr for Probability {
    type Err = ParseQuantityError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let trimmed = text.trim();
        let (number, factor) = match trimmed.strip_suffix('%') {
            Some(percent) => (percent.trim_end(), 100.0),
            None => (trimmed, 1.0),
        };
        number.parse::<f64>().ok().and_then(|v| Self::new(v / factor)).ok_or_else(|| ParseQuantityError {
            found: text.to_string(),
            expected: "a probability such as 0.006 or \"0.6 %\" (between 0 and 1)",
        })
    }
}

impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} %", libm::round(self.0 * 1e8) / 1e6)
    }
}
