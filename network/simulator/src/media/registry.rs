//! The registry: what a plan's media are made of. One line for each model.
use super::broadcast::Bus;
use super::medium::Medium;
use prismux_endpoint::random::Seed;
use prismux_plan::MediumModel;

/// The medium of a plan; `None` for one that comes from outside.
pub(crate) fn planned(medium: &prismux_plan::Medium, seed: Seed) -> Option<Box<dyn Medium>> {
    match &medium.model {
        MediumModel::Bus(link) => Some(Box::new(Bus::new(link, seed, &medium.name, &medium.attached))),
        MediumModel::External => None,
    }
}
