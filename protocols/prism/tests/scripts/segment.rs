//! Segments in words: those that come are read, those that leave are written.
use prismux_prism::{AckRewrite, DataRewrite};
use prismux_script::{Packet, Words};
use prismux_wire::{SackBlock, SeqNumber, TcpFlags, TcpHeader, Timestamps};

/// The sender's initial sequence number, close to the wrap, so that every longer script crosses it.
const SENDER_INITIAL: SeqNumber = SeqNumber(u32::MAX - 2000);
/// The receiver's.
const RECEIVER_INITIAL: SeqNumber = SeqNumber(70_000);

const FLAGS: [(&str, TcpFlags); 4] =
    [("SYN", TcpFlags::SYN), ("FIN", TcpFlags::FIN), ("RST", TcpFlags::RST), ("ACK", TcpFlags::ACK)];

/// A segment on its way through the proxy.
#[derive(Debug, Clone)]
pub struct Segment {
    pub header: TcpHeader,
    pub payload_bytes: u32,
}

/// Reads a segment; `own` and `other` are where its own numbers and those that it acknowledges begin.
fn read(words: &mut Words<'_>, own: SeqNumber, other: SeqNumber) -> Result<Segment, String> {
    let flags = read_flags(words.word("flags")?)?;
    let range = words.range("sequence number")?;
    let mut header = TcpHeader { seq: own + range.start as u32, flags, window: 1000, ..TcpHeader::default() };
    while let Ok(word) = words.word("") {
        match word {
            "ack" => header.ack = other + words.number::<u32>(word)?,
            "win" => header.window = words.number(word)?,
            "mss" => header.options.mss = Some(words.number(word)?),
            "wscale" => header.options.window_scale = Some(words.number(word)?),
            "ts" => {
                let (value, echo) = (words.number(word)?, words.number(word)?);
                header.options.timestamps = Some(Timestamps { value, echo });
            }
            "sack" => {
                for (start, end) in words.blocks()? {
                    header
                        .options
                        .sack
                        .push(SackBlock { start: other + start as u32, end: other + end as u32 });
                }
            }
            _ => return Err(format!("unknown word {word:?}")),
        }
    }
    Ok(Segment { header, payload_bytes: (range.end - range.start) as u32 })
}

/// Reads a segment of the sender. What it acknowledges is the receiver's SYN where nothing else is said.
pub fn read_sender(words: &mut Words<'_>) -> Result<Segment, String> {
    let mut segment = read(words, SENDER_INITIAL, RECEIVER_INITIAL)?;
    if segment.header.ack == SeqNumber(0) && segment.header.flags.contains(TcpFlags::ACK) {
        segment.header.ack = RECEIVER_INITIAL + 1;
    }
    Ok(segment)
}

/// Reads a segment of the receiver.
pub fn read_receiver(words: &mut Words<'_>) -> Result<Segment, String> {
    read(words, RECEIVER_INITIAL, SENDER_INITIAL)
}

fn read_flags(text: &str) -> Result<TcpFlags, String> {
    let mut flags = TcpFlags::default();
    for name in text.split('-').filter(|&name| name != "NONE") {
        if name == "DATA" {
            flags |= TcpFlags::ACK;
            continue;
        }
        let known = FLAGS.iter().find(|(known, _)| *known == name);
        flags |= known.ok_or_else(|| format!("unknown flag {name:?}"))?.1;
    }
    Ok(flags)
}

/// A data segment of the sender that starts at `start`.
pub fn data(start: u32, payload_bytes: u32) -> Segment {
    let header = TcpHeader {
        seq: SENDER_INITIAL + start,
        ack: RECEIVER_INITIAL + 1,
        flags: TcpFlags::ACK,
        window: 1000,
        ..TcpHeader::default()
    };
    Segment { header, payload_bytes }
}

/// The handshake that the receiver begins: its SYN, the sender's SYN-ACK, its ACK. The windows have units of 128 bytes.
pub fn handshake() -> [Segment; 3] {
    let segment = |flags, seq, ack, window| {
        let mut header = TcpHeader { seq, ack, flags, window, ..TcpHeader::default() };
        header.options.window_scale = flags.contains(TcpFlags::SYN).then_some(7);
        Segment { header, payload_bytes: 0 }
    };
    [
        segment(TcpFlags::SYN, RECEIVER_INITIAL, SeqNumber(0), 65535),
        segment(TcpFlags::SYN | TcpFlags::ACK, SENDER_INITIAL, RECEIVER_INITIAL + 1, 65535),
        segment(TcpFlags::ACK, RECEIVER_INITIAL + 1, SENDER_INITIAL + 1, 1000),
    ]
}

fn names(flags: TcpFlags) -> String {
    let set = FLAGS.iter().filter(|(_, flag)| flags.contains(*flag));
    set.map(|(name, _)| *name).collect::<Vec<_>>().join("-")
}

fn range(start: u32, length: u32) -> String {
    if length == 0 { start.to_string() } else { format!("{start}:{}", start + length) }
}

/// A segment that goes to the receiver over `link`.
pub fn forwarded(mut segment: Segment, link: u8, rewrite: &DataRewrite) -> Packet {
    rewrite.apply(&mut segment.header);
    let header = &segment.header;
    let flags = if header.flags == TcpFlags::ACK { String::new() } else { names(header.flags) };
    let range = range((header.seq - SENDER_INITIAL.0).0, segment.payload_bytes);
    let packet = Packet::new(format!("link {link} {flags} {range}"));
    options(packet, header)
}

/// A segment that goes to the sender.
pub fn released(mut segment: Segment, rewrite: &AckRewrite) -> Packet {
    rewrite.apply(&mut segment.header);
    let header = &segment.header;
    let (own, ack) = ((header.seq - RECEIVER_INITIAL.0).0, (header.ack - SENDER_INITIAL.0).0);
    let pure = header.flags == TcpFlags::ACK && segment.payload_bytes == 0;
    let head = match header.flags.contains(TcpFlags::ACK) {
        true if pure => format!("ack {ack}"),
        true => format!("{} {} ack {ack}", names(header.flags), range(own, segment.payload_bytes)),
        false => format!("{} {}", names(header.flags), range(own, segment.payload_bytes)),
    };
    let mut packet = Packet::new(head).with("win", header.window);
    let relative = |number: SeqNumber| (number - SENDER_INITIAL.0).0;
    let blocks = header.options.sack.as_slice().iter();
    let blocks: Vec<String> = blocks.map(|b| format!("{}:{}", relative(b.start), relative(b.end))).collect();
    if !blocks.is_empty() {
        packet = packet.with_essential("sack", blocks.join(" "));
    }
    if let Some(report) = header.options.loss_report {
        let repeated = if report.flags == 0 { "first" } else { "again" };
        let keep = f64::from(report.keep.0) / 65536.0;
        let text = format!("{} link {} keep {keep} {repeated}", relative(report.lost), report.link);
        packet = packet.with_essential("report", text);
    }
    options(packet, header)
}

fn options(mut packet: Packet, header: &TcpHeader) -> Packet {
    if let Some(mss) = header.options.mss {
        packet = packet.with("mss", mss);
    }
    if let Some(Timestamps { value, echo }) = header.options.timestamps {
        packet = packet.with("ts", format!("{value} {echo}"));
    }
    packet
}
