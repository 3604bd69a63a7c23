//! What asker and lender say, in network byte order.
//!
//! ```text
//!   both     "PXL" | version 1 | kind (8) | nonce (64)
//!   ask      name | key (256) | proxy: family (8), address, port (16) | count (8) | receivers: family, length, address
//!            zeros up to 512 bytes, so that no answer is longer than what it answers
//!   answer   verdict (8) | key (256) | name
//!   name     length (8) | letters, digits, dots, dashes, underscores
//! ```
use super::Verdict;
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::net::{IpAddr, SocketAddr};

const MAGIC: [u8; 4] = *b"PXL\x01";
const KIND_ASK: u8 = 1;
const KIND_ANSWER: u8 = 2;

/// Bytes of an ask, always.
pub const ASK_BYTES: usize = 512;
/// Bytes of a public key (X25519, RFC 7748).
pub const KEY_BYTES: usize = 32;
/// Bytes of a name, at most.
pub const MAX_NAME_BYTES: usize = 32;
/// Receivers of one ask, at most.
pub const MAX_RECEIVERS: usize = 8;

/// A range of addresses whose traffic would pass the uplink.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Receiver {
    /// The first address.
    pub address: IpAddr,
    /// Bits that count: 32 at most for IPv4, 128 for IPv6.
    pub length: u8,
}

/// Somebody asks for the uplink.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ask {
    /// Who, by the name that it gives itself.
    pub name: String,
    /// Where its proxy is.
    pub proxy: SocketAddr,
    /// The proxy's public key.
    pub proxy_key: [u8; KEY_BYTES],
    /// Whose traffic it is: 1 to [`MAX_RECEIVERS`].
    pub receivers: Vec<Receiver>,
}

/// What the lender says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// To which ask: the number that came with it.
    pub nonce: u64,
    /// What the owner has decided.
    pub verdict: Verdict,
    /// The lender's public key.
    pub key: [u8; KEY_BYTES],
    /// The lender's name.
    pub name: String,
}

/// Why bytes are no message, or values make none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Malformed {
    /// It begins otherwise, or is of another kind.
    Kind,
    /// It is too short or too long.
    Length,
    /// A name that is none.
    Name,
    /// An address, a range or a number of them that is none.
    Address,
    /// A verdict that is none.
    Verdict,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kind => "no message of this protocol",
            Self::Length => "too short or too long",
            Self::Name => "no name: expected 1 to 32 letters, digits, dots, dashes or underscores",
            Self::Address => "no address or range of addresses, or none or too many of them",
            Self::Verdict => "no verdict",
        })
    }
}

impl core::error::Error for Malformed {}

/// Whether `name` is one: 1 to 32 letters, digits, dots, dashes or underscores.
pub fn is_valid_name(name: &str) -> bool {
    (1..=MAX_NAME_BYTES).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

impl Ask {
    /// What is asked for, as bytes: two asks with the same say the same.
    ///
    /// # Errors
    /// A name that is none, or receivers that are none or too many.
    pub fn content(&self) -> Result<Vec<u8>, Malformed> {
        let mut out = Vec::with_capacity(ASK_BYTES);
        put_name(&mut out, &self.name)?;
        out.extend_from_slice(&self.proxy_key);
        put_address(&mut out, self.proxy.ip());
        out.extend_from_slice(&self.proxy.port().to_be_bytes());
        if !(1..=MAX_RECEIVERS).contains(&self.receivers.len()) || self.proxy.port() == 0 {
            return Err(Malformed::Address);
        }
        out.push(self.receivers.len() as u8);
        for receiver in &self.receivers {
            if receiver.length > bits(receiver.address) {
                return Err(Malformed::Address);
            }
            out.push(receiver.length);
            put_address(&mut out, receiver.address);
        }
        Ok(out)
    }

    /// The datagram, of [`ASK_BYTES`]. `nonce` is to be one that nobody can guess.
    ///
    /// # Errors
    /// As of [`Ask::content`].
    pub fn emit(&self, nonce: u64) -> Result<Vec<u8>, Malformed> {
        let mut out = header(KIND_ASK, nonce);
        out.extend(self.content()?);
        out.resize(ASK_BYTES, 0);
        Ok(out)
    }

    /// Reads a datagram: its number, and what is asked for.
    ///
    /// # Errors
    /// [`Malformed`]: what is wrong with it.
    pub fn parse(datagram: &[u8]) -> Result<(u64, Self), Malformed> {
        if datagram.len() != ASK_BYTES {
            return Err(Malformed::Length);
        }
        let mut reader = Reader(datagram);
        let nonce = reader.header(KIND_ASK)?;
        let (name, proxy_key, address) = (reader.name()?, reader.array()?, reader.address()?);
        let proxy = SocketAddr::new(address, u16::from_be_bytes(reader.array()?));
        let [count] = reader.array()?;
        let receiver = |_| {
            let [length] = reader.array()?;
            Ok(Receiver { address: reader.address()?, length })
        };
        let receivers = (0..count).map(receiver).collect::<Result<_, _>>()?;
        let ask = Self { name, proxy, proxy_key, receivers };
        ask.content()?;
        if reader.0.iter().any(|&byte| byte != 0) {
            return Err(Malformed::Length);
        }
        Ok((nonce, ask))
    }
}

impl Answer {
    /// The datagram.
    ///
    /// # Errors
    /// A name that is none.
    pub fn emit(&self) -> Result<Vec<u8>, Malformed> {
        let mut out = header(KIND_ANSWER, self.nonce);
        out.push(self.verdict.number());
        out.extend_from_slice(&self.key);
        put_name(&mut out, &self.name)?;
        Ok(out)
    }

    /// Reads a datagram.
    ///
    /// # Errors
    /// [`Malformed`]: what is wrong with it.
    pub fn parse(datagram: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader(datagram);
        let nonce = reader.header(KIND_ANSWER)?;
        let [verdict] = reader.array()?;
        let verdict = Verdict::of_number(verdict).ok_or(Malformed::Verdict)?;
        let answer = Self { nonce, verdict, key: reader.array()?, name: reader.name()? };
        if reader.0.is_empty() { Ok(answer) } else { Err(Malformed::Length) }
    }
}

fn header(kind: u8, nonce: u64) -> Vec<u8> {
    let mut out = Vec::with_capacity(ASK_BYTES);
    out.extend_from_slice(&MAGIC);
    out.push(kind);
    out.extend_from_slice(&nonce.to_be_bytes());
    out
}

const fn bits(address: IpAddr) -> u8 {
    if address.is_ipv6() { 128 } else { 32 }
}

fn put_name(out: &mut Vec<u8>, name: &str) -> Result<(), Malformed> {
    if !is_valid_name(name) {
        return Err(Malformed::Name);
    }
    out.push(name.len() as u8);
    out.extend_from_slice(name.as_bytes());
    Ok(())
}

fn put_address(out: &mut Vec<u8>, address: IpAddr) {
    match address {
        IpAddr::V4(v4) => {
            out.push(4);
            out.extend_from_slice(&v4.octets());
        }
        IpAddr::V6(v6) => {
            out.push(6);
            out.extend_from_slice(&v6.octets());
        }
    }
}

/// What is left to be read.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Malformed::Length)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        self.take(N)?.try_into().map_err(|_| Malformed::Length)
    }

    /// The number behind the right beginning.
    fn header(&mut self, kind: u8) -> Result<u64, Malformed> {
        if self.array()? != MAGIC || self.array()? != [kind] {
            return Err(Malformed::Kind);
        }
        self.array().map(u64::from_be_bytes)
    }

    fn name(&mut self) -> Result<String, Malformed> {
        let [length] = self.array()?;
        let name = core::str::from_utf8(self.take(length.into())?).map_err(|_| Malformed::Name)?;
        if is_valid_name(name) { Ok(name.to_owned()) } else { Err(Malformed::Name) }
    }

    fn address(&mut self) -> Result<IpAddr, Malformed> {
        match self.array()? {
            [4] => self.array::<4>().map(IpAddr::from),
            [6] => self.array::<16>().map(IpAddr::from),
            _ => Err(Malformed::Address),
        }
    }
}

#[cfg(test)]
mod tests;
