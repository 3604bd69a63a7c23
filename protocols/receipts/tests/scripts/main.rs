//! Packet scripts of receipts: one file per rule under `cases/`, one test per mechanism.
//!
//! The language is that of `prismux_script` with these words. Ranges are `FIRST:END`, END not included.
//!
//! ```text
//! config writer packets=16 delay=10ms wait=500ms share=0.005   the far end; changed settings
//! config meter                            the near end
//! < 0:16 | < 7 ce                         packets come out of the link (1500 bytes; a congestion mark)
//! > receipt 0 ranges 6:9 0:5 arrivals 8@12ms 7@11ms ce 1       a receipt is written
//! send 16                                 packets of 1500 bytes are sent
//! < receipt 0 epoch 1 at 12 ms ranges 0:5 arrivals 4@11ms      a receipt comes in; its time is the far clock's
//! begin 2                                 the far end begins anew
//! event Lost | no-event LossUndone | event Refused
//! count NAME N                            a counter of the machine
//! rtt 40 ms | queueing 3 ms | rate 12000 kbit/s | busy yes | threshold 3 0 ms     what the meter estimates
//! ```
mod machine;
mod meter;
mod writer;

prismux_script::scripts! { machine::Machine;
    writing: "writing",
    losses: "losses",
    reordering: "reordering",
    receipts: "receipts",
    measuring: "measuring",
}
