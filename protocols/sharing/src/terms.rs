//! What a link's owner allows: caps by day and month, and hours.
use crate::battery::BatteryFloor;
use crate::calendar::{Day, LocalTime, ResetDay};
use crate::hours::Hours;
use alloc::vec::Vec;
use core::fmt;
use prismux_units::ByteCount;

/// What a link's owner allows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Terms {
    /// Most bytes of a day, both directions together.
    pub cap_per_day: Option<ByteCount>,
    /// Most bytes of a billing month, both directions together.
    pub cap_per_month: Option<ByteCount>,
    /// When a billing month begins.
    pub reset_day: ResetDay,
    /// When the link may be used; none for always.
    pub hours: Vec<Hours>,
}

/// What may be carried now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowance {
    /// So many bytes more.
    Bytes(u64),
    /// Nothing.
    Rest(Rest),
}

/// Why a link may not be used for now, and until when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rest {
    /// The day's cap is used up.
    Day {
        /// The cap.
        cap: ByteCount,
        /// The day after.
        until: Day,
    },
    /// The billing month's cap is used up.
    Month {
        /// The cap.
        cap: ByteCount,
        /// The first day of the next billing month.
        until: Day,
    },
    /// The battery is not to be emptied further.
    Battery {
        /// What it is below.
        floor: BatteryFloor,
    },
    /// The borrower owes all that it may.
    Credit {
        /// Most that it may owe.
        limit: ByteCount,
    },
    /// It is not the hour.
    Hours {
        /// The next ones.
        next: Hours,
    },
}

impl fmt::Display for Rest {
    /// As a reason, without its subject: "its cap of 5 GB a month is used up until 1 December".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Day { cap, until } => {
                write!(f, "its cap of {cap} a day is used up until {}", until.words())
            }
            Self::Month { cap, until } => {
                write!(f, "its cap of {cap} a month is used up until {}", until.words())
            }
            Self::Battery { floor } => write!(f, "its battery is below {floor}, and nothing charges it"),
            Self::Credit { limit } => {
                write!(f, "its borrower owes the {limit} of its credit, and has to lend something back first")
            }
            Self::Hours { next } => write!(f, "its hours begin at {}", next.begin()),
        }
    }
}

impl Terms {
    /// Whether anything is asked at all.
    pub fn is_free(&self) -> bool {
        self.cap_per_day.is_none() && self.cap_per_month.is_none() && self.hours.is_empty()
    }

    /// What may be carried at `now`, when `carried` says how many bytes were from its first day until the one before
    /// its second. Of two reasons to rest the one that lasts longer is told.
    pub fn allowance(&self, now: LocalTime, carried: impl Fn(Day, Day) -> u64) -> Allowance {
        let month = self.reset_day.month_of(now.day);
        let mut left_bytes = u64::MAX;
        if let Some(cap) = self.cap_per_month {
            left_bytes = cap.as_u64().saturating_sub(carried(month.first, month.next));
            if left_bytes == 0 {
                return Allowance::Rest(Rest::Month { cap, until: month.next });
            }
        }
        if let Some(cap) = self.cap_per_day {
            let left_today = cap.as_u64().saturating_sub(carried(now.day, now.day.next()));
            if left_today == 0 {
                return Allowance::Rest(Rest::Day { cap, until: now.day.next() });
            }
            left_bytes = left_bytes.min(left_today);
        }
        match self.hours.iter().min_by_key(|hours| hours.minutes_until(now.minute)) {
            Some(&next) if !self.hours.iter().any(|hours| hours.contain(now.minute)) => {
                Allowance::Rest(Rest::Hours { next })
            }
            _ => Allowance::Bytes(left_bytes),
        }
    }
}
