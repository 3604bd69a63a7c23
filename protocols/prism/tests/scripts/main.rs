//! Packet scripts: one file per rule under `cases/`, one test per mechanism.
//!
//! The language is that of `prismux_script` with these words. Numbers are relative: the sender's SYN is 0 and its
//! first byte 1, the receiver's too.
//!
//! ```text
//! config paper links=1000,1000 rpc=off    profile, rates of the links in kbit/s, changed settings (`config.rs`)
//! open                                    a handshake that the receiver begins, 10 ms long; its packets are not shown
//! < sender ACK 1:1001 ack 1               a segment of the sender comes in; `DATA` is an ACK with payload
//! < receiver ACK 1 ack 1001 win 500 ts 7 1 sack 2001:3001
//! > link 0 1:1001                         goes to the receiver over link 0 (flags only if not ACK alone)
//! > ack 1001 sack 2001:3001               goes to the sender; SACK blocks and loss reports always count
//! > drop stale-ack                        goes nowhere
//! packets 1:5001                          the sender sends packets of 1000 bytes
//! quietly ...                             what the step makes leave is not shown
//! join 1 500 | leave 1                    a member comes (kbit/s) or goes
//! state normal | held 2 | flows 1 | in-flight 0 3 | weight 0 1.5 | link 0 active | hrtt 0 40 ms | count NAME N
//! ```
mod config;
mod machine;
mod segment;

prismux_script::scripts! { machine::Machine;
    adas: "adas",
    identification: "identification",
    resequencing: "resequencing",
    loss_by_order: "loss-by-order",
    loss_by_time: "loss-by-time",
    no_data: "no-data",
    loss_reports: "loss-reports",
    variants: "variants",
    local_repair: "local-repair",
    life_cycle: "life-cycle",
    forged_segments: "forged-segments",
    standby: "standby",
}
