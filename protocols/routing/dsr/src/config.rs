//! Every switch of DSR.
use crate::constants;
use prismux_units::Duration;

/// What a host remembers of routes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheKind {
    /// Nothing: every packet waits for a route of its own, which the first reply gives (the setting of TCP-DOOR's
    /// experiments).
    Off,
    /// Whole paths in two lists, each first in first out: those that were asked for or used, and those that were
    /// seen in passing. The structure is that of the comparison of Broch et al. (MobiCom 1998).
    Path {
        /// Paths that were asked for or used.
        primary_paths: usize,
        /// Paths that were seen in passing.
        secondary_paths: usize,
    },
    /// Links, from which the shortest path is computed (RFC 4728 section 4.1).
    Link {
        /// Links at most.
        max_links: usize,
    },
}

/// How long headers are taken to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lengths {
    /// As long as they are on the wire.
    Wire,
    /// As ns-2.35 counts: an IP header more on packets with a payload, source and destination in each route, and on a
    /// route request its header at every hop so far, so that it grows with the square of the distance.
    Ns2,
}

/// Every switch of DSR. Constants that nobody varies are in [`constants`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DsrConfig {
    /// What is remembered of routes.
    pub cache: CacheKind,
    /// How long what is remembered may be used; `None` for as long as nothing speaks against it.
    pub cache_timeout: Option<Duration>,
    /// Whether route requests are answered from the cache (RFC 4728 section 3.3.2).
    pub reply_from_cache: bool,
    /// The delay per hop before an answer from the cache, against reply storms (section 8.2.5); zero for none.
    pub reply_holdoff: Duration,
    /// Whether routes of packets that are forwarded or overheard are remembered (section 3.3.1).
    pub snoop: bool,
    /// Whether such routes are remembered backwards too: the MAC layer needs both directions of a link anyway.
    pub snoop_reverse: bool,
    /// Whether of a packet that is overheard on several hops only the first counts, so that routes that it is given on
    /// the way are not remembered (ns-2).
    pub overhears_once: bool,
    /// Whether packets of others are sent over another route when theirs breaks (section 3.4.1).
    pub salvage: bool,
    /// Whether route replies and errors that a neighbour did not take go another way too, unless the reply tells of the
    /// very link that is broken (ns-2; against section 8.3.6).
    pub salvage_control: bool,
    /// The shortest time between two looks at the packets that wait, the longest being twice that (ns-2). Packets that
    /// could not be salvaged wait there too while neighbours are asked once. `None`: packets leave when a route is
    /// learnt, requests are sent when they are due, and what cannot be salvaged is dropped.
    pub buffer_checks: Option<Duration>,
    /// Whether errors that come back with one about themselves are sent on whoever they are of, looking for a route if
    /// need be (ns-2), and not the host's own alone over a route that it knows (section 8.3.5).
    pub nested_errors_of_others: bool,
    /// Whether packets along a route that was used lately go without it (section 3.5, with the habits of ns-2).
    pub flow_state: bool,
    /// Whether sources are told of shorter routes (section 3.4.3).
    pub gratuitous_replies: bool,
    /// Whether that is held back by whole routes, as ns-2 does, and not by source and transmitter (section 4.4).
    pub gratuitous_by_route: bool,
    /// Whether the last route error is told again with the next route request (section 3.4.4).
    pub spread_errors: bool,
    /// Whether a discovery first asks the neighbours alone (section 3.3.3).
    pub nonpropagating_first: bool,
    /// Whether every repetition of a discovery asks the neighbours first again (ns-2).
    pub nonpropagating_each_time: bool,
    /// Hosts in the route request table: requests of more initiators than that are taken for new ones when they come by
    /// again (RequestTableSize).
    pub request_table_hosts: usize,
    /// Whether a request is taken for one that has come by unless it is newer than all that came from its initiator
    /// (ns-2), so that what lags behind in a crowded network dies out.
    pub newest_requests_only: bool,
    /// The hop limit of a propagating route request.
    pub discovery_hop_limit: u8,
    /// Most hops of a route.
    pub max_route_hops: usize,
    /// The time from the first propagating request to the next.
    pub first_request_period: Duration,
    /// By how much that time grows with each request.
    pub request_backoff: u32,
    /// The distance in time of packets that one reply sets free (ns-2 gives address resolution time).
    pub release_spacing: Duration,
    /// How long headers are taken to be.
    pub lengths: Lengths,
    /// Whether neighbours that did not take a route reply are ignored for a while (section 4.6).
    pub blacklist: bool,
}

impl DsrConfig {
    /// DSR as RFC 4728 describes it, with a link cache.
    pub const fn rfc4728() -> Self {
        Self {
            cache: CacheKind::Link { max_links: 1024 },
            cache_timeout: Some(constants::ROUTE_CACHE_TIMEOUT),
            reply_from_cache: true,
            reply_holdoff: Duration::from_millis(3),
            snoop: true,
            snoop_reverse: true,
            overhears_once: false,
            salvage: true,
            salvage_control: false,
            buffer_checks: None,
            nested_errors_of_others: false,
            flow_state: false,
            gratuitous_replies: true,
            gratuitous_by_route: false,
            spread_errors: true,
            nonpropagating_first: true,
            nonpropagating_each_time: false,
            request_table_hosts: constants::REQUEST_TABLE_SIZE,
            newest_requests_only: false,
            discovery_hop_limit: constants::DISCOVERY_HOP_LIMIT,
            max_route_hops: constants::MAX_SOURCE_ROUTE_ADDRESSES,
            first_request_period: constants::REQUEST_PERIOD,
            request_backoff: 2,
            release_spacing: Duration::ZERO,
            lengths: Lengths::Wire,
            blacklist: true,
        }
    }

    /// DSR as the simulator ns-2 has it (2.35, without flow state), and so the comparisons of ad-hoc
    /// routing protocols around 2000.
    pub const fn ns2() -> Self {
        Self {
            cache: CacheKind::Path { primary_paths: 30, secondary_paths: 64 },
            cache_timeout: None,
            reply_holdoff: Duration::ZERO,
            snoop_reverse: false,
            salvage_control: true,
            buffer_checks: Some(Duration::from_millis(30)),
            nonpropagating_each_time: true,
            request_table_hosts: 128,
            newest_requests_only: true,
            discovery_hop_limit: 16,
            max_route_hops: 15,
            first_request_period: Duration::from_secs(2),
            request_backoff: 4,
            release_spacing: Duration::from_millis(30),
            lengths: Lengths::Ns2,
            blacklist: false,
            ..Self::rfc4728()
        }
    }

    /// [`DsrConfig::ns2`] with four more habits of ns-2.35: of a packet that is overheard on several hops only the
    /// first counts, shorter routes are told by whole routes, errors that come back are sent on, and data goes along
    /// flows.
    pub const fn ns2_strict() -> Self {
        Self {
            overhears_once: true,
            nested_errors_of_others: true,
            gratuitous_by_route: true,
            flow_state: true,
            ..Self::ns2()
        }
    }

    /// ns-2's DSR with every look-up in the cache disabled, the setting of TCP-DOOR's experiments (MobiHoc 2002):
    /// every packet starts a discovery, and the first reply gives its route.
    pub const fn cache_off() -> Self {
        Self { cache: CacheKind::Off, reply_from_cache: false, snoop: false, ..Self::ns2() }
    }

    /// [`DsrConfig::cache_off`] without the question to the neighbours alone that begins a discovery, and which serves
    /// to ask their caches: each packet floods the network, as the paper says.
    pub const fn cache_off_flood() -> Self {
        Self { nonpropagating_first: false, nonpropagating_each_time: false, ..Self::cache_off() }
    }
}
