//! Packet scripts: one file per behaviour under `cases/`, one test per mechanism.
//!
//! The language is that of `prismux_script` with these words (numbers are relative to the initial sequence number of
//! whoever counts with them):
//!
//! ```text
//! config modern nagle=off            profile and changed switches (`config.rs`)
//! open active                        we send SYN (default: the first `< SYN` opens passively)
//! < ACK 1:1461 ack 1 win 512 ts 7 1 sack 3000:4000
//! > ACK 1 ack 1461                   flags (PSH aside), sequence number, payload and SACK blocks always count
//! write 1000 | read 500 | close | abort
//! state ESTABLISHED | event Connected | no-event Reset | readable 1460 | acked 1000 | count NAME N
//! ```
mod config;
mod machine;
mod segment;

prismux_script::scripts! { machine::Machine;
    handshake: "handshake",
    options: "options",
    timestamps: "timestamps",
    acceptability: "acceptability",
    reset_and_challenge: "reset-and-challenge",
    delayed_ack: "delayed-ack",
    reassembly_and_sack: "reassembly-and-sack",
    receive_window: "receive-window",
    zero_window_and_persist: "persist",
    nagle_and_silly_windows: "nagle",
    closing: "closing",
    keep_alive: "keep-alive",
    polling: "polling",
    pacing: "pacing",
    ecn: "ecn",
    retransmission: "retransmission",
    profiles: "profiles",
}
