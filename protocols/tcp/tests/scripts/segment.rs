//! Segments in words: those that come are read, those that leave are written.
use prismux_script::{Packet, Words};
use prismux_tcp::{SegmentIn, SegmentOut};
use prismux_wire::{Ecn, SackBlock, SeqNumber, TcpFlags, TcpHeader, Timestamps};

/// Our initial sequence number, close to the wrap, so that every longer script crosses it.
pub const OUR_INITIAL: SeqNumber = SeqNumber(u32::MAX - 2000);
/// The peer's initial sequence number.
pub const PEER_INITIAL: SeqNumber = SeqNumber(u32::MAX - 5000);
/// Our port.
pub const OUR_PORT: u16 = 80;
/// The peer's port.
pub const PEER_PORT: u16 = 40_000;

const FLAGS: [(&str, TcpFlags); 8] = [
    ("SYN", TcpFlags::SYN),
    ("FIN", TcpFlags::FIN),
    ("RST", TcpFlags::RST),
    ("URG", TcpFlags::URG),
    ("PSH", TcpFlags::PSH),
    ("ACK", TcpFlags::ACK),
    ("ECE", TcpFlags::ECE),
    ("CWR", TcpFlags::CWR),
];

/// Reads a segment of the peer.
pub fn read(words: &mut Words<'_>) -> Result<SegmentIn, String> {
    let flags = read_flags(words.word("flags")?)?;
    let range = words.range("sequence number")?;
    let mut header = TcpHeader {
        source_port: PEER_PORT,
        destination_port: OUR_PORT,
        seq: PEER_INITIAL + range.start as u32,
        ack: SeqNumber(0),
        flags,
        window: u16::MAX,
        ..TcpHeader::default()
    };
    let mut ecn = Ecn::default();
    while let Ok(word) = words.word("") {
        match word {
            "ack" => header.ack = OUR_INITIAL + words.number::<u32>(word)?,
            "win" => header.window = words.number(word)?,
            "mss" => header.options.mss = Some(words.number(word)?),
            "wscale" => header.options.window_scale = Some(words.number(word)?),
            "sackok" => header.options.sack_permitted = true,
            "ts" => {
                let (value, echo) = (words.number(word)?, words.number(word)?);
                header.options.timestamps = Some(Timestamps { value, echo });
            }
            "sack" => {
                for (start, end) in words.blocks()? {
                    let (start, end) = (OUR_INITIAL + start as u32, OUR_INITIAL + end as u32);
                    header.options.sack.push(SackBlock { start, end });
                }
            }
            "ect0" => ecn = Ecn::Ect0,
            "ce" => ecn = Ecn::Ce,
            "not-ect" => ecn = Ecn::NotEct,
            _ => return Err(format!("unknown word {word:?}")),
        }
    }
    Ok(SegmentIn { header, payload_bytes: (range.end - range.start) as u32, ecn })
}

fn read_flags(text: &str) -> Result<TcpFlags, String> {
    let mut flags = TcpFlags::default();
    for name in text.split('-').filter(|&name| name != "NONE") {
        let known = FLAGS.iter().find(|(known, _)| *known == name);
        flags |= known.ok_or_else(|| format!("unknown flag {name:?}"))?.1;
    }
    Ok(flags)
}

/// A segment of ours in words. PSH is left out: no behaviour depends on it.
pub fn write(segment: &SegmentOut) -> Packet {
    let header = &segment.header;
    let is_set = |(_, flag): &&(&str, TcpFlags)| *flag != TcpFlags::PSH && header.flags.contains(*flag);
    let flags: Vec<&str> = FLAGS.iter().filter(is_set).map(|(name, _)| *name).collect();
    let seq = (header.seq - OUR_INITIAL.0).0;
    let range = match segment.payload_bytes {
        0 => seq.to_string(),
        bytes => format!("{seq}:{}", seq + bytes),
    };
    let mut packet = Packet::new(format!("{} {range}", flags.join("-"))).with("win", header.window);
    if header.flags.contains(TcpFlags::ACK) {
        packet = packet.with("ack", (header.ack - PEER_INITIAL.0).0);
    }
    let options = &header.options;
    if let Some(mss) = options.mss {
        packet = packet.with("mss", mss);
    }
    if let Some(scale) = options.window_scale {
        packet = packet.with("wscale", scale);
    }
    if options.sack_permitted {
        packet = packet.with("sackok", "");
    }
    if let Some(Timestamps { value, echo }) = options.timestamps {
        packet = packet.with("ts", format!("{value} {echo}"));
    }
    let relative = |number: SeqNumber| (number - PEER_INITIAL.0).0;
    let blocks = options.sack.as_slice().iter();
    let blocks: Vec<String> = blocks.map(|b| format!("{}:{}", relative(b.start), relative(b.end))).collect();
    if !blocks.is_empty() {
        packet = packet.with_essential("sack", blocks.join(" "));
    }
    packet.with(
        match segment.ecn {
            Ecn::Ect0 => "ect0",
            Ecn::Ect1 => "ect1",
            Ecn::Ce => "ce",
            Ecn::NotEct => "not-ect",
        },
        "",
    )
}
