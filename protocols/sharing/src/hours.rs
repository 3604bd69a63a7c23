//! Times of the day.
use alloc::string::{String, ToString};
use core::{fmt, str};

/// Minutes of a day.
const DAY_MINUTES: u16 = 24 * 60;

/// A stretch of every day, such as `"22:00-06:00"`. It includes its first minute, and not its last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hours {
    from: u16,
    to: u16,
}

/// What is no stretch of a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownHours(String);

impl fmt::Display for UnknownHours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\" is no stretch of a day, expected one such as \"22:00-06:00\"", self.0)
    }
}

impl core::error::Error for UnknownHours {}

impl Hours {
    /// Whether a minute, counted from midnight, is one of them.
    pub fn contain(self, minute: u16) -> bool {
        if self.from < self.to {
            (self.from..self.to).contains(&minute)
        } else {
            minute >= self.from || minute < self.to
        }
    }

    /// Minutes from `minute` to the next time they begin.
    pub(crate) fn minutes_until(self, minute: u16) -> u16 {
        (self.from + DAY_MINUTES - minute % DAY_MINUTES) % DAY_MINUTES
    }

    /// Their first minute, such as "22:00".
    pub(crate) fn begin(self) -> Clock {
        Clock(self.from)
    }
}

/// A minute of the day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Clock(u16);

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}

impl str::FromStr for Hours {
    type Err = UnknownHours;

    fn from_str(text: &str) -> Result<Self, UnknownHours> {
        let parse = || {
            let (from, to) = text.split_once('-')?;
            let (from, to) = (minute(from)?, minute(to)?);
            // The end of a day is the beginning of the next; nothing begins there.
            (from < DAY_MINUTES && from != to).then_some(Self { from, to: to % DAY_MINUTES })
        };
        parse().filter(|hours| hours.from != hours.to).ok_or_else(|| UnknownHours(text.to_string()))
    }
}

/// "06:30" as minutes from midnight, "24:00" included.
fn minute(text: &str) -> Option<u16> {
    let (hours, minutes) = text.trim().split_once(':')?;
    let two = |part: &str| {
        (part.len() == 2 && part.bytes().all(|b| b.is_ascii_digit())).then(|| part.parse::<u16>().ok())
    };
    let (hours, minutes) = (two(hours)??, two(minutes)??);
    let all = hours * 60 + minutes;
    (minutes < 60 && all <= DAY_MINUTES).then_some(all)
}
