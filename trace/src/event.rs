//! One vocabulary of events for the simulator, the lab and the daemons.
//!
//! A host builds an [`Event`] and hands it, with the time, to an [`EventSink`]; event logs, the viewer, the daemons'
//! logs and their status pages are readers of the same events. Times are nanoseconds from the start of the run (or of
//! the daemon), names are those of the scenario file (or of the configuration).
//!
//! * `vocabulary`: the one table from which [`Event`], its names ([`EventKind`]) and the fast reader's [`Line`] are
//!   made.
//! * `schema`: how it becomes types.
//! * [`DropReason`], [`LinkState`], [`LossRule`]: words that events use. `sentence`: a [`Line`] for people.
//! * [`JsonLines`], [`read_json_lines`], [`SharedLog`]: event logs as text.

mod column;
mod description;
mod drop_reason;
mod json_lines;
mod kind;
mod link;
mod packet;
mod schema;
mod sentence;
mod shared;
mod sink;
mod text;
mod vocabulary;

#[cfg(test)]
mod tests;

pub use description::{FlowDescription, LinkDescription, NodeDescription, RadioDescription, RunDescription};
pub use drop_reason::DropReason;
pub use json_lines::{JsonLines, Record, read_json_lines};
pub use link::{LinkState, LossRule};
pub use packet::{Packet, PacketSummary, Segment, SegmentSummary, StreamPart};
pub use shared::SharedLog;
pub use sink::EventSink;
pub use text::{Name, Text};
pub use vocabulary::{Event, EventKind, Line};

/// Name of the event log in the folder that a recorded run leaves.
pub const EVENTS_FILE: &str = "events.jsonl";
