//! Packets that went nowhere, counted by reason. Nothing is dropped uncounted.
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

macro_rules! drops {
    ($($(#[$doc:meta])* $reason:ident = $name:literal,)*) => {
        /// Why a packet went nowhere.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Drop {
            $($(#[$doc])* $reason,)*
        }

        impl Drop {
            /// All reasons.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$reason),*];

            /// The name in status output.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$reason => $name,)*
                }
            }
        }
    };
}

drops! {
    /// The outer IP or GRE header is cut short, of another version or has a wrong checksum.
    MalformedTunnel = "malformed-tunnel",
    /// Longer than the tunnel's MTU allows.
    TooLong = "too-long",
    /// The payload of the tunnel is neither IPv4, IPv6 nor a control message.
    OtherProtocol = "other-protocol",
    /// From an address that no member has registered from.
    UnknownPeer = "unknown-peer",
    /// The inner packet is no well-formed IP packet.
    MalformedPacket = "malformed-packet",
    /// From the kernel, but to no receiver: its own multicast chatter on the device.
    ForeignDestination = "foreign-destination",
    /// A packet from a member that none of the receivers can have sent.
    ForeignSource = "foreign-source",
    /// Marked "congestion experienced" outside, not ECN-capable inside: RFC 6040 section 4.2 wants it dropped.
    CongestionMark = "congestion-mark",
    /// A control message of another version or with impossible contents.
    MalformedControl = "malformed-control",
    /// A control message made with another token, or tampered with.
    BadToken = "bad-token",
    /// A hello or bye that repeats an old one.
    ReplayedControl = "replayed-control",
    /// More members than there is room for.
    TooManyMembers = "too-many-members",
    /// No member is there to carry it.
    NoLink = "no-link",
    /// A pure ACK that said nothing new.
    RepeatedAck = "repeated-ack",
    /// The answer to a copy with which the proxy measured a link.
    ProbeAnswer = "probe-answer",
    /// An ACK that a later one has overtaken.
    StaleAck = "stale-ack",
    /// A retransmission of data that the receiver has, or that the proxy resends itself.
    NeedlessRetransmission = "needless-retransmission",
    /// The socket's send buffer was full.
    SendBufferFull = "send-buffer-full",
    /// Larger than the path to the peer: the sender has been told (ICMP).
    PathTooNarrow = "path-too-narrow",
    /// The kernel would not send it for another reason.
    SendFailed = "send-failed",
    /// The TUN device would not take it.
    TunRefused = "tun-refused",
}

/// One counter for each reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DropCounters([u64; Drop::ALL.len()]);

impl Default for DropCounters {
    fn default() -> Self {
        Self([0; Drop::ALL.len()])
    }
}

impl DropCounters {
    /// Counts one packet.
    pub fn count(&mut self, reason: Drop) {
        self.0[reason as usize] += 1;
    }

    /// Packets counted for `reason`.
    pub fn get(&self, reason: Drop) -> u64 {
        self.0[reason as usize]
    }

    /// Packets counted for any reason.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

impl Serialize for DropCounters {
    /// A map from reason to count, reasons that never occurred included.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for reason in Drop::ALL {
            map.serialize_entry(reason.name(), &self.get(reason))?;
        }
        map.end()
    }
}
