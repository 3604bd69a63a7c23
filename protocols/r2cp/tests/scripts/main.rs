//! Packet scripts of R²CP: one file per rule under `cases/`, one test per mechanism.
//!
//! The language is that of `prismux_script`, packets are those of RCP's scripts behind the number of their pipe.
//! Positions are those of the stream; segments have 100 bytes.
//!
//! ```text
//! config rtt=100ms,300ms window=2    pipes that are open already, with their round trips; changed switches
//!                                    (`setup.rs`). Times count from when the last of them opened
//! config                             no pipe yet: `open` opens them
//! < pipe 1 DATA 400:500              data comes by a pipe, from its server
//! > pipe 0 PUL 200 deq 100           a request leaves by a pipe
//! open cost 1 | close-pipe 0 | drop-pipe 0 | freeze 0 | thaw 0 | read 500 | already-here 0:500 | abort
//! lost-by-link 0 100:200 | damaged pipe 0 DATA 100:200
//! state 0 ESTABLISHED | event Complete | no-event Stranded | received 400 | count NAME N
//! ```
mod machine;
#[path = "../../../rcp/tests/scripts/packet.rs"]
mod packet;
mod setup;
#[path = "../../../rcp/tests/scripts/switches.rs"]
mod switches;

prismux_script::scripts! { machine::Machine;
    blackout: "blackout",
    buffer: "buffer",
    closing: "closing",
    congestion_control: "congestion-control",
    handoff: "handoff",
    losses: "losses",
    losses_of_the_link: "losses-of-the-link",
    migration: "migration",
    opening: "opening",
    policy: "policy",
    purging: "purging",
    resume: "resume",
    reverse_flow_control: "reverse-flow-control",
    scheduling: "scheduling",
    several_servers: "several-servers",
    simple_schedulers: "simple-schedulers",
    sleep: "sleep",
}
