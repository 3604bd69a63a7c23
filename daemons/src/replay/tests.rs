//! Recordings made by hand: what a replay accepts, and that it notices what was changed.
use super::*;
use crate::carrier::rewrite::to_bytes;
use crate::config::prism_settings_to_toml;
use crate::proxy::recorder::{CoreInput, Recorder};
use prismux_prism::ProxyConfig;
use prismux_units::Instant;
use prismux_wire::{IpHeader, SeqNumber, TcpFlags, TcpHeader, emit_tcp_packet, ip::protocol};
use std::path::PathBuf;

const SENDER_ADDRESS: [u8; 4] = [10, 1, 0, 1];
const RECEIVER_ADDRESS: [u8; 4] = [10, 77, 0, 2];

fn packet(from: [u8; 4], to: [u8; 4], header: &TcpHeader, payload_bytes: usize) -> Vec<u8> {
    let ip = IpHeader::new(from.into(), to.into(), protocol::TCP);
    let mut bytes = vec![0; 1600];
    let length = emit_tcp_packet(&ip, header, &vec![7; payload_bytes], &mut bytes).expect("room");
    bytes.truncate(length);
    bytes
}

fn data(number: u32) -> Vec<u8> {
    let header = TcpHeader {
        source_port: 80,
        destination_port: 5000,
        seq: SeqNumber(1000 + number * 1000),
        ack: SeqNumber(1),
        flags: TcpFlags::ACK,
        ..TcpHeader::default()
    };
    packet(SENDER_ADDRESS, RECEIVER_ADDRESS, &header, 1000)
}

fn ack(number: u32) -> Vec<u8> {
    let header = TcpHeader {
        source_port: 5000,
        destination_port: 80,
        seq: SeqNumber(1),
        ack: SeqNumber(1000 + number * 1000),
        flags: TcpFlags::ACK,
        window: 1000,
        ..TcpHeader::default()
    };
    packet(RECEIVER_ADDRESS, SENDER_ADDRESS, &header, 0)
}

/// Records a core fed with a few packets; `tamper` may change what is recorded of each release.
fn recording(name: &str, tamper: impl Fn(&mut Vec<u8>)) -> Vec<u8> {
    let path: PathBuf = std::env::temp_dir().join(format!("prismux-replay-{}-{name}", std::process::id()));
    let config = ProxyConfig { mss_clamp: None, ..ProxyConfig::paper() };
    let settings = prism_settings_to_toml(&config).expect("settings with a table").to_string();
    let mut recorder = Recorder::create(&path, settings, 24).expect("a file");
    let mut core = Proxy::new(config);
    let at = |millis: u64| Instant::from_nanos(millis * 1_000_000);
    for link in 0..2 {
        let name = format!("m{link}");
        let join = CoreInput::Join {
            link,
            name: name.clone(),
            advertised_rate_bps: Some(1_000_000),
            round_trip_ns: None,
        };
        recorder.core_input(at(0), &join).unwrap();
        core.join(
            at(0),
            LinkId(link),
            LinkConfig { name, advertised_rate: Some(Rate::from_bps(1_000_000)), round_trip: None },
        );
    }
    let inputs = (0..6).map(|n| (n.into(), data(n), true)).chain([1, 3, 2, 6].map(|n| (50, ack(n), false)));
    for (millis, bytes, from_sender) in inputs {
        let now = at(1 + millis);
        let tcp = TcpPacket::parse(&bytes).unwrap();
        if from_sender {
            recorder.from_sender(now, &bytes).unwrap();
            core.handle_data(now, tcp.flow(), &tcp.header, tcp.payload_bytes(), bytes);
        } else {
            recorder.from_member(now, LinkId(0), &bytes).unwrap();
            core.handle_reverse(now, tcp.flow().reversed(), &tcp.header, tcp.payload_bytes(), bytes);
        }
        while let Some(verdict) = core.poll_verdict() {
            match verdict {
                Verdict::Forward { link, packet, .. } => recorder.to_member(now, link, &packet).unwrap(),
                Verdict::Drop { packet, reason } => recorder.dropped(now, &packet, reason.name()).unwrap(),
                Verdict::Release { mut packet, rewrite } => {
                    let length = packet.len();
                    to_bytes(&rewrite).apply(&mut packet, length).unwrap();
                    tamper(&mut packet);
                    recorder.to_sender(now, &packet).unwrap();
                }
            }
        }
    }
    recorder.flush().unwrap();
    let bytes = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    bytes
}

#[test]
fn a_recording_replays_to_the_same_decisions() {
    let replay = replay(&recording("same", |_| {})).expect("a recording");
    assert_eq!(replay.differences, [""; 0]);
    assert_eq!((replay.data_packets, replay.reverse_packets, replay.forwarded), (6, 4, 6));
    assert_eq!(replay.released + replay.dropped, 4);
}

#[test]
fn a_recording_with_one_bit_changed_differs() {
    let changed = replay(&recording("bit", |packet| *packet.last_mut().unwrap() ^= 1)).expect("a recording");
    assert!(changed.differences[0].contains("bytes differ"), "{:?}", changed.differences);
}

#[test]
fn a_recording_that_power_loss_cut_replays_up_to_its_last_whole_entry() {
    let whole = recording("cut", |_| {});
    let decisions = replay(&whole).expect("a recording").decisions();
    for cut in 1..whole.len() / 2 {
        let replay = replay(&whole[..whole.len() - cut]).expect("most of a recording");
        assert_eq!(replay.differences, [""; 0], "{cut}");
        assert!(replay.unrecorded <= 1, "{cut}");
        assert!(
            replay.decisions() <= decisions && replay.decisions() + cut as u64 / 32 + 1 >= decisions,
            "{cut}"
        );
    }
    let cut = replay(&whole[..whole.len() - 6]).expect("all but the last entry");
    assert!(cut.cut_bytes > 6 && cut.decisions() + 1 >= decisions, "{cut:?}");
}

#[test]
fn another_capture_is_no_recording() {
    let mut capture = pcapng::PcapNg::new(Vec::new()).unwrap();
    capture.add_interface("eth0", "").unwrap();
    let error = replay(&capture.finish().unwrap()).expect_err("no settings");
    assert!(error.to_string().contains("does not begin with the settings"), "{error}");
    assert!(matches!(replay(b"hello"), Err(ReplayError::NotACapture(_))));
}
