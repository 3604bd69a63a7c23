//! Media in the network: exits into them, and what becomes of a frame.
use super::{Frame, Medium};
use crate::core::ids::{NodeId, PortId};
use crate::core::packet::Carried;
use crate::network::{Network, Target};
use crate::nodes::{Forwarding, Transit};
use prismux_endpoint::{Alarm, Deadline};

/// A shared medium of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MediumIndex(pub(crate) u32);

/// A medium, and its event.
#[derive(Debug)]
pub(crate) struct SharedMedium {
    medium: Box<dyn Medium>,
    alarm: Alarm,
    /// Kept between frames: who hears one.
    hearers: Vec<NodeId>,
}

impl SharedMedium {
    pub fn new(medium: Box<dyn Medium>) -> Self {
        Self { medium, alarm: Alarm::new(), hearers: Vec::new() }
    }

    pub fn get(&self) -> &dyn Medium {
        &*self.medium
    }
}

/// A node's exit to a neighbour on a medium.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MediumExit {
    pub medium: MediumIndex,
    pub from: NodeId,
    pub to: NodeId,
}

impl Network {
    /// Hands a packet to the medium that an exit leads into.
    #[cold]
    pub fn send_on_medium(&mut self, exit: PortId, size_bytes: u32, carried: Carried) {
        let MediumExit { medium, from, to } = self.medium_exits[exit.index() - self.ports.len()];
        self.put_on_medium(medium, Frame { from, to: Some(to), size_bytes, carried });
    }

    /// Puts a frame on a medium.
    pub fn put_on_medium(&mut self, medium: MediumIndex, frame: Frame) {
        let shared = &mut self.media[medium.0 as usize];
        match shared.medium.send(self.now, frame) {
            Ok(()) => self.arm_medium(medium),
            Err(frame) => self.ignore(&frame),
        }
    }

    /// Frames may have crossed a medium.
    #[inline(never)] // Rare: the loop stays small.
    pub fn medium_event(&mut self, medium: MediumIndex) {
        let at = medium.0 as usize;
        if !self.media[at].alarm.rings(self.now) {
            return;
        }
        let mut hearers = std::mem::take(&mut self.media[at].hearers);
        while let Some(frame) = self.media[at].medium.poll_delivery(self.now, &mut hearers) {
            self.spread(medium, frame, &mut hearers);
            hearers.clear();
        }
        self.media[at].hearers = hearers;
        self.arm_medium(medium);
    }

    fn arm_medium(&mut self, medium: MediumIndex) {
        let SharedMedium { medium: shared, alarm, .. } = &mut self.media[medium.0 as usize];
        let next = shared.next_delivery().map(|at| Deadline { at, why: "medium" });
        if let Some(at) = alarm.set(self.now, next) {
            self.queue.push(at, Target::Medium(medium.0));
        }
    }

    /// Everybody who hears a frame gets what is for it; nodes with rules of their own also hear what is not.
    fn spread(&mut self, medium: MediumIndex, frame: Frame, hearers: &mut Vec<NodeId>) {
        let Frame { to, size_bytes, carried, .. } = frame;
        for &node in hearers.iter().filter(|&&node| to.is_some_and(|to| to != node)) {
            if let Forwarding::Rule(place) = self.forwarding[node.index()] {
                self.with_rule(place, |rule, context| rule.overhear(context, medium, &frame));
            }
        }
        hearers.retain(|&node| self.takes(node, &frame));
        let Some((&last, others)) = hearers.split_last() else { return self.ignore(&frame) };
        for &node in others {
            let packet = self.pool.duplicate(carried.packet);
            self.counters.copied += 1;
            self.pass(node, size_bytes, Carried { packet, ..carried });
        }
        self.pass(last, size_bytes, carried);
    }

    /// Whether a node that hears a frame takes it in: hosts and routers ignore frames for all that end elsewhere.
    fn takes(&self, node: NodeId, frame: &Frame) -> bool {
        let has_rule = matches!(self.forwarding[node.index()], Forwarding::Rule(_));
        frame.to == Some(node) || frame.to.is_none() && (has_rule || frame.carried.towards == node)
    }

    /// Nobody takes a frame.
    fn ignore(&mut self, frame: &Frame) {
        self.counters.unheard += 1;
        self.pool.discard(frame.carried.packet);
    }
}

impl Frame {
    /// The packet in it, as it would be at a node.
    pub fn packet(&self) -> Transit {
        Transit { size_bytes: self.size_bytes, carried: self.carried }
    }
}
