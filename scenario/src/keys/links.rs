//! Keys of links.

use super::{Key, key};

/// Keys of a link.
pub const LINK: &[Key] = &[
    key("between", "two nodes", "required", "the ends; *forward* runs from the first to the second"),
    key("rate", "rate", "no limit", "data rate"),
    key("delay", "duration", "0 ms", "propagation delay of one direction"),
    key("jitter", "duration", "0 ms", "extra delay per packet, uniform between 0 and this"),
    key("reorder", "true or false", "false", "jitter may let packets overtake each other"),
    key(
        "queue",
        "queue",
        "\"50 packets\"",
        "drop-tail limit: \"50 packets\", \"64 kB\", \"1 bdp\" (rate times round trip of the link) or \"unlimited\"; \
         or a managed queue by its name or with parameters, as a table",
    ),
    key(
        "loss",
        "probability or table",
        "0",
        "loss on the channel: 0.001, \"0.1 %\", or a Gilbert-Elliott table",
    ),
    key("duplicate", "probability", "0", "chance that a packet arrives twice"),
    key("corrupt", "probability", "0", "chance that a packet arrives damaged and fails its checksum"),
    key(
        "trace",
        "file",
        "none",
        "delivery opportunities in Mahimahi format, path relative to the scenario; replaces `rate`",
    ),
    key("outage", "name", "\"lose\"", "what happens to packets while the link is down"),
    key("up", "true or false", "true", "working when the run starts"),
    key("advertised_rate", "rate", "learned", "rate told to the proxy when the link joins"),
    key(
        "shared",
        "true or false",
        "true between a proxy and a member",
        "counts towards the capacity that efficiency is measured against",
    ),
    key("forward", "table", "as the link", "values for the forward direction only"),
    key("reverse", "table", "as the link", "values for the reverse direction only"),
];

/// Keys of `forward = { ... }` and `reverse = { ... }`.
pub const DIRECTION: &[Key] = &[
    key("rate", "rate", "as the link", "data rate"),
    key("delay", "duration", "as the link", "propagation delay"),
    key("jitter", "duration", "as the link", "extra delay per packet, uniform between 0 and this"),
    key("reorder", "true or false", "as the link", "jitter may let packets overtake each other"),
    key("queue", "queue", "as the link", "limit, or managed queue"),
    key("loss", "probability or table", "as the link", "loss on the channel"),
    key("duplicate", "probability", "as the link", "chance that a packet arrives twice"),
    key("corrupt", "probability", "as the link", "chance that a packet arrives damaged"),
    key("trace", "file", "as the link", "delivery opportunities in Mahimahi format"),
    key("outage", "name", "as the link", "what happens to packets while the link is down"),
    key("up", "true or false", "as the link", "working when the run starts"),
];

/// Keys of a managed queue.
pub const QUEUE: &[Key] = &[
    key("discipline", "name", "required", "who drops or marks before the queue is full"),
    key("limit", "queue", "the discipline's", "most that waits, as for a drop-tail queue"),
    key(
        "ecn",
        "true or false",
        "true",
        "mark packets that may be marked (RFC 3168) instead of dropping them",
    ),
    key("target", "duration", "the discipline's", "codel, fq-codel, pie: the delay to hold"),
    key("interval", "duration", "\"100 ms\"", "codel, fq-codel: about the longest round trip"),
    key("quantum", "size", "\"1514 B\"", "fq-codel: bytes of a flow's turn"),
    key("queues", "whole number", "1024", "fq-codel: queues that flows are hashed to"),
    key("update", "duration", "\"15 ms\"", "pie: how often the chance of a drop is adapted"),
    key("max_burst", "duration", "\"150 ms\"", "pie: how long a new queue may grow"),
    key("min_threshold", "number", "5", "red: packets in the average queue below which nothing is dropped"),
    key("max_threshold", "number", "15", "red: packets at which `max_probability` is reached"),
    key("max_probability", "number", "0.1", "red: chance of a drop at `max_threshold`"),
    key("weight", "number", "0.002", "red: weight of the present queue in the average"),
    key(
        "gentle",
        "true or false",
        "true",
        "red: from `max_threshold` to twice as much the chance grows to one",
    ),
    key(
        "wait",
        "true or false",
        "false",
        "red: distances between two drops from 1/p to 2/p, as ns-2 and ns-3 have them, not from 1 to 1/p",
    ),
    key(
        "mean_packet",
        "size",
        "none",
        "red: count bytes, as so many packets of this size, not packets; small packets are struck less often",
    ),
    key(
        "automatic",
        "true or false",
        "false",
        "red: `min_threshold`, `max_threshold` and `weight` follow from the link's rate (Adaptive RED, 2001)",
    ),
];

/// Keys of a Gilbert-Elliott loss.
pub const GILBERT_ELLIOTT: &[Key] = &[
    key("good_to_bad", "probability", "required", "chance per packet to turn bad"),
    key("bad_to_good", "probability", "required", "chance per packet to turn good"),
    key("loss_good", "probability", "0", "loss in the good state"),
    key("loss_bad", "probability", "1", "loss in the bad state"),
];
