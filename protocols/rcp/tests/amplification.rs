//! What a sender can be made to send to somebody who did not ask.
mod support;
use prismux_endpoint::Endpoint;
use prismux_rcp::header::{RequestBlock, RequestBlocks};
use prismux_rcp::{PacketIn, RcpConfig, RcpFlags, RcpHeader, RcpOptions, Receiver, Sender};
use prismux_units::{ByteCount, Instant, Rate};
use prismux_wire::{Ecn, SeqNumber};
use support::{SENDER_INITIAL, TOKEN, plain};

#[test]
fn the_answer_to_a_syn_is_not_longer_than_the_syn() {
    // Otherwise anybody could have victims flooded by writing their address on SYNs.
    let config = RcpConfig::modern();
    let syn = Receiver::connect(config.clone(), SeqNumber(1), Instant::ZERO).poll_transmit(Instant::ZERO);
    let syn = syn.expect("it opens").header;
    let mut sender = Sender::accept(config, &syn, SENDER_INITIAL, TOKEN, Instant::ZERO);
    let answer = sender.poll_transmit(Instant::ZERO).expect("it answers").header;
    assert!(answer.wire_bytes() <= syn.wire_bytes());
}

#[test]
fn pulls_that_pile_up_behind_a_rate_cap_are_bounded() {
    let (rate_cap, rate_burst) = (Some(Rate::from_bps(8)), ByteCount::new(1));
    let config = RcpConfig { rate_cap, rate_burst, ..plain() };
    let syn = RcpHeader { flags: RcpFlags::SYN, number: SeqNumber(7), ..RcpHeader::default() };
    let mut sender = Sender::accept(config, &syn, SENDER_INITIAL, TOKEN, Instant::ZERO);
    sender.write(50_000);
    for start in (0..20_000).step_by(100) {
        let mut blocks = RequestBlocks::default();
        let number = SENDER_INITIAL + 1 + start;
        blocks.push(RequestBlock { start: number, end: number + 100 });
        let flags = RcpFlags::REQ | RcpFlags::PUL;
        let options = RcpOptions { blocks, ..RcpOptions::default() };
        let (window, proof) = (start as u16, RcpHeader::under(TOKEN, flags));
        let header = RcpHeader { flags, number, window, proof, options };
        sender.handle_input(Instant::ZERO, PacketIn { header, payload_bytes: 0, ecn: Ecn::NotEct });
    }
    let metrics = sender.metrics();
    assert!(metrics.pulls + metrics.recovered_pulls <= 66, "{metrics:?}");
    assert!(metrics.drops.crowded > 100, "{metrics:?}");
}
