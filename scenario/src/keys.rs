//! The keys of a scenario file, as data: the reader refuses others, the reference page lists these.

mod cell;
mod events;
mod links;
mod proxy;
mod radio;

pub use cell::{CELL, CELL_ENERGY, DUAL_MODE};
pub use events::{EVENT, MEASURE, VARIANT};
pub use links::{DIRECTION, GILBERT_ELLIOTT, LINK, QUEUE};
pub use proxy::PRISM_PROXY;
pub use radio::{AGGREGATION, CELLS, CHANNEL, ENERGY, MOBILITY, POLLING, RADIO, ROUTING, SLOTS};

/// One key of a table.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// As written.
    pub name: &'static str,
    /// What kind of value it takes.
    pub takes: &'static str,
    /// What holds when it is left out.
    pub default: &'static str,
    /// What it means.
    pub meaning: &'static str,
}

pub(crate) const fn key(
    name: &'static str,
    takes: &'static str,
    default: &'static str,
    meaning: &'static str,
) -> Key {
    Key { name, takes, default, meaning }
}

/// Keys of the file itself.
pub const FILE: &[Key] = &[
    key("name", "text", "the file's name", "name of the experiment"),
    key("summary", "text", "empty", "one line about what it shows"),
    key(
        "duration",
        "duration",
        "required",
        "the run ends here, or when every bulk flow with a size is complete",
    ),
    key("nodes", "table", "required", "the nodes, by name"),
    key("links", "table", "required without `radio` and `cell`", "the links, by name"),
    key("radio", "table", "none", "the air that hosts share"),
    key("cell", "table", "none", "a cell in slots that hosts share"),
    key("mobility", "table", "required with `radio` or `cell`", "where hosts are, and how they move"),
    key("routing", "table", "see below", "how packets find their way over the air"),
    key("flows", "table", "required without `programs`", "the flows, by name"),
    key("programs", "table", "none", "programs of your own on the nodes, by name; lab only"),
    key("events", "list of tables", "none", "what happens at set times: `[[events]]`"),
    key("measure", "table", "see below", "what is measured, and when"),
    key("variants", "table", "none", "named sets of overrides, for `prismux compare`"),
];

/// Keys that every node takes.
pub const NODE: &[Key] = &[
    key("kind", "name", "required", "what the node is"),
    key("count", "whole number", "1", "host, router: so many equal nodes, called NAME-1, NAME-2, ..."),
];

/// Keys of a member.
pub const MEMBER: &[Key] = &[
    key("kind", "name", "required", "\"member\""),
    key(
        "present",
        "true or false",
        "true",
        "in the community when the run starts; else a `join` event brings it in",
    ),
];

/// Keys of a flow.
pub const FLOW: &[Key] = &[
    key("from", "node", "required", "where the data comes from"),
    key("to", "node", "required", "where the data goes"),
    key("transport", "name", "\"tcp\"", "how the ends talk"),
    key("via", "member", "by routing", "go through this member alone, past the proxy"),
    key(
        "links",
        "list of links",
        "by routing; mptcp, ptcp and striping: all of the multi-homed end",
        "access links to use, each touching `from` or `to`: one for tcp, one per pipe for mptcp, ptcp and striping",
    ),
    key("pattern", "name", "\"bulk\", for udp \"cbr\"", "what the application sends"),
    key("bytes", "size", "until stopped", "bulk: size of the file"),
    key(
        "updates_every",
        "size",
        "never",
        "bulk: the receiver writes 48 B back each time that so much has come, as HTTP/2's flow control does (tcp)",
    ),
    key("start", "duration", "0 s", "when it starts"),
    key("stop", "duration", "end of the run", "when it stops"),
    key(
        "deadline",
        "duration",
        "none",
        "mptcp, ptcp, r2cp: so long after its start the data are wanted; seen by schedulers in Python",
    ),
    key("count", "whole number", "1", "so many equal flows, called NAME-1, NAME-2, ..."),
    key("spacing", "duration", "0 s", "each of `count` flows starts this much after the one before"),
    key("profile", "name", "\"modern\"", "set of TCP switches at both ends"),
    key("congestion", "name", "the profile's", "congestion control of the sender"),
    key("tcp", "table", "the profile's", "single TCP switches"),
    key("door", "table", "see below", "tcp-door: detectors and responses"),
    key("mptcp", "table", "see below", "switches of MPTCP (simulator; the lab has the kernel's)"),
    key("ptcp", "table", "see below", "switches of pTCP"),
    key("striping", "table", "see below", "switches of a striping application"),
    key("rcp", "table", "see below", "rcp, rcp-eln: who opens, the sender's limit, sleep"),
    key("pipes", "table", "one, from `from`", "r2cp: the pipes, by name"),
    key("scheduling", "name", "\"expected-arrival\"", "r2cp: which segment a pipe asks for next"),
    key(
        "target_rate",
        "rate",
        "as fast as possible",
        "r2cp: the stream is wanted at this rate; cheap pipes carry what they can, dear ones the rest",
    ),
    key("rate", "rate", "required for udp", "cbr, pareto: rate of whole IP packets (within a burst)"),
    key("packet", "size", "\"1000 B\"", "cbr, pareto: size of an IP packet, headers included"),
    key("on", "duration", "required for pareto", "pareto: mean burst"),
    key("off", "duration", "required for pareto", "pareto: mean pause"),
    key("shape", "number above 1", "1.5", "pareto: shape of bursts and pauses"),
    key("request", "size", "\"300 B\"", "request-response: size of a request"),
    key("response", "size", "required for request-response", "request-response: size of a response"),
    key("write", "size", "\"1000 B\"", "writes: size of a write"),
    key("every", "duration", "required for writes", "writes: from one write to the next"),
    key("think", "duration", "0 s", "request-response: pause before the next request"),
];

/// Keys of a pipe of R²CP.
pub const PIPE: &[Key] = &[
    key("server", "node", "the flow's `from`", "who serves it; all servers hold the same bytes"),
    key("link", "link", "by routing", "the link of the receiver, of the server or of both that it uses"),
    key("cost", "whole number", "0", "pipes that cost more are used when cheaper ones do not suffice"),
    key("congestion", "name", "the flow's", "congestion control of this pipe alone; simulator only"),
    key("opens", "duration", "the flow's `start`", "when it opens"),
    key("closes", "duration", "never", "when it asks for nothing more; what is on its way still comes"),
    key("drops", "duration", "never", "when its interface is gone"),
];

/// Keys of a program.
pub const PROGRAM: &[Key] = &[
    key("on", "node", "required", "where it runs"),
    key(
        "exec",
        "text or list of texts",
        "required",
        "the program and its arguments; a text is cut at blanks",
    ),
    key("start", "duration", "0 s", "when it starts"),
    key("stop", "duration", "end of the run", "when it is told to end (SIGTERM)"),
];

/// Keys of `tcp = { ... }` in a flow.
pub const TCP: &[Key] = &[
    key("mss", "size", "the profile's", "maximum segment size"),
    key("window", "size", "the profile's", "receive buffer, which bounds the window"),
    key("initial_window", "whole number", "the profile's", "segments sent before the first ACK"),
    key(
        "hystart",
        "name",
        "the profile's",
        "what ends slow start before a loss: `off`, `rfc9406` or `linux` (simulator)",
    ),
    key("sack", "true or false", "the profile's", "selective acknowledgements (RFC 2018)"),
    key(
        "forget_sacks",
        "true or false",
        "the profile's",
        "a timeout forgets what was acknowledged selectively (RFC 2018 section 8; without RACK, simulator)",
    ),
    key(
        "rfc6675",
        "true or false",
        "the profile's",
        "with `sack`: recovery by RFC 6675 instead of ns-2's agent, FACK and RACK (simulator)",
    ),
    key(
        "polls_per_rtt",
        "whole number",
        "the profile's",
        "stp: reports, or bundles of requests, in a round trip: 3 (simulator)",
    ),
    key("timestamps", "true or false", "the profile's", "timestamps (RFC 7323)"),
    key(
        "delayed_ack",
        "duration",
        "the profile's",
        "longest delay of an ACK; \"0 ms\" acknowledges every segment",
    ),
    key("min_rto", "duration", "the profile's", "floor of the retransmission timeout"),
    key("max_rto", "duration", "the profile's", "longest retransmission timeout, backed off (simulator)"),
    key("clock_granularity", "duration", "the profile's", "tick of the retransmission timer"),
    key("dup_threshold", "whole number", "the profile's", "duplicate ACKs that mean a loss"),
    key("rack", "true or false", "the profile's", "RACK loss detection (RFC 8985)"),
    key("tlp", "true or false", "the profile's", "tail loss probes (RFC 8985)"),
    key("undo", "true or false", "the profile's", "undo of window reductions that were not needed"),
    key("nagle", "true or false", "the profile's", "Nagle's algorithm"),
    key("ecn", "true or false", "the profile's", "explicit congestion notification (RFC 3168)"),
    key("ecn_echo", "name", "\"rfc3168\"", "how a receiver echoes marks: `rfc3168` or `rfc8257` (simulator)"),
    key(
        "min_persist",
        "duration",
        "the profile's",
        "least time between probes of a closed window (old stacks: 5 s)",
    ),
    key(
        "repeat_syn_ack",
        "true or false",
        "the profile's",
        "SYN-ACK is sent again by itself; ns-2 does not (simulator)",
    ),
    key(
        "syn_loss_is_timeout",
        "true or false",
        "the profile's",
        "a SYN without an answer is a timeout as any other, whose back-off stays, as in ns-2 (simulator)",
    ),
];

/// Keys of `door = { ... }` in a flow.
pub const DOOR: &[Key] = &[
    key(
        "setting",
        "text",
        "\"all-t1x2-t2x4\"",
        "one of the 56 of the published study, where the keys below begin",
    ),
    key("detects_acks", "true or false", "the setting's", "D1: the sender watches the order of ACKs"),
    key(
        "detects_data",
        "true or false",
        "the setting's",
        "D2: the receiver watches the order of data and reports",
    ),
    key(
        "freeze_units",
        "whole number",
        "the setting's",
        "R1: T1, in retransmission timeouts without back-off; 0 switches R1 off",
    ),
    key(
        "grows_while_frozen",
        "true or false",
        "false",
        "R1 leaves out reductions alone: the window grows on",
    ),
    key("restore_units", "whole number", "the setting's", "R2: T2, likewise; 0 switches R2 off"),
    key("offers_option", "true or false", "true", "number ACKs and data in a TCP option"),
    key("option_on_every_syn", "true or false", "false", "offer it on every SYN, not the first two alone"),
    key(
        "numbers_data",
        "true or false",
        "true",
        "number data packets; false leaves their order to timestamps",
    ),
    key("report_repeats", "whole number", "0", "further ACKs that repeat a report of the receiver"),
    key(
        "max_frozen_share",
        "number",
        "1",
        "share of time, over long, for which congestion control may stand still",
    ),
];

/// Keys of `mptcp = { ... }` in a flow.
pub const MPTCP: &[Key] = &[
    key("scheduler", "name", "\"linux\"", "which subflow gets the next bytes"),
    key("coupling", "name", "\"off\"", "how the subflows' congestion windows hang together"),
    key(
        "opportunistic_retransmission",
        "true or false",
        "true",
        "when the window is full, what everybody waits for goes again by a quicker subflow (not with `linux`)",
    ),
    key("penalisation", "true or false", "true", "with it, the slower subflow halves its window"),
    key("send_buffer", "size", "\"67108864 B\"", "the most bytes that are not acknowledged"),
];

/// Keys of `ptcp = { ... }` in a flow.
pub const PTCP: &[Key] = &[
    key("reassignment", "name", "\"probe\"", "when bytes are unbound from a pipe"),
    key(
        "reassign_to_same_pipe",
        "true or false",
        "false",
        "the pipe from which bytes were unbound may take them anew, as published",
    ),
    key(
        "redundant",
        "true or false",
        "true",
        "after a timeout another pipe gets a copy of the first segment",
    ),
    key(
        "opportunistic_retransmission",
        "true or false",
        "true",
        "what a pipe repeats goes over one with less than half of its round trip too",
    ),
    key("resume_order", "name", "\"least-rtt\"", "which pipe is asked first"),
    key(
        "loss_notification",
        "true or false",
        "false",
        "the receiver tells of packets that a link damaged (`corrupt`), as with tcp-eln",
    ),
    key("coupled", "true or false", "false", "pipes together grow like one TCP (RFC 6356)"),
    key(
        "address_lists",
        "true or false",
        "false",
        "each end tells its addresses on `links` (left out: all of both ends'), in lists of any lengths: a pipe for \
         each address of `from`, those of `to` in rotation",
    ),
];

/// Keys of `striping = { ... }` in a flow.
pub const STRIPING: &[Key] = &[
    key("over", "name", "\"tcp\"", "what it stripes over"),
    key("buffer", "size", "\"64 kB\"", "room for early records at the receiving application"),
    key("estimate_every", "duration", "once, at the start", "smart: how often the true rates become known"),
    key("wide_links", "list of links", "none", "links whose sockets have larger buffers"),
    key("wide_window", "size", "the tcp table's window", "their size"),
    key(
        "loss_notification",
        "true or false",
        "false",
        "the receiver tells of packets that a link damaged (`corrupt`), as with tcp-eln",
    ),
];

/// Keys of `rcp = { ... }` in a flow.
pub const RCP: &[Key] = &[
    key("opened_by", "name", "\"receiver\"", "who sends the SYN"),
    key(
        "request_limit",
        "size",
        "\"67108864 B\"",
        "how far beyond what the receiver has the sender lets it ask (reverse flow control)",
    ),
    key(
        "beacon",
        "duration",
        "at once",
        "a sleeping receiver wakes at the next multiple of this after it fell asleep",
    ),
    key(
        "spread_grants",
        "true or false",
        "false",
        "stp: what a bundle of requests asks for is asked for segment by segment, over a third of a round trip",
    ),
];
