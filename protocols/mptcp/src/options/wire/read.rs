//! Options out of bytes.
use super::super::{AddAddress, Capable, DataSequence, Dss, Join, Mapping, MptcpOptions};
use super::{KIND, NOP, OptionError, VERSION, flag, subtype};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use prismux_wire::TcpHeader;
use prismux_wire::fields::{EndsEarly, Reader};

/// Ends the list of options.
const END: u8 = 0;
/// TCP's header without options.
const TCP_BYTES: usize = 20;

/// Reads a TCP header with all options; also returns its length.
///
/// # Errors
/// When it is none, or an option of MPTCP contradicts itself.
pub fn parse(segment: &[u8]) -> Result<(TcpHeader, MptcpOptions, usize), OptionError> {
    let (tcp, length) = TcpHeader::parse(segment)?;
    let mut rest = segment.get(TCP_BYTES..length).unwrap_or_default();
    let mut options = MptcpOptions::default();
    while let Some((&kind, after)) = rest.split_first() {
        match kind {
            END => break,
            NOP => rest = after,
            _ => {
                let bytes = usize::from(*after.first().ok_or(OptionError::Length)?);
                let (option, tail) = rest.split_at_checked(bytes).ok_or(OptionError::Length)?;
                let body = option.get(2..).ok_or(OptionError::Length)?;
                if kind == KIND {
                    take(&mut options, body)?;
                }
                rest = tail;
            }
        }
    }
    Ok((tcp, options, length))
}

/// Takes in one option, given without its kind and length.
fn take(options: &mut MptcpOptions, body: &[u8]) -> Result<(), OptionError> {
    let mut reader = Reader::new(body);
    let first = reader.u8()?;
    match first >> 4 {
        subtype::CAPABLE => options.capable = Some(capable(first & 15, &mut reader)?),
        subtype::JOIN => options.join = Some(join(first & flag::BACKUP != 0, &mut reader)?),
        subtype::DSS => options.dss = Some(dss(&mut reader)?),
        subtype::ADD_ADDRESS => {
            options.rare_mut().add_address = Some(address(first & flag::ECHO != 0, &mut reader)?);
        }
        subtype::REMOVE_ADDRESS => {
            options.rare_mut().remove_address = Some(reader.u8()?);
            // Further numbers: this implementation takes one at a time.
            reader = Reader::new(&[]);
        }
        subtype::PRIORITY => options.rare_mut().backup = Some(first & flag::BACKUP != 0),
        subtype::FAIL => options.rare_mut().fail = Some(number(&mut reader)?),
        subtype::FAST_CLOSE => options.rare_mut().fast_close = Some(number(&mut reader)?),
        subtype::RESET => options.rare_mut().reset = Some(reader.u8()?),
        // Those without a meaning are ignored (section 3).
        _ => reader = Reader::new(&[]),
    }
    if reader.rest().is_empty() { Ok(()) } else { Err(OptionError::Length) }
}

/// A number of 64 bits behind a byte of reserved flags.
fn number(reader: &mut Reader<'_>) -> Result<u64, EndsEarly> {
    reader.u8()?;
    reader.u64()
}

fn capable(version: u8, reader: &mut Reader<'_>) -> Result<Capable, OptionError> {
    if version != VERSION {
        return Err(OptionError::Version(version));
    }
    let flags = reader.u8()?;
    let left = |reader: &Reader<'_>| reader.rest().len();
    let key = if left(reader) >= 8 { Some(reader.u64()?) } else { None };
    let peer_key = if left(reader) >= 8 { Some(reader.u64()?) } else { None };
    let data_bytes = if left(reader) >= 2 { Some(reader.u16()?) } else { None };
    if left(reader) == 2 {
        // A checksum behind the length, which nobody has asked for.
        reader.u16()?;
    }
    Ok(Capable { checksum_required: flags & flag::CHECKSUM != 0, key, peer_key, data_bytes })
}

fn join(backup: bool, reader: &mut Reader<'_>) -> Result<Join, OptionError> {
    let address_id = reader.u8()?;
    Ok(match reader.rest().len() {
        8 => Join::Syn { backup, address_id, token: reader.u32()?, nonce: reader.u32()? },
        12 => Join::SynAck { backup, address_id, proof: reader.u64()?, nonce: reader.u32()? },
        20 => Join::Ack { proof: reader.array()? },
        _ => return Err(OptionError::Length),
    })
}

fn sequence(reader: &mut Reader<'_>, wide: bool) -> Result<DataSequence, EndsEarly> {
    Ok(if wide { DataSequence::Full(reader.u64()?) } else { DataSequence::Low(reader.u32()?) })
}

fn dss(reader: &mut Reader<'_>) -> Result<Dss, OptionError> {
    let flags = reader.u8()?;
    let has = |flag: u8| flags & flag != 0;
    let ack = if has(flag::HAS_ACK) { Some(sequence(reader, has(flag::WIDE_ACK))?) } else { None };
    let mapping = match has(flag::HAS_MAPPING) {
        true => Some(Mapping {
            data: sequence(reader, has(flag::WIDE_MAPPING))?,
            subflow: reader.u32()?,
            bytes: reader.u16()?,
        }),
        false => None,
    };
    if mapping.is_some() && reader.rest().len() == 2 {
        // A checksum that was not agreed on.
        reader.u16()?;
    }
    Ok(Dss { ack, mapping, fin: has(flag::DATA_FIN) })
}

fn address(echo: bool, reader: &mut Reader<'_>) -> Result<AddAddress, OptionError> {
    let id = reader.u8()?;
    let proof_bytes = if echo { 0 } else { 8 };
    let (v4, with_port) = match reader.rest().len().checked_sub(proof_bytes) {
        Some(4) => (true, false),
        Some(6) => (true, true),
        Some(16) => (false, false),
        Some(18) => (false, true),
        _ => return Err(OptionError::Length),
    };
    let address = match v4 {
        true => IpAddr::V4(Ipv4Addr::from(reader.array::<4>()?)),
        false => IpAddr::V6(Ipv6Addr::from(reader.array::<16>()?)),
    };
    let port = if with_port { Some(reader.u16()?) } else { None };
    let proof = if echo { None } else { Some(reader.u64()?) };
    Ok(AddAddress { id, address, port, proof })
}
