//! Days, and billing months that begin on any of them.
use chrono::{Days, NaiveDate};
use prismux_properties::cases;
use prismux_sharing::{BillingMonth, Day, Hours, ResetDay};
use proptest::prelude::*;

fn day(text: &str) -> Day {
    text.parse().unwrap()
}

fn reset(day: u8) -> ResetDay {
    ResetDay::new(day).unwrap()
}

/// The day so many days after 1 January 1970.
fn nth(days: u64) -> Day {
    (NaiveDate::default() + Days::new(days)).to_string().parse().unwrap()
}

#[test]
fn dates_are_those_of_the_calendar() {
    for text in ["1970-01-01", "2000-02-29", "2026-11-23"] {
        assert_eq!(day(text).to_string(), text);
    }
    assert_eq!((day("2028-02-28").next(), day("2026-12-31").next()), (day("2028-02-29"), day("2027-01-01")));
    for wrong in
        ["", "2026-11", "2026-02-29", "1900-02-29", "2026-13-01", "2026-00-10", "2026-04-31", "x-y-z"]
    {
        assert!(wrong.parse::<Day>().is_err(), "{wrong}");
    }
    assert_eq!(day("2026-12-01").words(), "1 December");
}

#[test]
fn a_billing_month_that_begins_on_the_31st_begins_on_the_last_day_of_shorter_months() {
    for (reset_day, within, first, next) in [
        (1, "2026-11-23", "2026-11-01", "2026-12-01"),
        (31, "2026-02-27", "2026-01-31", "2026-02-28"),
        (31, "2026-02-28", "2026-02-28", "2026-03-31"),
        (31, "2028-02-28", "2028-01-31", "2028-02-29"),
        (30, "2027-03-29", "2027-02-28", "2027-03-30"),
        (29, "2028-03-01", "2028-02-29", "2028-03-29"),
        (31, "2026-04-30", "2026-04-30", "2026-05-31"),
        (15, "2027-01-14", "2026-12-15", "2027-01-15"),
        (15, "2026-12-15", "2026-12-15", "2027-01-15"),
    ] {
        let expected = BillingMonth { first: day(first), next: day(next) };
        assert_eq!(reset(reset_day).month_of(day(within)), expected, "day {reset_day}, {within}");
    }
    assert!(ResetDay::new(0).is_none() && ResetDay::new(32).is_none());
}

#[test]
fn hours_may_pass_midnight() {
    let night: Hours = "22:00-06:00".parse().unwrap();
    assert!([22 * 60, 23 * 60 + 59, 0, 5 * 60 + 59].iter().all(|&minute| night.contain(minute)));
    assert!([6 * 60, 12 * 60, 21 * 60 + 59].iter().all(|&minute| !night.contain(minute)));
    let evening: Hours = "18:30-24:00".parse().unwrap();
    assert!(evening.contain(18 * 60 + 30) && evening.contain(23 * 60 + 59) && !evening.contain(0));
    for wrong in [
        "",
        "22-6",
        "22:00",
        "25:00-06:00",
        "22:60-23:00",
        "6:00-7:00",
        "08:00-08:00",
        "24:00-01:00",
        "00:00-24:00",
    ] {
        assert!(wrong.parse::<Hours>().is_err(), "{wrong}");
    }
}

proptest! {
    #![proptest_config(cases(512))]

    #[test]
    fn billing_months_follow_each_other_without_a_gap(number in 0..200_000_u64, reset_day in 1..=31_u8) {
        let today = nth(number);
        let month = reset(reset_day).month_of(today);
        prop_assert!(month.first <= today && today < month.next);
        let days = std::iter::successors(Some(month.first), |day| Some(day.next()));
        let days = days.take_while(|day| *day < month.next).count();
        prop_assert!((28..=31).contains(&days), "{} days", days);
        let next = reset(reset_day).month_of(month.next);
        prop_assert_eq!(next.first, month.next);
        prop_assert_eq!(reset(reset_day).month_of(month.first), month);
    }
}
