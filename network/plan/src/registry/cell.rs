//! Names of cells in slots.
use super::{Name, name};
use prismux_cellular::slots::Access;
use prismux_cellular::{ConflictRule, DualModeSettings};
use prismux_units::Rate;

/// Who sends in a slot of a cell, with its settings.
pub const CELL_ACCESS: &[Name<fn() -> Access>] = &[
    name(
        "polled",
        (|| Access::Polled { overhead: 0.05 }) as fn() -> Access,
        "the cellular model: the base station serves one flow after the other",
    ),
    name(
        "assisted",
        || Access::Assisted { period_slots: 100 },
        "peers relay by a schedule that the base station draws",
    ),
    name("contention", || Access::Contention, "peers relay as they find the channel free"),
    name(
        "dual-mode",
        || Access::DualMode { settings: DualModeSettings::default(), reference: Rate::ZERO },
        "peers relay as they find the channel free; hosts that fare badly use the base station directly",
    ),
    name(
        "interworking",
        || Access::Interworking,
        "hosts in range of an access point use it, the others the base station",
    ),
];

/// Which transmissions of a schedule may share a slot.
pub const REUSE: &[Name<ConflictRule>] = &[
    name("receivers", ConflictRule::ReceiverSide, "those of which no receiver hears the other sender"),
    name("both-ends", ConflictRule::BothEnds, "those of which no end hears an end of the other"),
];
