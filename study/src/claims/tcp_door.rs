//! TCP-DOOR in the ad-hoc network of its study (MobiHoc 2002): 20 hosts, one transfer, DSR without a route cache.
//!
//! * [`improvement`]: the settings of detectors, responses, T1 and T2 against plain TCP in the same networks. The
//!   improvement of a setting is the mean over the networks of the ratios, as in the paper.
//! * [`traces`]: what single runs show: who is ahead, what was unnecessary, which way packets pass each other.
//! * [`readings`]: two sentences of the paper can be read in two ways each. All claims are judged by the reading that
//!   its words say most plainly; the gain by each of the four stands beside.

mod improvement;
mod readings;
mod traces;

use super::Experiment;
use super::plan::Scope;

/// All of them.
pub(super) const EXPERIMENTS: &[Experiment] = &[traces::F2, improvement::F3, improvement::DESIGN];

/// The networks of the study: the transfer alone, and beside ten flows of 2 kB/s.
const ALONE: &str = "tcp-door-ad-hoc-flood";
const CONGESTED: &str = "tcp-door-ad-hoc-congested";

/// The flow that is watched.
const FLOW: &str = "download";

/// Overrides of every run: half a minute when quick.
fn length(scope: &Scope) -> Vec<String> {
    if scope.quick { vec!["duration=30s".to_string()] } else { Vec::new() }
}
