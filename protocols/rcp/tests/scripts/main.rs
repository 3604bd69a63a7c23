//! Packet scripts of RCP: one file per rule under `cases/`, one test per mechanism.
//!
//! The language is that of `prismux_script` with these words. Positions are those of the sender's stream, counted
//! from 0.
//!
//! ```text
//! config receiver opened limit=60000 window=4   which end is played, open already; changed switches (`config.rs`)
//! config sender opened bytes=5000 finished=on   so many bytes are there to send, and no more will come
//! config receiver                               nothing has happened: `connect` opens, or the far end's SYN does
//! < SYN | SYN-ACK | ACK | FIN-ACK | RST         of the sender; of the receiver: SYN | SYN-ACK | FIN | RST
//! < DATA 0:100 fin limit 6000 ce                data, the end of the stream, the sender's limit, a congestion mark
//! < LIMIT 6000                                  the limit alone
//! < REQ 400 deq 400 names 100:200               cumulative: everything up to 400; what was pulled before
//! < PUL 400                                     exactly the segment at 400 (without `deq` nothing may be purged)
//! connect | write 500 | finish | read 500 | freeze | thaw | abort
//! lost-by-link 100:200 | damaged DATA 100:200
//! state ESTABLISHED | event Connected | no-event Reset | received 400 | purged 300 | cwnd 400 | ssthresh 400
//! deadline keep-alive | count NAME N            what is timed; a counter of `machine.rs`
//! ```
mod config;
mod machine;
mod packet;
mod switches;

prismux_script::scripts! { machine::Machine;
    closing: "closing",
    congestion_control: "congestion-control",
    cumulative_requests: "cumulative-requests",
    flow_control: "flow-control",
    losses_of_the_link: "losses-of-the-link",
    opening: "opening",
    protection: "protection",
    pull_requests: "pull-requests",
    purging: "purging",
    rate_cap: "rate-cap",
    reliability: "reliability",
    request_blocks: "request-blocks",
    reverse_flow_control: "reverse-flow-control",
    sleep: "sleep",
    stp: "stp",
}
