//! Who talks to whom.
use core::fmt;
use core::net::IpAddr;

/// Addresses, ports and protocol of one direction of a flow (the 5-tuple).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FlowKey {
    /// Sender's address.
    pub source: IpAddr,
    /// Receiver's address.
    pub destination: IpAddr,
    /// Sender's port (0 where the protocol has none).
    pub source_port: u16,
    /// Receiver's port (0 where the protocol has none).
    pub destination_port: u16,
    /// IP protocol number (6 for TCP).
    pub protocol: u8,
}

impl FlowKey {
    /// The same flow seen from the other end.
    pub const fn reversed(self) -> Self {
        Self {
            source: self.destination,
            destination: self.source,
            source_port: self.destination_port,
            destination_port: self.source_port,
            protocol: self.protocol,
        }
    }
}

impl fmt::Display for FlowKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} > {}:{}", self.source, self.source_port, self.destination, self.destination_port)
    }
}
