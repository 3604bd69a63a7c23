//! The engine by itself, over a path of loss, delay, jitter and a queue.
mod bbr;
mod bbr3;
mod closed_forms;
mod errors;
mod harness;
mod histories;
mod notices;
mod rack_tlp;
mod recovery;
mod stp;
mod undo;
mod windows;
