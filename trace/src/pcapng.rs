//! Packet captures in the pcapng format (draft-ietf-opsawg-pcapng), which Wireshark and tcpdump open: written by
//! [`PcapNg`], read back by [`read`].
//!
//! One interface per link or medium, times in nanoseconds from the start of the run, packets from their IP header on.
//! Little-endian on every machine, so that the same run gives the same bytes.
//!
//! The link type is NULL, four bytes of address family before the IP header, and not RAW, which says the same with
//! none: releases of libpcap up to 1.10 refuse a second interface of type RAW. Frames of radio media have a radiotap
//! header before that of 802.11.

mod read;
#[cfg(test)]
mod tests;

use prismux_units::Instant;
use std::io::{self, Write};

pub use read::{Capture, Interface, NotACapture, Packet, read};

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
/// Packets start with an address family, in the file's byte order.
const LINKTYPE_NULL: u16 = 0;
/// Packets start with a radiotap header.
const LINKTYPE_RADIOTAP: u16 = 127;
const FAMILY_BYTES: u32 = 4;
/// The address families: 2 is IPv4 everywhere; of the three in use for IPv6 every reader knows 30.
const FAMILY_IPV4: u32 = 2;
const FAMILY_IPV6: u32 = 30;
/// Longest packet kept: the largest IP packet.
const SNAP_LENGTH: u32 = 65_535;

/// Option codes.
mod option {
    pub const COMMENT: u16 = 1;
    pub const INTERFACE_NAME: u16 = 2;
    pub const INTERFACE_DESCRIPTION: u16 = 3;
    pub const USER_APPLICATION: u16 = 4;
    pub const PACKET_FLAGS: u16 = 2;
    pub const TIMESTAMP_RESOLUTION: u16 = 9;
}

/// An interface of a capture, as [`PcapNg::add_interface`] numbered it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct InterfaceId {
    number: u32,
    is_radio: bool,
}

/// Which way a packet passed an interface, seen from the node that captures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Came in.
    Inbound,
    /// Went out.
    Outbound,
}

/// One packet to be written.
#[derive(Debug, Clone, Copy)]
pub struct CapturedPacket<'a> {
    /// The link it was seen on.
    pub interface: InterfaceId,
    /// When.
    pub at: Instant,
    /// Its bytes from the IP header on, of a radio interface from the radiotap header on, as many as were kept.
    pub bytes: &'a [u8],
    /// Its length on the link; at least `bytes.len()`.
    pub original_bytes: u32,
    /// Which way, where that is known.
    pub direction: Option<Direction>,
    /// A remark that Wireshark shows, or nothing.
    pub comment: &'a str,
}

/// Writes a capture.
#[derive(Debug)]
pub struct PcapNg<W: Write> {
    writer: W,
    interfaces: u32,
    block: Vec<u8>,
}

impl<W: Write> PcapNg<W> {
    /// Starts a capture; `writer` should be buffered.
    ///
    /// # Errors
    /// When writing fails.
    pub fn new(writer: W) -> io::Result<Self> {
        let mut capture = Self { writer, interfaces: 0, block: Vec::new() };
        capture.begin(SECTION_HEADER);
        capture.put(&BYTE_ORDER_MAGIC.to_le_bytes());
        capture.put(&1u16.to_le_bytes());
        capture.put(&0u16.to_le_bytes());
        capture.put(&u64::MAX.to_le_bytes()); // Section length: not specified.
        let application = concat!("prismux ", env!("CARGO_PKG_VERSION"));
        capture.put_option(option::USER_APPLICATION, application.as_bytes());
        capture.end()?;
        Ok(capture)
    }

    /// Adds an interface; do so before its first packet.
    ///
    /// # Errors
    /// When writing fails.
    pub fn add_interface(&mut self, name: &str, description: &str) -> io::Result<InterfaceId> {
        self.describe(name, description, LINKTYPE_NULL)
    }

    /// Adds an interface whose packets are frames of 802.11 behind a radiotap header; do so before its first packet.
    ///
    /// # Errors
    /// When writing fails.
    pub fn add_radio_interface(&mut self, name: &str, description: &str) -> io::Result<InterfaceId> {
        self.describe(name, description, LINKTYPE_RADIOTAP)
    }

    fn describe(&mut self, name: &str, description: &str, link_type: u16) -> io::Result<InterfaceId> {
        self.begin(INTERFACE_DESCRIPTION);
        self.put(&link_type.to_le_bytes());
        self.put(&[0, 0]);
        self.put(&(SNAP_LENGTH + FAMILY_BYTES).to_le_bytes());
        self.put_option(option::INTERFACE_NAME, name.as_bytes());
        self.put_option(option::INTERFACE_DESCRIPTION, description.as_bytes());
        self.put_option(option::TIMESTAMP_RESOLUTION, &[9]);
        self.end()?;
        self.interfaces += 1;
        Ok(InterfaceId { number: self.interfaces - 1, is_radio: link_type == LINKTYPE_RADIOTAP })
    }

    /// Writes one packet.
    ///
    /// # Errors
    /// When writing fails.
    pub fn packet(&mut self, packet: &CapturedPacket<'_>) -> io::Result<()> {
        let kept = packet.bytes.get(..SNAP_LENGTH as usize).unwrap_or(packet.bytes);
        let nanos = packet.at.as_nanos();
        self.begin(ENHANCED_PACKET);
        self.put(&packet.interface.number.to_le_bytes());
        self.put(&((nanos >> 32) as u32).to_le_bytes());
        self.put(&(nanos as u32).to_le_bytes());
        let kept_bytes = kept.len() as u32;
        let before = if packet.interface.is_radio { 0 } else { FAMILY_BYTES };
        self.put(&(before + kept_bytes).to_le_bytes());
        self.put(&packet.original_bytes.max(kept_bytes).saturating_add(before).to_le_bytes());
        if before > 0 {
            let family = match kept.first().map(|byte| byte >> 4) {
                Some(4) => FAMILY_IPV4,
                Some(6) => FAMILY_IPV6,
                _ => 0,
            };
            self.put(&family.to_le_bytes());
        }
        self.put(kept);
        self.pad();
        if let Some(direction) = packet.direction {
            let flags = match direction {
                Direction::Inbound => 1u32,
                Direction::Outbound => 2,
            };
            self.put_option(option::PACKET_FLAGS, &flags.to_le_bytes());
        }
        self.put_option(option::COMMENT, packet.comment.as_bytes());
        self.end()
    }

    /// Hands everything written so far to the file.
    ///
    /// # Errors
    /// When flushing fails.
    pub fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }

    /// Flushes and gives the writer back.
    ///
    /// # Errors
    /// When flushing fails.
    pub fn finish(mut self) -> io::Result<W> {
        self.writer.flush()?;
        Ok(self.writer)
    }

    fn begin(&mut self, block_type: u32) {
        self.block.clear();
        self.put(&block_type.to_le_bytes());
        self.put(&[0; 4]); // Length: known at the end.
    }

    fn put(&mut self, bytes: &[u8]) {
        self.block.extend_from_slice(bytes);
    }

    /// Pads to a multiple of four bytes.
    fn pad(&mut self) {
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    /// Adds an option unless it is empty; a text past 65,535 bytes is cut.
    fn put_option(&mut self, code: u16, value: &[u8]) {
        let value = value.get(..usize::from(u16::MAX)).unwrap_or(value);
        if !value.is_empty() {
            self.put(&code.to_le_bytes());
            self.put(&(value.len() as u16).to_le_bytes());
            self.put(value);
            self.pad();
        }
    }

    /// Ends the option list, fills in both length fields and writes the block.
    fn end(&mut self) -> io::Result<()> {
        self.put(&[0; 4]);
        let length = (self.block.len() as u32 + 4).to_le_bytes();
        self.put(&length);
        if let Some(field) = self.block.get_mut(4..8) {
            field.copy_from_slice(&length);
        }
        self.writer.write_all(&self.block)
    }
}
