//! Packets whose checksum fails: dropped, and heard of where a link layer tells.
use super::Simulation;
use crate::endpoint::Endpoint;
use crate::packet::{Body, PacketHandle};
use prismux_tcp::SegmentIn;
use prismux_trace::event::DropReason;

impl Simulation {
    /// A checksum has caught a damaged packet. An end that hears of it from its link layer draws its conclusion.
    #[cold]
    pub(super) fn deliver_damaged(&mut self, handle: PacketHandle) {
        let id = self.fabric.pool.get(handle).endpoint;
        let node = match &mut self.endpoints[id.index()] {
            Endpoint::Rcp(rcp) if rcp.setup.hears_damage => return self.deliver_rcp(handle),
            endpoint => endpoint.site_mut().node,
        };
        let packet = self.fabric.pool.remove(handle);
        self.fabric.observe_drop(node, DropReason::Corrupted, &packet);
        let (payload_bytes, ecn) = (packet.payload_bytes, packet.ecn);
        match (&mut self.endpoints[id.index()], packet.body) {
            (Endpoint::Tcp(tcp), Body::Tcp { header, .. }) => {
                tcp.receive_damaged(&SegmentIn { header, payload_bytes, ecn });
            }
            (Endpoint::Striping(striping), Body::Tcp { header, .. }) => {
                striping.receive_damaged(&SegmentIn { header, payload_bytes, ecn });
            }
            (Endpoint::Ptcp(ptcp), Body::Ptcp { segment, .. }) => {
                if let Some(out) = self.fabric.pool.take(segment) {
                    ptcp.receive_damaged(&out.segment);
                }
            }
            _ => {}
        }
    }
}
