//! Days of the Gregorian calendar, and months that begin on another day than the first.
use alloc::format;
use alloc::string::{String, ToString};
use core::{fmt, str};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Days of four centuries, after which the calendar repeats.
const ERA_DAYS: i64 = 146_097;
/// From 1 March of the year 0 to 1 January 1970.
const DAYS_TO_1970: i64 = 719_468;

/// A day of the local calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Day(i32);

/// What is no day of the calendar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownDay(String);

impl fmt::Display for UnknownDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\" is no day, expected one such as \"2026-11-23\"", self.0)
    }
}

impl core::error::Error for UnknownDay {}

impl Day {
    /// The day so many days after 1 January 1970.
    pub const fn from_number(days: i32) -> Self {
        Self(days)
    }

    /// Days since 1 January 1970.
    pub const fn number(self) -> i32 {
        self.0
    }

    /// The day of a date; `None` for one that the calendar does not have. Months and days are counted from 1.
    pub fn from_date(year: i32, month: u8, day: u8) -> Option<Self> {
        if !(1..=12).contains(&month) || !(1..=days_in(year, month)).contains(&day) {
            return None;
        }
        // Years that begin in March have their odd day at the end.
        let shifted = i64::from(year) - i64::from(month <= 2);
        let of_year = (153 * ((i64::from(month) + 9) % 12) + 2) / 5 + i64::from(day) - 1;
        let (era, year_of_era) = (shifted.div_euclid(400), shifted.rem_euclid(400));
        let of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year;
        i32::try_from(era * ERA_DAYS + of_era - DAYS_TO_1970).ok().map(Self)
    }

    /// Year, month and day of the month, the last two counted from 1.
    pub fn date(self) -> (i32, u8, u8) {
        let days = i64::from(self.0) + DAYS_TO_1970;
        let (era, of_era) = (days.div_euclid(ERA_DAYS), days.rem_euclid(ERA_DAYS));
        let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * of_year + 2) / 153;
        let day = of_year - (153 * shifted_month + 2) / 5 + 1;
        let month = (shifted_month + 2) % 12 + 1;
        let year = era * 400 + year_of_era + i64::from(month <= 2);
        // All are small: an i32 of days is less than six million years.
        (year as i32, month as u8, day as u8)
    }

    /// The day after, or the same at the end of time.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// As people say it, without the year: "1 December".
    pub fn words(self) -> String {
        let (_, month, day) = self.date();
        let name = MONTHS.get(usize::from(month).saturating_sub(1)).copied().unwrap_or_default();
        format!("{day} {name}")
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.date();
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

impl str::FromStr for Day {
    type Err = UnknownDay;

    fn from_str(text: &str) -> Result<Self, UnknownDay> {
        let parse = || {
            let mut parts = text.splitn(3, '-');
            let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
            Self::from_date(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?)
        };
        parse().ok_or_else(|| UnknownDay(text.to_string()))
    }
}

fn is_leap(year: i32) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in(year: i32, month: u8) -> u8 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap(year) => 29,
        2 => 28,
        _ => 31,
    }
}

/// A time of the local calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct LocalTime {
    /// The day.
    pub day: Day,
    /// Minutes since its midnight, by the clock on the wall.
    pub minute: u16,
}

/// The day of the month on which a billing month begins, 1 to 31. In a month that is shorter it is the last day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResetDay(u8);

impl Default for ResetDay {
    fn default() -> Self {
        Self(1)
    }
}

/// A billing month.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BillingMonth {
    /// Its first day.
    pub first: Day,
    /// The first day of the one after.
    pub next: Day,
}

impl ResetDay {
    /// `None` for what is no day of any month.
    pub fn new(day: u8) -> Option<Self> {
        (1..=31).contains(&day).then_some(Self(day))
    }

    /// The billing month that a day is in.
    pub fn month_of(self, day: Day) -> BillingMonth {
        let (year, month, _) = day.date();
        let this = self.reset_in(year, month, day);
        let (before, after) = match month {
            1 => ((year.saturating_sub(1), 12), (year, 2)),
            12 => ((year, 11), (year.saturating_add(1), 1)),
            _ => ((year, month - 1), (year, month + 1)),
        };
        if day >= this {
            BillingMonth { first: this, next: self.reset_in(after.0, after.1, day.next()) }
        } else {
            BillingMonth { first: self.reset_in(before.0, before.1, day), next: this }
        }
    }

    /// The day on which a billing month begins in this month; `otherwise` beyond the end of time.
    fn reset_in(self, year: i32, month: u8, otherwise: Day) -> Day {
        Day::from_date(year, month, self.0.min(days_in(year, month))).unwrap_or(otherwise)
    }
}
