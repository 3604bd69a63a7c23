//! ACKs that are lost, and how many in a row, by the end that sends them.
use super::ids::{EndpointId, FlowId};
use super::packet::{Body, Packet};
use prismux_trace::results::AckResult;
use prismux_wire::TcpFlags;
use std::collections::BTreeMap;

/// The ACKs of every flow that carry no data and neither open nor close a connection.
#[derive(Debug, Default)]
pub(crate) struct LostAcks {
    /// By whom they are for.
    ways: BTreeMap<EndpointId, Way>,
}

#[derive(Debug)]
struct Way {
    flow: FlowId,
    /// Numbers of their packets, which only grow.
    sent: Vec<u64>,
    /// Places in `sent` of those lost, as they were lost.
    lost: Vec<usize>,
}

impl LostAcks {
    /// A packet sets out.
    pub fn sent(&mut self, packet: &Packet, number: u64) {
        if is_ack(packet) {
            let way = || Way { flow: packet.flow, sent: Vec::new(), lost: Vec::new() };
            self.ways.entry(packet.endpoint).or_insert_with(way).sent.push(number);
        }
    }

    /// A packet is dropped. One that did not set out from an end, such as a proxy's own, is none of theirs.
    pub fn lost(&mut self, packet: &Packet, number: Option<u64>) {
        let (true, Some(number)) = (is_ack(packet), number) else { return };
        let Some(way) = self.ways.get_mut(&packet.endpoint) else { return };
        way.lost.extend(way.sent.binary_search(&number).ok());
    }

    /// Those of a flow; `None` before the first.
    pub fn result(&self, flow: FlowId) -> Option<AckResult> {
        let ways = self.ways.values().filter(|way| way.flow == flow);
        ways.map(Way::result).reduce(|sum, way| AckResult {
            sent: sum.sent + way.sent,
            lost: sum.lost + way.lost,
            most_lost_in_a_row: sum.most_lost_in_a_row.max(way.most_lost_in_a_row),
        })
    }
}

impl Way {
    fn result(&self) -> AckResult {
        let mut lost = self.lost.clone();
        lost.sort_unstable();
        lost.dedup();
        let rows = lost.chunk_by(|before, after| before + 1 == *after);
        AckResult {
            sent: self.sent.len() as u64,
            lost: lost.len() as u64,
            most_lost_in_a_row: rows.map(<[usize]>::len).max().unwrap_or(0) as u64,
        }
    }
}

fn is_ack(packet: &Packet) -> bool {
    let Body::Tcp { header, .. } = &packet.body else { return false };
    let opens_or_closes = TcpFlags::SYN | TcpFlags::FIN | TcpFlags::RST;
    packet.payload_bytes == 0
        && header.flags.contains(TcpFlags::ACK)
        && !header.flags.intersects(opens_or_closes)
}
