//! Batteries that are not emptied for others.
use crate::terms::Rest;
use alloc::string::{String, ToString};
use core::{fmt, str};

/// So much above its floor a battery has to be before its owner lends again, in percent: lending empties it, and
/// resting lets it recover a little.
const HYSTERESIS_PERCENT: u8 = 5;

/// A battery's charge below which nothing is lent. Text: `"30 %"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct BatteryFloor(u8);

/// What is no floor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownFloor(String);

impl fmt::Display for UnknownFloor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\" is no part of a battery, expected one such as \"30 %\" (1 to 95)", self.0)
    }
}

impl core::error::Error for UnknownFloor {}

impl str::FromStr for BatteryFloor {
    type Err = UnknownFloor;

    fn from_str(text: &str) -> Result<Self, UnknownFloor> {
        let percent = text.strip_suffix('%').and_then(|number| number.trim_end().parse().ok());
        let percent = percent.filter(|percent| (1..=100 - HYSTERESIS_PERCENT).contains(percent));
        percent.map(Self).ok_or_else(|| UnknownFloor(text.to_string()))
    }
}

impl fmt::Display for BatteryFloor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} %", self.0)
    }
}

/// What a host runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Power {
    /// Charge of its battery.
    pub percent: u8,
    /// Something charges it, or would.
    pub is_on_mains: bool,
}

/// A battery under its floor, or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Battery {
    floor: BatteryFloor,
    is_low: bool,
}

impl Battery {
    /// One of which nothing is known yet.
    pub const fn new(floor: BatteryFloor) -> Self {
        Self { floor, is_low: false }
    }

    /// Why nothing is lent, if so. A host without a battery (`None`) lends.
    pub fn judge(&mut self, power: Option<Power>) -> Option<Rest> {
        let BatteryFloor(floor) = self.floor;
        let least = if self.is_low { floor + HYSTERESIS_PERCENT } else { floor };
        self.is_low = power.is_some_and(|power| !power.is_on_mains && power.percent < least);
        self.is_low.then_some(Rest::Battery { floor: self.floor })
    }
}
