//! Reading captures back: ours, and those of tcpdump or Wireshark, in either byte order.
use super::{
    Direction, ENHANCED_PACKET, INTERFACE_DESCRIPTION, LINKTYPE_NULL, LINKTYPE_RADIOTAP, SECTION_HEADER,
    option,
};
use prismux_units::Instant;
use std::fmt;

const LINKTYPE_ETHERNET: u16 = 1;
const LINKTYPE_RAW: u16 = 101;
const LINKTYPE_IPV4: u16 = 228;
const LINKTYPE_IPV6: u16 = 229;
/// Time stamps count microseconds unless the interface says otherwise.
const DEFAULT_RESOLUTION: u8 = 6;

/// What a capture holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Capture {
    /// The interfaces, in order of appearance.
    pub interfaces: Vec<Interface>,
    /// The packets, in order of appearance.
    pub packets: Vec<Packet>,
    /// Bytes after the last whole block: whoever wrote them was stopped within a block, or lost power before they were
    /// on disk.
    pub cut_bytes: usize,
}

/// An interface of a capture.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Interface {
    /// Its name (`if_name`), or nothing.
    pub name: String,
    /// Its description (`if_description`), or nothing.
    pub description: String,
    link_type: u16,
    resolution: u8,
}

/// A packet of a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// Index of its interface in [`Capture::interfaces`].
    pub interface: usize,
    /// When: since the run's start in our captures, since 1970 in others.
    pub at: Instant,
    /// Its bytes from the IP header on, of a radio interface from the radiotap header on, as many as were kept; empty
    /// when it is neither.
    pub bytes: Vec<u8>,
    /// Its length from the IP header on when it was seen.
    pub original_bytes: u32,
    /// Which way it went, where that is known.
    pub direction: Option<Direction>,
    /// The remark it carries, or nothing.
    pub comment: String,
}

/// Why bytes are not a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotACapture {
    /// Offset of the block that is wrong.
    pub offset: usize,
    /// What is wrong with it.
    pub what: &'static str,
}

impl fmt::Display for NotACapture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a pcapng capture: {} in the block at byte {}", self.what, self.offset)
    }
}

impl std::error::Error for NotACapture {}

/// Reads a capture up to its last whole block. Blocks of unknown types are skipped.
///
/// # Errors
/// When the first block is cut short, or any contradicts itself, with its offset.
pub fn read(file: &[u8]) -> Result<Capture, NotACapture> {
    let mut capture = Capture::default();
    let (mut at, mut order, mut first_interface) = (0, ByteOrder::Little, 0);
    while at < file.len() {
        let fail = |what| NotACapture { offset: at, what };
        let rest = file.get(at..).unwrap_or_default();
        let is_section = rest.starts_with(&SECTION_HEADER.to_le_bytes()); // Reads the same in both orders.
        if is_section && (at == 0 || rest.len() >= 12) {
            order = section_order(rest).ok_or(fail("no byte-order mark"))?;
            first_interface = capture.interfaces.len();
        } else if at == 0 {
            return Err(fail("no section header"));
        }
        if at > 0 && is_cut(rest, order) {
            capture.cut_bytes = rest.len();
            break;
        }
        let (block_type, body, length) = block(rest, order).ok_or(fail("an impossible length"))?;
        match block_type {
            INTERFACE_DESCRIPTION => {
                capture.interfaces.push(interface(body, order).ok_or(fail("a broken interface"))?);
            }
            ENHANCED_PACKET => {
                let known = capture.interfaces.get(first_interface..).unwrap_or_default();
                let mut packet = packet(body, order, known).ok_or(fail("a broken packet"))?;
                packet.interface += first_interface;
                capture.packets.push(packet);
            }
            _ => {}
        }
        at += length;
    }
    Ok(capture)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    fn u16(self, bytes: &[u8], at: usize) -> Option<u16> {
        let word = bytes.get(at..at + 2)?.try_into().ok()?;
        Some(if self == Self::Little { u16::from_le_bytes(word) } else { u16::from_be_bytes(word) })
    }

    fn u32(self, bytes: &[u8], at: usize) -> Option<u32> {
        let word = bytes.get(at..at + 4)?.try_into().ok()?;
        Some(if self == Self::Little { u32::from_le_bytes(word) } else { u32::from_be_bytes(word) })
    }
}

fn section_order(block: &[u8]) -> Option<ByteOrder> {
    let is_magic = |order: &ByteOrder| order.u32(block, 8) == Some(super::BYTE_ORDER_MAGIC);
    [ByteOrder::Little, ByteOrder::Big].into_iter().find(is_magic)
}

/// Whether the block at the start of `bytes` ends beyond them. A file system that lost power may leave zeroes there.
fn is_cut(bytes: &[u8], order: ByteOrder) -> bool {
    let is_short = order.u32(bytes, 4).is_none_or(|length| length as usize > bytes.len());
    is_short || bytes.iter().all(|byte| *byte == 0)
}

/// Type, body and whole length of the block at the start of `bytes`.
fn block(bytes: &[u8], order: ByteOrder) -> Option<(u32, &[u8], usize)> {
    let length = order.u32(bytes, 4)? as usize;
    if length < 12
        || !length.is_multiple_of(4)
        || order.u32(bytes, length.checked_sub(4)?)? as usize != length
    {
        return None;
    }
    Some((order.u32(bytes, 0)?, bytes.get(8..length - 4)?, length))
}

fn interface(body: &[u8], order: ByteOrder) -> Option<Interface> {
    let mut interface =
        Interface { link_type: order.u16(body, 0)?, resolution: DEFAULT_RESOLUTION, ..Interface::default() };
    options(body.get(8..)?, order, |code, value| match code {
        option::INTERFACE_NAME => interface.name = text(value),
        option::INTERFACE_DESCRIPTION => interface.description = text(value),
        option::TIMESTAMP_RESOLUTION => interface.resolution = *value.first().unwrap_or(&DEFAULT_RESOLUTION),
        _ => {}
    })?;
    Some(interface)
}

fn packet(body: &[u8], order: ByteOrder, interfaces: &[Interface]) -> Option<Packet> {
    let index = order.u32(body, 0)? as usize;
    let interface = interfaces.get(index)?;
    let ticks = u64::from(order.u32(body, 4)?) << 32 | u64::from(order.u32(body, 8)?);
    let (kept, original) = (order.u32(body, 12)? as usize, order.u32(body, 16)?);
    let frame = body.get(20..20usize.checked_add(kept)?)?;
    let bytes = interface.ip_packet(frame);
    let mut packet = Packet {
        interface: index,
        at: interface.instant(ticks),
        bytes: bytes.to_vec(),
        original_bytes: original.saturating_sub((frame.len() - bytes.len()) as u32),
        direction: None,
        comment: String::new(),
    };
    options(body.get(20 + kept.next_multiple_of(4)..)?, order, |code, value| match code {
        option::COMMENT => packet.comment = text(value),
        option::PACKET_FLAGS => {
            packet.direction = match order.u32(value, 0).map(|flags| flags & 3) {
                Some(1) => Some(Direction::Inbound),
                Some(2) => Some(Direction::Outbound),
                _ => None,
            }
        }
        _ => {}
    })?;
    Some(packet)
}

impl Interface {
    /// The part of a frame from its IP header on, or the whole of one of radio; nothing when there is none.
    fn ip_packet<'a>(&self, frame: &'a [u8]) -> &'a [u8] {
        let header_bytes = match self.link_type {
            LINKTYPE_RADIOTAP => return frame,
            LINKTYPE_NULL => 4,
            LINKTYPE_ETHERNET => 14,
            LINKTYPE_RAW | LINKTYPE_IPV4 | LINKTYPE_IPV6 => 0,
            _ => return &[],
        };
        let is_ip = |packet: &&[u8]| packet.first().is_some_and(|byte| matches!(byte >> 4, 4 | 6));
        frame.get(header_bytes..).filter(is_ip).unwrap_or(&[])
    }

    /// A time stamp in nanoseconds; the resolution is a power of ten or, with its high bit set, of two.
    fn instant(&self, ticks: u64) -> Instant {
        let exponent = u32::from(self.resolution & 0x7f);
        let per_second = if self.resolution & 0x80 == 0 {
            10u128.checked_pow(exponent)
        } else {
            1u128.checked_shl(exponent)
        };
        let nanos = u128::from(ticks) * 1_000_000_000 / per_second.unwrap_or(u128::MAX).max(1);
        Instant::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

/// Calls `each` with code and value of every option; `None` when one is cut short.
fn options(mut bytes: &[u8], order: ByteOrder, mut each: impl FnMut(u16, &[u8])) -> Option<()> {
    while !bytes.is_empty() {
        let (code, length) = (order.u16(bytes, 0)?, usize::from(order.u16(bytes, 2)?));
        if code == 0 {
            break;
        }
        each(code, bytes.get(4..4 + length)?);
        bytes = bytes.get(4 + length.next_multiple_of(4)..)?;
    }
    Some(())
}

fn text(value: &[u8]) -> String {
    String::from_utf8_lossy(value).into_owned()
}
