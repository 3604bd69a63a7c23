//! Growth over days of something that follows the hours of the day.
//!
//! The seasonal slope (Hirsch, Slack and Smith, "Techniques of trend analysis for monthly water quality data", Water
//! Resources Research 18(1), 1982): the median of the slopes between all values of the same hour on different days,
//! with the interval of Gilbert ("Statistical Methods for Environmental Pollution Monitoring", 1987, section 17.3), in
//! which the variance of Kendall's statistic is summed over hours. It is Theil's and Sen's with one season.

/// The 97.5 % quantile of the normal distribution.
const Z: f64 = 1.96;

/// Growth in one day.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// The median.
    pub per_day: f64,
    /// The ends of its 95 % interval.
    pub interval: [f64; 2],
}

/// Growth in a day of hourly values of whole days; `None` for less than three days.
pub fn per_day(values: &[f64]) -> Option<Trend> {
    const DAY: usize = 24;
    let days = values.len() / DAY;
    if days < 3 {
        return None;
    }
    let mut slopes = Vec::with_capacity(DAY * days * (days - 1) / 2);
    for hour in 0..DAY {
        for later in 1..days {
            for earlier in 0..later {
                let change = values[later * DAY + hour] - values[earlier * DAY + hour];
                slopes.push(change / (later - earlier) as f64);
            }
        }
    }
    slopes.sort_by(f64::total_cmp);
    let variance = (DAY * days * (days - 1) * (2 * days + 5)) as f64 / 18.0;
    let (pairs, reach) = (slopes.len() as f64, Z * variance.sqrt());
    let at = |rank: f64| slopes[(rank.round().max(0.0) as usize).min(slopes.len() - 1)];
    let per_day = crate::cpu::median(&slopes);
    Some(Trend { per_day, interval: [at((pairs - reach) / 2.0 - 1.0), at((pairs + reach) / 2.0)] })
}

#[cfg(test)]
mod tests {
    use super::per_day;
    use prismux_endpoint::random::Seed;

    fn days(count: usize, grows: f64) -> Vec<f64> {
        let mut random = Seed(7).stream("noise");
        let value = |hour: usize| {
            let of_day = 100.0 + 50.0 * ((hour % 24) as f64 / 24.0 * std::f64::consts::TAU).sin();
            of_day + grows * hour as f64 / 24.0 + 10.0 * (random.uniform() - 0.5)
        };
        (0..24 * count).map(value).collect()
    }

    /// The day itself is no growth, however much there is between noon and night.
    #[test]
    fn growth_is_found_beside_days_and_noise() {
        let none = per_day(&days(6, 0.0)).unwrap();
        assert!(none.interval[0] < 0.0 && none.interval[1] > 0.0, "{none:?}");
        let some = per_day(&days(6, 2.0)).unwrap();
        assert!(some.interval[0] > 1.0 && some.interval[1] < 3.0, "{some:?}");
        assert!((some.per_day - 2.0).abs() < 0.5, "{some:?}");
    }

    /// One hour with a peak is no trend, and a straight line has one slope.
    #[test]
    fn outliers_do_not_count() {
        let mut values: Vec<f64> = (0..72).map(|hour| f64::from(hour / 24)).collect();
        assert_eq!(per_day(&values).unwrap().per_day, 1.0);
        assert_eq!(per_day(&values).unwrap().interval, [1.0, 1.0]);
        values[71] = 1e9;
        assert_eq!(per_day(&values).unwrap().per_day, 1.0);
        assert_eq!(per_day(&values[..71]), None);
    }
}
