//! What leaves a routing protocol: frames, now or later, and events.
use crate::event::{DropReason, RoutingEvent};
use crate::packet::{DATA_HOP_LIMIT, Frame, Header, NextHop, Packet};
use crate::statistics::Statistics;
use alloc::collections::{BTreeMap, VecDeque};
use core::net::Ipv4Addr;
use prismux_units::Instant;

/// Frames and events on their way out, and the counters of what passed.
#[derive(Debug, Clone)]
pub struct Outbox<H, P> {
    due: VecDeque<Frame<H, P>>,
    /// By instant, and in the order in which they were put off.
    delayed: BTreeMap<(Instant, u64), Frame<H, P>>,
    events: VecDeque<RoutingEvent<P>>,
    next_number: u64,
    /// The counters.
    pub statistics: Statistics,
}

impl<H, P> Default for Outbox<H, P> {
    fn default() -> Self {
        Self {
            due: VecDeque::new(),
            delayed: BTreeMap::new(),
            events: VecDeque::new(),
            next_number: 0,
            statistics: Statistics::default(),
        }
    }
}

impl<H: Header, P> Outbox<H, P> {
    /// Sends `packet` now.
    pub fn send(&mut self, next_hop: NextHop, packet: Packet<H, P>) {
        self.due.push_back(Frame { next_hop, packet });
    }

    /// Sends `packet` at `at`: after a jitter.
    pub fn send_at(&mut self, at: Instant, next_hop: NextHop, packet: Packet<H, P>) {
        self.delayed.insert((at, self.next_number), Frame { next_hop, packet });
        self.next_number += 1;
    }

    /// Sends `packet` at `at`, or now.
    pub fn send_at_or_now(&mut self, at: Option<Instant>, next_hop: NextHop, packet: Packet<H, P>) {
        match at {
            None => self.send(next_hop, packet),
            Some(at) => self.send_at(at, next_hop, packet),
        }
    }

    /// Takes back every frame that was put off and that `is_unwanted`.
    pub fn cancel(&mut self, mut is_unwanted: impl FnMut(&Frame<H, P>) -> bool) {
        self.delayed.retain(|_, frame| !is_unwanted(frame));
    }

    /// When the next frame that was put off is due.
    pub fn deadline(&self) -> Option<Instant> {
        self.delayed.first_key_value().map(|((at, _), _)| *at)
    }

    /// Moves what is due at `now` to what leaves.
    pub fn release(&mut self, now: Instant) {
        while let Some(entry) = self.delayed.first_entry() {
            if entry.key().0 > now {
                return;
            }
            self.due.push_back(entry.remove());
        }
    }

    /// The next frame that leaves, counted.
    pub fn poll_frame(&mut self) -> Option<Frame<H, P>> {
        let frame = self.due.pop_front()?;
        let bytes = frame.packet.header.wire_bytes() as u64;
        if frame.packet.payload.is_some() {
            self.statistics.header_bytes += bytes;
        } else {
            self.statistics.control_packets += 1;
            self.statistics.control_bytes += bytes;
        }
        Some(frame)
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<RoutingEvent<P>> {
        self.events.pop_front()
    }

    /// Tells the host.
    pub fn tell(&mut self, event: RoutingEvent<P>) {
        self.events.push_back(event);
    }

    /// Delivers a payload to the layer above.
    pub fn deliver(&mut self, source: Ipv4Addr, hops: u8, payload: P) {
        self.statistics.delivered_packets += 1;
        self.statistics.delivered_hops += u64::from(hops);
        self.tell(RoutingEvent::Delivered { source, hops, payload });
    }

    /// What the host at `own` does with a data packet that routes hop by hop: delivers it if it is for this host or for
    /// all, drops what came back or has travelled too far, and hands out what is to be forwarded, one hop older.
    pub fn arrive(&mut self, own: Ipv4Addr, mut packet: Packet<H, P>) -> Option<Packet<H, P>> {
        if packet.payload.is_none() {
            self.statistics.refused_packets += 1;
        } else if packet.destination == own || packet.destination == Ipv4Addr::BROADCAST {
            let hops = DATA_HOP_LIMIT.saturating_sub(packet.hop_limit).saturating_add(1);
            if let Some(payload) = packet.payload {
                self.deliver(packet.source, hops, payload);
            }
        } else if packet.source == own {
            self.discard(packet, DropReason::Loop);
        } else if packet.hop_limit <= 1 {
            self.discard(packet, DropReason::HopLimit);
        } else {
            packet.hop_limit -= 1;
            return Some(packet);
        }
        None
    }

    /// Drops `packet`: with an event when it carries a payload, silently when it is the protocol's own.
    pub fn discard(&mut self, packet: Packet<H, P>, reason: DropReason) {
        let Packet { source, destination, payload: Some(payload), .. } = packet else { return };
        self.statistics.count_drop(reason);
        self.tell(RoutingEvent::Dropped { source, destination, reason, payload });
    }

    /// Packets with a payload that have not left yet.
    pub fn buffered_packets(&self) -> usize {
        let frames = self.due.iter().chain(self.delayed.values());
        frames.filter(|frame| frame.packet.payload.is_some()).count()
    }
}
