//! Every parameter of AODV under its name in RFC 3561 section 10, and every switch.
use prismux_units::Duration;

/// Every parameter and switch of AODV.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AodvConfig {
    /// ACTIVE_ROUTE_TIMEOUT: how long a route holds after its last use.
    pub active_route_timeout: Duration,
    /// MY_ROUTE_TIMEOUT: how long a route holds that a destination tells itself.
    pub my_route_timeout: Duration,
    /// NODE_TRAVERSAL_TIME: what a hop is thought to take.
    pub node_traversal_time: Duration,
    /// NET_DIAMETER: the most hops between two hosts.
    pub net_diameter: u8,
    /// How long a request is remembered, so that copies are known (PATH_DISCOVERY_TIME).
    pub path_discovery_time: Duration,
    /// DELETE_PERIOD: how long a route that no longer holds is remembered.
    pub delete_period: Duration,
    /// RREQ_RETRIES: how often a search through the whole network is repeated.
    pub rreq_retries: u32,
    /// RREQ_RATELIMIT: requests in a second.
    pub rreq_rate_limit: u32,
    /// RERR_RATELIMIT: route errors in a second.
    pub rerr_rate_limit: u32,
    /// TTL_START: the reach of the first request; [`AodvConfig::net_diameter`] for no expanding ring.
    pub ttl_start: u8,
    /// TTL_INCREMENT: what the reach grows by.
    pub ttl_increment: u8,
    /// TTL_THRESHOLD: the reach beyond which the whole network is asked.
    pub ttl_threshold: u8,
    /// TIMEOUT_BUFFER: hops that the answer of a ring may be late.
    pub timeout_buffer: u8,
    /// Whether the time between searches of the whole network grows in steps instead of doubling (ns-2).
    pub linear_backoff: bool,
    /// How long nothing is asked after a search has failed (ns-2; zero in RFC 3561).
    pub failure_holdoff: Duration,
    /// LOCAL_ADD_TTL: what the reach of a repair is widened by.
    pub local_add_ttl: u8,
    /// MAX_REPAIR_TTL: the farthest destination that a repair is tried for; zero for no repairs.
    pub max_repair_ttl: u8,
    /// Whether a host repairs only routes whose packets have come more than half of the way (ns-2).
    pub repair_near_destination: bool,
    /// Whether a neighbour from which a request or a reply comes is known to be one hop away (section 6.5). In ns-2 it
    /// is not: routes lead to originators and destinations alone.
    pub notes_neighbours: bool,
    /// Whether neighbours are watched by hello messages. Otherwise the MAC layer alone reports broken links.
    pub hello: bool,
    /// HELLO_INTERVAL: the time between hello messages.
    pub hello_interval: Duration,
    /// ALLOWED_HELLO_LOSS: hello messages that may be missed.
    pub allowed_hello_loss: u32,
    /// Whether replies ask the next hop for an acknowledgement, to find one-way links (section 6.8).
    pub ack_replies: bool,
    /// NEXT_HOP_WAIT: how long such an acknowledgement may take.
    pub next_hop_wait: Duration,
    /// BLACKLIST_TIMEOUT: how long requests over a one-way link are ignored; zero for never.
    pub blacklist_timeout: Duration,
    /// Whether requests ask for a gratuitous reply (section 6.6.3).
    pub gratuitous: bool,
    /// Whether only destinations may answer requests.
    pub destination_only: bool,
    /// Whether a source keeps its own packets that its neighbour did not take, and looks for another route. RFC 3561
    /// leaves it open; ns-2 drops them.
    pub keep_own_packets: bool,
    /// Packets that wait for a route.
    pub buffer_packets: usize,
    /// How long a packet waits for a route.
    pub buffer_timeout: Duration,
    /// The longest jitter before a broadcast.
    pub broadcast_jitter: Duration,
}

impl AodvConfig {
    /// AODV with the defaults of RFC 3561 section 10, broken links reported by the MAC layer. The RFC leaves the buffer
    /// open; 64 packets and 30 s are those of ns-2.
    pub const fn rfc3561() -> Self {
        Self {
            active_route_timeout: Duration::from_millis(3000),
            my_route_timeout: Duration::from_millis(6000),
            node_traversal_time: Duration::from_millis(40),
            net_diameter: 35,
            path_discovery_time: Duration::from_millis(5600),
            delete_period: Duration::from_millis(15_000),
            rreq_retries: 2,
            rreq_rate_limit: 10,
            rerr_rate_limit: 10,
            ttl_start: 1,
            ttl_increment: 2,
            ttl_threshold: 7,
            timeout_buffer: 2,
            linear_backoff: false,
            failure_holdoff: Duration::ZERO,
            local_add_ttl: 2,
            max_repair_ttl: 10,
            repair_near_destination: false,
            notes_neighbours: true,
            hello: false,
            hello_interval: Duration::from_millis(1000),
            allowed_hello_loss: 2,
            ack_replies: false,
            next_hop_wait: Duration::from_millis(50),
            blacklist_timeout: Duration::from_millis(5600),
            gratuitous: true,
            destination_only: false,
            keep_own_packets: true,
            buffer_packets: 64,
            buffer_timeout: Duration::from_secs(30),
            broadcast_jitter: Duration::from_millis(10),
        }
    }

    /// AODV with the parameters of ns-2.35: longer lives of routes, a first ring of 5 hops, three searches of the whole
    /// network and then ten seconds of silence.
    pub const fn ns2() -> Self {
        Self {
            active_route_timeout: Duration::from_secs(10),
            my_route_timeout: Duration::from_secs(10),
            node_traversal_time: Duration::from_millis(30),
            net_diameter: 30,
            path_discovery_time: Duration::from_secs(6),
            rreq_retries: 3,
            rreq_rate_limit: u32::MAX,
            rerr_rate_limit: u32::MAX,
            ttl_start: 5,
            timeout_buffer: 0,
            linear_backoff: true,
            failure_holdoff: Duration::from_secs(10),
            repair_near_destination: true,
            notes_neighbours: false,
            allowed_hello_loss: 3,
            blacklist_timeout: Duration::ZERO,
            gratuitous: false,
            keep_own_packets: false,
            ..Self::rfc3561()
        }
    }
}
