//! Orderings, judged pair by pair: repetition `n` of both sides met the same chance.

use crate::statistics::Summary;

/// `above` less `below`, over the seeds that both have.
fn differences(above: &[f64], below: &[f64]) -> Option<Summary> {
    Summary::of(&above.iter().zip(below).map(|(above, below)| above - below).collect::<Vec<_>>())
}

/// The 95 % interval of the differences lies above zero. Not so of repetitions that are one run, or of a single one:
/// they do not say how far others would lie from them.
pub(super) fn is_above(above: &[f64], below: &[f64]) -> bool {
    differences(above, below).and_then(|summary| summary.ci95).is_some_and(|[low, _]| low > 0.0)
}

/// Not below by more than chance: the interval of the differences reaches zero or lies above it.
pub(super) fn is_not_below(above: &[f64], below: &[f64]) -> bool {
    differences(above, below).and_then(|summary| summary.ci95).is_some_and(|[_, high]| high >= 0.0)
}

/// Mean; NaN, which fails every comparison, of nothing.
pub(super) fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { f64::NAN } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// A mean with half its interval, in words.
pub(super) fn words(values: &[f64]) -> String {
    let digits = crate::number::digits;
    match Summary::of(values) {
        Some(summary) if summary.ci95.is_some() => {
            format!("{} ± {}", digits(summary.mean), digits(summary.half_width()))
        }
        Some(summary) => digits(summary.mean),
        None => "none".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{is_above, is_not_below};

    #[test]
    fn an_ordering_is_clear_where_the_differences_are_and_one_run_shows_none() {
        let (low, high) = ([1.0, 2.0, 3.0], [1.2, 2.15, 3.2]);
        assert!(
            is_above(&high, &low) && !is_not_below(&low, &high),
            "each pair says so, though the sets overlap"
        );
        assert!(!is_above(&low, &high) && is_not_below(&high, &low));
        let mixed = [1.2, 1.9, 3.1];
        assert!(!is_above(&mixed, &low) && is_not_below(&low, &mixed) && is_not_below(&mixed, &low));
        assert!(!is_above(&[2.0; 3], &[1.0; 3]), "one run");
        assert!(!is_above(&[2.0], &[1.0]) && !is_above(&[], &[]));
    }
}
