//! `virtio_net_hdr` (Virtio 1.2 section 5.1.6): what is left to be done to the packet behind it.

/// Bytes of the header, as a TUN device has it.
pub(super) const HEADER_BYTES: usize = 10;

/// Places in a TCP header.
pub(super) const TCP_FLAGS: usize = 13;
pub(super) const TCP_CHECKSUM: usize = 16;

/// Place in a UDP header.
pub(super) const UDP_CHECKSUM: usize = 6;

/// The checksum is still to be computed: its field holds the sum of the pseudo header.
const NEEDS_CHECKSUM: u8 = 1;

/// Congestion marks among the segments: the first alone keeps CWR.
const GSO_ECN: u8 = 0x80;

/// What is to be cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Segmentation {
    /// Nothing: the packet goes as it is.
    None,
    /// TCP in IPv4.
    Tcp4,
    /// TCP in IPv6.
    Tcp6,
    /// UDP datagrams of one flow, in either.
    Udp,
}

/// The header as a value. Lengths and places in bytes, places from the start of the packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct VirtioHeader {
    /// Where the sum begins and where, from there, the checksum goes; `None` when the packet's checksum stands.
    pub checksum: Option<(u16, u16)>,
    pub segmentation: Segmentation,
    /// Headers in front of each segment.
    pub headers_bytes: u16,
    /// Payload of each segment but the last.
    pub segment_bytes: u16,
}

impl VirtioHeader {
    /// In front of a packet to which nothing is to be done.
    pub const PLAIN: Self =
        Self { checksum: None, segmentation: Segmentation::None, headers_bytes: 0, segment_bytes: 0 };

    /// Reads a header; `None` for a kind of segmentation that was not asked for.
    pub fn parse(bytes: [u8; HEADER_BYTES]) -> Option<Self> {
        let [flags, kind, rest @ ..] = bytes;
        let word = |at: usize| u16::from_ne_bytes([rest[at], rest[at + 1]]);
        let segmentation = match kind & !GSO_ECN {
            0 => Segmentation::None,
            1 => Segmentation::Tcp4,
            4 => Segmentation::Tcp6,
            5 => Segmentation::Udp,
            _ => return None,
        };
        let checksum = (flags & NEEDS_CHECKSUM != 0).then(|| (word(4), word(6)));
        Some(Self { checksum, segmentation, headers_bytes: word(0), segment_bytes: word(2) })
    }

    /// The header's bytes.
    pub fn emit(self) -> [u8; HEADER_BYTES] {
        let kind = match self.segmentation {
            Segmentation::None => 0,
            Segmentation::Tcp4 => 1,
            Segmentation::Tcp6 => 4,
            Segmentation::Udp => 5,
        };
        let (start, offset) = self.checksum.unwrap_or_default();
        let flags = if self.checksum.is_some() { NEEDS_CHECKSUM } else { 0 };
        let mut bytes = [0; HEADER_BYTES];
        bytes[0] = flags;
        bytes[1] = kind;
        let words = [self.headers_bytes, self.segment_bytes, start, offset];
        let places = bytes[2..].as_chunks_mut::<2>().0.iter_mut();
        places.zip(words).for_each(|(place, word)| *place = word.to_ne_bytes());
        bytes
    }
}
