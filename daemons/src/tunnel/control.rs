//! What members and proxy say to each other inside the tunnel: who is there, from where, and until when.
//!
//! A member opens the tunnel with a [`Hello`], which also tells the proxy the address to answer to: whatever
//! the NAT in between made of the member's own. Messages travel as GRE packets of protocol type
//! [`PROTOCOL_TYPE`], so they keep exactly the path alive that data uses.
//!
//! Inside a sealed session ([`crate::tunnel::sealing`]) the session authenticates both ends and all that passes. In
//! plain tunnels each message ends with HMAC-SHA-256-128 (RFC 4868) under the shared token. A hello names the proxy's
//! current session and a counter that only rises; a proxy that does not know them (because it has been restarted)
//! answers with a [`Challenge`], so that a recorded hello cannot be played back. This authenticates *registration*.
//! Data packets of plain tunnels are neither encrypted nor authenticated: they are accepted by source
//! address, as GRE's are.
//!
//! Where both know of receipts, the member offers them once it is registered, and the proxy accepts; from then on
//! the packets to this member carry numbers, and the member answers with receipts. A proxy that does not know an
//! [`Offer`] drops it, a member that does not know of receipts offers none: then nothing changes on the wire. A member
//! that numbers what it sends gets receipts too, in the epoch that the [`Accept`] names. Offers and answers that say
//! that their sender makes use of repair packets ([`super::repairs`]) have kinds of their own, which an older end
//! drops.
//!
//! Between a gateway and the uplinks of a home either side probes a link that has stopped to answer: a [`Probe`] is
//! answered by an [`Message::Echo`] of it. So does a member with neighbours. Probes that are filled up to a size ask
//! whether the path takes it ([`super::path_mtu`]): an older end drops them. A home that has lost an uplink says so
//! over another one ([`Lost`]). The hellos of an uplink say that it is to stand by while others live, or that it has
//! a rate limit.
//!
//! Inside sealed sessions a member and its proxy come to signed statements of what was carried
//! ([`prismux_sharing::settlement`]). The member begins; an older proxy drops that, and is not asked for long.
//!
//! Layout, all integers big-endian: magic (4 bytes), version (1), kind (1), body, tag (16).
mod token;

use hmac::Mac;
use prismux_receipts::{MESSAGE_BYTES, Receipt};
pub use prismux_sharing::Tier;
use prismux_sharing::settlement;
use prismux_units::{Duration, Rate};
pub use token::Token;

/// The EtherType that IEEE 802 reserves for private use, "Local Experimental Ethertype 1".
pub const PROTOCOL_TYPE: u16 = 0x88b5;

/// Longest name of a member, in bytes.
pub const MAX_NAME_BYTES: usize = 32;

/// Shortest token that is accepted, in bytes.
pub const MIN_TOKEN_BYTES: usize = 16;

/// A proxy asks a member that calls from a new address for a counter up to this much greater.
pub const MAX_LEAP: u64 = 2048;

const MAGIC: [u8; 4] = *b"prmx";
const VERSION: u8 = 1;
const PREFIX_BYTES: usize = 6;
const TAG_BYTES: usize = 16;
const HELLO: u8 = 1;
const WELCOME: u8 = 2;
const CHALLENGE: u8 = 3;
const BYE: u8 = 4;
const OFFER: u8 = 5;
const ACCEPT: u8 = 6;
const RECEIPT: u8 = 7;
const PROBE: u8 = 8;
const ECHO: u8 = 9;
const LOST: u8 = 10;
/// A hello with a tier and a rate limit behind the rate.
const HELLO_WITH_TERMS: u8 = 11;
/// An offer of somebody who makes use of repairs.
const OFFER_WITH_REPAIRS: u8 = 12;
/// The answer of somebody who does.
const ACCEPT_WITH_REPAIRS: u8 = 13;
const PATH_PROBE: u8 = 14;
/// What a lender and a borrower say of what was carried.
const SETTLEMENT: u8 = 15;

/// What the writers of receipts take a message's frame for.
const _: () = assert!(PREFIX_BYTES + TAG_BYTES == MESSAGE_BYTES as usize);

/// A member's "I am here".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hello {
    /// The session that the proxy announced last; 0 when none is known.
    pub session: u64,
    /// Rises from hello to hello.
    pub counter: u64,
    /// The next hello comes within this time. Sent in milliseconds.
    pub next_within: Duration,
    /// The link's rate, if the member cares to state it.
    pub rate: Option<Rate>,
    /// It wants nothing while a link of a better tier lives.
    pub tier: Tier,
    /// It wants no more than this, whatever its link carries.
    pub limit: Option<Rate>,
    /// The member's name: 1 to 32 letters, digits, dots, dashes and underscores.
    pub name: String,
}

impl Hello {
    /// Whether it says more than older proxies know.
    fn has_terms(&self) -> bool {
        self.tier != Tier::Primary || self.limit.is_some()
    }
}

/// The proxy's answer to a hello it accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Welcome {
    /// The proxy's session.
    pub session: u64,
    /// The counter of the hello answered.
    pub counter: u64,
}

/// The proxy's answer to a hello of another session or with a counter that has been used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Challenge {
    /// The proxy's session: repeat the hello with this.
    pub session: u64,
    /// And with a counter greater than this.
    pub counter: u64,
}

/// A member leaves, on purpose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bye {
    /// The proxy's session.
    pub session: u64,
    /// Greater than in every hello before.
    pub counter: u64,
    /// The member's name.
    pub name: String,
}

/// A member offers to write receipts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offer {
    /// The proxy's session.
    pub session: u64,
    /// Greater than in every hello before.
    pub counter: u64,
    /// The epoch that the receipts will name.
    pub epoch: u32,
    /// The member makes use of repair packets.
    pub repairs: bool,
}

/// The proxy's answer to an offer: packets carry numbers from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accept {
    /// The proxy's session.
    pub session: u64,
    /// The counter of the offer answered.
    pub counter: u64,
    /// The epoch of the receipts that the proxy writes for packets with numbers.
    pub epoch: u32,
    /// The proxy makes use of repair packets.
    pub repairs: bool,
}

/// The question whether a link that has gone silent passes packets in both directions again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probe {
    /// Who asks: 0 for the proxy, 1 for the home or the member; 2 and 3 whether a size passes.
    pub asker: u64,
    /// Rises from probe to probe; the echo has the same.
    pub number: u64,
}

/// A home has lost an uplink, and says so over another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// The proxy's session.
    pub session: u64,
    /// Rises from message to message.
    pub counter: u64,
    /// The name under which the lost uplink is registered.
    pub name: String,
}

/// A message of the control protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// Member to proxy.
    Hello(Hello),
    /// Proxy to member.
    Welcome(Welcome),
    /// Proxy to member.
    Challenge(Challenge),
    /// Member to proxy.
    Bye(Bye),
    /// Member to proxy.
    Offer(Offer),
    /// Proxy to member.
    Accept(Accept),
    /// Either way: from where packets with numbers arrive.
    Receipt(Receipt),
    /// Either way between a gateway and a home; member to proxy, and to its neighbours.
    Probe(Probe),
    /// A probe of so many bytes as a message. Either way between a gateway and a home.
    PathProbe(Probe, usize),
    /// The answer to a probe.
    Echo(Probe),
    /// Home to gateway.
    Lost(Lost),
    /// Either way between a member and its proxy, inside a sealed session.
    Settlement(settlement::Message),
}

/// Why bytes are not an acceptable message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ControlError {
    /// Cut short, of another version, or with impossible contents.
    Malformed,
    /// The tag does not match: another token, or tampered with.
    BadTag,
}

/// True for a name that a member may have.
pub fn is_valid_name(name: &str) -> bool {
    (1..=MAX_NAME_BYTES).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
}

impl Message {
    /// The message as bytes, tag included.
    pub fn emit(&self, token: &Token) -> Vec<u8> {
        let mut out = Vec::with_capacity(96);
        out.extend_from_slice(&MAGIC);
        out.push(VERSION);
        out.push(self.kind());
        match self {
            Self::Hello(hello) => {
                out.extend_from_slice(&hello.session.to_be_bytes());
                out.extend_from_slice(&hello.counter.to_be_bytes());
                let within = u32::try_from(hello.next_within.as_millis()).unwrap_or(u32::MAX);
                out.extend_from_slice(&within.to_be_bytes());
                out.extend_from_slice(&hello.rate.map_or(0, Rate::as_bps).to_be_bytes());
                if hello.has_terms() {
                    out.push(hello.tier as u8);
                    out.extend_from_slice(&hello.limit.map_or(0, Rate::as_bps).to_be_bytes());
                }
                out.extend_from_slice(hello.name.as_bytes());
            }
            Self::Welcome(Welcome { session, counter })
            | Self::Challenge(Challenge { session, counter })
            | Self::Probe(Probe { asker: session, number: counter })
            | Self::Echo(Probe { asker: session, number: counter })
            | Self::PathProbe(Probe { asker: session, number: counter }, _) => {
                out.extend_from_slice(&session.to_be_bytes());
                out.extend_from_slice(&counter.to_be_bytes());
            }
            Self::Bye(Bye { session, counter, name }) | Self::Lost(Lost { session, counter, name }) => {
                out.extend_from_slice(&session.to_be_bytes());
                out.extend_from_slice(&counter.to_be_bytes());
                out.extend_from_slice(name.as_bytes());
            }
            Self::Offer(Offer { session, counter, epoch, .. })
            | Self::Accept(Accept { session, counter, epoch, .. }) => {
                out.extend_from_slice(&session.to_be_bytes());
                out.extend_from_slice(&counter.to_be_bytes());
                out.extend_from_slice(&epoch.to_be_bytes());
            }
            Self::Receipt(receipt) => receipt.emit(&mut out),
            Self::Settlement(message) => message.emit(&mut out),
        }
        if let &Self::PathProbe(_, bytes) = self {
            out.resize(bytes.saturating_sub(TAG_BYTES).max(out.len()), 0);
        }
        let tag = token.mac(&out).finalize().into_bytes();
        out.extend(tag.iter().take(TAG_BYTES));
        out
    }

    /// Reads a message and verifies its tag, in constant time, before anything else is believed.
    ///
    /// # Errors
    /// [`ControlError`]: nothing of it is to be believed.
    pub fn parse(bytes: &[u8], token: &Token) -> Result<Self, ControlError> {
        let split = bytes.len().checked_sub(TAG_BYTES).filter(|&at| at >= PREFIX_BYTES);
        let (signed, tag) = bytes.split_at(split.ok_or(ControlError::Malformed)?);
        let (&[m0, m1, m2, m3, version, kind], rest) =
            signed.split_first_chunk::<PREFIX_BYTES>().ok_or(ControlError::Malformed)?;
        if [m0, m1, m2, m3] != MAGIC || version != VERSION {
            return Err(ControlError::Malformed);
        }
        token.mac(signed).verify_truncated_left(tag).map_err(|_| ControlError::BadTag)?;
        if kind == RECEIPT {
            return Receipt::parse(rest).map(Self::Receipt).map_err(|_| ControlError::Malformed);
        }
        if kind == SETTLEMENT {
            let message = settlement::Message::parse(rest).map_err(|_| ControlError::Malformed)?;
            return Ok(Self::Settlement(message));
        }
        let mut body = Reader(rest);
        let message = body.message(kind).ok_or(ControlError::Malformed)?;
        if body.0.is_empty() { Ok(message) } else { Err(ControlError::Malformed) }
    }

    fn kind(&self) -> u8 {
        match self {
            Self::Hello(hello) if hello.has_terms() => HELLO_WITH_TERMS,
            Self::Hello(_) => HELLO,
            Self::Welcome(_) => WELCOME,
            Self::Challenge(_) => CHALLENGE,
            Self::Bye(_) => BYE,
            Self::Offer(Offer { repairs: true, .. }) => OFFER_WITH_REPAIRS,
            Self::Offer(_) => OFFER,
            Self::Accept(Accept { repairs: true, .. }) => ACCEPT_WITH_REPAIRS,
            Self::Accept(_) => ACCEPT,
            Self::Receipt(_) => RECEIPT,
            Self::Probe(_) => PROBE,
            Self::Echo(_) => ECHO,
            Self::Lost(_) => LOST,
            Self::PathProbe(..) => PATH_PROBE,
            Self::Settlement(_) => SETTLEMENT,
        }
    }

    /// Whether bytes would be a message of lender and borrower, if they are one.
    pub fn is_settlement(bytes: &[u8]) -> bool {
        bytes.get(PREFIX_BYTES - 1) == Some(&SETTLEMENT)
    }
}

/// The part of a message that has not been read yet.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn message(&mut self, kind: u8) -> Option<Message> {
        let (session, counter) = (self.u64()?, self.u64()?);
        Some(match kind {
            HELLO | HELLO_WITH_TERMS => {
                let next_within = Duration::from_millis(u64::from(self.u32()?));
                let rate = Some(self.u64()?).filter(|&bps| bps > 0).map(Rate::from_bps);
                let (tier, limit) = if kind == HELLO { (Tier::Primary, None) } else { self.terms()? };
                Message::Hello(Hello { session, counter, next_within, rate, tier, limit, name: self.name()? })
            }
            WELCOME => Message::Welcome(Welcome { session, counter }),
            CHALLENGE => Message::Challenge(Challenge { session, counter }),
            ACCEPT | ACCEPT_WITH_REPAIRS => {
                let repairs = kind == ACCEPT_WITH_REPAIRS;
                Message::Accept(Accept { session, counter, epoch: self.u32()?, repairs })
            }
            PROBE => Message::Probe(Probe { asker: session, number: counter }),
            ECHO => Message::Echo(Probe { asker: session, number: counter }),
            PATH_PROBE => {
                let filling = std::mem::take(&mut self.0);
                let bytes = PREFIX_BYTES + 16 + filling.len() + TAG_BYTES;
                Message::PathProbe(Probe { asker: session, number: counter }, bytes)
            }
            LOST => Message::Lost(Lost { session, counter, name: self.name()? }),
            OFFER | OFFER_WITH_REPAIRS => {
                let repairs = kind == OFFER_WITH_REPAIRS;
                Message::Offer(Offer { session, counter, epoch: self.u32()?, repairs })
            }
            BYE => Message::Bye(Bye { session, counter, name: self.name()? }),
            _ => return None,
        })
    }

    /// Tier and rate limit: a hello without either has another kind, and one of no tier in use is not sent.
    fn terms(&mut self) -> Option<(Tier, Option<Rate>)> {
        let (&number, rest) = self.0.split_first()?;
        self.0 = rest;
        let tier = *Tier::ALL.get(usize::from(number)).filter(|tier| **tier != Tier::Never)?;
        let limit = Some(self.u64()?).filter(|&bps| bps > 0).map(Rate::from_bps);
        (tier != Tier::Primary || limit.is_some()).then_some((tier, limit))
    }

    fn u32(&mut self) -> Option<u32> {
        let (head, tail) = self.0.split_first_chunk::<4>()?;
        self.0 = tail;
        Some(u32::from_be_bytes(*head))
    }

    fn u64(&mut self) -> Option<u64> {
        let (head, tail) = self.0.split_first_chunk::<8>()?;
        self.0 = tail;
        Some(u64::from_be_bytes(*head))
    }

    fn name(&mut self) -> Option<String> {
        let name = std::str::from_utf8(std::mem::take(&mut self.0)).ok()?;
        is_valid_name(name).then(|| name.to_owned())
    }
}

#[cfg(test)]
mod tests;
