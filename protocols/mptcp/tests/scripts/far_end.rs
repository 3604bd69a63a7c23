//! The far end, in whose place the script acts: its keys and numbers, and segments in words.
use hmac::{Hmac, Mac};
use prismux_mptcp::keys::Key;
use prismux_mptcp::options::{
    AddAddress, Capable, DataSequence, Dss, Join, Mapping, MptcpOptions, RareOptions,
};
use prismux_mptcp::{Path, Segment, SegmentOut};
use prismux_script::{Packet, Words};
use prismux_wire::{Ecn, SeqNumber, TcpFlags, TcpHeader};
use sha2::Sha256;
use std::net::IpAddr;

/// The key of the far end.
pub const KEY: Key = Key(0x1122_3344_5566_7788);
const NONCE: u32 = 77;

/// The path of the subflow with this number.
pub fn path(number: usize) -> Path {
    let address = |side: u8| IpAddr::from([10, side, 0, number as u8 + 1]);
    Path { local: address(0), remote: address(1) }
}

/// One subflow as the far end sees it.
#[derive(Debug, Clone, Copy, Default)]
struct FarSubflow {
    ours: SeqNumber,
    our_nonce: u32,
    /// First place that the far end misses of ours.
    acked: u32,
    next: u32,
}

/// What the far end knows and has said.
#[derive(Debug, Default)]
pub struct FarEnd {
    subflows: [FarSubflow; 4],
    our_key: Option<Key>,
    /// DATA_ACK said last.
    data_acked: u64,
    /// The next segment goes without options of MPTCP.
    strip: bool,
}

const FLAGS: [(&str, TcpFlags); 6] = [
    ("SYN", TcpFlags::SYN),
    ("SYN-ACK", TcpFlags(0x12)),
    ("ACK", TcpFlags::ACK),
    ("FIN", TcpFlags(0x11)),
    ("RST", TcpFlags::RST),
    ("RST-ACK", TcpFlags(0x14)),
];

/// Sequence numbers of the far end begin here, on every subflow.
const INITIAL: SeqNumber = SeqNumber(u32::MAX - 500);

/// HMAC-SHA256 as RFC 8684 section 3.2 has it, written anew: keys and nonces of the one that proves come first.
fn proof(keys: [Key; 2], nonces: [u32; 2]) -> [u8; 32] {
    let key = [keys[0].0.to_be_bytes(), keys[1].0.to_be_bytes()].concat();
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).expect("any length will do");
    nonces.iter().for_each(|nonce| mac.update(&nonce.to_be_bytes()));
    mac.finalize().into_bytes().into()
}

impl FarEnd {
    fn first(key: Key) -> u64 {
        key.initial_data_sequence().wrapping_add(1)
    }

    /// Learns from a segment of ours, and puts it in words.
    pub fn hear(&mut self, out: &SegmentOut) -> Packet {
        let Segment { path: taken, tcp, mptcp, payload_bytes, .. } = &out.segment;
        let number = (0..4).find(|&number| path(number) == *taken).expect("a known path");
        if tcp.flags.contains(TcpFlags::SYN) {
            self.subflows[number].ours = tcp.seq;
        }
        if let Some(key) = mptcp.capable.and_then(|capable| capable.key) {
            self.our_key = Some(Key(key));
        }
        let ours = self.subflows[number].ours;
        let what = match payload_bytes {
            0 => flag_words(tcp.flags),
            bytes => format!("{}:{}", out.stream_offset, out.stream_offset + u64::from(*bytes)),
        };
        let mut packet = Packet::new(format!("sf {number} {what}"))
            .with("seq", tcp.seq.distance_from(ours) - 1)
            .with("ack", tcp.ack.distance_from(INITIAL) - 1)
            .with("win", tcp.window);
        if let Some(capable) = mptcp.capable {
            let keys = ["none", "own", "both"];
            let count = usize::from(capable.key.is_some()) + usize::from(capable.peer_key.is_some());
            packet = packet.with_essential("capable", keys[count]);
            packet = capable.data_bytes.map_or(packet.clone(), |bytes| packet.with_essential("data", bytes));
        }
        if let Some(join) = mptcp.join {
            packet = packet.with_essential("join", self.hear_join(number, join));
        }
        if let Some(dss) = mptcp.dss {
            packet = self.words_of(packet, &dss);
        }
        mptcp.rare.as_deref().map_or(packet.clone(), |rare| rare_words(packet, rare))
    }

    fn hear_join(&mut self, number: usize, join: Join) -> &'static str {
        match join {
            Join::Syn { token, nonce, .. } => {
                self.subflows[number].our_nonce = nonce;
                if token == KEY.token() { "syn" } else { "syn-with-another-token" }
            }
            Join::SynAck { .. } => "syn-ack",
            Join::Ack { proof: shown } => {
                let keys = [self.our_key.expect("known by now"), KEY];
                let right = proof(keys, [self.subflows[number].our_nonce, NONCE]);
                if shown[..] == right[..20] { "proof" } else { "wrong-proof" }
            }
        }
    }

    /// DATA_ACK and mapping; the mapping must be that of the payload.
    fn words_of(&self, packet: Packet, dss: &Dss) -> Packet {
        let ours = Self::first(self.our_key.unwrap_or(Key(0)));
        let ack = dss.ack.and_then(|ack| ack.position(Self::first(KEY), 0));
        let mut packet = ack.map_or(packet.clone(), |ack| packet.with("dack", ack));
        if let Some(mapping) = dss.mapping {
            let data = mapping.data.position(ours, 0).map_or(-1, |data| data as i64);
            match dss.fin {
                true => packet = packet.with_essential("data-fin", data),
                false => {
                    packet =
                        packet.with("map", format!("{data} at {} of {}", mapping.subflow, mapping.bytes));
                }
            }
        }
        packet
    }

    /// Reads a segment of the far end.
    pub fn read(&mut self, words: &mut Words<'_>) -> Result<Segment, String> {
        if !words.skip("sf") {
            return Err("a segment begins with its subflow".to_owned());
        }
        let number: usize = words.number("a subflow")?;
        let what = words.word("flags or bytes")?;
        let (flags, bytes) = match FLAGS.iter().find(|(name, _)| *name == what) {
            Some((_, flags)) => (*flags, 0..0),
            None => (TcpFlags::ACK, Words::of(what).range("bytes")?),
        };
        let length = (bytes.end - bytes.start) as u32;
        let mut tcp = TcpHeader {
            source_port: 80,
            destination_port: 4000,
            flags,
            window: 60_000,
            ..Default::default()
        };
        let is_syn = flags.contains(TcpFlags::SYN);
        if is_syn {
            (tcp.options.mss, tcp.options.sack_permitted) = (Some(1024), true);
        }
        let mut mptcp = MptcpOptions::default();
        let mut dss = Dss::default();
        if length > 0 {
            let data = DataSequence::Full(Self::first(KEY).wrapping_add(bytes.start));
            let subflow = self.subflows[number].next + 1;
            dss.mapping = Some(Mapping { data, subflow, bytes: length as u16 });
        }
        while let Ok(word) = words.word("") {
            self.read_field(number, word, words, (&mut mptcp, &mut dss))?;
        }
        let plain =
            is_syn || mptcp.capable.is_some() || mptcp.join.is_some() || flags.contains(TcpFlags::RST);
        if !plain && !std::mem::take(&mut self.strip) {
            let acked = Self::first(self.our_key.unwrap_or(Key(0))).wrapping_add(self.data_acked);
            mptcp.dss = Some(Dss { ack: Some(DataSequence::Full(acked)), ..dss });
        }
        let subflow = &mut self.subflows[number];
        tcp.seq = if is_syn { INITIAL } else { INITIAL + 1 + subflow.next };
        subflow.next += length;
        tcp.ack = subflow.ours + 1 + subflow.acked;
        Ok(Segment { path: path(number), tcp, mptcp, payload_bytes: length, ecn: Ecn::NotEct })
    }

    fn read_field(
        &mut self,
        number: usize,
        word: &str,
        words: &mut Words<'_>,
        (mptcp, dss): (&mut MptcpOptions, &mut Dss),
    ) -> Result<(), String> {
        let keys = [KEY, self.our_key.unwrap_or(Key(0))];
        match word {
            "ack" => self.subflows[number].acked = words.number(word)?,
            "dack" => self.data_acked = words.number(word)?,
            "without-options" => self.strip = true,
            "capable" => {
                let key = Some(KEY.0).filter(|_| words.skip("own") || words.peek() == Some("both"));
                let peer_key = words.skip("both").then_some(keys[1].0);
                mptcp.capable = Some(Capable { key, peer_key, ..Capable::default() });
            }
            "join" => {
                let right = proof(keys, [NONCE, self.subflows[number].our_nonce]);
                let mut shown = u64::from_be_bytes(right[..8].try_into().expect("eight bytes"));
                shown ^= u64::from(words.skip("wrong"));
                let (backup, address_id) = (false, number as u8);
                mptcp.join = Some(Join::SynAck { backup, address_id, proof: shown, nonce: NONCE });
            }
            "data-fin" => {
                let data = DataSequence::Full(Self::first(KEY).wrapping_add(words.number(word)?));
                (dss.fin, dss.mapping) = (true, Some(Mapping { data, subflow: 0, bytes: 1 }));
            }
            "prio" => mptcp.rare = rare(|rare| rare.backup = Some(true)),
            "add-addr" => {
                let (id, address) = (words.number(word)?, path(0).remote);
                let key = [KEY.0.to_be_bytes(), keys[1].0.to_be_bytes()].concat();
                let mut mac = Hmac::<Sha256>::new_from_slice(&key).expect("any length will do");
                mac.update(&[id, 10, 1, 0, 1, 0, 0]);
                let whole = mac.finalize().into_bytes();
                let shown = u64::from_be_bytes(whole[24..].try_into().expect("eight bytes"));
                let proof = Some(shown ^ u64::from(words.skip("wrong")));
                mptcp.rare = rare(|rare| {
                    rare.add_address = Some(AddAddress { id, address, port: None, proof });
                });
            }
            _ => return Err(format!("unknown word {word:?}")),
        }
        Ok(())
    }
}

fn rare(fill: impl FnOnce(&mut RareOptions)) -> Option<Box<RareOptions>> {
    let mut options = Box::<RareOptions>::default();
    fill(&mut options);
    Some(options)
}

fn rare_words(mut packet: Packet, rare: &RareOptions) -> Packet {
    if let Some(added) = rare.add_address {
        let what = if added.proof.is_some() { "announced" } else { "echoed" };
        packet = packet.with_essential("add-addr", format!("{} {what}", added.id));
    }
    if let Some(id) = rare.remove_address {
        packet = packet.with_essential("remove-addr", id);
    }
    if let Some(backup) = rare.backup {
        packet = packet.with_essential("prio", if backup { "backup" } else { "regular" });
    }
    if rare.fast_close == Some(KEY.0) {
        packet = packet.with_essential("fast-close", "");
    }
    rare.reset.map_or(packet.clone(), |reason| packet.with_essential("reason", reason))
}

fn flag_words(flags: TcpFlags) -> String {
    let found = FLAGS.iter().find(|(_, known)| *known == flags.without(TcpFlags::PSH));
    found.map_or_else(|| format!("{flags:?}"), |(name, _)| (*name).to_owned())
}
