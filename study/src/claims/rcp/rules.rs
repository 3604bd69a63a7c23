//! The rules themselves, played to a receiver.

use crate::claims::Experiment;
use crate::claims::plan::Outcomes;
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use prismux_endpoint::Endpoint;
use prismux_rcp::{PacketIn, RcpConfig, RcpFlags, RcpHeader, RcpOptions, Receiver};
use prismux_units::Instant;
use prismux_wire::{Ecn, SeqNumber};

pub(super) const RULES: Experiment = Experiment {
    id: "R",
    title: "a receiver and its packets, one by one",
    claims: &["RC-007", "RC-018"],
    lab: false,
    jobs: |_| Ok(Vec::new()),
    judge,
};

const SEGMENT_BYTES: u32 = 100;
const TOKEN: u64 = 9;
const SENDER: SeqNumber = SeqNumber(1000);
const RECEIVER: SeqNumber = SeqNumber(1);

fn packet(flags: RcpFlags, number: SeqNumber, payload_bytes: u32) -> PacketIn {
    let syn = flags.contains(RcpFlags::SYN);
    let proof = match syn {
        true => RcpHeader::acknowledging(RECEIVER + 1),
        false => RcpHeader::under(TOKEN, flags),
    };
    let options = match syn {
        true => RcpOptions { token: Some(TOKEN), mss: Some(SEGMENT_BYTES as u16), ..RcpOptions::default() },
        false => RcpOptions::default(),
    };
    let header = RcpHeader { flags, window: u16::MAX, number, proof, options };
    PacketIn { header, payload_bytes, ecn: Ecn::NotEct }
}

/// Segment 4 is lost, its pull is answered; how many requests name it?
fn requests_naming_a_pull() -> f64 {
    let mut config = RcpConfig {
        mss: SEGMENT_BYTES as u16,
        timestamps: false,
        consume_on_arrival: true,
        ..RcpConfig::modern()
    };
    (config.engine.rack, config.engine.tlp) = (false, false);
    config.engine.initial_window_segments = 10;
    let mut receiver = Receiver::connect(config, RECEIVER, Instant::ZERO);
    let place = |segment: u32| SENDER + 1 + segment * SEGMENT_BYTES;
    let mut naming = 0;
    let mut at = |receiver: &mut Receiver, at_ms: u64, packet: Option<PacketIn>| {
        let now = Instant::from_millis(at_ms);
        if let Some(packet) = packet {
            receiver.handle_input(now, packet);
        }
        while let Some(sent) = receiver.poll_transmit(now) {
            let header = &sent.header;
            let pulls = header.flags.contains(RcpFlags::PUL) && header.number == place(4);
            let names = header.options.blocks.as_slice().iter().any(|block| block.start == place(4));
            naming += u32::from(pulls || names);
        }
    };
    at(&mut receiver, 0, None);
    at(&mut receiver, 100, Some(packet(RcpFlags::SYN | RcpFlags::ACK, SENDER, 0)));
    let data = |segment: u32| Some(packet(RcpFlags::NONE, place(segment), SEGMENT_BYTES));
    for segment in (0..14).filter(|&segment| segment != 4) {
        at(&mut receiver, 200 + u64::from(segment), data(segment));
    }
    at(&mut receiver, 310, data(4));
    for segment in 14..24 {
        at(&mut receiver, 300 + u64::from(segment), data(segment));
    }
    f64::from(naming)
}

fn judge(_: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let findings = vec![
        Finding::values("RC-007", vec![requests_naming_a_pull()]),
        Finding::values("RC-018", super::same_sender::changes_for_stp()).because(
            "packets that differ between a sender set up for STP and one for NewReno, answering one \
                receiver with STP",
        ),
    ];
    (findings, Vec::new())
}
