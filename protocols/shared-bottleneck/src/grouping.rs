//! Which links may share a bottleneck by their summary statistics alone (RFC 8382 section 3.3.1).
use crate::statistics::Summary;

/// A queue whose delays are less skewed than this is a bottleneck (c_s).
const SKEW: f64 = 0.1;
/// And one that was one before stays one up to this (c_h).
const SKEW_BEFORE: f64 = 0.3;
/// So much loss makes a bottleneck whatever the skew, and is compared (p_l).
const LOSS: f64 = 0.05;
/// Differences that keep links apart: of oscillation (p_f),
const FREQUENCY_APART: f64 = 0.1;
/// of variability, by the higher one (p_mad),
const VARIABILITY_APART: f64 = 0.1;
/// of skewness (p_s),
const SKEW_APART: f64 = 0.15;
/// and of loss, by the higher one (p_d).
const LOSS_APART: f64 = 0.1;

/// Whether a link meets a bottleneck at all; `did` says whether it did a base interval before.
pub fn meets_bottleneck(link: &Summary, did: bool) -> bool {
    link.skew < SKEW || did && link.skew < SKEW_BEFORE || link.loss > LOSS
}

/// Whether two links that meet bottlenecks may meet the same one: all statistics are alike.
pub fn are_alike(one: &Summary, other: &Summary) -> bool {
    let apart = |a: f64, b: f64| if a > b { a - b } else { b - a };
    let higher = |a: f64, b: f64| if a > b { a } else { b };
    let loss = higher(one.loss, other.loss);
    apart(one.frequency, other.frequency) <= FREQUENCY_APART
        && apart(one.variability_s, other.variability_s)
            <= VARIABILITY_APART * higher(one.variability_s, other.variability_s)
        && apart(one.skew, other.skew) <= SKEW_APART
        && (loss <= LOSS || apart(one.loss, other.loss) <= LOSS_APART * loss)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: Summary = Summary { skew: -0.2, variability_s: 0.010, frequency: 0.2, loss: 0.0 };

    #[test]
    fn a_bottleneck_has_a_queue_that_is_seldom_empty_or_loses() {
        let skewed = |skew| Summary { skew, ..FULL };
        assert!(meets_bottleneck(&FULL, false) && !meets_bottleneck(&skewed(0.2), false));
        assert!(meets_bottleneck(&skewed(0.2), true), "hysteresis");
        assert!(!meets_bottleneck(&skewed(0.4), true));
        assert!(meets_bottleneck(&Summary { skew: 0.9, loss: 0.06, ..FULL }, false));
    }

    #[test]
    fn each_statistic_keeps_links_apart() {
        assert!(are_alike(&FULL, &FULL));
        for other in [
            Summary { frequency: 0.32, ..FULL },
            Summary { variability_s: 0.012, ..FULL },
            Summary { skew: 0.0, ..FULL },
            Summary { loss: 0.06, ..FULL },
        ] {
            assert!(!are_alike(&FULL, &other) && !are_alike(&other, &FULL), "{other:?}");
        }
        let near = Summary { frequency: 0.25, variability_s: 0.0105, skew: -0.1, loss: 0.04 };
        assert!(are_alike(&FULL, &near), "losses below 5 % are not compared");
    }
}
