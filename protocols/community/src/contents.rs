//! Content sharing, a use of communities that PRISM's papers name: each member takes a part of what all want from a
//! server in the Internet, and they share the parts.
//!
//! * [`Layout`]: a file in pieces. [`PieceSet`]: some of them.
//! * [`Plan`]: which piece a member takes from whom: from the origin over its own uplink what no neighbour has or
//!   takes there, everything else from neighbours; again, and elsewhere, what one owes or has given wrong.
//! * [`Announcement`]: what members tell each other of what they have and take.
//!
//! How pieces travel, and how they are proven right, is for whoever drives a plan (`prismux_fetch::member`).
mod announcement;
mod layout;
mod piece_set;
mod plan;

pub use announcement::{
    ANNOUNCEMENT, Announcement, KEY_BYTES, MAX_ANNOUNCEMENT_BYTES, MAX_CLAIMS, Malformed, ROOT_BYTES,
};
pub use layout::{Layout, MAX_PIECES, MAX_SIZE};
pub use piece_set::PieceSet;
pub use plan::{NeighbourId, Plan, PlanConfig, PlanCounters, PlanEvent, PlanInput, Reason, Source};
