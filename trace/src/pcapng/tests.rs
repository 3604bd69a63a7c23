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

#[test]
fn a_capture_reads_back_as_it_was_written() {
    let capture = read(&capture_of_one()).unwrap();
    let names: Vec<_> =
        capture.interfaces.iter().map(|i| (i.name.as_str(), i.description.as_str())).collect();
    assert_eq!(names, [("wwan1", ""), ("wwan2", "600 kbit/s")]);
    let expected = Packet {
        interface: 1,
        at: Instant::from_nanos(5_000_000_001),
        bytes: vec![0x45, 1, 2, 3, 4],
        original_bytes: 1500,
        direction: Some(Direction::Outbound),
        comment: "held".to_string(),
    };
    assert_eq!(capture.packets, [expected]);
}

/// A block in big-endian order.
fn big_endian(block_type: u32, body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u32 + 12).to_be_bytes();
    [&block_type.to_be_bytes()[..], &length, body, &length].concat()
}

#[test]
fn a_capture_of_another_machine_is_understood() {
    // Big-endian, Ethernet, microseconds by default, an unknown block in between.
    let section = big_endian(
        SECTION_HEADER,
        &[0x1a, 0x2b, 0x3c, 0x4d, 0, 1, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255],
    );
    let interface = big_endian(INTERFACE_DESCRIPTION, &[0, 1, 0, 0, 0, 0, 255, 255]);
    let mut frame = vec![0; 12];
    frame.extend_from_slice(&[0x08, 0x00, 0x45, 9]);
    let header = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 16, 0, 0, 0, 60];
    let packet = big_endian(ENHANCED_PACKET, &[&header[..], &frame].concat());
    let file = [section, interface, big_endian(0x0bad, &[1, 2, 3, 4]), packet].concat();
    let capture = read(&file).unwrap();
    assert_eq!(capture.packets[0].bytes, [0x45, 9]);
    assert_eq!(capture.packets[0].original_bytes, 60 - 14);
    assert_eq!(capture.packets[0].at, Instant::from_nanos(7000));
}

#[test]
fn a_broken_capture_says_where() {
    let good = capture_of_one();
    assert_eq!(read(b"GIF89a..").unwrap_err(), NotACapture { offset: 0, what: "no section header" });
    assert_eq!(read(&good[..8]).unwrap_err().what, "no byte-order mark");
    assert_eq!(read(&good[..24]).unwrap_err().what, "an impossible length");
    let mut bad = good.clone();
    let end = bad.len() - 4;
    bad[end] ^= 4; // The length behind the block is not the one before it.
    assert_eq!(read(&bad).unwrap_err().what, "an impossible length");
    let packet = blocks(&good)[3].1.as_ptr() as usize - good.as_ptr() as usize;
    let mut bad = good.clone();
    bad[packet] = 9; // An interface that is not there.
    assert_eq!(read(&bad).unwrap_err(), NotACapture { offset: packet - 8, what: "a broken packet" });
    let mut bad = good;
    bad[packet + 12] = 200; // More bytes than the block has.
    assert_eq!(read(&bad).unwrap_err().what, "a broken packet");
}

#[test]
fn a_capture_cut_anywhere_behind_its_first_block_reads_up_to_its_last_whole_one() {
    let whole = capture_of_one();
    let starts: Vec<usize> =
        blocks(&whole).iter().map(|(_, body)| body.as_ptr() as usize - whole.as_ptr() as usize - 8).collect();
    let all = read(&whole).unwrap();
    assert_eq!((all.packets.len(), all.cut_bytes), (1, 0));
    for length in starts[1]..whole.len() {
        let cut = read(&whole[..length]).unwrap();
        let last_start = starts.iter().copied().filter(|start| *start <= length).max().unwrap();
        assert_eq!((cut.packets.len(), cut.cut_bytes), (0, length - last_start), "{length}");
    }
    let with_zeroes = read(&[&whole[..], &[0; 4096]].concat()).unwrap();
    assert_eq!((&with_zeroes.packets, with_zeroes.cut_bytes), (&all.packets, 4096));
}
