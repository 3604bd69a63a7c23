//! Rtnetlink messages about links and addresses, as far as handoffs need them.
use crate::netlink::LINK_HEADER_BYTES;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const HEADER_BYTES: usize = 16;
const ADDRESS_HEADER_BYTES: usize = 8;
/// An address of this scope is of use beyond its link.
const SCOPE_UNIVERSE: u8 = 0;
/// Bit of an IPv6 address whose uniqueness is still being checked.
const TENTATIVE: u32 = 0x40;

/// Something that the kernel says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkNews {
    /// An interface appeared or changed.
    Link {
        /// Its number.
        index: u32,
        /// Its name.
        name: String,
        /// Switched on, and with a carrier.
        running: bool,
    },
    /// An interface is gone.
    LinkGone {
        /// Its number.
        index: u32,
    },
    /// An interface has an address that can be used.
    Address {
        /// The interface.
        index: u32,
        /// The address.
        address: IpAddr,
    },
    /// An interface has lost an address.
    AddressGone {
        /// The interface.
        index: u32,
        /// The address.
        address: IpAddr,
    },
    /// The end of an answer to a question.
    Done,
    /// The kernel refused a question, with this error number.
    Refused(i32),
}

/// Reads every message in `bytes`; adds one to `unreadable` for each that is cut short or makes no sense. Messages
/// about anything else, loopback included, are left out.
pub fn read_news(mut bytes: &[u8], unreadable: &mut u64) -> Vec<LinkNews> {
    let mut news = Vec::new();
    while !bytes.is_empty() {
        let length = word(bytes, 0).map_or(0, |length| length as usize);
        let Some(message) = bytes.get(..length).filter(|message| message.len() >= HEADER_BYTES) else {
            *unreadable += 1;
            break;
        };
        match read_message(message) {
            Ok(found) => news.extend(found),
            Err(Unreadable) => *unreadable += 1,
        }
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    news
}

struct Unreadable;

fn read_message(message: &[u8]) -> Result<Option<LinkNews>, Unreadable> {
    let kind = u16::from_ne_bytes([message[4], message[5]]);
    let payload = &message[HEADER_BYTES..];
    match kind {
        libc::RTM_NEWLINK | libc::RTM_DELLINK => read_link(kind, payload),
        libc::RTM_NEWADDR | libc::RTM_DELADDR => read_address(kind, payload),
        _ if i32::from(kind) == libc::NLMSG_DONE => Ok(Some(LinkNews::Done)),
        _ if i32::from(kind) == libc::NLMSG_ERROR => {
            let code = word(payload, 0).ok_or(Unreadable)? as i32;
            Ok((code != 0).then_some(LinkNews::Refused(-code)))
        }
        _ => Ok(None),
    }
}

fn read_link(kind: u16, payload: &[u8]) -> Result<Option<LinkNews>, Unreadable> {
    let index = word(payload, 4).ok_or(Unreadable)?;
    let flags = word(payload, 8).ok_or(Unreadable)? as i32;
    if payload.len() < LINK_HEADER_BYTES {
        return Err(Unreadable);
    }
    if flags & libc::IFF_LOOPBACK != 0 {
        return Ok(None);
    }
    if kind == libc::RTM_DELLINK {
        return Ok(Some(LinkNews::LinkGone { index }));
    }
    let name = attributes(&payload[LINK_HEADER_BYTES..])
        .find(|(kind, _)| *kind == libc::IFLA_IFNAME)
        .map(|(_, value)| String::from_utf8_lossy(value).trim_end_matches('\0').to_owned());
    let wanted = libc::IFF_UP | libc::IFF_RUNNING;
    let running = flags & wanted == wanted;
    Ok(name.map(|name| LinkNews::Link { index, name, running }))
}

fn read_address(kind: u16, payload: &[u8]) -> Result<Option<LinkNews>, Unreadable> {
    let [family, _, flags, scope] = *payload.first_chunk().ok_or(Unreadable)?;
    let index = word(payload, 4).ok_or(Unreadable)?;
    let (mut local, mut remote, mut flags) = (None, None, u32::from(flags));
    for (kind, value) in attributes(&payload[ADDRESS_HEADER_BYTES..]) {
        match kind {
            libc::IFA_LOCAL => local = address(family, value),
            libc::IFA_ADDRESS => remote = address(family, value),
            libc::IFA_FLAGS => flags = word(value, 0).unwrap_or(flags),
            _ => {}
        }
    }
    // On a point-to-point link IFA_ADDRESS is the peer's and IFA_LOCAL ours; IPv6 may have IFA_ADDRESS alone.
    let Some(address) = local.or(remote) else { return Ok(None) };
    if kind == libc::RTM_DELADDR {
        return Ok(Some(LinkNews::AddressGone { index, address }));
    }
    let usable = scope == SCOPE_UNIVERSE && flags & TENTATIVE == 0 && !address.is_loopback();
    Ok(usable.then_some(LinkNews::Address { index, address }))
}

fn address(family: u8, value: &[u8]) -> Option<IpAddr> {
    match i32::from(family) {
        libc::AF_INET => <[u8; 4]>::try_from(value).ok().map(|bytes| Ipv4Addr::from(bytes).into()),
        libc::AF_INET6 => <[u8; 16]>::try_from(value).ok().map(|bytes| Ipv6Addr::from(bytes).into()),
        _ => None,
    }
}

/// The attributes in `bytes`, up to the first that is cut short.
fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let [a, b, c, d] = *bytes.first_chunk()?;
        let length = usize::from(u16::from_ne_bytes([a, b]));
        let kind = u16::from_ne_bytes([c, d]) & !(libc::NLA_F_NESTED as u16);
        let value = bytes.get(4..length)?;
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, value))
    })
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|word| u32::from_ne_bytes(*word))
}
