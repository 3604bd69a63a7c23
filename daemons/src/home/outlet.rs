//! Carrying out the core's verdicts: into an uplink, or to the kernel.
use super::uplink::Uplink;
use crate::carrier::rewrite::{change_ack, change_data};
use crate::carrier::{Core, Exits};
use crate::counters::DropCounters;
use crate::device;
use crate::events::Events;
use crate::proxy::meters::Meters;
use prismux_endpoint::Host;
use prismux_fec::Shard;
use prismux_linux::offload::OffloadTun;
use prismux_linux::packet::{PacketBuf, PacketPool};
use prismux_prism::{AckRewrite, DataRewrite, LinkId, ProxyEvent, Verdict};
use prismux_prism_trace::{drop_reason, link_event};
use prismux_trace::event::{DropReason, EventSink};
use prismux_units::Instant;
use prismux_wire::gre::{KEY_BYTES, SEQUENCE_BYTES};
use prismux_wire::{Ecn, GreHeader};

/// Everything that packets leave by. It stands apart from the core, which is drained into it.
pub(super) struct Outlet {
    /// Towards this box and the networks behind it.
    pub tun: OffloadTun,
    /// Buffers for packets of our own.
    pub pool: PacketPool,
    /// Towards the gateway; an uplink's place is the number of its link.
    pub uplinks: Vec<Uplink>,
    /// Links measured by the gateway's receipts.
    pub meters: Meters,
    /// What went nowhere.
    pub drops: DropCounters,
    /// What the home tells.
    pub events: Events,
    /// What the home is called in its events.
    pub name: String,
}

impl Host<Core> for Outlet {
    fn transmit(&mut self, now: Instant, verdict: Verdict<PacketBuf>) {
        match verdict {
            Verdict::Forward { link, packet, rewrite, position } => {
                self.forward(now, link, packet, &rewrite, position);
            }
            Verdict::Release { packet, rewrite } => self.release(packet, &rewrite),
            Verdict::Drop { reason, .. } => self.drops.count(drop_reason(reason)),
        }
    }

    fn event(&mut self, now: Instant, event: ProxyEvent) {
        let Some(uplink) = self.uplinks.get(usize::from(event.link().0)) else { return };
        let event = link_event(event, self.name.clone().into(), uplink.config.device.clone().into());
        self.events.event(now, &event);
    }
}

impl Exits for Outlet {
    fn send(&mut self, now: Instant, link: LinkId, packet: PacketBuf, order: Option<u32>) {
        self.push(now, link, packet, None, order);
    }

    fn count(&mut self, reason: DropReason) {
        self.drops.count(reason);
    }

    fn pool(&self) -> &PacketPool {
        &self.pool
    }

    fn hand_to_kernel(&mut self, packet: &[u8]) {
        device::write(&self.tun, packet, &mut self.drops);
    }
}

impl Outlet {
    fn forward(
        &mut self,
        now: Instant,
        link: LinkId,
        mut packet: PacketBuf,
        rewrite: &DataRewrite,
        position: Option<u32>,
    ) {
        if !rewrite.is_identity() {
            let length = packet.len();
            // Parsed when it came in, so it cannot fail.
            let _ = change_data(rewrite, packet.buffer_mut(), length);
        }
        self.push(now, link, packet, position, None);
    }

    /// Puts a packet into the tunnel of a link, with what stands beside it.
    fn push(
        &mut self,
        now: Instant,
        link: LinkId,
        packet: PacketBuf,
        position: Option<u32>,
        order: Option<u32>,
    ) {
        let Some(uplink) = self.uplinks.get_mut(usize::from(link.0)) else {
            return self.drops.count(DropReason::NoLink);
        };
        let (protocol, ecn) = device::protocol_and_ecn(&packet);
        let order_bytes = order.map_or(0, |_| KEY_BYTES);
        let bytes = packet.len() + uplink.overhead_bytes() + SEQUENCE_BYTES + order_bytes;
        let shard = Shard { protocol, order, inner: &packet };
        let number = self.meters.number(now, link, (bytes, position), &shard);
        let sequence = number.map(|number| number.0);
        if sequence.is_some() {
            uplink.liveness.sent(now);
        }
        uplink.path.sent(now);
        // Seen from the gateway, as on its page: forward is towards the home.
        uplink.traffic.return_packets += 1;
        uplink.traffic.return_bytes += packet.len() as u64;
        let header = GreHeader { sequence, key: order, ..GreHeader::plain(protocol) };
        self.pass(now, link, (header, ecn, packet));
        self.push_repairs(now, link);
    }

    /// Puts the repairs that are due into the tunnel of a link.
    pub fn push_repairs(&mut self, now: Instant, link: LinkId) {
        let Some(uplink) = self.uplinks.get(usize::from(link.0)) else { return };
        let overhead_bytes = uplink.overhead_bytes() + SEQUENCE_BYTES;
        while let Some(repair) = self.meters.poll_repair(now, link, overhead_bytes) {
            let Some(packet) = self.pool.copy_of(&repair.bytes) else { continue };
            self.pass(now, link, (repair.gre(), Ecn::NotEct, packet));
        }
    }

    /// Queues a packet for an uplink, or for its rate limit.
    fn pass(&mut self, now: Instant, link: LinkId, (header, ecn, packet): (GreHeader, Ecn, PacketBuf)) {
        let Some(uplink) = self.uplinks.get_mut(usize::from(link.0)) else { return };
        if uplink.is_full() {
            uplink.flush((&self.tun, &self.pool), &mut self.drops);
        }
        let bytes = uplink.line_bytes(&header, &packet);
        let Some(shaper) = &mut uplink.shaper else {
            if !uplink.push(&header, ecn, packet) {
                self.drops.count(DropReason::NoLink);
            }
            return;
        };
        match shaper.push(bytes, (header, ecn, packet)) {
            Ok(()) => self.serve(now, usize::from(link.0)),
            Err(_) => self.drops.count(DropReason::RateLimited),
        }
    }

    /// Sends what the rate limit of an uplink lets go.
    pub fn serve(&mut self, now: Instant, index: usize) {
        let Some(uplink) = self.uplinks.get_mut(index) else { return };
        while let Some((header, ecn, packet)) = uplink.shaper.as_mut().and_then(|shaper| shaper.poll(now)) {
            if uplink.is_full() {
                uplink.flush((&self.tun, &self.pool), &mut self.drops);
            }
            if !uplink.push(&header, ecn, packet) {
                self.drops.count(DropReason::NoLink);
            }
        }
    }

    fn release(&mut self, mut packet: PacketBuf, rewrite: &AckRewrite) {
        match change_ack(rewrite, &mut packet) {
            Ok(()) => self.hand_to_kernel(&packet),
            Err(_) => self.drops.count(DropReason::MalformedPacket),
        }
    }

    /// Sends everything that is queued.
    pub fn flush(&mut self) {
        for uplink in &mut self.uplinks {
            uplink.flush((&self.tun, &self.pool), &mut self.drops);
        }
        device::flush(&self.tun, &mut self.drops);
    }
}
