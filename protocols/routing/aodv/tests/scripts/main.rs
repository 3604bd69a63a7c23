//! Packet scripts of AODV: one file per rule under `cases/`, one test per mechanism.
//!
//! The language is that of `prismux_script` with these words. Hosts are letters, `*` is everybody. The host's timers
//! are looked at every 10 ms, so that scripts need not know of jitters.
//!
//! ```text
//! config rfc|ns2 host=B hello=on          the profile, the host that is played, changed switches (`machine.rs`)
//! send D 1                                the layer above has packet 1 for D
//! < A PACKET                              a frame comes from A
//! fail C PACKET | flush C PACKET          the MAC layer could not send to C; C's packets in the queue come back
//! > C PACKET                              a frame leaves for C, or for everybody: `> * PACKET`
//! event delivered-1 | no-event broken-C   what was told (`prismux_adhoc::told`)
//! next D C | next D -                     the next hop to D; no route to D is valid
//! count NAME N                            a counter of `machine.rs`
//!
//! PACKET:
//! DATA 1 A>D [ttl 63]
//! RREQ 7 A>D hops 1 own 3 seq 5 ttl 4 [only] [gratuitous]   identifier, originator and destination; the originator's
//!                                                           number, the destination's (`-` unknown)
//! RREP D>A hops 0 seq 5 life 6000 [ack]                     destination and originator; lifetime in ms
//! HELLO seq 5 [life 2000]                                   a reply that tells of its sender
//! RERR D/6,E/7 [keep]                                       destinations and their numbers; the route is repaired
//! RREP-ACK
//! ```
mod machine;
mod packet;

prismux_script::scripts! { machine::Machine;
    blacklist: "blacklist",
    buffer: "buffer",
    data: "data",
    discovery: "discovery",
    errors: "errors",
    expanding_ring: "expanding-ring",
    hello: "hello",
    local_repair: "local-repair",
    ns2: "ns2",
    rate_limits: "rate-limits",
    replies: "replies",
    requests: "requests",
    sequence_numbers: "sequence-numbers",
}
