//! The core's changes to packets, as bytes.
use prismux_linux::packet::PacketBuf;
use prismux_prism::{AckRewrite, DataRewrite, SackRewrite};
use prismux_wire::rewrite::clamp_mss;
use prismux_wire::{SegmentRewrite, TcpPacket, WireError};

/// Changes an ACK that leaves the tunnels as the core says.
///
/// # Errors
/// When it is no well-formed TCP segment.
pub(crate) fn change_ack(rewrite: &AckRewrite, packet: &mut PacketBuf) -> Result<(), WireError> {
    let length = packet.len();
    let length = to_bytes(rewrite).apply(packet.buffer_mut(), length)?;
    packet.set_length(length);
    match rewrite.mss_clamp {
        Some(mss) => clamp_mss(packet.buffer_mut(), mss).map(drop),
        None => Ok(()),
    }
}

/// Changes the data packet in `buffer[..length]` as the core says.
///
/// # Errors
/// When it is no well-formed TCP segment.
pub(crate) fn change_data(rewrite: &DataRewrite, buffer: &mut [u8], length: usize) -> Result<(), WireError> {
    if rewrite.tsval_at_least.is_some() {
        let header = TcpPacket::parse(buffer.get(..length).unwrap_or_default())?.header;
        let tsval = rewrite.new_tsval(&header);
        if tsval.is_some() {
            SegmentRewrite { tsval, ..SegmentRewrite::default() }.apply(buffer, length)?;
        }
    }
    if let Some(mss) = rewrite.mss_clamp {
        clamp_mss(buffer, mss)?;
    }
    Ok(())
}

/// The core's verdict on an ACK as changes to bytes.
pub(crate) fn to_bytes(rewrite: &AckRewrite) -> SegmentRewrite {
    SegmentRewrite {
        seq: rewrite.seq,
        ack: Some(rewrite.ack),
        window: Some(rewrite.window),
        tsval: rewrite.tsval,
        set_flags: rewrite.ecn_echo,
        sack: match rewrite.sack {
            SackRewrite::Keep => prismux_wire::SackRewrite::Keep,
            SackRewrite::Truncate(count) => prismux_wire::SackRewrite::Truncate(count),
            SackRewrite::Remove => prismux_wire::SackRewrite::Remove,
        },
        report: rewrite.report,
        ..SegmentRewrite::default()
    }
}
