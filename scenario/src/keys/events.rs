//! The keys of what happens in a run, of what is measured, and of variants.
use super::{Key, key};

/// Keys of an event.
pub const EVENT: &[Key] = &[
    key("at", "duration", "required", "when"),
    key("join", "member", "-", "the member enters the community"),
    key("leave", "member", "-", "the member leaves"),
    key("start", "flow", "-", "the flow starts (give it no `start`)"),
    key("stop", "flow", "-", "the flow stops"),
    key(
        "sleep",
        "flow",
        "-",
        "rcp, rcp-eln: the receiver's interface sleeps: it asks for nothing, and what arrives is lost",
    ),
    key("wake", "flow", "-", "rcp, rcp-eln: it wakes and asks for what it missed"),
    key(
        "kill",
        "member, proxy or host on the air",
        "-",
        "its process dies without a word: of a host the routing protocol, and the radio with it",
    ),
    key("restart", "member, proxy or host on the air", "-", "a killed process comes back with empty memory"),
    key(
        "handoff",
        "host",
        "-",
        "the host has completed a handoff: its packets take another link, its TCP-HO flows act on it",
    ),
    key(
        "to",
        "link",
        "the present one",
        "with `handoff`: the link of the host that carries its packets from now on",
    ),
    key("bandwidth", "rate", "unknown", "with `handoff`: what the host believes that link to carry"),
    key("tune", "host", "-", "its radio is on another channel from now on"),
    key("channel", "whole number", "required with `tune`", "with `tune`: the channel, from 1 to 255"),
    key("link", "link", "-", "the link changes as the next keys say"),
    key(
        "direction",
        "\"both\", \"forward\" or \"reverse\"",
        "\"both\"",
        "with `link`: which direction changes",
    ),
    key("rate", "rate", "unchanged", "with `link`: new rate"),
    key("delay", "duration", "unchanged", "with `link`: new delay"),
    key("loss", "probability or table", "unchanged", "with `link`: new loss"),
    key("up", "true or false", "unchanged", "with `link`: false is a blackout"),
];

/// Keys of `[measure]`.
pub const MEASURE: &[Key] = &[
    key(
        "warm_up",
        "duration",
        "a fifth of the run, at most 30 s",
        "steady-state figures leave out this much from each flow's start; a run too short for it has none",
    ),
    key("interval", "duration", "none", "sampling interval of the time series"),
    key(
        "delays",
        "true or false",
        "false",
        "take the one-way delay of every data packet: percentiles, jitter, delay variation (lab: of datagrams)",
    ),
    key(
        "lost_acks",
        "true or false",
        "false",
        "count the ACKs of TCP without data that are lost, and the most in a row (simulator)",
    ),
];

/// Keys that only `[variants.NAME]` takes, besides everything a file takes.
pub const VARIANT: &[Key] = &[key("summary", "text", "empty", "one line about the variant")];
