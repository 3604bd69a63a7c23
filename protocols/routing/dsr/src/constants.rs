//! The constants of DSR under the names of RFC 4728 section 9. Those of route maintenance by acknowledgements are not
//! among them, since the MAC layer says when a link is broken (section 8.3.1).
use prismux_units::Duration;

/// Most hops that a propagating route request may make (DiscoveryHopLimit).
pub const DISCOVERY_HOP_LIMIT: u8 = 255;
/// The longest jitter before a broadcast, and before a route reply (BroadcastJitter).
pub const BROADCAST_JITTER: Duration = Duration::from_millis(10);
/// How long an entry of the route cache may be used (RouteCacheTimeout).
pub const ROUTE_CACHE_TIMEOUT: Duration = Duration::from_secs(300);
/// How long a packet waits for a route (SendBufferTimeout).
pub const SEND_BUFFER_TIMEOUT: Duration = Duration::from_secs(30);
/// Hosts in the route request table (RequestTableSize).
pub const REQUEST_TABLE_SIZE: usize = 64;
/// Requests that are remembered of each host (RequestTableIds).
pub const REQUEST_TABLE_IDS: usize = 16;
/// Most route requests for one target without an answer (MaxRequestRexmt).
pub const MAX_REQUEST_REXMT: u32 = 16;
/// The longest time between route requests for one target (MaxRequestPeriod).
pub const MAX_REQUEST_PERIOD: Duration = Duration::from_secs(10);
/// The time after the first propagating route request for a target until the next (RequestPeriod).
pub const REQUEST_PERIOD: Duration = Duration::from_millis(500);
/// How long a non-propagating route request waits for an answer (NonpropRequestTimeout).
pub const NONPROP_REQUEST_TIMEOUT: Duration = Duration::from_millis(30);
/// The shortest time between gratuitous route replies to one host about packets of one transmitter
/// (GratReplyHoldoff).
pub const GRAT_REPLY_HOLDOFF: Duration = Duration::from_secs(1);
/// Most salvages of a packet (MAX_SALVAGE_COUNT).
pub const MAX_SALVAGE_COUNT: u8 = 15;

/// Packets that wait for a route: the RFC leaves the number open; 64 is the one of the implementation in ns-2.
pub const SEND_BUFFER_SIZE: usize = 64;
/// The hop limit of DSR's own unicast packets.
pub const CONTROL_HOP_LIMIT: u8 = 255;
/// How long a route error is told again with the host's next route request (section 3.4.4; one second in ns-2).
pub const MAX_ERROR_HOLD: Duration = Duration::from_secs(1);
/// How long route requests from a neighbour are ignored that did not take a route reply (section 4.6 leaves the time
/// open).
pub const BLACKLIST_TIME: Duration = Duration::from_secs(3);
/// Hosts that a blacklist or a table of gratuitous replies holds at most.
pub const MAX_TABLE_HOSTS: usize = 64;
/// Routes of which a host knows to have told shorter ones, where it goes by whole routes (ns-2.35).
pub const MAX_GRATUITOUS_ROUTES: usize = 10;
/// Packets that a host knows to have overheard, where it looks at each once (ns-2.35).
pub const MAX_OVERHEARD_PACKETS: usize = 1024;
/// How long a flow is remembered behind its latest packet, in seconds (ns-2.35).
pub const FLOW_TIMEOUT_S: u16 = 60;
/// The same as a duration.
pub const FLOW_TIMEOUT: Duration = Duration::from_secs(FLOW_TIMEOUT_S as u64);
/// Packets of a new flow that carry its route (ns-2.35).
pub const SHOWN_AT_FIRST: u32 = 3;
/// How often a packet of a flow carries its route, so that hosts that have lost it learn it again (ns-2.35).
pub const ROUTE_SHOWN_EVERY: Duration = Duration::from_secs(5);
/// Flows that a host remembers at most.
pub const MAX_FLOWS: usize = 256;
/// Most addresses in a source route option: 255 bytes of data hold no more (section 6.7).
pub const MAX_SOURCE_ROUTE_ADDRESSES: usize = 62;
