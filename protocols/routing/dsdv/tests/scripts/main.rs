//! Packet scripts of DSDV: one file per rule under `cases/`, one test per mechanism.
//!
//! The language is that of `prismux_script` with these words. Hosts are letters, `*` is everybody. The host's timers
//! are looked at every 10 ms; scripts start it without start-up jitter, and full updates leave every 12 s to 16 s, or
//! are waited for by `full`.
//!
//! ```text
//! config host=B sq=on                 the host that is played, changed switches (`machine.rs`)
//! send D 1                            the layer above has packet 1 for D
//! < A PACKET                          a frame comes from A
//! fail C PACKET | flush C PACKET      the MAC layer could not send to C; C's packets in the queue come back
//! > C PACKET                          a frame leaves for C, or for everybody: `> * PACKET`
//! event delivered-1                   what was told (`prismux_adhoc::told`)
//! route D C 2 | route D -             next hop and hops to D; D is out of reach
//! count NAME N                        a counter of `machine.rs`
//!
//! PACKET:
//! DATA 1 A>D [ttl 63]
//! UPDATE C/0/4,D/1/6,E/-/7            destinations with hops (`-` for out of reach) and sequence numbers
//! ```
mod machine;

prismux_script::scripts! { machine::Machine;
    broken_links: "broken-links",
    data: "data",
    full_updates: "full-updates",
    queue: "queue",
    sequence_numbers: "sequence-numbers",
    settling: "settling",
    triggered_updates: "triggered-updates",
}
