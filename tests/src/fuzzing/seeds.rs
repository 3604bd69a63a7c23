//! Well-formed inputs to start from.
use super::bytes::REWRITE_RECIPE_BYTES;
use super::machines::STEP_BYTES;
use super::text::TOKEN;
use core::net::IpAddr;
use prismux_daemons::tunnel::control::{Bye, Hello, Message, Tier, Token, Welcome};
use prismux_endpoint::random::Seed;
use prismux_trace::event::{Event, EventSink, JsonLines, PacketSummary};
use prismux_trace::pcapng::{CapturedPacket, Direction, PcapNg};
use prismux_units::{Duration, Instant, Rate};
use prismux_wire::gre::{GRE_IN_UDP_PORT, GreHeader, ether_type};
use prismux_wire::{
    DeliveryOrder, Ecn, HandoffNotice, IpHeader, KeepFactor, LossReport, SackBlock, SeqNumber, TcpFlags,
    TcpHeader, Timestamps, UdpHeader, emit_tcp_packet, emit_udp_packet,
};

fn v4(protocol: u8) -> IpHeader {
    IpHeader { ecn: Ecn::Ect0, ..IpHeader::new([10, 0, 0, 1].into(), [10, 0, 0, 2].into(), protocol) }
}

fn v6(protocol: u8) -> IpHeader {
    let address = |last: u16| IpAddr::from([0xfd00, 0, 0, 0, 0, 0, 0, last]);
    IpHeader { flow_label: 0x12345, ..IpHeader::new(address(1), address(2), protocol) }
}

/// Headers of every shape: handshake, data, pure ACK, SACK, report, reset.
fn headers() -> Vec<TcpHeader> {
    let base = TcpHeader {
        source_port: 80,
        destination_port: 40_000,
        seq: SeqNumber(1000),
        ack: SeqNumber(2000),
        ..TcpHeader::default()
    };
    let ack = TcpHeader { flags: TcpFlags::ACK, window: 500, ..base };
    let mut syn = TcpHeader { flags: TcpFlags::SYN, window: 65_535, ..base };
    syn.options.mss = Some(1460);
    syn.options.window_scale = Some(7);
    syn.options.sack_permitted = true;
    let mut stamped = ack;
    stamped.options.timestamps = Some(Timestamps { value: 77, echo: 66 });
    syn.options.timestamps = stamped.options.timestamps;
    let mut sacked = stamped;
    for start in [3000, 5000, 7000] {
        sacked.options.sack.push(SackBlock { start: SeqNumber(start), end: SeqNumber(start + 1000) });
    }
    let mut reported = stamped;
    let report = LossReport { lost: SeqNumber(2000), link: 1, flags: 0, keep: KeepFactor(0xc000) };
    reported.options.insert_loss_report(report, 0);
    let mut moved = sacked;
    moved.options.insert_handoff(HandoffNotice { bandwidth_kbps: 384 });
    let mut ordered = sacked;
    let order = DeliveryOrder { adsn: Some(9), tpsn: Some(0x1234), out_of_order: true };
    ordered.options.insert_delivery_order(order);
    let reset = TcpHeader { flags: TcpFlags::RST | TcpFlags::ACK, ..base };
    vec![syn, ack, stamped, sacked, reported, moved, ordered, reset]
}

/// IP packets with TCP, UDP, extension headers and fragments.
pub(super) fn packets() -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    let mut out = [0; 2048];
    for header in headers() {
        for ip in [v4(6), v6(6)] {
            for payload in [&b""[..], b"some payload"] {
                let length = emit_tcp_packet(&ip, &header, payload, &mut out).expect("fits");
                packets.push(out[..length].to_vec());
            }
        }
    }
    let udp = UdpHeader { source_port: 5000, destination_port: 53 };
    for ip in [v4(17), v6(17)] {
        let length = emit_udp_packet(&ip, &udp, b"question", &mut out).expect("fits");
        packets.push(out[..length].to_vec());
    }
    // Hop-by-hop, fragment, authentication, destination options, then eight bytes of UDP.
    let chain = [
        44, 0, 1, 4, 0, 0, 0, 0, 51, 0, 0, 1, 0, 0, 0, 9, 60, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 17, 0, 1, 4,
        0, 0, 0, 0, 0x12, 0x34, 0, 53, 0, 8, 0, 0,
    ];
    let length = v6(0).emit(chain.len(), &mut out).expect("fits");
    packets.push([&out[..length], &chain[..]].concat());
    packets
}

/// Option lists.
pub(super) fn options() -> Vec<Vec<u8>> {
    let mut lists: Vec<Vec<u8>> = headers()
        .iter()
        .map(|header| {
            let mut out = [0; 40];
            let length = header.options.emit(&mut out).expect("fits");
            out[..length].to_vec()
        })
        .collect();
    lists.push(vec![254, 6, 1, 2, 3, 4, 253, 4, 0x44, 0x4f, 0]);
    lists
}

/// GRE headers with every set of fields, around packets.
pub(super) fn gre() -> Vec<Vec<u8>> {
    let inner = packets();
    let fields = [
        (false, None, None),
        (true, None, None),
        (true, Some(7), Some(1)),
        (false, Some(7), None),
        (false, None, Some(9)),
    ];
    let around = |(index, (checksum, key, sequence)): (usize, (bool, Option<u32>, Option<u32>))| {
        let inner = &inner[index * 5 % inner.len()];
        let protocol = if inner[0] >> 4 == 6 { ether_type::IPV6 } else { ether_type::IPV4 };
        let header = GreHeader { protocol, checksum, key, sequence };
        let mut out = vec![0; header.wire_bytes()];
        out.extend_from_slice(inner);
        header.emit(&mut out).expect("fits");
        out
    };
    fields.into_iter().enumerate().map(around).collect()
}

/// The same in UDP in IP.
pub(super) fn gre_in_udp() -> Vec<Vec<u8>> {
    let udp = UdpHeader { source_port: 49_156, destination_port: GRE_IN_UDP_PORT };
    let wrap = |payload: &Vec<u8>, ip: IpHeader| {
        let mut out = vec![0; 2048];
        let length = emit_udp_packet(&ip, &udp, payload, &mut out).expect("fits");
        out.truncate(length);
        out
    };
    gre().iter().flat_map(|payload| [wrap(payload, v4(17)), wrap(payload, v6(17))]).collect()
}

/// Recipes in front of packets.
pub(super) fn rewrites() -> Vec<Vec<u8>> {
    let mut random = Seed(1).stream("fuzz/recipes");
    let recipe = |packet: Vec<u8>| {
        let mut recipe: Vec<u8> = (0..REWRITE_RECIPE_BYTES).map(|_| random.next_u64() as u8).collect();
        recipe[31] = 15; // Room for a report.
        recipe.extend_from_slice(&packet);
        recipe
    };
    packets().into_iter().map(recipe).collect()
}

/// Random programs for the machines, most of them with a few links up before anything else.
pub(super) fn programs() -> Vec<Vec<u8>> {
    let mut random = Seed(1).stream("fuzz/programs");
    let mut program = |number: u8| {
        let mut steps = vec![number];
        for link in 0..number % 4 {
            let mut join = [0; STEP_BYTES];
            (join[3], join[4]) = (link, 10 * (link + 1));
            steps.extend_from_slice(&join);
        }
        // The handshake: a SYN-ACK for who connects, an ACK for who listens; a SYN for the proxy.
        for flags in [0x02, if number & 4 == 0 { 0x12 } else { 0x10 }] {
            let mut step = [0; STEP_BYTES];
            (step[0], step[2], step[3], step[5], step[7]) = (9, flags, 0, 0, 200);
            // A SYN's own number is the origin itself, one below where data starts.
            step[4] = if flags & 0x02 == 0 { 0 } else { 226 };
            steps.extend_from_slice(&step);
        }
        for _ in 0..60 {
            let mut step: [u8; STEP_BYTES] = core::array::from_fn(|_| random.next_u64() as u8);
            step[1] &= 0b0000_1111; // Short pauses,
            step[2] = [0x10, 0x10, 0x10, 0x10, 0x10, 0x18, 0x18, 0x11][usize::from(step[2] & 7)]; // everyday flags.
            steps.extend_from_slice(&step);
        }
        steps
    };
    (0..16).map(&mut program).chain([0, 1].map(loss_on_a_link)).collect()
}

/// A program in which the first of eight segments over two links is lost and duplicates come back.
fn loss_on_a_link(number: u8) -> Vec<u8> {
    let mut program = vec![number];
    let mut step = |bytes: &[(usize, u8)]| {
        let mut step = [0; STEP_BYTES];
        for (at, value) in bytes {
            step[*at] = *value;
        }
        program.extend_from_slice(&step);
    };
    step(&[(3, 0), (4, 6)]);
    step(&[(3, 1), (4, 18)]);
    step(&[(0, 9), (2, 0x02), (4, 226), (7, 200), (8, 16)]); // SYN,
    step(&[(0, 10), (1, 12), (2, 0x12), (4, 226), (7, 200), (8, 16)]); // SYN-ACK after some milliseconds,
    step(&[(0, 9), (1, 12), (2, 0x10), (7, 200)]); // ACK.
    for segment in 0..8 {
        step(&[(0, 9), (2, 0x10), (3, segment), (7, 200), (15, 3)]);
    }
    for end in 2..=8 {
        // ACK of nothing new, SACK of the segments from the second on.
        step(&[(0, 10), (1, if end == 2 { 14 } else { 8 }), (2, 0x10), (7, 200), (8, 2), (9, 1), (11, end)]);
    }
    step(&[(0, 10), (1, 14), (2, 0x10), (5, 8), (7, 200)]);
    program
}

/// The scenarios that ship with prismux.
pub(super) fn scenarios() -> Vec<Vec<u8>> {
    prismux_scenario::shipped::ALL.iter().map(|shipped| shipped.file().text().as_bytes().to_vec()).collect()
}

/// The example of a proxy's configuration, with and without a table of deviations.
pub(super) fn proxy_configs() -> Vec<Vec<u8>> {
    let example = with_keys(include_str!("../../../daemons/examples/proxy.toml"));
    let prism = "\n[prism]\nprofile = \"paper\"\nscheduler = \"nip-only\"\nlink_dupthresh = 3\n";
    vec![example.clone().into(), [&example, prism].concat().into()]
}

/// A public key (RFC 7748 section 6.1) where the examples ask for one.
fn with_keys(example: &str) -> String {
    const KEY: &str = "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=";
    let lines = example.lines().map(|line| match line.split_once("public_key = ") {
        Some((before, _)) => format!("{before}public_key = \"{KEY}\"\n"),
        None => format!("{line}\n"),
    });
    lines.collect()
}

/// The example of a member's configuration.
pub(super) fn member_configs() -> Vec<Vec<u8>> {
    vec![with_keys(include_str!("../../../daemons/examples/member.toml")).into()]
}

/// Packet-delivery traces: a millisecond per line.
pub(super) fn delivery_traces() -> Vec<Vec<u8>> {
    vec![b"0\n1\n1\n5\n".to_vec(), b"# a comment\n10\n20\n".to_vec(), b"1000\n".to_vec()]
}

/// Signed control messages.
pub(super) fn control() -> Vec<Vec<u8>> {
    let token = Token::new(TOKEN).expect("long enough");
    let (session, counter, name) = (7, 8, "m1".to_string());
    let next_within = Duration::from_secs(25);
    let rate = Some(Rate::from_kbps(600));
    let hello = |tier, limit| Hello { session, counter, next_within, rate, tier, limit, name: name.clone() };
    let messages = [
        Message::Hello(hello(Tier::Primary, None)),
        Message::Hello(hello(Tier::Backup, rate)),
        Message::Welcome(Welcome { session, counter }),
        Message::Bye(Bye { session, counter, name: name.clone() }),
    ];
    messages.iter().map(|message| message.emit(&token)).collect()
}

/// Event logs.
pub(super) fn event_logs() -> Vec<Vec<u8>> {
    let mut log = JsonLines::new(Vec::new());
    for header in headers() {
        let packet = PacketSummary::tcp(Some("download"), 64, &header, 0);
        log.event(
            Instant::from_secs(1),
            &Event::PacketSent { link: "wwan1".into(), from: "proxy".into(), packet },
        );
    }
    log.event(Instant::from_secs(2), &Event::FlowFinished { flow: "download".into(), bytes: 14_000_000 });
    vec![log.finish().expect("memory does not run out")]
}

/// Captures of two links.
pub(super) fn captures() -> Vec<Vec<u8>> {
    let capture = |packets: &[Vec<u8>]| -> std::io::Result<Vec<u8>> {
        let mut capture = PcapNg::new(Vec::new())?;
        let interfaces = [capture.add_interface("wwan1", "600 kbit/s")?, capture.add_interface("wwan2", "")?];
        for (index, bytes) in packets.iter().enumerate() {
            capture.packet(&CapturedPacket {
                interface: interfaces[index % 2],
                at: Instant::from_millis(index as u64),
                bytes,
                original_bytes: 1500,
                direction: Some(Direction::Outbound),
                comment: "held",
            })?;
        }
        capture.finish()
    };
    packets().chunks(4).map(|packets| capture(packets).expect("memory does not run out")).collect()
}
