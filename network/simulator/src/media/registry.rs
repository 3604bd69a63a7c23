//! The registry: what a plan's media are made of. One line for each model.
use super::broadcast::Bus;
use super::medium::Medium;
use crate::cell::medium::CellMedium;
use crate::radio::medium::RadioMedium;
use prismux_endpoint::random::Seed;
use prismux_plan::{MediumModel, Plan, Unsupported};

/// A medium of `plan`; `None` for one that comes from outside.
///
/// # Errors
/// When its model is impossible.
pub(crate) fn planned(
    plan: &Plan,
    medium: &prismux_plan::Medium,
    seed: Seed,
) -> Result<Option<Box<dyn Medium>>, Unsupported> {
    let (name, attached) = (&medium.name, &medium.attached);
    Ok(match &medium.model {
        MediumModel::Bus(link) => Some(Box::new(Bus::new(link, seed, name, attached))),
        MediumModel::Radio(radio) => {
            let medium = RadioMedium::new(plan, name, attached, radio, seed);
            let impossible = |error| Unsupported {
                what: format!("medium \"{name}\": {error}"),
                remedy: "choose values that a radio can have".to_string(),
            };
            Some(Box::new(medium.map_err(impossible)?))
        }
        MediumModel::Cell(cell) => {
            let medium = CellMedium::new(plan, name, attached, cell, seed);
            let impossible = |fault| Unsupported {
                what: format!("medium \"{name}\": {fault}"),
                remedy: "choose movements that hosts can make".to_string(),
            };
            Some(Box::new(medium.map_err(impossible)?))
        }
        MediumModel::External => None,
    })
}
