//! Ethernet frames (RFC 894) and the resolution of IPv4 addresses on them (RFC 826).
use crate::error::{Layer, WireError};
use crate::fields::{EndsEarly, NoRoom, Reader, Writer};
use core::fmt;
use core::net::Ipv4Addr;

/// The EtherTypes that prismux looks at.
pub mod ether_type {
    pub use crate::gre::ether_type::IPV4;
    /// Address resolution.
    pub const ARP: u16 = 0x0806;
}

/// The address of an interface on an Ethernet or on a wireless LAN.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MacAddress(pub [u8; 6]);

impl MacAddress {
    /// Everybody's.
    pub const BROADCAST: Self = Self([0xff; 6]);

    /// True for a broadcast or multicast address.
    pub const fn is_group(self) -> bool {
        self.0[0] & 1 != 0
    }
}

impl fmt::Display for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl fmt::Debug for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What an Ethernet frame begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EthernetHeader {
    /// Whom the frame is for.
    pub destination: MacAddress,
    /// Who sent it.
    pub source: MacAddress,
    /// What is in it.
    pub ether_type: u16,
}

impl EthernetHeader {
    /// Length on the wire.
    pub const WIRE_BYTES: usize = 14;

    /// Reads the header at the start of a frame.
    ///
    /// # Errors
    /// When it is cut short.
    pub fn parse(frame: &[u8]) -> Result<Self, WireError> {
        let mut fields = Reader::new(frame);
        let mut read = || {
            let (destination, source) = (MacAddress(fields.array()?), MacAddress(fields.array()?));
            Ok(Self { destination, source, ether_type: fields.u16()? })
        };
        read().map_err(|_: EndsEarly| WireError::Truncated(Layer::Ethernet))
    }

    /// Writes the header to the start of `out` and returns its length.
    ///
    /// # Errors
    /// When `out` is too small.
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, WireError> {
        let mut fields = Writer::new(out);
        let parts: [&[u8]; 3] = [&self.destination.0, &self.source.0, &self.ether_type.to_be_bytes()];
        parts.into_iter().try_for_each(|part| fields.put(part)).map_err(|_: NoRoom| WireError::NoRoom)?;
        Ok(Self::WIRE_BYTES)
    }
}

/// What a message of address resolution does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArpOperation {
    /// Asks who has an address, and tells its sender's.
    Request,
    /// Answers.
    Reply,
}

/// A message of address resolution between Ethernet and IPv4 (RFC 826). An announcement is a request for the sender's
/// own address (RFC 5227).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArpPacket {
    /// What it does.
    pub operation: ArpOperation,
    /// Its sender's interface.
    pub sender: MacAddress,
    /// Its sender's address.
    pub sender_address: Ipv4Addr,
    /// In a reply: the interface of the host that asked.
    pub target: MacAddress,
    /// In a request: the address that is asked for.
    pub target_address: Ipv4Addr,
}

/// Ethernet and IPv4, with addresses of 6 and 4 bytes.
const ETHERNET_AND_IPV4: [u8; 6] = [0, 1, 0x08, 0x00, 6, 4];

impl ArpPacket {
    /// Length on the wire.
    pub const WIRE_BYTES: usize = 28;

    /// Reads a message from the bytes behind an Ethernet header; what follows it is padding.
    ///
    /// # Errors
    /// When it is cut short, of other networks than Ethernet and IPv4, or neither request nor reply.
    pub fn parse(bytes: &[u8]) -> Result<Self, WireError> {
        let short = |_: EndsEarly| WireError::Truncated(Layer::Arp);
        let mut fields = Reader::new(bytes);
        if fields.array::<6>().map_err(short)? != ETHERNET_AND_IPV4 {
            return Err(WireError::Length(Layer::Arp));
        }
        let operation = match fields.u16().map_err(short)? {
            1 => ArpOperation::Request,
            2 => ArpOperation::Reply,
            other => return Err(WireError::Operation(other)),
        };
        let mut ends = || Ok((MacAddress(fields.array()?), Ipv4Addr::from(fields.array::<4>()?)));
        let (sender, sender_address) = ends().map_err(short)?;
        let (target, target_address) = ends().map_err(short)?;
        Ok(Self { operation, sender, sender_address, target, target_address })
    }

    /// Writes the message to the start of `out` and returns its length.
    ///
    /// # Errors
    /// When `out` is too small.
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, WireError> {
        let operation: [u8; 2] = match self.operation {
            ArpOperation::Request => [0, 1],
            ArpOperation::Reply => [0, 2],
        };
        let mut fields = Writer::new(out);
        let parts: [&[u8]; 6] = [
            &ETHERNET_AND_IPV4,
            &operation,
            &self.sender.0,
            &self.sender_address.octets(),
            &self.target.0,
            &self.target_address.octets(),
        ];
        parts.into_iter().try_for_each(|part| fields.put(part)).map_err(|_: NoRoom| WireError::NoRoom)?;
        Ok(Self::WIRE_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: MacAddress = MacAddress([2, 0, 0, 0, 0, 0x0a]);
    const B: MacAddress = MacAddress([2, 0, 0, 0, 0, 0x0b]);

    #[test]
    fn a_request_has_the_bytes_of_rfc_826_and_reads_back() {
        let request = ArpPacket {
            operation: ArpOperation::Request,
            sender: A,
            sender_address: Ipv4Addr::new(10, 9, 0, 1),
            target: MacAddress([0; 6]),
            target_address: Ipv4Addr::new(10, 9, 0, 2),
        };
        let mut bytes = [0; 46];
        assert_eq!(request.emit(&mut bytes), Ok(28));
        let wanted = [0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 0, 10, 10, 9, 0, 1, 0, 0, 0, 0, 0, 0, 10, 9, 0, 2];
        assert_eq!(bytes[..28], wanted);
        assert_eq!(ArpPacket::parse(&bytes), Ok(request));
        assert!((0..28).all(|length| ArpPacket::parse(&bytes[..length]).is_err()));
        assert!(request.emit(&mut [0; 27]).is_err());
        for (at, other) in [(1, 6), (3, 6), (4, 8), (5, 16), (7, 3), (6, 1)] {
            let mut changed = wanted;
            changed[at] = other;
            assert!(ArpPacket::parse(&changed).is_err(), "byte {at}");
        }
    }

    #[test]
    fn a_frame_begins_with_whom_it_is_for() {
        let header = EthernetHeader { destination: B, source: A, ether_type: ether_type::ARP };
        let mut frame = [0; 14];
        assert_eq!(header.emit(&mut frame), Ok(14));
        assert_eq!(frame, [2, 0, 0, 0, 0, 0x0b, 2, 0, 0, 0, 0, 0x0a, 8, 6]);
        assert_eq!(EthernetHeader::parse(&frame), Ok(header));
        assert!((0..14).all(|length| EthernetHeader::parse(&frame[..length]).is_err()));
        assert!(header.emit(&mut frame[1..]).is_err());
        assert!(MacAddress::BROADCAST.is_group() && !A.is_group());
    }
}
