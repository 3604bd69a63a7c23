//! Repairs in the network: what stands in for packets that the link to a member loses.
use crate::core::ids::NodeId;
use crate::core::packet::{Content, IPV4_HEADER_BYTES, KeptPacket, Transit, UDP_HEADER_BYTES};
use crate::nodes::context::NodeContext;
use prismux_endpoint::Endpoint as _;
use prismux_fec::{
    Arrived, Decoder, EncoderConfig, ErasureCode, HEADER_BYTES, ProtectedLink, REPAIR_OVERHEAD_BYTES,
    ReceivedBlock, RepairHeader,
};
use prismux_receipts::LinkMeter;
use prismux_wire::SeqNumber;

/// An erasure code for packets that have no bytes: a repair carries copies of all packets of its block, and as many
/// repairs as packets are missing give these back, as a code with the same properties would.
#[derive(Debug, Clone, Copy)]
pub(super) struct Copies;

impl ErasureCode for Copies {
    type Packet = KeptPacket;
    type Symbol = Vec<KeptPacket>;

    fn encode(&mut self, packets: &[KeptPacket], repairs: usize) -> Vec<Vec<KeptPacket>> {
        (0..repairs).map(|_| packets.to_vec()).collect()
    }

    fn decode(&mut self, block: &ReceivedBlock<'_, KeptPacket, Vec<KeptPacket>>) -> Vec<(usize, KeptPacket)> {
        let Some((_, copies)) = block.symbols.first() else { return Vec::new() };
        let missing = |place: &usize| block.packets.iter().all(|(known, _)| known != place);
        let found = (0..block.packet_count).filter(missing);
        found.filter_map(|place| Some((place, copies.get(place)?.clone()))).collect()
    }
}

/// A repair on its way to a member.
#[derive(Debug, Clone)]
pub(super) struct Repair {
    header: RepairHeader,
    symbol: Vec<KeptPacket>,
}

impl Content for Repair {
    fn header_bytes(&self) -> usize {
        HEADER_BYTES
    }

    fn emit(&self, bytes: &mut [u8]) {
        if let Some(room) = bytes.get_mut(..HEADER_BYTES) {
            room.copy_from_slice(&self.header.emit());
        }
    }
}

/// The near end of a link.
pub(super) type Protected = ProtectedLink<Copies>;

/// A link that is protected as long as it is worth it.
pub(super) fn protected() -> Protected {
    ProtectedLink::new(EncoderConfig::default(), Copies)
}

/// Sends the repairs that are due to `member`, whose tunnel adds `tunnel_bytes` to each beside its number; `number`
/// puts one on.
pub(super) fn send(
    context: &mut NodeContext<'_>,
    (link, meter): (&mut Protected, &mut LinkMeter),
    (member, tunnel_bytes): (NodeId, u32),
    mut number: impl FnMut(&mut NodeContext<'_>, &mut LinkMeter, &mut Transit),
) {
    let now = context.now();
    while let Some(block) = link.poll(now, meter) {
        let repairs = block.symbols.len();
        for symbol in block.symbols {
            let longest = symbol.iter().map(|kept| kept.packet().ip_bytes()).max().unwrap_or(0);
            let repair_bytes = longest + REPAIR_OVERHEAD_BYTES as u32;
            // In the tunnel there is neither an IP header nor one of UDP before a repair.
            let around_bytes = IPV4_HEADER_BYTES + UDP_HEADER_BYTES + HEADER_BYTES as u32;
            let payload_bytes = repair_bytes.saturating_sub(around_bytes);
            let repair = Repair { header: block.header, symbol };
            let mut packet = context.originate(repair, Some(member), payload_bytes);
            packet.size_bytes = repair_bytes + tunnel_bytes;
            context.network.pool.get_mut(packet.carried.packet).encapsulated = true;
            number(context, meter, &mut packet);
            context.forward(packet);
        }
        link.repaired(meter, repairs);
    }
}

/// The far end of a link.
#[derive(Debug)]
pub(super) struct Recovery(Decoder<Copies>);

impl Recovery {
    /// Nothing has come.
    pub fn new() -> Self {
        Self(Decoder::new(Copies))
    }

    /// Whether a repair has stood in for the packet with `number`, which comes now.
    pub fn is_late(&mut self, number: SeqNumber) -> bool {
        self.0.is_late(number)
    }

    /// Something with a number has come out of the tunnel. A packet is given back, a repair taken in.
    pub fn arrived(
        &mut self,
        context: &mut NodeContext<'_>,
        number: SeqNumber,
        packet: Transit,
    ) -> Option<Transit> {
        let now = context.now();
        // A sealed tunnel drops what is damaged before anything is made of it.
        if context.network.pool.get(packet.carried.packet).damaged {
            return Some(packet);
        }
        if let Some(Repair { header, symbol }) = context.take(&packet) {
            self.0.handle_input(now, Arrived::Repair { number, header, symbol });
            return None;
        }
        if self.0.wants_packets() {
            self.0.handle_input(now, Arrived::Packet { number, packet: context.keep_copy(&packet) });
        }
        Some(packet)
    }

    /// Packets that did not come: the number and a copy of each.
    pub fn recovered(&mut self, context: &NodeContext<'_>) -> Option<(SeqNumber, KeptPacket)> {
        self.0.poll_transmit(context.now()).map(|recovered| (recovered.number, recovered.packet))
    }
}
