//! Coupled congestion control: what a subflow's window may do, given those of the others.
//!
//! Each control is two pure functions of all subflows: the increase per acknowledged window, as a multiple of NewReno's
//! one segment, and the part of the window that is kept at a loss. [`CoupledWindow`] carries them out.
mod window;

pub use window::CoupledWindow;

use crate::config::Coupling;
use prismux_tcp::engine::congestion::CoupledTerms;

/// A subflow, as coupled controls see it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WindowView {
    /// Congestion window in segments.
    pub window: f64,
    /// Smoothed round-trip time in seconds.
    pub rtt: f64,
    /// OLIA: bytes acknowledged between the last two losses, or since the last, whichever is more.
    pub loss_interval: f64,
}

impl WindowView {
    fn rate(&self) -> f64 {
        self.window / self.rtt
    }
}

/// What [`Coupling::Wvegas`] has queued in all, in segments.
const WVEGAS_TOTAL: f64 = 10.0;
/// Each subflow's share of it is at least this.
const WVEGAS_MIN: f64 = 2.0;

/// What the subflow at place `own` of `all` may do.
pub fn terms(coupling: Coupling, all: &[WindowView], own: usize) -> CoupledTerms {
    let one = CoupledTerms::UNCOUPLED;
    let Some(view) = all.get(own).filter(|view| view.window > 0.0 && view.rtt > 0.0) else { return one };
    let rates: f64 = all.iter().map(WindowView::rate).sum();
    match coupling {
        Coupling::Off => one,
        Coupling::Lia => CoupledTerms { increase: lia(all, view, rates), ..one },
        Coupling::Olia => CoupledTerms { increase: olia(all, own, rates), ..one },
        Coupling::Balia => {
            let best = all.iter().map(WindowView::rate).fold(0.0, f64::max);
            let alpha = best / view.rate();
            let share = view.rate() / rates;
            let increase = share * share * (1.0 + alpha) / 2.0 * (4.0 + alpha) / 5.0;
            CoupledTerms { increase, keep: 1.0 - f64::min(alpha, 1.5) / 2.0, ..one }
        }
        Coupling::Wvegas => {
            let share = view.rate() / rates;
            CoupledTerms { queued_segments: Some((share * WVEGAS_TOTAL).max(WVEGAS_MIN)), ..one }
        }
    }
}

/// RFC 6356 section 3: alpha / total for each segment acknowledged, but no more than a TCP on this path.
fn lia(all: &[WindowView], view: &WindowView, rates: f64) -> f64 {
    let total: f64 = all.iter().map(|view| view.window).sum();
    let best = all.iter().map(|view| view.window / (view.rtt * view.rtt)).fold(0.0, f64::max);
    let alpha = total * best / (rates * rates);
    (alpha * view.window / total).min(1.0)
}

/// Khalili et al., section IV: the first term is optimal, the second moves windows to the best paths.
fn olia(all: &[WindowView], own: usize, rates: f64) -> f64 {
    let quality = |view: &WindowView| view.loss_interval / (view.rtt * view.rtt);
    let best_quality = all.iter().map(quality).fold(0.0, f64::max);
    let largest = all.iter().map(|view| view.window).fold(0.0, f64::max);
    let is_best = |view: &WindowView| quality(view) >= best_quality;
    let is_largest = |view: &WindowView| view.window >= largest;
    let wronged = all.iter().filter(|view| is_best(view) && !is_largest(view)).count();
    let largest_count = all.iter().filter(|view| is_largest(view)).count();
    let view = &all[own];
    let paths = all.len() as f64;
    let alpha = match wronged {
        0 => 0.0,
        _ if is_best(view) && !is_largest(view) => 1.0 / (paths * wronged as f64),
        _ if is_largest(view) => -1.0 / (paths * largest_count as f64),
        _ => 0.0,
    };
    let share = view.rate() / rates;
    share * share + alpha
}

#[cfg(test)]
mod tests;
