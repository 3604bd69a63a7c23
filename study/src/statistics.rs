//! Means and intervals over independent seeds.

#[cfg(test)]
mod tests;

use serde::Serialize;

/// Mean, spread and 95 % interval of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Summary {
    /// Sample size.
    pub n: usize,
    /// Mean.
    pub mean: f64,
    /// Standard deviation of the sample (n - 1).
    pub sd: f64,
    /// Ends of the 95 % interval of the mean, by Student's t; `None` for a single value, and for values that are all
    /// equal, which do not say how far others would lie from them.
    pub ci95: Option<[f64; 2]>,
    /// Several values, all of them equal.
    pub all_equal: bool,
}

impl Summary {
    /// Of `values`; `None` without any.
    pub fn of(values: &[f64]) -> Option<Self> {
        let n = values.len();
        if n == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / n as f64;
        if n == 1 {
            return Some(Self { n, mean, sd: 0.0, ci95: None, all_equal: false });
        }
        if values.iter().all(|value| *value == values[0]) {
            return Some(Self { n, mean: values[0], sd: 0.0, ci95: None, all_equal: true });
        }
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1) as f64;
        let sd = variance.sqrt();
        let half = student_t_975(n - 1) * sd / (n as f64).sqrt();
        Some(Self { n, mean, sd, ci95: Some([mean - half, mean + half]), all_equal: false })
    }

    /// Half the width of the interval; 0 where there is none.
    pub fn half_width(&self) -> f64 {
        self.ci95.map_or(0.0, |[_, high]| high - self.mean)
    }
}

/// The 97.5 % quantile of Student's t distribution.
fn student_t_975(degrees_of_freedom: usize) -> f64 {
    const SMALL: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
        2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048,
        2.045, 2.042,
    ];
    match degrees_of_freedom {
        0 => f64::INFINITY,
        df @ 1..=30 => SMALL[df - 1],
        // Cornish-Fisher expansion around the normal quantile; good to three decimals from here on.
        df => {
            let (z, df) = (1.959_964_f64, df as f64);
            let first = (z.powi(3) + z) / 4.0;
            let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
            z + first / df + second / (df * df)
        }
    }
}
