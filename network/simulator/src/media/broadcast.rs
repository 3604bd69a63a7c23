//! A bus: one frame at a time, and all who are attached hear it.
use super::medium::{Frame, Medium, MediumEvent};
use crate::core::ids::NodeId;
use prismux_endpoint::random::Seed;
use prismux_link::{Link, LinkConfig, LinkStats};
use prismux_units::Instant;

/// A shared bus with ideal arbitration: frames cross in the order in which they were sent, none collide. A frame that
/// is lost is lost for all.
#[derive(Debug)]
pub struct Bus {
    link: Link<Frame>,
    attached: Vec<NodeId>,
}

impl Bus {
    /// A bus between `attached`. All frames take their turn at the rate, delay, queue and loss of `link`, whose
    /// random numbers are those of a link called `name`.
    pub fn new(link: &LinkConfig, seed: Seed, name: &str, attached: &[NodeId]) -> Self {
        Self { link: Link::new(link, seed, name), attached: attached.to_vec() }
    }

    /// Its counters.
    pub fn stats(&self) -> LinkStats {
        self.link.stats()
    }
}

impl Medium for Bus {
    fn send(&mut self, now: Instant, frame: Frame) -> Result<(), Frame> {
        self.link.enqueue(now, frame.size_bytes(), frame).map_err(|dropped| dropped.packet)
    }

    fn poll_event(&mut self, now: Instant, hearers: &mut Vec<NodeId>) -> Option<MediumEvent> {
        let frame = self.link.poll_delivery(now)?.packet;
        hearers.extend(self.attached.iter().copied().filter(|&node| node != frame.from));
        Some(MediumEvent::Crossed(frame))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.link.next_wakeup()
    }

    fn frames_inside(&self) -> usize {
        self.link.packets_inside()
    }
}
