//! A host without a routing protocol: all whom it talks to are its neighbours.
use crate::core::ids::{MediumId, NodeId};
use crate::core::packet::Transit;
use crate::nodes::context::NodeContext;
use crate::nodes::node::Node;
use prismux_trace::event::DropReason;

/// Hands packets to the air and takes those for itself.
#[derive(Debug)]
pub(super) struct DirectHost {
    medium: MediumId,
    queue_drops: u64,
}

impl DirectHost {
    pub fn new(medium: MediumId) -> Self {
        Self { medium, queue_drops: 0 }
    }
}

impl Node for DirectHost {
    fn arrive(&mut self, context: &mut NodeContext<'_>, packet: Transit) {
        let to = Some(context.addresses(&packet).1);
        if let Err(refused) = context.transmit(self.medium, to, packet, context.priority(&packet)) {
            self.queue_drops += 1;
            context.lose(refused, DropReason::QueueFull);
        }
    }

    fn undelivered(&mut self, context: &mut NodeContext<'_>, _: MediumId, _: NodeId, packet: Transit) {
        context.lose(packet, DropReason::Unanswered);
    }

    fn receive(&mut self, context: &mut NodeContext<'_>, _: MediumId, _: NodeId, packet: Transit) {
        match context.ends_here(&packet) {
            true => context.deliver(packet),
            false => context.discard(packet),
        }
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("interface_queue_drops", self.queue_drops)]
    }
}
