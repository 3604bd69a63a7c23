use super::*;

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// Splits a capture into (type, body), checking both length fields.
fn blocks(capture: &[u8]) -> Vec<(u32, &[u8])> {
    let (mut at, mut blocks) = (0, Vec::new());
    while at < capture.len() {
        let length = u32_at(capture, at + 4) as usize;
        assert!(length.is_multiple_of(4) && at + length <= capture.len());
        assert_eq!(u32_at(capture, at + length - 4) as usize, length, "trailing length repeats the first");
        blocks.push((u32_at(capture, at), &capture[at + 8..at + length - 4]));
        at += length;
    }
    blocks
}

fn capture_of_one() -> Vec<u8> {
    let mut capture = PcapNg::new(Vec::new()).unwrap();
    capture.add_interface("wwan1", "").unwrap();
    let wwan2 = capture.add_interface("wwan2", "600 kbit/s").unwrap();
    capture
        .packet(&CapturedPacket {
            interface: wwan2,
            at: Instant::from_nanos(5_000_000_001),
            bytes: &[0x45, 1, 2, 3, 4],
            original_bytes: 1500,
            direction: Some(Direction::Outbound),
            comment: "held",
        })
        .unwrap();
    capture.finish().unwrap()
}

#[test]
fn a_capture_has_a_section_an_interface_per_link_and_packets_in_nanoseconds() {
    let capture = capture_of_one();
    let blocks = blocks(&capture);
    assert_eq!(blocks.iter().map(|b| b.0).collect::<Vec<_>>(), [SECTION_HEADER, 1, 1, 6]);
    assert_eq!(u32_at(blocks[0].1, 0), BYTE_ORDER_MAGIC);
    let interface = blocks[2].1;
    assert_eq!(interface[0..2], LINKTYPE_NULL.to_le_bytes());
    assert_eq!(interface[8..20], [2, 0, 5, 0, b'w', b'w', b'a', b'n', b'2', 0, 0, 0]);
    assert!(interface.windows(5).any(|w| w == [9, 0, 1, 0, 9]), "if_tsresol says 10^-9");
    let packet = blocks[3].1;
    assert_eq!(u32_at(packet, 0), 1, "the second interface");
    let nanos = u64::from(u32_at(packet, 4)) << 32 | u64::from(u32_at(packet, 8));
    assert_eq!(nanos, 5_000_000_001);
    assert_eq!((u32_at(packet, 12), u32_at(packet, 16)), (4 + 5, 4 + 1500));
    assert_eq!(packet[20..24], [2, 0, 0, 0], "IPv4");
    assert_eq!(packet[24..32], [0x45, 1, 2, 3, 4, 0, 0, 0], "padded to four");
    assert_eq!(packet[32..40], [2, 0, 4, 0, 2, 0, 0, 0], "outbound");
}

#[test]
fn an_oversized_packet_is_cut_and_an_understated_length_raised() {
    let mut capture = PcapNg::new(Vec::new()).unwrap();
    let interface = capture.add_interface("x", "").unwrap();
    let bytes = vec![0; 70_000];
    let packet = CapturedPacket {
        interface,
        at: Instant::ZERO,
        bytes: &bytes,
        original_bytes: 0,
        direction: None,
        comment: "",
    };
    capture.packet(&packet).unwrap();
    let capture = capture.finish().unwrap();
    let body = blocks(&capture)[2].1;
    assert_eq!((u32_at(body, 12), u32_at(body, 16)), (65_539, 65_539));
}
