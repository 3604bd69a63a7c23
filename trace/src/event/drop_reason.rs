//! Why a packet went no further: one list for links, proxies and daemons.
use serde::{Deserialize, Serialize};

macro_rules! drop_reasons {
    (
        on_the_way { $($(#[$link_doc:meta])* $link:ident = $link_name:literal,)* }
        at_a_daemon { $($(#[$doc:meta])* $reason:ident = $name:literal,)* }
    ) => {
        /// Why a packet went no further.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum DropReason {
            $($(#[$link_doc])* #[serde(rename = $link_name)] $link,)*
            $($(#[$doc])* #[serde(rename = $name)] $reason,)*
            /// A reason that this version does not know, in the record of another one.
            #[serde(other, rename = "unknown")]
            Unknown,
        }

        impl DropReason {
            /// All reasons that there are.
            pub const ALL: &[Self] = &[$(Self::$link,)* $(Self::$reason,)*];
            /// The reasons that a proxy or member daemon can have.
            pub const AT_A_DAEMON: &[Self] = &[$(Self::$reason,)*];

            /// The name in event logs, on status pages and in result columns.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$link => $link_name,)*
                    $(Self::$reason => $name,)*
                    Self::Unknown => "unknown",
                }
            }
        }
    };
}

drop_reasons! {
    on_the_way {
        /// The queue of a link was full.
        QueueFull = "queue_full",
        /// The queue of a link was managed, and dropped it before it was full.
        QueueEarly = "queue_early",
        /// The channel lost it.
        Loss = "loss",
        /// The channel damaged it and the receiver's checksum found out.
        Corrupted = "corrupted",
        /// The link was down.
        LinkDown = "link_down",
        /// No route leads to its destination.
        NoRoute = "no_route",
        /// Too many packets waited for a route.
        BufferFull = "buffer_full",
        /// It waited for a route for too long.
        BufferTimeout = "buffer_timeout",
        /// It has made as many hops as it may.
        HopLimit = "hop_limit",
        /// The neighbour that was next did not answer, and there was no other way.
        Unanswered = "unanswered",
        /// The address of the neighbour that was next was not known in time.
        Unresolved = "unresolved",
        /// The route in it cannot be followed.
        BadRoute = "bad_route",
        /// The host does not forward for others.
        NotAdmitted = "not_admitted",
    }
    at_a_daemon {
        /// The outer IP or GRE header is cut short, of another version or has a wrong checksum.
        MalformedTunnel = "malformed_tunnel",
        /// Longer than the tunnel's MTU allows.
        TooLong = "too_long",
        /// The payload of the tunnel is neither IPv4, IPv6 nor a control message.
        OtherProtocol = "other_protocol",
        /// From an address that no member has registered from.
        UnknownPeer = "unknown_peer",
        /// The inner packet is no well-formed IP packet.
        MalformedPacket = "malformed_packet",
        /// To no receiver: the kernel's own multicast chatter on the proxy's device, a stranger's packet to a member.
        ForeignDestination = "foreign_destination",
        /// A packet from a member that none of the receivers can have sent.
        ForeignSource = "foreign_source",
        /// Marked "congestion experienced" outside, not ECN-capable inside: RFC 6040 section 4.2 wants it dropped.
        CongestionMark = "congestion_mark",
        /// A control message of another version or with impossible contents.
        MalformedControl = "malformed_control",
        /// A control message made with another token, or tampered with.
        BadToken = "bad_token",
        /// A hello or bye that repeats an old one.
        ReplayedControl = "replayed_control",
        /// Sealed by somebody else, or changed on the way.
        Forged = "forged",
        /// A sealed packet that came before.
        Replayed = "replayed",
        /// Sealed under keys that are too old.
        ExpiredKeys = "expired_keys",
        /// A handshake beyond what may be asked for at once.
        TooManyHandshakes = "too_many_handshakes",
        /// There are no keys to seal it with yet.
        NoKeys = "no_keys",
        /// A control message in the name of another member.
        ForeignName = "foreign_name",
        /// What a lender or a borrower said of what was carried was not signed, or not believed.
        RefusedStatement = "refused_statement",
        /// More members than there is room for.
        TooManyMembers = "too_many_members",
        /// No member is there to carry it.
        NoLink = "no_link",
        /// A pure ACK that said nothing new while others were held.
        RepeatedAck = "repeated_ack",
        /// The answer to a copy with which the proxy measured a link.
        ProbeAnswer = "probe_answer",
        /// An ACK that a later one has overtaken.
        StaleAck = "stale_ack",
        /// A retransmission of data that the receiver has, or that the proxy resends itself.
        SpuriousRetransmission = "spurious_retransmission",
        /// Data that found the links full, while many flows waited, and no room to wait.
        NoRoom = "no_room",
        /// More than the link's owner lets pass in a second.
        RateLimited = "rate_limited",
        /// The socket's send buffer was full.
        SendBufferFull = "send_buffer_full",
        /// Larger than the path to the peer: the sender has been told (ICMP).
        PathTooNarrow = "path_too_narrow",
        /// The kernel would not send it for another reason.
        SendFailed = "send_failed",
        /// The TUN device would not take it.
        TunRefused = "tun_refused",
    }
}
