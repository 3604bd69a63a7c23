//! What the network asks of a node that forwards by a rule of its own.
use super::context::NodeContext;
use crate::core::ids::{MediumId, NodeId};
use crate::core::packet::Transit;
use crate::media::medium::Frame;
use std::any::Any;
use std::fmt;

/// A node that forwards by a rule of its own. It may keep packets, send its own, and wait.
///
/// Every call is one mutation; what follows from it leaves by the context. A packet that a call hands over must be
/// sent, delivered, discarded or kept (see [`Node::packets_inside`]).
pub trait Node: Any + fmt::Debug + Send {
    /// The run begins.
    fn start(&mut self, context: &mut NodeContext<'_>) {
        let _ = context;
    }

    /// A packet is at the node: it came out of a link, or one of the node's own endpoints sends it.
    fn arrive(&mut self, context: &mut NodeContext<'_>, packet: Transit);

    /// A frame for the node, or for all, has come over a shared medium from its neighbour `from`.
    fn receive(&mut self, context: &mut NodeContext<'_>, medium: MediumId, from: NodeId, packet: Transit) {
        let _ = (medium, from);
        self.arrive(context, packet);
    }

    /// A frame for somebody else has passed on a shared medium. It goes on its way by itself.
    fn overhear(&mut self, context: &mut NodeContext<'_>, medium: MediumId, frame: &Frame) {
        let _ = (context, medium, frame);
    }

    /// A shared medium has given up a packet for the neighbour `to`, and hands it back.
    fn undelivered(&mut self, context: &mut NodeContext<'_>, medium: MediumId, to: NodeId, packet: Transit) {
        let _ = (medium, to);
        context.discard(packet);
    }

    /// A shared medium that was busy is free for the node.
    fn medium_free(&mut self, context: &mut NodeContext<'_>, medium: MediumId) {
        let _ = (context, medium);
    }

    /// A time that [`NodeContext::wake`] was given has come; perhaps one that no longer matters.
    fn timeout(&mut self, context: &mut NodeContext<'_>) {
        let _ = context;
    }

    /// Packets that the node keeps, in a queue of its own for instance.
    fn packets_inside(&self) -> usize {
        0
    }

    /// What the node has counted, for results.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}
