//! The receiver, packet by packet: what arriving data, losses and time make it ask for.
mod support;
use prismux_endpoint::Endpoint;
use prismux_rcp::{PacketIn, PipeState, RcpConfig, RcpEvent, RcpFlags, RcpHeader, RcpOptions, Receiver};
use prismux_units::{ByteCount, Duration, Instant};
use prismux_wire::Ecn;
use support::{RECEIVER_INITIAL, SENDER_INITIAL, TOKEN, plain, show};

struct Bench {
    receiver: Receiver,
    now: Instant,
    /// The sender's limit, as it says in every packet.
    limit: u32,
}

impl Bench {
    /// A receiver whose handshake took 100 ms; its first request is returned.
    fn new(config: RcpConfig, limit: u32) -> (Self, Vec<String>) {
        let receiver = Receiver::connect(config, RECEIVER_INITIAL, Instant::ZERO);
        let mut bench = Self { receiver, now: Instant::ZERO, limit };
        assert_eq!(bench.drain(), ["syn"]);
        bench.now = Instant::from_millis(100);
        let options =
            RcpOptions { token: Some(TOKEN), mss: Some(100), window_scale: Some(0), ..RcpOptions::default() };
        let header = RcpHeader {
            flags: RcpFlags::SYN | RcpFlags::ACK | RcpFlags::ECN,
            window: limit as u16,
            number: SENDER_INITIAL,
            proof: RcpHeader::acknowledging(RECEIVER_INITIAL + 1),
            options,
        };
        let first = bench.take(header, 0, Ecn::NotEct);
        (bench, first)
    }

    fn drain(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.receiver.poll_transmit(self.now)).map(|packet| show(&packet)).collect()
    }

    fn take(&mut self, header: RcpHeader, payload_bytes: u32, ecn: Ecn) -> Vec<String> {
        self.receiver.handle_input(self.now, PacketIn { header, payload_bytes, ecn });
        self.drain()
    }

    fn packet(&mut self, flags: RcpFlags, position: u32, bytes: u32, ecn: Ecn) -> Vec<String> {
        let window = (self.limit - position.min(self.limit)) as u16;
        let number = SENDER_INITIAL + 1 + position;
        let proof = RcpHeader::under(TOKEN, flags);
        self.take(RcpHeader { flags, window, number, proof, options: RcpOptions::default() }, bytes, ecn)
    }

    /// The segment at `position` arrives after another `ms`.
    fn data(&mut self, ms: u64, position: u32) -> Vec<String> {
        self.now += Duration::from_millis(ms);
        self.packet(RcpFlags::NONE, position, 100, Ecn::NotEct)
    }

    fn cwnd(&self) -> u64 {
        self.receiver.pipe().engine().cwnd() / 100
    }

    fn events(&mut self) -> Vec<RcpEvent> {
        std::iter::from_fn(|| self.receiver.poll_event()).collect()
    }

    /// Lets time pass until something leaves.
    fn wait(&mut self) -> (u64, Vec<String>) {
        loop {
            self.now = self.receiver.poll_timeout().expect("a timer runs").at;
            self.receiver.handle_timeout(self.now);
            let sent = self.drain();
            if !sent.is_empty() {
                return (self.now.as_nanos() / 1_000_000, sent);
            }
        }
    }
}

#[test]
fn the_window_limits_what_is_requested_and_grows_with_data() {
    let (mut bench, first) = Bench::new(plain(), 60_000);
    assert_eq!(first, ["req 400 deq 400"], "four segments at once, one request");
    // Slow start: every segment that arrives lets two be asked for.
    assert_eq!(bench.data(100, 0), ["req 600 deq 500"]);
    assert_eq!(bench.data(0, 100), ["req 800 deq 600"]);
    assert_eq!(bench.cwnd(), 6);
}

#[test]
fn the_third_arrival_beyond_a_hole_pulls_it_and_halves_the_window() {
    let (mut bench, _) = Bench::new(plain(), 60_000);
    for position in [0, 100, 200, 300] {
        bench.data(10, position);
    }
    assert_eq!(bench.cwnd(), 8);
    // 400 is missing.
    assert_eq!(bench.data(80, 500), ["req 1300 deq 900"], "limited transmit");
    assert_eq!(bench.data(0, 600), ["req 1400 deq 1000"]);
    assert_eq!(bench.data(0, 700), ["pull 400 deq 0"]);
    assert_eq!(bench.receiver.metrics().engine.ssthresh_bytes, 400);
    assert_eq!(bench.receiver.metrics().engine.counters.fast_recoveries, 1);
}

#[test]
fn every_hole_is_judged_alike_and_the_window_is_cut_once() {
    let mut config = plain();
    config.engine.initial_window_segments = 20;
    let (mut bench, _) = Bench::new(config, 60_000);
    let mut pulls = Vec::new();
    for position in (0..2000).step_by(100).filter(|position| ![200, 500, 900].contains(position)) {
        pulls.extend(bench.data(1, position).into_iter().filter(|sent| sent.starts_with("pull")));
    }
    let holes: Vec<_> = pulls.iter().map(|pull| pull.split(' ').nth(1).unwrap()).collect();
    assert_eq!(holes, ["200", "500", "900"]);
    assert_eq!(bench.receiver.metrics().engine.counters.fast_recoveries, 1);
    assert_eq!(bench.receiver.metrics().engine.counters.timeouts, 0);
}

#[test]
fn a_lost_pull_is_noticed_by_what_was_requested_after_it() {
    let mut config = plain();
    config.engine.initial_window_segments = 10;
    let (mut bench, _) = Bench::new(config, 60_000);
    let mut sent = Vec::new();
    for position in (100..1000).step_by(100) {
        sent.extend(bench.data(1, position));
    }
    assert_eq!(sent.iter().filter(|sent| sent.starts_with("pull 0")).count(), 1);
    // The pulled segment does not come, but three do that were requested after it: no timeout is needed.
    let mut again = Vec::new();
    for position in (1000..1600).step_by(100) {
        again.extend(bench.data(if position == 1000 { 100 } else { 1 }, position));
    }
    assert_eq!(again.iter().filter(|sent| sent.starts_with("pull 0")).count(), 1, "{again:?}");
    assert_eq!(bench.receiver.metrics().engine.counters.timeouts, 0);
}

#[test]
fn one_pull_is_named_in_four_requests_at_least() {
    let (mut bench, _) = Bench::new(plain(), 60_000);
    for position in [0, 100, 200, 300] {
        bench.data(10, position);
    }
    let mut requests = Vec::new();
    for position in [500, 600, 700, 800, 900, 1000, 1100] {
        requests.extend(bench.data(if position == 500 { 80 } else { 0 }, position));
    }
    // The hole is filled at once, yet the pull goes on being named until three later requests have done so.
    requests.extend(bench.data(10, 400));
    for position in (1200..1800).step_by(100) {
        requests.extend(bench.data(0, position));
    }
    let naming = |sent: &&String| sent.starts_with("pull 400") || sent.contains("[400..500]");
    assert!(requests.iter().filter(naming).count() >= 4, "{requests:?}");
    assert!(!requests.last().unwrap().contains("[400"), "and no longer than that: {requests:?}");
}

#[test]
fn a_timeout_does_not_empty_the_buffer() {
    let (mut bench, _) = Bench::new(plain(), 60_000);
    bench.data(100, 100);
    bench.data(0, 300);
    let (_, sent) = bench.wait();
    assert_eq!(sent, ["pull 0 deq 0"]);
    assert_eq!((bench.cwnd(), bench.receiver.metrics().engine.counters.timeouts), (1, 1));
    // 100 and 300 are here: only 200 is asked for again.
    let sent = bench.data(50, 0);
    assert!(sent.iter().any(|sent| sent.starts_with("pull 200")), "{sent:?}");
    assert!(
        !sent.iter().any(|sent| sent.starts_with("pull 100") || sent.starts_with("pull 300")),
        "{sent:?}"
    );
    bench.data(50, 200);
    assert_eq!(bench.receiver.bytes_received_in_order(), 400);
}

#[test]
fn requests_never_pass_the_buffer() {
    let config = RcpConfig { receive_buffer: ByteCount::new(650), consume_on_arrival: false, ..plain() };
    let (mut bench, first) = Bench::new(config, 60_000);
    assert_eq!(first, ["req 400 deq 400"]);
    assert_eq!(bench.data(100, 0), ["req 600 deq 500"]);
    assert_eq!(bench.data(0, 100), [""; 0], "50 bytes are not worth a request");
    for position in [200, 300, 400, 500] {
        bench.data(1, position);
    }
    // With nothing outstanding even a short segment is.
    assert_eq!(bench.receiver.metrics().engine.outstanding_bytes, 50);
    bench.receiver.read(bench.now, 300);
    assert_eq!(bench.drain(), ["req 950 deq 350"]);
}

#[test]
fn at_the_senders_limit_a_segment_stays_requested_and_is_probed_for() {
    let (mut bench, first) = Bench::new(plain(), 150);
    assert_eq!(first, ["req 150 deq 150"]);
    assert_eq!(bench.data(100, 0), [""; 0]);
    bench.now += Duration::from_millis(1);
    // All that exists is here: the standing request is for the segment after.
    assert_eq!(bench.packet(RcpFlags::NONE, 100, 50, Ecn::NotEct), ["req 250 deq 100"]);
    assert_eq!(bench.receiver.poll_timeout().map(|deadline| deadline.why), Some("persist"), "no RTO runs");
    let probes: Vec<_> = (0..4).map(|_| bench.wait()).collect();
    let gaps: Vec<u64> = probes.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    assert!(probes.iter().all(|(_, sent)| sent[0].starts_with("pull 150")), "{probes:?}");
    assert!(gaps.windows(2).all(|pair| pair[1].abs_diff(2 * pair[0]) <= 2), "{gaps:?}");
    assert_eq!(bench.receiver.metrics().engine.counters.timeouts, 0);
    // Data appears, a long time later: taken, not timed, and asked on from there.
    let rto = bench.receiver.metrics().engine.rto;
    bench.limit = 1000;
    bench.now += Duration::from_secs(9);
    assert_eq!(bench.packet(RcpFlags::NONE, 150, 80, Ecn::NotEct), ["req 630 deq 400 [150..250]"]);
    assert_eq!(bench.receiver.bytes_received_in_order(), 230);
    assert_eq!(bench.receiver.metrics().engine.rto, rto);
}

#[test]
fn frozen_it_neither_asks_nor_times_and_then_rebuilds_its_requests_from_the_holes() {
    let mut config = plain();
    config.engine.initial_window_segments = 10;
    let (mut bench, _) = Bench::new(config, 60_000);
    bench.data(100, 0);
    let window = bench.cwnd();
    bench.receiver.freeze(bench.now);
    assert_eq!(bench.receiver.poll_timeout(), None);
    // What is under way may still come, and is taken.
    assert_eq!(bench.data(1, 300), [""; 0]);
    bench.now += Duration::from_secs(30);
    bench.receiver.thaw(bench.now);
    let sent = bench.drain();
    assert_eq!(sent[0], "pull 100 deq 0");
    assert_eq!(sent[1], "pull 200 deq 100 [100..200]");
    assert_eq!(sent[2], "pull 400 deq 300 [200..300] [100..200]");
    assert_eq!(sent[10], "req 1300 deq 1200 [1100..1200] [1000..1100] [900..1000]");
    assert_eq!(sent.len(), 11, "as many as the window allows: {sent:?}");
    assert_eq!(bench.cwnd(), window);
    assert_eq!(bench.receiver.metrics().engine.counters.timeouts, 0);
}

#[test]
fn what_the_link_lost_is_pulled_at_once_and_costs_no_window() {
    let mut config = plain();
    config.engine.initial_window_segments = 10;
    let (mut bench, _) = Bench::new(config, 60_000);
    bench.data(100, 0);
    for hole in [100, 300, 400] {
        bench.receiver.lost_by_link(bench.now, hole..hole + 100);
        let sent = bench.drain();
        assert!(sent[0].starts_with(&format!("pull {hole} ")), "{sent:?}");
    }
    for position in [200, 500, 600, 700, 800] {
        bench.data(1, position);
    }
    let engine = bench.receiver.metrics().engine;
    assert_eq!((engine.counters.fast_recoveries, engine.counters.retransmitted_segments), (0, 0));
    assert!(bench.cwnd() > 10);
    assert_eq!(bench.receiver.metrics().pipe.link_losses, 3);
}

#[test]
fn a_congestion_mark_halves_the_window_where_it_is_seen() {
    let mut config = plain();
    config.ecn = true;
    config.engine.initial_window_segments = 10;
    let (mut bench, _) = Bench::new(config, 60_000);
    bench.data(100, 0);
    bench.packet(RcpFlags::NONE, 100, 100, Ecn::Ce);
    bench.packet(RcpFlags::NONE, 200, 100, Ecn::Ce);
    let engine = bench.receiver.metrics().engine;
    assert_eq!(engine.counters.ecn_reductions, 1, "once per window");
    assert_eq!(engine.ssthresh_bytes, 550);
}

#[test]
fn the_end_settles_what_was_asked_for_beyond_it() {
    let (mut bench, _) = Bench::new(plain(), 60_000);
    bench.data(100, 0);
    let sent = bench.packet(RcpFlags::FIN, 100, 30, Ecn::NotEct);
    assert_eq!(sent, ["goodbye"], "nothing is outstanding although 600 was asked for");
    assert!(bench.events().ends_with(&[RcpEvent::Readable { up_to: 130 }, RcpEvent::Complete]));
    assert_eq!(bench.receiver.metrics().state, PipeState::Closing);
    let (_, sent) = bench.wait();
    assert_eq!(sent, ["goodbye"], "until it is answered");
    bench.packet(RcpFlags::FIN | RcpFlags::ACK, 131, 0, Ecn::NotEct);
    assert!(bench.events().contains(&RcpEvent::Closed));
    assert_eq!(bench.receiver.poll_timeout(), None);
}

#[test]
fn what_nobody_asked_for_and_what_contradicts_the_end_is_refused() {
    let (mut bench, _) = Bench::new(plain(), 60_000);
    bench.data(100, 50_000);
    assert_eq!(bench.receiver.metrics().unrequested, 1);
    bench.packet(RcpFlags::FIN, 200, 50, Ecn::NotEct);
    // Another end, and data beyond the end.
    bench.packet(RcpFlags::FIN, 100, 50, Ecn::NotEct);
    bench.data(0, 300);
    assert_eq!(bench.receiver.metrics().unrequested, 3);
    // Without the token.
    let header = RcpHeader { number: SENDER_INITIAL + 1, proof: 1 << 40, ..RcpHeader::default() };
    bench.take(header, 100, Ecn::NotEct);
    assert_eq!(bench.receiver.metrics().pipe.forged, 1);
    assert_eq!(bench.receiver.bytes_received_in_order(), 0);
}

#[test]
fn an_unanswered_syn_is_repeated_with_growing_distance_and_given_up() {
    let config = RcpConfig { open_retries: 3, ..plain() };
    let mut receiver = Receiver::connect(config, RECEIVER_INITIAL, Instant::ZERO);
    let mut times = Vec::new();
    let mut now = Instant::ZERO;
    loop {
        if receiver.poll_transmit(now).is_some() {
            times.push(now.as_nanos() / 1_000_000_000);
        }
        let Some(deadline) = receiver.poll_timeout() else { break };
        now = deadline.at;
        receiver.handle_timeout(now);
    }
    assert_eq!(times, [0, 1, 3, 7]);
    let events: Vec<_> = std::iter::from_fn(|| receiver.poll_event()).collect();
    assert_eq!(events, [RcpEvent::TimedOut, RcpEvent::Closed]);
}

#[test]
fn stp_asks_for_a_third_of_the_window_or_of_the_round_trip_at_once_and_for_what_is_missing_alone() {
    let mut config = plain();
    config.engine.congestion = prismux_tcp::engine::CongestionKind::Stp;
    config.engine.initial_window_segments = 20;
    let (mut bench, first) = Bench::new(config, 60_000);
    assert_eq!(first, ["req 2000 deq 2000"]);
    // The round trip takes 100 ms; slow start by bytes.
    assert_eq!(bench.data(100, 0), ["req 2200 deq 2100"], "a third of it has passed");
    for position in [100, 200, 300] {
        assert_eq!(bench.data(1, position), [""; 0]);
    }
    assert_eq!(bench.data(1, 400), ["req 3000 deq 2500"], "8 of 25 segments are free");
    assert_eq!(bench.data(1, 500), [""; 0]);
    assert_eq!(bench.wait(), (237, vec!["req 3200 deq 2600".to_string()]), "a third of the round trip later");
    assert_eq!(bench.data(1, 700), ["pull 600 deq 0"], "the first arrival above a gap tells");
    assert_eq!(bench.cwnd(), 13, "half of 26");
    assert_eq!(bench.receiver.metrics().engine.counters.timeouts, 0);
}
