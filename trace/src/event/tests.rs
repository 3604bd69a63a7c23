use super::*;
use prismux_units::Instant;
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
        Event::AckReleased {
            node: "proxy".into(),
            flow: "download".into(),
            ack: 9,
            rewritten: true,
            report: false,
        },
        Event::LinkStateChanged {
            node: "proxy".into(),
            member: "a \"b\"".into(),
            state: LinkState::Standby,
            cause: Some("its delay needs more window than it gains".into()),
        },
        Event::WindowChanged {
            flow: "download".into(),
            cwnd_bytes: 1,
            ssthresh_bytes: None,
            in_flight_bytes: 2,
            srtt_ns: Some(3),
        },
        Event::HostMoved { node: "h-1".into(), x_m: 250.5, y_m: -3.0 },
        Event::FrameSent {
            medium: "air".into(),
            from: "h-1".into(),
            to: None,
            kind: "data".into(),
            airtime_ns: 5,
            flow: Some("download".into()),
            number: Some(12),
        },
        Event::FrameLost {
            medium: "air".into(),
            from: "h-1".into(),
            to: "h-2".into(),
            cause: "collision".into(),
            number: 12,
        },
        Event::PacketQueued { node: "h-1".into(), number: 12 },
        Event::RunEnded,
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

#[test]
fn a_line_reads_as_the_event_it_was_written_from() {
    for event in sample() {
        let mut log = JsonLines::new(Vec::new());
        log.event(Instant::from_nanos(7), &event);
        let text = log.finish().unwrap();
        let line: Line<'_> = serde_json::from_slice(&text).unwrap();
        assert_eq!(line, Line::of(7, &event));
    }
}

#[test]
fn names_are_borrowed_from_the_line() {
    let text =
        r#"{"time_ns":1,"event":"packet_sent","link":"wwan1","from":"p","packet":{"flow":"d","bytes":9}}"#;
    let line: Line<'_> = serde_json::from_str(text).unwrap();
    let flow = line.packet.unwrap().flow.unwrap();
    assert!(text.as_bytes().as_ptr_range().contains(&flow.as_ptr()), "copied");
}

#[test]
fn an_event_of_a_later_version_is_unknown_and_not_an_error() {
    let line: Line<'_> = serde_json::from_str(r#"{"time_ns":1,"event":"eclipse","sun":0.5}"#).unwrap();
    assert_eq!((line.event, line.event.name()), (EventKind::Unknown, "unknown"));
    let text = r#"{"time_ns":1,"event":"packet_dropped","at":"x","reason":"eclipse","packet":{"flow":null,"bytes":9}}"#;
    let line: Line<'_> = serde_json::from_str(text).unwrap();
    assert_eq!(line.reason, Some(DropReason::Unknown));
}

#[test]
fn reasons_are_named_alike_in_events_and_on_status_pages() {
    for &reason in DropReason::ALL {
        assert_eq!(serde_json::to_string(&reason).unwrap(), format!("\"{}\"", reason.name()));
    }
    let names: std::collections::BTreeSet<_> = DropReason::ALL.iter().map(|reason| reason.name()).collect();
    assert_eq!(names.len(), DropReason::ALL.len());
}

#[test]
fn rare_events_are_told_in_a_sentence() {
    let sentence = |event: &Event<'_>| Line::of(0, event).to_string();
    let changed = sample().remove(4);
    assert_eq!(
        sentence(&changed),
        "proxy: the link of member a \"b\" is standby: its delay needs more window than it gains"
    );
    let moved = Event::PeerMoved {
        node: "proxy".into(),
        member: "m1".into(),
        from: "192.0.2.1:4754".into(),
        to: "192.0.2.2:4754".into(),
        cause: None,
    };
    assert_eq!(sentence(&moved), "proxy: member m1 moved from 192.0.2.1:4754 to 192.0.2.2:4754");
    let slower = Event::LinkChanged {
        link: "wwan1".into(),
        from: None,
        rate_bps: Some(1_000_000),
        delay_ns: None,
        up: true,
    };
    assert_eq!(sentence(&slower), "link wwan1, 1.000 Mbit/s");
}
