//! A decision on record beside the one of the replay.
use crate::carrier::rewrite::{change_data, to_bytes};
use crate::proxy::recorder::{SNAP_BYTES, interface_name};
use prismux_prism::{AckRewrite, DataRewrite, Verdict};
use prismux_trace::pcapng::Packet;
use prismux_wire::rewrite::clamp_mss;
use prismux_wire::{TcpHeader, TcpPacket};

/// A packet as the simulator has it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Typed {
    /// Which input it is.
    pub number: usize,
    /// Its TCP header, if it is TCP.
    pub header: Option<TcpHeader>,
}

/// A packet that went in, as far as it was kept.
pub(super) struct Input {
    /// The first bytes.
    pub kept: Vec<u8>,
    /// Its whole length.
    pub length: usize,
}

impl Input {
    pub fn of(packet: &Packet) -> Self {
        Self { kept: packet.bytes.clone(), length: packet.original_bytes as usize }
    }

    /// The packet in full length. What was not kept is payload, which nobody looks at.
    pub fn whole(&self) -> Vec<u8> {
        let mut bytes = self.kept.clone();
        bytes.resize(self.length.max(self.kept.len()), 0);
        bytes
    }
}

/// What the recording shows.
pub(super) enum Recorded<'a> {
    Forward { link: &'a str },
    Release,
    Drop { reason: &'a str },
}

/// Compares a recorded decision with the replayed one; on success says whether it changed the packet.
pub(super) fn compare(
    recorded: &Recorded<'_>,
    packet: &Packet,
    decided: Option<&Verdict<Typed>>,
    inputs: &[Input],
) -> Result<bool, String> {
    let (typed, written) = match (recorded, decided) {
        (Recorded::Forward { link }, Some(Verdict::Forward { link: chosen, packet: typed, rewrite, .. }))
            if interface_name(*chosen) == *link =>
        {
            (header_after(typed, |header| rewrite.apply(header)), forwarded(whole(inputs, typed), rewrite)?)
        }
        (Recorded::Release, Some(Verdict::Release { packet: typed, rewrite })) => {
            (header_after(typed, |header| rewrite.apply(header)), released(whole(inputs, typed), rewrite)?)
        }
        (Recorded::Drop { reason }, Some(Verdict::Drop { packet: typed, reason: chosen }))
            if chosen.name() == *reason =>
        {
            (typed.header, whole(inputs, typed))
        }
        _ => {
            return Err(format!("recorded {}, replayed {}", described(recorded), describe(decided)));
        }
    };
    let kept = written.get(..SNAP_BYTES).unwrap_or(&written);
    if kept != packet.bytes.as_slice() {
        let place = kept.iter().zip(&packet.bytes).position(|(a, b)| a != b);
        let place = place.unwrap_or(kept.len().min(packet.bytes.len()));
        return Err(format!("{}: the bytes differ from byte {place} on", described(recorded)));
    }
    // The simulator never sees bytes: its header must say the same as what Linux put on the wire.
    let on_wire = TcpPacket::parse(&Input::of(packet).whole()).ok().map(|tcp| tcp.header);
    if typed != on_wire {
        return Err(format!(
            "{}: typed header {typed:?}, header on the wire {on_wire:?}",
            described(recorded)
        ));
    }
    Ok(decided.is_some_and(|verdict| whole(inputs, typed_of(verdict)) != written))
}

fn typed_of(verdict: &Verdict<Typed>) -> &Typed {
    let (Verdict::Forward { packet, .. } | Verdict::Release { packet, .. } | Verdict::Drop { packet, .. }) =
        verdict;
    packet
}

/// The packet as it went in.
fn whole(inputs: &[Input], typed: &Typed) -> Vec<u8> {
    inputs.get(typed.number).map_or_else(Vec::new, Input::whole)
}

fn header_after(typed: &Typed, change: impl FnOnce(&mut TcpHeader)) -> Option<TcpHeader> {
    let mut header = typed.header?;
    change(&mut header);
    Some(header)
}

fn forwarded(mut bytes: Vec<u8>, rewrite: &DataRewrite) -> Result<Vec<u8>, String> {
    let length = bytes.len();
    change_data(rewrite, &mut bytes, length).map_err(|error| error.to_string())?;
    Ok(bytes)
}

fn released(mut bytes: Vec<u8>, rewrite: &AckRewrite) -> Result<Vec<u8>, String> {
    /// A report makes a header longer.
    const ROOM_BYTES: usize = 40;
    let input_bytes = bytes.len();
    bytes.resize(input_bytes + ROOM_BYTES, 0);
    let length = to_bytes(rewrite).apply(&mut bytes, input_bytes).map_err(|error| error.to_string())?;
    bytes.truncate(length);
    if let Some(mss) = rewrite.mss_clamp {
        clamp_mss(&mut bytes, mss).map_err(|error| error.to_string())?;
    }
    Ok(bytes)
}

fn described(recorded: &Recorded<'_>) -> String {
    match recorded {
        Recorded::Forward { link } => format!("sent over {link}"),
        Recorded::Release => "released".to_owned(),
        Recorded::Drop { reason } => format!("dropped ({reason})"),
    }
}

/// A decision in words.
pub(super) fn describe(verdict: Option<&Verdict<Typed>>) -> String {
    match verdict {
        None => "nothing".to_owned(),
        Some(Verdict::Forward { link, packet, .. }) => {
            format!("sent over {} (packet {})", interface_name(*link), packet.number)
        }
        Some(Verdict::Release { packet, rewrite }) => {
            format!("released (packet {}, ACK {})", packet.number, rewrite.ack.0)
        }
        Some(Verdict::Drop { packet, reason }) => {
            format!("dropped (packet {}, {})", packet.number, reason.name())
        }
    }
}
