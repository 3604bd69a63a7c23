//! Media that several nodes share: what one sends, others hear.
use crate::{NodeId, Radio, SlottedCell};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use prismux_link::LinkConfig;

/// A medium between any number of nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct Medium {
    /// Name, unique among the media and links of a plan.
    pub name: String,
    /// The nodes on it. Each is a neighbour of all others.
    pub attached: Vec<NodeId>,
    /// How it carries frames.
    pub model: MediumModel,
}

/// How a medium carries frames.
#[derive(Debug, Clone, PartialEq)]
pub enum MediumModel {
    /// One frame at a time with ideal arbitration: all frames take their turn at the rate, delay, queue and loss of one
    /// link, and everybody hears them.
    Bus(LinkConfig),
    /// Radio: who hears whom follows from where the nodes are.
    Radio(Box<Radio>),
    /// A cell in slots: who sends when, over how many hops, is decided slot by slot.
    Cell(Box<SlottedCell>),
    /// A model from outside, which the host is given under the medium's name.
    External,
}
