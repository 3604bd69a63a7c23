//! Days of the calendar, and months that begin on another day than the first.
use alloc::format;
use alloc::string::{String, ToString};
use chrono::{Datelike, Months, NaiveDate};
use core::{fmt, str};

/// A day of the local calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Day(NaiveDate);

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
    /// The day of a date; `None` for one that the calendar does not have. Months and days are counted from 1.
    pub fn from_date(year: i32, month: u8, day: u8) -> Option<Self> {
        NaiveDate::from_ymd_opt(year, month.into(), day.into()).map(Self)
    }

    /// The day after, or the same at the end of time.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.succ_opt().unwrap_or(self.0))
    }

    /// Days since 1 January 1970.
    pub fn number(self) -> i32 {
        self.0.to_epoch_days()
    }

    /// The day so many days after 1 January 1970; `None` for one that the calendar does not have.
    pub fn from_number(number: i32) -> Option<Self> {
        NaiveDate::from_epoch_days(number).map(Self)
    }

    /// As people say it, without the year: "1 December".
    pub fn words(self) -> String {
        format!("{}", self.0.format("%-d %B"))
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl str::FromStr for Day {
    type Err = UnknownDay;

    fn from_str(text: &str) -> Result<Self, UnknownDay> {
        text.parse().map(Self).map_err(|_| UnknownDay(text.to_string()))
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
        let month = Months::new(1);
        let this = self.reset_in(day.0);
        // Beyond the end of time a month is as long as it can be.
        let near = |moved: Option<NaiveDate>| self.reset_in(moved.unwrap_or(day.0));
        let (first, next) = if day.0 >= this {
            (this, near(day.0.checked_add_months(month)))
        } else {
            (near(day.0.checked_sub_months(month)), this)
        };
        BillingMonth { first: Day(first), next: Day(next) }
    }

    /// The day on which a billing month begins in the month of `date`.
    fn reset_in(self, date: NaiveDate) -> NaiveDate {
        date.with_day(self.0.min(date.num_days_in_month()).into()).unwrap_or(date)
    }
}
