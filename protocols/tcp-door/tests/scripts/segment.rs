//! Segments in words: those that come are read, those that leave are written.
use prismux_script::{Packet, Words};
use prismux_tcp::{SegmentIn, SegmentOut};
use prismux_wire::{DeliveryOrder, Ecn, SackBlock, SeqNumber, TcpFlags, TcpHeader, Timestamps};

/// Our initial sequence number, close to the wrap, so that every longer script crosses it.
pub const OURS: SeqNumber = SeqNumber(u32::MAX - 2000);
/// The peer's initial sequence number.
pub const THEIRS: SeqNumber = SeqNumber(u32::MAX - 1500);

/// Reads a segment of the peer, whose stream `sent` bytes have left of.
pub fn read(words: &mut Words<'_>, sent: u64) -> Result<SegmentIn, String> {
    let mut header = TcpHeader {
        seq: THEIRS + 1 + sent as u32,
        ack: OURS + 1,
        flags: TcpFlags::ACK,
        window: 60_000,
        ..TcpHeader::default()
    };
    let mut payload_bytes = 0;
    match words.word("a kind of segment")? {
        "syn" => (header.seq, header.flags) = (THEIRS, TcpFlags::SYN),
        "syn-ack" => (header.seq, header.flags) = (THEIRS, TcpFlags::SYN | TcpFlags::ACK),
        "ack" => header.ack = OURS + 1 + words.number::<u32>("a position")?,
        "data" => {
            let range = words.range("positions")?;
            header.seq = THEIRS + 1 + range.start as u32;
            payload_bytes = (range.end - range.start) as u32;
        }
        kind => return Err(format!("no segment is called {kind:?}")),
    }
    if header.flags.contains(TcpFlags::SYN) {
        header.options.mss = Some(u16::MAX);
        header.options.sack_permitted = true;
    }
    while let Ok(word) = words.word("") {
        let mut order = header.options.delivery_order.unwrap_or_default();
        match word {
            "ack" => header.ack = OURS + 1 + words.number::<u32>(word)?,
            "ece" => header.flags |= TcpFlags::ECE,
            "ts" => {
                let (value, echo) = (words.number(word)?, words.number(word)?);
                header.options.timestamps = Some(Timestamps { value, echo });
            }
            "sack" => {
                for (start, end) in words.blocks()? {
                    let (start, end) = (OURS + 1 + start as u32, OURS + 1 + end as u32);
                    header.options.sack.push(SackBlock { start, end });
                }
            }
            "door" => header.options.delivery_order = Some(DeliveryOrder::default()),
            "adsn" => order.adsn = Some(words.number(word)?),
            "tpsn" => order.tpsn = Some(words.number(word)?),
            "ooo" => order.out_of_order = true,
            _ => return Err(format!("unknown word {word:?}")),
        }
        if order != DeliveryOrder::default() {
            header.options.delivery_order = Some(order);
        }
    }
    Ok(SegmentIn { header, payload_bytes, ecn: Ecn::NotEct })
}

/// A segment of ours in words.
pub fn write(segment: &SegmentOut) -> Packet {
    let header = &segment.header;
    let (syn, ack) = (header.flags.contains(TcpFlags::SYN), header.flags.contains(TcpFlags::ACK));
    let acked = (header.ack - THEIRS.0 - 1).0;
    let start = (header.seq - OURS.0 - 1).0;
    let mut packet = match (syn, ack, segment.payload_bytes) {
        (true, false, _) => Packet::new("syn"),
        (true, true, _) => Packet::new("syn-ack"),
        (false, _, 0) => Packet::new(format!("ack {acked}")),
        (false, _, bytes) => Packet::new(format!("data {start}:{}", start + bytes)).with("ack", acked),
    };
    if let Some(stamps) = header.options.timestamps {
        packet = packet.with("ts", format!("{} {}", stamps.value, stamps.echo));
    }
    let relative = |number: SeqNumber| (number - THEIRS.0 - 1).0;
    let blocks = header.options.sack.as_slice().iter();
    let blocks: Vec<String> = blocks.map(|b| format!("{}:{}", relative(b.start), relative(b.end))).collect();
    if !blocks.is_empty() {
        packet = packet.with_essential("sack", blocks.join(" "));
    }
    let Some(order) = header.options.delivery_order else { return packet };
    packet = packet.with("door", "");
    if let Some(adsn) = order.adsn {
        packet = packet.with("adsn", adsn);
    }
    if let Some(tpsn) = order.tpsn {
        packet = packet.with("tpsn", tpsn);
    }
    if order.out_of_order { packet.with_essential("ooo", "") } else { packet }
}
