//! Messages of the Service Location Protocol, version 2 (RFC 2608, sections 8 and 9), in network byte order.
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

const VERSION: u8 = 2;
const HEADER_BYTES: usize = 14;
/// The message did not fit its datagram (section 8).
const OVERFLOW: u16 = 0x8000;
/// The request was sent to a group of receivers.
const MULTICAST: u16 = 0x2000;
/// The only language that is spoken here: services have no attributes that a person would read.
const LANGUAGE: &str = "en";

/// Bytes of a datagram, at most, as RFC 2608 section 13 has it.
pub const MAX_BYTES: usize = 1400;

/// What a message is about (section 8).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// Who offers this?
    ServiceRequest(ServiceRequest),
    /// These do.
    ServiceReply {
        /// Why there are none; 0 for no error (section 7).
        error: u16,
        /// Services.
        entries: Vec<UrlEntry>,
    },
    /// An agent that offers services is there.
    AgentAdvert {
        /// Its address, as `service:service-agent://ADDRESS`.
        url: String,
        /// Scopes that it serves, separated by commas.
        scopes: String,
    },
}

/// A request for services (section 8.1).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServiceRequest {
    /// Agents that have answered already, separated by commas.
    pub previous_responders: String,
    /// As "service:member.prismux".
    pub service_type: String,
    /// Separated by commas.
    pub scopes: String,
    /// A search filter for attributes; empty for none.
    pub predicate: String,
    /// Whose signatures are asked for; empty for none.
    pub security_index: String,
}

/// A service (section 4.3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlEntry {
    /// Seconds for which it may be remembered.
    pub lifetime_s: u16,
    /// Where it is.
    pub url: String,
}

/// A message with what its header says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// By which a reply names its request.
    pub number: u16,
    /// It was sent to a group of receivers.
    pub is_multicast: bool,
    /// There was more to say than fits a datagram.
    pub has_overflowed: bool,
    /// What it says.
    pub body: Body,
}

/// Why bytes are no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Malformed {
    /// Another version of the protocol.
    Version(u8),
    /// A message that is none of those that are understood here.
    Function(u8),
    /// It ends before what it announces.
    Truncated,
    /// Text that is not UTF-8.
    Text,
    /// An extension that has to be understood.
    Extension,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(version) => write!(f, "version {version} of the protocol, not {VERSION}"),
            Self::Function(function) => write!(f, "message of kind {function}"),
            Self::Truncated => write!(f, "it ends too early"),
            Self::Text => write!(f, "text that is not UTF-8"),
            Self::Extension => write!(f, "an extension that has to be understood"),
        }
    }
}

impl core::error::Error for Malformed {}

impl Body {
    /// The number of the function in the header (section 8).
    const fn function(&self) -> u8 {
        match self {
            Self::ServiceRequest(_) => 1,
            Self::ServiceReply { .. } => 2,
            Self::AgentAdvert { .. } => 11,
        }
    }
}

impl Message {
    /// Reads a datagram.
    ///
    /// # Errors
    /// [`Malformed`]: what is wrong with it.
    pub fn parse(datagram: &[u8]) -> Result<Self, Malformed> {
        let mut whole = Reader(datagram);
        let (version, function) = (whole.byte()?, whole.byte()?);
        if version != VERSION {
            return Err(Malformed::Version(version));
        }
        let length = whole.word24()?;
        let bytes = datagram.get(..length).filter(|bytes| bytes.len() >= HEADER_BYTES);
        let mut reader = Reader(bytes.and_then(|bytes| bytes.get(5..)).ok_or(Malformed::Truncated)?);
        let flags = reader.word()?;
        // Extensions lie behind the body; those that may be ignored are.
        let extension_at = reader.word24()?;
        let number = reader.word()?;
        reader.text()?;
        if extension_at != 0 {
            let place = bytes.and_then(|bytes| bytes.get(extension_at..)).ok_or(Malformed::Truncated)?;
            // 0x4000 to 0x7fff are to be understood (section 9.1).
            if (0x4000..0x8000).contains(&Reader(place).word()?) {
                return Err(Malformed::Extension);
            }
        }
        let body = match function {
            1 => Body::ServiceRequest(ServiceRequest::read(&mut reader)?),
            2 => read_reply(&mut reader)?,
            11 => Body::AgentAdvert { url: reader.text()?, scopes: reader.text()? },
            other => return Err(Malformed::Function(other)),
        };
        let (is_multicast, has_overflowed) = (flags & MULTICAST != 0, flags & OVERFLOW != 0);
        Ok(Self { number, is_multicast, has_overflowed, body })
    }

    /// The datagram, of [`MAX_BYTES`] at most: a reply keeps as many entries as fit, and says so.
    pub fn emit(&self) -> Vec<u8> {
        let mut body = Vec::new();
        let mut has_overflowed = self.has_overflowed;
        let room = MAX_BYTES - HEADER_BYTES - LANGUAGE.len();
        match &self.body {
            Body::ServiceRequest(request) => request.write(&mut body),
            Body::ServiceReply { error, entries } => {
                put_word(&mut body, *error);
                let (mut urls, mut count) = (Vec::new(), 0_u16);
                for entry in entries {
                    let before = urls.len();
                    entry.write(&mut urls);
                    if body.len() + 2 + urls.len() > room {
                        urls.truncate(before);
                        has_overflowed = true;
                        break;
                    }
                    count += 1;
                }
                put_word(&mut body, count);
                body.extend_from_slice(&urls);
            }
            Body::AgentAdvert { url, scopes } => {
                put_text(&mut body, url);
                put_text(&mut body, scopes);
                // Neither attributes nor signatures.
                body.extend_from_slice(&[0, 0, 0]);
            }
        }
        let flag = |is_set: bool, bit: u16| if is_set { bit } else { 0 };
        let flags = flag(self.is_multicast, MULTICAST) | flag(has_overflowed, OVERFLOW);
        let length = HEADER_BYTES + LANGUAGE.len() + body.len();
        let mut out = Vec::with_capacity(length);
        out.extend_from_slice(&[VERSION, self.body.function()]);
        put_word24(&mut out, length);
        put_word(&mut out, flags);
        put_word24(&mut out, 0);
        put_word(&mut out, self.number);
        put_text(&mut out, LANGUAGE);
        out.extend_from_slice(&body);
        out
    }
}

impl ServiceRequest {
    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            previous_responders: reader.text()?,
            service_type: reader.text()?,
            scopes: reader.text()?,
            predicate: reader.text()?,
            security_index: reader.text()?,
        })
    }

    fn write(&self, out: &mut Vec<u8>) {
        let Self { previous_responders, service_type, scopes, predicate, security_index } = self;
        for text in [previous_responders, service_type, scopes, predicate, security_index] {
            put_text(out, text);
        }
    }
}

impl UrlEntry {
    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        reader.byte()?;
        let (lifetime_s, url) = (reader.word()?, reader.text()?);
        // Signatures, which nobody here asks for: each says how long it is, itself included.
        for _ in 0..reader.byte()? {
            reader.word()?;
            let length = usize::from(reader.word()?).checked_sub(4).ok_or(Malformed::Truncated)?;
            reader.take(length)?;
        }
        Ok(Self { lifetime_s, url })
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.push(0);
        put_word(out, self.lifetime_s);
        put_text(out, &self.url);
        out.push(0);
    }
}

fn read_reply(reader: &mut Reader<'_>) -> Result<Body, Malformed> {
    let error = reader.word()?;
    // An error need not be followed by anything (section 8.2).
    if error != 0 {
        return Ok(Body::ServiceReply { error, entries: Vec::new() });
    }
    let count = reader.word()?;
    let entries = (0..count).map(|_| UrlEntry::read(reader)).collect::<Result<_, _>>()?;
    Ok(Body::ServiceReply { error, entries })
}

/// What is left to be read.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Malformed::Truncated)?;
        self.0 = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, Malformed> {
        self.take(1)?.first().copied().ok_or(Malformed::Truncated)
    }

    fn word(&mut self) -> Result<u16, Malformed> {
        Ok(u16::from_be_bytes([self.byte()?, self.byte()?]))
    }

    fn word24(&mut self) -> Result<usize, Malformed> {
        Ok(usize::from(self.byte()?) << 16 | usize::from(self.word()?))
    }

    /// Text behind its length.
    fn text(&mut self) -> Result<String, Malformed> {
        let length = usize::from(self.word()?);
        let bytes = self.take(length)?;
        core::str::from_utf8(bytes).map(String::from).map_err(|_| Malformed::Text)
    }
}

fn put_word(out: &mut Vec<u8>, word: u16) {
    out.extend_from_slice(&word.to_be_bytes());
}

fn put_word24(out: &mut Vec<u8>, word: usize) {
    out.extend(word.to_be_bytes().iter().rev().take(3).rev());
}

/// Text behind its length; what no length can say is cut.
fn put_text(out: &mut Vec<u8>, text: &str) {
    let mut length = text.len().min(usize::from(u16::MAX));
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    put_word(out, length as u16);
    out.extend_from_slice(text.as_bytes().get(..length).unwrap_or_default());
}

#[cfg(test)]
mod tests;
