//! Rebuilding a segment's option list to make room for a loss report.
use super::{Segment, SegmentRewrite, restore_checksum};
use crate::checksum::Sum;
use crate::error::WireError;
use crate::ip::{edit_v4, put};
use crate::tcp_options::{MAX_OPTION_BYTES, Walk, is_known, kind};
use crate::tcp_packet::FIXED_BYTES;

/// Applies `rewrite`, whose report is set, to the segment in `buffer`.
///
/// Known options are written anew in their usual order, unknown ones follow as they were, and NOPs fill up to a
/// multiple of four. Without room for the report everything else still happens.
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
    let old_header = buffer.get(start..payload).ok_or(WireError::NoRoom)?;
    let before = Sum::ZERO.add_bytes(old_header).add_u16(ip.payload_bytes() as u16);
    buffer.copy_within(payload..ip.total_bytes, new_payload);
    let header = buffer.get_mut(start..new_payload).ok_or(WireError::NoRoom)?;
    put(header, FIXED_BYTES, options.get(..options_bytes).ok_or(WireError::NoRoom)?);
    let fixed = header.first_chunk_mut().ok_or(WireError::NoRoom)?;
    fixed[12] = fixed[12] & 0x0f | (((FIXED_BYTES + options_bytes) / 4) as u8) << 4;
    rewrite.apply_to_fixed(fixed);
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
    let old = packet.get(segment.start + FIXED_BYTES..segment.payload).ok_or(WireError::NoRoom)?;
    let (mut unknown, mut unknown_bytes) = ([0; MAX_OPTION_BYTES], 0);
    for option in Walk::new(old) {
        let option = option?;
        let bytes = option.bytes(old);
        if !is_known(option.kind, bytes) {
            put(&mut unknown, unknown_bytes, bytes);
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
    put(&mut options, known_bytes, unknown.get(..unknown_bytes).unwrap_or_default());
    Ok(Some((options, (known_bytes + unknown_bytes).next_multiple_of(4))))
}

/// Writes the packet's new length into its IP header.
fn set_ip_length(packet: &mut [u8], total_bytes: usize) {
    if packet.first().is_some_and(|byte| byte >> 4 == 4) {
        edit_v4(packet, 2, |_| total_bytes as u16);
    } else {
        put(packet, 4, &((total_bytes - 40) as u16).to_be_bytes());
    }
}
