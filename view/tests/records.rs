//! Records as they are found on disks: whole, cut short, damaged, empty, or something else.
use prismux_trace::event::{
    Event, EventSink, FlowDescription, JsonLines, LinkDescription, NodeDescription, PacketSummary,
    RadioDescription, RunDescription,
};
use prismux_trace::results::Backend;
use prismux_units::Instant;
use prismux_view::{Question, RecordError, read};
use prismux_wire::{SeqNumber, TcpFlags, TcpHeader};
use std::fs;
use std::path::{Path, PathBuf};

const MS: u64 = 1_000_000;

fn description() -> Event<'static> {
    let node =
        |name: &'static str, kind: &'static str| NodeDescription { name: name.into(), kind: kind.into() };
    let link = |name: &'static str, ends: [&'static str; 2], shared| LinkDescription {
        name: name.into(),
        ends: ends.map(Into::into),
        rate_bps: Some(8_000_000),
        reverse_rate_bps: Some(8_000_000),
        delay_ns: 5 * MS,
        shared,
    };
    Event::RunStarted(Box::new(RunDescription {
        scenario: "small".into(),
        scenario_hash: "".into(),
        backend: Backend::Sim,
        seed: 1,
        version: "0".into(),
        duration_ns: 1000 * MS,
        nodes: vec![node("server", "host"), node("proxy", "prism-proxy"), node("receiver", "host")],
        links: vec![link("backbone", ["server", "proxy"], false), link("wwan1", ["proxy", "receiver"], true)],
        flows: vec![FlowDescription {
            name: "download".into(),
            from: "server".into(),
            to: "receiver".into(),
            transport: "tcp".into(),
        }],
        radios: Vec::new(),
    }))
}

/// A segment of 1000 bytes at `offset`, or an ACK of everything up to there.
fn packet(offset: u32, payload_bytes: u32) -> PacketSummary<'static> {
    let numbers = if payload_bytes > 0 { (5001 + offset, 0) } else { (0, 5001 + offset) };
    let header = TcpHeader {
        seq: SeqNumber(numbers.0),
        ack: SeqNumber(numbers.1),
        flags: TcpFlags::ACK,
        ..TcpHeader::default()
    };
    PacketSummary::tcp(Some("download"), payload_bytes + 40, &header, payload_bytes)
}

/// The second of three segments is lost and sent again; the proxy holds the ACK of the third until then.
fn events() -> Vec<(u64, Event<'static>)> {
    let sent = |offset| Event::PacketSent {
        link: "wwan1".into(),
        from: "proxy".into(),
        packet: packet(offset, 1000),
    };
    let came = |offset| Event::PacketDelivered {
        link: "wwan1".into(),
        to: "receiver".into(),
        packet: packet(offset, 1000),
    };
    let ack = |offset| Event::PacketDelivered {
        link: "wwan1".into(),
        to: "proxy".into(),
        packet: packet(offset, 0),
    };
    let out = |offset| Event::PacketSent {
        link: "backbone".into(),
        from: "proxy".into(),
        packet: packet(offset, 0),
    };
    let lost = Event::PacketDropped {
        at: "wwan1".into(),
        from: Some("proxy".into()),
        reason: prismux_trace::event::DropReason::Loss,
        packet: packet(1000, 1000),
    };
    vec![
        (1, sent(0)),
        (2, sent(1000)),
        (3, lost),
        (4, sent(2000)),
        (7, came(0)),
        (9, came(2000)),
        (12, ack(1000)),
        (12, out(1000)),
        (14, ack(1000)),
        (20, sent(1000)),
        (26, came(1000)),
        (31, ack(3000)),
        (31, out(3000)),
    ]
}

/// A host with two radios behind one router; nobody shares anything. Its flow and an upload the other way.
fn mobile() -> Event<'static> {
    let Event::RunStarted(mut run) = description() else { unreachable!("a description") };
    let node = |name: &'static str| NodeDescription { name: name.into(), kind: "host".into() };
    run.nodes = ["server", "router", "mobile"].map(node).into();
    let link = |name: &'static str, ends: [&'static str; 2], rate_bps| LinkDescription {
        name: name.into(),
        ends: ends.map(Into::into),
        rate_bps: Some(rate_bps),
        reverse_rate_bps: Some(rate_bps),
        delay_ns: 5 * MS,
        shared: false,
    };
    run.links = vec![
        link("access", ["server", "router"], 100_000_000),
        link("wlan", ["router", "mobile"], 8_000_000),
        link("cell", ["mobile", "router"], 1_000_000),
    ];
    run.flows[0].to = "mobile".into();
    let mut upload = run.flows[0].clone();
    (upload.name, upload.from, upload.to) = ("upload".into(), "mobile".into(), "server".into());
    run.flows.push(upload);
    Event::RunStarted(run)
}

fn text(events: &[(u64, Event<'_>)]) -> String {
    text_of(&description(), events)
}

fn text_of(description: &Event<'_>, events: &[(u64, Event<'_>)]) -> String {
    let mut log = JsonLines::new(Vec::new());
    log.event(Instant::ZERO, description);
    for (ms, event) in events {
        log.event(Instant::from_millis(*ms), event);
    }
    String::from_utf8(log.finish().unwrap()).unwrap()
}

/// A folder for one record, which goes with it.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl std::ops::Deref for Folder {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

fn folder(name: &str, events: &str) -> Folder {
    let folder = std::env::temp_dir().join(format!("prismux-view-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("events.jsonl"), events).unwrap();
    Folder(folder)
}

fn whole() -> String {
    let mut all = events();
    all.push((40, Event::RunEnded));
    text(&all)
}

#[test]
fn a_record_tells_what_was_sent_lost_held_and_released() {
    let run = read(&folder("whole", &whole())).unwrap();
    assert!(run.warnings.is_empty(), "{:?}", run.warnings);
    assert_eq!(run.end_ns, 40 * MS);
    let flow = &run.flows[0];
    let path = &flow.paths[0];
    assert_eq!(
        [&path.sent, &path.sent_again, &path.lost, &path.arrived].map(|marks| marks.len()),
        [3, 1, 1, 3]
    );
    assert_eq!(flow.acks_held.len(), 1, "the ACK that came while the hole was open");
    assert_eq!(flow.acks_released.len(), 1);
    let question = Question { from_ns: 0, to_ns: 40 * MS, width: 40, height: 100, flow: 0 };
    let answer = run.answer(question).unwrap();
    assert_eq!(answer.sequence.range, Some((0, 3000)));
    let waiting = [7, 9, 25, 26].map(|ms| answer.buffers.waiting.at(ms));
    assert_eq!(waiting, [Some(0), Some(1000), Some(1000), Some(0)], "the hole is filled at 26 ms");
    assert_eq!(answer.rates.forward[1].iter().sum::<u64>(), 3 * 1040);
    assert_eq!(answer.rates.dropped, [0, 1]);
    let drops: Vec<u64> = answer.rates.drops.iter().map(|drops| drops.iter().sum()).collect();
    assert_eq!((&run.lossy[..], &drops[..]), (&[1][..], &[1][..]), "the link that dropped, and how many");
}

#[test]
fn paths_are_the_links_between_which_a_flow_chose() {
    let mut all = Vec::new();
    let mut pass =
        |ms, link: &'static str, from: &'static str, to: &'static str, flow: &'static str, offset| {
            let mut packet = packet(offset, 1000);
            packet.flow = Some(flow.into());
            all.push((
                ms,
                Event::PacketSent { link: link.into(), from: from.into(), packet: packet.clone() },
            ));
            all.push((ms + 5, Event::PacketDelivered { link: link.into(), to: to.into(), packet }));
        };
    // The first two segments over the one radio, the third over the other; then the upload.
    for (ms, radio, offset) in [(0, "wlan", 0), (10, "wlan", 1000), (20, "cell", 2000)] {
        pass(ms, "access", "server", "router", "download", offset);
        pass(ms + 5, radio, "router", "mobile", "download", offset);
    }
    pass(30, "wlan", "mobile", "router", "upload", 0);
    pass(35, "access", "router", "server", "upload", 0);
    all.sort_by_key(|&(ms, _)| ms);
    all.push((50, Event::RunEnded));
    let run = read(&folder("ways", &text_of(&mobile(), &all))).unwrap();
    assert_eq!(run.paths, [1, 2], "not the access link, which everything takes");
    let [download, upload] = &run.flows[..] else { panic!("two flows") };
    assert_eq!((&download.path_numbers[..], &upload.path_numbers[..]), (&[0, 1][..], &[0][..]));
    assert_eq!(download.path_directions, [0, 1], "the cell's link is described from the phone's side");
    assert_eq!(upload.path_directions, [1]);
    let sent: Vec<usize> = download.paths.iter().map(|path| path.sent.len()).collect();
    let again: usize = download.paths.iter().map(|path| path.sent_again.len()).sum();
    assert_eq!((sent, again), (vec![2, 1], 0), "each segment is counted where the ways part, and once");
    assert_eq!(run.busiest, [0, 1]);
    let answer =
        run.answer(Question { from_ns: 0, to_ns: 50 * MS, width: 50, height: 100, flow: 0 }).unwrap();
    let carried: Vec<u64> = answer.rates.flows.iter().map(|bytes| bytes.iter().sum()).collect();
    assert_eq!(carried, [3 * 1040, 1040]);
}

/// Two hosts on an air, and a flow between them.
fn on_air() -> Event<'static> {
    let Event::RunStarted(mut run) = description() else { unreachable!("a description") };
    run.nodes.remove(1);
    run.links.clear();
    run.radios = vec![RadioDescription {
        name: "air".into(),
        hosts: vec!["server".into(), "receiver".into()],
        channels: Vec::new(),
        further: Vec::new(),
        range_m: 250.0,
        ranges_m: Vec::new(),
    }];
    Event::RunStarted(run)
}

#[test]
fn what_goes_over_the_air_is_told_by_its_packets() {
    let out = |node: &'static str, number, offset, bytes| Event::PacketOriginated {
        node: node.into(),
        packet: PacketSummary { number: Some(number), ..packet(offset, bytes) },
    };
    let came = |node: &'static str, number| Event::PacketArrived { node: node.into(), number };
    let given_up = Event::PacketDropped {
        at: "server".into(),
        from: None,
        reason: prismux_trace::event::DropReason::Unanswered,
        packet: PacketSummary { number: Some(1), ..packet(1000, 1000) },
    };
    let frame = Event::FrameSent {
        medium: "air".into(),
        from: "server".into(),
        to: Some("receiver".into()),
        kind: "data".into(),
        airtime_ns: MS,
        flow: Some("download".into()),
        number: Some(0),
    };
    // The second segment is given up and sent again: the third waits for it.
    let all = [
        (0, out("server", 0, 0, 1000)),
        (1, out("server", 1, 1000, 1000)),
        (2, out("server", 2, 2000, 1000)),
        (3, frame),
        (5, came("receiver", 0)),
        (6, given_up),
        (8, came("receiver", 2)),
        (9, out("receiver", 3, 1000, 0)),
        (12, came("server", 3)),
        (20, out("server", 4, 1000, 1000)),
        (26, came("receiver", 4)),
        (40, Event::RunEnded),
    ];
    let run = read(&folder("air", &text_of(&on_air(), &all))).unwrap();
    let flow = &run.flows[0];
    let [path] = &flow.paths[..] else { panic!("one path: {:?}", flow.paths) };
    let marks = [&path.sent, &path.sent_again, &path.lost, &path.arrived].map(|marks| marks.len());
    assert_eq!((marks, flow.arrived_bytes, flow.arrived.total()), ([3, 1, 1, 3], 3000, 3 * 1040));
    let question = Question { from_ns: 0, to_ns: 40 * MS, width: 40, height: 100, flow: 0 };
    let answer = run.answer(question).unwrap();
    let waiting = [5, 8, 25, 26].map(|ms| answer.buffers.waiting.at(ms));
    assert_eq!(waiting, [Some(0), Some(1000), Some(1000), Some(0)], "the hole is filled at 26 ms");
    let acknowledged = [11, 12].map(|ms| answer.sequence.acknowledged.at(ms));
    assert_eq!(acknowledged, [None, Some(1000)], "once the ACK has come back");
    assert_eq!(answer.rates.flows[0].iter().sum::<u64>(), 3 * 1040);
}

#[test]
fn lines_that_come_late_are_put_in_order() {
    let mut lines: Vec<String> = whole().lines().map(|line| format!("{line}\n")).collect();
    lines.swap(5, 7);
    lines.swap(9, 12);
    let late = read(&folder("late", &lines.concat())).unwrap();
    let run = read(&folder("punctual", &whole())).unwrap();
    let question = Question { from_ns: 0, to_ns: 40 * MS, width: 40, height: 100, flow: 0 };
    assert_eq!(late.answer(question), run.answer(question));
}

#[test]
fn a_record_cut_short_is_shown_as_far_as_it_goes() {
    let whole = whole();
    let run = read(&folder("cut", &whole[..whole.len() - 200])).unwrap();
    assert!(run.warnings[0].contains("cut short in its line 14"), "{:?}", run.warnings);
    let run = read(&folder("endless", &text(&events()))).unwrap();
    assert!(run.warnings[0].contains("has no end"), "{:?}", run.warnings);
}

#[test]
fn what_is_no_record_is_refused_with_a_remedy() {
    let refused = |name: &str, text: &str| read(&folder(name, text)).unwrap_err().to_string();
    for (name, text, expected) in [
        ("empty", String::new(), "the file is empty"),
        ("foreign", "time,value\n1,2\n".to_string(), "its first line is not an event"),
        (
            "headless",
            whole().lines().skip(1).collect::<Vec<_>>().join("\n"),
            "its first event is not run_started",
        ),
        ("quiet", text(&[(5, Event::RunEnded)]), "in which no packet moved"),
        ("damaged", whole().replacen("packet_sent", "packet_\u{0}sent", 1), "line 2: not an event"),
        ("capture", "\u{a}\u{d}\u{d}\u{a}".to_string(), "packet capture"),
    ] {
        let error = refused(name, &text);
        assert!(error.contains(expected), "{name}: {error}");
        assert!(error.contains("remedy: "), "{name}: {error}");
    }
    let nothing = std::env::temp_dir();
    assert!(matches!(read(&nothing.join("prismux-no-such-run")), Err(RecordError::Unreadable(..))));
    let empty = folder("hollow", "");
    fs::remove_file(empty.join("events.jsonl")).unwrap();
    assert!(read(&empty).unwrap_err().to_string().contains("it holds no events.jsonl"));
}

#[test]
fn nodes_that_are_not_there_are_refused_without_a_panic() {
    let text = whole().replacen("\"ends\":[\"server\"", "\"ends\":[\"nobody\"", 1);
    let error = read(&folder("nobody", &text)).unwrap_err().to_string();
    assert!(error.contains("no node \"nobody\""), "{error}");
}
