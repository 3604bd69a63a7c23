//! TCP-HO rule by rule, packet by packet.
mod stage;

use prismux_endpoint::Endpoint;
use prismux_tcp::engine::{CongestionKind, EngineConfig};
use prismux_tcp::{Connection, SegmentIn, TcpConfig, TcpProfile};
use prismux_tcp_ho::{HandoffConfig, HandoffHost, RttChoice};
use prismux_units::{Duration, Instant, Rate};
use prismux_wire::{Ecn, SeqNumber, TcpFlags, TcpHeader};
use stage::{SEGMENT, Say, Stage, is_duplicate_ack};

/// A sender of the era: NewReno with SACK, no undo, no probes, window of ten segments.
fn era() -> TcpConfig {
    let mut config = TcpConfig::modern();
    config.engine = EngineConfig {
        initial_window_segments: 10,
        congestion: CongestionKind::NewReno,
        max_rto: Duration::from_secs(64),
        initial_rto: Duration::from_secs(1),
        ..EngineConfig::linux24()
    };
    config
}

/// Ten segments out, one round trip of 100 ms known, then ten seconds without an answer.
fn after_silence(config: TcpConfig) -> Stage {
    let mut stage = Stage::new(config);
    start_and_fall_silent(&mut stage);
    stage
}

fn start_and_fall_silent(stage: &mut Stage) {
    assert!(!stage.write(400_000).is_empty());
    stage.pass_ms(100);
    stage.ack(2 * SEGMENT);
    stage.silence_ms(10_000);
}

#[test]
fn the_host_tells_of_a_handoff_with_two_duplicate_acks() {
    let start = Instant::from_millis(500);
    let mut host = HandoffHost::new(&HandoffConfig::default());
    assert_eq!(host.deadline(), None);
    assert_eq!(host.poll_notice(start), None);
    host.handoff_complete(start, Some(Rate::from_kbps(384)));
    let mut told = Vec::new();
    while let Some(deadline) = host.deadline() {
        let notice = host.poll_notice(deadline.at).expect("what the deadline promised");
        assert_eq!(host.poll_notice(deadline.at), None, "one at each instant");
        told.push(((deadline.at - start).as_millis(), notice.bandwidth_kbps));
    }
    assert_eq!(told, [(0, 384), (10, 384)]);
}

#[test]
fn a_second_handoff_replaces_the_notices_of_the_first() {
    let start = Instant::from_millis(500);
    let mut host = HandoffHost::new(&HandoffConfig::default());
    host.handoff_complete(start, Some(Rate::from_kbps(384)));
    host.poll_notice(start);
    host.handoff_complete(start + Duration::from_millis(3), None);
    let mut told = Vec::new();
    while let Some(deadline) = host.deadline() {
        told.extend(host.poll_notice(deadline.at).map(|notice| notice.bandwidth_kbps));
    }
    assert_eq!(told, [0, 0]);
    host.handoff_complete(start, None);
    host.link_lost();
    assert_eq!(host.poll_notice(start), None);
}

#[test]
fn a_notice_travels_on_a_true_duplicate_of_the_last_ack_and_fits_beside_everything() {
    let now = Instant::from_millis(9);
    let syn = TcpHeader { seq: SeqNumber(7), flags: TcpFlags::SYN, window: 9000, ..TcpHeader::default() };
    let mut syn = syn;
    syn.options.timestamps = Some(prismux_wire::Timestamps { value: 5, echo: 0 });
    syn.options.sack_permitted = true;
    let mut host = Connection::accept(TcpConfig::modern(), &syn, SeqNumber(100), now);
    host.poll_transmit(now).expect("SYN-ACK");
    let data = |offset: u32, payload_bytes: u32| {
        let mut header = TcpHeader { flags: TcpFlags::ACK, window: 9000, ..TcpHeader::default() };
        (header.seq, header.ack) = (SeqNumber(8 + offset), SeqNumber(101));
        header.options.timestamps = Some(prismux_wire::Timestamps { value: 6, echo: 1 });
        SegmentIn { header, payload_bytes, ecn: Ecn::NotEct }
    };
    let mut last = None;
    // Holes everywhere: the ACK carries as many SACK blocks as there is room for.
    for (offset, bytes) in [(0, 0), (0, 500), (1000, 500), (2000, 500), (3000, 500)] {
        host.handle_input(now, data(offset, bytes));
        while let Some(out) = host.poll_transmit(now) {
            last = Some(out);
        }
        while host.poll_event().is_some() {}
    }
    let last = last.expect("an ACK");
    assert_eq!(last.header.options.sack.as_slice().len(), 3);
    for _ in 0..2 {
        assert!(host.announce_handoff(prismux_tcp_ho::notice_of(Some(Rate::from_mbps(5)))));
        let notice = host.poll_transmit(now).expect("the notice");
        assert!(is_duplicate_ack(&last, &notice), "{last:?} {notice:?}");
        assert_eq!(notice.header.options.handoff.expect("the option").bandwidth_kbps, 5000);
        assert!(notice.header.options.fits());
        assert_eq!(notice.header.options.sack.as_slice().len(), 2);
    }
}

#[test]
fn a_connection_on_which_nothing_may_arrive_says_nothing() {
    let now = Instant::from_millis(9);
    let mut opening = Connection::connect(TcpConfig::modern(), 1, 2, SeqNumber(5), now);
    opening.poll_transmit(now).expect("SYN");
    assert!(!opening.announce_handoff(prismux_tcp_ho::notice_of(None)));
    assert_eq!(opening.poll_transmit(now), None);
}

#[test]
fn on_a_notice_the_server_transmits_at_once_instead_of_waiting_for_its_timeout() {
    for profile in [TcpProfile::Modern, TcpProfile::Linux24, TcpProfile::Ns2_2002] {
        let mut stage = after_silence(profile.config());
        let timeout = stage.connection.poll_timeout().expect("a timer").at;
        assert!(timeout > stage.now, "{profile:?}: it would have waited");
        let sent = stage.notice(2 * SEGMENT, 5000);
        assert_eq!(sent.first(), Some(&(u64::from(2 * SEGMENT), SEGMENT)), "{profile:?}");
        assert_eq!(stage.counters().handoffs, 1, "{profile:?}");
    }
}

#[test]
fn two_notices_mean_nothing_to_a_server_that_does_not_know_them() {
    for profile in [TcpProfile::Modern, TcpProfile::Linux24, TcpProfile::Ns2_2002] {
        let mut stage = Stage::plain(profile.config());
        stage.write(400_000);
        stage.pass_ms(100);
        stage.ack(2 * SEGMENT);
        let before = stage.connection.metrics().engine;
        stage.notice(2 * SEGMENT, 5000);
        stage.pass_ms(10);
        stage.notice(2 * SEGMENT, 5000);
        let after = stage.connection.metrics().engine;
        assert_eq!(after.counters.retransmitted_segments, 0, "{profile:?}");
        assert_eq!(
            (after.cwnd_bytes, after.ssthresh_bytes),
            (before.cwnd_bytes, before.ssthresh_bytes),
            "{profile:?}"
        );
    }
}

#[test]
fn the_back_off_is_forgotten_and_the_timeout_is_a_second_at_least() {
    let mut stage = after_silence(era());
    assert!(stage.rto() > Duration::from_secs(5), "{}", stage.rto());
    stage.notice(2 * SEGMENT, 5000);
    assert_eq!(stage.rto(), Duration::from_secs(1));
    assert_eq!(stage.connection.metrics().engine.srtt, None);
}

#[test]
fn the_provisional_threshold_is_the_told_bandwidth_times_the_old_round_trip() {
    let mut stage = after_silence(era());
    // 4 Mbit/s x 100 ms = 50 kB.
    stage.notice(2 * SEGMENT, 4000);
    assert_eq!(stage.threshold(), 50_000);
    assert_eq!(stage.connection.engine().cwnd(), 10_000);
    // 80 kbit/s x 100 ms = one segment: two are the least, and no burst beyond it.
    let mut stage = after_silence(era());
    stage.notice(2 * SEGMENT, 80);
    assert_eq!((stage.threshold(), stage.connection.engine().cwnd()), (2000, 2000));
}

/// After a notice, until everything that was outstanding is repaired; new data has been sent by then.
fn repaired(stage: &mut Stage, kbps: u32) -> (u32, u32) {
    let outstanding = stage.connection.metrics().engine.outstanding_bytes as u32;
    let una = stage.connection.stream_acked() as u32;
    stage.notice(una, kbps);
    let old_end = una + outstanding;
    let mut acked = una;
    while acked < old_end {
        stage.pass_ms(50);
        acked += SEGMENT;
        stage.ack(acked);
    }
    (acked, stage.connection.metrics().engine.outstanding_bytes as u32)
}

#[test]
fn four_samples_set_the_threshold_and_no_more() {
    let mut stage = after_silence(era());
    let (mut acked, outstanding) = repaired(&mut stage, 4000);
    assert!(outstanding >= 8 * SEGMENT, "{outstanding} bytes of new data out");
    // Karn: what was sent twice, first on the old path, gave no sample.
    assert_eq!(stage.counters().samples, 0);
    let mut thresholds = Vec::new();
    for _ in 0..7 {
        stage.pass_ms(40);
        acked += SEGMENT;
        stage.ack(acked);
        thresholds.push((stage.counters().samples, stage.threshold()));
    }
    let counted: Vec<u32> = thresholds.iter().map(|(samples, _)| *samples as u32).collect();
    assert_eq!(counted, [1, 2, 3, 4, 4, 4, 4]);
    assert!(!stage.server().is_in_handoff());
    assert_eq!((stage.counters().settled, stage.counters().congested), (1, 0));
    let last = thresholds[3].1;
    assert!(thresholds[3..].iter().all(|(_, threshold)| *threshold == last), "{thresholds:?}");
}

#[test]
fn the_least_of_the_new_samples_counts_unless_told_otherwise() {
    for (choice, expected_ms) in [(RttChoice::Least, 60), (RttChoice::Last, 300)] {
        let handoff = HandoffConfig { rtt: choice, ..HandoffConfig::default() };
        let mut stage = Stage::with(era(), handoff);
        start_and_fall_silent(&mut stage);
        // Everything old arrives with the notice, so that the rest is timed from its sending.
        let old_end = stage.connection.metrics().engine.outstanding_bytes as u32 + 2 * SEGMENT;
        stage.notice(old_end, 4000);
        let mut acked = old_end;
        for wait_ms in [60, 20, 20, 200] {
            stage.pass_ms(wait_ms);
            acked += SEGMENT;
            stage.ack(acked);
        }
        assert_eq!(stage.counters().settled, 1);
        let expected = Rate::from_kbps(4000).bytes_in(Duration::from_millis(expected_ms)).as_u64();
        assert_eq!(stage.threshold(), expected, "{choice:?}");
    }
}

#[test]
fn a_timeout_ends_the_handoff_with_an_ordinary_response() {
    let mut stage = after_silence(era());
    stage.notice(2 * SEGMENT, 4000);
    assert_eq!(stage.silence_ms(1001), 1, "the timeout's retransmission");
    stage.ack(3 * SEGMENT);
    assert_eq!(stage.counters().congested, 1);
    assert!(!stage.server().is_in_handoff());
    assert_eq!(stage.threshold(), 5000, "half of the window of ten segments");
}

#[test]
fn a_loss_of_what_was_sent_after_the_event_ends_the_handoff_with_an_ordinary_response() {
    for config in [era(), TcpConfig::modern()] {
        let mut stage = after_silence(config);
        let (acked, _) = repaired(&mut stage, 4000);
        let before = stage.connection.engine().cwnd();
        // The first new segment is missing, those after it arrive.
        for above in 1..6 {
            stage.pass_ms(10);
            let sack = Some((acked + SEGMENT, acked + SEGMENT * (above + 1)));
            stage.hear(Say { ack: acked, sack, ..Say::default() });
        }
        stage.pass_ms(60);
        stage.silence_ms(100);
        let after = stage.connection.metrics().engine;
        assert_eq!(stage.counters().congested, 1);
        assert!(after.ssthresh_bytes < before, "{} of {before}", after.ssthresh_bytes);
        assert!(after.counters.fast_recoveries > 0);
    }
}

#[test]
fn an_ecn_echo_ends_the_handoff_even_while_the_old_flight_is_repaired() {
    let mut config = era();
    config.ecn = true;
    let mut stage = after_silence(config);
    stage.notice(2 * SEGMENT, 4000);
    stage.pass_ms(50);
    stage.hear(Say { ack: 3 * SEGMENT, ecn_echo: true, ..Say::default() });
    assert_eq!((stage.counters().congested, stage.server().is_in_handoff()), (1, false));
    assert!(stage.threshold() < 10_000, "half of a window of ten: {}", stage.threshold());
}

#[test]
fn the_spare_notice_is_recognised_also_when_its_ack_has_advanced() {
    let mut stage = after_silence(era());
    stage.notice(2 * SEGMENT, 5000);
    let sent = stage.connection.metrics().engine.counters.segments_sent;
    stage.pass_ms(10);
    assert_eq!(stage.notice(2 * SEGMENT, 5000), []);
    // Something of the old flight had arrived after all.
    stage.notice(3 * SEGMENT, 5000);
    assert_eq!((stage.counters().handoffs, stage.counters().twins), (1, 2));
    let again = stage.connection.metrics().engine.counters.segments_sent - sent;
    assert!(again <= 2, "{again} segments for one acknowledged");
}

#[test]
fn another_handoff_within_the_first_starts_over() {
    let mut stage = after_silence(era());
    stage.notice(2 * SEGMENT, 5000);
    stage.pass_ms(400);
    let sent = stage.notice(2 * SEGMENT, 384);
    assert_eq!(sent.first(), Some(&(u64::from(2 * SEGMENT), SEGMENT)));
    assert_eq!(stage.counters().handoffs, 2);
    assert_eq!(stage.threshold(), 4800, "384 kbit/s x 100 ms");
}

#[test]
fn strange_notices_are_counted_and_ignored() {
    let mut stage = after_silence(era());
    // Below what is acknowledged: overtaken by a later segment.
    assert_eq!(stage.notice(SEGMENT, 5000), []);
    assert_eq!(stage.counters().stale, 1);
    // Four terabits: the handoff is believed, the number is not.
    let threshold = stage.threshold();
    assert!(!stage.notice(2 * SEGMENT, u32::MAX).is_empty());
    assert_eq!((stage.counters().implausible, stage.counters().handoffs), (1, 1));
    assert_eq!(stage.threshold(), threshold);
    // Handoffs cannot follow one another within milliseconds.
    for kbps in 1..100 {
        stage.pass_ms(1);
        assert_eq!(stage.notice(2 * SEGMENT, kbps), []);
    }
    assert_eq!((stage.counters().too_soon, stage.counters().handoffs), (99, 1));
    // Acknowledging what was never sent.
    stage.notice(u32::MAX / 4, 5000);
    assert_eq!(stage.counters().handoffs, 1);
    assert!(stage.connection.metrics().drops.bad_ack > 0);
}

#[test]
fn without_a_bandwidth_the_server_transmits_at_once_and_keeps_its_threshold() {
    let mut stage = after_silence(era());
    let threshold = stage.threshold();
    assert!(!stage.notice(2 * SEGMENT, 0).is_empty());
    assert_eq!(stage.threshold(), threshold);
    assert_eq!(stage.counters().implausible, 0);
}

#[test]
fn what_arrives_late_from_the_old_path_is_neither_a_sample_nor_a_loss() {
    let mut stage = after_silence(era());
    let mut fast = stage.connection.metrics().engine.counters.fast_recoveries;
    stage.notice(2 * SEGMENT, 5000);
    stage.pass_ms(1);
    for above in 4..8 {
        let sack = Some((4 * SEGMENT, (above + 1) * SEGMENT));
        stage.hear(Say { ack: 2 * SEGMENT, sack, ..Say::default() });
    }
    let metrics = stage.connection.metrics().engine;
    fast = metrics.counters.fast_recoveries - fast;
    assert_eq!((fast, stage.counters().samples, metrics.srtt), (0, 0, None));
    assert!(stage.server().is_in_handoff());
}

#[test]
fn a_sender_that_moves_itself_needs_no_notice() {
    let mut stage = after_silence(era());
    stage.connection.handle_own_handoff(stage.now, Some(Rate::from_mbps(4)));
    let sent = stage.sent();
    assert_eq!(sent.first(), Some(&(u64::from(2 * SEGMENT), SEGMENT)));
    assert_eq!(stage.threshold(), 50_000);
}

#[test]
fn an_idle_sender_starts_over_too() {
    let mut stage = Stage::new(era());
    stage.write(u64::from(2 * SEGMENT));
    stage.pass_ms(100);
    stage.ack(2 * SEGMENT);
    stage.silence_ms(60_000);
    stage.notice(2 * SEGMENT, 4000);
    assert_eq!(stage.connection.metrics().engine.srtt, None);
    assert_eq!(stage.threshold(), 50_000);
    assert_eq!(stage.write(100_000).len(), 10, "the whole window of a new path");
}
