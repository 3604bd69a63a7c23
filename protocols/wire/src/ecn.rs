//! Explicit congestion notification in the IP header.

/// The ECN codepoint of an IP header (RFC 3168 section 5), numbered as on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
#[repr(u8)]
pub enum Ecn {
    /// The transport does not understand ECN.
    #[default]
    NotEct = 0b00,
    /// ECN-capable transport, codepoint 1 (RFC 9331 uses it for L4S).
    Ect1 = 0b01,
    /// ECN-capable transport, codepoint 0.
    Ect0 = 0b10,
    /// Congestion experienced.
    Ce = 0b11,
}

impl Ecn {
    /// The codepoint in the two low bits of a traffic-class byte.
    pub const fn from_bits(bits: u8) -> Self {
        match bits & 0b11 {
            0b00 => Self::NotEct,
            0b01 => Self::Ect1,
            0b10 => Self::Ect0,
            _ => Self::Ce,
        }
    }

    /// The two bits on the wire.
    pub const fn bits(self) -> u8 {
        self as u8
    }

    /// True when a queue may mark the packet instead of dropping it.
    pub const fn is_capable(self) -> bool {
        !matches!(self, Self::NotEct)
    }
    /// What a tunnel's exit writes into the inner header, given the outer one (RFC 6040 figure 4); `None` means
    /// that the packet must be dropped: congestion was experienced and the inner transport cannot hear of it.
    pub const fn decapsulate(inner: Self, outer: Self) -> Option<Self> {
        match (inner, outer) {
            (Self::NotEct, Self::Ce) => None,
            (Self::NotEct, _) => Some(Self::NotEct),
            (Self::Ce, _) | (_, Self::Ce) => Some(Self::Ce),
            (Self::Ect1, _) | (_, Self::Ect1) => Some(Self::Ect1),
            (Self::Ect0, _) => Some(Self::Ect0),
        }
    }
}
