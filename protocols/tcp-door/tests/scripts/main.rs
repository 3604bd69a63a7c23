//! Packet scripts: one file per rule under `cases/`, one test per mechanism.
//!
//! The language is that of `prismux_script` with these words. Positions count from each stream's first byte; segments
//! carry 1000 bytes, and before a script begins the handshake has taken place, with a round trip of 100 ms: a timer
//! unit is 300 ms.
//!
//! ```text
//! config all-t1x2-t2x4 era sack=off  a setting of the study, or `published` or `guarded`; engine and changed switches
//! < ack 1000 adsn 1 ooo sack 2000:3000 ts 7 1
//! < data 0:1000 tpsn 0 ack 0 adsn 0
//! > data 1000:2000 ack 0 tpsn 1      `ooo` and `sack` always count
//! flight 4000                        writes so many bytes, all of which leave at once
//! window 4000 | threshold 2000 | rto 300ms | frozen yes | agreed no | payload 1000 | count late_acks 1
//! ```
mod config;
mod machine;
mod segment;

prismux_script::scripts! { machine::Machine;
    negotiation: "negotiation",
    marks: "marks",
    late_acks: "late-acks",
    late_data: "late-data",
    reports: "reports",
    freeze: "freeze",
    restore: "restore",
    both_responses: "both-responses",
    era_engine: "era-engine",
    guard: "guard",
}
