//! Packet scripts of MPTCP: one file per rule under `cases/`, one test per mechanism.
//!
//! The language is that of `prismux_script` with these words. Bytes of both streams and places of a subflow are counted
//! from 0; subflow `n` goes from our address `n` to the far end's.
//!
//! ```text
//! config paths=2 scheduler=redundant    nothing has happened yet; `connect` opens
//! < sf 0 SYN-ACK capable own            options of the far end: `capable own`, `join`, `add-addr 3`, `prio`,
//!                                       `data-fin 0`
//! < sf 0 ACK ack 1000 dack 1000         what is left out is as said last; `without-options` strips them
//! < sf 1 0:1000                         bytes of the far end's stream
//! > sf 0 SYN capable none               what we send; options must be named: `capable KEYS`, `data N`, `join ...`,
//!                                       `data-fin N`, `add-addr ...`, `remove-addr N`, `prio ...`, `reason N`
//! > sf 1 0:1000 map 0 at 1 of 1000      `map`, `dack`, `seq`, `ack`, `win` where written
//! write 1000 | close | abort | drop 1 | backup 1
//! state Established | mode Plain | event SubflowClosed(1) | readable 1000 | acked 1000
//! ```
mod far_end;
mod machine;

prismux_script::scripts! { machine::Machine;
    addresses: "addresses",
    backup: "backup",
    closing: "closing",
    fallback: "fallback",
    joining: "joining",
    opening: "opening",
    reinjection: "reinjection",
}
