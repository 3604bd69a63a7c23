//! The far end, in whose place the script acts: its numbers and names, and segments in words.
use prismux_ptcp::{Addresses, Path, PtcpHeader, Segment, SegmentOut, SetUp};
use prismux_script::{Packet, Words};
use prismux_wire::{Ecn, SackBlock, SeqNumber, TcpFlags, TcpHeader};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

/// pSRC of the far end.
const NAME: u16 = 0x4242;
const TOKEN: u64 = 0x0102_0304_0506_0708;
/// Where the far end's stream begins.
const INITIAL: SeqNumber = SeqNumber(u32::MAX - 3000);

/// Our address number `index`.
pub fn local(index: usize) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(10, 0, 0, index as u8 + 1))
}

/// The far end's address number `index`.
pub fn remote(index: usize) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(10, 1, 0, index as u8 + 1))
}

/// A path by two words, `L0 R1`.
pub fn read_path(words: &mut Words<'_>) -> Result<Path, String> {
    let local = read_address(words.word("our address")?)?;
    Ok(Path { local, remote: read_address(words.word("the far end's address")?)? })
}

fn read_address(text: &str) -> Result<IpAddr, String> {
    let number = |digits: &str| digits.parse::<usize>().map_err(|_| format!("{text:?} is no address"));
    match text.split_at(1) {
        ("L", digits) => number(digits).map(local),
        ("R", digits) => number(digits).map(remote),
        _ => Err(format!("{text:?} is no address")),
    }
}

fn name_of(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => {
            let [_, side, _, number] = address.octets();
            format!("{}{}", if side == 0 { 'L' } else { 'R' }, number - 1)
        }
        IpAddr::V6(address) => address.to_string(),
    }
}

/// One pipe as the far end sees it.
#[derive(Debug, Clone, Copy)]
struct FarPipe {
    path: Path,
    /// Number of the SYN, the far end's and ours.
    initial: SeqNumber,
    our_initial: SeqNumber,
    /// Next position that the far end sends; first position that it misses of ours.
    next: u32,
    acked: u32,
}

/// What the far end knows and has said.
pub struct FarEnd {
    pipes: BTreeMap<u8, FarPipe>,
    our_name: u16,
    our_token: u64,
    our_initial: SeqNumber,
    granted: u8,
    /// pACK and window said last.
    acked: u32,
    window: u16,
}

impl FarEnd {
    /// Before anything has been said.
    pub fn new(granted: u8, window: u16) -> Self {
        Self {
            pipes: BTreeMap::new(),
            our_name: 0,
            our_token: 0,
            our_initial: SeqNumber(0),
            granted,
            acked: 0,
            window,
        }
    }

    fn pipe(&mut self, id: u8) -> &mut FarPipe {
        let index = usize::from(id);
        self.pipes.entry(id).or_insert(FarPipe {
            path: Path { local: local(index), remote: remote(index) },
            initial: SeqNumber(u32::MAX - 5000 + 1000 * u32::from(id)),
            our_initial: SeqNumber(0),
            next: 0,
            acked: 0,
        })
    }

    /// Learns from a segment of ours, and puts it in words.
    pub fn hear(&mut self, out: &SegmentOut) -> Packet {
        let segment = &out.segment;
        let (header, flags) = (&segment.header, segment.tcp.flags);
        if let Some(set_up) = segment.set_up.as_deref().filter(|_| flags.contains(TcpFlags::SYN)) {
            if self.our_name == 0 {
                (self.our_name, self.our_initial) = (header.source, header.seq);
                self.our_token = set_up.token;
            }
            let pipe = self.pipe(header.pipe);
            if pipe.our_initial != segment.tcp.seq {
                (pipe.our_initial, pipe.path) = (segment.tcp.seq, segment.path);
            }
        }
        let pipe = *self.pipe(header.pipe);
        let start = header.seq.distance_from(self.our_initial);
        let what = match (segment.payload_bytes, header.virtual_bytes) {
            (0, 0) => flag_words(flags),
            (0, _) => "void".to_owned(),
            (bytes, _) => format!("{start}:{}", start + bytes as i32),
        };
        if segment.payload_bytes > 0 {
            assert_eq!(start as u64, out.stream_offset, "pSEQ and stream offset differ");
        }
        let mut packet = Packet::new(format!("pipe {} {what}", header.pipe))
            .with("seq", segment.tcp.seq.distance_from(pipe.our_initial) - 1)
            .with("virtual", header.virtual_bytes)
            .with("ack", segment.tcp.ack.distance_from(pipe.initial) - 1)
            .with("pack", header.ack.distance_from(INITIAL))
            .with("win", segment.tcp.window)
            .with("from", name_of(segment.path.local))
            .with("to", name_of(segment.path.remote));
        if segment.tcp.options.lost_by_link {
            packet = packet.with_essential("eln", "");
        }
        if let Some(set_up) = segment.set_up.as_deref() {
            packet = self.write_set_up(packet, set_up);
        }
        let relative = |number: SeqNumber| number.distance_from(pipe.initial) - 1;
        let blocks = segment.tcp.options.sack.as_slice().iter();
        let blocks: Vec<String> =
            blocks.map(|b| format!("{}:{}", relative(b.start), relative(b.end))).collect();
        if !blocks.is_empty() {
            packet = packet.with_essential("sack", blocks.join(" "));
        }
        packet
    }

    fn write_set_up(&self, packet: Packet, set_up: &SetUp) -> Packet {
        let token = match set_up.token {
            TOKEN => "shown",
            token if token == self.our_token => "given",
            _ => "unknown",
        };
        packet
            .with("sends-on", set_up.transmit_pipes)
            .with("receives-on", set_up.receive_pipes)
            .with("addresses", set_up.addresses.as_slice().len())
            .with("token", token)
    }

    /// Reads a segment of the far end.
    pub fn read(&mut self, words: &mut Words<'_>) -> Result<Segment, String> {
        if !words.skip("pipe") {
            return Err("a segment begins with its pipe".to_owned());
        }
        let id: u8 = words.number("a pipe")?;
        let what = words.word("flags or bytes")?;
        let (flags, bytes) = match read_flags(what) {
            Some(flags) => (flags, 0..0),
            None => (TcpFlags::ACK, Words::of(what).range("bytes")?),
        };
        let is_syn = flags.contains(TcpFlags::SYN);
        let is_opening = is_syn && !flags.contains(TcpFlags::ACK) && id == 0 && self.our_name == 0;
        let pipe = *self.pipe(id);
        let mut segment = Segment {
            path: pipe.path,
            header: PtcpHeader {
                pipe: id,
                virtual_bytes: (bytes.end - bytes.start) as u16,
                source: NAME,
                destination: if is_opening { 0 } else { self.our_name },
                seq: INITIAL + bytes.start as u32,
                ..PtcpHeader::default()
            },
            set_up: is_syn.then(|| Box::new(self.set_up(id, flags))),
            tcp: TcpHeader { source_port: 80, destination_port: 4000, flags, ..TcpHeader::default() },
            payload_bytes: (bytes.end - bytes.start) as u32,
            ecn: Ecn::NotEct,
        };
        if is_syn {
            segment.tcp.options.mss = Some(1000);
            segment.tcp.options.window_scale = Some(14);
            segment.tcp.options.sack_permitted = true;
        }
        let mut position = if is_syn { u32::MAX } else { pipe.next };
        while let Ok(word) = words.word("") {
            match word {
                "seq" => position = words.number(word)?,
                "ack" => self.pipe(id).acked = words.number(word)?,
                "pack" => self.acked = words.number(word)?,
                "win" => self.window = words.number(word)?,
                "sack" => {
                    for (start, end) in words.blocks()? {
                        let number = |position: u64| pipe.our_initial + 1 + position as u32;
                        let block = SackBlock { start: number(start), end: number(end) };
                        segment.tcp.options.sack.push(block);
                    }
                }
                "eln" => segment.tcp.options.lost_by_link = true,
                _ => self.read_identity(&mut segment, word, words)?,
            }
        }
        self.finish(segment, position)
    }

    /// Fields that say whose the segment is, and from where.
    fn read_identity(&self, segment: &mut Segment, word: &str, words: &mut Words<'_>) -> Result<(), String> {
        match (word, segment.set_up.as_deref_mut()) {
            ("from", _) => segment.path.remote = read_address(words.word(word)?)?,
            ("to", _) => segment.path.local = read_address(words.word(word)?)?,
            ("forged-name", _) => segment.header.source ^= 1,
            ("virtual", _) => segment.header.virtual_bytes = words.number(word)?,
            ("forged-token", Some(set_up)) => set_up.token ^= 1,
            ("without-set-up", _) => segment.set_up = None,
            ("sends-on", Some(set_up)) => set_up.transmit_pipes = words.number(word)?,
            ("receives-on", Some(set_up)) => set_up.receive_pipes = words.number(word)?,
            _ => return Err(format!("unknown word {word:?}")),
        }
        Ok(())
    }

    fn finish(&mut self, mut segment: Segment, position: u32) -> Result<Segment, String> {
        let (acked, window, ours) = (self.acked, self.window, self.our_initial);
        let pipe = self.pipe(segment.header.pipe);
        let takes =
            u32::from(segment.header.virtual_bytes) + u32::from(segment.tcp.flags.contains(TcpFlags::FIN));
        if segment.tcp.flags.contains(TcpFlags::SYN) {
            pipe.path = segment.path;
        } else {
            pipe.next = pipe.next.max(position + takes);
        }
        segment.tcp.seq = pipe.initial + 1 + position;
        segment.tcp.ack = pipe.our_initial + 1 + pipe.acked;
        (segment.tcp.window, segment.header.ack) = (window, ours + acked);
        Ok(segment)
    }

    fn set_up(&self, id: u8, flags: TcpFlags) -> SetUp {
        if id > 0 && !flags.contains(TcpFlags::ACK) {
            return SetUp { token: self.our_token, ..SetUp::default() };
        }
        SetUp {
            transmit_pipes: self.granted,
            receive_pipes: self.granted,
            window_shift: 0,
            token: TOKEN,
            addresses: (0..usize::from(self.granted)).map(remote).collect::<Addresses>(),
        }
    }
}

const FLAGS: [(&str, TcpFlags); 6] = [
    ("SYN", TcpFlags::SYN),
    ("SYN-ACK", TcpFlags(0x12)),
    ("ACK", TcpFlags::ACK),
    ("FIN", TcpFlags(0x11)),
    ("RST", TcpFlags::RST),
    ("RST-ACK", TcpFlags(0x14)),
];

fn read_flags(text: &str) -> Option<TcpFlags> {
    FLAGS.iter().find(|(name, _)| *name == text).map(|(_, flags)| *flags)
}

fn flag_words(flags: TcpFlags) -> String {
    let named = |flag, name: &'static str| flags.contains(flag).then_some(name);
    match () {
        () if flags.contains(TcpFlags::RST) => "RST".to_owned(),
        () if flags.contains(TcpFlags::FIN) => "FIN".to_owned(),
        () => [named(TcpFlags::SYN, "SYN"), named(TcpFlags::ACK, "ACK")]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join("-"),
    }
}
