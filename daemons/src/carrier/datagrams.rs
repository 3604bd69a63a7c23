//! What is not striped by the core: spread over the links by class, and put back into order.
use super::Exits;
use crate::config::Datagrams;
use prismux_datagrams::{
    Arrived, Choice, Class, LinkView, Order, Resequencer, ResequencerCounters, Spreader,
};
use prismux_endpoint::{Endpoint, expire};
use prismux_linux::packet::PacketBuf;
use prismux_prism::LinkId;
use prismux_receipts::LinkEstimate;
use prismux_trace::event::DropReason;
use prismux_units::{Duration, Instant};
use prismux_wire::{FlowKey, IpPacket, flow_hash};
use serde::Serialize;

/// Both directions of one end.
pub(crate) struct Spreading {
    rules: Datagrams,
    near: Spreader,
    far: Resequencer<(LinkId, PacketBuf)>,
    sent: [u64; Class::ALL.len()],
}

/// What a status page shows of it.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Report {
    pinned_packets: u64,
    duplicated_packets: u64,
    resequenced_packets: u64,
    /// Of packets with an order that came.
    ordered_packets: u64,
    held_packets: u64,
    given_up_packets: u64,
    late_packets: u64,
    duplicate_packets: u64,
    hold_bound_s: f64,
}

impl Spreading {
    /// No links yet; numbers begin at `first`.
    pub fn new(rules: Datagrams, first: u32) -> Self {
        Self { rules, near: Spreader::new(first), far: Resequencer::default(), sent: [0; 3] }
    }

    /// The class of a packet; `None` for a TCP segment that the core stripes.
    pub fn class_of(&self, ip: &IpPacket, packet: &[u8], is_tcp: bool) -> Option<Class> {
        let class = self.rules.class_of(&FlowKey::of_packet(ip, packet));
        // A segment that the core cannot read is none.
        if is_tcp { class } else { Some(class.unwrap_or_default()) }
    }

    pub fn join(&mut self, link: LinkId, round_trip: Option<Duration>) {
        self.near.join(link.0, round_trip);
    }

    pub fn leave(&mut self, link: LinkId) {
        self.near.leave(link.0);
    }

    /// What receipts say of a link.
    pub fn measured(&mut self, now: Instant, link: LinkId, estimate: &LinkEstimate) {
        let rates = [estimate.capacity, estimate.delivery_rate];
        let rate = rates.into_iter().flatten().max_by_key(|rate| rate.as_bps());
        let queueing_delay = estimate.queueing_delay.unwrap_or_default();
        self.near.measured(now, link.0, LinkView { min_rtt: estimate.min_rtt, queueing_delay, rate });
    }

    /// Sends a packet over the link or links of its class.
    pub fn send(
        &mut self,
        now: Instant,
        class: Class,
        ip: &IpPacket,
        packet: PacketBuf,
        exits: &mut impl Exits,
    ) {
        if let Some(sent) = self.sent.get_mut(class as usize) {
            *sent += 1;
        }
        match self.near.send(now, class, flow_hash(ip, &packet), packet.len() as u32) {
            Choice::One(link, order) => exits.send(now, LinkId(link), packet, order.map(Order::to_bits)),
            Choice::Both([first, second], order) => {
                let order = Some(order.to_bits());
                if let Some(copy) = exits.pool().copy_of(&packet) {
                    exits.send(now, LinkId(second), copy, order);
                }
                exits.send(now, LinkId(first), packet, order);
            }
            Choice::Nowhere => exits.count(DropReason::NoLink),
        }
    }

    /// A packet with an order beside it came over a link.
    pub fn arrived(&mut self, now: Instant, link: LinkId, order: u32, packet: PacketBuf) {
        let order = Order::from_bits(order);
        self.far.handle_input(now, Arrived { link: link.0, order, packet: (link, packet) });
    }

    /// The next packet that has waited for nothing, or long enough.
    pub fn poll(&mut self, now: Instant) -> Option<(LinkId, PacketBuf)> {
        self.far.poll_transmit(now)
    }

    /// Gives up what is overdue; says whether anything was.
    pub fn expire(&mut self, now: Instant) -> bool {
        expire(&mut self.far, now)
    }

    /// When [`Spreading::expire`] has something to do.
    pub fn deadline(&self) -> Option<Instant> {
        self.far.poll_timeout().map(|deadline| deadline.at)
    }

    /// For the status page.
    pub fn report(&self) -> Report {
        let ResequencerCounters { packets, held, given_up, late, duplicates } = *self.far.counters();
        let [pinned, duplicated, resequenced] = self.sent;
        Report {
            pinned_packets: pinned,
            duplicated_packets: duplicated,
            resequenced_packets: resequenced,
            ordered_packets: packets,
            held_packets: held,
            given_up_packets: given_up,
            late_packets: late,
            duplicate_packets: duplicates,
            hold_bound_s: self.far.bound().as_secs_f64(),
        }
    }
}
