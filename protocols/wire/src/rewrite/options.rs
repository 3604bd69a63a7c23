//! Rebuilding a segment's option list to make room for a loss report.
use super::{Segment, SegmentRewrite, restore_checksum};
use crate::checksum::Sum;
use crate::error::WireError;
use crate::ip::edit_v4;
use crate::tcp_options::{MAX_OPTION_BYTES, Walk, is_known, kind};
use crate::tcp_packet::FIXED_BYTES;

/// Applies `rewrite`, whose report is set, to the segment in `buffer`.
///
/// Known options are written anew in their usual order, unknown ones follow as they were, and NOPs fill up to a multiple
/// of four. Without room for the report everything else still happens.
pub(super) fn apply_with_report(
    rewrite: &SegmentRewrite,
    segment: &Segment,
    buffer: &mut [u8],
) -> Result<usize, WireError> {
    let Some((options, options_bytes)) = rebuild(rewrite, segment, buffer)? else {
        return SegmentRewrite { report: None, ..*rewrite }.apply(buffer, segment.ip.total_bytes);
    };
    let Segment { start, payload, ip, .. } = segment;
    let (start, payload) = (*start, *payload);
    let new_payload = start + FIXED_BYTES + options_bytes;
    let total_bytes = new_payload + (ip.total_bytes - payload);
    if total_bytes > buffer.len() || total_bytes > usize::from(u16::MAX) {
        return Err(WireError::NoRoom);
    }
    // The pseudo header sums the segment's length, which fits 16 bits.
    let before = Sum::ZERO.add_bytes(&buffer[start..payload]).add_u16(ip.payload_bytes() as u16);
    buffer.copy_within(payload..ip.total_bytes, new_payload);
    let header = &mut buffer[start..new_payload];
    header[FIXED_BYTES..].copy_from_slice(&options[..options_bytes]);
    header[12] = header[12] & 0x0f | (((FIXED_BYTES + options_bytes) / 4) as u8) << 4;
    rewrite.apply_to_fixed(header);
    restore_checksum(header, before, Sum::ZERO.add_u16((total_bytes - start) as u16));
    set_ip_length(buffer, total_bytes);
    Ok(total_bytes)
}

/// The new option list and its length; `None` when there is no room for the report.
fn rebuild(
    rewrite: &SegmentRewrite,
    segment: &Segment,
    packet: &[u8],
) -> Result<Option<([u8; MAX_OPTION_BYTES], usize)>, WireError> {
    let old = &packet[segment.start + FIXED_BYTES..segment.payload];
    let (mut unknown, mut unknown_bytes) = ([0; MAX_OPTION_BYTES], 0);
    for option in Walk::new(old) {
        let option = option?;
        let bytes = &old[option.start..option.end];
        if !is_known(option.kind, bytes) {
            unknown[unknown_bytes..unknown_bytes + bytes.len()].copy_from_slice(bytes);
            unknown_bytes += bytes.len();
        }
    }
    let mut header = segment.header;
    SegmentRewrite { report: None, ..*rewrite }.apply_to_header(&mut header);
    let Some(report) = rewrite.report else { return Ok(None) };
    if !header.options.insert_loss_report(report, unknown_bytes) {
        return Ok(None);
    }
    let mut options = [kind::NOP; MAX_OPTION_BYTES];
    let known_bytes = header.options.emit(&mut options)?;
    options[known_bytes..known_bytes + unknown_bytes].copy_from_slice(&unknown[..unknown_bytes]);
    Ok(Some((options, (known_bytes + unknown_bytes).next_multiple_of(4))))
}

/// Writes the packet's new length into its IP header.
fn set_ip_length(packet: &mut [u8], total_bytes: usize) {
    if packet[0] >> 4 == 4 {
        edit_v4(packet, 2, |_| total_bytes as u16);
    } else {
        packet[4..6].copy_from_slice(&((total_bytes - 40) as u16).to_be_bytes());
    }
}
