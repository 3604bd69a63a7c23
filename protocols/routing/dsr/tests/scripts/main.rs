//! Packet scripts of DSR: one file per rule under `cases/`, one test per mechanism.
//!
//! The language is that of `prismux_script` with these words. Hosts are letters, `*` is everybody; lists are `A,B`,
//! empty ones `-`. The host's timers are looked at every 10 ms, so that scripts need not know of jitters.
//!
//! ```text
//! config rfc|ns2|off host=B salvage=off     the profile, the host that is played, changed switches (`machine.rs`)
//! send D 1                                  the layer above has packet 1 for D
//! < A PACKET                                a frame comes from A
//! hear A>C PACKET                           a frame from A to C is overheard
//! fail C PACKET | flush C PACKET            the MAC layer could not send to C; C's packets in the queue come back
//! > C PACKET                                a frame leaves for C, or for everybody: `> * PACKET`
//! serve R | refuse R                        the host answers for the anycast address R, or no longer does
//! event delivered-1 | no-event broken-C     what was told (`prismux_adhoc::told`)
//! cached 2 | count NAME N                   entries of the route cache; a counter of `machine.rs`
//!
//! PACKET:
//! DATA 1 A>D on B,C left 2 [salvage 1]      packet 1, the addresses of its source route, segments left
//! REQUEST 7 A>D via B ttl 15 [down B/C]     identification, initiator and target, recorded addresses, a route error
//! REPLY D>A route B,C,D on C,B left 2       a route reply
//! ERROR C>A down C/D on B left 1            a route error: the link from C to D, told to A
//! ACK 7 A>B | DATA 1 A>B on - left 0 ack 7  an acknowledgement; an acknowledgement request
//! DATA 1 A>B on - left 0 option 200         an option of an unknown type
//! DATA 1 A>D flow 3 | DATA 1 A>D flow default   a packet of a flow, with a source route too or without
//! ERROR B>A unknown D 3                     a flow to D that B does not know, or `default`
//! ```
mod machine;
mod packet;

prismux_script::scripts! { machine::Machine;
    anycast: "anycast",
    acknowledgements: "acknowledgements",
    cache: "cache",
    cache_off: "cache-off",
    cached_replies: "cached-replies",
    discovery: "discovery",
    flow_state: "flow-state",
    forged_packets: "forged-packets",
    forwarding: "forwarding",
    gratuitous_replies: "gratuitous-replies",
    ns2: "ns2",
    requests: "requests",
    route_errors: "route-errors",
    salvaging: "salvaging",
    send_buffer: "send-buffer",
    snooping: "snooping",
    unknown_options: "unknown-options",
}
