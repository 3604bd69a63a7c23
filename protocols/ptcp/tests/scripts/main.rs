//! Packet scripts of pTCP: one file per rule under `cases/`, one test per mechanism.
//!
//! The language is that of `prismux_script` with these words. Bytes of the connection's stream and positions of a
//! pipe's are counted from 0; `L0`, `R1` are our first and the far end's second address.
//!
//! ```text
//! config rtt=10ms,50ms window=9000   pipes that are open already, with their round trips; changed switches
//!                                    (`setup.rs`). Times count from when the last of them opened
//! config pipes=2                     nothing has happened yet; `connect` opens
//! config server ...                  the far end opens
//! < pipe 0 ACK ack 1000 pack 1000 sack 2000:3000      what is left out is as the pipe said last
//! < pipe 1 0:1000 seq 0              bytes of the far end's stream, at a position of the pipe's
//! > pipe 1 1000:2000 seq 0           bytes of our stream; `seq`, `ack`, `pack`, `win`, `from`, `to` where written
//! > pipe 0 void seq 0                a segment of the pipe that carries nothing
//! write 1000 | read 500 | close | abort | open L1 R1 | drop L0 R0 | damaged pipe 0 0:1000
//! state ESTABLISHED(2) | event PipeClosed(1) | no-event Reset | readable 1000 | acked 1000 | pipes 2 | cwnd 0 4000
//! count NAME N                       a counter of `machine.rs`
//! ```
mod far_end;
mod machine;
mod setup;

prismux_script::scripts! { machine::Machine;
    abort_and_reset: "abort-and-reset",
    asymmetry: "asymmetry",
    blackout: "blackout",
    closing: "closing",
    congestion: "congestion",
    delayed_binding: "delayed-binding",
    flow_control: "flow-control",
    joining: "joining",
    loss_notification: "loss-notification",
    opening: "opening",
    pipes_come_and_go: "pipes-come-and-go",
    reassignment: "reassignment",
    receive_buffer: "receive-buffer",
    redundant_striping: "redundant-striping",
    single_pipe: "single-pipe",
    unconfirmed_delivery: "unconfirmed-delivery",
}
