//! Messages of the Domain Name System (RFC 1035), as far as strangers may send them.
use alloc::vec::Vec;
use simple_dns::{OPCODE, Packet, PacketFlag, RCODE, header_buffer};

/// Bytes of a message that is read, at most: what fits an Ethernet frame over IPv4 (RFC 6762 section 17).
pub const MAX_BYTES: usize = 1472;

/// The least that a question takes: an empty name, type and class. A record takes more.
const LEAST_ENTRY_BYTES: usize = 5;
const HEADER_BYTES: usize = 12;

/// Reads a message; `None` when it is none, or longer than is read.
pub(super) fn parse(bytes: &[u8]) -> Option<Packet<'_>> {
    // The library makes room for as many entries as are announced, before it looks for them.
    let announced = [
        header_buffer::questions(bytes).ok()?,
        header_buffer::answers(bytes).ok()?,
        header_buffer::name_servers(bytes).ok()?,
        header_buffer::additional_records(bytes).ok()?,
    ];
    let entries: usize = announced.into_iter().map(usize::from).sum();
    let room = bytes.len().checked_sub(HEADER_BYTES)?;
    if bytes.len() > MAX_BYTES || entries > room / LEAST_ENTRY_BYTES {
        return None;
    }
    Packet::parse(bytes).ok()
}

/// Whether it answers something. What is neither this nor a query is to be ignored (RFC 6762 section 18).
pub(super) fn is_answer(packet: &Packet<'_>) -> bool {
    is_plain(packet) && packet.has_flags(PacketFlag::RESPONSE)
}

/// Whether it asks for something.
pub(super) fn is_query(packet: &Packet<'_>) -> bool {
    is_plain(packet) && !packet.has_flags(PacketFlag::RESPONSE)
}

fn is_plain(packet: &Packet<'_>) -> bool {
    packet.opcode() == OPCODE::StandardQuery && packet.rcode() == RCODE::NoError
}

/// An answer without anything in it yet.
pub(super) fn answer<'a>(id: u16) -> Packet<'a> {
    let mut packet = Packet::new_reply(id);
    packet.set_flags(PacketFlag::AUTHORITATIVE_ANSWER);
    packet
}

/// Its bytes; `None` for more than a datagram holds.
pub(super) fn emit(packet: &Packet<'_>) -> Option<Vec<u8>> {
    packet.build_bytes_vec_compressed().ok().filter(|bytes| bytes.len() <= MAX_BYTES)
}

#[cfg(test)]
mod tests;
