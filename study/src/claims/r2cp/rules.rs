//! The worked example of the scheduler, played to a connection.

use crate::claims::Experiment;
use crate::claims::plan::Outcomes;
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use prismux_endpoint::Endpoint;
use prismux_r2cp::policy::Cost;
use prismux_r2cp::{Connection, PipeId, R2cpConfig};
use prismux_rcp::{PacketIn, RcpConfig, RcpFlags, RcpHeader, RcpOptions};
use prismux_units::Instant;
use prismux_wire::{Ecn, SeqNumber};

pub(super) const RULES: Experiment = Experiment {
    id: "R",
    title: "the worked example of the scheduler",
    claims: &["R2-017"],
    lab: false,
    jobs: |_| Ok(Vec::new()),
    judge,
};

const SEGMENT_BYTES: u32 = 100;
const TOKEN: u64 = 9;
/// The server's initial number, and ours.
const SERVER: SeqNumber = SeqNumber(1000);
const CLIENT: SeqNumber = SeqNumber(1);

/// What a server answers to SYN.
fn syn_ack() -> PacketIn {
    let options = RcpOptions { token: Some(TOKEN), mss: Some(SEGMENT_BYTES as u16), ..RcpOptions::default() };
    let header = RcpHeader {
        flags: RcpFlags::SYN | RcpFlags::ACK,
        window: u16::MAX,
        number: SERVER,
        proof: RcpHeader::acknowledging(CLIENT + 1),
        options,
    };
    PacketIn { header, payload_bytes: 0, ecn: Ecn::NotEct }
}

/// The data of a segment.
fn data(segment: u32) -> PacketIn {
    let flags = RcpFlags(0);
    let header = RcpHeader {
        flags,
        window: u16::MAX,
        number: SERVER + 1 + segment * SEGMENT_BYTES,
        proof: RcpHeader::under(TOKEN, flags),
        options: RcpOptions::default(),
    };
    PacketIn { header, payload_bytes: SEGMENT_BYTES, ecn: Ecn::NotEct }
}

/// Segments asked for now, over which pipe each.
fn asked(connection: &mut Connection, at_ms: u64) -> Vec<(PipeId, f64)> {
    let mut asked = Vec::new();
    while let Some((pipe, packet)) = connection.poll_transmit(Instant::from_millis(at_ms)) {
        if packet.header.flags.contains(RcpFlags::REQ) {
            let bytes = packet.header.number.distance_from(SERVER + 1);
            asked.push((pipe, f64::from(bytes) / f64::from(SEGMENT_BYTES)));
        }
    }
    asked
}

/// A quick pipe with 2 to 5 outstanding, 2 and 3 since 200 ms, 4 and 5 since 220 ms; its round trip is 100 ms. A slow
/// pipe answers at 250 ms after a round trip of 160 ms: its answer will come when 2 and 3 and their successors have.
/// What does it ask for first?
fn worked_example() -> Option<f64> {
    let mut rcp = RcpConfig {
        mss: SEGMENT_BYTES as u16,
        timestamps: false,
        consume_on_arrival: true,
        ..RcpConfig::modern()
    };
    rcp.engine.initial_window_segments = 2;
    let mut connection = Connection::new(R2cpConfig::new(rcp), Instant::ZERO);
    let quick = connection.open(Instant::ZERO, CLIENT, Cost(0));
    asked(&mut connection, 0);
    let slow = connection.open(Instant::from_millis(90), CLIENT, Cost(0));
    asked(&mut connection, 90);
    connection.handle_input(Instant::from_millis(100), (quick, syn_ack()));
    let mut before = vec![asked(&mut connection, 100)];
    for (at_ms, segment) in [(200, 0), (220, 1)] {
        connection.handle_input(Instant::from_millis(at_ms), (quick, data(segment)));
        before.push(asked(&mut connection, at_ms));
    }
    let expected = [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]].map(|pair| pair.map(|n| (quick, n)).to_vec());
    connection.handle_input(Instant::from_millis(250), (slow, syn_ack()));
    let first = asked(&mut connection, 250).first().copied();
    first.filter(|(pipe, _)| *pipe == slow && before == expected).map(|(_, segment)| segment)
}

fn judge(_: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    (vec![Finding::values("R2-017", worked_example().into_iter().collect())], Vec::new())
}
