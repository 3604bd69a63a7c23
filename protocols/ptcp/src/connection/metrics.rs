//! Counters, measures and invariants.
use super::Connection;
use crate::binding::Hold;
use crate::segment::Path;
use crate::send_buffer::StripingCounters;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use prismux_tcp::{ConnectionMetrics, State};

/// Segments that were not processed, and bytes not needed, by cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Drops {
    /// Segments for another connection, or for none.
    pub wrong_connection: u64,
    /// Segments for a pipe that does not exist.
    pub unknown_pipe: u64,
    /// SYNs of further pipes that did not show the token.
    pub bad_token: u64,
    /// Segments from or to other addresses than the pipe's.
    pub foreign_path: u64,
    /// Answers to the opening that do not say what it needs.
    pub not_set_up: u64,
    /// Acknowledgements of bytes that were never sent.
    pub bad_ack: u64,
    /// Segments whose payload lies outside the receive buffer.
    pub out_of_buffer: u64,
    /// Payload bytes that had arrived before.
    pub duplicate_bytes: u64,
}

/// Measures of one pipe.
#[derive(Debug, Clone, PartialEq)]
pub struct PipeMetrics {
    /// The pipe's number.
    pub pipe: u8,
    /// The addresses that the pipe joins.
    pub path: Path,
    /// State of the pipe's TCP.
    pub state: State,
    /// Payload bytes sent over it, repetitions included.
    pub sent_bytes: u64,
    /// Payload bytes that came over it, repetitions included.
    pub received_bytes: u64,
    /// Measures of the pipe's TCP.
    pub tcp: ConnectionMetrics,
}

impl Connection {
    /// Segments that were not processed, by cause.
    pub const fn drops(&self) -> &Drops {
        &self.drops
    }

    /// What became of bound bytes.
    pub const fn striping(&self) -> &StripingCounters {
        &self.send_buffer.counters
    }

    /// Switches this connection was made with.
    pub const fn config(&self) -> &crate::PtcpConfig {
        &self.config
    }

    /// Pipes so far, ended ones included.
    pub fn pipe_count(&self) -> usize {
        self.pipes.len()
    }

    /// Measures of every pipe, in order of making.
    pub fn pipes(&self) -> impl Iterator<Item = PipeMetrics> + '_ {
        self.pipes.iter().map(|pipe| PipeMetrics {
            pipe: pipe.id,
            path: pipe.path,
            state: pipe.state(),
            sent_bytes: pipe.sent_bytes,
            received_bytes: pipe.received_bytes,
            tcp: pipe.metrics(),
        })
    }

    /// Checks what must always hold: no byte bound twice, none both bound and unbound, pipes' books in order.
    ///
    /// # Errors
    /// The first thing found wrong, in words.
    pub fn audit(&self) -> Result<(), String> {
        let mut owned: Vec<(u64, u64)> = Vec::new();
        for pipe in &self.pipes {
            pipe.engine().audit()?;
            let own =
                pipe.bindings().iter().filter(|binding| binding.hold == Hold::Owner && !binding.ambiguous);
            owned.extend(own.map(|binding| (binding.data, binding.data + u64::from(binding.bytes))));
        }
        owned.extend(self.send_buffer.unbound().map(|range| (range.start, range.end)));
        owned.retain(|&(start, end)| end > self.send_buffer.acked && start < end);
        owned.sort_unstable();
        if let Some(two) = owned.windows(2).find(|two| two[0].1 > two[1].0) {
            return Err(format!("bytes {:?} and {:?} are both bound or waiting", two[0], two[1]));
        }
        match owned.last() {
            Some(&(_, end)) if end > self.send_buffer.frontier => {
                Err(format!("bound up to {end}, frontier {}", self.send_buffer.frontier))
            }
            _ => Ok(()),
        }
    }
}
