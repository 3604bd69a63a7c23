use super::*;
use prismux_wire::{SackBlock, SeqNumber, TcpFlags, TcpHeader};

fn sample() -> Vec<Event<'static>> {
    let mut header =
        TcpHeader { flags: TcpFlags::ACK, seq: SeqNumber(7), window: 100, ..TcpHeader::default() };
    header.options.sack.push(SackBlock { start: SeqNumber(10), end: SeqNumber(20) });
    let packet = PacketSummary::tcp(Some("download"), 64, &header, 0);
    vec![
        Event::FlowStarted { flow: "download".into() },
        Event::PacketSent { link: "wwan1".into(), from: "m1".into(), packet: packet.clone() },
        Event::PacketDropped {
            at: "wwan1".into(),
            from: Some("m1".into()),
            reason: DropReason::QueueFull,
            packet,
        },
        Event::PacketJudged {
            node: "proxy".into(),
            flow: "download".into(),
            verdict: Verdict::Release { ack: 9, rewritten: true, report: false },
        },
        Event::LossDetected {
            node: "proxy".into(),
            flow: "a \"b\"".into(),
            by: "rack".into(),
            link: None,
            seq: 1,
        },
    ]
}

#[test]
fn an_event_log_reads_back_as_it_was_written() {
    let mut log = JsonLines::new(Vec::new());
    for (k, event) in sample().iter().enumerate() {
        log.event(Instant::from_millis(k as u64), event);
    }
    let text = String::from_utf8(log.finish().unwrap()).unwrap();
    assert_eq!(text.lines().count(), sample().len());
    assert!(text.starts_with("{\"time_ns\":0,\"event\":\"flow_started\",\"flow\":\"download\"}\n"), "{text}");
    let records = read_json_lines(text.as_bytes()).unwrap();
    assert_eq!(records.iter().map(|r| r.event.clone()).collect::<Vec<_>>(), sample());
    assert_eq!(records[4].time_ns, 4_000_000);
}

#[test]
fn a_broken_log_names_the_line() {
    let error =
        read_json_lines(&b"{\"time_ns\":1,\"event\":\"flow_started\",\"flow\":\"x\"}\n{}\n"[..]).unwrap_err();
    assert!(error.to_string().contains("line 2"), "{error}");
}

#[test]
fn a_full_disk_is_reported_at_the_end_and_not_by_a_panic() {
    let mut small = [0u8; 10];
    let mut log = JsonLines::new(&mut small[..]);
    for event in &sample() {
        log.event(Instant::ZERO, event);
    }
    assert_eq!(log.finish().unwrap_err().kind(), std::io::ErrorKind::WriteZero);
}
