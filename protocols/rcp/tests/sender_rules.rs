//! The sender, packet by packet: what each request makes it send.
mod support;
use prismux_endpoint::Endpoint;
use prismux_rcp::header::{RequestBlock, RequestBlocks};
use prismux_rcp::{PacketIn, RcpConfig, RcpEvent, RcpFlags, RcpHeader, RcpOptions, Sender, SenderState};
use prismux_units::{ByteCount, Duration, Instant, Rate};
use prismux_wire::{Ecn, SeqNumber};
use support::{RECEIVER_INITIAL, SENDER_INITIAL, TOKEN, plain, show};

fn packet(flags: RcpFlags, position: u32, distance: u16, blocks: &[(u32, u32)]) -> PacketIn {
    let number = |position: u32| SENDER_INITIAL + 1 + position;
    let mut named = RequestBlocks::default();
    for &(start, end) in blocks {
        named.push(RequestBlock { start: number(start), end: number(end) });
    }
    let header = RcpHeader {
        flags,
        window: distance,
        number: number(position),
        proof: RcpHeader::under(TOKEN, flags),
        options: RcpOptions { blocks: named, ..RcpOptions::default() },
    };
    PacketIn { header, payload_bytes: 0, ecn: Ecn::NotEct }
}

fn syn() -> RcpHeader {
    let options = RcpOptions { token: Some(0), mss: Some(100), ..RcpOptions::default() };
    RcpHeader { flags: RcpFlags::SYN, number: RECEIVER_INITIAL, options, ..RcpHeader::default() }
}

struct Bench {
    sender: Sender,
    now: Instant,
}

impl Bench {
    /// A sender that has answered SYN and has `bytes` to send, the whole stream if `finished`.
    fn new(config: RcpConfig, bytes: u64, finished: bool) -> Self {
        let now = Instant::ZERO;
        let mut bench = Self { sender: Sender::accept(config, &syn(), SENDER_INITIAL, TOKEN, now), now };
        bench.sender.write(now, bytes);
        if finished {
            bench.sender.finish(now);
        }
        assert_eq!(bench.drain(), ["syn-ack"]);
        bench
    }

    fn drain(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.sender.poll_transmit(self.now)).map(|packet| show(&packet)).collect()
    }

    fn take(&mut self, packet: PacketIn) -> Vec<String> {
        self.sender.handle_input(self.now, packet);
        self.drain()
    }

    fn req(&mut self, position: u32, blocks: &[(u32, u32)]) -> Vec<String> {
        self.take(packet(RcpFlags::REQ, position, position as u16, blocks))
    }

    fn pull(&mut self, position: u32, blocks: &[(u32, u32)]) -> Vec<String> {
        self.take(packet(RcpFlags::REQ | RcpFlags::PUL, position, position as u16, blocks))
    }

    fn events(&mut self) -> Vec<RcpEvent> {
        std::iter::from_fn(|| self.sender.poll_event()).collect()
    }
}

#[test]
fn a_cumulative_request_brings_everything_not_yet_sent() {
    let mut bench = Bench::new(plain(), 5000, true);
    assert_eq!(bench.req(300, &[]), ["data 0..100", "data 100..200", "data 200..300"]);
    assert_eq!(bench.req(400, &[]), ["data 300..400"]);
    // The request for 500 is lost: the next covers it. One that comes late brings nothing.
    assert_eq!(bench.req(600, &[]), ["data 400..500", "data 500..600"]);
    assert_eq!(bench.req(500, &[]), [""; 0]);
}

#[test]
fn a_pull_brings_exactly_one_segment() {
    let mut bench = Bench::new(plain(), 5000, true);
    bench.req(400, &[]);
    assert_eq!(bench.pull(100, &[]), ["data 100..200"]);
    assert_eq!(bench.sender.metrics().repeated_bytes, 100);
    // Beyond what was sent it may come first; the cumulative request then does not bring it again.
    assert_eq!(bench.pull(400, &[]), ["data 400..500"]);
    assert_eq!(bench.req(600, &[]), ["data 500..600"]);
}

#[test]
fn a_lost_pull_is_served_by_the_blocks_of_a_later_request_once() {
    let mut bench = Bench::new(plain(), 5000, true);
    bench.req(400, &[]);
    assert_eq!(bench.req(500, &[(100, 200)]), ["data 100..200", "data 400..500"]);
    assert_eq!(bench.req(600, &[(100, 200)]), ["data 500..600"]);
    assert_eq!((bench.sender.metrics().pulls, bench.sender.metrics().recovered_pulls), (0, 1));
}

#[test]
fn a_pull_that_arrived_is_not_served_again_by_blocks() {
    let mut bench = Bench::new(plain(), 5000, true);
    bench.req(400, &[]);
    assert_eq!(bench.pull(100, &[]), ["data 100..200"]);
    for position in [500, 600, 700] {
        assert_eq!(bench.req(position, &[(100, 200)]).len(), 1, "only the new segment");
    }
}

#[test]
fn a_train_of_pulls_that_name_each_other_is_answered_once_each() {
    let mut bench = Bench::new(plain(), 5000, true);
    for start in (0..2000).step_by(100) {
        let named: Vec<(u32, u32)> =
            (1..=3).filter_map(|back| Some((u32::checked_sub(start, back * 100)?, start))).collect();
        assert_eq!(bench.pull(start, &named), [format!("data {start}..{}", start + 100)]);
    }
}

/// The pull of segment `index` (of 100 bytes), naming the three before it, newest first.
fn pull_in_train(bench: &mut Bench, index: u32) -> Vec<String> {
    let named: Vec<(u32, u32)> =
        (1..=3.min(index)).map(|back| 100 * (index - back)).map(|at| (at, at + 100)).collect();
    bench.pull(100 * index, &named)
}

#[test]
fn a_pull_served_late_does_not_make_every_later_one_be_served_again() {
    // Requests 5, 6 and 7 are lost, so 8 has all three served; or 5 comes after 8.
    for order in [vec![0, 1, 2, 3, 4, 8], vec![0, 1, 2, 3, 4, 6, 7, 8, 5]] {
        let mut bench = Bench::new(plain(), 5000, true);
        for &index in &order {
            pull_in_train(&mut bench, index);
        }
        // What overtook may cost one more round of needless answers.
        pull_in_train(&mut bench, 9);
        for index in 10..30 {
            assert_eq!(pull_in_train(&mut bench, index).len(), 1, "{order:?}: {index}");
        }
    }
}

#[test]
fn the_ring_must_be_as_deep_as_requests_overtake_each_other() {
    for (depth, needless) in [(3, 1), (16, 0)] {
        let mut bench = Bench::new(RcpConfig { answer_ring: depth, ..plain() }, 5000, true);
        bench.req(1000, &[]);
        for start in [100, 300, 500, 700] {
            bench.pull(start, &[]);
        }
        // Sent after the first pull, overtaken by the other three.
        assert_eq!(bench.req(1000, &[(100, 200)]).len(), needless, "ring of {depth}");
    }
}

#[test]
fn the_distance_purges_what_has_arrived_in_order() {
    let mut bench = Bench::new(plain(), 5000, true);
    bench.req(500, &[]);
    bench.events();
    bench.take(packet(RcpFlags::REQ, 700, 400, &[]));
    assert_eq!(bench.events(), [RcpEvent::Purged { up_to: 300 }]);
    // A pull at the first missing byte has distance zero. What is purged cannot be asked for.
    assert_eq!(bench.take(packet(RcpFlags::REQ | RcpFlags::PUL, 400, 0, &[])), ["data 400..500"]);
    assert_eq!(bench.events(), [RcpEvent::Purged { up_to: 400 }]);
    assert_eq!(bench.take(packet(RcpFlags::REQ | RcpFlags::PUL, 200, 0, &[])), [""; 0]);
    assert_eq!(bench.sender.metrics().drops.below_purge, 1);
}

#[test]
fn an_answer_that_must_wait_for_data_is_given_when_data_appears() {
    let mut bench = Bench::new(plain(), 250, false);
    assert_eq!(bench.req(100, &[]), ["data 0..100"]);
    // All there is, and news of the limit: no more can be asked for at present.
    assert_eq!(bench.req(350, &[]), ["data 100..200", "data 200..250"]);
    assert_eq!(bench.req(350, &[]), ["limit 250"]);
    bench.sender.write(bench.now, 30);
    assert_eq!(bench.drain(), ["data 250..280"]);
    bench.sender.write(bench.now, 500);
    assert_eq!(bench.drain(), ["data 280..350"]);
    // Nobody waits now: the receiver is told.
    bench.sender.write(bench.now, 100);
    assert_eq!(bench.drain(), ["limit 880"]);
}

#[test]
fn a_pull_of_data_that_does_not_exist_yet_waits_too() {
    let mut bench = Bench::new(plain(), 100, false);
    bench.req(100, &[]);
    assert_eq!(bench.pull(100, &[]), [""; 0]);
    bench.sender.write(bench.now, 60);
    assert_eq!(bench.drain(), ["data 100..160"]);
}

#[test]
fn the_end_comes_with_the_last_data_and_whenever_it_is_asked_for() {
    let mut bench = Bench::new(plain(), 250, true);
    assert_eq!(bench.req(900, &[]), ["data 0..100", "data 100..200", "data 200..250 fin"]);
    assert_eq!(bench.pull(250, &[]), ["data 250..250 fin"]);
    assert_eq!(bench.pull(200, &[]), ["data 200..250 fin"]);
    let mut late = Bench::new(plain(), 100, false);
    assert_eq!(late.req(200, &[]), ["data 0..100"]);
    late.sender.finish(late.now);
    assert_eq!(late.drain(), ["data 100..100 fin"]);
}

#[test]
fn nothing_leaves_without_the_token() {
    let mut bench = Bench::new(plain(), 5000, true);
    for proof in [0, TOKEN ^ 1, TOKEN ^ 1 << 63] {
        for flags in [RcpFlags::REQ, RcpFlags::REQ | RcpFlags::RST, RcpFlags::REQ | RcpFlags::FIN] {
            let mut forged = packet(flags, 1000, 0, &[]);
            forged.header.proof = proof;
            assert_eq!(bench.take(forged), [""; 0]);
        }
    }
    assert_eq!(bench.sender.metrics().drops.forged, 9);
    assert_eq!(bench.sender.state(), SenderState::SynReceived);
}

#[test]
fn the_answer_to_a_syn_is_not_longer_than_the_syn() {
    // Otherwise anybody could have victims flooded by writing their address on SYNs.
    use prismux_rcp::Receiver;
    let config = RcpConfig::modern();
    let syn = Receiver::connect(config.clone(), SeqNumber(1), Instant::ZERO).poll_transmit(Instant::ZERO);
    let syn = syn.expect("it opens").header;
    let mut sender = Sender::accept(config, &syn, SENDER_INITIAL, TOKEN, Instant::ZERO);
    let answer = sender.poll_transmit(Instant::ZERO).expect("it answers").header;
    assert!(answer.wire_bytes() <= syn.wire_bytes());
}

#[test]
fn one_request_brings_no_more_than_the_limit() {
    let config = RcpConfig { request_limit: ByteCount::new(500), ..plain() };
    let mut bench = Bench::new(config, 50_000, true);
    assert_eq!(bench.req(40_000, &[]).len(), 6, "five segments and the standing request's one");
    assert_eq!(bench.sender.metrics().drops.beyond_limit, 1);
    assert_eq!(bench.req(40_000, &[]), [""; 0]);
}

#[test]
fn pulls_that_pile_up_are_bounded_and_each_segment_waits_once() {
    let config = RcpConfig { rate_cap: Some(Rate::from_bps(8)), ..plain() };
    let mut bench = Bench::new(RcpConfig { rate_burst: ByteCount::new(1), ..config }, 50_000, true);
    for round in 0..3 {
        for start in (0..20_000).step_by(100) {
            bench.pull(start, &[(start, start + 100)]);
        }
        assert!(bench.sender.metrics().drops.crowded > 100 * round);
    }
    assert!(bench.sender.metrics().pulls + bench.sender.metrics().recovered_pulls <= 66);
}

#[test]
fn the_rate_cap_spreads_answers() {
    let config = RcpConfig {
        rate_cap: Some(Rate::from_bps(112 * 8 * 10)),
        rate_burst: ByteCount::new(112),
        ..plain()
    };
    let mut bench = Bench::new(config, 5000, true);
    // A hundred bytes and 12 of header, ten times a second: the burst allows two at once.
    assert_eq!(bench.req(500, &[]), ["data 0..100", "data 100..200"]);
    let mut times = Vec::new();
    while bench.sender.metrics().data_packets < 5 {
        let deadline = bench.sender.poll_timeout().expect("answers wait");
        assert_eq!(deadline.why, "rate-cap");
        bench.now = deadline.at;
        bench.sender.handle_timeout(bench.now);
        times.push((bench.now.as_nanos() / 1_000_000, bench.drain().len()));
    }
    assert_eq!(times, [(100, 1), (200, 1), (300, 1)]);
}

#[test]
fn goodbye_is_answered_as_often_as_it_is_said() {
    let mut bench = Bench::new(plain(), 100, true);
    bench.req(200, &[]);
    let goodbye = packet(RcpFlags::REQ | RcpFlags::FIN, 101, 0, &[]);
    assert_eq!(bench.take(goodbye), ["goodbye too"]);
    assert!(bench.events().ends_with(&[RcpEvent::Purged { up_to: 100 }, RcpEvent::Closed]));
    assert_eq!(bench.take(goodbye), ["goodbye too"]);
    // Requests that were under way find nobody.
    assert_eq!(bench.req(200, &[]), ["reset"]);
    assert_eq!(bench.sender.poll_timeout(), None, "nothing to wait for");
}

#[test]
fn a_vanished_receiver_is_given_up_and_nothing_else_is_timed() {
    let mut bench = Bench::new(plain(), 5000, true);
    bench.req(300, &[]);
    let deadline = bench.sender.poll_timeout().expect("one timer");
    assert_eq!((deadline.at, deadline.why), (Instant::from_secs(60), "keep-alive"));
    bench.now = Instant::from_secs(50);
    bench.req(400, &[]);
    bench.sender.handle_timeout(Instant::from_secs(60));
    assert_eq!(bench.sender.state(), SenderState::Established);
    bench.sender.handle_timeout(bench.now + Duration::from_secs(60));
    assert!(bench.events().contains(&RcpEvent::TimedOut));
    assert_eq!(bench.sender.state(), SenderState::Closed);
}

#[test]
fn a_repeated_syn_is_answered_again() {
    let mut bench = Bench::new(plain(), 100, true);
    let again = PacketIn { header: syn(), payload_bytes: 0, ecn: Ecn::NotEct };
    assert_eq!(bench.take(again), ["syn-ack"]);
    bench.req(100, &[]);
    assert_eq!(bench.take(again), [""; 0], "it was under way for long");
    assert_eq!(bench.sender.state(), SenderState::Established);
}
