//! Packets in words: those that come are read, those that leave are written.
use prismux_rcp::header::{RequestBlock, RequestBlocks};
use prismux_rcp::{PacketIn, PacketOut, RcpFlags, RcpHeader, RcpOptions};
use prismux_script::{Packet, Words};
use prismux_wire::{Ecn, SeqNumber, Timestamps};

/// The sender's initial number, close to the wrap, so that longer scripts cross it.
pub const SENDER_INITIAL: SeqNumber = SeqNumber(u32::MAX - 900);
/// The receiver's initial number.
pub const RECEIVER_INITIAL: SeqNumber = SeqNumber(77);
/// The token that the sender issues.
pub const TOKEN: u64 = 0x0123_4567_89ab_cdef;

fn number(position: u64) -> SeqNumber {
    SENDER_INITIAL + 1 + position as u32
}

fn position(number: SeqNumber) -> i32 {
    number.distance_from(SENDER_INITIAL + 1)
}

/// Reads a packet of the far end: of a receiver if `of_receiver`, else of a sender whose limit was `limit` last.
pub fn read(words: &mut Words<'_>, of_receiver: bool, limit: &mut u16) -> Result<PacketIn, String> {
    let kind = words.word("a kind of packet")?;
    let mut header = RcpHeader { number: number(0), ..RcpHeader::default() };
    let mut payload = 0..0;
    let request = if of_receiver { RcpFlags::REQ } else { RcpFlags::NONE };
    header.flags = match kind {
        "SYN" => RcpFlags::SYN,
        "SYN-ACK" => RcpFlags::SYN | RcpFlags::ACK,
        "ACK" => RcpFlags::ACK,
        "FIN-ACK" => RcpFlags::FIN | RcpFlags::ACK,
        "RST" => RcpFlags::RST | request,
        "FIN" => RcpFlags::FIN | RcpFlags::REQ,
        "REQ" => RcpFlags::REQ,
        "PUL" => RcpFlags::REQ | RcpFlags::PUL,
        "DATA" | "LIMIT" => RcpFlags::NONE,
        _ => return Err(format!("no kind of packet is called {kind:?}")),
    };
    match kind {
        "REQ" | "PUL" => {
            let position: u16 = words.number("a position")?;
            (header.number, header.window) = (number(u64::from(position)), position);
        }
        "DATA" => {
            payload = words.range("positions")?;
            header.number = number(payload.start);
        }
        "LIMIT" => *limit = words.number("a position")?,
        "SYN" | "SYN-ACK" => open(&mut header, of_receiver),
        _ => {}
    }
    let mut packet =
        PacketIn { header, payload_bytes: (payload.end - payload.start) as u32, ecn: Ecn::NotEct };
    let mut is_forged = false;
    while let Ok(word) = words.word("") {
        match word {
            "forged" => is_forged = true,
            "limit" => *limit = words.number(word)?,
            _ => read_field(&mut packet, word, words)?,
        }
    }
    let header = &mut packet.header;
    if !header.flags.contains(RcpFlags::SYN) {
        header.proof = RcpHeader::under(if is_forged { TOKEN ^ 1 << 63 } else { TOKEN }, header.flags);
    }
    if !of_receiver {
        // A SYN's window counts from the first position, others' from their own.
        header.window = limit.saturating_sub(payload.start as u16);
    }
    Ok(packet)
}

fn open(header: &mut RcpHeader, of_receiver: bool) {
    let (own, other) =
        if of_receiver { (RECEIVER_INITIAL, SENDER_INITIAL) } else { (SENDER_INITIAL, RECEIVER_INITIAL) };
    header.number = own;
    header.flags = header.flags | RcpFlags::ECN;
    if header.flags.contains(RcpFlags::ACK) {
        header.proof = RcpHeader::acknowledging(other + 1);
    }
    let is_opening_receiver = of_receiver && !header.flags.contains(RcpFlags::ACK);
    let token = if is_opening_receiver { 0 } else { TOKEN };
    header.options =
        RcpOptions { token: Some(token), mss: Some(100), window_scale: Some(0), ..RcpOptions::default() };
}

fn read_field(packet: &mut PacketIn, word: &str, words: &mut Words<'_>) -> Result<(), String> {
    let header = &mut packet.header;
    match word {
        "deq" => header.window = words.number(word)?,
        "fin" => header.flags = header.flags | RcpFlags::FIN,
        "ce" => packet.ecn = Ecn::Ce,
        "start" => header.options.start = words.number(word)?,
        "ts" => {
            let (value, echo) = (words.number(word)?, words.number(word)?);
            header.options.timestamps = Some(Timestamps { value, echo });
        }
        "names" => {
            let mut blocks = RequestBlocks::default();
            for (start, end) in words.blocks()? {
                blocks.push(RequestBlock { start: number(start), end: number(end) });
            }
            header.options.blocks = blocks;
        }
        _ => return Err(format!("unknown word {word:?}")),
    }
    Ok(())
}

/// A packet in words, beginning with `prefix`.
pub fn write(packet: &PacketOut, prefix: &str) -> Packet {
    let header = &packet.header;
    let has = |flag| header.flags.contains(flag);
    let at = position(header.number);
    let is_request = has(RcpFlags::REQ);
    let head = match () {
        () if has(RcpFlags::SYN | RcpFlags::ACK) => "SYN-ACK".to_owned(),
        () if has(RcpFlags::SYN) => "SYN".to_owned(),
        () if has(RcpFlags::RST) => "RST".to_owned(),
        () if has(RcpFlags::FIN | RcpFlags::ACK) => "FIN-ACK".to_owned(),
        () if has(RcpFlags::ACK) => "ACK".to_owned(),
        () if is_request && has(RcpFlags::FIN) => "FIN".to_owned(),
        () if has(RcpFlags::PUL) => format!("PUL {at}"),
        () if is_request => format!("REQ {at}"),
        () if packet.payload_bytes == 0 && !has(RcpFlags::FIN) => {
            format!("LIMIT {}", at + i32::from(header.window))
        }
        () => format!("DATA {at}:{}", at + packet.payload_bytes as i32),
    };
    let mut words = Packet::new(format!("{prefix} {head}"));
    if is_request {
        words = words.with("deq", header.window);
    } else if has(RcpFlags::FIN) && !has(RcpFlags::ACK) {
        words = words.with_essential("fin", "");
    } else if !has(RcpFlags::SYN) {
        words = words.with("limit", at + i32::from(header.window));
    }
    if let Some(Timestamps { value, echo }) = header.options.timestamps {
        words = words.with("ts", format!("{value} {echo}"));
    }
    if has(RcpFlags::SYN) {
        words = words.with("start", header.options.start);
    }
    let blocks = header.options.blocks.as_slice().iter();
    let blocks: Vec<String> = blocks.map(|b| format!("{}:{}", position(b.start), position(b.end))).collect();
    if blocks.is_empty() { words } else { words.with("names", blocks.join(" ")) }
}
