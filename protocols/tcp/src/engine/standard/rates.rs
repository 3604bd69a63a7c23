//! What a paced or rate-based congestion control needs beside the window.
use super::delivery_rate::DeliveryRate;
use super::pacer::Pacer;
use crate::engine::congestion::CongestionControl;
use alloc::boxed::Box;

/// Pacer and samples of the delivery rate. Most connections have neither.
#[derive(Debug, Clone)]
pub(super) struct Rates {
    pub(super) pacer: Pacer,
    pub(super) delivery: DeliveryRate,
    /// The policy sets the window itself, from the samples.
    pub(super) set_window: bool,
}

impl Rates {
    pub(super) fn wanted_by(policy: &(impl CongestionControl + ?Sized)) -> Option<Box<Self>> {
        let (paced, set_window) = (policy.is_paced(), policy.is_rate_based());
        (paced || set_window)
            .then(|| Box::new(Self { pacer: Pacer::new(), delivery: DeliveryRate::default(), set_window }))
    }
}
