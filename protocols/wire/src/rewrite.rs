//! Changing a TCP segment inside its IP packet, in place.
//!
//! A middle box that holds back ACKs must keep a number of fields truthful when it lets them go. [`SegmentRewrite`]
//! says what to change; it applies alike to a typed header (simulator) and to bytes (Linux), and both give the same
//! segment. Checksums are updated by the difference (RFC 1624): a damaged segment stays damaged.

mod options;

use crate::checksum::{Sum, update};
use crate::error::WireError;
use crate::ip::{IpPacket, protocol, put, word16};
use crate::seq::SeqNumber;
use crate::tcp_header::{LossReport, SackBlocks, TcpFlags, TcpHeader};
use crate::tcp_options::{Walk, kind};
use crate::tcp_packet::FIXED_BYTES;

/// What becomes of the SACK option.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SackRewrite {
    /// Stays as it is.
    #[default]
    Keep,
    /// Goes; NOPs take its place, so the segment keeps its length.
    Remove,
    /// Keeps the first so many blocks, which are the newest; zero removes the option.
    Truncate(u8),
}

/// Changes to a TCP segment. `None` leaves a field as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SegmentRewrite {
    /// Sequence number.
    pub seq: Option<SeqNumber>,
    /// Acknowledgement number.
    pub ack: Option<SeqNumber>,
    /// Window, before scaling.
    pub window: Option<u16>,
    /// TSval; does nothing without a timestamps option.
    pub tsval: Option<u32>,
    /// TSecr; does nothing without a timestamps option.
    pub tsecr: Option<u32>,
    /// Control bits to set.
    pub set_flags: TcpFlags,
    /// Control bits to clear, before setting others.
    pub clear_flags: TcpFlags,
    /// SACK option.
    pub sack: SackRewrite,
    /// Loss report to carry; it replaces one that is there, and older SACK blocks make room for it. It is left out when
    /// even that is not enough.
    pub report: Option<LossReport>,
}

impl SegmentRewrite {
    /// Applies the changes to a typed header.
    pub fn apply_to_header(&self, header: &mut TcpHeader) {
        header.seq = self.seq.unwrap_or(header.seq);
        header.ack = self.ack.unwrap_or(header.ack);
        header.window = self.window.unwrap_or(header.window);
        header.flags = header.flags.without(self.clear_flags) | self.set_flags;
        let options = &mut header.options;
        if let Some(timestamps) = &mut options.timestamps {
            timestamps.value = self.tsval.unwrap_or(timestamps.value);
            timestamps.echo = self.tsecr.unwrap_or(timestamps.echo);
        }
        match self.sack {
            SackRewrite::Keep => {}
            SackRewrite::Remove => options.sack = SackBlocks::EMPTY,
            SackRewrite::Truncate(blocks) => options.sack.truncate(blocks.into()),
        }
        if let Some(report) = self.report {
            options.insert_loss_report(report, 0);
        }
    }

    /// Applies the changes to the packet in `buffer[..length]`; returns its new length (padding behind it dropped). A
    /// report makes the segment longer (up to 12 bytes), for which `buffer` must have room behind it.
    ///
    /// # Errors
    /// When the packet is no well-formed TCP segment or does not fit the buffer; it is then unchanged.
    pub fn apply(&self, buffer: &mut [u8], length: usize) -> Result<usize, WireError> {
        let segment = Segment::locate(buffer.get(..length).ok_or(WireError::NoRoom)?)?;
        if self.report.is_some() {
            return options::apply_with_report(self, &segment, buffer);
        }
        let header = buffer.get_mut(segment.start..segment.payload).ok_or(WireError::NoRoom)?;
        let before = Sum::ZERO.add_bytes(header);
        let (fixed, options) = header.split_first_chunk_mut().ok_or(WireError::NoRoom)?;
        self.apply_to_fixed(fixed);
        self.apply_to_options(options)?;
        restore_checksum(header, before, Sum::ZERO);
        Ok(segment.ip.total_bytes)
    }

    /// Changes the fields of the fixed header.
    fn apply_to_fixed(&self, header: &mut [u8; FIXED_BYTES]) {
        if let Some(seq) = self.seq {
            header[4..8].copy_from_slice(&seq.0.to_be_bytes());
        }
        if let Some(ack) = self.ack {
            header[8..12].copy_from_slice(&ack.0.to_be_bytes());
        }
        header[13] = (TcpFlags(header[13]).without(self.clear_flags) | self.set_flags).0;
        if let Some(window) = self.window {
            header[14..16].copy_from_slice(&window.to_be_bytes());
        }
    }

    /// Changes options where they stand; their total length stays. [`Segment::locate`] has found them well-formed.
    fn apply_to_options(&self, options: &mut [u8]) -> Result<(), WireError> {
        let mut at = 0;
        while let Some(option) = Walk::new(options.get(at..).unwrap_or_default()).next() {
            let option = option?;
            let bytes = options.get_mut(at + option.start..at + option.end).unwrap_or_default();
            match option.kind {
                kind::TIMESTAMPS => {
                    if let Some(value) = self.tsval {
                        put(bytes, 2, &value.to_be_bytes());
                    }
                    if let Some(echo) = self.tsecr {
                        put(bytes, 6, &echo.to_be_bytes());
                    }
                }
                kind::SACK => cut_sack(self.sack, bytes),
                _ => {}
            }
            at += option.end;
        }
        Ok(())
    }
}

/// Cuts a SACK option in place; NOPs fill what it no longer takes.
fn cut_sack(rewrite: SackRewrite, option: &mut [u8]) {
    let keep_blocks = match rewrite {
        SackRewrite::Keep => return,
        SackRewrite::Remove => 0,
        SackRewrite::Truncate(blocks) => usize::from(blocks),
    };
    let keep_bytes = if keep_blocks == 0 { 0 } else { (2 + 8 * keep_blocks).min(option.len()) };
    if keep_bytes > 0 {
        put(option, 1, &[keep_bytes as u8]);
    }
    option.iter_mut().skip(keep_bytes).for_each(|byte| *byte = kind::NOP);
}

/// Where a TCP segment lies in its packet.
struct Segment {
    ip: IpPacket,
    /// Offset of the TCP header.
    start: usize,
    /// Offset of the payload.
    payload: usize,
    header: TcpHeader,
}

impl Segment {
    fn locate(packet: &[u8]) -> Result<Self, WireError> {
        let ip = IpPacket::parse(packet)?;
        if ip.header.protocol != protocol::TCP {
            return Err(WireError::OtherProtocol(ip.header.protocol));
        }
        if ip.fragment.is_some() {
            return Err(WireError::Fragment);
        }
        let (header, length) = TcpHeader::parse(ip.payload(packet))?;
        Ok(Self { ip, start: ip.header_bytes, payload: ip.header_bytes + length, header })
    }
}

/// Updates the checksum of a changed TCP header, whose bytes summed to `before`; `lengths` is what else changed.
fn restore_checksum(header: &mut [u8], before: Sum, grown: Sum) {
    // The field itself is part of both sums and unchanged so far: it cancels out.
    let after = Sum::ZERO.add_bytes(header).add_sum(grown);
    let sum = update(word16(header, 16), before, after);
    put(header, 16, &sum.to_be_bytes());
}

/// Lowers the MSS option of a SYN to at most `max_segment_bytes`; says whether it was larger.
///
/// A SYN without the option is left alone: its sender expects 536 (IPv4) or 1220 (IPv6) bytes, RFC 9293 section 3.7.1.
///
/// # Errors
/// When the packet is no well-formed TCP segment.
pub fn clamp_mss(packet: &mut [u8], max_segment_bytes: u16) -> Result<bool, WireError> {
    let segment = Segment::locate(packet)?;
    if !segment.header.flags.contains(TcpFlags::SYN) {
        return Ok(false);
    }
    let header = packet.get_mut(segment.start..segment.payload).ok_or(WireError::NoRoom)?;
    let before = Sum::ZERO.add_bytes(header);
    let options = header.get_mut(FIXED_BYTES..).ok_or(WireError::NoRoom)?;
    let (mut at, mut lowered) = (0, false);
    while let Some(option) = Walk::new(options.get(at..).unwrap_or_default()).next() {
        let option = option?;
        let value = at + option.start + 2;
        if option.kind == kind::MSS && word16(options, value) > max_segment_bytes {
            put(options, value, &max_segment_bytes.to_be_bytes());
            lowered = true;
        }
        at += option.end;
    }
    restore_checksum(header, before, Sum::ZERO);
    Ok(lowered)
}
